"""``python -m gantry doctor``: what this machine has, and what will and will not work on it."""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import os
import shutil
import sys
from typing import Iterator

#: What is imported, and what for. A distribution may have another name: CuPy's is cupy-cuda12x.
_PACKAGES = {
    "numpy": "arrays of the host",
    "ml_dtypes": "bf16 and fp8 in NumPy",
    "torch": "gantry.torch",
    "jax": "gantry.jax",
    "cupy": "arrays of CuPy",
}


def _version(module: str) -> str | None:
    """Of a package that can be imported; nothing is imported to find that out."""
    try:
        if importlib.util.find_spec(module) is None:
            return None
    except (ImportError, ValueError):
        return None
    for distribution in (module, *importlib.metadata.packages_distributions().get(module, ())):
        try:
            return importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            continue
    return "installed, of an unknown version"


def _gpu() -> str:
    import gantry

    try:
        gantry.Context("gpu")
        return "GPU 0 can be used: CUDA arrays run on it"
    except gantry.GantryError as error:
        return f"none: {error}"


def _nvrtc() -> str:
    for major in (13, 12):
        name = f"libnvrtc.so.{major}"
        try:
            ctypes.CDLL(name)
            return f"{name} compiles kernels for a GPU"
        except OSError:
            continue
    return "not on the loader's path: nvcc compiles kernels for a GPU, or the libnvrtc of an installed PyTorch or JAX"


def _nvcc() -> str:
    named = os.environ.get("GANTRY_NVCC")
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    found = shutil.which(named or "nvcc") or (None if named else shutil.which(os.path.join(home, "bin", "nvcc")))
    return found or f"not found{f': GANTRY_NVCC is {named}' if named else ''}"


def _host_compiler() -> str:
    from gantry import CompileFailed, _shim

    try:
        return f"{_shim.compiler()} compiles kernels for the simulated SM, and parts for JAX and PyTorch"
    except CompileFailed as error:
        return str(error)


def _cache() -> str:
    """Notes of a context are about the cache and the tuning file."""
    import gantry

    notes = gantry.Context("simulated").notes
    return "; ".join(notes) if notes else "is used: kernels are compiled once"


def _simulated() -> tuple[bool, str]:
    """Computes something, which needs a C++ compiler or a kernel in the cache."""
    import numpy

    import gantry

    a = numpy.arange(16 * 32).reshape(16, 32) % 5
    b = numpy.arange(8 * 32).reshape(8, 32) % 7
    try:
        d = gantry.gemm(a.astype(numpy.float16), b.astype(numpy.float16))
    except gantry.GantryError as error:
        return False, str(error)
    right = bool((d == a @ b.T).all())
    return right, "works: 16 x 8 x 32 in f16 is right" if right else "gives wrong results"


def _operators() -> str:
    """Of torch: which implementation its operators have."""
    from gantry.torch import _native

    return f"of torch are Python's: {_native.why_not}" if _native.why_not else f"of torch are C++'s: {_native.build()}"


def _handlers() -> str:
    """Of JAX: whether they can be built, or were."""
    from gantry import GantryError
    from gantry.jax import build_handlers

    try:
        return f"of JAX: {build_handlers()}"
    except (GantryError, RuntimeError) as error:
        return f"of JAX cannot be built: {error}"


def _optional() -> Iterator[tuple[str, str]]:
    """Packages, and what was built for them."""
    found = {package: _version(package) for package in _PACKAGES}
    for package, use in _PACKAGES.items():
        yield package, found[package] or f"not installed: {use} will not work"
    if found["torch"]:
        yield "operators", _operators()
    if found["jax"]:
        yield "handlers", _handlers()


def doctor() -> int:
    import gantry
    from gantry import _core

    def say(head: str, sentence: str) -> None:
        print(f"{head:<11} {sentence}".replace("\n", "\n" + 12 * " "))

    say("gantry", f"{gantry.__version__}, {_core.library_path()}")
    say("python", f"{sys.version.split()[0]}, {sys.executable}")
    say("gpu", _gpu())
    say("nvrtc", _nvrtc())
    say("nvcc", _nvcc())
    say("c++", _host_compiler())
    say("cache", _cache())
    works, sentence = _simulated()
    say("simulated", sentence)
    for head, sentence in _optional():
        say(head, sentence)
    return 0 if works else 1


def main(words: list[str]) -> int:
    if words == ["doctor"]:
        return doctor()
    print("python -m gantry doctor: what this machine has, and what will and will not work on it")
    return 0 if words in ([], ["--help"]) else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

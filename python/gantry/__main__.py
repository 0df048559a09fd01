"""``python -m gantry doctor``: what this machine has, and what will and will not work on it."""

from __future__ import annotations

import importlib.metadata
import sys


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _gpu() -> str:
    import gantry

    try:
        gantry.Context("gpu")
        return "GPU 0 can be used: CUDA arrays run on it"
    except gantry.GantryError as error:
        return f"none: {error}"


def _simulated() -> tuple[bool, str]:
    """Computes something, which needs a C++ compiler or a kernel in the cache."""
    import numpy

    import gantry

    a = numpy.arange(16 * 32).reshape(16, 32) % 5
    b = numpy.arange(8 * 32).reshape(8, 32) % 7
    try:
        d = gantry.gemm(a.astype(numpy.float16), b.astype(numpy.float16), out_dtype="f32")
    except gantry.GantryError as error:
        return False, str(error)
    right = bool((d == a @ b.T).all())
    return right, "works: 16 x 8 x 32 in f16 is right" if right else "gives wrong results"


def _operators() -> str:
    """Of torch: which implementation its operators have."""
    from gantry.torch import _native

    return f"of torch are Python's: {_native.why_not}" if _native.why_not else f"of torch are C++'s: {_native.build()}"


def doctor() -> int:
    import gantry
    from gantry import _core

    print(f"gantry      {gantry.__version__}, {_core.library_path()}")
    print(f"python      {sys.version.split()[0]}, {sys.executable}")
    print(f"gpu         {_gpu()}")
    works, sentence = _simulated()
    print(f"simulated   {sentence}")
    uses = {
        "numpy": "arrays of the host",
        "ml_dtypes": "bf16 and fp8 in NumPy",
        "torch": "gantry.torch",
        "jax": "gantry.jax",
        "cupy": "arrays of CuPy",
    }
    for package, use in uses.items():
        version = _version(package)
        print(f"{package:<11} {version or 'not installed'}{'' if version else f': {use} will not work'}")
    if _version("torch"):
        print(f"operators   {_operators()}")
    return 0 if works else 1


def main(words: list[str]) -> int:
    if words == ["doctor"]:
        return doctor()
    print("python -m gantry doctor: what this machine has, and what will and will not work on it")
    return 0 if words in ([], ["--help"]) else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Small shared objects that are built where their library is installed: XLA's handlers, PyTorch's operators. Each is built
once by the C++ compiler that is there, and kept beside the kernel cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Sequence

from . import _core
from ._errors import CompileFailed

PACKAGE = Path(__file__).parent


def folder() -> Path:
    """Where shims are kept."""
    kernels = os.environ.get("GANTRY_CACHE_DIR")
    if kernels:
        return Path(kernels).absolute() / "shims"
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache) / "gantry" / "shims"


def compiler() -> str:
    named = os.environ.get("GANTRY_CXX") or os.environ.get("CXX")
    found = shutil.which(named) if named else shutil.which("g++") or shutil.which("clang++")
    if not found:
        raise CompileFailed(
            f"there is no C++ compiler ({named or 'g++, clang++'}), and one has to build a part of gantry here"
        )
    return found


def _make_private(directory: Path) -> None:
    """As the kernel cache, whose folder this may be, makes its own: nobody else enters it, also where it is there and empty.
    It takes no other folder."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    if directory.stat().st_uid == os.getuid() and not any(directory.iterdir()):
        directory.chmod(0o700)


def _check_private(directory: Path) -> None:
    """What is loaded from there becomes part of this process: nobody else may have written it."""
    status = directory.stat()
    if status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise CompileFailed(
            f"{directory} belongs to another user, or others can write to it: remove it, or make it 0700"
        )


def build(
    name: str, source: str, flags: Sequence[str], versions: Sequence[str], *, libraries: Sequence[str] = ()
) -> Path:
    """The shared object of a source of this package, built now or before from the same source, flags and versions.
    ``libraries`` are shared objects that it is linked with."""
    headers = sorted((PACKAGE / source).parent.glob("*.hpp"))
    text = b"\0".join(file.read_bytes() for file in (PACKAGE / source, *headers))
    program, library = compiler(), Path(_core.library_path()).resolve()
    command = [
        program,
        "-std=c++20",
        "-O2",
        "-shared",
        "-fPIC",
        "-Wl,--exclude-libs,ALL",  # a libstdc++ that the compiler links statically stays its own
        f"-I{PACKAGE / 'include'}",
        *flags,
        str(PACKAGE / source),
        *(part for each in (str(library), *libraries) for part in (each, f"-Wl,-rpath,{Path(each).parent}")),
    ]
    parts = [text, *(part.encode() for part in (*command, *versions, str(_core.version())))]
    key = hashlib.sha256(b"\0".join(parts)).hexdigest()[:24]
    directory = folder()
    try:
        _make_private(directory.parent)
        _make_private(directory)
    except OSError as error:
        raise CompileFailed(
            f"{directory} cannot be made ({error.strerror}), and a part of gantry that is built here is kept there: set "
            f"GANTRY_CACHE_DIR to a folder that is yours and can be written"
        ) from error
    _check_private(directory)
    target = directory / f"{name}-{key}.so"
    if target.exists():
        return target
    print(f"gantry: builds {source} with {program}, once; it is kept in {directory}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(dir=directory) as private:
        made = Path(private) / target.name
        ran = subprocess.run([*command, "-o", str(made)], capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            raise CompileFailed(f"{program} could not build {source}:\n{ran.stderr[-4000:]}")
        os.replace(made, target)  # another process may have been faster; both are the same
    return target

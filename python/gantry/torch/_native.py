"""The operators of :mod:`._ops` in C++: built once by the compiler that is there, kept beside the kernel cache, and loaded.

A call then costs no more than one of torch's own. Where there is no GPU or no compiler, the same operators are Python's. The
environment variable ``GANTRY_TORCH_SHIM`` says otherwise: ``0`` never builds them, ``1`` raises where they cannot be built.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Iterator

import torch

from .. import _rules, _shim
from .._context import shipped_kernels, wait_for_default_contexts
from .._epilogue import with_elements
from .._errors import CompileFailed

# In the order of the enum Operator of _operators.cpp.
OPERATORS = ("linear", "linear_kept", "input_grad", "weight_grad", "dgrad", "gated", "gated_kept", "gated_dgrad")

# As element_code of _operators.cpp counts; the first is none.
_ELEMENTS = ("", "bf16", "f16", "f32")

#: Why the operators are Python's; empty where they are not.
why_not = "they have not been asked for"

_library: ctypes.CDLL | None = None


def build() -> Path:
    """The shared object, built now or before."""
    root = Path(torch.__file__).parent
    flags = [
        f"-isystem{root / 'include'}",
        f"-isystem{root / 'include' / 'torch' / 'csrc' / 'api' / 'include'}",
        f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}",
    ]
    versions = [torch.__version__, str(torch.version.git_version)]
    libraries = [str(root / "lib" / name) for name in ("libc10.so", "libtorch_cpu.so")]
    return _shim.build("torch", "torch/_operators.cpp", flags, versions, libraries=libraries)


def texts() -> Iterator[tuple[str, int, str, str, str]]:
    """Operator, code of the activation, elements of the operands and of the bias, and the epilogue of each GEMM."""
    for element in ("bf16", "f16"):
        for name in ("input_grad", "weight_grad"):
            yield name, 0, element, "", _rules.forward_text(False, "")
        for code, act in enumerate(_rules.NAMES):
            for bias in _ELEMENTS:
                of = [("bias", bias)]
                yield "linear", code, element, bias, with_elements(_rules.forward_text(bool(bias), act), of)
                if act:
                    kept = _rules.forward_text(bool(bias), act, keep=element)
                    yield "linear_kept", code, element, bias, with_elements(kept, of)
            if act:
                yield "dgrad", code, element, "", _rules.dgrad_text(act, element, True)
                yield "gated", code, element, "", _rules.gated_text(act)
                yield "gated_kept", code, element, "", _rules.gated_text(act, keep=element)
                yield "gated_dgrad", code, element, "", _rules.gated_dgrad_text(act, element)


def _hand_over(library: ctypes.CDLL) -> None:
    for name in _rules.NAMES:
        masks = bool(name) and _rules.ACTIVATIONS[name].keeps_mask
        library.gantry_torch_add_activation(name.encode(), int(masks))
    for op, activation, element, bias, text in texts():
        codes = OPERATORS.index(op), activation, _ELEMENTS.index(element), _ELEMENTS.index(bias)
        library.gantry_torch_add_text(*codes, text.encode())
    for folder in shipped_kernels():
        library.gantry_torch_add_shipped(os.fsencode(folder))


def load() -> bool:
    """Whether the operators are C++'s from now on. Before any of them is defined."""
    global why_not, _library
    asked = os.environ.get("GANTRY_TORCH_SHIM", "")
    if asked == "0":
        why_not = "GANTRY_TORCH_SHIM is 0"
    elif asked != "1" and not torch.cuda.is_available():
        why_not = "there is no GPU that torch can use"
    else:
        try:
            library = ctypes.CDLL(str(build()))
            _hand_over(library)
            _library = library
            why_not = ""
        except (CompileFailed, OSError) as error:
            if asked == "1":
                raise
            why_not = str(error)
    return not why_not


def wait_for_compilations() -> None:
    """Until no operator, in C++ or Python, has a kernel that is being compiled in the background."""
    if _library is not None:
        _library.gantry_torch_wait_for_compilations()
    wait_for_default_contexts()

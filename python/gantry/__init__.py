"""Gantry: GEMMs with fused epilogues for NVIDIA Hopper, and a simulated SM that runs them without a GPU.

>>> import numpy as np, gantry
>>> a, b = np.ones((32, 64), np.float16), np.ones((16, 64), np.float16)
>>> d, top = gantry.gemm(a, b, epilogue="d = relu(acc); top = reduce_max(acc)")
>>> d.shape, float(top)
((32, 16), 64.0)

NumPy arrays run on the simulated SM, CUDA arrays of any library on their GPU. ``gantry.torch`` has operators and modules
for PyTorch, ``gantry.jax`` the same GEMM for JAX.
"""

from . import _core
from ._context import Context
from ._elements import Element, element
from ._errors import (
    CompileFailed,
    DeviceFailed,
    GantryError,
    InternalError,
    InvalidArgument,
    NoDevice,
    NoKernel,
    OutOfMemory,
    Reason,
    SimulationFailed,
    Unsupported,
)
from ._gemm import explain, gemm, plan, simulate, warm_up
from ._plan import Copy, Plan
from ._quantize import Quantized, dequantize, quantize
from ._results import Explanation, Report, Simulation

__version__ = "{0}.{1}.{2}".format(_core.version() // 10000, _core.version() // 100 % 100, _core.version() % 100)

__all__ = [
    "CompileFailed",
    "Context",
    "Copy",
    "DeviceFailed",
    "Element",
    "Explanation",
    "GantryError",
    "InternalError",
    "InvalidArgument",
    "NoDevice",
    "NoKernel",
    "OutOfMemory",
    "Plan",
    "Quantized",
    "Reason",
    "Report",
    "Simulation",
    "SimulationFailed",
    "Unsupported",
    "dequantize",
    "element",
    "explain",
    "gemm",
    "plan",
    "quantize",
    "simulate",
    "warm_up",
]

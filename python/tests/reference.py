"""What results are compared with: NumPy in f64, rounded to the element of the result."""

import math
import runpy
from pathlib import Path

import ml_dtypes
import numpy as np

# Of one rounding to the element, relative; and what the accumulation in f32 adds for each term.
UNIT = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "int32": 0.0}
TF32 = 2.0**-10


def array(rng, shape, dtype):
    """Small numbers that every dtype holds exactly, so that sums of products in f32 are exact."""
    return rng.integers(-3, 4, size=shape).astype(dtype)


def unsigned(rng, shape):
    return rng.integers(0, 7, size=shape).astype(np.uint8)


def matmul(a, b, trans_b=True):
    a, b = a.astype(np.float64), b.astype(np.float64)
    return a @ (np.swapaxes(b, -1, -2) if trans_b else b)


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def close(got, expected, relative=0.0):
    """Whether a result is the expectation, rounded once, but for ``relative`` of it that functions may be off."""
    expected = np.asarray(expected, np.float64)
    unit = UNIT[str(got.dtype)]
    bound = np.abs(expected) * (unit * 1.01 + relative) + (1e-6 if relative else 0)
    assert got.shape == expected.shape, (got.shape, expected.shape)
    wrong = np.abs(got.astype(np.float64) - expected) > bound
    assert not wrong.any(), f"{wrong.sum()} of {wrong.size} are off, at first {np.argwhere(wrong)[:3].tolist()}"


BF16, E4M3, E5M2 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2


def stub_and_its_functions(file):
    """A stub as it is, and as scripts/python_stubs.py would write it."""
    root = Path(__file__).resolve().parents[2]
    script = runpy.run_path(str(root / "scripts" / "python_stubs.py"))
    return (root / "python" / "gantry" / file).read_text(), script["stub"](*script["STUBS"][file])

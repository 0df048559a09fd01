"""Epilogues that several tests compute, so that each is compiled once, and what is to come out of them."""

import numpy as np
from reference import close

#: Every kind of argument and output but for rows, which BIASED has.
EVERYTHING = (
    "let z = alpha * acc + beta * c + col(scale); d = relu(z); pre = z; mask:u1 = z > 0;"
    "top = reduce_max(z); columns = reduce_row_add(z); rows = reduce_col_add(z)"
)
BIASED = "d = acc + row(bias)"
BIAS_AND_SCALAR = "d = acc + row(bias) + scalar(s)"
BIAS_GELU = "d = gelu(acc + row(bias))"
GATED = "d = silu(gate(acc)) * up(acc); z:f32 = gate(acc); total = reduce_row_add(up(acc))"


def check_everything(got, z):
    """Outputs of EVERYTHING, whose z is given."""
    close(got.d, np.maximum(z, 0))
    close(got.pre, z)
    assert got.mask.dtype == np.uint8 and got.mask.shape == (*z.shape[:-1], z.shape[-1] // 8)
    assert (np.unpackbits(got.mask, axis=-1, bitorder="little") == (z > 0)).all()
    close(got.top, z.max((-1, -2)))
    close(got.columns, z.sum(-2))
    close(got.rows, z.sum(-1))
    assert got._fields == ("d", "pre", "mask", "top", "columns", "rows")


def silu(z):
    return z / (1 + np.exp(-z))


def check_gated(got, z, up):
    """Outputs of GATED, in f32, whose halves are given."""
    assert got.d.shape == z.shape and got.total.shape == (*z.shape[:-2], z.shape[-1])
    close(got.z, z)
    close(got.total, up.sum(-2))
    assert np.abs(got.d - silu(z) * up).max() <= 1e-5 * np.abs(silu(z) * up).max()

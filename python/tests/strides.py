"""The ways in which a matrix of the tests may lie in memory."""

import numpy as np
from reference import BF16, array

SEEN_THROUGH = ("rows", "columns", "wide rows", "misaligned")
LAYOUTS = (*SEEN_THROUGH, "every second", "backwards", "one row for all")


def laid_out(rng, rows, columns, how, dtype=BF16):
    """A matrix that lies so; bf16, as the kernels of all its majors are those of JAX's tests, too."""
    if how == "rows":
        return array(rng, (rows, columns), dtype)
    if how == "columns":
        return array(rng, (columns, rows), dtype).T
    if how == "wide rows":
        return array(rng, (rows, columns + 24), dtype)[:, 8 : 8 + columns]
    if how == "misaligned":
        return array(rng, (rows, columns + 8), dtype)[:, 1 : 1 + columns]
    if how == "every second":
        return array(rng, (rows, 2 * columns), dtype)[:, ::2]
    if how == "backwards":
        return array(rng, (rows, columns), dtype)[::-1]
    assert how == "one row for all"
    return np.broadcast_to(array(rng, (1, columns), dtype), (rows, columns))

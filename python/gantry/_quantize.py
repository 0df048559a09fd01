"""8-bit floats with factors of blocks: how float arrays become them, and back. NumPy; gantry.torch has the same.

A block's factor is its largest magnitude over the largest number of the element (448 for e4m3), so that value = factor ·
element. Elements are rounded to nearest, and are off by 2^-4 of themselves at most, or by 2^-10 of the factor where that
is more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ._errors import refusal

E4M3_MAX = 448.0
ROWS = (1, 128)  #: a factor for each row and 128 elements of K: activations
BLOCKS = (128, 128)  #: for 128 rows and 128 elements of K: weights


class Quantized(NamedTuple):
    """Elements, and the factors of their blocks, as :func:`gantry.gemm` takes them.

    >>> import numpy as np, gantry
    >>> a, b = (gantry.quantize(np.ones((rows, 128), np.float32)) for rows in (32, 16))
    >>> gantry.plan(a.values, b.values, block_scales=(a.scales, b.scales))
    <gantry.Plan 32 x 16 x 128, e4m3 to bf16: d = acc>
    """

    values: Any
    scales: Any


def check_block(block: tuple[int, int], shape: tuple[int, ...]) -> None:
    if tuple(block) not in (ROWS, BLOCKS):
        raise refusal("block", "", f"the block is {block}: a factor is for {ROWS} or {BLOCKS} elements")
    if len(shape) < 2:
        raise refusal("rank", "", f"an array of the shape {shape}: a matrix has two dimensions or more", len(shape), 2)


def blocks_of(shape: tuple[int, ...], block: tuple[int, int]) -> tuple[int, ...]:
    """The shape of the factors; the last block of a dimension may be shorter.

    >>> blocks_of((200, 300), BLOCKS), blocks_of((2, 200, 300), ROWS)
    ((2, 3), (2, 200, 3))
    """
    return (*shape[:-2], -(-shape[-2] // block[0]), -(-shape[-1] // block[1]))


def quantize(x: Any, block: tuple[int, int] = ROWS) -> Quantized:
    """e4m3 elements of a NumPy array, with a float32 factor for each block of its last two dimensions. Needs ml_dtypes.

    >>> import numpy as np, gantry
    >>> x = np.linspace(-1, 1, 2 * 256, dtype=np.float32).reshape(2, 256)
    >>> values, scales = gantry.quantize(x)
    >>> values.dtype, scales.shape
    (dtype(float8_e4m3fn), (2, 2))
    >>> bool(np.abs(gantry.dequantize(values, scales) - x).max() <= 2**-4)
    True
    """
    import ml_dtypes
    import numpy as np

    check_block(block, x.shape)
    x = np.asarray(x, np.float32)
    padded = np.pad(x, [(0, 0)] * (x.ndim - 2) + [(0, -size % b) for size, b in zip(x.shape[-2:], block)])
    count = blocks_of(x.shape, block)
    tiles = padded.reshape(*x.shape[:-2], count[-2], block[0], count[-1], block[1])
    scales = np.abs(tiles).max((-3, -1), initial=0) / np.float32(E4M3_MAX)
    scales = np.where(scales > 0, scales, 1).astype(np.float32)
    values = np.clip(x / spread(scales, x.shape, block), -E4M3_MAX, E4M3_MAX)
    return Quantized(values.astype(ml_dtypes.float8_e4m3fn), scales)


def spread(scales: Any, shape: tuple[int, ...], block: tuple[int, int]) -> Any:
    """Factors of blocks, one for each element."""
    return scales.repeat(block[0], -2).repeat(block[1], -1)[..., : shape[-2], : shape[-1]]


def block_of(shape: tuple[int, ...], scales: tuple[int, ...]) -> tuple[int, int]:
    """Which blocks factors of this shape are for."""
    for block in (ROWS, BLOCKS):
        if tuple(scales) == blocks_of(tuple(shape), block):
            return block
    raise refusal("shape", "scales", f"factors of the shape {tuple(scales)} are for no blocks of {tuple(shape)}")


def dequantize(values: Any, scales: Any) -> Any:
    """What 8-bit floats and the factors of their blocks stand for, as float32.

    >>> import numpy as np, gantry
    >>> gantry.dequantize(*gantry.quantize(np.full((1, 4), 3.5, np.float32)))
    array([[3.5, 3.5, 3.5, 3.5]], dtype=float32)
    """
    import numpy as np

    return values.astype(np.float32) * spread(scales, values.shape, block_of(values.shape, scales.shape))

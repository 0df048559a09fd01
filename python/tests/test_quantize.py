"""8-bit floats with factors of blocks in NumPy: how far elements, and GEMMs of them on the simulated SM, are off."""

import doctest

import numpy as np
import pytest
from reference import BF16, E4M3

import gantry
from gantry import _quantize
from gantry._quantize import BLOCKS, ROWS


def off(x, scales, block):
    """By how much an element may be off: half of its last bit, or of the smallest subnormal's."""
    return np.maximum(np.abs(x) * 2.0**-4, _quantize.spread(scales, x.shape, block) * 2.0**-10)


def drawn(rng, *shape):
    """Magnitudes over many powers of two, so that some elements become subnormal, or zero."""
    return (rng.standard_normal(shape) * np.exp2(rng.integers(-12, 4, shape))).astype(np.float32)


@pytest.mark.parametrize("block", [ROWS, BLOCKS], ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (7, 128), (130, 300), (2, 3, 129, 257), (0, 128), (4, 0)], ids=str)
def test_elements_are_off_by_their_rounding_alone(rng, shape, block):
    x = drawn(rng, *shape)
    values, scales = gantry.quantize(x, block)
    assert values.shape == shape and values.dtype == E4M3 and scales.dtype == np.float32
    assert scales.shape == (*shape[:-2], -(-shape[-2] // block[0]), -(-shape[-1] // 128))
    assert (np.abs(gantry.dequantize(values, scales) - x) <= off(x, scales, block) * (1 + 1e-6)).all()


def test_the_largest_of_a_block_is_the_largest_element(rng):
    x = drawn(rng, 4, 256)
    values, _ = gantry.quantize(x)
    assert (np.abs(values.astype(float)).reshape(4, 2, 128).max(-1) == 448).all()


def test_a_block_of_zeros_stays_zero_and_bf16_is_taken():
    values, scales = gantry.quantize(np.zeros((2, 130), BF16))
    assert (values.astype(float) == 0).all() and np.isfinite(scales).all()


def test_a_gemm_of_quantised_arrays_is_off_by_the_rounding_of_its_elements(rng):
    x, w = drawn(rng, 70, 300), drawn(rng, 200, 300)
    a, scale_a = gantry.quantize(x, ROWS)
    b, scale_b = gantry.quantize(w, BLOCKS)
    d = gantry.gemm(a, b, block_scales=(scale_a, scale_b), out_dtype="f32")
    dx, dw, x, w = off(x, scale_a, ROWS), off(w, scale_b, BLOCKS), x.astype(float), w.astype(float)
    elements = dx @ np.abs(w).T + np.abs(x) @ dw.T + dx @ dw.T
    # The tensor core keeps about 14 bits of a sum within a block.
    sums = 128 * 2.0**-14 * (np.abs(x) + dx) @ (np.abs(w) + dw).T
    assert (np.abs(d - x @ w.T) <= elements + sums).all()


def test_what_cannot_be_quantised_is_refused():
    with pytest.raises(gantry.InvalidArgument, match=r"\(1, 128\) or \(128, 128\)"):
        gantry.quantize(np.ones((4, 4)), (1, 64))
    with pytest.raises(gantry.InvalidArgument, match="two dimensions"):
        gantry.quantize(np.ones(4))
    with pytest.raises(gantry.InvalidArgument, match="for no blocks"):
        gantry.dequantize(np.ones((4, 256), E4M3), np.ones((4, 3), np.float32))


def test_examples_hold():
    ran = doctest.testmod(_quantize)
    assert ran.attempted > 0 and ran.failed == 0

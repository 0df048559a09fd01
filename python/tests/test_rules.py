"""Rules of layers without a framework: gradients against differences in f64."""

import doctest
import math

import numpy as np
import pytest
from reference import BF16, array, close, matmul

import gantry
from gantry import _rules

FUNCTIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "silu": lambda x: x / (1 + np.exp(-x)),
}


def slope(f, x, step=1e-5):
    return (f(x + step) - f(x - step)) / (2 * step)


@pytest.mark.parametrize("act", ["relu", "gelu"])
def test_the_backward_epilogue_of_a_layer_is_the_derivative_of_its_forward_one(rng, act):
    """Two layers: what the first keeps, and what the second's dgrad GEMM makes of it."""
    m, k, hidden, n = 32, 64, 48, 16
    x, w1, w2 = array(rng, (m, k), BF16), array(rng, (hidden, k), BF16), array(rng, (n, hidden), BF16)
    x = (x.astype(float) / 8).astype(BF16)  # powers of two: sums stay exact
    bias, dy = array(rng, hidden, np.float32), array(rng, (m, n), BF16)
    bias += 1 / 16  # the rest counts eighths: nothing is at the corner of relu
    got = gantry.gemm(x, w1, epilogue=_rules.forward_text(True, act, keep="f32"), bias=bias, out_dtype="f32")
    z = matmul(x, w1) + bias
    if act == "relu":
        assert (np.unpackbits(got.kept, axis=-1, bitorder="little", count=hidden) == (z > 0)).all()
    else:
        close(got.kept, z)
    back = gantry.gemm(
        dy, w2, trans_b=False, epilogue=_rules.dgrad_text(act, "f32", True), kept=got.kept, out_dtype="f32"
    )
    expected = matmul(dy, w2, trans_b=False) * slope(FUNCTIONS[act], z)
    assert np.abs(back.d - expected).max() < 1e-4 * np.abs(expected).max()
    assert np.abs(back.dbias - expected.sum(0)).max() < 1e-4 * np.abs(expected.sum(0)).max()


def test_the_backward_epilogue_of_a_gate_is_the_derivative_of_its_forward_one(rng):
    m, k, hidden, n = 32, 64, 48, 16
    x, down = array(rng, (m, k), BF16), array(rng, (n, hidden), BF16)
    w, dy = array(rng, (2 * hidden, k), BF16), array(rng, (m, n), BF16)
    x = (x.astype(float) / 8).astype(BF16)
    forward = gantry.gemm(x, w, epilogue=_rules.gated_text("silu", keep="f32"), out_dtype="f32")
    both = matmul(x, w)
    z, up = both[:, :hidden], both[:, hidden:]
    close(forward.gates, z)
    close(forward.ups, up)
    silu = FUNCTIONS["silu"]
    assert np.abs(forward.d - silu(z) * up).max() < 1e-5 * np.abs(silu(z) * up).max()
    text = _rules.gated_dgrad_text("silu", "f32")
    kept = {"gates": forward.gates, "ups": forward.ups}
    back = gantry.gemm(dy, down, trans_b=False, epilogue=text, **kept, out_dtype="f32")
    dh = matmul(dy, down, trans_b=False)
    assert np.abs(back.d - dh * up * slope(silu, z)).max() < 1e-4 * np.abs(dh * up).max()
    assert np.abs(back.dup - dh * silu(z)).max() < 1e-4 * np.abs(dh * silu(z)).max()


def test_shapes_of_layers_are_checked():
    with pytest.raises(gantry.InvalidArgument, match="both have one K"):
        _rules.linear_shape((2, 8), (16, 9), None)
    with pytest.raises(gantry.InvalidArgument, match="bias"):
        _rules.linear_shape((2, 8), (16, 8), (8,))
    with pytest.raises(gantry.InvalidArgument, match="N x K"):
        _rules.linear_shape((2, 8), (16, 8, 1), None)


def test_examples_hold():
    ran = doctest.testmod(_rules)
    assert ran.attempted > 0 and ran.failed == 0

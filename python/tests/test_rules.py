"""Rules of layers without a framework: gradients against differences in f64, shardings against whole results."""

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
    x, up, down = array(rng, (m, k), BF16), array(rng, (m, hidden), np.float32), array(rng, (n, hidden), BF16)
    w, dy = array(rng, (hidden, k), BF16), array(rng, (m, n), BF16)
    x = (x.astype(float) / 8).astype(BF16)
    forward = gantry.gemm(x, w, epilogue=_rules.gated_text("silu", keep="f32"), up=up, out_dtype="f32")
    z = matmul(x, w)
    close(forward.gate, z)
    silu = FUNCTIONS["silu"]
    assert np.abs(forward.d - silu(z) * up).max() < 1e-5 * np.abs(silu(z) * up).max()
    text = _rules.gated_dgrad_text("silu", "f32")
    back = gantry.gemm(dy, down, trans_b=False, epilogue=text, gate=forward.gate, up=up, out_dtype="f32")
    dh = matmul(dy, down, trans_b=False)
    assert np.abs(back.d - dh * up * slope(silu, z)).max() < 1e-4 * np.abs(dh * up).max()
    assert np.abs(back.dup - dh * silu(z)).max() < 1e-4 * np.abs(dh * silu(z)).max()


def part(x, how, device, devices):
    return x if how in (_rules.REPLICATED, _rules.PARTIAL) else np.split(x, devices, how)[device]


@pytest.mark.parametrize("act", ["", "relu"])
@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("rank", [2, 3])
def test_shards_put_together_are_the_whole(rng, act, has_bias, rank):
    f = FUNCTIONS.get(act, lambda z: z)
    x = rng.standard_normal((2, 4, 6)[3 - rank :])
    w, bias = rng.standard_normal((8, 6)), rng.standard_normal(8) if has_bias else np.zeros(8)
    whole = f(x @ w.T + bias)
    for rule in _rules.linear_shardings(rank, act, has_bias):
        parts = []
        for device in range(2):
            xs, ws, bs = (part(v, how, device, 2) for v, how in ((x, rule.x), (w, rule.weight), (bias, rule.bias)))
            parts.append(f(xs @ ws.T + bs))
        if rule.output == _rules.PARTIAL:
            together = parts[0] + parts[1]
        else:
            together = parts[0] if rule.output == _rules.REPLICATED else np.concatenate(parts, rule.output)
        assert np.allclose(together, whole), rule


def test_partial_sums_are_offered_only_where_the_epilogue_is_linear():
    for act, has_bias in (("relu", False), ("", True), ("gelu", True)):
        assert all(rule.output != _rules.PARTIAL for rule in _rules.linear_shardings(2, act, has_bias))
    assert any(rule.output == _rules.PARTIAL for rule in _rules.linear_shardings(2, "", False))


def test_shardings_of_products_put_together_are_the_whole(rng):
    a, b = rng.standard_normal((4, 6)), rng.standard_normal((6, 8))
    for d, how_a, how_b in _rules.product_shardings():
        parts = [part(a, how_a, i, 2) @ part(b, how_b, i, 2) for i in range(2)]
        together = {_rules.PARTIAL: sum(parts), _rules.REPLICATED: parts[0]}.get(d)
        assert np.allclose(np.concatenate(parts, d) if together is None else together, a @ b)


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

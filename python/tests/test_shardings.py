"""Shardings without a framework: what shards compute, put together, is the whole."""

import doctest

import numpy as np
import pytest

from gantry import _shardings
from gantry._shardings import PARTIAL, REPLICATED

DEVICES = 2


def relu(z):
    return np.maximum(z, 0)


def silu(z):
    return z / (1 + np.exp(-z))


def parts(x, how):
    """What each device has of an operand."""
    if how == PARTIAL:
        return [x * share for share in (0.25, 0.75)]
    return [x] * DEVICES if how == REPLICATED else np.split(x, DEVICES, how)


def whole(values, how):
    if how == PARTIAL:
        return sum(values)
    return values[0] if how == REPLICATED else np.concatenate(values, how)


def check(rules, function, *operands):
    """Every rule gives, from shards, what the function gives at once."""
    expected = function(*operands)
    for rule in rules:
        shards = zip(*(parts(x, how) for x, how in zip(operands, rule.inputs)))
        computed = zip(*(function(*shard) for shard in shards))
        for values, how, right in zip(computed, rule.outputs, expected, strict=True):
            assert np.allclose(whole(values, how), right), rule


def flat(x):
    return x.reshape(-1, x.shape[-1])


@pytest.fixture(params=[2, 3])
def rank(request):
    return request.param


@pytest.fixture
def draw(rng, rank):
    """An operand of so many columns, with the rows of a layer's input; or a matrix."""
    return lambda *shape: rng.standard_normal(shape if len(shape) == 2 else ((4, 2)[: rank - 1] + shape))


@pytest.mark.parametrize("has_activation", [False, True])
@pytest.mark.parametrize("has_bias", [False, True])
def test_shards_of_a_layer_put_together_are_the_whole(rng, draw, rank, has_activation, has_bias):
    act = relu if has_activation else lambda z: z
    bias = rng.standard_normal(8) if has_bias else np.zeros(8)
    check(
        _shardings.linear(rank, has_activation, has_bias),
        lambda x, w, b: (act(x @ w.T + b),),
        draw(6),
        draw(8, 6),
        bias,
    )


def test_shards_of_what_is_kept_put_together_are_the_whole(rng, draw, rank):
    def layer(x, w, b):
        z = x @ w.T + b
        return relu(z), z

    check(_shardings.linear_kept(rank, True), layer, draw(6), draw(8, 6), rng.standard_normal(8))


def test_partial_sums_are_offered_only_where_the_epilogue_is_linear():
    def partial(rules):
        return any(PARTIAL in rule.outputs for rule in rules)

    for has_bias in (False, True):
        assert not partial(_shardings.linear(2, True, has_bias))
        assert partial(_shardings.linear(2, False, has_bias))
    assert not partial(_shardings.gated(2, 1, True))


def test_shards_of_gradients_put_together_are_the_whole(draw, rank):
    check(_shardings.input_grad(rank), lambda g, w: (g @ w,), draw(8), draw(8, 6))
    check(_shardings.weight_grad(rank), lambda g, x: (flat(g).T @ flat(x),), draw(8), draw(6))
    check(_shardings.mask_grad(rank), lambda g, z: (g * (z > 0),), draw(8), draw(8))

    def dgrad(g, w, z):
        d = (g @ w) * (z > 0)
        return d, flat(d).sum(0)

    check(_shardings.dgrad(rank), dgrad, draw(8), draw(8, 6), draw(6))


@pytest.mark.parametrize("interleaved", [False, True])
def test_shards_of_a_gate_put_together_are_the_whole(draw, rank, interleaved):
    def split(w):
        return (w[0::2], w[1::2]) if interleaved else np.split(w, 2)

    def gated(x, w):
        gate, up = split(w)
        return silu(x @ gate.T) * (x @ up.T), x @ gate.T, x @ up.T

    def dgrad(g, down, gates, ups):
        dh = g @ down
        both = (dh * ups, dh * silu(gates))
        return (np.stack(both, -1).reshape(*g.shape[:-1], -1) if interleaved else np.concatenate(both, -1),)

    check(_shardings.gated(rank, 3, interleaved), gated, draw(6), draw(16, 6))
    check(_shardings.gated_dgrad(rank, interleaved), dgrad, draw(4), draw(4, 8), draw(8), draw(8))


@pytest.mark.parametrize("has_activation", [False, True])
@pytest.mark.parametrize("has_bias", [False, True])
def test_shards_of_experts_put_together_are_the_whole(rng, has_activation, has_bias):
    act = relu if has_activation else lambda z: z
    offsets = np.array([0, 3, 3, 6])
    rows = [slice(*pair) for pair in zip(offsets, offsets[1:])]
    x, w, g = rng.standard_normal((6, 4)), rng.standard_normal((3, 8, 4)), rng.standard_normal((6, 8))
    bias = rng.standard_normal((3, 8)) if has_bias else np.zeros((3, 8))

    def layer(x, w, offsets, b, gather):
        return (act(np.concatenate([x[r] @ w[e].T + b[e] for e, r in enumerate(rows)])),)

    def input_grad(g, w, offsets):
        return (np.concatenate([g[r] @ w[e] for e, r in enumerate(rows)]),)

    none = np.zeros(0)
    check(_shardings.grouped(1, has_activation, has_bias), layer, x, w, offsets, bias, none)
    check(_shardings.grouped_input_grad(), input_grad, g, w, offsets)
    check(_shardings.grouped_weight_grad(), lambda g, x, o: (np.stack([g[r].T @ x[r] for r in rows]),), g, x, offsets)
    check(_shardings.grouped_bias_grad(), lambda g, o: (np.stack([g[r].sum(0) for r in rows]),), g, offsets)


@pytest.mark.parametrize("has_bias", [False, True])
def test_shards_of_experts_that_gather_and_scatter_put_together_are_the_whole(rng, has_bias):
    offsets = np.array([0, 3, 3, 6])
    rows = [slice(*pair) for pair in zip(offsets, offsets[1:])]
    gather, scatter, scales = np.array([0, 1, 2, 2, 1, 3]), np.array([0, 1, 0, 1, 2, 2]), rng.standard_normal(6)
    x, w, g = rng.standard_normal((4, 4)), rng.standard_normal((3, 8, 4)), rng.standard_normal((3, 8))
    bias = rng.standard_normal((3, 8)) if has_bias else np.zeros((3, 8))

    def summed(y, index, count):
        out = np.zeros((count, y.shape[1]))
        np.add.at(out, index, y)
        return out

    def layer(x, w, offsets, b, gather, scatter, scales):
        y = np.concatenate([x[gather][r] @ w[e].T + b[e] for e, r in enumerate(rows)])
        return (summed(scales[:, None] * y, scatter, 3),)

    def grad(g, w, offsets, x, gather, scatter, scales):
        d = np.concatenate([g[scatter][r] @ w[e] for e, r in enumerate(rows)])
        return summed(scales[:, None] * d, gather, 4), (d * x).sum(1)

    def dot(g, b, offsets):
        return (np.concatenate([g[r] @ b[e] for e, r in enumerate(rows)]),)

    check(_shardings.grouped_sum(has_bias), layer, x, w, offsets, bias, gather, scatter, scales)
    check(_shardings.grouped_sum_grad(), grad, g, w, offsets, x[gather], gather, scatter, scales)
    check(_shardings.grouped_bias_dot(), dot, g[scatter], bias, offsets)


def test_columns_of_halves_and_of_masks_with_broken_bytes_stay_together():
    assert all(1 not in rule.outputs for rule in _shardings.gated(2, 1, False))
    for rules in (
        lambda whole: _shardings.linear_kept(2, True, whole),
        lambda whole: _shardings.mask_grad(2, whole),
        lambda whole: _shardings.dgrad(2, whole),
        lambda whole: _shardings.grouped(2, True, True, whole),
    ):
        assert all(1 not in rule.outputs for rule in rules(False))
        assert any(1 in rule.outputs for rule in rules(True))


def test_examples_hold():
    ran = doctest.testmod(_shardings)
    assert ran.attempted > 0 and ran.failed == 0

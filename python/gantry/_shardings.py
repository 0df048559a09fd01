"""Shardings of layers over one dimension of a device mesh, without any framework: those that need no communication.

A rule names, for each output and then each input of an operator, the dimension that is sharded, ``REPLICATED``, or
``PARTIAL``: the values of all devices are to be summed. Shards of K give partial sums, which only what is linear in the
accumulators may be applied to: an activation of a part is not a part of the activation. A bias is then a partial sum too,
or it would be added once for each device.
"""

from __future__ import annotations

from typing import NamedTuple

REPLICATED, PARTIAL = "replicated", "partial"
How = int | str


class Sharding(NamedTuple):
    """One way to place the outputs and the inputs of an operator."""

    outputs: tuple[How, ...]
    inputs: tuple[How, ...]


def _everywhere(outputs: int, inputs: int) -> Sharding:
    return Sharding((REPLICATED,) * outputs, (REPLICATED,) * inputs)


def linear(rank: int, has_activation: bool, has_bias: bool) -> list[Sharding]:
    """y of x, weight and bias, for an ``x`` of so many dimensions; without a bias, its place is ``REPLICATED``.

    >>> linear(2, True, True)[1:]  # doctest: +NORMALIZE_WHITESPACE
    [Sharding(outputs=(0,), inputs=(0, 'replicated', 'replicated')),
     Sharding(outputs=(1,), inputs=('replicated', 0, 0))]
    >>> linear(2, False, True)[-1]
    Sharding(outputs=('partial',), inputs=(1, 1, 'partial'))
    """
    last = rank - 1
    rules = [_everywhere(1, 3)]
    rules += [Sharding((i,), (i, REPLICATED, REPLICATED)) for i in range(last)]  # rows: sequence and data parallel
    rules.append(Sharding((last,), (REPLICATED, 0, 0)))  # columns of the output
    if not has_activation:
        rules.append(Sharding((PARTIAL,), (last, 1, PARTIAL if has_bias else REPLICATED)))  # K
    return rules


def linear_kept(rank: int, has_bias: bool, whole_bytes: bool = True) -> list[Sharding]:
    """y and what is kept of the pre-activation, which lies as y does. A mask has eight columns in a byte: without
    ``whole_bytes`` in every shard of the columns, those stay together."""
    rules = [Sharding(rule.outputs * 2, rule.inputs) for rule in linear(rank, True, has_bias)]
    return [rule for rule in rules if whole_bytes or rule.outputs[0] != rank - 1]


def input_grad(rank: int) -> list[Sharding]:
    """dx = g weight, of a ``g`` of so many dimensions."""
    last = rank - 1
    rules = [_everywhere(1, 2)]
    rules += [Sharding((i,), (i, REPLICATED)) for i in range(last)]
    rules.append(Sharding((last,), (REPLICATED, 1)))
    rules.append(Sharding((PARTIAL,), (last, 0)))
    rules.append(Sharding((PARTIAL,), (PARTIAL, REPLICATED)))
    return rules


def weight_grad(rank: int) -> list[Sharding]:
    """dweight = gᵀ x, summed over the rows of all dimensions but the last."""
    last = rank - 1
    rules = [_everywhere(1, 2)]
    rules += [Sharding((PARTIAL,), (i, i)) for i in range(last)]
    rules.append(Sharding((0,), (last, REPLICATED)))
    rules.append(Sharding((1,), (REPLICATED, last)))
    return rules


def mask_grad(rank: int, whole_bytes: bool = True) -> list[Sharding]:
    """g where the mask is set."""
    rules = [_everywhere(1, 2), Sharding((PARTIAL,), (PARTIAL, REPLICATED))]
    rules += [Sharding((i,), (i, i)) for i in range(rank if whole_bytes else rank - 1)]
    return rules


def dgrad(rank: int, whole_bytes: bool = True) -> list[Sharding]:
    """The first layer's gradient and its bias gradient, of g, the second layer's weight and what was kept."""
    last = rank - 1
    rules = [_everywhere(2, 3)]
    rules += [Sharding((i, PARTIAL), (i, REPLICATED, i)) for i in range(last)]
    if whole_bytes:
        rules.append(Sharding((last, 0), (REPLICATED, 1, last)))
    return rules


def gated(rank: int, outputs: int, interleaved: bool) -> list[Sharding]:
    """y, and the gates and ups where they are kept. A shard of interleaved rows has both of each column; one of halves
    has the gate's alone."""
    last = rank - 1
    rules = [_everywhere(outputs, 2)]
    rules += [Sharding((i,) * outputs, (i, REPLICATED)) for i in range(last)]
    if interleaved:
        rules.append(Sharding((last,) * outputs, (REPLICATED, 0)))
    return rules


def gated_dgrad(rank: int, interleaved: bool) -> list[Sharding]:
    """The gradient of both pre-activations, of g, the second layer's weight, the gates and the ups."""
    last = rank - 1
    rules = [_everywhere(1, 4)]
    rules += [Sharding((i,), (i, REPLICATED, i, i)) for i in range(last)]
    if interleaved:
        rules.append(Sharding((last,), (REPLICATED, 1, last, last)))
    return rules


def grouped(outputs: int, has_activation: bool, has_bias: bool, whole_bytes: bool = True) -> list[Sharding]:
    """y, and what is kept of the pre-activation, of rows x K, experts x N x K, offsets, a bias of experts x N and an index
    that gathers rows. The rows of an expert, and the experts, stay together."""
    rules = [_everywhere(outputs, 5)]
    if whole_bytes:
        rules.append(Sharding((1,) * outputs, (REPLICATED, 1, REPLICATED, 1, REPLICATED)))
    if not has_activation:
        bias = PARTIAL if has_bias else REPLICATED
        rules.append(Sharding((PARTIAL,) * outputs, (1, 2, REPLICATED, bias, REPLICATED)))
    return rules


def grouped_sum(has_bias: bool) -> list[Sharding]:
    """Sums for each token, of what :func:`grouped` takes, the index of the tokens and the factors of the rows."""
    return [Sharding(rule.outputs, (*rule.inputs, REPLICATED, REPLICATED)) for rule in grouped(1, False, has_bias)]


def grouped_sum_grad() -> list[Sharding]:
    """dx and the gradient of the factors, of g, weight, offsets, x, both indices and the factors. Both are sums over N,
    and the second one over K, too."""
    rest = (REPLICATED,) * 3
    return [
        _everywhere(2, 7),
        Sharding((1, PARTIAL), (REPLICATED, 2, REPLICATED, 1, *rest)),
        Sharding((PARTIAL, PARTIAL), (1, 1, REPLICATED, REPLICATED, *rest)),
    ]


def grouped_input_grad() -> list[Sharding]:
    """dx of g, weight and offsets."""
    return [
        _everywhere(1, 3),
        Sharding((1,), (REPLICATED, 2, REPLICATED)),
        Sharding((PARTIAL,), (1, 1, REPLICATED)),
    ]


def grouped_weight_grad() -> list[Sharding]:
    """dweight of g, x and offsets."""
    return [
        _everywhere(1, 3),
        Sharding((1,), (1, REPLICATED, REPLICATED)),
        Sharding((2,), (REPLICATED, 1, REPLICATED)),
    ]


def grouped_bias_grad() -> list[Sharding]:
    """dbias of g and offsets."""
    return [
        _everywhere(1, 2),
        Sharding((1,), (1, REPLICATED)),
        Sharding((PARTIAL,), (PARTIAL, REPLICATED)),
    ]


def grouped_bias_dot() -> list[Sharding]:
    """Each row's sum of g times the bias of its group, of g, bias and offsets."""
    return [_everywhere(1, 3), Sharding((PARTIAL,), (1, 1, REPLICATED))]

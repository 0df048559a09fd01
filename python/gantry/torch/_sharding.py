"""The rules of :mod:`gantry._shardings` told to DTensor. What a rule depends on is an operand or a number of the schema:
DTensor keeps the placements that it found by those alone."""

from __future__ import annotations

from typing import Any, Sequence

from torch.distributed.tensor import Partial, Replicate, Shard
from torch.distributed.tensor.experimental import register_sharding

from .. import _rules, _shardings
from .._shardings import PARTIAL, REPLICATED, Sharding
from ._ops import ops


def _placed(how: int | str) -> Any:
    return {REPLICATED: Replicate(), PARTIAL: Partial()}.get(how) or Shard(how)


def _told(rules: Sequence[Sharding], operands: Sequence[Any]) -> list[tuple[list, list]]:
    """Operands that are left out, and numbers behind the tensors, have no placement."""
    out = []
    for rule in rules:
        inputs = [
            None if i >= len(rule.inputs) or x is None else _placed(rule.inputs[i]) for i, x in enumerate(operands)
        ]
        out.append(([_placed(how) for how in rule.outputs], inputs))
    return out


def _rank(x: Any) -> int:
    return len(x.shape)


def _whole_bytes(weight: Any, columns: int, activation: int) -> bool:
    """Whether every shard of the columns keeps whole bytes of a mask, where one is kept."""
    masks = activation and _rules.ACTIVATIONS[_rules.activation_name(activation)].keeps_mask
    return not masks or columns % (8 * weight.mesh.size()) == 0


def register() -> None:
    _register_layers()
    _register_gates()
    _register_groups()


def _register_layers() -> None:
    @register_sharding(ops.linear.default)
    def _(x, weight, bias, activation):
        rules = _shardings.linear(_rank(x), activation != 0, bias is not None)
        return _told(rules, (x, weight, bias, activation))

    @register_sharding(ops.linear_kept.default)
    def _(x, weight, bias, activation):
        whole = _whole_bytes(weight, weight.shape[0], activation)
        rules = _shardings.linear_kept(_rank(x), bias is not None, whole)
        return _told(rules, (x, weight, bias, activation))

    @register_sharding(ops.input_grad.default)
    def _(g, weight):
        return _told(_shardings.input_grad(_rank(g)), (g, weight))

    @register_sharding(ops.weight_grad.default)
    def _(g, x):
        return _told(_shardings.weight_grad(_rank(g)), (g, x))

    @register_sharding(ops.mask_grad.default)
    def _(g, kept):
        whole = g.shape[-1] % (8 * g.mesh.size()) == 0
        return _told(_shardings.mask_grad(_rank(g), whole), (g, kept))

    @register_sharding(ops.dgrad.default)
    def _(g, weight, kept, activation):
        whole = _whole_bytes(weight, weight.shape[1], activation)
        return _told(_shardings.dgrad(_rank(g), whole), (g, weight, kept, activation))


def _register_gates() -> None:
    @register_sharding(ops.gated.default)
    def _(x, weight, activation, gate):
        rules = _shardings.gated(_rank(x), 1, gate == _rules.INTERLEAVED)
        return _told(rules, (x, weight, activation, gate))

    @register_sharding(ops.gated_kept.default)
    def _(x, weight, activation, gate):
        rules = _shardings.gated(_rank(x), 3, gate == _rules.INTERLEAVED)
        return _told(rules, (x, weight, activation, gate))

    @register_sharding(ops.gated_dgrad.default)
    def _(g, down, gates, ups, activation, gate):
        rules = _shardings.gated_dgrad(_rank(g), gate == _rules.INTERLEAVED)
        return _told(rules, (g, down, gates, ups, activation, gate))


def _register_groups() -> None:
    @register_sharding(ops.grouped.default)
    def _(x, weight, offsets, bias, gather, activation, padded):
        rules = _shardings.grouped(1, activation != 0, bias is not None)
        return _told(rules, (x, weight, offsets, bias, gather, activation, padded))

    @register_sharding(ops.grouped_kept.default)
    def _(x, weight, offsets, bias, gather, activation, padded):
        whole = _whole_bytes(weight, weight.shape[1], activation)
        rules = _shardings.grouped(2, True, bias is not None, whole)
        return _told(rules, (x, weight, offsets, bias, gather, activation, padded))

    @register_sharding(ops.grouped_sum.default)
    def _(x, weight, offsets, bias, gather, scatter, scales, rows):
        rules = _shardings.grouped_sum(bias is not None)
        return _told(rules, (x, weight, offsets, bias, gather, scatter, scales, rows))

    @register_sharding(ops.grouped_sum_grad.default)
    def _(g, weight, offsets, x, gather, scatter, scales, rows, padded):
        return _told(_shardings.grouped_sum_grad(), (g, weight, offsets, x, gather, scatter, scales, rows, padded))

    @register_sharding(ops.grouped_input_grad.default)
    def _(g, weight, offsets, padded):
        return _told(_shardings.grouped_input_grad(), (g, weight, offsets, padded))

    @register_sharding(ops.grouped_weight_grad.default)
    def _(g, x, offsets):
        return _told(_shardings.grouped_weight_grad(), (g, x, offsets))

    @register_sharding(ops.grouped_bias_grad.default)
    def _(g, offsets):
        return _told(_shardings.grouped_bias_grad(), (g, offsets))

    @register_sharding(ops.grouped_bias_dot.default)
    def _(g, bias, offsets):
        return _told(_shardings.grouped_bias_dot(), (g, bias, offsets))

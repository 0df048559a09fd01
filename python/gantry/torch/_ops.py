"""Operators of the namespace ``gantry``: schemas, kernels and fake kernels, of which autograd functions are made.

CUDA tensors of f16 and bf16 take one GEMM each, with what surrounds it fused; all others take torch's own operators. An
operator takes any number of dimensions before the last, so that a sharding of one of them stays one.
"""

from __future__ import annotations

from typing import Any, Callable

import torch
from torch import Tensor

from .. import _rules
from . import _native
from . import _reference as reference
from ._prepared import product
from ._reference import flat, mask_bytes, sum_dtype

ELEMENTS = {torch.bfloat16: "bf16", torch.float16: "f16"}

library = torch.library.Library("gantry", "DEF")
ops = torch.ops.gantry

#: Kernels for CUDA tensors and the gradient of `linear` are those of _operators.cpp.
is_native = _native.load()


def define(schema: str, cuda: Callable, cpu: Callable, fake: Callable) -> None:
    """An operator with its kernels. Where C++ has the one for CUDA tensors, that falls back on ``cuda``."""
    library.define(schema)
    name, _, rest = schema.partition("(")
    if is_native and name in _native.OPERATORS:
        library.define(f"{name}_by_plan({rest}")
        library.impl(f"{name}_by_plan", cuda, "CompositeExplicitAutograd")
    else:
        library.impl(name, cuda, "CUDA")
    library.impl(name, cpu, "CPU")
    torch.library.register_fake(f"gantry::{name}", fake)


def multiplies(*tensors: Tensor) -> bool:
    """There are kernels for these elements; for others torch's own operators do."""
    return all(x.dtype == tensors[0].dtype for x in tensors) and tensors[0].dtype in ELEMENTS


def shaped(d: Tensor, like: Tensor) -> Tensor:
    """Rows of a GEMM's result in the dimensions of the tensor that they came from."""
    return d.view(*like.shape[:-1], d.shape[-1])


# ---- A layer and its gradients


def _bias(bias: Tensor | None) -> dict[str, Tensor]:
    return {} if bias is None else {"bias": bias}


def _linear(x, weight, bias, activation):
    if not multiplies(x, weight):
        return reference.linear(x, weight, bias, activation)
    text = _rules.forward_text(bias is not None, _rules.activation_name(activation))
    return shaped(product(flat(x), weight, epilogue=text, **_bias(bias)), x)


def _linear_kept(x, weight, bias, activation):
    if not multiplies(x, weight):
        return reference.linear_kept(x, weight, bias, activation)
    text = _rules.forward_text(bias is not None, _rules.activation_name(activation), keep=ELEMENTS[x.dtype])
    d, kept = product(flat(x), weight, epilogue=text, **_bias(bias))
    return shaped(d, x), shaped(kept, x)


def _input_grad(g, weight):
    if not multiplies(g, weight):
        return reference.input_grad(g, weight)
    return shaped(product(flat(g), weight, trans_b=False), g)


def _weight_grad(g, x):
    if not multiplies(g, x):
        return reference.weight_grad(g, x)
    return product(flat(g).mT, flat(x), trans_b=False)


def _dgrad(g, weight, kept, activation):
    if not multiplies(g, weight):
        return reference.dgrad(g, weight, kept, activation)
    text = _rules.dgrad_text(_rules.activation_name(activation), ELEMENTS[g.dtype], True)
    d, dbias = product(flat(g), weight, trans_b=False, epilogue=text, kept=flat(kept))
    return shaped(d, g), dbias


def _like(x: Tensor, columns: Any, dtype: torch.dtype | None = None) -> Tensor:
    return x.new_empty((*x.shape[:-1], columns), dtype=dtype)


def _fake_linear(x, weight, bias, activation):
    return x.new_empty(_rules.linear_shape(tuple(x.shape), tuple(weight.shape), None))


def _fake_linear_kept(x, weight, bias, activation):
    out = _fake_linear(x, weight, bias, activation)
    masks = _rules.ACTIVATIONS[_rules.activation_name(activation)].keeps_mask
    return out, _like(x, mask_bytes(weight.shape[0]), torch.uint8) if masks else torch.empty_like(out)


define(
    "linear(Tensor x, Tensor weight, Tensor? bias, int activation) -> Tensor", _linear, reference.linear, _fake_linear
)
define(
    "linear_kept(Tensor x, Tensor weight, Tensor? bias, int activation) -> (Tensor, Tensor)",
    _linear_kept,
    reference.linear_kept,
    _fake_linear_kept,
)
define(
    "input_grad(Tensor g, Tensor weight) -> Tensor",
    _input_grad,
    reference.input_grad,
    lambda g, weight: _like(g, weight.shape[1]),
)
define(
    "weight_grad(Tensor g, Tensor x) -> Tensor",
    _weight_grad,
    reference.weight_grad,
    lambda g, x: g.new_empty((g.shape[-1], x.shape[-1])),
)
define(
    "mask_grad(Tensor g, Tensor kept) -> Tensor",
    reference.mask_grad,
    reference.mask_grad,
    lambda g, kept: torch.empty_like(g),
)
define(
    "dgrad(Tensor g, Tensor weight, Tensor kept, int activation) -> (Tensor, Tensor)",
    _dgrad,
    reference.dgrad,
    lambda g, weight, kept, activation: (
        _like(g, weight.shape[1]),
        g.new_empty((weight.shape[1],), dtype=sum_dtype(g)),
    ),
)


# ---- A gated layer and its gradients


def _gates(x: Tensor, weight: Tensor) -> bool:
    """The gated epilogue takes rows of the gate and of up by eights."""
    return multiplies(x, weight) and weight.shape[0] % 16 == 0


def _gated(x, weight, activation, gate):
    if not _gates(x, weight):
        return reference.gated(x, weight, activation, gate)
    text = _rules.gated_text(_rules.activation_name(activation))
    return shaped(product(flat(x), weight, epilogue=text, gate=_rules.gate_name(gate)), x)


def _gated_kept(x, weight, activation, gate):
    if not _gates(x, weight):
        return reference.gated_kept(x, weight, activation, gate)
    text = _rules.gated_text(_rules.activation_name(activation), keep=ELEMENTS[x.dtype])
    return tuple(shaped(d, x) for d in product(flat(x), weight, epilogue=text, gate=_rules.gate_name(gate)))


def _gated_dgrad(g, down, gates, ups, activation, gate):
    if not multiplies(g, down):
        return reference.gated_dgrad(g, down, gates, ups, activation, gate)
    text = _rules.gated_dgrad_text(_rules.activation_name(activation), ELEMENTS[g.dtype])
    rows, hidden = flat(g), down.shape[1]
    given = {"epilogue": text, "gates": flat(gates), "ups": flat(ups)}
    if gate == _rules.INTERLEAVED:  # no kernel stores every second column
        return shaped(reference.in_row_order(*product(rows, down, trans_b=False, **given), gate), g)
    both = g.new_empty((rows.shape[0], 2 * hidden))
    product(rows, down, trans_b=False, out=both[:, :hidden], dup=both[:, hidden:], **given)
    return shaped(both, g)


define(
    "gated(Tensor x, Tensor weight, int activation, int gate) -> Tensor",
    _gated,
    reference.gated,
    lambda x, weight, activation, gate: _like(x, weight.shape[0] // 2),
)
define(
    "gated_kept(Tensor x, Tensor weight, int activation, int gate) -> (Tensor, Tensor, Tensor)",
    _gated_kept,
    reference.gated_kept,
    lambda x, weight, activation, gate: tuple(_like(x, weight.shape[0] // 2) for _ in range(3)),
)
define(
    "gated_dgrad(Tensor g, Tensor down, Tensor gates, Tensor ups, int activation, int gate) -> Tensor",
    _gated_dgrad,
    reference.gated_dgrad,
    lambda g, down, gates, ups, activation, gate: _like(g, 2 * down.shape[1]),
)

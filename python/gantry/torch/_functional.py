"""Layers as functions with gradients, of the operators of :mod:`._ops`. Each is differentiated once: a second backward
pass is refused, since the kernels of the first one have no gradients."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .. import _rules
from .._errors import refusal
from ._ops import is_native, library, ops
from ._reference import BACKWARD, flat, sum_dtype

_NONE = _rules.activation_code(None)

# Kinds of devices that autocast is for. Asked when the package is loaded: torch 2.11 cannot trace the question.
_AUTOCAST = frozenset(kind for kind in ("cpu", "cuda") if torch.amp.is_autocast_available(kind))


def autocasts(x: Tensor) -> bool:
    device = x.device.type
    return device in _AUTOCAST and torch.is_autocast_enabled(device)


def autocast(*tensors: Tensor | None) -> list[Tensor | None]:
    """Matrices in the element of autocast where it is on; vectors stay as they are."""
    first = next(x for x in tensors if x is not None)
    if not autocasts(first):
        return list(tensors)
    wanted = torch.get_autocast_dtype(first.device.type)
    return [x if x is None or x.dim() < 2 or not x.is_floating_point() else x.to(wanted) for x in tensors]


def autocast_input(x: Tensor, *weights: Tensor) -> list[Tensor]:
    """The same for a layer, whose input may have one dimension."""
    if not autocasts(x):
        return [x, *weights]
    rows, *rest = autocast(x if x.dim() != 1 else x.unsqueeze(0), *weights)
    return [rows if x.dim() != 1 else rows.squeeze(0), *rest]


def wants_gradient(*tensors: Tensor | None) -> bool:
    """Otherwise nothing has to be kept for a backward pass."""
    return torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in tensors)


def check_next(weight: Tensor, rows: int, bias: Tensor | None, before: Tensor, names: tuple[str, str]) -> None:
    """The same of a layer whose input is the ``rows`` outputs of the layer ``before``."""
    name, bias_name = names
    if weight.dim() != 2 or weight.shape[1] != rows:
        raise refusal("shape", name, f"{name} has the shape {tuple(weight.shape)}: it is N x K with a K of {rows}")
    if bias is not None and bias.shape != weight.shape[:1]:
        raise refusal(
            "shape", bias_name, f"{bias_name} has the shape {tuple(bias.shape)}, and ({weight.shape[0]},) is needed"
        )
    if weight.dtype != before.dtype:
        raise refusal("dtype", name, f"{name} has elements of {weight.dtype}, and what it takes of {before.dtype}")


def check_layer(x: Tensor, weight: Tensor, bias: Tensor | None = None, name: str = "weight") -> None:
    """What :func:`linear` and the modules refuse, in one sentence."""
    shape, sizes = x.shape, weight.shape
    if len(shape) > 0 and len(sizes) == 2 and shape[-1] == sizes[1] and x.dtype == weight.dtype:
        if bias is None or bias.shape == sizes[:1]:
            return
    _rules.linear_shape(tuple(x.shape), tuple(weight.shape), None if bias is None else tuple(bias.shape))
    if x.dtype != weight.dtype:
        raise refusal(
            "dtype", name, f"x has elements of {x.dtype}, and {name} of {weight.dtype}: both are the same; convert one"
        )


def through_activation(g: Tensor, kept: Tensor, activation: int) -> Tensor:
    """g times the derivative; of torch's own operators where there are some, which a compiler fuses with others."""
    name = _rules.activation_name(activation)
    return ops.mask_grad(g, kept) if _rules.ACTIVATIONS[name].keeps_mask else BACKWARD[name](g, kept)


def bias_grad(g: Tensor, dtype: torch.dtype) -> Tensor:
    return flat(g).sum(0, dtype=sum_dtype(g)).to(dtype)


class _Linear(torch.autograd.Function):
    """A lone layer: one elementwise kernel between the gradient of its output and its two GEMMs."""

    @staticmethod
    def forward(ctx, x, weight, bias, activation):
        ctx.activation, ctx.bias_dtype = activation, None if bias is None else bias.dtype
        if activation != _NONE:
            out, kept = ops.linear_kept(x, weight, bias, activation)
            ctx.save_for_backward(x, weight, kept)
        else:
            out = ops.linear(x, weight, bias, _NONE)
            ctx.save_for_backward(x, weight)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, weight, *kept = ctx.saved_tensors
        dz = through_activation(g, kept[0], ctx.activation) if kept else g
        wants = ctx.needs_input_grad
        return (
            ops.input_grad(dz, weight) if wants[0] else None,
            ops.weight_grad(dz, x) if wants[1] else None,
            bias_grad(dz, ctx.bias_dtype) if wants[2] else None,
            None,
        )


def _linear_autograd(x, weight, bias, activation):
    if wants_gradient(x, weight, bias):
        return _Linear.apply(x, weight, bias, activation)
    with torch._C._AutoDispatchBelowAutograd():
        return ops.linear(x, weight, bias, activation)


if not is_native:
    library.impl("linear", _linear_autograd, "Autograd")


_linear_operator = ops.linear.default


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str | None = None) -> Tensor:
    """act(x weightᵀ + bias), with the activation and the bias in the GEMM's epilogue.

    >>> import torch, gantry.torch
    >>> x, w = torch.ones(2, 8, 64), torch.ones(16, 64)
    >>> gantry.torch.linear(x, w, activation="relu").shape
    torch.Size([2, 8, 16])
    """
    x, weight = autocast_input(x, weight)
    check_layer(x, weight, bias)
    return _linear_operator(x, weight, bias, _rules.activation_code(activation))


class _Mlp(torch.autograd.Function):
    """Two layers: the first one's pre-activation gradient and bias gradient come out of the second one's dgrad GEMM."""

    @staticmethod
    def forward(ctx, x, w1, b1, w2, b2, activation):
        hidden, kept = ops.linear_kept(x, w1, b1, activation)
        ctx.save_for_backward(x, w1, w2, hidden, kept)
        ctx.activation = activation
        ctx.bias_dtypes = tuple(None if b is None else b.dtype for b in (b1, b2))
        return ops.linear(hidden, w2, b2, _NONE)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, w1, w2, hidden, kept = ctx.saved_tensors
        wants = ctx.needs_input_grad
        first, second = ctx.bias_dtypes
        g = g.contiguous()
        dz = db1 = None
        if any(wants[:3]):
            dz, db1 = ops.dgrad(g, w2, kept, ctx.activation)
        return (
            ops.input_grad(dz, w1) if wants[0] else None,
            ops.weight_grad(dz, x) if wants[1] else None,
            db1.to(first) if wants[2] else None,
            ops.weight_grad(g, hidden) if wants[3] else None,
            bias_grad(g, second) if wants[4] else None,
            None,
        )


def mlp(x: Tensor, w1: Tensor, b1: Tensor | None, w2: Tensor, b2: Tensor | None, activation: str) -> Tensor:
    """act(x w1ᵀ + b1) w2ᵀ + b2, with one fused backward pass over both layers.

    >>> import torch, gantry.torch
    >>> x, w1, w2 = torch.ones(4, 64), torch.ones(32, 64), torch.ones(8, 32)
    >>> gantry.torch.mlp(x, w1, None, w2, None, "relu").shape
    torch.Size([4, 8])
    """
    x, w1, w2 = autocast_input(x, w1, w2)
    check_layer(x, w1, b1, "the first layer's weight")
    check_next(w2, w1.shape[0], b2, w1, ("the second layer's weight", "the second layer's bias"))
    _rules.required_activation(activation)
    code = _rules.activation_code(activation)
    if not wants_gradient(x, w1, b1, w2, b2):
        return ops.linear(ops.linear(x, w1, b1, code), w2, b2, _NONE)
    return _Mlp.apply(x, w1, b1, w2, b2, code)


class _Gated(torch.autograd.Function):
    """The gradients of gate and up come out of the second layer's dgrad GEMM as one operand of the two that follow."""

    @staticmethod
    def forward(ctx, x, weight, down, activation, gate):
        hidden, gates, ups = ops.gated_kept(x, weight, activation, gate)
        ctx.save_for_backward(x, weight, down, hidden, gates, ups)
        ctx.activation, ctx.gate = activation, gate
        return ops.linear(hidden, down, None, _NONE)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, weight, down, hidden, gates, ups = ctx.saved_tensors
        wants = ctx.needs_input_grad
        g = g.contiguous()
        dz = ops.gated_dgrad(g, down, gates, ups, ctx.activation, ctx.gate) if wants[0] or wants[1] else None
        return (
            ops.input_grad(dz, weight) if wants[0] else None,
            ops.weight_grad(dz, x) if wants[1] else None,
            ops.weight_grad(g, hidden) if wants[2] else None,
            None,
            None,
        )


def gated_linear(x: Tensor, weight: Tensor, down: Tensor, activation: str = "silu", gate: str = "halves") -> Tensor:
    """(act(x gateᵀ) · x upᵀ) downᵀ, where ``weight`` has the rows of gate and of up: ``gate`` says in which order.

    >>> import torch, gantry.torch
    >>> x, w, down = torch.ones(4, 64), torch.ones(32, 64), torch.ones(8, 16)
    >>> gantry.torch.gated_linear(x, w, down).shape
    torch.Size([4, 8])
    """
    order = _rules.gate_code(gate)
    _rules.gated_text(activation)
    if weight.shape[0] % 2:
        raise refusal("shape", "weight", f"weight has {weight.shape[0]} rows: half are the gate's, half up's")
    x, weight, down = autocast_input(x, weight, down)
    check_layer(x, weight)
    check_next(down, weight.shape[0] // 2, None, weight, ("down", ""))
    code = _rules.activation_code(activation)
    if not wants_gradient(x, weight, down):
        return ops.linear(ops.gated(x, weight, code, order), down, None, _NONE)
    return _Gated.apply(x, weight, down, code, order)

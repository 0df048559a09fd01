"""Layers of a mixture of experts: rows that are sorted by expert, and one GEMM for the rows of all.

``offsets`` ascends, has one number more than there are experts, and lies where the rows do: expert e has the rows from
offsets[e] to offsets[e + 1]. Nobody reads it before the kernel runs. A group that reaches beyond the rows is empty.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, Iterator, NamedTuple, Sequence

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from .. import _rules
from .._errors import refusal
from .._gemm import gemm
from ._functional import autocast, through_activation, wants_gradient
from ._modules import warm_up
from ._ops import ELEMENTS, define, multiplies, ops
from ._reference import FUNCTIONS, mask_bytes, packed, sum_dtype


def _groups(offsets: Tensor, rows: int) -> Iterator[tuple[int, slice]]:
    for e, (start, end) in enumerate(pairwise(offsets.tolist())):
        if 0 <= start <= end <= rows:
            yield e, slice(start, end)


# ---- By torch's own operators


def _pre_reference(x, weight, offsets, bias):
    z = x.new_zeros((x.shape[0], weight.shape[1]))
    for e, rows in _groups(offsets, x.shape[0]):
        z[rows] = F.linear(x[rows], weight[e], None if bias is None else bias[e].to(x.dtype))  # rounds once
    return z


def _activated(z: Tensor, name: str, offsets: Tensor) -> Tensor:
    """Rows without a group stay zero, also where the activation of zero is not."""
    out = torch.zeros_like(z)
    for _, rows in _groups(offsets, z.shape[0]):
        out[rows] = FUNCTIONS[name](z[rows])
    return out


def _reference(x, weight, offsets, bias, activation, padded):
    return _activated(_pre_reference(x, weight, offsets, bias), _rules.activation_name(activation), offsets)


def _kept_reference(x, weight, offsets, bias, activation, padded):
    z, name = _pre_reference(x, weight, offsets, bias), _rules.activation_name(activation)
    return _activated(z, name, offsets), packed(z > 0) if _rules.ACTIVATIONS[name].keeps_mask else z


def _input_grad_reference(g, weight, offsets, padded):
    return _pre_reference(g, weight.mT, offsets, None)


def _weight_grad_reference(g, x, offsets):
    out = g.new_zeros((offsets.shape[0] - 1, g.shape[1], x.shape[1]))
    for e, rows in _groups(offsets, x.shape[0]):
        out[e] = g[rows].mT @ x[rows]
    return out


def _bias_grad(g, offsets):
    """Sums the rows of each group, with what is before the first and behind the last one put aside."""
    rows = torch.arange(g.shape[0], device=g.device, dtype=offsets.dtype)
    sums = g.new_zeros((offsets.shape[0] + 1, g.shape[1]), dtype=sum_dtype(g))
    sums.index_add_(0, torch.bucketize(rows, offsets, right=True), g.to(sums.dtype))
    return sums[1:-1].clone()


# ---- One GEMM each


def _room(x: Tensor, columns: int, padded: bool) -> dict[str, Tensor]:
    """Where rows may be without a group, D is zero before the kernel writes those that have one."""
    return {"out": x.new_zeros((x.shape[0], columns))} if padded else {}


def _writes(x: Tensor, columns: int) -> bool:
    """Whether TMA, which writes whole 16 bytes, stores such rows. Groups have no other way: then torch's operators serve."""
    return columns * x.element_size() % 16 == 0


def _named(bias: Tensor | None) -> dict[str, Tensor]:
    return {} if bias is None else {"bias": bias}


def _grouped(x, weight, offsets, bias, activation, padded):
    if not multiplies(x, weight) or not _writes(x, weight.shape[1]):
        return _reference(x, weight, offsets, bias, activation, padded)
    text = _rules.forward_text(bias is not None, _rules.activation_name(activation))
    return gemm(x, weight, groups=offsets, epilogue=text, **_named(bias), **_room(x, weight.shape[1], padded))


def _grouped_kept(x, weight, offsets, bias, activation, padded):
    if not multiplies(x, weight) or not _writes(x, weight.shape[1]):
        return _kept_reference(x, weight, offsets, bias, activation, padded)
    text = _rules.forward_text(bias is not None, _rules.activation_name(activation), keep=ELEMENTS[x.dtype])
    room = _room(x, weight.shape[1], padded)
    if padded:
        room["kept"] = torch.zeros_like(_fake_kept(x, weight, offsets, bias, activation, padded)[1])
    return tuple(gemm(x, weight, groups=offsets, epilogue=text, **_named(bias), **room))


def _grouped_input_grad(g, weight, offsets, padded):
    if not multiplies(g, weight) or not _writes(g, weight.shape[2]):
        return _input_grad_reference(g, weight, offsets, padded)
    return gemm(g, weight, trans_b=False, groups=offsets, **_room(g, weight.shape[2], padded))


def _grouped_weight_grad(g, x, offsets):
    if not multiplies(g, x) or not _writes(g, x.shape[1]):
        return _weight_grad_reference(g, x, offsets)
    return gemm(g.mT, x, trans_b=False, groups=offsets, groups_along="k")


def _fake_kept(x, weight, offsets, bias, activation, padded):
    out = x.new_empty((x.shape[0], weight.shape[1]))
    masks = _rules.ACTIVATIONS[_rules.activation_name(activation)].keeps_mask
    kept = x.new_empty((x.shape[0], mask_bytes(weight.shape[1])), dtype=torch.uint8) if masks else torch.empty_like(out)
    return out, kept


_OPERANDS = "Tensor x, Tensor weight, Tensor offsets, Tensor? bias, int activation, bool padded"
define(
    f"grouped({_OPERANDS}) -> Tensor",
    _grouped,
    _reference,
    lambda x, weight, offsets, bias, activation, padded: x.new_empty((x.shape[0], weight.shape[1])),
)
define(f"grouped_kept({_OPERANDS}) -> (Tensor, Tensor)", _grouped_kept, _kept_reference, _fake_kept)
define(
    "grouped_input_grad(Tensor g, Tensor weight, Tensor offsets, bool padded) -> Tensor",
    _grouped_input_grad,
    _input_grad_reference,
    lambda g, weight, offsets, padded: g.new_empty((g.shape[0], weight.shape[2])),
)
define(
    "grouped_weight_grad(Tensor g, Tensor x, Tensor offsets) -> Tensor",
    _grouped_weight_grad,
    _weight_grad_reference,
    lambda g, x, offsets: g.new_empty((offsets.shape[0] - 1, g.shape[1], x.shape[1])),
)
define(
    "grouped_bias_grad(Tensor g, Tensor offsets) -> Tensor",
    _bias_grad,
    _bias_grad,
    lambda g, offsets: g.new_empty((offsets.shape[0] - 1, g.shape[1]), dtype=sum_dtype(g)),
)


# ---- The layer


class _Grouped(torch.autograd.Function):
    """dgrad has groups along M, of the same rows; wgrad groups along K."""

    @staticmethod
    def forward(ctx, x, weight, offsets, bias, activation, padded):
        ctx.activation, ctx.padded, ctx.bias_dtype = activation, padded, None if bias is None else bias.dtype
        if activation:
            out, kept = ops.grouped_kept(x, weight, offsets, bias, activation, padded)
            ctx.save_for_backward(x, weight, offsets, kept)
        else:
            out = ops.grouped(x, weight, offsets, bias, activation, padded)
            ctx.save_for_backward(x, weight, offsets)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, weight, offsets, *kept = ctx.saved_tensors
        dz = through_activation(g, kept[0], ctx.activation) if kept else g.contiguous()
        wants = ctx.needs_input_grad
        return (
            ops.grouped_input_grad(dz, weight, offsets, ctx.padded) if wants[0] else None,
            ops.grouped_weight_grad(dz, x, offsets) if wants[1] else None,
            None,
            ops.grouped_bias_grad(dz, offsets).to(ctx.bias_dtype) if wants[3] else None,
            None,
            None,
        )


def _check(x: Tensor, weight: Tensor, offsets: Tensor, bias: Tensor | None) -> None:
    if x.dim() != 2 or weight.dim() != 3 or x.shape[1] != weight.shape[2]:
        raise refusal(
            "shape",
            "x",
            f"x has the shape {tuple(x.shape)}, and weight {tuple(weight.shape)}: they are rows x K and experts x N x K",
        )
    if x.dtype != weight.dtype:
        raise refusal("dtype", "weight", f"x has elements of {x.dtype}, and weight of {weight.dtype}: convert one")
    if offsets.dtype != torch.int32 or offsets.dim() != 1 or offsets.shape[0] != weight.shape[0] + 1:
        raise refusal(
            "groups",
            "offsets",
            f"offsets are {offsets.dtype} of the shape {tuple(offsets.shape)}: {weight.shape[0]} experts have "
            f"({weight.shape[0] + 1},) of torch.int32",
        )
    if bias is not None and bias.shape != weight.shape[:2]:
        needed = tuple(weight.shape[:2])
        raise refusal("shape", "bias", f"bias has the shape {tuple(bias.shape)}, and {needed} is needed")


def grouped_linear(
    x: Tensor,
    weight: Tensor,
    offsets: Tensor,
    bias: Tensor | None = None,
    activation: str | None = None,
    padded: bool = True,
) -> Tensor:
    """act(x weight[e]ᵀ + bias[e]) for the rows of each expert e. Rows without one are zero; ``padded=False`` promises that
    there are none, and saves the pass over memory that makes them zero.

    >>> import torch, gantry.torch
    >>> x, w = torch.ones(6, 8), torch.stack((torch.ones(4, 8), torch.zeros(4, 8)))
    >>> gantry.torch.grouped_linear(x, w, torch.tensor([0, 2, 5], dtype=torch.int32))[:, 0]
    tensor([8., 8., 0., 0., 0., 0.])
    """
    x, weight = autocast(x, weight)
    _check(x, weight, offsets, bias)
    code = _rules.activation_code(activation)
    if not wants_gradient(x, weight, bias):
        return ops.grouped(x, weight, offsets, bias, code, padded)
    return _Grouped.apply(x, weight, offsets, bias, code, padded)


class GroupedLinear(nn.Module):
    """A linear layer for each of many experts, over rows that are sorted by expert.

    ``weight`` is experts x out_features x in_features, ``bias`` experts x out_features.

    >>> import torch, gantry.torch
    >>> experts = gantry.torch.GroupedLinear(4, 64, 32)
    >>> routing = gantry.torch.route(torch.tensor([[0, 3], [3, 1], [0, 1]]), experts=4)
    >>> x = torch.randn(3, 64)
    >>> routing.scatter(experts(routing.gather(x), routing.offsets)).shape
    torch.Size([3, 32])
    """

    def __init__(
        self,
        experts: int,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device=None,
        dtype=None,
        activation: str | None = None,
        padded: bool = True,
    ):
        super().__init__()
        _rules.activation(activation or "")
        self.experts, self.in_features, self.out_features = experts, in_features, out_features
        self.activation, self.padded = activation, padded
        self.weight = nn.Parameter(torch.empty(experts, out_features, in_features, device=device, dtype=dtype))
        if bias:
            self.bias = nn.Parameter(torch.empty(experts, out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """As ``nn.Linear`` has it, for each expert."""
        bound = 1 / math.sqrt(self.in_features) if self.in_features else 0
        nn.init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            nn.init.uniform_(self.bias, -bound, bound)

    def forward(self, x: Tensor, offsets: Tensor) -> Tensor:
        return grouped_linear(x, self.weight, offsets, self.bias, self.activation, self.padded)

    def warm_up(self, sizes: Sequence[tuple[int, ...]], progress: Any = None) -> None:
        """Sizes are numbers of rows of all experts, (m,)."""

        def run(x: Tensor) -> Tensor:
            offsets = torch.linspace(0, x.shape[0], self.experts + 1, device=x.device).to(torch.int32)
            return self(x, offsets)

        warm_up(self, self.in_features, sizes, progress, run)

    def extra_repr(self) -> str:
        text = f"experts={self.experts}, in_features={self.in_features}, out_features={self.out_features}, "
        text += f"bias={self.bias is not None}"
        return text + (f", activation={self.activation!r}" if self.activation else "")


# ---- From tokens to sorted rows and back


class Routing(NamedTuple):
    """Which token each sorted row comes from, and where the rows of each expert begin. Made by :func:`route`.

    >>> import torch, gantry.torch
    >>> routing = gantry.torch.route(torch.tensor([[1], [0], [1]]), 2)
    >>> routing.offsets.tolist(), routing.gather(torch.tensor([[10.0], [20.0], [30.0]])).flatten().tolist()
    ([0, 1, 3], [20.0, 10.0, 30.0])
    """

    order: Tensor  #: for each sorted row, its place among tokens x choices
    offsets: Tensor
    choices: int  #: experts of one token

    def gather(self, x: Tensor) -> Tensor:
        """The rows of all experts, sorted: each token's row once for each of its choices."""
        return x.index_select(0, self.order // self.choices)

    def scatter(self, y: Tensor, weights: Tensor | None = None) -> Tensor:
        """Sums, for each token, the rows that its experts gave; ``weights`` is tokens x choices."""
        if weights is not None:
            y = y * weights.flatten().index_select(0, self.order).unsqueeze(-1).to(y.dtype)
        out = y.new_zeros((y.shape[0] // self.choices, y.shape[1]))
        return out.index_add(0, self.order // self.choices, y)


def route(choices: Tensor, experts: int) -> Routing:
    """Sorts tokens by expert, without a copy to the host: ``choices`` is tokens, or tokens x choices, of experts' numbers.

    >>> import torch, gantry.torch
    >>> routing = gantry.torch.route(torch.tensor([2, 0, 2]), experts=3)
    >>> routing.offsets.tolist(), routing.order.tolist()
    ([0, 1, 1, 3], [1, 0, 2])
    """
    if choices.dim() not in (1, 2) or choices.is_floating_point():
        raise refusal(
            "shape",
            "choices",
            f"choices are {choices.dtype} of the shape {tuple(choices.shape)}: integers of tokens, or of tokens x choices",
        )
    flat, order = torch.sort(choices.flatten(), stable=True)
    bounds = torch.arange(experts + 1, device=choices.device, dtype=flat.dtype)
    offsets = torch.searchsorted(flat, bounds).to(torch.int32)
    return Routing(order, offsets, choices.shape[1] if choices.dim() == 2 else 1)

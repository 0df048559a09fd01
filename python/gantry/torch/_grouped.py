"""Layers of a mixture of experts. The rows of all experts lie in one matrix, sorted by expert, and one GEMM multiplies them.

A layer that gathers takes tokens, and the GEMM reads their rows. A layer that scatters adds its rows to those of their
tokens in the GEMM's epilogue. Nothing copies rows in the forward pass; the gradient of the weights, which sums over rows,
has copies of those that were gathered.
"""

from __future__ import annotations

import math
from typing import Any, Sequence

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from .. import _rules
from .._errors import refusal
from ._functional import autocast, through_activation, wants_gradient
from ._grouped_ops import gathered, scaled
from ._modules import warm_up
from ._ops import ops
from ._routing import Routing, route


class _Grouped(torch.autograd.Function):
    """dgrad has groups along M, of the same rows; wgrad groups along K."""

    @staticmethod
    def forward(ctx, x, weight, offsets, bias, gather, activation, padded):
        ctx.activation, ctx.padded, ctx.bias_dtype = activation, padded, None if bias is None else bias.dtype
        if activation:
            out, kept = ops.grouped_kept(x, weight, offsets, bias, gather, activation, padded)
            ctx.save_for_backward(x, weight, offsets, gather, kept)
        else:
            out = ops.grouped(x, weight, offsets, bias, gather, activation, padded)
            ctx.save_for_backward(x, weight, offsets, gather)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, weight, offsets, gather, *kept = ctx.saved_tensors
        dz = through_activation(g, kept[0], ctx.activation) if kept else g.contiguous()
        wants = ctx.needs_input_grad
        dx = None
        if wants[0] and gather is None:
            dx = ops.grouped_input_grad(dz, weight, offsets, ctx.padded)
        elif wants[0]:
            dx = ops.grouped_sum(dz, weight.mT, offsets, None, None, gather, None, x.shape[0])
        return (
            dx,
            ops.grouped_weight_grad(dz, gathered(x, gather), offsets) if wants[1] else None,
            None,
            ops.grouped_bias_grad(dz, offsets).to(ctx.bias_dtype) if wants[3] else None,
            None,
            None,
            None,
        )


class _GroupedSum(torch.autograd.Function):
    """Rows times their factors, summed for each token. dgrad gathers the rows of the tokens' gradients, and gives those of
    the factors, too; wgrad multiplies a copy of them."""

    @staticmethod
    def forward(ctx, x, weight, offsets, bias, gather, scatter, scales, tokens, padded):
        ctx.padded = padded
        ctx.save_for_backward(x, weight, offsets, bias, gather, scatter, scales)
        return ops.grouped_sum(x, weight, offsets, bias, gather, scatter, scales, tokens)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, weight, offsets, bias, gather, scatter, scales = ctx.saved_tensors
        wants_x, wants_weight, _, wants_bias, *_, wants_scales, _, _ = ctx.needs_input_grad
        g = g.contiguous()
        rows = gathered(x, gather) if wants_weight or wants_scales else None
        dx = dweight = dbias = dscales = None
        if wants_x or wants_scales:
            factors = (rows if wants_scales else None, gather, scatter, scales)
            dx, dscales = ops.grouped_sum_grad(g, weight, offsets, *factors, x.shape[0], ctx.padded)
        if wants_weight or wants_bias or (wants_scales and bias is not None):
            each = gathered(g, scatter)
            if wants_scales and bias is not None:
                dscales = dscales + ops.grouped_bias_dot(each, bias, offsets)
            each = scaled(each, scales)
            dweight = ops.grouped_weight_grad(each, rows, offsets) if wants_weight else None
            dbias = ops.grouped_bias_grad(each, offsets).to(bias.dtype) if wants_bias else None
        dscales = dscales.to(scales.dtype) if wants_scales else None
        return dx if wants_x else None, dweight, None, dbias, None, None, dscales, None, None


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


def _check_routing(x: Tensor, offsets: Tensor | Routing, gather: bool, scatter: bool, weights: Tensor | None) -> None:
    if (gather or scatter) and not isinstance(offsets, Routing):
        raise refusal(
            "routing", "offsets", "what gathers or scatters takes a Routing, which route() makes, and no offsets"
        )
    if weights is not None and not scatter:
        raise refusal("routing", "weights", "weights were given, and nothing is scattered: say scatter=True")
    if isinstance(offsets, Routing):
        needed = offsets.tokens if gather else offsets.order.shape[0]
        if x.dim() == 2 and x.shape[0] != needed:
            kind = "tokens" if gather else "sorted rows"
            raise refusal("shape", "x", f"x has {x.shape[0]} rows, and the routing {needed} {kind}", x.shape[0], needed)


def grouped_linear(
    x: Tensor,
    weight: Tensor,
    offsets: Tensor | Routing,
    bias: Tensor | None = None,
    activation: str | None = None,
    padded: bool = True,
    *,
    gather: bool = False,
    scatter: bool = False,
    weights: Tensor | None = None,
) -> Tensor:
    """act(x weight[e]ᵀ + bias[e]) for the rows of each expert e. Rows without one are zero; ``padded=False`` promises that
    there are none, and saves the pass over memory that makes them zero.

    ``offsets`` may be a :class:`Routing`. With ``gather``, ``x`` are then tokens, whose rows the GEMM reads. With
    ``scatter`` the result are tokens: for each the sum of its rows, times ``weights`` of tokens x choices, which the GEMM
    adds in f32, in no fixed order unless ``torch.use_deterministic_algorithms`` asks for one. A layer with an activation
    scatters by torch's own operators.

    >>> import torch, gantry.torch
    >>> x, w = torch.ones(6, 8), torch.stack((torch.ones(4, 8), torch.zeros(4, 8)))
    >>> gantry.torch.grouped_linear(x, w, torch.tensor([0, 2, 5], dtype=torch.int32))[:, 0]
    tensor([8., 8., 0., 0., 0., 0.])
    >>> routing = gantry.torch.route(torch.tensor([0, 1, 0, 0, 1, 1]), experts=2)
    >>> gantry.torch.grouped_linear(x, w, routing, gather=True, scatter=True)[:, 0]
    tensor([8., 0., 8., 8., 0., 0.])
    """
    _check_routing(x, offsets, gather, scatter, weights)
    routing = offsets if isinstance(offsets, Routing) else None
    places = offsets if routing is None else routing.offsets
    x, weight = autocast(x, weight)
    _check(x, weight, places, bias)
    code = _rules.activation_code(activation)
    index = routing.rows if gather else None
    if scatter and not activation:
        scales = None if weights is None else routing.sorted_weights(weights)
        if scales is not None:
            scales = scales.to(torch.promote_types(scales.dtype, torch.float32))
        given = (x, weight, places, bias, index, routing.rows, scales, routing.tokens)
        if not wants_gradient(x, weight, bias, scales):
            return ops.grouped_sum(*given)
        return _GroupedSum.apply(*given, padded)
    if wants_gradient(x, weight, bias):
        out = _Grouped.apply(x, weight, places, bias, index, code, padded)
    else:
        out = ops.grouped(x, weight, places, bias, index, code, padded)
    return routing.scatter(out, weights) if scatter else out


class GroupedLinear(nn.Module):
    """A linear layer for each of many experts, over rows that are sorted by expert.

    ``weight`` is experts x out_features x in_features, ``bias`` experts x out_features. ``gather`` and ``scatter`` are those
    of :func:`grouped_linear`: the first layer of a mixture takes tokens, the last one gives tokens.

    >>> import torch, gantry.torch
    >>> up = gantry.torch.GroupedLinear(4, 64, 128, activation="gelu", gather=True)
    >>> down = gantry.torch.GroupedLinear(4, 128, 64, scatter=True)
    >>> routing = gantry.torch.route(torch.tensor([[0, 3], [3, 1], [0, 1]]), experts=4)
    >>> x, weights = torch.randn(3, 64), torch.rand(3, 2)
    >>> down(up(x, routing), routing, weights).shape
    torch.Size([3, 64])
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
        gather: bool = False,
        scatter: bool = False,
    ):
        super().__init__()
        _rules.activation(activation or "")
        self.experts, self.in_features, self.out_features = experts, in_features, out_features
        self.activation, self.padded, self.gather, self.scatter = activation, padded, gather, scatter
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

    def forward(self, x: Tensor, offsets: Tensor | Routing, weights: Tensor | None = None) -> Tensor:
        how = {"gather": self.gather, "scatter": self.scatter, "weights": weights}
        return grouped_linear(x, self.weight, offsets, self.bias, self.activation, self.padded, **how)

    def warm_up(self, sizes: Sequence[tuple[int, ...]], progress: Any = None) -> None:
        """Sizes are numbers of rows of all experts, (m,)."""

        def run(x: Tensor) -> Tensor:
            choices = torch.arange(x.shape[0], device=x.device) % self.experts
            weights = x.new_ones(x.shape[0], dtype=torch.float32).requires_grad_(x.requires_grad)
            return self(x, route(choices, self.experts), weights if self.scatter else None)

        warm_up(self, self.in_features, sizes, progress, run)

    def extra_repr(self) -> str:
        text = f"experts={self.experts}, in_features={self.in_features}, out_features={self.out_features}, "
        text += f"bias={self.bias is not None}"
        text += f", activation={self.activation!r}" if self.activation else ""
        return text + "".join(f", {name}=True" for name in ("gather", "scatter") if getattr(self, name))

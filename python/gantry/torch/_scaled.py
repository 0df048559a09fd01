"""Linear layers of 8-bit floats with factors of blocks: activations by 1 x 128, weights by 128 x 128.

The weights stay in their own element; each forward pass quantises them and its input. The backward pass multiplies in the
weights' element, as if nothing had been quantised.
"""

from __future__ import annotations

from typing import Any, Sequence

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from .._errors import refusal
from .._gemm import gemm
from .._quantize import BLOCKS, E4M3_MAX, ROWS, Quantized, block_of, blocks_of, check_block
from ._functional import autocast_input, bias_grad, check_layer
from ._modules import warm_up
from ._ops import define, ops, shaped
from ._reference import flat

E4M3 = torch.float8_e4m3fn


def _spread(scales: Tensor, shape: Sequence[int], block: tuple[int, int]) -> Tensor:
    """Factors of blocks, one for each element."""
    rows = scales if block[0] == 1 else scales.repeat_interleave(block[0], -2)[..., : shape[-2], :]
    return rows.repeat_interleave(block[1], -1)[..., : shape[-1]]


def quantize(x: Tensor, block: tuple[int, int] = ROWS) -> Quantized:
    """e4m3 elements of a tensor, with a float32 factor for each block of its last two dimensions.

    >>> import torch, gantry.torch
    >>> values, scales = gantry.torch.quantize(torch.linspace(-1, 1, 2 * 256).view(2, 256))
    >>> values.dtype, scales.shape
    (torch.float8_e4m3fn, torch.Size([2, 2]))
    """
    check_block(block, tuple(x.shape))
    count = blocks_of(tuple(x.shape), block)
    wide = x.detach().float()
    padded = F.pad(wide, (0, count[-1] * block[1] - x.shape[-1], 0, count[-2] * block[0] - x.shape[-2]))
    tiles = padded.unflatten(-1, (count[-1], block[1])).unflatten(-3, (count[-2], block[0]))
    scales = tiles.abs().amax((-3, -1)) / E4M3_MAX
    scales = torch.where(scales > 0, scales, 1.0)
    values = (wide / _spread(scales, x.shape, block)).clamp(-E4M3_MAX, E4M3_MAX)
    return Quantized(values.to(E4M3), scales)


def dequantize(values: Tensor, scales: Tensor) -> Tensor:
    """What 8-bit floats and the factors of their blocks stand for, as float32.

    >>> import torch, gantry.torch
    >>> gantry.torch.dequantize(*gantry.torch.quantize(torch.full((1, 2), 3.5)))
    tensor([[3.5000, 3.5000]])
    """
    return values.float() * _spread(scales, values.shape, block_of(tuple(values.shape), tuple(scales.shape)))


def _reference(x, x_scales, weight, weight_scales, bias, out_dtype):
    z = dequantize(x, x_scales) @ dequantize(weight, weight_scales).mT
    return (z if bias is None else z + bias.float()).to(out_dtype)


def _scaled_linear(x, x_scales, weight, weight_scales, bias, out_dtype):
    if out_dtype not in (torch.bfloat16, torch.float16, torch.float32):
        return _reference(x, x_scales, weight, weight_scales, bias, out_dtype)
    named = {} if bias is None else {"bias": bias}
    return gemm(
        x,
        weight,
        block_scales=(x_scales, weight_scales),
        out_dtype=out_dtype,
        epilogue="d = acc" if bias is None else "d = acc + row(bias)",
        **named,
    )


define(
    "scaled_linear(Tensor x, Tensor x_scales, Tensor weight, Tensor weight_scales, Tensor? bias, ScalarType out_dtype) "
    "-> Tensor",
    _scaled_linear,
    _reference,
    lambda x, x_scales, weight, weight_scales, bias, out_dtype: x.new_empty(
        (x.shape[0], weight.shape[0]), dtype=out_dtype
    ),
)


class _Float8(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        ctx.bias_dtype = None if bias is None else bias.dtype
        rows = flat(x)
        out = ops.scaled_linear(*quantize(rows, ROWS), *quantize(weight, BLOCKS), bias, x.dtype)
        return shaped(out, x)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        wants = ctx.needs_input_grad
        return (
            ops.input_grad(g, weight) if wants[0] else None,
            ops.weight_grad(g, x) if wants[1] else None,
            bias_grad(g, ctx.bias_dtype) if wants[2] else None,
        )


def float8_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x weightᵀ + bias of e4m3 elements with factors of blocks, which both are quantised to.

    >>> import torch, gantry.torch
    >>> x, w = torch.randn(4, 256), torch.randn(16, 256)
    >>> y = gantry.torch.float8_linear(x, w)
    >>> bool(((y - x @ w.T).abs() <= 0.13 * x.abs() @ w.abs().T).all())
    True
    """
    x, weight = autocast_input(x, weight)
    check_layer(x, weight, bias)
    if not x.is_floating_point():
        raise refusal("dtype", "x", f"x has elements of {x.dtype}: floating-point ones are quantised")
    return _Float8.apply(x, weight, bias)


class Float8Linear(nn.Linear):
    """``torch.nn.Linear``, with the same parameters and state, that multiplies 8-bit floats with factors of blocks.

    >>> import torch, gantry.torch
    >>> layer = gantry.torch.Float8Linear(256, 32, dtype=torch.bfloat16)
    >>> layer(torch.ones(4, 256, dtype=torch.bfloat16)).shape
    torch.Size([4, 32])
    """

    def forward(self, x: Tensor) -> Tensor:
        return float8_linear(x, self.weight, self.bias)

    def warm_up(self, sizes: Sequence[tuple[int, ...]], progress: Any = None) -> None:
        """Sizes are numbers of rows, (m,)."""
        warm_up(self, self.in_features, sizes, progress)

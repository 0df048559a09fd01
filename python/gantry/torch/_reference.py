"""The layers by torch's own operators: for CPU tensors, and for elements that no kernel multiplies.

Activations go by their codes in :mod:`gantry._rules`. Every function takes any number of dimensions before the last.
"""

from __future__ import annotations

from math import prod
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from .. import _rules

aten = torch.ops.aten

FUNCTIONS = {
    "": lambda z: z,
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda z: F.gelu(z, approximate="tanh"),
    "silu": F.silu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "mish": F.mish,
    "hardswish": F.hardswish,
}

# The gradient of the pre-activation z, from that of the output.
BACKWARD = {
    "relu": lambda g, z: aten.threshold_backward(g, z, 0),
    "gelu": lambda g, z: aten.gelu_backward(g, z),
    "gelu_tanh": lambda g, z: aten.gelu_backward(g, z, approximate="tanh"),
    "silu": aten.silu_backward,
    "sigmoid": lambda g, z: aten.sigmoid_backward(g, torch.sigmoid(z)),
    "tanh": lambda g, z: aten.tanh_backward(g, torch.tanh(z)),
    "mish": aten.mish_backward,
    "hardswish": aten.hardswish_backward,
}


def flat(x: Tensor) -> Tensor:
    """Rows of all dimensions but the last; also where there are no elements, for which -1 has no meaning."""
    return x.reshape(prod(x.shape[:-1]), x.shape[-1])


def sum_dtype(x: Tensor) -> torch.dtype:
    """Of sums over many rows."""
    return torch.promote_types(x.dtype, torch.float32)


def mask_bytes(columns: Any) -> Any:
    return (columns + 7) // 8


def packed(mask: Tensor) -> Tensor:
    """Eight columns in a byte, the first in the lowest bit."""
    padded = F.pad(mask.to(torch.uint8), (0, -mask.shape[-1] % 8)).unflatten(-1, (mask_bytes(mask.shape[-1]), 8))
    weights = torch.tensor([1, 2, 4, 8, 16, 32, 64, 128], dtype=torch.uint8, device=mask.device)
    return (padded * weights).sum(-1, dtype=torch.int32).to(torch.uint8)


def unpacked(kept: Tensor, columns: int) -> Tensor:
    shifts = torch.arange(8, dtype=torch.uint8, device=kept.device)
    return (kept.unsqueeze(-1) >> shifts & 1).flatten(-2)[..., :columns]


def mask_grad(g: Tensor, kept: Tensor) -> Tensor:
    return g * unpacked(kept, g.shape[-1]).to(g.dtype)


def linear(x, weight, bias, activation):
    z = F.linear(x, weight, None if bias is None else bias.to(x.dtype))
    return FUNCTIONS[_rules.activation_name(activation)](z)


def linear_kept(x, weight, bias, activation):
    z = F.linear(x, weight, None if bias is None else bias.to(x.dtype))
    name = _rules.activation_name(activation)
    return FUNCTIONS[name](z), packed(z > 0) if _rules.ACTIVATIONS[name].keeps_mask else z


def input_grad(g, weight):
    return torch.matmul(g, weight)


def weight_grad(g, x):
    return flat(g).mT @ flat(x)


def through_activation(g: Tensor, kept: Tensor, name: str) -> Tensor:
    """g times the derivative, from what the forward pass kept."""
    if not name:
        return g
    return mask_grad(g, kept) if _rules.ACTIVATIONS[name].keeps_mask else BACKWARD[name](g, kept)


def dgrad(g, weight, kept, activation):
    d = through_activation(torch.matmul(g, weight), kept, _rules.activation_name(activation))
    return d, flat(d).sum(0, dtype=sum_dtype(d))


def halves(weight: Tensor, gate: int) -> tuple[Tensor, Tensor]:
    """The rows of the gate and those of up."""
    if gate == _rules.INTERLEAVED:
        return weight[0::2], weight[1::2]
    return weight.tensor_split(2)[0], weight.tensor_split(2)[1]


def gated(x, weight, activation, gate):
    return gated_kept(x, weight, activation, gate)[0]


def gated_kept(x, weight, activation, gate):
    gates, ups = (F.linear(x, rows) for rows in halves(weight, gate))
    return FUNCTIONS[_rules.activation_name(activation)](gates) * ups, gates, ups


def in_row_order(gate_part: Tensor, up_part: Tensor, gate: int) -> Tensor:
    """Columns of the gate and of up in the order of the weight's rows."""
    if gate == _rules.INTERLEAVED:
        return torch.stack((gate_part, up_part), -1).flatten(-2)
    return torch.cat((gate_part, up_part), -1)


def gated_dgrad(g, down, gates, ups, activation, gate):
    name = _rules.activation_name(activation)
    dh = torch.matmul(g, down)
    return in_row_order(BACKWARD[name](dh * ups, gates), dh * FUNCTIONS[name](gates), gate)

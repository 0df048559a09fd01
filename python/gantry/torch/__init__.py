"""Layers for PyTorch: operators with fake kernels and gradients, and modules with the state of torch's own.

On CUDA tensors of f16 and bf16 every layer is one GEMM with its bias and activation fused, and so is the backward pass: in
:class:`MLP` and :class:`GatedLinear` the derivative of the activation and the bias gradient come out of the second layer's
dgrad GEMM. CPU tensors, and elements that no kernel multiplies, get the same from torch's own operators.

>>> import torch, gantry.torch
>>> layer = gantry.torch.Linear(64, 16, activation="gelu", dtype=torch.bfloat16)
>>> layer(torch.ones(8, 64, dtype=torch.bfloat16)).shape
torch.Size([8, 16])
"""

import torch

from ._functional import gated_linear, linear, mlp
from ._grouped import GroupedLinear, grouped_linear
from ._modules import MLP, GatedLinear, Linear
from ._replace import Swap, replace
from ._routing import Routing, route
from ._scaled import Float8Linear, dequantize, float8_linear, quantize

__all__ = [
    "Float8Linear",
    "GatedLinear",
    "GroupedLinear",
    "Linear",
    "MLP",
    "Routing",
    "Swap",
    "dequantize",
    "float8_linear",
    "gated_linear",
    "grouped_linear",
    "linear",
    "mlp",
    "quantize",
    "replace",
    "route",
]

if torch.distributed.is_available():
    from . import _sharding

    _sharding.register()

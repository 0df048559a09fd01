"""Layers of a model of torch's own, replaced in place."""

from __future__ import annotations

from collections import Counter
from typing import Iterable, NamedTuple

import torch
from torch import nn

from ._modules import Linear, has_hooks
from ._ops import ELEMENTS


class Swap(NamedTuple):
    name: str
    swapped: bool
    why: str


_MODULES = {
    nn.ReLU: "relu",
    nn.SiLU: "silu",
    nn.Sigmoid: "sigmoid",
    nn.Tanh: "tanh",
    nn.Mish: "mish",
    nn.Hardswish: "hardswish",
}


def _activation_of(module: nn.Module) -> str | None:
    if type(module) is nn.GELU:
        return "gelu_tanh" if module.approximate == "tanh" else "gelu"
    return _MODULES.get(type(module))
def replace(model: nn.Module) -> list[Swap]:
    """Makes every ``nn.Linear`` of a model a :class:`Linear`, in place and with the same parameters, and fuses the
    activation that follows it in an ``nn.Sequential``. Says what was swapped, what not, and why.

    >>> import torch, gantry.torch
    >>> model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 8))
    >>> for swap in gantry.torch.replace(model):
    ...     print(swap.name, swap.swapped, swap.why)
    0 True an nn.Linear
    2 True an nn.Linear
    1 True gelu, fused into 0
    """
    out = [
        _swap(name, module)
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear) and type(module) is not Linear
    ]
    uses = Counter(id(module) for _, module in model.named_modules(remove_duplicate=False))
    for name, module in model.named_modules():
        if isinstance(module, nn.Sequential) and type(module).forward is nn.Sequential.forward:
            out += _fuse(name, module, uses)
    return out


def _swap(name: str, module: nn.Linear) -> Swap:
    if type(module) is not nn.Linear:
        return Swap(name, False, f"it is a {type(module).__name__}, which computes something of its own")
    if module.weight.dtype not in ELEMENTS and module.weight.dtype != torch.float32:
        return Swap(name, False, f"its elements are {module.weight.dtype}: f16 and bf16 are multiplied")
    module.__class__ = Linear
    module.activation = None
    return Swap(name, True, "an nn.Linear")


def _fuse(name: str, sequence: nn.Sequential, uses: Counter) -> Iterable[Swap]:
    names = list(sequence._modules)
    for first, second in zip(names, names[1:]):
        layer, after = sequence._modules[first], sequence._modules[second]
        found = _activation_of(after)
        if type(layer) is not Linear or layer.activation is not None or not found:
            continue
        full = f"{name}.{second}".lstrip(".")
        if uses[id(layer)] > 1:
            yield Swap(full, False, f"{first} is in the model {uses[id(layer)]} times, elsewhere without this activation")
        elif has_hooks(layer, after):
            yield Swap(full, False, f"hooks see what is between {first} and {second}")
        else:
            layer.activation = found
            sequence._modules[second] = nn.Identity()
            yield Swap(full, True, f"{found}, fused into {first}")

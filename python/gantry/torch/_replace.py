"""Layers of a model of torch's own, replaced in place."""

from __future__ import annotations

from collections import Counter
from typing import Any, Iterable, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .. import _rules
from .._errors import GantryError
from ._functional import mlp
from ._modules import GatedLinear, Linear, has_hooks, is_plain
from ._ops import ELEMENTS


class Swap(NamedTuple):
    """A module that :func:`replace` looked at: its name, whether it was swapped, and why or why not.

    >>> import torch, gantry.torch
    >>> gantry.torch.replace(torch.nn.ModuleDict({"head": torch.nn.Linear(8, 8)}))
    [Swap(name='head', swapped=True, why='an nn.Linear')]
    """

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


_FUNCTIONS = ((F.relu, "relu"), (torch.relu, "relu"), (F.silu, "silu"), (F.gelu, "gelu"), (torch.sigmoid, "sigmoid"))
_GATED = ("gate_proj", "up_proj", "down_proj")


def _activation_of(module: Any) -> str | None:
    """Of a module, or of a function that a module keeps."""
    if type(module) is nn.GELU:
        return "gelu_tanh" if module.approximate == "tanh" else "gelu"
    return _MODULES.get(type(module)) or next((name for function, name in _FUNCTIONS if function is module), None)


class FusedSequential(nn.Sequential):
    """An ``nn.Sequential`` that computes two layers with an activation between them as :class:`MLP` does."""

    def forward(self, x: Tensor) -> Tensor:
        layers = [layer for layer in self if type(layer) is not nn.Identity or has_hooks(layer)]
        at = 0
        while at < len(layers):
            first, second = layers[at], layers[at + 1] if at + 1 < len(layers) else None
            activation = getattr(first, "activation", None)
            if activation and second is not None and is_plain(first, activation) and is_plain(second):
                x = mlp(x, first.weight, first.bias, second.weight, second.bias, activation)
                at += 2
            else:
                x = first(x)
                at += 1
        return x


def replace(model: nn.Module) -> list[Swap]:
    """Makes every ``nn.Linear`` of a model a :class:`Linear`, in place and with the same parameters, and fuses the
    activation that follows it in an ``nn.Sequential``, and the layer after that. A module with ``gate_proj``,
    ``up_proj`` and ``down_proj`` becomes a :class:`GatedLinear` where it computes what that does, which is tried. The
    model's state keeps its names. Says what was swapped, what not, and why.

    >>> import torch, gantry.torch
    >>> model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 8))
    >>> for swap in gantry.torch.replace(model):
    ...     print(swap.name, swap.swapped, swap.why)
    0 True an nn.Linear
    2 True an nn.Linear
    1 True gelu, fused into 0
     True 0 and 2 have one fused backward pass
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
            out += _fuse_pairs(name, module)
    for name, module in model.named_modules():
        has_parts = all(isinstance(getattr(module, part, None), nn.Linear) for part in _GATED)
        if has_parts and not isinstance(module, GatedLinear):
            out.append(_gate(name, module))
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


def _fuse_pairs(name: str, sequence: nn.Sequential) -> Iterable[Swap]:
    """Pairs of layers with an activation between them, which fusing left in the first one."""
    layers = {part: layer for part, layer in sequence._modules.items() if type(layer) is not nn.Identity}
    names = list(layers)
    pairs = [
        (first, second)
        for first, second in zip(names, names[1:])
        if type(layers[first]) is Linear
        and layers[first].activation
        and is_plain(layers[second])
        and not has_hooks(layers[first])
    ]
    if not pairs:
        return
    if type(sequence) is not nn.Sequential:
        yield Swap(name, False, f"it is a {type(sequence).__name__}, which may do more than nn.Sequential")
        return
    sequence.__class__ = FusedSequential
    for first, second in pairs:
        yield Swap(name, True, f"{first} and {second} have one fused backward pass")


def _gate(name: str, module: nn.Module) -> Swap:
    """Makes it a GatedLinear where it computes the same."""
    kind = type(module).__name__
    layers = [getattr(module, part) for part in _GATED]
    others = {part: x for part, x in vars(module).items() if callable(x) and not isinstance(x, type)}
    others |= {part: x for part, x in module._modules.items() if part not in _GATED}
    found = {part: _activation_of(x) for part, x in others.items() if _activation_of(x)}
    rest = [part for part in module._modules if part not in _GATED and part not in found]
    if len(found) != 1 or rest or module._parameters or module._buffers:
        return Swap(name, False, f"a {kind} is more than gate_proj, up_proj, down_proj and one activation")
    if not all(is_plain(layer) and layer.bias is None for layer in layers):
        return Swap(name, False, f"the layers of the {kind} have biases, hooks or something of their own")
    ((part, activation),) = found.items()
    try:
        _rules.gated_text(activation)
    except GantryError as error:
        return Swap(name, False, str(error))
    if not _computes(module, layers, others[part]):
        return Swap(name, False, f"the {kind} does not compute down_proj({part}(gate_proj(x)) * up_proj(x))")
    delattr(module, part)
    module.__class__ = GatedLinear
    module.activation, module.gate = activation, "separate"
    return Swap(name, True, f"a {kind}, with {activation}")


@torch.no_grad()
def _computes(module: nn.Module, layers: list[nn.Module], activation: Any) -> bool:
    """Tries it with a few rows. A module whose parameters are nowhere, or that takes something else, is left alone."""
    gate, up, down = layers
    if gate.weight.is_meta:
        return False
    x = torch.randn((3, gate.in_features), dtype=gate.weight.dtype, device=gate.weight.device)
    try:
        got = module(x)
        expected = down(activation(gate(x)) * up(x))
        same = isinstance(got, Tensor) and got.shape == expected.shape
        return same and torch.allclose(got, expected, 2.0**-5, 2.0**-8)
    except Exception:  # noqa: BLE001: whatever a module of somebody else raises, it is not this computation
        return False

"""Layers as modules, with the parameters and the state of torch's own."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import torch
from torch import Tensor, nn

from .. import _rules
from .._errors import refusal
from ._functional import gated_linear, linear, mlp
from ._native import wait_for_compilations
from ._reference import FUNCTIONS


class Linear(nn.Linear):
    """``torch.nn.Linear`` with an activation: the same parameters and the same state.

    >>> import torch, gantry.torch
    >>> layer = gantry.torch.Linear(64, 16, activation="gelu")
    >>> layer
    Linear(in_features=64, out_features=16, bias=True, activation='gelu')
    >>> layer(torch.ones(2, 64)).shape
    torch.Size([2, 16])
    """

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None, activation: str | None = None):
        super().__init__(in_features, out_features, bias, device, dtype)
        _rules.activation(activation or "")
        self.activation = activation

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias, self.activation)

    def extra_repr(self) -> str:
        return super().extra_repr() + (f", activation={self.activation!r}" if self.activation else "")

    def warm_up(self, sizes: Sequence[tuple[int, ...]], progress: Any = None) -> None:
        """Sizes are numbers of rows, (m,); runs forward and backward for each, which compiles what is missing."""
        warm_up(self, self.in_features, sizes, progress)


def warm_up(
    module: nn.Module, features: int, sizes: Sequence[tuple[int, ...]], progress: Any, run: Callable | None = None
) -> None:
    """Runs a module for each number of rows: without gradients and, where a parameter has them, forward and backward.
    Leaves the parameters' gradients as they are."""
    run = run or module
    parameters = [p for p in module.parameters() if p.requires_grad]
    like = next(module.parameters())
    for done, size in enumerate(sizes):
        if progress:
            progress(done, len(sizes))
        x = like.new_zeros((size[0], features))
        with torch.no_grad():
            run(x)
        if parameters:
            with torch.enable_grad():
                torch.autograd.grad(run(x.requires_grad_(True)).sum(), (x, *parameters))
    wait_for_compilations()  # where a kernel was there already, a better one may be on its way
    if progress:
        progress(len(sizes), len(sizes))


def has_hooks(*modules: nn.Module) -> bool:
    """Hooks of a layer, such as those of parallel plans, run where the layer itself is called."""
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    return any(getattr(module, kind) for module in modules for kind in kinds)


def is_plain(layer: nn.Module, activation: str | None = None) -> bool:
    """Whether a layer does what its parameters and this activation say, so that another kernel may do it in its place:
    not what was put there instead, an adapter say, and nothing with hooks."""
    return type(layer) is Linear and layer.activation == activation and not has_hooks(layer)


class MLP(nn.Module):
    """fc2(fc1(x)), where fc1 has an activation and the backward pass is fused over both layers. Layers with hooks, and
    what was put in their place, are called one after the other.

    >>> import torch, gantry.torch
    >>> gantry.torch.MLP(64, 256, activation="gelu")(torch.ones(2, 64)).shape
    torch.Size([2, 64])
    """

    def __init__(self, features, hidden, out_features=None, bias=True, activation="gelu", device=None, dtype=None):
        super().__init__()
        _rules.required_activation(activation)
        self.activation = activation
        self.fc1 = Linear(features, hidden, bias, device, dtype, activation)
        self.fc2 = Linear(hidden, features if out_features is None else out_features, bias, device, dtype)

    def forward(self, x: Tensor) -> Tensor:
        if not is_plain(self.fc1, self.activation) or not is_plain(self.fc2):
            return self.fc2(self.fc1(x))
        return mlp(x, self.fc1.weight, self.fc1.bias, self.fc2.weight, self.fc2.bias, self.activation)

    def warm_up(self, sizes: Sequence[tuple[int, ...]], progress: Any = None) -> None:
        """Sizes are numbers of rows, (m,)."""
        warm_up(self, self.fc1.in_features, sizes, progress)


class GatedLinear(nn.Module):
    """down(act(gate(x)) * up(x)): SwiGLU with ``silu``, GeGLU with ``gelu``. No biases, as is usual.

    ``gate`` says how the weights of gate and up are kept. ``"separate"``: as ``gate_proj`` and ``up_proj``, the state of
    Llama's layers; each call puts them together. ``"halves"``: as one ``gate_up_proj``, gate first. ``"interleaved"``: as
    one, whose rows alternate, so that a shard of its rows has both. The last two also load the state of the first.

    >>> import torch, gantry.torch
    >>> one, other = gantry.torch.GatedLinear(64, 32), gantry.torch.GatedLinear(64, 32, gate="interleaved")
    >>> other.load_state_dict(one.state_dict())
    <All keys matched successfully>
    >>> x = torch.randn(4, 64)
    >>> bool(torch.allclose(one(x), other(x), atol=1e-6))
    True
    """

    def __init__(
        self,
        features,
        hidden,
        out_features=None,
        activation="silu",
        device=None,
        dtype=None,
        gate: str = "separate",
    ):
        super().__init__()
        _rules.gated_text(activation)
        if gate != "separate":
            _rules.gate_code(gate)
        self.activation, self.gate = activation, gate
        if gate == "separate":
            self.gate_proj = Linear(features, hidden, False, device, dtype)
            self.up_proj = Linear(features, hidden, False, device, dtype)
        else:
            self.gate_up_proj = Linear(features, 2 * hidden, False, device, dtype)
            self.register_load_state_dict_pre_hook(_join_state)
        self.down_proj = Linear(hidden, features if out_features is None else out_features, False, device, dtype)

    def forward(self, x: Tensor) -> Tensor:
        if not all(is_plain(layer) and layer.bias is None for layer in self.children()):
            return self._one_by_one(x)
        if self.gate == "separate":
            weight, order = torch.cat((self.gate_proj.weight, self.up_proj.weight)), "halves"
        else:
            weight, order = self.gate_up_proj.weight, self.gate
        return gated_linear(x, weight, self.down_proj.weight, self.activation, order)

    def _one_by_one(self, x: Tensor) -> Tensor:
        if self.gate == "separate":
            gates, ups = self.gate_proj(x), self.up_proj(x)
        elif self.gate == "interleaved":
            both = self.gate_up_proj(x)
            gates, ups = both[..., 0::2], both[..., 1::2]
        else:
            if any(how.is_shard(0) for how in getattr(self.gate_up_proj.weight, "placements", ())):
                raise refusal(
                    "gate",
                    "gate_up_proj",
                    "a shard of gate_up_proj has rows of the gate alone, or of up: say gate='interleaved'",
                )
            gates, ups = self.gate_up_proj(x).chunk(2, -1)
        return self.down_proj(FUNCTIONS[self.activation](gates) * ups)

    def extra_repr(self) -> str:
        return f"activation={self.activation!r}, gate={self.gate!r}"

    def warm_up(self, sizes: Sequence[tuple[int, ...]], progress: Any = None) -> None:
        """Sizes are numbers of rows, (m,)."""
        first = self.gate_proj if self.gate == "separate" else self.gate_up_proj
        warm_up(self, first.in_features, sizes, progress)


def _join_state(module: GatedLinear, state: dict[str, Any], prefix: str, *_: Any) -> None:
    """Loads what a module with separate weights saved."""
    parts = [f"{prefix}{name}.weight" for name in ("gate_proj", "up_proj")]
    if not all(name in state for name in parts):
        return
    gate, up = (state.pop(name) for name in parts)
    whole = torch.stack((gate, up), 1).flatten(0, 1) if module.gate == "interleaved" else torch.cat((gate, up))
    state[f"{prefix}gate_up_proj.weight"] = whole

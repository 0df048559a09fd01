"""Layers for PyTorch: operators with fake kernels and gradients, and modules with the state of torch's own.

On CUDA tensors of f16 and bf16 every layer is one GEMM with its bias and activation fused, and so is the backward pass: in
:class:`MLP` and :class:`GatedLinear` the derivative of the activation and the bias gradient come out of the second layer's
dgrad GEMM. CPU tensors, and elements that no kernel multiplies, get the same from torch's own operators.

    >>> layer = gantry.torch.Linear(1024, 4096, activation="gelu", device="cuda", dtype=torch.bfloat16)
    >>> compiled = torch.compile(layer, fullgraph=True)
"""

from __future__ import annotations

from typing import Any, Iterable, NamedTuple, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from . import _rules
from ._errors import refusal
from ._gemm import gemm as _gemm

__all__ = ["GatedLinear", "Linear", "MLP", "Swap", "linear", "replace"]

_ELEMENTS = {torch.bfloat16: "bf16", torch.float16: "f16"}

_FUNCTIONS = {
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

_library = torch.library.Library("gantry", "DEF")
_library.define("linear(Tensor x, Tensor weight, Tensor? bias, str activation) -> Tensor")
_library.define("linear_kept(Tensor x, Tensor weight, Tensor? bias, str activation) -> (Tensor, Tensor)")
_library.define("product(Tensor a, Tensor b, bool trans_a, bool trans_b) -> Tensor")
_library.define("dgrad(Tensor g, Tensor weight, Tensor kept, str activation) -> (Tensor, Tensor)")
_library.define("gated(Tensor x, Tensor gate, Tensor up, str activation) -> (Tensor, Tensor, Tensor)")
_library.define("gated_dgrad(Tensor g, Tensor down, Tensor gate, Tensor up, str activation) -> (Tensor, Tensor)")
_ops = torch.ops.gantry


def _flat(x: Tensor) -> Tensor:
    return x.reshape(-1, x.shape[-1])


def _units(count: Any) -> Any:
    return (count + 7) // 8


# ---- CUDA: one GEMM each


def _multiplies(*tensors: Tensor) -> bool:
    """There are kernels for these elements; for others torch's own operators do."""
    return all(x.dtype == tensors[0].dtype for x in tensors) and tensors[0].dtype in _ELEMENTS


def _linear_cuda(x, weight, bias, activation):
    if not _multiplies(x, weight):
        return _linear_reference(x, weight, bias, activation)
    named = {} if bias is None else {"bias": bias}
    d = _gemm(_flat(x), weight, epilogue=_rules.forward_text(bias is not None, activation), **named)
    return d.view(*x.shape[:-1], weight.shape[0])


def _linear_kept_cuda(x, weight, bias, activation):
    if not _multiplies(x, weight):
        return _linear_kept_reference(x, weight, bias, activation)
    named = {} if bias is None else {"bias": bias}
    text = _rules.forward_text(bias is not None, activation, keep=_ELEMENTS[x.dtype])
    d, kept = _gemm(_flat(x), weight, epilogue=text, **named)
    return d.view(*x.shape[:-1], weight.shape[0]), kept


def _product_cuda(a, b, trans_a, trans_b):
    if not _multiplies(a, b):
        return _product_reference(a, b, trans_a, trans_b)
    return _gemm(a.mT if trans_a else a, b, trans_b=trans_b)


def _dgrad_cuda(g, weight, kept, activation):
    if not _multiplies(g, weight):
        return _dgrad_reference(g, weight, kept, activation)
    text = _rules.dgrad_text(activation, _ELEMENTS[g.dtype], True)
    d, dbias = _gemm(g, weight, trans_b=False, epilogue=text, kept=kept)
    return d, dbias


def _gated_cuda(x, gate, up, activation):
    if not _multiplies(x, gate, up):
        return _gated_reference(x, gate, up, activation)
    ups = _gemm(_flat(x), up)
    d, gates = _gemm(_flat(x), gate, epilogue=_rules.gated_text(activation, keep=_ELEMENTS[x.dtype]), up=ups)
    return d, gates, ups


def _gated_dgrad_cuda(g, down, gate, up, activation):
    if not _multiplies(g, down):
        return _gated_dgrad_reference(g, down, gate, up, activation)
    text = _rules.gated_dgrad_text(activation, _ELEMENTS[g.dtype])
    return tuple(_gemm(g, down, trans_b=False, epilogue=text, gate=gate, up=up))


# ---- The reference: torch's own operators


def _linear_reference(x, weight, bias, activation):
    return _FUNCTIONS[activation](F.linear(x, weight, None if bias is None else bias.to(x.dtype)))


def _linear_kept_reference(x, weight, bias, activation):
    z = F.linear(x, weight, None if bias is None else bias.to(x.dtype))
    flat = _flat(z)
    kept = _packed(flat > 0) if _rules.ACTIVATIONS[activation].keeps_mask else flat
    return _FUNCTIONS[activation](z), kept.clone()


def _packed(mask: Tensor) -> Tensor:
    """Eight columns in a byte, the first in the lowest bit."""
    padded = F.pad(mask.to(torch.uint8), (0, -mask.shape[-1] % 8)).view(mask.shape[0], _units(mask.shape[1]), 8)
    weights = torch.tensor([1, 2, 4, 8, 16, 32, 64, 128], dtype=torch.uint8, device=mask.device)
    return (padded * weights).sum(-1, dtype=torch.int32).to(torch.uint8)


def _unpacked(kept: Tensor, columns: int) -> Tensor:
    shifts = torch.arange(8, dtype=torch.uint8, device=kept.device)
    return (kept.unsqueeze(-1) >> shifts & 1).reshape(kept.shape[0], 8 * kept.shape[1])[:, :columns]


def _product_reference(a, b, trans_a, trans_b):
    return torch.matmul(a.mT if trans_a else a, b.mT if trans_b else b)


def _slope(activation: str, z: Tensor) -> Tensor:
    """The derivative of an activation."""
    with torch.enable_grad():
        x = z.detach().float().requires_grad_(True)
        return torch.autograd.grad(_FUNCTIONS[activation](x).sum(), x)[0]


def _through_activation(g: Tensor, kept: Tensor, activation: str) -> Tensor:
    """g times the derivative, from what the forward pass kept."""
    if not activation:
        return g
    if _rules.ACTIVATIONS[activation].keeps_mask:
        return g * _unpacked(kept, g.shape[-1]).to(g.dtype)
    if activation == "gelu":
        return torch.ops.aten.gelu_backward(g, kept)
    if activation == "silu":
        return torch.ops.aten.silu_backward(g, kept)
    return (g.float() * _slope(activation, kept)).to(g.dtype)


def _dgrad_reference(g, weight, kept, activation):
    d = _through_activation(torch.matmul(g, weight), kept, activation)
    return d, d.float().sum(0)


def _gated_reference(x, gate, up, activation):
    flat = _flat(x)
    gates, ups = F.linear(flat, gate), F.linear(flat, up)
    return _FUNCTIONS[activation](gates) * ups, gates, ups


def _gated_dgrad_reference(g, down, gate, up, activation):
    dh = torch.matmul(g, down)
    return _through_activation(dh * up, gate, activation), dh * _FUNCTIONS[activation](gate)


for _name, _cuda, _reference in (
    ("linear", _linear_cuda, _linear_reference),
    ("linear_kept", _linear_kept_cuda, _linear_kept_reference),
    ("product", _product_cuda, _product_reference),
    ("dgrad", _dgrad_cuda, _dgrad_reference),
    ("gated", _gated_cuda, _gated_reference),
    ("gated_dgrad", _gated_dgrad_cuda, _gated_dgrad_reference),
):
    _library.impl(_name, _cuda, "CUDA")
    _library.impl(_name, _reference, "CPU")


# ---- Fake kernels: shapes alone, which may be symbolic


@torch.library.register_fake("gantry::linear")
def _(x, weight, bias, activation):
    return x.new_empty(_rules.linear_shape(tuple(x.shape), tuple(weight.shape), None))


@torch.library.register_fake("gantry::linear_kept")
def _(x, weight, bias, activation):
    out = x.new_empty(_rules.linear_shape(tuple(x.shape), tuple(weight.shape), None))
    rows, columns = _flat(x).shape[0], weight.shape[0]
    if _rules.ACTIVATIONS[activation].keeps_mask:
        return out, x.new_empty((rows, _units(columns)), dtype=torch.uint8)
    return out, x.new_empty((rows, columns))


@torch.library.register_fake("gantry::product")
def _(a, b, trans_a, trans_b):
    return a.new_empty((a.shape[1 if trans_a else 0], b.shape[0 if trans_b else 1]))


@torch.library.register_fake("gantry::dgrad")
def _(g, weight, kept, activation):
    return g.new_empty((g.shape[0], weight.shape[1])), g.new_empty((weight.shape[1],), dtype=torch.float32)


@torch.library.register_fake("gantry::gated")
def _(x, gate, up, activation):
    shape = (_flat(x).shape[0], gate.shape[0])
    return x.new_empty(shape), x.new_empty(shape), x.new_empty(shape)


@torch.library.register_fake("gantry::gated_dgrad")
def _(g, down, gate, up, activation):
    return torch.empty_like(gate), torch.empty_like(up)


# ---- Shardings of DTensor


def _register_shardings() -> None:
    from torch.distributed.tensor import Partial, Replicate, Shard
    from torch.distributed.tensor.experimental import register_sharding

    def placed(how: int | str) -> Any:
        return {_rules.REPLICATED: Replicate(), _rules.PARTIAL: Partial()}.get(how) or Shard(how)

    @register_sharding(_ops.linear.default)
    def _(x, weight, bias, activation):
        rules = _rules.linear_shardings(len(x.shape), activation, bias is not None)
        return [
            ([placed(r.output)], [placed(r.x), placed(r.weight), None if bias is None else placed(r.bias), None])
            for r in rules
        ]

    @register_sharding(_ops.linear_kept.default)
    def _(x, weight, bias, activation):
        rank = len(x.shape)
        rules = _rules.linear_shardings(rank, activation, bias is not None)
        # What is kept is flat: only the outermost rows and the columns stay shards of it.
        return [
            (
                [placed(r.output), placed(1 if r.output == rank - 1 else r.output)],
                [placed(r.x), placed(r.weight), None if bias is None else placed(r.bias), None],
            )
            for r in rules
            if r.output in (_rules.REPLICATED, 0, rank - 1)
        ]

    @register_sharding(_ops.product.default)
    def _(a, b, trans_a, trans_b):
        def side(how, swaps):
            return placed(1 - how if swaps and isinstance(how, int) else how)

        return [
            ([placed(d)], [side(x, trans_a), side(y, trans_b), None, None]) for d, x, y in _rules.product_shardings()
        ]

    @register_sharding(_ops.dgrad.default)
    def _(g, weight, kept, activation):
        everywhere = ([Replicate(), Replicate()], [Replicate(), Replicate(), Replicate(), None])
        rows = ([Shard(0), Partial()], [Shard(0), Replicate(), Shard(0), None])
        columns = ([Shard(1), Shard(0)], [Replicate(), Shard(1), Shard(1), None])
        return [everywhere, rows, columns]


if torch.distributed.is_available():
    _register_shardings()


# ---- Gradients


class _Linear(torch.autograd.Function):
    """A lone layer: one elementwise kernel between the gradient of its output and its two GEMMs."""

    @staticmethod
    def forward(ctx, x, weight, bias, activation):
        ctx.activation, ctx.has_bias = activation, bias is not None
        if activation:
            out, kept = _ops.linear_kept(x, weight, bias, activation)
            ctx.save_for_backward(x, weight, kept)
        else:
            out = _ops.linear(x, weight, bias, "")
            ctx.save_for_backward(x, weight)
        ctx.bias_dtype = None if bias is None else bias.dtype
        return out

    @staticmethod
    def backward(ctx, g):
        x, weight, *kept = ctx.saved_tensors
        dz = _through_activation(_flat(g), kept[0] if kept else g, ctx.activation)
        dx = dw = db = None
        if ctx.needs_input_grad[0]:
            dx = _ops.product(dz, weight, False, False).view(x.shape)
        if ctx.needs_input_grad[1]:
            dw = _ops.product(dz, _flat(x), True, False)
        if ctx.has_bias and ctx.needs_input_grad[2]:
            db = dz.sum(0, dtype=torch.float32).to(ctx.bias_dtype)
        return dx, dw, db, None


def _mlp_backward(x, w1, w2, hidden, kept, activation, g):
    """Gradients of x, w1, b1, w2, b2."""
    flat = _flat(g).contiguous()
    dz, db1 = _ops.dgrad(flat, w2, kept, activation)
    dx = _ops.product(dz, w1, False, False).view(x.shape)
    dw1 = _ops.product(dz, _flat(x), True, False)
    dw2 = _ops.product(flat, _flat(hidden), True, False)
    return dx, dw1, db1, dw2, flat.sum(0, dtype=torch.float32)


class _MlpFunction(torch.autograd.Function):
    """Two layers: the first one's pre-activation gradient and bias gradient come out of the second one's dgrad GEMM."""

    @staticmethod
    def forward(ctx, x, w1, b1, w2, b2, activation):
        hidden, kept = _ops.linear_kept(x, w1, b1, activation)
        ctx.save_for_backward(x, w1, w2, hidden, kept)
        ctx.activation = activation
        ctx.biases = tuple(None if b is None else b.dtype for b in (b1, b2))
        return _ops.linear(hidden, w2, b2, "")

    @staticmethod
    def backward(ctx, g):
        x, w1, w2, hidden, kept = ctx.saved_tensors
        dx, dw1, db1, dw2, db2 = _mlp_backward(x, w1, w2, hidden, kept, ctx.activation, g)
        first, second = ctx.biases
        return (
            dx,
            dw1,
            None if first is None else db1.to(first),
            dw2,
            None if second is None else db2.to(second),
            None,
        )


class _GatedFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, gate, up, down, activation):
        hidden, gates, ups = _ops.gated(x, gate, up, activation)
        ctx.save_for_backward(x, gate, up, down, hidden, gates, ups)
        ctx.activation = activation
        return _ops.linear(hidden, down, None, "").view(*x.shape[:-1], down.shape[0])

    @staticmethod
    def backward(ctx, g):
        x, gate, up, down, hidden, gates, ups = ctx.saved_tensors
        flat, rows = _flat(g).contiguous(), _flat(x)
        dgate, dup = _ops.gated_dgrad(flat, down, gates, ups, ctx.activation)
        dx = _ops.product(dgate, gate, False, False) + _ops.product(dup, up, False, False)
        return (
            dx.view(x.shape),
            _ops.product(dgate, rows, True, False),
            _ops.product(dup, rows, True, False),
            _ops.product(flat, hidden, True, False),
            None,
        )


# ---- Functions and modules


def _autocast(*tensors: Tensor | None) -> list[Tensor | None]:
    """Matrices in the element of autocast where it is on; vectors stay as they are."""
    device = next(x.device.type for x in tensors if x is not None)
    if not torch.is_autocast_enabled(device):
        return list(tensors)
    wanted = torch.get_autocast_dtype(device)
    return [x if x is None or x.dim() < 2 or not x.is_floating_point() else x.to(wanted) for x in tensors]


def _wants_gradient(*tensors: Tensor | None) -> bool:
    """Otherwise nothing has to be kept for a backward pass."""
    return torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in tensors)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str | None = None) -> Tensor:
    """act(x weightᵀ + bias), with the activation and the bias in the GEMM's epilogue."""
    _rules.activation(activation or "")
    _rules.linear_shape(tuple(x.shape), tuple(weight.shape), None if bias is None else tuple(bias.shape))
    x, weight = _autocast(x, weight)
    if not _wants_gradient(x, weight, bias):
        return _ops.linear(x, weight, bias, activation or "")
    return _Linear.apply(x, weight, bias, activation or "")


class Linear(nn.Linear):
    """``torch.nn.Linear`` with an activation: the same parameters and the same state."""

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None, activation: str | None = None):
        super().__init__(in_features, out_features, bias, device, dtype)
        _rules.activation(activation or "")
        self.activation = activation

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias, self.activation)

    def extra_repr(self) -> str:
        return super().extra_repr() + (f", activation={self.activation!r}" if self.activation else "")

    def warm_up(self, sizes: Sequence[tuple[int, ...]], progress: Any = None) -> None:
        """Sizes are numbers of rows, (m,); runs once for each, which compiles what is missing."""
        for done, size in enumerate(sizes):
            if progress:
                progress(done, len(sizes))
            with torch.no_grad():
                self(self.weight.new_zeros((size[0], self.in_features)))
        if progress:
            progress(len(sizes), len(sizes))


class MLP(nn.Module):
    """fc2(act(fc1(x))), whose backward pass is fused over both layers."""

    def __init__(self, features, hidden, out_features=None, bias=True, activation="gelu", device=None, dtype=None):
        super().__init__()
        if _rules.activation(activation) is None:
            raise refusal("activation", "", "an MLP has an activation between its layers")
        self.activation = activation
        self.fc1 = nn.Linear(features, hidden, bias, device, dtype)
        self.fc2 = nn.Linear(hidden, out_features or features, bias, device, dtype)

    def forward(self, x: Tensor) -> Tensor:
        x, w1, w2 = _autocast(x, self.fc1.weight, self.fc2.weight)
        if not _wants_gradient(x, *self.parameters()):
            return _ops.linear(_ops.linear(x, w1, self.fc1.bias, self.activation), w2, self.fc2.bias, "")
        return _MlpFunction.apply(x, w1, self.fc1.bias, w2, self.fc2.bias, self.activation)


class GatedLinear(nn.Module):
    """down(act(gate(x)) * up(x)): SwiGLU with ``silu``, GeGLU with ``gelu``. No biases, as is usual."""

    def __init__(self, features, hidden, out_features=None, activation="silu", device=None, dtype=None):
        super().__init__()
        _rules.gated_text(activation)
        self.activation = activation
        self.gate_proj = nn.Linear(features, hidden, False, device, dtype)
        self.up_proj = nn.Linear(features, hidden, False, device, dtype)
        self.down_proj = nn.Linear(hidden, out_features or features, False, device, dtype)

    def forward(self, x: Tensor) -> Tensor:
        weights = (self.gate_proj.weight, self.up_proj.weight, self.down_proj.weight)
        return _GatedFunction.apply(*_autocast(x, *weights), self.activation)


# ---- Replacing torch's layers


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
    activation that follows it in an ``nn.Sequential``. Says what was swapped, what not, and why."""
    out = []
    for name, module in list(model.named_modules()):
        if type(module) is Linear or not isinstance(module, nn.Linear):
            continue
        if type(module) is not nn.Linear:
            out.append(Swap(name, False, f"it is a {type(module).__name__}, which computes something of its own"))
        elif module.weight.dtype not in _ELEMENTS and not module.weight.dtype == torch.float32:
            out.append(Swap(name, False, f"its elements are {module.weight.dtype}: f16 and bf16 are multiplied"))
        else:
            module.__class__ = Linear
            module.activation = None
            out.append(Swap(name, True, "an nn.Linear"))
    for name, module in list(model.named_modules()):
        if isinstance(module, nn.Sequential):
            out += _fuse(name, module)
    return out


def _fuse(name: str, sequence: nn.Sequential) -> Iterable[Swap]:
    names = list(sequence._modules)
    for first, second in zip(names, names[1:]):
        layer, after = sequence._modules[first], sequence._modules[second]
        found = _activation_of(after)
        if type(layer) is Linear and layer.activation is None and found:
            layer.activation = found
            sequence._modules[second] = nn.Identity()
            yield Swap(f"{name}.{second}".lstrip("."), True, f"{found}, fused into {first}")

"""What tests of gantry.torch share: tensors, gradients, and every layer beside torch's own in f64."""

import copy

import torch
from torch.nn import functional as F

import gantry.torch
from gantry.torch._reference import FUNCTIONS

BF16 = torch.bfloat16
ACTIVATIONS = [None, *(name for name in FUNCTIONS if name)]


def tensor(*shape, device="cpu", scale=1.0):
    return (torch.randn(shape, device=device) * scale).to(BF16)


def close(got, expected, bound=2.0**-6):
    assert got.shape == expected.shape
    if expected.numel():
        assert (got.double() - expected).abs().max() <= bound * expected.abs().max()


def gradients(function, *tensors):
    """The output, and the gradients of all tensors for one that is drawn at random."""
    leaves = [x.detach().clone().requires_grad_(True) for x in tensors]
    out = function(*leaves)
    torch.manual_seed(1)
    out.backward(torch.randn(out.shape, device=out.device).to(out.dtype))
    return out, [x.grad for x in leaves]


def of(layer, x):
    """A layer without its activation, by torch's own operator."""
    return F.linear(x, layer.weight, layer.bias)


def modules(device="cpu", dtype=BF16):
    """By name, of 64 features: the module, and the same in torch's own operators, of f64 parameters and input."""
    make = {"device": device, "dtype": dtype}

    def layer(activation, bias=True):
        module = gantry.torch.Linear(64, 32, bias=bias, activation=activation, **make)
        return module, lambda m, x: FUNCTIONS[activation or ""](of(m, x))

    def mlp(activation):
        module = gantry.torch.MLP(64, 128, 32, activation=activation, **make)
        return module, lambda m, x: of(m.fc2, FUNCTIONS[activation](of(m.fc1, x)))

    def gated(activation, gate):
        def theirs(m, x):
            if gate == "separate":
                z, up = of(m.gate_proj, x), of(m.up_proj, x)
            else:
                both = of(m.gate_up_proj, x)
                z, up = both.chunk(2, -1) if gate == "halves" else (both[..., ::2], both[..., 1::2])
            return of(m.down_proj, FUNCTIONS[activation](z) * up)

        return gantry.torch.GatedLinear(64, 128, 32, activation=activation, gate=gate, **make), theirs

    return {
        **{f"linear {name}": layer(name) for name in ACTIVATIONS},
        "linear without bias": layer("gelu", bias=False),
        **{f"mlp {name}": mlp(name) for name in ("relu", "gelu", "tanh")},
        **{f"swiglu {gate}": gated("silu", gate) for gate in ("separate", "halves", "interleaved")},
        "geglu": gated("gelu", "halves"),
        "reglu": gated("relu", "interleaved"),
    }


NAMES = list(modules())


def exact(module, theirs):
    """torch's own in f64, with the same parameters."""
    whole = copy.deepcopy(module).double()
    return whole, lambda x: theirs(whole, x)

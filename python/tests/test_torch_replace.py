"""gantry.torch.replace: what is swapped and fused in models of torch's own, and what is left."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: gantry.torch is not tested here")

from layers import BF16, close, tensor  # noqa: E402

import gantry.torch  # noqa: E402
from gantry.torch import _replace  # noqa: E402


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def test_replace_swaps_in_place_and_says_what_and_why():
    class Odd(torch.nn.Linear):
        pass

    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), Odd(16, 16), torch.nn.Linear(16, 8)).to(BF16)
    state = {name: x.clone() for name, x in model.state_dict().items()}
    x = tensor(4, 8)
    before = model(x)
    swaps = gantry.torch.replace(model)
    assert [(s.name, s.swapped) for s in swaps] == [("0", True), ("2", False), ("3", True), ("1", True)]
    assert type(model[0]) is gantry.torch.Linear and model[0].activation == "gelu"
    assert all((x == state[name]).all() for name, x in model.state_dict().items())
    close(model(x), before.double())
    assert gantry.torch.replace(model)[0].name == "2"  # what is swapped already is left alone


def test_replace_leaves_elements_that_no_kernel_multiplies():
    (swap,) = gantry.torch.replace(torch.nn.Sequential(torch.nn.Linear(8, 8, dtype=torch.float64)))
    assert not swap.swapped and "float64" in swap.why


def test_replace_fuses_nothing_into_a_layer_that_is_used_twice():
    shared = torch.nn.Linear(8, 8)
    model = torch.nn.Sequential(shared, torch.nn.ReLU(), shared)
    x = torch.randn(4, 8)
    before = model(x)
    swaps = gantry.torch.replace(model)
    assert [s.swapped for s in swaps] == [True, False] and "2 times" in swaps[1].why
    assert (model(x) == before).all()


def test_replace_fuses_nothing_that_hooks_see():
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU())
    seen = []
    model[1].register_forward_hook(lambda module, inputs, out: seen.append(out))
    swaps = gantry.torch.replace(model)
    assert not swaps[1].swapped and "hooks" in swaps[1].why
    assert model(torch.randn(4, 8)) is seen[0]


def test_replace_fuses_nothing_in_a_sequence_with_a_forward_of_its_own():
    class Residual(torch.nn.Sequential):
        def forward(self, x):
            return self[1](self[0](x) + x)

    model = Residual(torch.nn.Linear(8, 8), torch.nn.ReLU())
    x = torch.randn(4, 8)
    before = model(x)
    assert [s.name for s in gantry.torch.replace(model)] == ["0"]
    assert (model(x) == before).all()


def _with_gradients(model, x):
    x = x.clone().requires_grad_(True)
    out = model(x)
    return out, torch.autograd.grad(out.square().sum(), (x, *model.parameters()))


def test_replace_fuses_two_layers_of_a_sequence(monkeypatch):
    model = torch.nn.Sequential(
        torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 8), torch.nn.LayerNorm(8), torch.nn.Linear(8, 8)
    )
    x, keys = torch.randn(4, 8), list(model.state_dict())
    out, gradients = _with_gradients(model, x)
    swaps = gantry.torch.replace(model)
    assert swaps[-1] == gantry.torch.Swap("", True, "0 and 2 have one fused backward pass")
    assert list(model.state_dict()) == keys
    calls, real = [], _replace.mlp
    monkeypatch.setattr(_replace, "mlp", lambda *given: calls.append(given[-1]) or real(*given))
    fused, own = _with_gradients(model, x)
    assert calls == ["gelu"] and torch.allclose(out, fused, atol=1e-5)
    assert all(torch.allclose(one, other, atol=1e-4) for one, other in zip(gradients, own))
    seen = []
    model[2].register_forward_hook(lambda module, inputs, out: seen.append(out))
    assert torch.allclose(model(x), out, atol=1e-5) and len(seen) == 1 and calls == ["gelu"]


class LlamaMLP(torch.nn.Module):
    """As Llama's layers are written."""

    def __init__(self, act_fn, bias=False):
        super().__init__()
        self.gate_proj = torch.nn.Linear(64, 32, bias=bias)
        self.up_proj = torch.nn.Linear(64, 32, bias=bias)
        self.down_proj = torch.nn.Linear(32, 64, bias=bias)
        self.act_fn = act_fn

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))


class Residual(LlamaMLP):
    def forward(self, x):
        return x + super().forward(x)


@pytest.mark.parametrize("act_fn", [torch.nn.SiLU(), torch.nn.functional.silu, torch.nn.GELU()], ids=str)
def test_replace_makes_gated_layers_of_llamas(act_fn):
    model = torch.nn.ModuleDict({"mlp": LlamaMLP(act_fn)})
    x, keys = torch.randn(4, 64), list(model.state_dict())
    out, gradients = _with_gradients(model["mlp"], x)
    swap = gantry.torch.replace(model)[-1]
    assert swap.name == "mlp" and swap.swapped and type(model["mlp"]) is gantry.torch.GatedLinear
    assert list(model.state_dict()) == keys
    fused, own = _with_gradients(model["mlp"], x)
    assert torch.allclose(out, fused, atol=1e-5)
    assert all(torch.allclose(one, other, atol=1e-4) for one, other in zip(gradients, own))


@pytest.mark.parametrize(
    "module, why",
    [
        (Residual(torch.nn.SiLU()), "does not compute"),
        (LlamaMLP(torch.nn.SiLU(), bias=True), "biases"),
        (LlamaMLP(torch.nn.Softplus()), "one activation"),
        (LlamaMLP(torch.nn.SiLU()).to("meta"), "does not compute"),
    ],
    ids=["residual", "bias", "softplus", "meta"],
)
def test_replace_makes_no_gated_layer_of_what_is_none(module, why):
    kind = type(module)
    swap = gantry.torch.replace(torch.nn.Sequential(module))[-1]
    assert not swap.swapped and why in swap.why and type(module) is kind


def test_replace_keeps_tied_weights_tied():
    model = torch.nn.ModuleDict({"embedding": torch.nn.Embedding(16, 8), "head": torch.nn.Linear(8, 16, bias=False)})
    model["head"].weight = model["embedding"].weight
    gantry.torch.replace(model)
    assert model["head"].weight is model["embedding"].weight

"""Experts of gantry.torch: outputs and gradients against a loop over experts in f64, compilation, routing."""

import copy
from itertools import pairwise

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: gantry.torch is not tested here")

from layers import ACTIVATIONS, BF16, close, gradients, tensor  # noqa: E402

import gantry  # noqa: E402
import gantry.torch  # noqa: E402
from gantry import _rules  # noqa: E402
from gantry.torch._reference import FUNCTIONS  # noqa: E402

CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
DEVICES = ["cpu", pytest.param("cuda", marks=CUDA)]
OFFSETS = [(0, 50, 100, 150), (0, 0, 150, 150), (0, 129, 130, 150), (0, 20, 20, 90), (0, 0, 0, 0)]


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def ints(values, device="cpu"):
    return torch.tensor(values, dtype=torch.int32, device=device)


def by_expert(x, weight, bias, offsets, activation):
    parts = [
        FUNCTIONS[activation or ""](x[start:end] @ weight[e].T + (0 if bias is None else bias[e]))
        for e, (start, end) in enumerate(pairwise(offsets))
    ]
    return torch.cat((*parts, x.new_zeros(x.shape[0] - offsets[-1], weight.shape[1])))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("offsets", OFFSETS, ids=str)
def test_experts_and_their_gradients_are_those_of_a_loop(device, activation, offsets):
    x = tensor(150, 64, device=device)
    # Small, so that no pre-activation comes near 3, where the derivative of hardswish jumps.
    w, b = tensor(3, 72, 64, device=device, scale=0.05), tensor(3, 72, device=device, scale=0.2)
    places = ints(offsets, device)
    out, grads = gradients(lambda *t: gantry.torch.grouped_linear(*t[:2], places, t[2], activation), x, w, b)
    exact = (t.double() for t in (x, w, b))
    expected, others = gradients(lambda *t: by_expert(*t, offsets, activation), *exact)
    close(out, expected)
    for one, other in zip(grads, others, strict=True):
        close(one, other, 2.0**-5)


def test_gradients_are_differences_in_f64():
    layer = gantry.torch.GroupedLinear(3, 8, 5, activation="silu", dtype=torch.float64)
    x = torch.randn(10, 8, dtype=torch.float64, requires_grad=True)
    offsets = ints([0, 4, 4, 9])

    def function(x, weight, bias):
        return gantry.torch.grouped_linear(x, weight, offsets, bias, "silu")

    assert torch.autograd.gradcheck(function, (x, layer.weight, layer.bias))


def test_an_expert_is_an_nn_linear():
    torch.manual_seed(3)
    layer = gantry.torch.GroupedLinear(2, 64, 32)
    one = torch.nn.Linear(64, 32)
    with torch.no_grad():
        one.weight.copy_(layer.weight[1])
        one.bias.copy_(layer.bias[1])
    x = torch.randn(7, 64)
    close(layer(x, ints([0, 0, 7])), one(x).double(), 2.0**-20)
    assert layer.weight.abs().max() <= 1 / 8 and layer.weight.std() > 0.05  # uniform up to 1 / sqrt(K)


@pytest.mark.parametrize("rows, k, n, experts", [(0, 64, 32, 2), (8, 0, 32, 2), (8, 64, 0, 2)])
def test_empty_sizes_have_gradients_of_their_shapes(rows, k, n, experts):
    x, w = torch.randn(rows, k, requires_grad=True), torch.randn(experts, n, k, requires_grad=True)
    out = gantry.torch.grouped_linear(x, w, ints([0] + [rows] * experts))
    assert out.shape == (rows, n)
    out.sum().backward()
    assert x.grad.shape == x.shape and w.grad.shape == w.shape


def test_operators_pass_torchs_own_checks():
    x, w, b, g = tensor(20, 64), tensor(3, 24, 64), tensor(3, 24), tensor(20, 24)
    offsets = ints([0, 7, 7, 18])
    for activation in ("", "relu", "gelu"):
        code = _rules.activation_code(activation)
        torch.library.opcheck(torch.ops.gantry.grouped.default, (x, w, offsets, b, code, True))
        if activation:
            torch.library.opcheck(torch.ops.gantry.grouped_kept.default, (x, w, offsets, None, code, True))
    torch.library.opcheck(torch.ops.gantry.grouped_input_grad.default, (g, w, offsets, True))
    torch.library.opcheck(torch.ops.gantry.grouped_weight_grad.default, (g, x, offsets))
    torch.library.opcheck(torch.ops.gantry.grouped_bias_grad.default, (g, offsets))


@pytest.mark.parametrize("activation", [None, "relu", "gelu"])
def test_a_compiled_mixture_has_no_graph_break(activation):
    layer = gantry.torch.GroupedLinear(4, 64, 32, activation=activation, dtype=BF16)
    eager = copy.deepcopy(layer)

    def mixture(layer, x, choices, weights):
        routing = gantry.torch.route(choices, 4)
        return routing.scatter(layer(routing.gather(x), routing.offsets), weights)

    torch._dynamo.reset()
    compiled = torch.compile(mixture, fullgraph=True, dynamic=True, backend="aot_eager")
    for tokens in (8, 24):
        x, weights = tensor(tokens, 64), torch.rand(tokens, 2)
        choices = torch.randint(0, 4, (tokens, 2))
        out, (dx, dw) = gradients(lambda x, w: compiled(layer, x, choices, w), x, weights)
        expected, (ex, ew) = gradients(lambda x, w: mixture(eager, x, choices, w), x, weights)
        close(out.detach(), expected.detach().double())
        close(dx, ex.double())
        close(dw, ew.double())
    close(layer.weight.grad, eager.weight.grad.double())


def test_a_mixture_is_the_weighted_sum_of_its_experts():
    layer = gantry.torch.GroupedLinear(5, 16, 8, dtype=torch.float64)
    x, choices = torch.randn(9, 16, dtype=torch.float64), torch.stack([torch.randperm(5)[:2] for _ in range(9)])
    weights = torch.rand(9, 2, dtype=torch.float64)
    routing = gantry.torch.route(choices, 5)
    got = routing.scatter(layer(routing.gather(x), routing.offsets), weights)
    for token in range(9):
        parts = [weights[token, i] * (layer.weight[e] @ x[token] + layer.bias[e]) for i, e in enumerate(choices[token])]
        assert torch.allclose(got[token], sum(parts))


def test_autocast_chooses_the_element():
    layer = gantry.torch.GroupedLinear(2, 64, 32)
    x = torch.randn(8, 64, requires_grad=True)
    with torch.autocast("cpu", dtype=BF16):
        out = layer(x, ints([0, 3, 8]))
    out.sum().backward()
    assert out.dtype == BF16 and x.grad.dtype == layer.weight.grad.dtype == layer.bias.grad.dtype == torch.float32


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"x": torch.ones(2, 3, 64)}, "rows x K"),
        ({"x": torch.ones(8, 63)}, "rows x K"),
        ({"x": torch.ones(8, 64, dtype=BF16)}, "convert one"),
        ({"offsets": torch.tensor([0, 4, 8])}, "torch.int64.*torch.int32"),
        ({"offsets": ints([0, 8])}, r"2 experts have \(3,\)"),
        ({"bias": torch.ones(32)}, r"\(2, 32\) is needed"),
        ({"activation": "swish"}, "swish"),
    ],
    ids=lambda x: "" if isinstance(x, str) else next(iter(x)),
)
def test_what_has_no_meaning_is_refused_with_a_sentence(change, sentence):
    given = {"x": torch.ones(8, 64), "weight": torch.ones(2, 32, 64), "offsets": ints([0, 4, 8]), **change}
    with pytest.raises(gantry.InvalidArgument, match=sentence):
        gantry.torch.grouped_linear(**given)


def test_state_is_kept_and_shown():
    layer = gantry.torch.GroupedLinear(2, 64, 32, bias=False, activation="relu")
    assert list(layer.state_dict()) == ["weight"]
    assert repr(layer) == "GroupedLinear(experts=2, in_features=64, out_features=32, bias=False, activation='relu')"
    with pytest.raises(gantry.InvalidArgument, match="tokens"):
        gantry.torch.route(torch.ones(3), 2)

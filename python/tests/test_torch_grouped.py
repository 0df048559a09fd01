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
        torch.library.opcheck(torch.ops.gantry.grouped.default, (x, w, offsets, b, None, code, True))
        if activation:
            torch.library.opcheck(torch.ops.gantry.grouped_kept.default, (x, w, offsets, None, None, code, True))
    torch.library.opcheck(torch.ops.gantry.grouped_input_grad.default, (g, w, offsets, True))
    torch.library.opcheck(torch.ops.gantry.grouped_weight_grad.default, (g, x, offsets))
    torch.library.opcheck(torch.ops.gantry.grouped_bias_grad.default, (g, offsets))
    torch.library.opcheck(torch.ops.gantry.grouped_bias_dot.default, (g, b, offsets))
    index, scales, sums = torch.randint(0, 9, (20,), dtype=torch.int32), torch.rand(20), tensor(9, 24)
    torch.library.opcheck(torch.ops.gantry.grouped.default, (tensor(9, 64), w, offsets, b, index, 0, True))
    torch.library.opcheck(torch.ops.gantry.grouped_sum.default, (x, w, offsets, b, None, index, scales, 9))
    for rows, gather, count in ((x, None, 20), (None, index, 9)):
        given = (sums, w, offsets, rows, gather, index, scales, count, True)
        torch.library.opcheck(torch.ops.gantry.grouped_sum_grad.default, given)


@pytest.mark.parametrize("activation", [None, "relu", "gelu"])
def test_a_compiled_mixture_has_no_graph_break(activation):
    layer = gantry.torch.GroupedLinear(4, 64, 32, activation=activation, dtype=BF16)
    eager = copy.deepcopy(layer)

    def mixture(layer, x, choices, weights):
        routing = gantry.torch.route(choices, 4)
        return routing.scatter(layer(routing.gather(x), routing.offsets), weights)

    compare_compiled(mixture, layer, eager)


def test_a_compiled_mixture_that_gathers_and_scatters_has_no_graph_break():
    layers = torch.nn.ModuleDict(
        {
            "up": gantry.torch.GroupedLinear(4, 64, 32, activation="gelu", gather=True, dtype=BF16),
            "down": gantry.torch.GroupedLinear(4, 32, 64, scatter=True, dtype=BF16),
        }
    )

    def mixture(layers, x, choices, weights):
        routing = gantry.torch.route(choices, 4)
        return layers["down"](layers["up"](x, routing), routing, weights)

    compare_compiled(mixture, layers, copy.deepcopy(layers))


def compare_compiled(mixture, layer, eager):
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
    for one, other in zip(layer.parameters(), eager.parameters(), strict=True):
        close(one.grad, other.grad.double())


def test_a_mixture_is_the_weighted_sum_of_its_experts():
    layer = gantry.torch.GroupedLinear(5, 16, 8, dtype=torch.float64)
    x, choices = torch.randn(9, 16, dtype=torch.float64), torch.stack([torch.randperm(5)[:2] for _ in range(9)])
    weights = torch.rand(9, 2, dtype=torch.float64)
    routing = gantry.torch.route(choices, 5)
    got = routing.scatter(layer(routing.gather(x), routing.offsets), weights)
    for token in range(9):
        parts = [weights[token, i] * (layer.weight[e] @ x[token] + layer.bias[e]) for i, e in enumerate(choices[token])]
        assert torch.allclose(got[token], sum(parts))


def mixture(x, choices, weights, up, up_bias, down, down_bias, activation):
    """Of two layers, by torch's own operators, token by token. An expert that is not there adds nothing."""
    out = []
    for token, experts in enumerate(choices.tolist()):
        parts = [x.new_zeros(down.shape[1])]
        for i, e in enumerate(experts):
            if 0 <= e < up.shape[0]:
                hidden = FUNCTIONS[activation](up[e] @ x[token] + up_bias[e])
                parts.append(weights[token, i] * (down[e] @ hidden + down_bias[e]))
        out.append(torch.stack(parts).sum(0))
    return torch.stack(out)


def fused_mixture(x, choices, weights, up, up_bias, down, down_bias, activation):
    routing = gantry.torch.route(choices, up.shape[0])
    hidden = gantry.torch.grouped_linear(x, up, routing, up_bias, activation, gather=True)
    return gantry.torch.grouped_linear(hidden, down, routing, down_bias, scatter=True, weights=weights)


CHOICES = torch.tensor([[0, 2], [2, 1], [0, 1], [3, 2], [-1, 0], [1, 3], [2, 0]])  # experts 0 to 2


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("activation", ["relu", "silu"])
def test_a_mixture_gathers_tokens_and_scatters_weighted_rows(device, activation):
    x, weights = tensor(7, 64, device=device), torch.rand(7, 2, device=device)
    shapes = ((3, 72, 64), (3, 72), (3, 48, 72), (3, 48))
    given = (x, weights, *(tensor(*shape, device=device, scale=0.2) for shape in shapes))
    choices = CHOICES.to(device)
    out, grads = gradients(lambda x, w, *t: fused_mixture(x, choices, w, *t, activation), *given)
    exact = (t.double() for t in given)
    expected, others = gradients(lambda x, w, *t: mixture(x, choices, w, *t, activation), *exact)
    close(out, expected)
    for one, other, own in zip(grads, others, given, strict=True):
        assert one.dtype == own.dtype
        close(one, other, 2.0**-5)


@pytest.mark.parametrize("has_weights", [True, False])
@pytest.mark.parametrize("activation", [None, "silu"])
def test_gradients_of_a_layer_that_gathers_and_scatters_are_differences_in_f64(activation, has_weights):
    given = [
        torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in ((7, 8), (3, 5, 8), (3, 5), (7, 2))
    ]
    routing = gantry.torch.route(CHOICES, 3)

    def function(x, weight, bias, weights):
        how = {"gather": True, "scatter": True, "weights": weights if has_weights else None}
        return gantry.torch.grouped_linear(x, weight, routing, bias, activation, **how)

    assert torch.autograd.gradcheck(function, given)


@pytest.mark.parametrize("wanted", [("x",), ("weight",), ("bias",), ("weights",), ()], ids=str)
def test_only_the_gradients_that_are_asked_for_are_computed(wanted):
    shapes = {"x": (14, 8), "weight": (3, 5, 8), "bias": (3, 5), "weights": (7, 2)}
    given = {name: torch.randn(shape, requires_grad=name in wanted) for name, shape in shapes.items()}
    out = gantry.torch.grouped_linear(**given, offsets=gantry.torch.route(CHOICES, 3), scatter=True)
    assert out.requires_grad == bool(wanted)
    if wanted:
        out.sum().backward()
    assert [name for name, x in given.items() if x.grad is not None] == list(wanted)


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


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"offsets": ints([0, 4, 8])}, "takes a Routing"),
        ({"x": torch.ones(7, 64)}, "x has 7 rows, and the routing 8 tokens"),
        ({"x": torch.ones(8, 64), "gather": False}, "x has 8 rows, and the routing 16 sorted rows"),
        ({"weights": torch.ones(8)}, r"\(8, 2\) is needed"),
        ({"scatter": False, "weights": torch.ones(8, 2)}, "scatter=True"),
    ],
    ids=str,
)
def test_a_routing_that_does_not_fit_is_refused(change, sentence):
    routing = gantry.torch.route(torch.randint(0, 2, (8, 2)), 2)
    given = {"x": torch.ones(8, 64), "offsets": routing, "gather": True, "scatter": True, **change}
    with pytest.raises(gantry.InvalidArgument, match=sentence):
        gantry.torch.grouped_linear(weight=torch.ones(2, 32, 64), **given)


def test_layers_that_gather_and_scatter_are_warmed_up():
    layer = gantry.torch.GroupedLinear(2, 64, 32, gather=True, scatter=True)
    seen = []
    gantry.warm_up(layer, [(8,), (5,)], progress=lambda done, everything: seen.append((done, everything)))
    assert seen[-1] == (2, 2) and repr(layer).endswith("bias=True, gather=True, scatter=True)")


def test_state_is_kept_and_shown():
    layer = gantry.torch.GroupedLinear(2, 64, 32, bias=False, activation="relu")
    assert list(layer.state_dict()) == ["weight"]
    assert repr(layer) == "GroupedLinear(experts=2, in_features=64, out_features=32, bias=False, activation='relu')"
    with pytest.raises(gantry.InvalidArgument, match="tokens"):
        gantry.torch.route(torch.ones(3), 2)

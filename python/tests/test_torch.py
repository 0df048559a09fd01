"""gantry.torch where torch is installed: outputs and gradients against torch in f64, graphs, streams, strides, state."""

import copy
import doctest
import importlib
import io
import re
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: gantry.torch is not tested here")

from layers import BF16, NAMES, close, exact, gradients, modules, tensor  # noqa: E402

import gantry  # noqa: E402
import gantry.torch  # noqa: E402

CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
DEVICES = ["cpu", pytest.param("cuda", marks=CUDA)]


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


@pytest.fixture(params=NAMES)
def module(request):
    return modules()[request.param][0]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", NAMES)
def test_a_module_and_its_gradients_are_torchs(device, name):
    module, theirs = modules(device)[name]
    whole, expected_of = exact(module, theirs)
    x = tensor(2, 24, 64, device=device)
    out, (dx,) = gradients(module, x)
    expected, (other,) = gradients(expected_of, x.double())
    close(out, expected)
    close(dx, other, 2.0**-5)
    for one, other in zip(module.parameters(), whole.parameters(), strict=True):
        close(one.grad, other.grad, 2.0**-5)


def test_gradients_of_parameters_and_input_are_differences_in_f64(module):
    module = module.double()
    x = torch.randn(3, 64, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(module, (x,), fast_mode=True)
    names, parameters = zip(*module.named_parameters())
    # Some numbers of each parameter; the rest stays as it is.
    corners = [p.detach().flatten()[:5].clone().requires_grad_(True) for p in parameters]

    def of_corners(*values):
        state = {n: torch.cat((v, p.detach().flatten()[5:])).view_as(p) for n, v, p in zip(names, values, parameters)}
        return torch.func.functional_call(module, state, (x.detach(),))

    assert torch.autograd.gradcheck(of_corners, corners, fast_mode=True)


def test_a_second_derivative_is_refused(module):
    x = tensor(3, 64).requires_grad_(True)
    (g,) = torch.autograd.grad(module(x).float().square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        g.float().square().sum().backward()


def test_nothing_is_kept_without_a_gradient(module):
    x = tensor(3, 64)
    expected = module(x)
    with torch.no_grad():
        plain = module(x)
    with torch.inference_mode():
        inferred = module(x)
    assert (plain == expected).all() and (inferred == expected).all() and not plain.requires_grad
    for p in module.parameters():
        p.requires_grad_(False)
    assert not module(x).requires_grad
    leaf = x.clone().requires_grad_(True)
    module(leaf).sum().backward()
    assert leaf.grad is not None and all(p.grad is None for p in module.parameters())


@pytest.mark.parametrize(
    "shape, seen",
    [
        ((1, 64), lambda x: x.expand(16, 64)),
        ((2, 1, 64), lambda x: x.expand(2, 5, 64)),
        ((64, 16), lambda x: x.T),
        ((16, 65), lambda x: x[:, 1:]),
        ((16, 128), lambda x: x[:, ::2]),
        ((4, 8, 64), lambda x: x.transpose(0, 1)),
        ((64,), lambda x: x),
    ],
    ids=["stride 0", "batch of stride 0", "transposed", "misaligned", "every second", "swapped rows", "one row"],
)
def test_any_strides_give_what_packed_ones_give(module, shape, seen):
    x, module = torch.randn(shape), module.float()
    out, (dx,) = gradients(lambda x: module(seen(x)), x)
    packed, (expected,) = gradients(lambda x: module(seen(x).contiguous()), x)
    assert out.is_contiguous()
    close(out, packed.double(), 2.0**-20)
    close(dx, expected.double(), 2.0**-18)


def test_no_rows_give_no_rows_and_gradients_of_zero(module):
    x = tensor(0, 64).requires_grad_(True)
    out = module(x)
    assert out.shape == (0, 32)
    out.sum().backward()
    assert x.grad.shape == x.shape and all((p.grad == 0).all() for p in module.parameters())


def test_a_k_of_zero_gives_the_activated_bias():
    layer = gantry.torch.Linear(64, 32, activation="relu", dtype=BF16)
    weight = torch.empty(32, 0, dtype=BF16, requires_grad=True)
    x = tensor(8, 0).requires_grad_(True)
    out = gantry.torch.linear(x, weight, layer.bias, "relu")
    assert (out == torch.relu(layer.bias)).all()
    out.sum().backward()
    assert x.grad.shape == (8, 0) and weight.grad.shape == (32, 0) and layer.bias.grad is not None


def test_an_n_of_zero_gives_no_columns_and_gradients_of_zero():
    x, weight = tensor(8, 64).requires_grad_(True), tensor(0, 64).requires_grad_(True)
    gantry.torch.linear(x, weight, None, "gelu").sum().backward()
    assert (x.grad == 0).all() and weight.grad.shape == (0, 64)


def test_autocast_chooses_the_element_and_gradients_have_the_parameters(module):
    module = module.float()
    for x in (torch.randn(16, 64, requires_grad=True), torch.randn(64, requires_grad=True)):
        with torch.autocast("cpu", dtype=BF16):
            out = module(x)
        assert out.dtype == BF16
        out.sum().backward()
        assert x.grad.dtype == torch.float32 and all(p.grad.dtype == torch.float32 for p in module.parameters())


def test_a_module_on_the_meta_device_has_shapes(module):
    out = module.to("meta")(torch.empty(2, 8, 64, dtype=BF16, device="meta"))
    assert out.shape == (2, 8, 32) and out.device.type == "meta"


def test_checkpointing_gives_the_same_gradient(module):
    x = tensor(4, 64)
    _, (expected,) = gradients(module, x)
    again = lambda y: torch.utils.checkpoint.checkpoint(module, y, use_reentrant=False)  # noqa: E731
    assert (gradients(again, x)[1][0] == expected).all()


def test_state_goes_through_a_file_and_a_copy(module):
    x, file = tensor(4, 64), io.BytesIO()
    torch.save(module.state_dict(), file)
    file.seek(0)
    other = copy.deepcopy(module)
    with torch.no_grad():
        for p in other.parameters():
            p.zero_()
    assert not (other(x) == module(x)).all()
    other.load_state_dict(torch.load(file))
    assert (other(x) == module(x)).all()
    assert repr(other) == repr(module)


def test_a_layer_keeps_the_state_of_torchs_own():
    ours, theirs = gantry.torch.Linear(8, 16, activation="relu"), torch.nn.Linear(8, 16)
    assert isinstance(ours, torch.nn.Linear)
    ours.load_state_dict(theirs.state_dict())
    assert (ours.weight == theirs.weight).all() and (ours.bias == theirs.bias).all()
    theirs.load_state_dict(ours.state_dict())


@pytest.mark.parametrize("gate", ["halves", "interleaved"])
def test_a_gate_of_one_matrix_loads_the_state_of_two(gate):
    two = torch.nn.Sequential(gantry.torch.GatedLinear(64, 24, dtype=BF16))
    one = torch.nn.Sequential(gantry.torch.GatedLinear(64, 24, gate=gate, dtype=BF16))
    one.load_state_dict(two.state_dict())
    x = tensor(8, 64)
    close(one(x), two(x).double(), 2.0**-8)
    again = torch.nn.Sequential(gantry.torch.GatedLinear(64, 24, gate=gate, dtype=BF16))
    again.load_state_dict(one.state_dict())
    assert (again(x) == one(x)).all()


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: gantry.torch.Linear(64, 32)(torch.ones(8, 63)), "K of 64"),
        (lambda: gantry.torch.MLP(64, 32)(torch.ones(8, 63)), "K of 64"),
        (lambda: gantry.torch.GatedLinear(64, 32)(torch.ones(8, 63)), "K of 64"),
        (lambda: gantry.torch.Linear(64, 32)(torch.ones(())), "both have one K"),
        (lambda: gantry.torch.Linear(64, 32, dtype=BF16)(torch.ones(8, 64)), "torch.float32.*torch.bfloat16"),
        (lambda: gantry.torch.MLP(64, 32, dtype=BF16)(torch.ones(8, 64)), "torch.float32.*torch.bfloat16"),
        (lambda: gantry.torch.Linear(64, 32, activation="swish"), "swish.*silu"),
        (lambda: gantry.torch.MLP(64, 32, activation=""), "between its layers"),
        (lambda: gantry.torch.GatedLinear(64, 32, activation=""), "SwiGLU"),
        (lambda: gantry.torch.GatedLinear(64, 32, gate="thirds"), "halves"),
        (lambda: gantry.torch.gated_linear(torch.ones(4, 8), torch.ones(3, 8), torch.ones(8, 1)), "3 rows"),
    ],
)
def test_what_has_no_meaning_is_refused_with_a_sentence(call, sentence):
    with pytest.raises(gantry.InvalidArgument, match=sentence):
        call()


def test_a_tensor_that_requires_grad_is_refused_where_its_gradient_would_be_lost():
    x = tensor(16, 64).requires_grad_(True)
    with pytest.raises(gantry.InvalidArgument, match="gantry.torch"):
        gantry.gemm(x, x)


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("linear")])
def test_layers_with_hooks_are_called_one_by_one(name):
    module = modules()[name][0]
    x = tensor(3, 24, 64)
    expected, (gradient,) = gradients(module, x)
    seen = []
    for child in module.children():
        child.register_forward_hook(lambda child, inputs, out: seen.append(child))
    out, (dx,) = gradients(module, x)
    assert len(seen) == len(list(module.children()))
    close(out, expected.double())
    close(dx, gradient.double(), 2.0**-5)


def test_a_model_is_warmed_up_layer_by_layer_forward_and_backward():
    inner = gantry.torch.MLP(64, 32)
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), inner, torch.nn.ModuleList([gantry.torch.GroupedLinear(2, 64, 8)]))
    gantry.torch.replace(model)
    calls, seen = [], []
    for name, module in model.named_modules():
        module.register_full_backward_hook(lambda module, *_, name=name: calls.append(name))
    gantry.warm_up(model, [(16,), (32,)], progress=lambda done, everything: seen.append((done, everything)))
    assert seen[0] == (0, 6) and seen[-1] == (6, 6) and seen == sorted(seen)
    assert {"0", "1", "2.0"} <= set(calls)
    assert all(p.grad is None for p in model.parameters())


def test_what_has_no_kernels_is_not_warmed_up():
    with pytest.raises(gantry.InvalidArgument, match="a list has no kernels"):
        gantry.warm_up([], [(16,)])


# ---- replace


class Doubled(torch.nn.Module):
    """What an adapter does: a layer with something of its own around it."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.weight, self.bias = layer.weight, layer.bias

    def forward(self, x):
        return 2 * self.layer(x)


@pytest.mark.parametrize(
    "name, child",
    [("mlp gelu", "fc2"), ("swiglu separate", "up_proj"), ("swiglu separate", "down_proj"), ("geglu", "down_proj")],
)
def test_a_child_that_was_replaced_is_called(name, child):
    """One that the output is linear in, so that twice the child gives twice the output."""
    module, _ = modules(dtype=torch.float32)[name]
    x = torch.randn(4, 64)
    expected = 2 * module(x)
    setattr(module, child, Doubled(getattr(module, child)))
    assert torch.allclose(module(x), expected, atol=1e-5)


def test_a_child_with_a_bias_or_an_activation_of_its_own_is_called():
    module = gantry.torch.GatedLinear(64, 32)
    module.up_proj = gantry.torch.Linear(64, 32, bias=True)
    mlp = gantry.torch.MLP(64, 32)
    mlp.fc2.activation = "relu"
    x = torch.randn(4, 64)
    gates = torch.nn.functional.silu(module.gate_proj(x))
    assert torch.allclose(module(x), module.down_proj(gates * module.up_proj(x)), atol=1e-6)
    assert (mlp(x) >= 0).all()


@pytest.mark.parametrize("grad", [False, True])
def test_two_layers_refuse_what_does_not_fit(grad):
    x, w1, w2 = torch.randn(4, 16, requires_grad=grad), torch.randn(8, 16), torch.randn(6, 8)
    for given, rule, operand in (
        ((x, w1, None, w2, None, ""), "activation", ""),
        ((x, w1, None, w2[:, :7], None, "relu"), "shape", "the second layer's weight"),
        ((x, w1, None, w2, torch.zeros(5), "relu"), "shape", "the second layer's bias"),
        ((x, w1, None, w2.double(), None, "relu"), "dtype", "the second layer's weight"),
    ):
        with pytest.raises(gantry.InvalidArgument) as refused:
            gantry.torch.mlp(*given)
        assert (refused.value.rule, refused.value.operand) == (rule, operand)
    for down, rule in ((w2[:, :3], "shape"), (w2[:, :4].double(), "dtype")):
        with pytest.raises(gantry.InvalidArgument) as refused:
            gantry.torch.gated_linear(x, w1, down)
        assert (refused.value.rule, refused.value.operand) == (rule, "down")


# ---- On a GPU


@CUDA
def test_a_captured_graph_gives_the_result_of_its_last_inputs():
    layer = gantry.torch.Linear(128, 96, activation="gelu", device="cuda", dtype=BF16)
    x = tensor(64, 128, device="cuda")
    with torch.no_grad():
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            layer(x)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = layer(x)
        x.copy_(tensor(64, 128, device="cuda"))
        graph.replay()
        close(y, torch.nn.functional.gelu(layer.weight.double() @ x.double().T + layer.bias.double()[:, None]).T)


@CUDA
def test_a_kernel_is_not_compiled_while_a_graph_is_captured():
    gantry.torch.linear(tensor(16, 64, device="cuda"), tensor(32, 64, device="cuda"))
    x, w = (tensor(*shape, device="cuda").half() for shape in ((48, 136), (40, 136)))
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), pytest.raises(RuntimeError, match="records a CUDA graph"), torch.cuda.graph(graph):
        gantry.torch.linear(x, w, activation="hardswish")
    close(gantry.torch.linear(x, w), x.double() @ w.double().T)


@CUDA
def test_gemm_runs_in_the_current_stream_of_torch():
    a, b = tensor(512, 1024, device="cuda"), tensor(256, 1024, device="cuda")
    gantry.gemm(a, b)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        late = a * 2
        d = gantry.gemm(late, b)
    side.synchronize()
    close(d, 2 * a.double() @ b.double().T)


@CUDA
@pytest.mark.parametrize("m, k", [(0, 64), (16, 0)])
def test_empty_tensors_give_what_torch_gives(m, k):
    a, b = tensor(m, k, device="cuda"), tensor(32, k, device="cuda")
    assert (gantry.gemm(a, b) == a @ b.T).all()


@CUDA
def test_strides_are_seen_through_or_copied_on_the_gpu():
    whole = tensor(64, 257, device="cuda")
    b = tensor(96, 128, device="cuda")
    for a in (
        whole[:, :128],
        whole[:, 1:129],
        whole[:, :256:2],
        tensor(128, 64, device="cuda").T,
        tensor(1, 128, device="cuda").expand(64, 128),
    ):
        close(gantry.gemm(a, b), a.double() @ b.double().T)


def test_the_programs_of_the_guide_run_one_after_another(capsys):
    page = (Path(__file__).resolve().parents[2] / "docs/guide/python.md").read_text()
    programs, names = re.findall(r"```py\n(.*?)```", page, re.DOTALL), {}
    assert len(programs) == 3
    for program in programs:
        exec(compile(program, "docs/guide/python.md", "exec"), names)  # noqa: S102: our own
    printed, said = capsys.readouterr().out, re.findall(r"^print\(.*\)  # (.+)$", "".join(programs), re.MULTILINE)
    assert "fused into 0" in printed and len(said) == 2 and all(line in printed for line in said)


def test_examples_hold():
    attempted = 0
    for part in ("", "._functional", "._grouped", "._modules", "._replace", "._routing", "._scaled"):
        ran = doctest.testmod(importlib.import_module("gantry.torch" + part))
        assert ran.failed == 0
        attempted += ran.attempted
    assert attempted > 10

"""gantry.torch where torch is installed: outputs and gradients against torch in f64, compilation, graphs, streams."""

import copy

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: gantry.torch is not tested here")

import gantry  # noqa: E402
import gantry.torch  # noqa: E402

CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
DEVICES = ["cpu", pytest.param("cuda", marks=CUDA)]
BF16 = torch.bfloat16


def tensor(*shape, device, scale=1.0):
    return (torch.randn(shape, device=device) * scale).to(BF16)


def close(got, expected, bound=2.0**-6):
    assert got.shape == expected.shape
    assert (got.double() - expected).abs().max() <= bound * expected.abs().max()


def exact(module):
    """The same in f64 by torch's own layers."""
    return copy.deepcopy(module).double()


def gradients(function, *tensors):
    leaves = [x.detach().clone().requires_grad_(True) for x in tensors]
    out = function(*leaves)
    torch.manual_seed(1)
    out.backward(torch.randn(out.shape, device=out.device).to(out.dtype))
    return out, [x.grad for x in leaves]


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("activation", [None, "relu", "gelu", "silu", "tanh"])
def test_a_layer_and_its_gradients_are_torchs(device, activation):
    x, w, b = tensor(2, 64, 128, device=device), tensor(96, 128, device=device, scale=0.1), tensor(96, device=device)
    ours = lambda x, w, b: gantry.torch.linear(x, w, b, activation)  # noqa: E731
    function = gantry.torch._FUNCTIONS[activation or ""]
    theirs = lambda x, w, b: function(torch.nn.functional.linear(x, w, b))  # noqa: E731
    out, grads = gradients(ours, x, w, b)
    expected, others = gradients(theirs, x.double(), w.double(), b.double())
    close(out, expected)
    for one, other in zip(grads, others):
        close(one, other, 2.0**-5)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_an_mlp_and_its_fused_gradients_are_torchs(device, activation):
    module = gantry.torch.MLP(64, 128, activation=activation, device=device, dtype=BF16)
    whole = exact(module)
    x = tensor(48, 64, device=device)
    function = gantry.torch._FUNCTIONS[activation]
    out, (dx,) = gradients(module, x)
    expected, (other,) = gradients(lambda x: whole.fc2(function(whole.fc1(x))), x.double())
    close(out, expected)
    close(dx, other, 2.0**-5)
    for one, other in zip(module.parameters(), whole.parameters()):
        close(one.grad, other.grad, 2.0**-5)


@pytest.mark.parametrize("device", DEVICES)
def test_a_gate_and_its_fused_gradients_are_torchs(device):
    module = gantry.torch.GatedLinear(64, 128, device=device, dtype=BF16)
    whole = exact(module)
    x = tensor(48, 64, device=device)

    def theirs(x):
        return whole.down_proj(torch.nn.functional.silu(whole.gate_proj(x)) * whole.up_proj(x))

    out, (dx,) = gradients(module, x)
    expected, (other,) = gradients(theirs, x.double())
    close(out, expected)
    close(dx, other, 2.0**-5)
    for one, other in zip(module.parameters(), whole.parameters()):
        close(one.grad, other.grad, 2.0**-5)


@pytest.mark.parametrize("device", DEVICES)
def test_operators_pass_torchs_own_checks(device):
    x, w, b = tensor(16, 64, device=device), tensor(32, 64, device=device), tensor(32, device=device)
    checks = ("test_schema", "test_faketensor")
    torch.library.opcheck(torch.ops.gantry.linear.default, (x, w, b, "gelu"), test_utils=checks)
    torch.library.opcheck(torch.ops.gantry.linear_kept.default, (x, w, b, "relu"), test_utils=checks)
    torch.library.opcheck(torch.ops.gantry.product.default, (x, w, False, True), test_utils=checks)


@pytest.mark.parametrize("device", DEVICES)
def test_a_compiled_layer_has_no_graph_break(device):
    module = gantry.torch.MLP(64, 128, device=device, dtype=BF16)
    compiled = torch.compile(module, fullgraph=True, dynamic=True, backend="aot_eager")
    for rows in (16, 32, 48):
        x = tensor(rows, 64, device=device).requires_grad_(True)
        compiled(x).sum().backward()
        close(compiled(x).detach(), module(x).double().detach())


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
        close(y, torch.nn.functional.gelu(exact(layer).weight @ x.double().T + layer.bias.double()[:, None]).T)


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


def test_a_tensor_that_requires_grad_is_refused_where_its_gradient_would_be_lost():
    x = tensor(16, 64, device="cpu").requires_grad_(True)
    with pytest.raises(gantry.InvalidArgument, match="gantry.torch"):
        gantry.gemm(x, x)


def test_replace_swaps_in_place_and_says_what_and_why():
    class Odd(torch.nn.Linear):
        pass

    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), Odd(16, 16), torch.nn.Linear(16, 8)).to(BF16)
    state = {name: x.clone() for name, x in model.state_dict().items()}
    x = tensor(4, 8, device="cpu")
    before = model(x)
    swaps = gantry.torch.replace(model)
    assert [(s.name, s.swapped) for s in swaps] == [("0", True), ("2", False), ("3", True), ("1", True)]
    assert type(model[0]) is gantry.torch.Linear and model[0].activation == "gelu"
    assert all((x == state[name]).all() for name, x in model.state_dict().items())
    close(model(x), before.double())


def test_a_layer_keeps_the_state_of_torchs_own():
    ours, theirs = gantry.torch.Linear(8, 16, activation="relu"), torch.nn.Linear(8, 16)
    assert isinstance(ours, torch.nn.Linear)
    ours.load_state_dict(theirs.state_dict())
    assert (ours.weight == theirs.weight).all()


def test_autocast_chooses_the_element(device="cpu"):
    layer = gantry.torch.Linear(64, 32, activation="relu")
    with torch.autocast(device, dtype=BF16):
        assert layer(torch.randn(16, 64)).dtype == BF16

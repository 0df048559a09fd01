"""gantry.torch under torch's compilers: checks of operators, torch.compile without graph breaks, torch.export."""

import copy

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: gantry.torch is not tested here")

import torch._dynamo.testing  # noqa: E402
from layers import BF16, NAMES, close, modules, tensor  # noqa: E402

import gantry.torch  # noqa: E402
from gantry import _rules  # noqa: E402

CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
DEVICES = ["cpu", pytest.param("cuda", marks=CUDA)]
OPS = torch.ops.gantry
RELU, GELU, SILU = (_rules.activation_code(name) for name in ("relu", "gelu", "silu"))


def operands(device):
    def t(*shape):
        return tensor(*shape, device=device)

    mask = torch.randint(0, 255, (2, 5, 4), dtype=torch.uint8, device=device)
    return {
        "linear": [(t(16, 64), t(32, 64), t(32), GELU), (t(2, 5, 64), t(32, 64), None, 0)],
        "linear_kept": [(t(16, 64), t(33, 64), t(33), RELU), (t(2, 5, 64), t(32, 64), t(32), SILU)],
        "input_grad": [(t(16, 32), t(32, 64)), (t(2, 5, 32), t(32, 64))],
        "weight_grad": [(t(16, 32), t(16, 64)), (t(2, 5, 32), t(2, 5, 64))],
        "mask_grad": [(t(2, 5, 31), mask)],
        "dgrad": [(t(16, 32), t(32, 64), t(16, 64), GELU), (t(2, 5, 8), t(8, 32), mask, RELU)],
        "gated": [(t(2, 5, 64), t(64, 64), SILU, 0), (t(16, 64), t(64, 64), GELU, 1)],
        "gated_kept": [(t(16, 64), t(64, 64), SILU, 0), (t(2, 5, 64), t(64, 64), SILU, 1)],
        "gated_dgrad": [(t(2, 5, 16), t(16, 32), t(2, 5, 32), t(2, 5, 32), SILU, gate) for gate in (0, 1)],
    }


def test_a_layer_asks_nothing_that_torch_2_11_cannot_trace(monkeypatch):
    def untraceable(device):
        raise AssertionError(f"it asked whether {device} has autocast")

    monkeypatch.setattr(torch.amp, "is_autocast_available", untraceable)
    gantry.torch.linear(tensor(16, 64), tensor(32, 64))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", list(operands("cpu")))
def test_operators_pass_torchs_own_checks(device, name):
    for given in operands(device)[name]:
        torch.library.opcheck(getattr(OPS, name).default, given)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("activation", [0, RELU, GELU])
def test_the_operator_of_a_layer_passes_torchs_checks_of_gradients(device, activation):
    given = [tensor(*shape, device=device).requires_grad_(True) for shape in ((2, 5, 64), (32, 64), (32,))]
    torch.library.opcheck(OPS.linear.default, (*given, activation))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", NAMES)
def test_a_compiled_module_has_no_graph_break_and_one_graph_for_all_sizes(device, name):
    module = modules(device)[name][0]
    eager = copy.deepcopy(module)
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(module, fullgraph=True, dynamic=True, backend=counter)
    for rows in (16, 40, 48):
        x = tensor(rows, 64, device=device).requires_grad_(True)
        y = x.detach().clone().requires_grad_(True)
        out, expected = compiled(x), eager(y)
        out.float().square().sum().backward()
        expected.float().square().sum().backward()
        close(out.detach(), expected.detach().double())
        close(x.grad, y.grad.double(), 2.0**-5)
    for one, other in zip(module.parameters(), eager.parameters(), strict=True):
        close(one.grad, other.grad.double(), 2.0**-5)
    assert counter.frame_count == 1


@pytest.mark.parametrize("device", DEVICES)
def test_inductor_compiles_forward_and_backward(device):
    module = torch.nn.Sequential(
        gantry.torch.Linear(64, 64, activation="relu", device=device, dtype=BF16),
        gantry.torch.GatedLinear(64, 128, device=device, dtype=BF16),
        gantry.torch.MLP(64, 128, device=device, dtype=BF16),
    )
    torch._dynamo.reset()
    compiled = torch.compile(copy.deepcopy(module), fullgraph=True, dynamic=True)
    for rows in (16, 40):
        x = tensor(rows, 64, device=device).requires_grad_(True)
        y = x.detach().clone().requires_grad_(True)
        out, expected = compiled(x), module(y)
        out.sum().backward()
        expected.sum().backward()
        close(out.detach(), expected.detach().double())
        close(x.grad, y.grad.double(), 2.0**-5)


@pytest.mark.parametrize("name", NAMES)
def test_an_exported_module_takes_any_number_of_rows(name):
    module = modules()[name][0]
    rows = torch.export.Dim("rows", min=2, max=1024)
    program = torch.export.export(module, (tensor(16, 64),), dynamic_shapes=({0: rows},))
    x = tensor(40, 64)
    assert (program.module()(x) == module(x)).all()
    assert "gantry." in str(program.graph)

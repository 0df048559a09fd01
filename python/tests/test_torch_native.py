"""The operators in C++: what their kernels make of strides, sizes and gradients, on the simulated SM where there is no GPU.

They are built where there is a GPU, or where GANTRY_TORCH_SHIM is 1. Whichever implementation is loaded here, the last test
runs the other one in a process of its own.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: gantry.torch is not tested here")

from layers import BF16, close, gradients, tensor  # noqa: E402

import gantry.torch  # noqa: E402
from gantry import _rules  # noqa: E402
from gantry.torch import _native, _ops, _reference  # noqa: E402

GELU = _rules.activation_code("gelu")
NATIVE = [pytest.param(None, id="C++")] if _ops.is_native else []
TESTS = Path(__file__).parent


def test_every_operator_and_activation_has_a_text():
    found = {(op, code) for op, code, *_ in _native.texts()}
    for op in _native.OPERATORS:
        plain = op in ("linear", "input_grad", "weight_grad")
        codes = [0] if op.endswith("_grad") and plain else range(0 if plain else 1, len(_rules.NAMES))
        assert all((op, code) in found for code in codes), op


def strided():
    """Inputs by how they lie: the kernel takes some as they are, and others are copied."""
    wide, x = tensor(24, 128, scale=0.25), tensor(24, 64, scale=0.25)
    return {
        "packed": x,
        "columns of a wider one": wide[:, 32:96],
        "every second column": wide[:, ::2],
        "a transposed one": tensor(64, 24, scale=0.25).T,
        "one row for all": x[:1].expand(24, 64),
        "three dimensions, the first two swapped": tensor(4, 6, 64, scale=0.25).transpose(0, 1),
        "a misaligned base": tensor(24 * 64 + 1, scale=0.25)[1:].view(24, 64),
        "one row": x[:1],
        "a vector": x[0],
        "no rows": x[:0],
    }


@pytest.mark.parametrize("how", list(strided()))
@pytest.mark.parametrize("_", NATIVE)
def test_inputs_may_lie_as_they_like(how, _):
    torch.manual_seed(0)
    x, w, b = strided()[how], tensor(32, 64, scale=0.25), tensor(32)
    got = torch.ops.gantry_kernels.linear(x, w, b, GELU)
    close(got, _reference.linear(x.double(), w.double(), b.double(), GELU))
    g = tensor(*got.shape, scale=0.25)
    if x.dim() == 2:
        close(torch.ops.gantry_kernels.weight_grad(g, x), g.double().T @ x.double())
    close(torch.ops.gantry_kernels.input_grad(g, w), g.double() @ w.double())


@pytest.mark.parametrize("n, k", [(33, 64), (32, 20), (1, 8), (16, 0)])
@pytest.mark.parametrize("_", NATIVE)
def test_sizes_that_need_padding_are_padded(n, k, _):
    torch.manual_seed(0)
    x, w = tensor(24, k, scale=0.25), tensor(n, k, scale=0.25)
    close(torch.ops.gantry_kernels.linear(x, w, None, 0), x.double() @ w.double().T)
    out, kept = torch.ops.gantry_kernels.linear_kept(x, w, None, GELU)
    close(out, _reference.linear(x.double(), w.double(), None, GELU))
    close(kept, x.double() @ w.double().T)


@pytest.mark.parametrize("dtype", [BF16, torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("_", NATIVE)
def test_a_bias_has_an_element_of_its_own(dtype, _):
    torch.manual_seed(0)
    x, w, b = tensor(24, 64, scale=0.25), tensor(32, 64, scale=0.25), tensor(32).to(dtype)
    close(torch.ops.gantry_kernels.linear(x, w, b, 0), x.double() @ w.double().T + b.double())


@pytest.mark.parametrize(
    "activation", [None, "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", "mish", "hardswish"]
)
def test_a_layer_has_the_gradients_of_torchs_own(activation):
    torch.manual_seed(0)
    x, w, b = (torch.randn(shape, dtype=torch.float64) for shape in ((2, 5, 8), (6, 8), (6,)))
    function = _reference.FUNCTIONS[activation or ""]
    out, grads = gradients(lambda *t: gantry.torch.linear(*t, activation), x, w, b)
    expected, theirs = gradients(lambda *t: function(torch.nn.functional.linear(*t)), x, w, b)
    for one, other in zip((out, *grads), (expected, *theirs), strict=True):
        close(one, other, 1e-12)


def test_a_gradient_of_a_gradient_is_refused():
    x = torch.randn(4, 8, dtype=torch.float64, requires_grad=True)
    w = torch.randn(6, 8, dtype=torch.float64, requires_grad=True)
    y = gantry.torch.linear(x, w, activation="gelu")
    (dx,) = torch.autograd.grad((y**2).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="twice"):
        dx.sum().backward()


SHIPPED = """
import sys
from pathlib import Path
from gantry import _context
_context.KERNELS = Path(sys.argv[1])
import torch, gantry.torch
x, w = torch.ones(24, 64, dtype=torch.bfloat16), torch.ones(32, 64, dtype=torch.bfloat16)
print(float(torch.ops.gantry_kernels.linear(x, w, None, 0)[0, 0]))
"""


@pytest.mark.parametrize("_", NATIVE)
def test_kernels_that_came_with_the_package_are_not_compiled(_, tmp_path):
    x, w = (torch.ones(rows, 64, dtype=BF16) for rows in (24, 32))
    torch.ops.gantry_kernels.linear(x, w, None, 0)  # compiled into the cache, as a wheel would hold it
    kernels = Path(os.environ["GANTRY_CACHE_DIR"]).resolve()
    (tmp_path / "shims").symlink_to(kernels / "shims")
    environment = {**os.environ, "GANTRY_CACHE_DIR": str(tmp_path), "GANTRY_TORCH_SHIM": "1"}
    command = [sys.executable, "-c", SHIPPED, str(kernels)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.stdout.strip() == "64.0", ran.stderr
    assert list(tmp_path.glob("*.kernel")) == []


@pytest.mark.skipif("GANTRY_TORCH_SHIM" in os.environ, reason="one implementation was asked for")
def test_the_other_implementation_passes_the_same_tests():
    files = [str(TESTS / f"test_torch_{name}.py") for name in ("native", "kernels", "compile", "replace")]
    environment = {**os.environ, "GANTRY_TORCH_SHIM": "0" if _ops.is_native else "1"}
    # In this folder, which PYTHONPATH may be relative to, and -P: the sources beside the tests are not the package.
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]

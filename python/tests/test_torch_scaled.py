"""8-bit floats of gantry.torch: elements against NumPy's, layers against f64 within the bound of their rounding."""

import copy

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: gantry.torch is not tested here")

from layers import BF16, close, gradients, tensor  # noqa: E402

import gantry  # noqa: E402
import gantry.torch  # noqa: E402
from gantry._quantize import BLOCKS, ROWS  # noqa: E402
from gantry.torch._scaled import _spread  # noqa: E402

CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
DEVICES = ["cpu", pytest.param("cuda", marks=CUDA)]


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


@pytest.mark.parametrize("block", [ROWS, BLOCKS], ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (7, 128), (130, 300), (2, 129, 257), (0, 128), (4, 0)], ids=str)
def test_elements_and_factors_are_those_of_numpy(shape, block):
    x = torch.randn(shape) * torch.exp2(torch.randint(-12, 4, shape))
    values, scales = gantry.torch.quantize(x, block)
    expected, factors = gantry.quantize(x.numpy(), block)
    assert (values.float().numpy() == expected.astype(np.float32)).all() and (scales.numpy() == factors).all()
    assert (gantry.torch.dequantize(values, scales).numpy() == gantry.dequantize(expected, factors)).all()


def bound(x, w):
    """Of the rounding of both operands: 2^-4 of an element, or 2^-10 of its block's factor."""
    parts = []
    for t, block in ((x, ROWS), (w, BLOCKS)):
        scales = gantry.torch.quantize(t, block).scales.double()
        parts.append(torch.maximum(t.double().abs() * 2.0**-4, _spread(scales, t.shape, block) * 2.0**-10))
    dx, dw, x, w = *parts, x.double().abs(), w.double().abs()
    sums = 128 * 2.0**-14 * (x + dx) @ (w + dw).T  # the tensor core keeps about 14 bits within a block
    return dx @ w.T + x @ dw.T + dx @ dw.T + sums


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("has_bias", [False, True])
def test_a_layer_is_off_by_the_rounding_of_its_elements(device, has_bias):
    layer = gantry.torch.Float8Linear(300, 200, bias=has_bias, device=device, dtype=BF16)
    x = tensor(2, 35, 300, device=device)
    out = layer(x).double()
    whole = copy.deepcopy(layer).double()
    expected = torch.nn.functional.linear(x.double(), whole.weight, whole.bias)
    allowed = bound(x.flatten(0, 1), layer.weight.detach()).view_as(expected) + 2.0**-8 * expected.abs()
    assert ((out - expected).abs() <= allowed).all()
    assert (out - expected).norm() <= 0.05 * expected.norm()  # and far less than that where signs are mixed
    assert (out - expected).abs().max() > 1e-4  # it did quantise


def test_gradients_are_those_of_a_layer_that_does_not_quantise():
    ours = gantry.torch.Float8Linear(300, 200, dtype=BF16)
    theirs = torch.nn.Linear(300, 200, dtype=BF16)
    theirs.load_state_dict(ours.state_dict())
    x = tensor(2, 35, 300)
    _, (dx,) = gradients(ours, x)
    _, (expected,) = gradients(theirs, x)
    close(dx, expected.double(), 2.0**-6)
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        close(one.grad, other.grad.double(), 2.0**-6)


def test_the_operator_passes_torchs_own_checks_and_compiles():
    x, w, b = tensor(9, 300), tensor(200, 300), tensor(200)
    given = (*gantry.torch.quantize(x, ROWS), *gantry.torch.quantize(w, BLOCKS), b, BF16)
    # The check of schemas compares by arithmetic that torch has not for 8-bit floats.
    checks = ("test_autograd_registration", "test_faketensor")
    torch.library.opcheck(torch.ops.gantry.scaled_linear.default, given, test_utils=checks)
    layer = gantry.torch.Float8Linear(300, 200, dtype=BF16)
    torch._dynamo.reset()
    compiled = torch.compile(layer, fullgraph=True, dynamic=True, backend="aot_eager")
    for rows in (8, 24):
        x = tensor(rows, 300)
        out, (dx,) = gradients(compiled, x)
        expected, (other,) = gradients(layer, x)
        close(out.detach(), expected.detach().double())
        close(dx, other.double())


@pytest.mark.parametrize("rows, k, n", [(0, 64, 32), (8, 0, 32), (8, 64, 0)])
def test_empty_sizes_have_gradients_of_their_shapes(rows, k, n):
    x, w = torch.randn(rows, k, requires_grad=True), torch.randn(n, k, requires_grad=True)
    out = gantry.torch.float8_linear(x, w)
    assert out.shape == (rows, n) and (out == 0).all()
    out.sum().backward()
    assert x.grad.shape == x.shape and w.grad.shape == w.shape


def test_one_row_autocast_and_state():
    layer = gantry.torch.Float8Linear(300, 200)
    assert layer(torch.randn(300)).shape == (200,)
    with torch.autocast("cpu", dtype=BF16):
        assert layer(torch.randn(4, 300)).dtype == BF16
    torch.nn.Linear(300, 200).load_state_dict(layer.state_dict())


def test_what_has_no_meaning_is_refused_with_a_sentence():
    with pytest.raises(gantry.InvalidArgument, match="K of 300"):
        gantry.torch.Float8Linear(300, 200)(torch.ones(4, 299))
    with pytest.raises(gantry.InvalidArgument, match="quantised"):
        gantry.torch.float8_linear(torch.ones(4, 8, dtype=torch.int32), torch.ones(4, 8, dtype=torch.int32))
    with pytest.raises(gantry.InvalidArgument, match="128"):
        gantry.torch.quantize(torch.ones(4, 4), (2, 2))

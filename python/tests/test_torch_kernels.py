"""The GEMMs that operators run for CUDA tensors, run for tensors of the host on the simulated SM, against torch's own."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: gantry.torch is not tested here")

from layers import BF16, close, tensor  # noqa: E402

from gantry import _rules  # noqa: E402
from gantry._quantize import BLOCKS, ROWS  # noqa: E402
from gantry.torch import _grouped_ops as _grouped  # noqa: E402
from gantry.torch import _native, _ops, _reference, _scaled, quantize  # noqa: E402

RELU, GELU, SILU = (_rules.activation_code(name) for name in ("relu", "gelu", "silu"))


def ints(*values):
    return torch.tensor(values, dtype=torch.int32)


X, W, B, G, W2 = (3, 12, 64), (48, 64), (48,), (3, 12, 32), (32, 64)
E, EB, OFFSETS = (3, 48, 64), (3, 48), (0, 10, 10, 30)


def cases():
    mask = torch.randint(0, 256, (3, 12, 8), dtype=torch.uint8)
    x, w, b, g, w2 = (tensor(*shape, scale=0.25) for shape in (X, W, B, G, W2))
    rows, experts, bias, grad = (tensor(*shape, scale=0.25) for shape in ((36, 64), E, EB, (36, 48)))
    kept, both = tensor(*X), tensor(96, 64, scale=0.25)
    offsets, tokens = ints(*OFFSETS), tensor(20, 64, scale=0.25)
    index, scales = torch.randint(0, 20, (36,), dtype=torch.int32), torch.rand(36)
    sums = (_grouped._grouped_sum, _grouped._sum_reference)
    sum_grads = (_grouped._grouped_sum_grad, _grouped._sum_grad_reference)
    summed = tensor(20, 48, scale=0.25)  # the gradient of each token's sum
    return {
        "linear": (_ops._linear, _reference.linear, (x, w, b, GELU)),
        "linear_kept mask": (_ops._linear_kept, _reference.linear_kept, (x, w, b, RELU)),
        "linear_kept": (_ops._linear_kept, _reference.linear_kept, (x, w, None, SILU)),
        "input_grad": (_ops._input_grad, _reference.input_grad, (x, both.T.contiguous())),
        "weight_grad": (_ops._weight_grad, _reference.weight_grad, (g, x)),
        "dgrad mask": (_ops._dgrad, _reference.dgrad, (g, w2, mask, RELU)),
        "dgrad": (_ops._dgrad, _reference.dgrad, (g, w2, kept, GELU)),
        "gated halves": (_ops._gated, _reference.gated, (x, both, SILU, _rules.HALVES)),
        "gated interleaved": (_ops._gated, _reference.gated, (x, both, SILU, _rules.INTERLEAVED)),
        "gated_kept": (_ops._gated_kept, _reference.gated_kept, (x, both, GELU, _rules.INTERLEAVED)),
        "gated of 20 rows": (_ops._gated, _reference.gated, (x, both[:20], SILU, _rules.HALVES)),
        **{
            f"gated_dgrad {gate}": (_ops._gated_dgrad, _reference.gated_dgrad, (g, w2, kept, x, SILU, code))
            for gate, code in _rules.GATES.items()
        },
        "grouped": (_grouped._grouped, _grouped._reference, (rows, experts, offsets, bias, None, GELU, True)),
        **{
            f"grouped_kept {name}": (
                _grouped._grouped_kept,
                _grouped._kept_reference,
                (rows, experts, offsets, b, None, act, True),
            )
            for name, b, act in (("mask", bias, RELU), ("pre-activation", None, SILU))
        },
        **{
            f"{op} of gathered rows": (*pair, (tokens, experts, offsets, bias, index, act, True))
            for op, pair, act in (
                ("grouped", (_grouped._grouped, _grouped._reference), GELU),
                ("grouped_kept", (_grouped._grouped_kept, _grouped._kept_reference), RELU),
            )
        },
        "grouped_sum": (*sums, (rows, experts, offsets, None, None, index, None, 20)),
        "grouped_sum of gathered rows": (*sums, (tokens, experts, offsets, bias, index, index, scales, 20)),
        "grouped_sum of no rows": (*sums, (rows[:0], experts, offsets, None, None, index[:0], None, 0)),
        "grouped_sum_grad": (*sum_grads, (summed, experts, offsets, rows, None, index, scales, 36, True)),
        "grouped_sum_grad of tokens": (*sum_grads, (summed, experts, offsets, rows, index, index, scales, 20, True)),
        "grouped_sum_grad without factors": (
            *sum_grads,
            (summed, experts, offsets, None, None, index, None, 36, True),
        ),
        "grouped_input_grad": (
            _grouped._grouped_input_grad,
            _grouped._input_grad_reference,
            (grad, experts, offsets, True),
        ),
        "grouped_weight_grad": (_grouped._grouped_weight_grad, _grouped._weight_grad_reference, (grad, rows, offsets)),
        "scaled_linear": (
            _scaled._scaled_linear,
            _scaled._reference,
            (*quantize(rows, ROWS), *quantize(both, BLOCKS), tensor(96), BF16),
        ),
    }


def bits(kept, columns):
    return _reference.unpacked(kept, columns)


def native(name):
    """The kernel in C++ of a case."""
    return getattr(torch.ops.gantry_kernels, name.partition(" ")[0])


IN_PYTHON = [(name, False) for name in cases()]
IN_CPP = [(name, True) for name in cases() if _ops.is_native and name.partition(" ")[0] in _native.OPERATORS]


@pytest.mark.parametrize("name, is_native", IN_PYTHON + IN_CPP)
def test_the_gemm_of_an_operator_computes_what_torch_computes(name, is_native):
    torch.manual_seed(0)
    kernel, reference, given = cases()[name]
    got, expected = (native(name) if is_native else kernel)(*given), reference(*given)
    got, expected = (x if isinstance(x, tuple) else (x,) for x in (got, expected))
    for one, other in zip(got, expected, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape and one.is_contiguous()
        if one.dtype == torch.uint8:  # signs of what is all but zero may differ
            assert (bits(one, 48) != bits(other, 48)).float().mean() < 0.01
        else:
            close(one, other.double(), 2.0**-6)


def test_sums_of_rows_have_an_order_where_torch_is_deterministic(monkeypatch):
    torch.manual_seed(0)
    asked, gemm = [], _grouped.gemm
    monkeypatch.setattr(_grouped, "gemm", lambda *a, **given: asked.append(set(given)) or gemm(*a, **given))
    kernel, reference, given = cases()["grouped_sum of gathered rows"]
    kernel(*given)
    torch.use_deterministic_algorithms(True)
    try:
        ordered = kernel(*given)
    finally:
        torch.use_deterministic_algorithms(False)
    assert "scatter_add" in asked[0] and "scatter_ordered" in asked[1]
    close(ordered, reference(*given).double(), 2.0**-6)

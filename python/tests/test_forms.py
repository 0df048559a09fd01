"""Gated, grouped and block-scaled GEMMs of NumPy arrays on the simulated SM, against NumPy in f64."""

import doctest
from itertools import pairwise

import numpy as np
import pytest
from epilogues import BIASED, GATED, check_gated, silu
from reference import BF16, E4M3, array, close, matmul

import gantry
from gantry import _form, _rules

KEPT = _rules.gated_text("silu", keep="f32")  # which test_rules.py compiles as well


def eighths(rng, *shape):
    return (array(rng, shape, np.float64) / 8).astype(BF16)


def halves(x, gate):
    return (x[..., ::2], x[..., 1::2]) if gate == "interleaved" else np.split(x, 2, -1)


# ---- Gated


@pytest.mark.parametrize("lead", [(), (3,)], ids=["one", "batch"])
def test_a_gated_d_has_half_of_the_columns(rng, lead):
    x, w = eighths(rng, *lead, 33, 64), array(rng, (*lead, 96, 64), BF16)
    check_gated(
        gantry.gemm(x, w, epilogue=GATED, gate="interleaved", out_dtype="f32"), *halves(matmul(x, w), "interleaved")
    )
    got = gantry.gemm(x, w, epilogue=KEPT, out_dtype="f32")
    z, up = halves(matmul(x, w), "halves")
    close(got.gates, z)
    close(got.ups, up)
    assert np.abs(got.d - silu(z) * up).max() <= 1e-5 * np.abs(silu(z) * up).max()


def test_a_gated_plan_writes_where_it_is_told_and_explains_itself(rng):
    x, w, out = eighths(rng, 33, 64), array(rng, (96, 64), BF16), np.zeros((33, 64), np.float32)
    plan = gantry.plan(x, w, epilogue=KEPT, out=out[:, :48])
    assert plan(x, w, out=out[:, :48]).gates.shape == (33, 48)
    z, up = halves(matmul(x, w), "halves")
    assert np.abs(out[:, :48] - silu(z) * up).max() <= 1e-5 * np.abs(silu(z) * up).max() and (out[:, 48:] == 0).all()
    run = gantry.simulate(x, w, epilogue=KEPT, out_dtype="f32", seed=5)
    assert run.report.clean and (run.result.gates == z).all()
    assert gantry.explain(x, w, epilogue=KEPT, out_dtype="f32").text


def test_what_a_gate_cannot_be_is_refused(rng):
    x = eighths(rng, 32, 64)
    with pytest.raises(gantry.GantryError, match="16"):
        gantry.gemm(x, array(rng, (40, 64), BF16), epilogue=GATED, out_dtype="f32")
    with pytest.raises(gantry.InvalidArgument, match="'halves' or 'interleaved'"):
        gantry.gemm(x, array(rng, (96, 64), BF16), epilogue=GATED, gate="thirds")
    with pytest.raises(gantry.InvalidArgument, match=r"\(32, 48\)"):
        gantry.gemm(x, array(rng, (96, 64), BF16), epilogue=GATED, out=np.zeros((32, 96), np.float32))


# ---- Groups along M


OFFSETS = [(0, 50, 100, 150), (0, 0, 150, 150), (0, 129, 130, 150), (0, 0, 0, 0), (10, 20, 20, 31)]


@pytest.fixture
def experts(rng):
    """Small integers, whose sums f16 holds exactly."""
    return array(rng, (150, 64), np.float16), array(rng, (3, 72, 64), np.float16), array(rng, (3, 72), np.float32)


def by_group(a, b, bias, bounds, out):
    for i, (start, end) in enumerate(bounds):
        out[start:end] = matmul(a[start:end], b[i]) + bias[i]
    return out


@pytest.mark.parametrize("offsets", OFFSETS, ids=str)
def test_ragged_rows_are_multiplied_with_their_group(experts, offsets):
    a, b, bias = experts
    out = np.full((150, 72), -1, np.float16)
    got = gantry.gemm(a, b, epilogue=BIASED, bias=bias, groups=np.array(offsets, np.int32), out=out)
    assert got is out
    close(out, by_group(a, b, bias, pairwise(offsets), np.full((150, 72), -1.0)))


def test_random_offsets_use_one_plan(rng, experts):
    a, b, bias = experts
    plan = gantry.plan(a, b, epilogue=BIASED, bias=bias, groups=np.zeros(4, np.int32))
    assert repr(plan).startswith("<gantry.Plan 3 groups, 150 x 72 x 64")
    for _ in range(10):
        offsets = np.array([0, *sorted(rng.integers(0, 151, 2)), 150], np.int32)
        d = plan(a, b, bias=bias, groups=offsets)
        close(d, by_group(a, b, bias, pairwise(offsets), np.zeros((150, 72))))


def test_one_bias_is_for_all_groups(experts):
    """Of weights that are K x N, test_rows.py has groups."""
    a, b, bias = experts
    offsets = np.array([0, 50, 60, 150], np.int32)
    d = gantry.gemm(a, b, epilogue=BIASED, bias=bias[0], groups=offsets)
    close(d, by_group(a, b, bias[[0, 0, 0]], pairwise(offsets), np.zeros((150, 72))))


def test_counts_use_the_first_rows_of_each_group(experts):
    a, b, bias = experts
    out = np.full((150, 72), -1, np.float16)
    counts = np.array([3, 0, 50], np.int32)
    gantry.gemm(a, b, epilogue=BIASED, bias=bias, group_counts=counts, out=out)
    bounds = [(50 * i, 50 * i + count) for i, count in enumerate(counts)]
    close(out, by_group(a, b, bias, bounds, np.full((150, 72), -1.0)))


def test_offsets_of_other_integers_are_copied_or_refused(experts):
    a, b, bias = experts
    given = {"epilogue": BIASED, "bias": bias}
    expected = gantry.gemm(a, b, groups=np.array([0, 50, 60, 150], np.int32), **given)
    for offsets in (np.array([0, 50, 60, 150]), np.array([0, 9, 50, 9, 60, 9, 150, 9], np.int32)[::2]):
        assert (gantry.gemm(a, b, groups=offsets, **given) == expected).all()
        assert [copy.operand for copy in gantry.explain(a, b, groups=offsets, **given).copies] == ["group offsets"]
        with pytest.raises(gantry.InvalidArgument, match="group offsets"):
            gantry.gemm(a, b, groups=offsets, copy=False, **given)


def test_offsets_that_int32_does_not_hold_do_not_wrap_around(experts):
    a, b, bias = experts
    out = np.full((150, 72), -1, np.float16)
    offsets = np.array([0, 50, (1 << 32) + 60, 150])  # the second and the third group lie beyond the rows
    gantry.gemm(a, b, epilogue=BIASED, bias=bias, groups=offsets, out=out)
    close(out, by_group(a, b, bias, [(0, 50)], np.full((150, 72), -1.0)))
    with pytest.raises(gantry.InvalidArgument) as refused:
        gantry.gemm(a, b, epilogue=BIASED, bias=bias, groups=offsets, check=True)
    assert {reason.actual for reason in refused.value.reasons} == {1, 2}


@pytest.mark.parametrize("name", ["groups", "group_counts", "gather", "scatter_ordered"])
def test_what_is_no_whole_number_is_no_offset_and_no_index(experts, name):
    a, b, _ = experts
    given = {"groups": np.zeros(4, np.int32)} if name in ("gather", "scatter_ordered") else {}
    for values in (np.full(3, np.nan), np.ones(3, np.float32), np.array([True, False]), np.array(["0", "1"])):
        with pytest.raises(gantry.InvalidArgument):
            gantry.gemm(a, b, out=np.zeros((150, 72), np.float32), **{**given, name: values})


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"groups": np.zeros((2, 2), np.int32)}, "one dimension"),
        ({"groups": np.zeros(0, np.int32)}, "one dimension"),
        ({"groups": np.zeros(5, np.int32)}, "batches|shape"),
        ({"groups": np.zeros(4, np.int32), "group_counts": np.zeros(3, np.int32)}, "both"),
        ({"group_counts": np.zeros(4, np.int32)}, "150 rows for 4 groups"),
        ({"groups_along": "k"}, "needs groups="),
        ({"groups_along": "n"}, "'m' or 'k'"),
        ({"groups_along": "k", "group_counts": np.zeros(3, np.int32)}, "have offsets"),
    ],
    ids=str,
)
def test_what_groups_cannot_be_is_refused(experts, change, sentence):
    a, b, _ = experts
    with pytest.raises(gantry.InvalidArgument, match=sentence):
        gantry.gemm(a, b, **change)


# ---- What groups are expected to be


def test_expected_rows_decide_nothing_but_the_kernel(experts):
    a, b, bias = experts
    given = {"epilogue": BIASED, "bias": bias, "groups": np.array([0, 50, 60, 150], np.int32)}
    expected = gantry.gemm(a, b, **given)
    for rows in ([50, 10, 90], np.array([0, 200]), range(3)):
        assert (gantry.gemm(a, b, expected_rows=rows, **given) == expected).all()
    text = gantry.explain(a, b, expected_rows=[0, 0, 100], **given).text
    assert "of 0 to 100 rows" in text
    assert "rows" not in gantry.explain(a, b, **given).text.splitlines()[0]
    x = a.astype(BF16)
    along_k = {"groups": given["groups"], "groups_along": "k", "trans_b": False, "out_dtype": "f32"}
    assert "of 7 to 90 of K" in gantry.explain(x.T, x, expected_rows=(90, 7), **along_k).text


@pytest.mark.parametrize(
    "rows, rule, nearest",
    [
        ([8, -3], "expected_rows", 0),
        ([8, 1 << 40], "expected_rows", 2147483392),
        ([1 << 63], "expected_rows", 0),
        ([8, float("nan")], "expected_rows", 0),
        (["8"], "expected_rows", 0),
        ("8,500", "expected_rows", 0),
        (8, "expected_rows", 0),
        ([[8]], "expected_rows", 0),
        (np.array(8), "expected_rows", 0),
        (np.array([8.0]), "expected_rows", 0),
    ],
    ids=str,
)
def test_rows_that_no_group_has_are_refused(experts, rows, rule, nearest):
    a, b, _ = experts
    with pytest.raises(gantry.InvalidArgument) as refused:
        gantry.gemm(a, b, groups=np.zeros(4, np.int32), expected_rows=rows)
    assert (refused.value.rule, refused.value.nearest) == (rule, nearest)


def test_rows_are_expected_of_groups_alone(experts):
    a, b, _ = experts
    with pytest.raises(gantry.InvalidArgument) as refused:
        gantry.gemm(a, b[0], expected_rows=[8])
    assert refused.value.rule == "rows_of_others"


# ---- Groups along K


@pytest.mark.parametrize("offsets", [(0, 64, 64, 150), (0, 1, 149, 150), (5, 5, 5, 5)], ids=str)
def test_each_group_along_k_has_a_d(rng, offsets):
    g, x = array(rng, (150, 48), BF16), array(rng, (150, 40), BF16)
    groups = np.array(offsets, np.int32)
    d = gantry.gemm(g.T, x, trans_b=False, groups=groups, groups_along="k", out_dtype="f32")
    assert d.shape == (3, 48, 40)
    close(d, np.stack([matmul(g[start:end].T, x[start:end], trans_b=False) for start, end in pairwise(offsets)]))


def test_an_operand_that_is_contiguous_along_k_is_copied_for_groups_along_k(rng):
    g, x = array(rng, (150, 48), BF16), array(rng, (150, 40), BF16)
    groups = np.array([0, 64, 64, 150], np.int32)
    given = {"trans_b": False, "groups": groups, "groups_along": "k", "out_dtype": "f32"}
    other = np.ascontiguousarray(g.T)
    assert (gantry.gemm(other, x, **given) == gantry.gemm(g.T, x, **given)).all()
    (copy,) = gantry.explain(other, x, **given).copies
    assert copy.operand == "A" and "groups along K" in copy.why


# ---- Scales of blocks


def spread(scales, shape):
    """Factors of 128 x 128 or 1 x 128, one for each element."""
    rows = np.repeat(scales, 128, -2) if scales.shape[-2] != shape[-2] else scales
    return np.repeat(rows, 128, -1)[..., : shape[-2], : shape[-1]].astype(np.float64)


@pytest.mark.parametrize("lead", [(), (2,)], ids=["one", "batch"])
def test_factors_of_blocks_scale_their_elements(rng, lead):
    a, b = array(rng, (*lead, 70, 300), E4M3), array(rng, (*lead, 200, 300), E4M3)
    scale_a = rng.random((*lead, 3, 70), np.float32).swapaxes(-1, -2)  # as DeepGEMM has them: rows contiguous
    scale_b = rng.random((*lead, 2, 3), np.float32)
    d = gantry.gemm(a, b, block_scales=(scale_a, scale_b), out_dtype="f32")
    expected = matmul(a.astype(float) * spread(scale_a, a.shape), b.astype(float) * spread(scale_b, b.shape))
    assert d.shape == (*lead, 70, 200)
    assert np.abs(d - expected).max() <= 1e-6 * np.abs(expected).max()


def test_what_factors_cannot_be_is_refused(rng):
    a, b = array(rng, (70, 300), E4M3), array(rng, (200, 300), E4M3)
    right = np.ones((70, 3), np.float32), np.ones((2, 3), np.float32)
    for pair, sentence in (
        ((right[0][:, :2], right[1]), r"scales of A have the shape \(70, 2\).*\(70, 3\).*\(1, 3\)"),
        ((right[0], right[1].astype(np.float64)), "f32 is needed"),
        ((right[0], right[1][None, None]), "batches"),
        ((right[0], right[1][:, ::-1]), "strides"),
        (right[0], "a pair"),
    ):
        with pytest.raises(gantry.InvalidArgument, match=sentence):
            gantry.gemm(a, b, block_scales=pair)
    with pytest.raises(gantry.GantryError):
        gantry.gemm(array(rng, (70, 300), BF16), array(rng, (200, 300), BF16), block_scales=right)


def test_examples_hold():
    ran = doctest.testmod(_form)
    assert ran.attempted > 0 and ran.failed == 0

"""Rows by an index, gathered from A and scattered to D, with and without groups; and groups that a run checks."""

from itertools import pairwise

import numpy as np
import pytest
from reference import BF16, E4M3, array, close, matmul

import gantry
from gantry import _rules

WEIGHTED = _rules.sum_text(False, True)  # as the guide has it
OFFSETS = np.array([0, 33, 33, 50, 64], np.int32)  # the second group is empty, and rows 64 to 69 have none


def index(rng, count, rows):
    """Rows in any order, some twice, and some that are not there: below 0, and beyond the last."""
    out = rng.integers(0, rows, count).astype(np.int32)
    out[::7], out[3::11] = -1, rows
    return out


def gathered(a, of):
    """Rows of zeros where there is none."""
    there = (of >= 0) & (of < len(a))
    return np.where(there[:, None], a[np.where(there, of, 0)].astype(np.float64), 0)


def grouped(x, b, offsets):
    out = np.zeros((len(x), b.shape[-2]))
    for i, (start, end) in enumerate(pairwise(offsets)):
        out[start:end] = matmul(x[start:end], b[i])
    return out


def test_groups_gather_rows_and_add_them_to_others(rng):
    a, b = array(rng, (40, 64), np.float16), array(rng, (4, 48, 64), np.float16)
    scales = array(rng, 70, np.float32)
    gather, add = index(rng, 70, 40), index(rng, 70, 25)
    before = array(rng, (25, 48), np.float32)
    expected = before.astype(np.float64)
    rows = scales[:, None] * grouped(gathered(a, gather), b, OFFSETS)
    for i in range(OFFSETS[-1]):
        if 0 <= add[i] < 25:
            expected[add[i]] += rows[i]
    given = {"groups": OFFSETS, "gather": gather, "scatter_add": add, "scales": scales, "epilogue": WEIGHTED}
    out = before.copy()
    assert gantry.gemm(a, b, out=out, **given) is out
    close(out, expected)  # sums of small integers are exact in any order
    plan = gantry.plan(a, b, out=out, **given)
    out[...] = before
    arrays = {name: x for name, x in given.items() if name != "epilogue"}
    close(plan(a, b, out=out, **arrays), expected)
    out[...] = before
    run = gantry.simulate(a, b, out=out, seed=5, **given)
    assert run.report.clean
    close(out, expected)
    # A checked run names rows that are not there; -1 is padding.
    with pytest.raises(gantry.InvalidArgument, match="row 3 of the GEMM is row 40 of A, which has 40 rows"):
        gantry.gemm(a, b, out=out, check=True, **given)
    padded = {"gather": np.where(gather == 40, -1, gather), "scatter_add": np.where(add == 25, -1, add)}
    out[...] = before
    close(gantry.gemm(a, b, out=out, check=True, **given | padded), expected)
    # An out that the hardware cannot take is copied, with the rows that nobody names.
    wide = np.zeros((25, 96), np.float32)
    wide[:, ::2] = before
    close(gantry.gemm(a, b, out=wide[:, ::2], **given), expected)


def test_rows_that_are_added_in_order_have_the_same_bits_on_every_run(rng):
    a = rng.standard_normal((40, 64)).astype(np.float16)
    b = rng.standard_normal((4, 48, 64)).astype(np.float16)
    scales, before = rng.standard_normal(70, np.float32), rng.standard_normal((9, 48), np.float32)
    gather, to = index(rng, 70, 40), index(rng, 70, 9)  # eight rows to each: their sums depend on the order
    given = {"groups": OFFSETS, "gather": gather, "scatter_ordered": to, "scales": scales, "epilogue": WEIGHTED}
    results = []
    for seed in range(3):
        out = before.copy()
        assert gantry.simulate(a, b, out=out, seed=seed, **given).report.clean
        results.append(out)
    assert all((out == results[0]).all() for out in results)
    expected = before.astype(np.float64)
    rows = scales[:, None] * grouped(gathered(a, gather), b, OFFSETS)
    for i in range(OFFSETS[-1]):
        if 0 <= to[i] < 9:
            expected[to[i]] += rows[i]
    assert np.abs(results[0] - expected).max() <= 1e-5 * np.abs(expected).max()
    text = gantry.explain(a, b, out=before.copy(), **given).text
    assert "slot" in text


def test_the_gradient_of_what_groups_add_is_gathered(rng):
    """Of sums over rows, times factors: dx of each row, and the gradient of the factors, as differences give them."""
    x, b = array(rng, (70, 64), BF16), array(rng, (4, 48, 64), BF16)
    scales, g, add = array(rng, 70, np.float32), array(rng, (25, 48), BF16), index(rng, 70, 25)
    given = {"groups": OFFSETS, "gather": add, "scales": scales, "x": x, "epilogue": _rules.sum_grad_text(True, True)}
    out, dscales = np.zeros((70, 64), np.float32), np.zeros(70, np.float32)
    gantry.gemm(g, b, trans_b=False, out=out, dscales=dscales, **given)
    there = (add >= 0) & (add < 25) & (np.arange(70) < OFFSETS[-1])

    def loss(x, scales):
        rows = scales[:, None] * grouped(x.astype(np.float64), b, OFFSETS)
        return (rows * gathered(g, add)).sum()

    def slope(row, column):
        """The loss is linear in each argument: differences of 1 are exact."""
        step = np.zeros((70, 64 + 1))
        step[row, column] = 1
        more = loss(x + step[:, :64], scales + step[:, 64])
        return more - loss(x.astype(np.float64), scales.astype(np.float64))

    for row in rng.permutation(70)[:12]:
        assert dscales[row] == slope(row, 64) and out[row, row % 64] == slope(row, row % 64)
    assert (out[~there] == 0).all() and (dscales[~there] == 0).all() and there.any()


def test_wrong_groups_are_refused_by_their_numbers_where_a_run_checks(rng):
    a, b = array(rng, (40, 64), np.float16), array(rng, (4, 48, 64), np.float16)
    out, wrong = np.zeros((25, 48), np.float32), np.array([0, 33, 40, 50, 99], np.int32)  # 70 rows
    given = {"gather": index(rng, 70, 40), "scatter_add": index(rng, 70, 25), "scales": np.ones(70, np.float32)}
    with pytest.raises(gantry.InvalidArgument) as refused:
        gantry.gemm(a, b, out=out, groups=wrong, epilogue=WEIGHTED, check=True, **given)
    assert {reason.actual for reason in refused.value.reasons} == {3} and (out == 0).all()


def test_rows_are_gathered_and_stored_without_groups(rng):
    a, b = array(rng, (2, 40, 64), BF16), array(rng, (48, 64), BF16)
    gather = np.stack([index(rng, 32, 40), index(rng, 32, 40)])
    scatter = np.stack([rng.permutation(50)[:32], rng.permutation(50)[:32]]).astype(np.int32)
    scatter[:, 5] = -1
    out = array(rng, (2, 50, 48), np.float32)
    expected = out.astype(np.float64)
    for i in range(2):
        rows, there = matmul(gathered(a[i], gather[i]), b), scatter[i] >= 0
        expected[i, scatter[i][there]] = rows[there]
    before = out.copy()
    close(gantry.gemm(a, b, out=out, gather=gather, scatter=scatter), expected)
    out[...] = before
    wide = gather.astype(np.int64)  # int32 is needed: copied, and said
    close(gantry.gemm(a, b, out=out, gather=wide, scatter=scatter), expected)
    assert [copy.operand for copy in gantry.explain(a, b, out=out, gather=wide, scatter=scatter).copies] == [
        "gather index"
    ]


def test_what_an_index_cannot_be_is_refused(rng):
    a, b, out = array(rng, (40, 64), BF16), array(rng, (48, 64), BF16), np.zeros((50, 48), np.float32)
    one = np.zeros(32, np.int32)
    for given, operand in (
        ({"scatter": one}, "D"),
        ({"gather": one, "scatter": one, "scatter_add": one, "out": out}, "scatter index"),
        ({"scatter_add": one, "scatter_ordered": one, "out": out}, "scatter_add index"),
        ({"scatter_ordered": one}, "D"),
        ({"scatter_ordered": one.astype(np.float32), "out": out, "copy": False}, "scatter_ordered index"),
        ({"gather": one, "scatter": one[:31], "out": out}, "scatter index"),
        ({"gather": np.zeros((3, 32), np.int32)}, "gather index"),
        ({"gather": np.int32(0)[()] * np.ones((), np.int32)}, "gather index"),
        ({"gather": one.astype(np.float32), "copy": False}, "gather index"),
    ):
        with pytest.raises(gantry.InvalidArgument) as refused:
            gantry.gemm(a, b, **given)
        assert refused.value.operand == operand, given


def spread(scales, rows, columns):
    down = np.repeat(scales, 128, -2) if scales.shape[-2] != rows else scales
    return np.repeat(down, 128, -1)[..., :rows, :columns].astype(np.float64)


def test_groups_of_8_bit_floats_have_factors_of_blocks(rng):
    a, b = array(rng, (70, 200), E4M3), array(rng, (4, 160, 200), E4M3)
    scale_a, scale_b = rng.random((70, 2), np.float32), rng.random((4, 2, 2), np.float32)
    d = gantry.gemm(a, b, groups=OFFSETS, block_scales=(scale_a, scale_b), out_dtype="f32")
    x, y = a.astype(float) * spread(scale_a, 70, 200), b.astype(float) * spread(scale_b, 160, 200)
    expected = grouped(x, y, OFFSETS)[:64]
    assert np.abs(d[:64] - expected).max() <= 1e-6 * np.abs(expected).max()

"""Results on the simulated SM against NumPy in f64: shapes, elements, strides, epilogues, batches, copies."""

import numpy as np
import pytest
from epilogues import BIAS_AND_SCALAR, BIAS_GELU, BIASED, EVERYTHING, check_everything
from reference import BF16, E4M3, E5M2, array, close, gelu, matmul, unsigned
from strides import LAYOUTS, SEEN_THROUGH, laid_out

import gantry

SIZES = [(16, 8, 16), (100, 72, 40), (1, 8, 8), (130, 64, 200), (64, 136, 72)]


@pytest.mark.parametrize("m, n, k", SIZES)
def test_f16_is_numpys_product(rng, m, n, k):
    a, b = array(rng, (m, k), np.float16), array(rng, (n, k), np.float16)
    d = gantry.gemm(a, b)
    assert type(d) is np.ndarray and d.dtype == np.float16 and d.flags.c_contiguous
    close(d, matmul(a, b))


@pytest.mark.parametrize(
    "dtype_a, dtype_b, dtype_d",
    [(BF16, BF16, BF16), (E4M3, E5M2, BF16)],
    ids=["bf16", "e4m3 and e5m2"],
)
def test_other_elements_come_with_their_usual_result(rng, dtype_a, dtype_b, dtype_d):
    a, b = array(rng, (48, 64), dtype_a), array(rng, (32, 64), dtype_b)
    d = gantry.gemm(a, b)
    assert d.dtype == dtype_d
    close(d, matmul(a, b))


def test_unsigned_bytes_multiply_with_signed_ones(rng):
    a, b = unsigned(rng, (48, 64)), array(rng, (32, 64), np.int8)
    d = gantry.gemm(a, b)
    assert d.dtype == np.int32
    close(d, matmul(a, b))


def test_f32_is_multiplied_as_tf32_where_that_is_asked(rng):
    a, b = array(rng, (40, 32), np.float32), array(rng, (24, 32), np.float32)
    d = gantry.gemm(a, b, dtype="tf32")
    assert d.dtype == np.float32
    close(d, matmul(a, b))
    with pytest.raises(gantry.GantryError, match="tf32"):
        gantry.gemm(a, b)


def test_raw_bits_are_read_as_the_element_that_dtype_names(rng):
    a, b = array(rng, (48, 64), BF16), array(rng, (32, 64), BF16)
    raw = gantry.gemm(a.view(np.uint16), b.view(np.uint16), dtype="bf16")
    assert raw.dtype == np.uint16  # as A is
    close(raw.view(BF16), matmul(a, b))
    a, b = array(rng, (48, 64), E4M3), array(rng, (32, 64), E5M2)
    raw = gantry.gemm(a.view(np.uint8), b.view(np.uint8), dtype=("e4m3", "e5m2"))
    close(raw.view(BF16), matmul(a, b))


def test_raw_results_may_be_given_back_as_out_and_as_c(rng):
    a, b = array(rng, (48, 64), BF16), array(rng, (32, 64), BF16)
    raw = a.view(np.uint16), b.view(np.uint16)
    first = gantry.gemm(*raw, dtype="bf16")
    assert gantry.gemm(*raw, dtype="bf16", out=first) is first
    close(first.view(BF16), matmul(a, b))
    made = gantry.plan(
        *raw, dtype="bf16", c=first, x=first, epilogue="d = acc + c + load(x); pre:bf16 = acc; same = acc", same=first
    )
    assert made._gemm.elements == ("bf16",) * 4 and {info[1] for info in made._gemm.arguments} == {"bf16"}
    assert all(output.raw for output in made._outputs)  # as A is, without ml_dtypes
    bits = gantry.plan(*raw, dtype="bf16", out_dtype="u16", out=first)  # integers where they are asked for
    assert bits._gemm.elements[3] == "u16"
    # A C that is read as integers would be off by thousands.
    a, b, c = (array(rng, shape, np.float16) for shape in ((48, 64), (40, 64), (48, 40)))
    scale = array(rng, 48, np.float32)
    raw = a.view(np.uint16), b.view(np.uint16)
    got = gantry.gemm(*raw, dtype="f16", epilogue=EVERYTHING, c=c.view(np.uint16), scale=scale, alpha=0.5, beta=2)
    close(got.pre, 0.5 * matmul(a, b) + 2 * c.astype(float) + scale[:, None].astype(float))


def test_out_dtype_chooses_the_element_of_d(rng):
    a, b, bias = array(rng, (16, 32), np.float16), array(rng, (8, 32), np.float16), array(rng, 8, np.float32)
    d = gantry.gemm(a, b, epilogue=BIAS_AND_SCALAR, bias=bias, s=0, out_dtype=np.float32)
    assert d.dtype == np.float32
    close(d, matmul(a, b) + bias)


# ---- Strides


@pytest.mark.parametrize("how_b", LAYOUTS)
@pytest.mark.parametrize("how_a", LAYOUTS)
def test_any_strides_give_the_same_result(rng, how_a, how_b):
    a, b = laid_out(rng, 24, 48, how_a), laid_out(rng, 16, 48, how_b)
    close(gantry.gemm(a, b), matmul(a, b))
    close(gantry.gemm(a, b.T, trans_b=False), matmul(a, b))


@pytest.mark.parametrize("how", LAYOUTS)
def test_only_what_the_library_refuses_is_copied(rng, how):
    a, b = laid_out(rng, 64, 48, how), laid_out(rng, 40, 48, "rows")
    copies = [copy.operand for copy in gantry.explain(a, b).copies]
    assert copies == ([] if how in SEEN_THROUGH else ["A"])
    if copies:
        with pytest.raises(gantry.GantryError) as refused:
            gantry.gemm(a, b, copy=False)
        assert refused.value.operand == "A"
    else:
        close(gantry.gemm(a, b, copy=False), matmul(a, b))


def test_columns_of_bytes_are_copied_because_wgmma_takes_none(rng):
    a, b = unsigned(rng, (64, 48)).T, array(rng, (32, 64), np.int8)
    close(gantry.gemm(a, b), matmul(a, b))
    assert [c.operand for c in gantry.explain(a, b).copies] == ["A"]


@pytest.mark.parametrize("how", ["rows", "columns", "wide rows", "every second", "misaligned"])
def test_out_may_lie_in_any_way(rng, how):
    a, b = array(rng, (64, 48), BF16), array(rng, (40, 48), BF16)
    out = laid_out(rng, 64, 40, how)
    base = out if out.base is None else out.base
    before = base.copy()
    assert gantry.gemm(a, b, out=out) is out
    close(out, matmul(a, b))
    out[...] = laid_out(rng, 64, 40, "rows") * 0
    mask = np.ones(base.shape, bool)
    np.lib.stride_tricks.as_strided(
        mask.reshape(-1)[(out.ctypes.data - base.ctypes.data) // 2 :], out.shape, [s // 2 for s in out.strides]
    )[...] = False
    assert (base[mask] == before[mask]).all()  # what lies beside `out` is as it was


# ---- Epilogues


def test_a_bias_and_an_activation_are_fused(rng):
    a, b, bias = array(rng, (48, 64), np.float16), array(rng, (32, 64), np.float16), array(rng, 32, np.float32)
    d = gantry.gemm(a, b, epilogue=BIAS_GELU, bias=bias)
    close(d, gelu(matmul(a, b) + bias), relative=2.0**-18)


def test_elements_that_the_text_leaves_open_are_the_arrays(rng):
    """test_auxiliary_tensors_lie_as_the_text_says computes with an f16 array."""
    a, b, bias = array(rng, (48, 64), np.float16), array(rng, (32, 64), np.float16), array(rng, 32, BF16)
    assert [info[:2] for info in gantry.plan(a, b, epilogue=BIASED, bias=bias)._gemm.arguments] == [("bias", "bf16")]
    with pytest.raises(gantry.InvalidArgument, match="bias has elements of bf16, and the epilogue says f32"):
        gantry.gemm(a, b, epilogue="d = acc + row(bias:f32)", bias=bias)


@pytest.mark.parametrize("batch", [(), (3,)], ids=["one", "batched"])
def test_every_kind_of_argument_goes_in_and_comes_out(rng, batch):
    m, n, k = 48, 40, 64
    a, b = array(rng, (*batch, m, k), np.float16), array(rng, (*batch, n, k), np.float16)
    c = array(rng, (*batch, m, n), np.float16)
    scale = array(rng, (*batch, m), np.float32)
    got = gantry.gemm(a, b, epilogue=EVERYTHING, c=c, scale=scale, alpha=0.5, beta=2)
    check_everything(got, 0.5 * matmul(a, b) + 2 * c.astype(float) + scale[..., None].astype(float))


def test_scales_of_blocks_come_out_beside_an_8_bit_d(rng):
    a, b = array(rng, (48, 64), np.float16), array(rng, (160, 64), np.float16)
    text = "scales = block_scale(acc:s8, 128); d = quantize(acc, rcp(scales)); tops = across_amax(acc)"
    got = gantry.gemm(a, b, epilogue=text, out_dtype="s8")
    x = matmul(a, b)
    assert got.d.dtype == np.int8 and got.scales.shape == (48, 2) and got.tops.shape == (48, 1)
    blocks = np.stack([np.abs(x[:, :128]).max(1), np.abs(x[:, 128:]).max(1)], 1)
    close(got.scales, blocks / 127)
    close(got.tops[:, 0], np.abs(x).max(1))
    scale = np.repeat(got.scales, 128, 1)[:, :160]
    assert (np.abs(got.d * scale - x) <= scale * 0.5001 + 1e-6).all()


def test_partial_results_are_a_matrix_of_blocks(rng):
    a, b = array(rng, (70, 64), np.float16), array(rng, (160, 64), np.float16)
    text = "d = acc; tops = reduce_col_max(acc, 128); sums col = reduce_col_sumexp(acc, 128); "
    text += "rows = reduce_row_add(acc, 64)"
    got = gantry.gemm(a, b, epilogue=text)
    x = matmul(a, b)
    assert got.tops.shape == got.sums.shape == (70, 2) and got.rows.shape == (2, 160)
    tops = np.stack([x[:, :128].max(1), x[:, 128:].max(1)], 1)
    close(got.tops, tops)
    sums = [np.exp(x[:, :128] - tops[:, :1]).sum(1), np.exp(x[:, 128:] - tops[:, 1:]).sum(1)]
    close(got.sums, np.stack(sums, 1), 1e-5)
    close(got.rows, np.stack([x[:64].sum(0), x[64:].sum(0)]))


#: Tensors beside D, one of them optional, and a function of one's own: one kernel for the three tests that follow.
BESIDE = {
    "epilogue": "d = third(acc, 1) + load(x); tall:f16 col = acc; pre optional = acc",
    "functions": {"third": ("x, y", "return 3 * x + y;")},
}


def test_auxiliary_tensors_lie_as_the_text_says(rng):
    a, b = array(rng, (48, 64), np.float16), array(rng, (32, 64), np.float16)
    wide = array(rng, (48, 40), np.float16)[:, :32]
    got = gantry.gemm(a, b, x=wide, **BESIDE)
    close(got.d, 3 * matmul(a, b) + 1 + wide.astype(float))
    close(got.tall, matmul(a, b))
    assert got.tall.T.flags.c_contiguous


def test_an_optional_output_is_written_where_it_is_asked_for(rng):
    a, b = array(rng, (48, 64), np.float16), array(rng, (32, 64), np.float16)
    given = {**BESIDE, "x": np.zeros((48, 32), np.float16)}
    assert gantry.gemm(a, b, **given)._fields == ("d", "tall")
    close(gantry.gemm(a, b, pre=True, **given).pre, matmul(a, b))
    own = np.empty((48, 32), np.float32)
    assert gantry.gemm(a, b, pre=own, **given).pre is own
    close(own, matmul(a, b))


def test_arguments_with_strides_are_seen_through_or_copied(rng):
    a, b = array(rng, (48, 64), np.float16), array(rng, (32, 64), np.float16)
    bias = array(rng, (32, 3), np.float32)[:, 1]
    text = BIAS_AND_SCALAR
    d = gantry.gemm(a, b, epilogue=text, bias=bias, s=np.float32(2), out_dtype="f32")
    close(d, matmul(a, b) + bias + 2)
    s = np.array(3, np.float32)
    close(gantry.gemm(a, b, epilogue=text, bias=bias, s=s, out_dtype="f32"), matmul(a, b) + bias + 3)
    assert "bias is copied" in str(gantry.explain(a, b, epilogue=text, bias=bias, s=s, out_dtype="f32"))


def test_a_function_of_ones_own_is_part_of_the_kernel(rng):
    a, b = array(rng, (48, 64), np.float16), array(rng, (32, 64), np.float16)
    close(gantry.gemm(a, b, x=np.zeros((48, 32), np.float16), **BESIDE).d, 3 * matmul(a, b) + 1)


# ---- Batches


@pytest.mark.parametrize(
    "lead_a, lead_b",
    [
        ((3,), (3,)),
        ((3,), ()),
        ((), (3,)),
        ((1,), (3,)),
        ((2, 3), (2, 3)),
        ((2, 3), (3,)),
        ((2, 1), (1, 3)),
        ((0,), (0,)),
    ],
    ids=str,
)
def test_batches_broadcast_as_numpys_do(rng, lead_a, lead_b):
    a, b = array(rng, (*lead_a, 16, 32), np.float16), array(rng, (*lead_b, 24, 32), np.float16)
    close(gantry.gemm(a, b), matmul(a, b))


def test_batches_of_strided_memory_are_seen_through(rng):
    a = array(rng, (16, 4, 32), BF16).transpose(1, 0, 2)
    b = array(rng, (4, 32, 24), BF16)
    close(gantry.gemm(a, b, trans_b=False, copy=False), matmul(a, b, trans_b=False))


def test_vectors_may_differ_for_each_batch(rng):
    a, b = array(rng, (3, 48, 64), np.float16), array(rng, (32, 64), np.float16)
    bias = array(rng, (3, 32), np.float32)
    close(gantry.gemm(a, b, epilogue=BIASED, bias=bias), matmul(a, b) + bias[:, None].astype(float))
    shared = array(rng, 32, np.float32)
    close(gantry.gemm(a, b, epilogue=BIASED, bias=shared), matmul(a, b) + shared.astype(float))


@pytest.mark.parametrize("m, n, k", [(0, 16, 32), (16, 0, 32), (16, 8, 0)])
def test_empty_matrices_give_what_numpy_gives(rng, m, n, k):
    a, b = array(rng, (m, k), np.float16), array(rng, (n, k), np.float16)
    close(gantry.gemm(a, b), matmul(a, b))


def test_random_calls_agree_with_numpy(rng):
    """Sizes, layouts, batches and outputs drawn at random, over kernels that the tests above compiled."""
    a, b, bias = array(rng, (32, 64), BF16), array(rng, (16, 64), BF16), array(rng, 16, np.float32)
    gantry.gemm(a, b, epilogue=BIASED, bias=bias)  # the first size chooses the kernel for all
    for _ in range(60):
        m, n, k = (int(x) for x in rng.integers(1, 14, 3) * [7, 8, 8])
        fused = rng.random() < 0.5
        # Each pair of majors is a kernel of its own; the plain product has all four.
        how_a, how_b = rng.choice([x for x in LAYOUTS if not (fused and x == "columns")], 2)
        a, b = laid_out(rng, m, k, how_a), laid_out(rng, n, k, how_b)
        if not fused:
            close(gantry.gemm(a, b), matmul(a, b))
        else:
            bias = array(rng, n, np.float32)
            close(gantry.gemm(a, b, epilogue=BIASED, bias=bias), matmul(a, b) + bias)

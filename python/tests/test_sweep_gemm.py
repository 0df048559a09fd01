"""The long form: elements, layouts and epilogues in more combinations, each a kernel of its own, against NumPy in f64."""

import os
from itertools import pairwise

import numpy as np
import pytest
from epilogues import BIAS_GELU, BIASED, GATED, check_gated
from reference import BF16, array, close, gelu, matmul, unsigned
from strides import LAYOUTS, laid_out

import gantry

CALLS = 2000 if os.environ.get("GANTRY_LONG_TESTS") else 200
VECTORS = [np.float16, BF16, np.float32]


def bytes_of(rng, shape, dtype):
    return unsigned(rng, shape) if dtype is np.uint8 else array(rng, shape, dtype)


# ---- Elements


@pytest.mark.parametrize("dtype_b", [np.int8, np.uint8])
@pytest.mark.parametrize("dtype_a", [np.int8, np.uint8])
def test_bytes_of_either_sign_are_either_operand(rng, dtype_a, dtype_b):
    a, b = bytes_of(rng, (48, 64), dtype_a), bytes_of(rng, (32, 64), dtype_b)
    d = gantry.gemm(a, b)
    assert d.dtype == np.int32
    close(d, matmul(a, b))
    columns = bytes_of(rng, (64, 48), dtype_a).T  # copied, as wgmma takes bytes along K alone
    close(gantry.gemm(columns, b), matmul(columns, b))


def test_out_dtype_chooses_the_element_of_d_without_an_epilogue(rng):
    a, b = array(rng, (16, 32), np.float16), array(rng, (8, 32), np.float16)
    d = gantry.gemm(a, b, out_dtype=np.float32)
    assert d.dtype == np.float32
    close(d, matmul(a, b))


@pytest.mark.parametrize("dtype", [np.float16, BF16])
@pytest.mark.parametrize("vector", VECTORS)
def test_vectors_have_elements_of_their_own(rng, vector, dtype):
    a, b, bias = array(rng, (48, 64), dtype), array(rng, (32, 64), dtype), array(rng, 32, vector)
    close(gantry.gemm(a, b, epilogue=BIASED, bias=bias), matmul(a, b) + bias.astype(float))
    a, bias = array(rng, (3, 48, 64), dtype), array(rng, (3, 32), vector)
    close(gantry.gemm(a, b, epilogue=BIASED, bias=bias), matmul(a, b) + bias[:, None].astype(float))
    close(gantry.gemm(a, b, epilogue=BIASED, bias=bias[0]), matmul(a, b) + bias[0].astype(float))


# ---- Strides


@pytest.mark.parametrize("how_b", LAYOUTS)
@pytest.mark.parametrize("how_a", LAYOUTS)
def test_any_strides_of_f16_give_the_same_result(rng, how_a, how_b):
    a, b = laid_out(rng, 64, 48, how_a, np.float16), laid_out(rng, 40, 48, how_b, np.float16)
    close(gantry.gemm(a, b), matmul(a, b))
    close(gantry.gemm(a, b.T, trans_b=False), matmul(a, b))


@pytest.mark.parametrize("how", LAYOUTS[:-1])  # rows that are one in memory cannot be written
def test_an_out_of_f16_may_lie_in_any_way(rng, how):
    a, b = array(rng, (64, 48), np.float16), array(rng, (40, 48), np.float16)
    out = laid_out(rng, 64, 40, how, np.float16)
    assert gantry.gemm(a, b, out=out) is out
    close(out, matmul(a, b))


def test_batches_of_f16_in_strided_memory_are_seen_through(rng):
    a = array(rng, (16, 4, 32), np.float16).transpose(1, 0, 2)
    b = array(rng, (4, 32, 24), np.float16)
    close(gantry.gemm(a, b, trans_b=False, copy=False), matmul(a, b, trans_b=False))


def test_random_calls_of_fused_kernels_agree_with_numpy(rng):
    """Sizes and layouts drawn at random, up to some tiles each way, with kernels for every pair of majors."""
    for _ in range(CALLS):
        m, n, k = (int(x) for x in rng.integers(1, 20, 3) * [7, 8, 8])
        dtype = [np.float16, BF16][rng.integers(2)]
        a, b = (laid_out(rng, rows, k, how, dtype) for rows, how in zip((m, n), rng.choice(LAYOUTS, 2)))
        z = matmul(a, b)
        if rng.random() < 0.5:
            close(gantry.gemm(a, b), z)
        else:
            bias = array(rng, n, np.float32)
            d = gantry.gemm(a, b, epilogue=BIAS_GELU, bias=bias)
            close(d, gelu(z + bias), relative=2.0**-18)


# ---- Epilogues


def test_tensors_beside_d_are_loaded_and_stored_by_themselves(rng):
    a, b = array(rng, (48, 64), np.float16), array(rng, (32, 64), np.float16)
    wide = array(rng, (48, 40), np.float16)[:, :32]
    got = gantry.gemm(a, b, epilogue="d = acc + load(x); tall:f16 col = acc", x=wide)
    close(got.d, matmul(a, b) + wide.astype(float))
    close(got.tall, matmul(a, b))


def test_an_optional_output_may_be_left_out(rng):
    a, b = array(rng, (48, 64), np.float16), array(rng, (32, 64), np.float16)
    text = "d = relu(acc); pre optional = acc"
    for left_out in (None, False):
        close(gantry.gemm(a, b, epilogue=text, pre=left_out), np.maximum(matmul(a, b), 0))
    close(gantry.gemm(a, b, epilogue=text, pre=True).pre, matmul(a, b))


def test_a_function_of_ones_own_is_called_by_itself(rng):
    a, b = array(rng, (48, 64), np.float16), array(rng, (32, 64), np.float16)
    d = gantry.gemm(a, b, epilogue="d = third(acc, 1)", functions={"third": ("x, y", "return 3 * x + y;")})
    close(d, 3 * matmul(a, b) + 1)


def test_options_are_computed_as_arguments_under_another_name(rng):
    a, b = array(rng, (48, 64), np.float16), array(rng, (32, 64), np.float16)
    bias = array(rng, 32, np.float32)
    d = gantry.gemm(a, b, epilogue="d = acc + row(tile)", arguments={"tile": bias})
    close(d, matmul(a, b) + bias)


# ---- Gates and groups


@pytest.mark.parametrize("gate", ["halves", "interleaved"])
@pytest.mark.parametrize("lead", [(), (3,)], ids=["one", "batch"])
def test_a_gate_of_either_order_is_reduced(rng, gate, lead):
    x = (array(rng, (*lead, 33, 64), np.float64) / 8).astype(BF16)
    w = array(rng, (*lead, 96, 64), BF16)
    got = gantry.gemm(x, w, epilogue=GATED, gate=gate, out_dtype="f32")
    z = matmul(x, w)
    check_gated(got, *((z[..., ::2], z[..., 1::2]) if gate == "interleaved" else np.split(z, 2, -1)))


@pytest.mark.parametrize("out_dtype", [None, "f32"], ids=["bf16", "f32"])
@pytest.mark.parametrize("trans_b", [True, False], ids=["N x K", "K x N"])
def test_weights_of_groups_lie_either_way(rng, trans_b, out_dtype):
    a, weights = array(rng, (150, 64), BF16), array(rng, (3, 72, 64), BF16)
    bias, offsets = array(rng, (3, 72), np.float32), np.array([0, 50, 60, 150], np.int32)
    b = weights if trans_b else np.ascontiguousarray(weights.swapaxes(1, 2))
    for of_group in (bias, bias[[0, 0, 0]]):
        given = of_group if of_group is bias else bias[0]
        d = gantry.gemm(
            a, b, trans_b=trans_b, epilogue=BIASED, bias=given, groups=offsets, out_dtype=out_dtype, copy=False
        )
        rows = [matmul(a[i:j], weights[g]) + of_group[g] for g, (i, j) in enumerate(pairwise(offsets))]
        close(d, np.concatenate(rows))


def test_counts_of_bf16_store_f32(rng):
    a, b = array(rng, (150, 64), BF16), array(rng, (3, 72, 64), BF16)
    out, counts = np.full((150, 72), -1, np.float32), np.array([3, 0, 50], np.int32)
    gantry.gemm(a, b, group_counts=counts, out=out)
    expected = np.full((150, 72), -1.0)
    for i, count in enumerate(counts):
        expected[50 * i : 50 * i + count] = matmul(a[50 * i : 50 * i + count], b[i])
    close(out, expected)

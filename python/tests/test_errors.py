"""Refusals: an exception with rule, operand, actual and nearest, and a sentence."""

import ml_dtypes
import numpy as np
import pytest
from reference import array, close, matmul

import gantry


@pytest.fixture
def a(rng):
    return array(rng, (32, 64), np.float16)


@pytest.fixture
def b(rng):
    return array(rng, (16, 64), np.float16)


def refused(*given, **named):
    with pytest.raises(gantry.GantryError) as caught:
        gantry.gemm(*given, **named)
    return caught.value


def test_an_error_has_the_reasons_as_values(a, b):
    error = refused(a, b, epilogue="d = acc", tile=(100, 64))
    assert isinstance(error, gantry.Unsupported) and isinstance(error, ValueError)
    assert error.rule == "tile_rows" and error.actual == 100 and error.nearest == 128
    assert error.reasons[0].sentence in str(error)


def test_a_wrong_name_in_the_epilogue_is_answered_with_the_nearest(a, b):
    assert "gelu" in str(refused(a, b, epilogue="d = gulu(acc)"))


def test_an_argument_that_is_missing_is_named(a, b):
    error = refused(a, b, epilogue="d = acc + row(bias)")
    assert error.operand == "bias"


def test_an_argument_that_the_epilogue_has_not_is_named(a, b):
    error = refused(a, b, epilogue="d = acc + row(bias)", bias=np.zeros(16, np.float32), bios=np.zeros(16, np.float32))
    assert "bios" in str(error) and "bias" in str(error)


@pytest.mark.parametrize("value", [None, False])
def test_a_wrong_name_is_refused_whatever_its_value(a, b, value):
    bias = np.zeros(16, np.float32)
    layer = gantry.plan(a, b, epilogue="d = acc + row(bias)", bias=bias)
    for run in (layer, lambda *x, **named: gantry.gemm(*x, epilogue="d = acc + row(bias)", **named)):
        run(a, b, bias=bias)
        with pytest.raises(gantry.InvalidArgument, match="bios.*bias"):
            run(a, b, bias=bias, bios=value)
    # A name of the epilogue may have either: its argument is left out.
    text = "d = relu(acc); pre optional = acc"
    assert gantry.plan(a, b, epilogue=text, pre=value).output_names == ("d",)


@pytest.mark.parametrize("value", [True, 2, 0.5, np.float32(2)], ids=str)
def test_a_number_of_a_wrong_name_is_refused(a, b, value):
    assert "bios" in str(refused(a, b, epilogue="d = acc + row(bias)", bias=np.zeros(16, np.float32), bios=value))


@pytest.mark.parametrize("shape", [(15,), (16, 1), (2, 16), ()], ids=str)
def test_an_argument_of_the_wrong_shape_is_refused(a, b, shape):
    error = refused(a, b, epilogue="d = acc + row(bias)", bias=np.zeros(shape, np.float32))
    assert error.rule == "shape" and error.operand == "bias" and "(16,)" in str(error)


def test_both_operands_have_one_k(a):
    error = refused(a, np.ones((16, 48), np.float16))
    assert (error.rule, error.operand, error.actual, error.nearest) == ("shape", "B", 48, 64)
    assert "trans_b=False" in str(refused(a, np.ones((64, 16), np.float16)))


def test_batches_that_do_not_broadcast_are_refused():
    error = refused(np.ones((2, 16, 16), np.float16), np.ones((3, 16, 16), np.float16))
    assert error.rule == "batch" and error.operand == "B"


def test_a_vector_is_no_matrix(b):
    error = refused(np.ones(64, np.float16), b)
    assert error.rule == "rank" and error.operand == "A" and error.nearest == 2


def test_out_of_the_wrong_shape_or_element_is_refused(a, b):
    assert refused(a, b, out=np.empty((32, 8), np.float16)).operand == "D"
    error = refused(a, b, out=np.empty((32, 16), np.float32), out_dtype="f16")
    assert error.rule == "dtype" and error.operand == "D"


def test_out_that_cannot_be_written_is_refused(a, b):
    out = np.empty((32, 16), np.float16)
    out.flags.writeable = False
    assert refused(a, b, out=out).rule == "readonly"
    writeable = np.empty((32, 16), np.float16)
    assert gantry.gemm(a, b, out=writeable) is writeable
    assert refused(a, b, out=out).rule == "readonly"  # also where the plan is there
    shared = np.broadcast_to(np.empty((1, 16), np.float16), (32, 16))
    shared.flags.writeable = True
    assert refused(a, b, out=shared).rule == "strides"


def test_out_that_overlaps_an_operand_takes_a_copy(rng, b):
    whole = array(rng, (32, 80), np.float16)
    error = refused(whole[:, :64], b, out=whole[:, 56:72], copy=False)
    assert error.operand == "D" and "A" in str(error)
    expected = matmul(whole[:, :64], b)
    close(gantry.gemm(whole[:, :64], b, out=whole[:, 56:72]), expected)


def test_overlap_is_seen_in_each_call(rng, b):
    whole, apart = array(rng, (32, 80), np.float16), np.zeros((32, 80), np.float16)
    a, inside, outside = whole[:, :64], whole[:, 56:72], apart[:, 56:72]
    made = gantry.plan(a, b, out=outside)
    for run in (gantry.gemm, made, lambda *x, out: gantry.simulate(*x, out=out).result):
        for out in (outside, inside, outside):
            expected = matmul(a, b)
            close(run(a, b, out=out), expected)
    assert [copy.operand for copy in gantry.explain(a, b, out=inside).copies] == ["D"]
    assert gantry.explain(a, b, out=outside).copies == ()


def test_c_is_given_where_the_epilogue_uses_it_and_only_there(a, b):
    c = np.zeros((32, 16), np.float16)
    assert refused(a, b, epilogue="d = acc + c").rule == "missing"
    assert refused(a, b, epilogue="d = acc", c=c).rule == "unused"


def test_elements_that_no_kernel_multiplies_are_refused_by_the_library(a):
    error = refused(a.astype(np.float64), a.astype(np.float64))
    assert isinstance(error, gantry.Unsupported) and "f64" in str(error)


def test_dtype_does_not_reinterpret_what_has_a_dtype_of_its_own(a, b):
    error = refused(a, b, dtype="bf16")
    assert error.rule == "dtype" and error.operand == "A"
    assert "bf16" in str(refused(a, b, dtype="bf17"))


def test_what_is_no_array_is_refused(b):
    error = refused(object(), b)
    assert error.rule == "array" and error.operand == "A"


def test_swapped_bytes_are_refused(a, b):
    error = refused(a, b.astype(">f2"))
    assert error.rule == "dtype" and error.operand == "B" and str(error).startswith("B")


def test_strides_inside_of_elements_are_refused_with_the_operand(a, b):
    inside = np.zeros(16 * 65, np.dtype([("x", "f4"), ("y", "u1")]))["x"][:16]
    error = refused(a, b, epilogue="d = acc + row(bias)", bias=inside)
    assert error.rule == "stride" and error.operand == "bias"


def test_a_mask_is_not_dropped_in_silence(a, b):
    error = refused(np.ma.masked_greater(a, 1), b)
    assert error.rule == "mask" and error.operand == "A" and "filled" in str(error)


def test_numbers_of_ml_dtypes_are_numbers(a, b):
    close(
        gantry.gemm(
            a,
            b,
            epilogue="d = acc + row(bias) + scalar(s)",
            bias=np.zeros(16, np.float32),
            s=ml_dtypes.bfloat16(2),
            out_dtype="f32",
        ),
        matmul(a, b) + 2,
    )


def test_a_context_of_another_machine_is_refused():
    with pytest.raises(gantry.InvalidArgument, match="'automatic', 'gpu', 'simulated'"):
        gantry.Context("cpu")
    with pytest.raises(gantry.InvalidArgument, match="'background', 'wait', 'never'"):
        gantry.Context("simulated", policy="later")


def test_no_kernel_is_compiled_where_the_policy_forbids_it(a, b, tmp_path):
    context = gantry.Context("simulated", policy="never", cache_directory=tmp_path)
    error = refused(a, b, context=context)
    assert isinstance(error, gantry.NoKernel)


def test_a_gpu_that_is_not_there_is_said_to_be_missing():
    try:
        context = gantry.Context("gpu", device=77)
    except gantry.NoDevice as error:
        assert str(error)
    else:
        pytest.fail(f"there is no GPU 77, and {context} was made")

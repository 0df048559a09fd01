"""gantry.jax on the CPU: results, jit, vmap and gradients, against NumPy in f64 and JAX's own."""

import doctest
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from epilogues import BIASED, EVERYTHING, GATED, check_everything, check_gated
from reference import BF16, E4M3, array, close, matmul, stub_and_its_functions, unsigned

jax = pytest.importorskip("jax")
jnp = jax.numpy

import gantry  # noqa: E402
import gantry.jax  # noqa: E402


def numbers(rng, *shape, dtype=BF16):
    return jnp.asarray(array(rng, shape, dtype))


def as_numpy(x):
    return np.asarray(x)


def test_a_product_is_numpys_with_and_without_jit(rng):
    a, b = numbers(rng, 32, 64), numbers(rng, 16, 64)
    for run in (gantry.jax.gemm, jax.jit(gantry.jax.gemm)):
        d = run(a, b)
        assert isinstance(d, jax.Array) and d.dtype == jnp.bfloat16
        close(as_numpy(d), matmul(as_numpy(a), as_numpy(b)))


@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("trans_b", [False, True])
def test_transposes_are_seen_through(rng, trans_a, trans_b):
    a = numbers(rng, *((64, 32) if trans_a else (32, 64)))
    b = numbers(rng, *((16, 64) if trans_b else (64, 16)))
    d = gantry.jax.gemm(a, b, trans_a=trans_a, trans_b=trans_b)
    left, right = as_numpy(a).T if trans_a else as_numpy(a), as_numpy(b)
    close(as_numpy(d), matmul(left, right, trans_b))


def test_operands_that_need_it_are_copied_by_xla(rng):
    a, b = jnp.asarray(unsigned(rng, (64, 32))), numbers(rng, 16, 64, dtype=np.int8)
    d = jax.jit(lambda a, b: gantry.jax.gemm(a, b, trans_a=True))(a, b)
    close(as_numpy(d), matmul(as_numpy(a).T, as_numpy(b)))


def test_arguments_and_outputs_go_through_the_call(rng):
    a, b, c = (numbers(rng, *shape, dtype=np.float16) for shape in ((48, 64), (40, 64), (48, 40)))
    scale = numbers(rng, 48, dtype=np.float32)
    given = {"epilogue": EVERYTHING, "alpha": 0.5, "beta": 2}
    got = jax.jit(lambda a, b, c, scale: gantry.jax.gemm(a, b, c=c, scale=scale, **given))(a, b, c, scale)
    z = 0.5 * matmul(as_numpy(a), as_numpy(b)) + 2 * as_numpy(c).astype(float) + as_numpy(scale)[:, None]
    check_everything(type(got)(*map(as_numpy, got)), z)


def test_a_gated_d_has_half_of_the_columns(rng):
    a, b = numbers(rng, 32, 64) / 8, numbers(rng, 32, 64)
    got = jax.jit(lambda a, b: gantry.jax.gemm(a, b, epilogue=GATED, gate="interleaved", out_dtype="f32"))(a, b)
    z, up = np.split(matmul(as_numpy(a), as_numpy(b)).reshape(32, 16, 2), 2, -1)
    check_gated(type(got)(*map(as_numpy, got)), z[..., 0], up[..., 0])


def test_what_the_call_does_not_take_is_refused(rng):
    a, b = numbers(rng, 32, 64), numbers(rng, 32, 64)
    for name, value in (("out", a), ("scatter_ordered", np.zeros(32, np.int32)), ("check", True)):
        with pytest.raises(gantry.InvalidArgument, match=f"has no {name}"):
            gantry.jax.gemm(a, b, **{name: value})


def test_groups_gather_rows_and_have_factors_of_blocks(rng):
    offsets, gather = np.array([0, 33, 33, 50, 64], np.int32), rng.integers(-1, 41, 70).astype(np.int32)
    a, b = numbers(rng, 40, 64), numbers(rng, 4, 48, 64)
    d = jax.jit(lambda *x: gantry.jax.gemm(*x[:2], groups=x[2], gather=x[3]))(a, b, offsets, gather)
    there = (gather >= 0) & (gather < 40)
    rows = np.where(there[:, None], as_numpy(a)[np.where(there, gather, 0)], 0)
    for i, (start, end) in enumerate(pairwise(offsets)):
        close(as_numpy(d)[start:end], matmul(rows[start:end], as_numpy(b)[i]))
    a, b = numbers(rng, 70, 200, dtype=E4M3), numbers(rng, 4, 160, 200, dtype=E4M3)
    scales = rng.random((70, 2), np.float32), rng.random((4, 2, 2), np.float32)
    given = {"groups": offsets, "out_dtype": "f32"}
    d = jax.jit(lambda a, b, *s: gantry.jax.gemm(a, b, block_scales=s, **given))(a, b, *scales)
    expected = gantry.gemm(as_numpy(a), as_numpy(b), block_scales=scales, **given)
    # Which test_rows.py compares with NumPy. A term and its scale are added by one rounding on a GPU, by two on the
    # simulated SM.
    terms = gantry.gemm(*(np.abs(as_numpy(x).astype(np.float32)).astype(E4M3) for x in (a, b)), block_scales=scales, **given)
    assert (np.abs(as_numpy(d)[:64] - expected[:64]) <= 2.0**-21 * terms[:64]).all()


def test_counts_use_the_first_rows_of_each_group(rng):
    a, b = numbers(rng, 120, 64, dtype=np.float16), numbers(rng, 4, 48, 64, dtype=np.float16)
    bias, counts = numbers(rng, 4, 48, dtype=np.float32), np.array([3, 0, 30, 17], np.int32)
    run = jax.jit(lambda a, b, counts: gantry.jax.gemm(a, b, epilogue=BIASED, bias=bias, group_counts=counts))
    for given in (counts, counts[::-1].copy()):  # read by the kernel: one program for all
        d = as_numpy(run(a, b, given))
        for i, count in enumerate(given):
            rows = slice(30 * i, 30 * i + count)
            close(d[rows], matmul(as_numpy(a)[rows], as_numpy(b)[i]) + as_numpy(bias)[i])
    with pytest.raises(gantry.InvalidArgument, match="120 rows for 7 groups"):
        run(a, b, np.zeros(7, np.int32))


SHIPPED = """
import sys
from pathlib import Path
from gantry import _context
_context.KERNELS = Path(sys.argv[1])
import jax.numpy as jnp, gantry.jax
print(float(gantry.jax.gemm(jnp.ones((32, 64), jnp.bfloat16), jnp.ones((16, 64), jnp.bfloat16))[0, 0]))
"""


def test_kernels_that_came_with_the_package_are_not_compiled_for_xla(rng, tmp_path):
    gantry.jax.gemm(numbers(rng, 32, 64), numbers(rng, 16, 64))  # compiled into the cache, as a wheel would hold it
    kernels = Path(os.environ["GANTRY_CACHE_DIR"]).resolve()
    (tmp_path / "shims").symlink_to(kernels / "shims")
    environment = {**os.environ, "GANTRY_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", SHIPPED, str(kernels)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.stdout.strip() == "64.0", ran.stderr
    assert list(tmp_path.glob("*.kernel")) == []


def test_groups_may_lie_along_k(rng):
    g, x, offsets = numbers(rng, 150, 48), numbers(rng, 150, 40), np.array([0, 64, 64, 150], np.int32)
    given = {"trans_b": False, "groups": offsets, "groups_along": "k", "out_dtype": "f32"}
    expected = gantry.gemm(as_numpy(g).T, as_numpy(x), **given)
    assert (as_numpy(gantry.jax.gemm(g, x, trans_a=True, **given)) == expected).all()
    # An A that lies along K is copied, once the right way round. What groups are expected to be is compiled in.
    known = {**given, "expected_rows": (64, 0, 86)}
    assert (as_numpy(gantry.jax.gemm(jnp.asarray(as_numpy(g).T), x, **known)) == expected).all()
    with pytest.raises(gantry.InvalidArgument, match="whole numbers are needed"):
        gantry.jax.gemm(g, x, trans_a=True, **{**given, "groups": np.array([0, np.nan, 64, 150])})
    with pytest.raises(gantry.InvalidArgument, match="0 is -1"):
        gantry.jax.gemm(g, x, trans_a=True, expected_rows=[-1], **given)


def test_groups_are_neither_mapped_nor_differentiated(rng):
    a, b, offsets = numbers(rng, 2, 32, 64), numbers(rng, 3, 16, 64), np.array([0, 8, 8, 32], np.int32)
    with pytest.raises(gantry.InvalidArgument, match="mapped over"):
        jax.vmap(lambda a: gantry.jax.gemm(a, b, groups=offsets))(a)
    with pytest.raises(gantry.InvalidArgument, match="gradient"):
        jax.grad(lambda a: gantry.jax.gemm(a, b, groups=offsets).astype(jnp.float32).sum())(a[0])


@pytest.mark.parametrize("m, n, k", [(0, 16, 64), (16, 0, 64), (16, 8, 0)])
def test_empty_arrays_give_what_numpy_gives(rng, m, n, k):
    a, b = numbers(rng, m, k), numbers(rng, n, k)
    close(as_numpy(jax.jit(gantry.jax.gemm)(a, b)), matmul(as_numpy(a), as_numpy(b)))


def test_lists_are_pairs_and_none_is_no_argument(rng):
    a, b = numbers(rng, 32, 64), numbers(rng, 16, 64)
    d = gantry.jax.gemm(a, b, tile=[0, 0], cluster=[0, 0], dtype=["bf16", "bf16"])
    close(as_numpy(d), matmul(as_numpy(a), as_numpy(b)))
    with pytest.raises(gantry.InvalidArgument, match="bios"):
        gantry.jax.gemm(a, b, bios=None)


def test_8_bit_floats_have_no_gradient_without_a_factor(rng):
    a, b = numbers(rng, 32, 64, dtype=E4M3), numbers(rng, 16, 64, dtype=E4M3)
    with pytest.raises(gantry.InvalidArgument, match="without a factor"):
        jax.vjp(gantry.jax.gemm, a, b)


def test_gradients_are_mapped_and_maps_differentiated(rng):
    a, b = numbers(rng, 3, 32, 64), numbers(rng, 16, 64)

    def loss(a, b):
        return (gantry.jax.gemm(a, b).astype(jnp.float32) ** 2).sum()

    each = jax.vmap(jax.grad(loss), (0, None))(a, b)
    whole = jax.grad(lambda a: jax.vmap(loss, (0, None))(a, b).sum())(a)
    for got in (each, whole):
        for i in range(3):
            d = 2 * matmul(as_numpy(a)[i], as_numpy(b))
            expected = d @ as_numpy(b).astype(float)
            assert np.abs(as_numpy(got)[i].astype(float) - expected).max() <= 2.0**-7 * np.abs(expected).max()


def test_a_linear_layer_of_float32_multiplies_as_tf32_where_that_is_asked(rng):
    x, w = (numbers(rng, *shape, dtype=np.float32) for shape in ((16, 32), (24, 32)))
    out = gantry.jax.linear(x, w, dtype="tf32")
    assert out.dtype == jnp.float32
    close(as_numpy(out), matmul(as_numpy(x), as_numpy(w)))
    with pytest.raises(gantry.GantryError, match="tf32"):
        gantry.jax.linear(x, w)
    dx = jax.grad(lambda x: gantry.jax.linear(x, w, dtype="tf32").sum())(x)
    close(as_numpy(dx), np.broadcast_to(as_numpy(w).astype(float).sum(0), (16, 32)))


@pytest.mark.parametrize("in_axes", [(0, 0, 0), (0, None, None), (None, 0, None), (None, None, 0), (1, 0, 0)], ids=str)
def test_vmap_is_a_batch(rng, in_axes):
    shapes = [(32, 64), (16, 64), (16,)]
    whole = [shape if axis is None else (*shape[:axis], 3, *shape[axis:]) for shape, axis in zip(shapes, in_axes)]
    a, b = numbers(rng, *whole[0]), numbers(rng, *whole[1])
    bias = numbers(rng, *whole[2], dtype=np.float32)
    run = jax.jit(
        jax.vmap(lambda a, b, bias: gantry.jax.gemm(a, b, epilogue="d = acc + row(bias)", bias=bias), in_axes)
    )
    d = run(a, b, bias)
    for i in range(3):
        x, y, z = (as_numpy(v if axis is None else jnp.take(v, i, axis)) for v, axis in zip((a, b, bias), in_axes))
        close(as_numpy(d[i]), matmul(x, y) + z)


def test_vmap_of_vmap_keeps_vectors_with_their_batches(rng):
    a, b = numbers(rng, 2, 3, 16, 64), numbers(rng, 2, 16, 64)
    bias = numbers(rng, 2, 16, dtype=np.float32)
    one = jax.vmap(lambda a, b, bias: gantry.jax.gemm(a, b, epilogue="d = acc + row(bias)", bias=bias), (0, None, None))
    d = jax.vmap(one)(a, b, bias)
    expected = matmul(as_numpy(a), as_numpy(b)[:, None]) + as_numpy(bias)[:, None, None]
    close(as_numpy(d), expected)


def test_the_gradient_of_a_product_is_jaxs(rng):
    a, b, g = numbers(rng, 32, 64), numbers(rng, 16, 64), numbers(rng, 32, 16)
    for trans_a, trans_b in ((False, True), (True, False)):
        x, y = (a.T if trans_a else a), (b if trans_b else b.T)
        _, back = jax.vjp(lambda x, y: gantry.jax.gemm(x, y, trans_a=trans_a, trans_b=trans_b), x, y)
        da, db = (as_numpy(v) for v in back(g))
        close(da.T if trans_a else da, matmul(as_numpy(g), as_numpy(b), trans_b=False))
        close(db if trans_b else db.T, matmul(as_numpy(g).T, as_numpy(a), trans_b=False))


def test_the_gradient_of_a_shared_operand_is_summed_over_batches(rng):
    a, b, g = numbers(rng, 3, 16, 64), numbers(rng, 16, 64), numbers(rng, 3, 16, 16)
    _, back = jax.vjp(gantry.jax.gemm, a, b)
    da, db = (as_numpy(v) for v in back(g))
    close(da, matmul(as_numpy(g), as_numpy(b), trans_b=False))
    assert db.shape == b.shape
    expected = sum(matmul(as_numpy(g)[i].T, as_numpy(a)[i], trans_b=False) for i in range(3))
    assert np.abs(db.astype(float) - expected).max() <= 2.0**-7 * np.abs(expected).max()


@pytest.mark.parametrize("activation, has_bias", [(None, True), ("relu", True), ("gelu", False)])
def test_a_linear_layer_has_the_gradients_of_jax_in_f64(rng, activation, has_bias):
    x, w = numbers(rng, 2, 16, 64), numbers(rng, 16, 64)
    bias = numbers(rng, 16, dtype=np.float32) if has_bias else None
    # Away from the corner of relu, and small: what is compared is the rounding to bf16.
    x = x / 8

    def ours(x, w, bias):
        return (gantry.jax.linear(x, w, bias, activation).astype(jnp.float32) ** 2).sum()

    def exact(x, w, bias):
        with jax.default_matmul_precision("highest"):
            z = x.astype(jnp.float32) @ w.astype(jnp.float32).T + (0 if bias is None else bias)
        z = z if activation is None else gantry.jax.ACTIVATIONS[activation](z)
        return (z**2).sum()

    arguments = (0, 1, 2) if has_bias else (0, 1)
    got = jax.jit(jax.grad(ours, arguments))(x, w, bias)
    expected = jax.grad(exact, arguments)(x, w, bias)
    for one, other in zip(got, expected):
        one, other = as_numpy(one).astype(float), as_numpy(other).astype(float)
        assert np.abs(one - other).max() <= 2.0**-5 * np.abs(other).max()


def test_a_gradient_that_is_not_known_is_refused(rng):
    a, b = numbers(rng, 32, 64), numbers(rng, 16, 64)
    with pytest.raises(gantry.GantryError, match="linear"):
        jax.grad(lambda a: gantry.jax.gemm(a, b, epilogue="d = relu(acc)").astype(jnp.float32).sum())(a)


def test_mistakes_are_refused_while_tracing(rng):
    a, b = numbers(rng, 32, 64), numbers(rng, 16, 48)
    with pytest.raises(gantry.InvalidArgument, match="both have one K"):
        jax.jit(gantry.jax.gemm)(a, b)
    with pytest.raises(gantry.InvalidArgument, match="relu, gelu"):
        gantry.jax.linear(a, a, activation="gulu")
    with pytest.raises(gantry.InvalidArgument, match="gantry.jax"):
        gantry.gemm(a, a)


def test_a_compiled_program_is_described_by_its_attributes_alone(rng):
    """Nothing of this process is in it: no address, no handle."""
    a, b = numbers(rng, 32, 64), numbers(rng, 16, 64)
    texts = {jax.jit(lambda a, b: gantry.jax.gemm(a, b)).lower(a, b).as_text() for _ in range(2)}
    assert len(texts) == 1 and "d = acc" in texts.pop()


def test_the_stub_has_the_signatures_of_the_functions():
    stub, functions = stub_and_its_functions("jax.pyi")
    assert stub == functions and "trans_a" in stub and "scatter" not in stub


def test_examples_hold():
    ran = doctest.testmod(gantry.jax)
    assert ran.attempted > 0 and ran.failed == 0

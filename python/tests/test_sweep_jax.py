"""The long form of gantry.jax: more elements and epilogues, each a kernel of its own."""

import numpy as np
import pytest
from reference import BF16, array, close, gelu, matmul

jax = pytest.importorskip("jax")
jnp = jax.numpy

import gantry  # noqa: E402
import gantry.jax  # noqa: E402


def numbers(rng, *shape, dtype=BF16):
    return jnp.asarray(array(rng, shape, dtype))


def exact(a, b):
    return matmul(np.asarray(a), np.asarray(b))


def test_columns_of_signed_bytes_are_copied_by_xla(rng):
    a, b = numbers(rng, 64, 32, dtype=np.int8), numbers(rng, 16, 64, dtype=np.int8)
    d = jax.jit(lambda a, b: gantry.jax.gemm(a, b, trans_a=True))(a, b)
    close(np.asarray(d), exact(a.T, b))


def test_an_activation_and_a_reduction_go_through_the_call(rng):
    a, b, bias = numbers(rng, 32, 64), numbers(rng, 16, 64), numbers(rng, 16, dtype=np.float32)
    text = "let z = alpha * acc + row(bias); d = gelu(z); pre = z; top = reduce_max(z)"
    got = jax.jit(lambda *x: gantry.jax.gemm(*x[:2], epilogue=text, bias=x[2], alpha=0.5))(a, b, bias)
    z = 0.5 * exact(a, b) + np.asarray(bias)
    close(np.asarray(got.pre), z)
    close(np.asarray(got.d), gelu(z), relative=2.0**-18)
    close(np.asarray(got.top), z.max())


@pytest.mark.parametrize("gate", ["halves", "interleaved"])
def test_a_gate_of_either_order_has_no_other_output(rng, gate):
    a, b = numbers(rng, 32, 64), numbers(rng, 32, 64)
    text = "d = relu(gate(acc)) * up(acc)"
    d = jax.jit(lambda a, b: gantry.jax.gemm(a, b, epilogue=text, gate=gate, out_dtype="f32"))(a, b)
    z = exact(a, b)
    first, second = (z[:, ::2], z[:, 1::2]) if gate == "interleaved" else np.split(z, 2, -1)
    close(np.asarray(d), np.maximum(first, 0) * second)


def test_groups_gather_rows_into_f32_and_have_counts(rng):
    a, b = numbers(rng, 40, 64), numbers(rng, 4, 48, 64)
    offsets, gather = np.array([0, 33, 33, 50, 64], np.int32), rng.integers(0, 40, 70).astype(np.int32)
    run = jax.jit(lambda *x: gantry.jax.gemm(*x[:2], groups=x[2], gather=x[3], out_dtype="f32"))
    d = np.asarray(run(a, b, offsets, gather))
    for i, (start, end) in enumerate(zip(offsets, offsets[1:])):
        close(d[start:end], exact(np.asarray(a)[gather[start:end]], b[i]))
    a, counts = numbers(rng, 120, 64), np.array([3, 0, 30, 17], np.int32)
    d = np.asarray(jax.jit(lambda *x: gantry.jax.gemm(*x[:2], group_counts=x[2], out_dtype="f32"))(a, b, counts))
    for i, count in enumerate(counts):
        close(d[30 * i : 30 * i + count], exact(a[30 * i : 30 * i + count], b[i]))


@pytest.mark.parametrize("has_bias", [True, False])
def test_a_layer_of_tf32_has_a_bias_and_gradients(rng, has_bias):
    x, w = numbers(rng, 32, 64, dtype=np.float32), numbers(rng, 16, 64, dtype=np.float32)
    bias = numbers(rng, 16, dtype=np.float32) if has_bias else None
    out = gantry.jax.linear(x, w, bias, dtype="tf32")
    assert out.dtype == jnp.float32
    close(np.asarray(out), exact(x, w) + (np.asarray(bias) if has_bias else 0))
    dx, dw = jax.grad(lambda x, w: gantry.jax.linear(x, w, bias, dtype="tf32").sum(), (0, 1))(x, w)
    close(np.asarray(dx), np.broadcast_to(np.asarray(w, float).sum(0), (32, 64)))
    close(np.asarray(dw), np.broadcast_to(np.asarray(x, float).sum(0), (16, 64)))

"""GEMMs with fused epilogues in JAX: an XLA FFI call that works under ``jit``, ``vmap`` and ``grad``.

On the CPU it runs on the simulated SM, on CUDA devices on the GPU, in XLA's stream and with XLA's memory.

>>> import jax, jax.numpy as jnp
>>> import gantry.jax
>>> x, w, bias = jnp.ones((32, 64), jnp.float16), jnp.ones((16, 64), jnp.float16), jnp.arange(16.0)
>>> layer = jax.jit(lambda x, w, bias: gantry.jax.linear(x, w, bias, activation="gelu"))
>>> layer(x, w, bias)[0, :3]
Array([64., 65., 66.], dtype=float16)
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import os
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from . import _core, _gemm, _shim
from ._arrays import CPU, View, library_of, nowhere
from ._context import shipped_kernels
from ._elements import Element, element_of, whole_numbers
from ._errors import refusal
from ._form import COUNTS, GATHER, OFFSETS, SCALES_A, SCALES_B, SCATTERS, option_of
from ._given import Given, take_extras
from ._layouts import Slot
from ._options import Options, named_options, options_of, takes_options_of
from ._outputs import of_int32, outputs_type
from ._plan import Output, Plan

__all__ = ["gemm", "linear", "ACTIVATIONS"]

_TARGET = "gantry_gemm"

#: Operands that are no arguments of the epilogue, as the handlers call them.
_EXTRAS = {OFFSETS: "o", COUNTS: "c", SCALES_A: "a", SCALES_B: "b", GATHER: "g"}


def build_handlers() -> Path:
    """The handlers, built against this jaxlib's headers now or before."""
    return _shim.build("jax", "_jax_ffi.cpp", [f"-isystem{jax.ffi.include_dir()}"], [jax.lib.__version__])


@functools.lru_cache(maxsize=None)
def _register() -> None:
    """Tells XLA about the handlers."""
    library = ctypes.CDLL(str(build_handlers()))
    for folder in shipped_kernels():
        library.gantry_jax_add_shipped(os.fsencode(folder))
    jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(library.gantry_jax_host), platform="cpu")
    jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(library.gantry_jax_cuda), platform="CUDA")


class _Spec(NamedTuple):
    """What is fixed when a function is traced. Arrays come in the order A, B, C where ``has_c``, ``extras``, ``names``."""

    options: Options
    trans_a: bool
    has_c: bool
    extras: tuple[str, ...]
    names: tuple[str, ...]
    numbers: tuple[tuple[str, float], ...]
    wanted: frozenset[str]
    absent: frozenset[str]

    def operands(self) -> tuple[str, ...]:
        return ("A", "B", *(("C",) if self.has_c else ()), *self.extras, *self.names)

    def swaps(self, name: str) -> bool:
        return (name == "A" and self.trans_a) or (name == "B" and not self.options.trans_b)


def _packed(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(np.prod(shape[i + 1 :])) for i in range(len(shape)))


def _swapped(x: tuple[int, ...]) -> tuple[int, ...]:
    return (*x[:-2], x[-1], x[-2])


def _plan(spec: _Spec, arrays: tuple) -> Plan:
    """Planned on the simulated SM, whose rules for operands are the GPU's."""
    given = Given(library_of(None), 0, numbers=dict(spec.numbers), wanted=set(spec.wanted), absent=set(spec.absent))
    for i, (name, x) in enumerate(zip(spec.operands(), arrays)):
        shape, strides = tuple(x.shape), _packed(tuple(x.shape))
        if spec.swaps(name) and len(shape) >= 2:
            shape, strides = _swapped(shape), _swapped(strides)
        given.objects[name] = x
        given.views[name] = View(nowhere(64 + i), shape, strides, x.dtype.name, CPU)
    return Plan(given, dataclasses.replace(spec.options, trans_b=True), None)


def _storage(of: Element, raw: bool) -> Any:
    if of.bits < 8:
        return jnp.dtype("uint8")
    name = "float32" if of.name == "tf32" else f"uint{of.bits}" if raw else of.python_name
    return jnp.dtype(name)


def _padded(slot: Slot, x: Any, swaps: bool) -> Any:
    """A copy whose lines are as long as the library wants them."""
    x = jnp.swapaxes(x, -1, -2) if swaps != slot.swaps else x  # once each, where both do
    lead = slot.fresh_lead(slot.lead_of(x.shape))
    if slot.lines is None:
        return jnp.broadcast_to(x, lead + slot.shape)
    padded = jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, slot.fresh_units() - slot.units)])
    return jnp.broadcast_to(padded, (*lead, slot.lines, slot.fresh_units()))


def _emit(spec: _Spec, arrays: tuple) -> tuple:
    """The FFI call: D, then the outputs in their order."""
    _register()
    plan = _plan(spec, arrays)
    copied = {copy.operand for copy in plan.copies}
    operands = [
        _padded(plan._slots[name], x, spec.swaps(name)) if name in copied else x
        for name, x in zip(spec.operands(), arrays)
    ]
    results = [_result(output, output.name in copied) for output in plan._outputs]
    call = jax.ffi.ffi_call(_TARGET, results, vmap_method="sequential")
    got = call(*operands, **_attributes(spec, plan))
    return tuple(_trimmed(output, x, output.name in copied) for output, x in zip(plan._outputs, got))


def _result(output: Output, padded: bool) -> jax.ShapeDtypeStruct:
    slot = output.slot
    if slot.lines is None:
        return jax.ShapeDtypeStruct(slot.whole_shape(), _storage(slot.element, output.raw))
    units = slot.fresh_units() if padded else slot.units
    return jax.ShapeDtypeStruct((*slot.lead, slot.lines, units), _storage(slot.element, output.raw))


def _trimmed(output: Output, x: Any, padded: bool) -> Any:
    slot = output.slot
    x = x[..., : slot.units] if padded and slot.lines is not None else x
    return jnp.swapaxes(x, -1, -2) if slot.swaps else x


def _attributes(spec: _Spec, plan: Plan) -> dict[str, Any]:
    options = plan._gemm_options({name: layout.transposed for name, layout in plan._layouts.items()})
    matrices = [tuple(plan._layouts[x][1:]) if x in plan._layouts else (-1, -1) for x in ("A", "B", "C", "D")]
    arrays = {name: (stride, batch) for name, is_number, stride, batch in plan._arguments if not is_number}
    outputs = [output.name for output in plan._outputs[1:]]
    inputs = [name for name in spec.names if name not in outputs]
    numbers = [
        options["a_is_m_major"],
        options["b_is_n_major"],
        options["promote"],
        plan.form.m,
        plan.form.n,
        plan.form.k,
        plan.form.batch,
        *options["tile"],
        *options["cluster"],
        options["stages"],
        options["gate"],
        options["groups"],
        options["scale_a"],
        options["scale_b"],
        plan.form.a_rows,
        *(stride for pair in matrices for stride in pair),
        *(stride for name in (SCALES_A, SCALES_B) for stride in plan._scales[name][1]),
    ]
    return {
        "a": options["a"],
        "b": options["b"],
        "c": options["c"] or "",
        "d": plan._slots["D"].element.name,
        "epilogue": options["epilogue"],
        "functions": "\x1f".join(word for one in options["functions"] for word in one),
        "extras": "".join(_EXTRAS[name] for name in spec.extras),
        "numbers": np.array(numbers, np.int64),
        "expected": np.array(options["expected_rows"], np.int64),
        "arguments": ",".join([*inputs, *outputs, *(name for name, _ in spec.numbers)]),
        "strides": np.array([stride for name in (*inputs, *outputs) for stride in arrays[name]], np.int64),
        "values": np.array([value for _, value in spec.numbers], np.float32),
    }


# ---- vmap: the batch becomes one more leading dimension


@functools.lru_cache(maxsize=1024)
def _function(spec: _Spec):
    call = jax.custom_batching.custom_vmap(lambda *arrays: _emit(spec, arrays))

    @call.def_vmap
    def rule(axis_size, in_batched, *arrays):
        if spec.extras:
            raise refusal(
                "vmap",
                spec.extras[0],
                f"{spec.extras[0]} cannot be mapped over: groups, factors and indices are of one GEMM",
            )
        ranks = [_rank(spec, i, arrays, in_batched) for i in range(len(arrays))]
        lead = max((rank for rank, _ in ranks), default=0)
        moved = [
            x.reshape((axis_size,) + (1,) * (lead - rank) + x.shape[1:]) if batched else x
            for x, batched, (rank, _) in zip(arrays, in_batched, ranks)
        ]
        if not in_batched[0] and not in_batched[1]:  # batches are those of A and B
            moved[0] = jnp.broadcast_to(arrays[0], (axis_size,) + (1,) * (lead - ranks[0][0]) + arrays[0].shape)
        out = call(*moved)
        return out, (any(in_batched),) * len(out)

    return call


def _rank(spec: _Spec, i: int, arrays: tuple, in_batched: list[bool]) -> tuple[int, int]:
    """How many leading dimensions an operand has by itself, without the one of vmap; and of how many it is."""
    own = arrays[i].ndim - (1 if in_batched[i] else 0)
    base = 2 if spec.operands()[i] in ("A", "B", "C") else _base_rank(spec, spec.operands()[i])
    return max(0, own - base), base


def _base_rank(spec: _Spec, name: str) -> int:
    """Of an argument of the epilogue: 0 for a number, 1 for a vector, 2 for a matrix."""
    kinds = _kinds(spec.options)
    kind = kinds.get(name, _core.ROW)
    return {_core.SCALAR: 0, _core.AUX_IN: 2}.get(kind, 1)


@functools.lru_cache(maxsize=1024)
def _kinds(options: Options) -> dict[str, int]:
    from ._context import default_context

    made = default_context(CPU, 0).gemm(a="bf16", epilogue=options.epilogue, functions=options.functions)
    return {info[0]: info[2] for info in made.arguments}


# ---- What people call


#: Options of gantry.gemm that are of arrays in place, streams or contexts, which are XLA's.
_WITHOUT = ("out", "stream", "context", *map(option_of, SCATTERS), "check", "dependent")


@takes_options_of(_gemm.gemm, without=_WITHOUT)
def gemm(a: Any, b: Any, *, trans_a: bool = False, **given: Any) -> Any:
    """D = epilogue(A Bᵀ), with the options of :func:`gantry.gemm`; ``trans_a``: ``a`` is K x M.

    Numbers are compiled in; arrays are operands. Outputs cannot be given as arrays, since JAX's are not written to: there is
    no ``out``, and nothing to scatter rows to. Groups, factors of blocks and gathered rows cannot be mapped over by
    ``vmap``.
    A plain product (``"d = acc"``) can be differentiated; :func:`linear` can with a bias and an activation.

    >>> import jax.numpy as jnp, gantry.jax
    >>> d = gantry.jax.gemm(jnp.ones((32, 64), jnp.bfloat16), jnp.ones((64, 16), jnp.bfloat16), trans_b=False)
    >>> d.shape, float(d[0, 0])
    ((32, 16), 64.0)
    """
    options, named = named_options(gemm, given)
    for name in _WITHOUT:
        if name in named:
            raise refusal(name, "", f"gantry.jax.gemm has no {name}: gantry.gemm has, for arrays of other libraries")
    extras = {name: _extra(name, x) for name, x in take_extras(options).items()}
    values, c = {**(options.get("arguments") or {}), **named}, options.get("c")
    arrays = {name: jnp.asarray(x) for name, x in values.items() if not isinstance(x, (bool, int, float, type(None)))}
    spec = _Spec(
        options_of(options),
        trans_a,
        c is not None,
        tuple(extras),
        tuple(arrays),
        tuple(
            (name, float(x)) for name, x in values.items() if isinstance(x, (int, float)) and not isinstance(x, bool)
        ),
        frozenset(name for name, x in values.items() if x is True),
        frozenset(name for name, x in values.items() if x is None or x is False),
    )
    matrices = (a, b) if c is None else (a, b, c)
    operands = (*map(jnp.asarray, matrices), *extras.values(), *arrays.values())
    out = _differentiable(spec, *operands)
    if len(out) == 1:
        return out[0]
    names = _output_names(spec, operands)
    return outputs_type(names)(*out)


def _extra(name: str, x: Any) -> Any:
    """Factors of blocks, or offsets, counts and indices."""
    if name in (SCALES_A, SCALES_B):
        return jnp.asarray(x, jnp.float32)
    x = x if isinstance(x, jax.Array) else np.asarray(x)
    whole_numbers(name, element_of(x.dtype))
    return jnp.asarray(of_int32(x), jnp.int32)


def _output_names(spec: _Spec, arrays: tuple) -> tuple[str, ...]:
    return tuple(output.name for output in _plan(spec, arrays)._outputs[1:])


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _differentiable(spec: _Spec, *arrays: Any) -> tuple:
    return _function(spec)(*arrays)


def _forward(spec: _Spec, *arrays: Any) -> tuple:
    if spec.options.epilogue.replace(" ", "").rstrip(";") != "d=acc" or spec.extras:
        raise refusal(
            "gradient",
            "D",
            f'the gradient of "{spec.options.epilogue}" is not known: gemm has one of "d = acc" without groups, factors and '
            f"indices, and linear one with a bias and an activation",
        )
    for name, x in zip("AB", arrays):
        if x.dtype.itemsize == 1:
            raise refusal(
                "gradient",
                name,
                f"{name} has elements of {x.dtype}, and its gradient would be rounded to 8 bits without a factor: "
                f"convert {name} inside of what is differentiated, with a gradient of your own",
            )
    return _function(spec)(*arrays), arrays


def _backward(spec: _Spec, arrays: tuple, cotangents: tuple) -> tuple:
    a, b = arrays
    return product_gradients(a, b, cotangents[0], spec.trans_a, spec.options)


_differentiable.defvjp(_forward, _backward)


def _summed_to(x: Any, shape: tuple[int, ...]) -> Any:
    """The gradient of an operand that was broadcast: batches that it does not have are added up."""
    extra = x.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(
        i + extra for i, size in enumerate(shape) if size == 1 and x.shape[i + extra] != 1
    )
    return x.sum(axes).reshape(shape) if axes else x


def product_gradients(a: Any, b: Any, g: Any, trans_a: bool, options: Options) -> tuple[Any, Any]:
    """Of A and B of a plain product, from that of D: dA = dD B and dB = dDᵀ A."""
    plain = Options(dtype=options.dtype, promote=options.promote)
    g = g.astype(a.dtype)
    keep = {"out_dtype": str(a.dtype), "dtype": plain.dtype}
    # B is N x K, or K x N; what it is multiplied with has N as its K.
    da = gemm(g, b, trans_b=not options.trans_b, **keep)
    # dB is N x K: dDᵀ times A, both with M as their K.
    db = gemm(g, a, trans_a=True, trans_b=trans_a, **keep)
    da = jnp.swapaxes(da, -1, -2) if trans_a else da
    db = db if options.trans_b else jnp.swapaxes(db, -1, -2)
    return _summed_to(da, a.shape).astype(a.dtype), _summed_to(db, b.shape).astype(b.dtype)


#: Activations of :func:`linear`, as functions of JAX: what gradients are taken of.
ACTIVATIONS = {
    "relu": jax.nn.relu,
    "gelu": functools.partial(jax.nn.gelu, approximate=False),
    "gelu_tanh": functools.partial(jax.nn.gelu, approximate=True),
    "silu": jax.nn.silu,
    "sigmoid": jax.nn.sigmoid,
    "tanh": jnp.tanh,
    "mish": jax.nn.mish,
    "hardswish": jax.nn.hard_swish,
}


def linear(x: Any, weight: Any, bias: Any = None, activation: str | None = None, *, dtype: str | None = None) -> Any:
    """act(x weightᵀ + bias) in one kernel: ``x`` is (…, K), ``weight`` N x K, ``bias`` of N. Has a gradient.

    ``dtype="tf32"`` multiplies float32, here and in the gradients. Where a gradient is taken, the same kernel stores the pre-activation as well.

    >>> import jax, jax.numpy as jnp, gantry.jax
    >>> x, w = jnp.ones((2, 8, 64), jnp.bfloat16), jnp.ones((16, 64), jnp.bfloat16)
    >>> jax.grad(lambda w: gantry.jax.linear(x, w, activation="gelu").astype(jnp.float32).sum())(w).shape
    (16, 64)
    """
    if activation is not None and activation not in ACTIVATIONS:
        raise refusal("activation", "", f"the activation is {activation!r}: it is one of {', '.join(ACTIVATIONS)}")
    x, weight = jnp.asarray(x), jnp.asarray(weight)
    flat = x.reshape(-1, x.shape[-1])
    bias = None if bias is None else jnp.asarray(bias)
    out = _linear(activation, dtype, flat, weight, bias)
    return out.reshape(*x.shape[:-1], weight.shape[0])


def _run_linear(activation: str | None, dtype: str | None, x: Any, weight: Any, bias: Any, keep: bool) -> tuple:
    pre = "acc" if bias is None else "acc + row(bias)"
    named = {"dtype": dtype} if bias is None else {"dtype": dtype, "bias": bias}
    if activation is None:
        return gemm(x, weight, epilogue=f"d = {pre}", **named), None
    if not keep:
        return gemm(x, weight, epilogue=f"d = {activation}({pre})", **named), None
    kept = {"float32": "f32"}.get(str(x.dtype), "bf16" if str(x.dtype) == "bfloat16" else "f16")
    out = gemm(x, weight, epilogue=f"let z = {pre}; d = {activation}(z); pre:{kept} = z", **named)
    return out.d, out.pre


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _linear(activation: str | None, dtype: str | None, x: Any, weight: Any, bias: Any) -> Any:
    return _run_linear(activation, dtype, x, weight, bias, keep=False)[0]


def _linear_forward(activation: str | None, dtype: str | None, x: Any, weight: Any, bias: Any) -> tuple:
    out, pre = _run_linear(activation, dtype, x, weight, bias, keep=True)
    return out, (x, weight, bias, pre)


def _linear_backward(activation: str | None, dtype: str | None, kept: tuple, g: Any) -> tuple:
    x, weight, bias, pre = kept
    if activation is not None:
        _, back = jax.vjp(ACTIVATIONS[activation], pre.astype(jnp.float32))
        g = back(g.astype(jnp.float32))[0].astype(x.dtype)
    dx, dw = product_gradients(x, weight, g, False, Options(dtype=dtype))
    return dx, dw, None if bias is None else g.astype(jnp.float32).sum(0).astype(bias.dtype)


_linear.defvjp(_linear_forward, _linear_backward)

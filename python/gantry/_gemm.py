"""gemm, plan, explain, simulate, warm_up: what people call."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from typing import Any, Callable, Iterable, Mapping, Sequence

from ._context import Context, default_context
from ._elements import element_of
from ._errors import refusal
from ._given import Given, gather as gather_arrays, take_extras
from ._options import Options, named_options, options_of, takes_options_of
from ._plan import Plan
from ._results import Explanation, Report, Simulation

_MOST_PLANS = 4096
_plans: dict[tuple, Plan] = {}


def _plan_for(given: Given, options: Options, context: Context | None) -> Plan:
    key = (given.signature(), options)
    plans = _plans if context is None else context.plans
    found = plans.get(key)
    if found is None:
        found = Plan(given, options, context)
        if found.is_of_addresses:
            return found  # the next arrays of this kind may not overlap
        if len(plans) >= _MOST_PLANS:
            plans.clear()
        plans[key] = found
    return found


def _read(a: Any, b: Any, given: dict[str, Any], named: dict[str, Any]) -> tuple[Given, Options, Context | None]:
    """Everything that a function was called with: the arrays, and the options."""
    extras = take_extras(given)
    arguments = {**(given.get("arguments") or {}), **named}
    arrays = gather_arrays(a, b, given.get("c"), given.get("out"), arguments, given.get("stream"), extras)
    return arrays, options_of(given), given.get("context")


def gemm(
    a: Any,
    b: Any,
    *,
    c: Any = None,
    out: Any = None,
    epilogue: str = "d = acc",
    trans_b: bool = True,
    copy: bool = True,
    dtype: Any = None,
    out_dtype: Any = None,
    functions: Mapping[str, tuple[str, str]] | None = None,
    gate: str = "halves",
    groups: Any = None,
    group_counts: Any = None,
    groups_along: str = "m",
    expected_rows: Sequence[int] = (),
    gather: Any = None,
    scatter: Any = None,
    scatter_add: Any = None,
    scatter_ordered: Any = None,
    check: bool = False,
    block_scales: tuple[Any, Any] | None = None,
    promote: bool = False,
    tile: tuple[int, int] = (0, 0),
    cluster: tuple[int, int] = (0, 0),
    stages: int = 0,
    dependent: bool | None = None,
    stream: Any = None,
    context: Context | None = None,
    arguments: Mapping[str, Any] | None = None,
    **named: Any,
) -> Any:
    """D = epilogue(A Bᵀ): ``a`` is M x K, ``b`` is N x K, D is M x N.

    NumPy arrays run on the simulated SM, CUDA arrays of any library on their GPU, in the library's current stream.
    Strides and transposes are seen through. What the hardware cannot take is copied; :func:`explain` says so.

    Options, all by name; every other name is an argument of the epilogue:

    ``epilogue``   what becomes of the accumulators; ``"d = acc"``. Other names become arguments: ``row(bias)`` takes
                   ``bias=``, of N values; ``col(s)`` of M values; ``load(x)`` of M x N; ``scalar(s)`` a number or an array;
                   ``dropout(x, 0.1, seed)`` a whole number below 2^24, or an array of one of 32 or 64 bits
    ``c``          the source C, of M x N, where the epilogue uses ``c``
    ``out``        the array of D; ``name=`` does the same for an output of the epilogue, ``name=True`` asks for an
                   ``optional`` one
    ``trans_b``    False: ``b`` is K x N
    ``copy``       False: what would have to be copied raises instead
    ``dtype``      elements of A and B where the array's dtype does not say them: ``"tf32"`` for float32, ``"bf16"`` for
                   uint16, ``"e4m3"`` or ``"e5m2"`` for uint8; or a pair, of A and of B
    ``out_dtype``  elements of D
    ``functions``  functions of your own that the epilogue calls: ``{"half": ("x", "return 0.5f * x;")}``, in C++
    ``gate``       of an epilogue with ``gate(acc)`` and ``up(acc)``, whose D has N / 2 columns: ``"halves"`` or
                   ``"interleaved"`` rows of ``b``
    ``groups``     offsets of E groups, E + 1 int32 on the device. Group e has the rows of ``a`` from groups[e] to
                   groups[e + 1]; ``b`` is E x N x K, and what is given for columns E x N. Rows without a group are not
                   written
    ``group_counts``   instead, of groups of M / E rows each: how many of them are used
    ``groups_along``   ``"k"``: groups are along K of ``a`` and ``b``, and D is E x M x N
    ``expected_rows``  what groups may be, whose sizes the device alone knows, and by which a kernel is chosen: rows of
                   each, or of K, of as many groups as there are, or of fewer that stand for all
    ``gather``     an index, M int32 on the device: row i of the GEMM is row gather[i] of ``a``, or zeros where there is
                   no such row
    ``scatter``    an index, M int32: row i of D goes to row scatter[i] of ``out``, or nowhere where there is no such
                   row. Each row is named once at most; rows without a name stay
    ``scatter_add``    instead: rows are added to those of ``out``, in f32 and in no fixed order
    ``scatter_ordered``    instead: in the order of the GEMM's rows, by a second kernel: the same bits on every run
    ``check``      True: each run reads the groups from the device first, and refuses wrong ones by their numbers
    ``block_scales``   of 8-bit floats, a pair of float32 factors, of A and of B: one for each row and 128 of K,
                   (M, K / 128), or for 128 rows and 128 of K, (M / 128, K / 128)
    ``promote``, ``tile``, ``cluster``, ``stages``, ``dependent``   as in gantry.h; None: where a gain is expected
    ``stream``     for arrays of a library without a current stream: a number, or a stream of any library
    ``context``    a :class:`Context`; by default one for each GPU, and one simulated SM
    ``arguments``  arguments of the epilogue whose names are taken by options

    Dimensions before the last two are batches, which broadcast. Returns D; where the epilogue has further outputs, a
    named tuple of D, as ``d``, and those.

    >>> import numpy as np, gantry
    >>> a = np.ones((32, 64), np.float16)
    >>> b = np.ones((16, 64), np.float16)
    >>> bias = np.arange(16, dtype=np.float32)
    >>> d = gantry.gemm(a, b, epilogue="d = acc + row(bias)", bias=bias)
    >>> d.shape, d.dtype, float(d[0, 3])
    ((32, 16), dtype('float16'), 67.0)
    """
    given, options, context = _read(a, b, locals(), named)
    return _plan_for(given, options, context).run(given)


@takes_options_of(gemm)
def plan(a: Any, b: Any, **given: Any) -> Plan:
    """Plans once what is then run many times: takes what :func:`gemm` takes, and computes nothing.

    >>> import numpy as np, gantry
    >>> a, b = np.ones((32, 64), np.float16), np.ones((16, 64), np.float16)
    >>> layer = gantry.plan(a, b, epilogue="d = acc + row(bias)", bias=np.zeros(16, np.float32))
    >>> layer
    <gantry.Plan 32 x 16 x 64, f16 to f16: d = acc + row(bias)>
    >>> float(layer(a, b, bias=np.full(16, 2, np.float32))[0, 0])
    66.0
    """
    given, options, context = _read(a, b, *named_options(plan, given))
    return Plan(given, options, context)


@takes_options_of(gemm)
def explain(a: Any, b: Any, **given: Any) -> Explanation:
    """Which kernel a :func:`gemm` of these arrays runs and why, its tiles and memory, and what is copied.

    >>> import numpy as np, gantry
    >>> a = np.ones((32, 128), np.float16)[:, ::2]
    >>> explanation = gantry.explain(a, np.ones((16, 64), np.float16))
    >>> [copy.operand for copy in explanation.copies]
    ['A']
    """
    given, options, context = _read(a, b, *named_options(explain, given))
    made = Plan(given, options, context)  # of these addresses: a cached one is of others, which may not overlap
    return Explanation(repr(made).strip("<>"), made.describe(), made.copies)


@takes_options_of(gemm, without=["stream"])
def simulate(a: Any, b: Any, *, seed: int = 0, trace: bool = False, **given: Any) -> Simulation:
    """Runs a :func:`gemm` of arrays of the host on the simulated SM, under a schedule that ``seed`` chooses.

    >>> import numpy as np, gantry
    >>> run = gantry.simulate(np.ones((32, 64), np.float16), np.ones((16, 64), np.float16), seed=3)
    >>> run.report.clean, float(run.result[0, 0])
    (True, 64.0)
    """
    given, options, context = _read(a, b, *named_options(simulate, given))
    made = _plan_for(given, options, context)
    if not made.context.simulated:
        raise refusal("device", "A", "simulate works on arrays of the host, and A is on a GPU")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "trace.json") if trace else None
        result, (text, data) = made.run(given, lambda call, addresses: call.simulate(addresses, seed, file))
        events = None
        if file is not None:
            with open(file, encoding="utf-8") as opened:
                events = json.load(opened)
    return Simulation(result, Report(text, json.loads(data)), events)


def _bar(done: int, everything: int) -> None:
    width = 40
    filled = width * done // max(1, everything)
    sys.stderr.write(f"\rkernels [{'#' * filled}{'.' * (width - filled)}] {done} of {everything}")
    if done == everything:
        sys.stderr.write("\n")
    sys.stderr.flush()


def warm_up(
    target: Plan | str | Any,
    sizes: Iterable[Sequence[int]],
    *,
    dtype: Any = "bf16",
    out_dtype: Any = None,
    context: Context | None = None,
    progress: bool | Callable[[int, int], None] | None = None,
) -> None:
    """Compiles and loads the kernels of these sizes, several at once, and returns when they are there.

    ``target`` is a plan, the text of an epilogue, or a module of torch, whose layers of ``gantry.torch`` are warmed up,
    forward and backward. A size is (m, n, k) or (m, n, k, batch), of a module (m,), its rows. ``progress``: True for a
    bar, or a function of how many are done and how many there are; by default there is a bar on a terminal.

    >>> import gantry
    >>> seen = []
    >>> gantry.warm_up("d = acc", [(32, 16, 64)], dtype="f16", progress=lambda done, all: seen.append((done, all)))
    >>> seen[-1]
    (1, 1)
    """
    if progress is None:
        progress = sys.stderr.isatty()
    tell = progress if callable(progress) else _bar if progress else None
    sizes = [tuple(size) for size in sizes]
    if isinstance(target, str):
        pair = dtype if isinstance(dtype, tuple) else (dtype, dtype)
        made = (context or _any_context()).gemm(
            a=element_of(pair[0]).name,
            b=element_of(pair[1]).name,
            d=None if out_dtype is None else element_of(out_dtype).name,
            epilogue=target,
        )
        made.warm_up(tuple((*size, 1)[:4] for size in sizes), tell)
    elif hasattr(target, "warm_up"):
        target.warm_up(sizes, tell)
    elif hasattr(target, "named_modules"):
        _warm_up_layers(target, sizes, tell)
    else:
        raise refusal(
            "warm_up",
            "",
            f"a {type(target).__name__} has no kernels: a plan, the text of an epilogue or a module is needed",
        )


def _warm_up_layers(model: Any, sizes: Sequence[tuple[int, ...]], tell: Callable[[int, int], None] | None) -> None:
    """The layers of a model, but for those that are parts of others."""
    names: list[str] = []
    layers = []
    for name, module in model.named_modules():
        if hasattr(module, "warm_up") and not any(name.startswith(f"{outer}.") for outer in names):
            names.append(name)
            layers.append(module)
    everything = len(layers) * len(sizes)
    for i, layer in enumerate(layers):
        first = i * len(sizes)
        layer.warm_up(sizes, tell and (lambda done, _: tell(first + done, everything)))


def _any_context() -> Context:
    try:
        return default_context("cuda", 0)
    except RuntimeError:  # NoDevice
        return default_context("cpu", 0)

"""Plans: a GEMM of given shapes, strides and elements, ready to run with arrays of that kind."""

from __future__ import annotations

import collections
import functools
import re
from dataclasses import dataclass
from typing import Any, Mapping, NamedTuple, Sequence

from . import _core
from ._arrays import CUDA, View, nowhere, view
from ._context import Context, default_context
from ._elements import Element, element, element_of, holds, is_raw, understood
from ._epilogue import with_elements
from ._errors import GantryError, InvalidArgument, Unsupported, refusal
from ._given import Given, difference, first_difference, gather
from ._layouts import Layout, Slot, broadcast

MATRICES = ("A", "B", "C", "D")


@dataclass(frozen=True)
class Options:
    """What a GEMM computes and how, beside its arrays."""

    epilogue: str = "d = acc"
    trans_b: bool = True
    copy: bool = True
    dtype: Any = None
    out_dtype: Any = None
    promote: bool = False
    tile: tuple[int, int] = (0, 0)
    cluster: tuple[int, int] = (0, 0)
    stages: int = 0
    functions: tuple[tuple[str, str, str], ...] = ()
    dependent: bool = False


class Copy(NamedTuple):
    """An operand that is copied, and why."""

    operand: str
    why: str


class Output(NamedTuple):
    name: str
    slot: Slot
    raw: bool


class Plan:
    """A GEMM that is planned for arrays of given shapes, strides and elements. Made by :func:`gantry.plan`.

    Called with arrays of that kind, it runs, and returns what :func:`gantry.gemm` returns.
    """

    def __init__(self, given: Given, options: Options, context: Context | None):
        first = given.views["A"]
        self.options = options
        self.context = context or default_context(first.device, first.index)
        if self.context.simulated == (first.device == CUDA):
            machine = "the simulated SM, which works" if self.context.simulated else "a GPU, which does not work"
            raise refusal("device", "A", f"A is on {first.device}, and the context on {machine} on memory of the host")
        self._signature = given.signature()
        self._workspace_bytes: int | None = None
        self._find_sizes(given)
        self._find_elements(given)
        self._choose_layouts(given)

    # ---- What is computed

    def _find_sizes(self, given: Given) -> None:
        shapes = {name: given.views[name].shape for name in ("A", "B")}
        for name, shape in shapes.items():
            if len(shape) < 2:
                raise refusal(
                    "rank", name, f"{name} has the shape {shape}: a matrix has two dimensions or more", len(shape), 2
                )
        a, b = shapes["A"], shapes["B"]
        rows, columns = (-2, -1) if self.options.trans_b else (-1, -2)
        if a[-1] != b[columns]:
            written = "N x K" if self.options.trans_b else "K x N"
            raise refusal(
                "shape",
                "B",
                f"A is {a[-2]} x {a[-1]} and B, as {written}, has a K of {b[columns]}: both have one K"
                + ("; for a B of K x N say trans_b=False" if self.options.trans_b and a[-1] == b[rows] else ""),
                b[columns],
                a[-1],
            )
        self.lead = broadcast("B", a[:-2], b[:-2])
        self.m, self.n, self.k = a[-2], b[rows], a[-1]

    def _find_elements(self, given: Given) -> None:
        asked = self.options.dtype
        a_asked, b_asked = asked if isinstance(asked, tuple) else (asked, asked)
        stored = given.views["A"].element
        self.a = understood("A", stored, a_asked)
        self.b = understood("B", given.views["B"].element, b_asked)
        self.raw = is_raw(stored, self.a)
        wanted = self.options.out_dtype
        self.d = None if wanted is None else element_of(wanted)
        if "D" in given.views:
            self.d = given.views["D"].element if self.d is None else understood("D", given.views["D"].element, self.d)
        self.c = given.views["C"].element if "C" in given.views else None
        matrices = set(MATRICES)
        self.text = with_elements(
            self.options.epilogue,
            [(name, seen.element.name) for name, seen in given.views.items() if name not in matrices],
        )

    def _gemm_options(self, transposed: Mapping[str, bool]) -> dict[str, Any]:
        o = self.options
        return {
            "a": self.a.name,
            "b": self.b.name,
            "c": None if self.c is None else self.c.name,
            "d": None if self.d is None else self.d.name,
            "epilogue": self.text,
            "a_is_m_major": transposed.get("A", False),
            "b_is_n_major": transposed.get("B", False),
            "c_is_column_major": transposed.get("C", False),
            "d_is_column_major": transposed.get("D", False),
            "promote": o.promote,
            "tile": o.tile,
            "cluster": o.cluster,
            "stages": o.stages,
            "functions": o.functions,
        }

    # ---- How arrays lie

    def _choose_layouts(self, given: Given) -> None:
        """Sees through strides where the library can, and copies what it refuses."""
        scratch: dict[str, str] = {}
        first_error: GantryError | None = None
        while True:
            try:
                self._try_layouts(given, scratch)
                break
            except (InvalidArgument, Unsupported) as error:
                named = {
                    r.operand: r.sentence
                    for r in error.reasons
                    if r.operand in given.views or r.operand in self._made()
                }
                new = {name: why for name, why in named.items() if name not in scratch}
                if not self.options.copy or not new:
                    raise error from first_error
                first_error = first_error or error
                scratch.update(new)
        self.copies = tuple(Copy(*one) for one in scratch.items())

    def _made(self) -> set[str]:
        """Outputs that are allocated here."""
        return {"D"} | {output.name for output in getattr(self, "_outputs", ())}

    def _matrix_slots(self, given: Given) -> dict[str, Slot]:
        make = functools.partial(Slot, lead=self.lead, may_transpose=True)
        slots = {
            "A": make("A", self.a, lines=self.m, length=self.k),
            "B": make("B", self.b, lines=self.n, length=self.k),
        }
        if self.c is not None:
            slots["C"] = make("C", self.c, lines=self.m, length=self.n)
        return slots

    def _layout(self, slot: Slot, seen: View, scratch: Mapping[str, str]) -> Layout:
        shape, strides = seen.shape, seen.strides
        if slot.name == "B" and not self.options.trans_b:
            shape, strides = (*shape[:-2], shape[-1], shape[-2]), (*strides[:-2], strides[-1], strides[-2])
        slot.check_shape(shape)
        if slot.is_output:
            _check_output(slot, seen)
        if slot.name in scratch:
            return slot.fresh_layout(slot.fresh_lead(slot.lead_of(shape)))
        found = slot.layout_of(shape, strides)
        if found is None:
            raise refusal(
                "strides",
                slot.name,
                f"{slot.name} has the strides {strides} for the shape {shape}: one of the last two is 1, and the others "
                f"are positive and go through all batches evenly",
            )
        return found

    def _try_layouts(self, given: Given, scratch: dict[str, str]) -> None:
        slots = self._matrix_slots(given)
        layouts = {name: self._layout(slot, given.views[name], scratch) for name, slot in slots.items()}
        # D of the GEMM is not known before it is made, but whether it is transposed follows from `out` alone.
        self._gemm = self.context.gemm(**self._gemm_options({n: l.transposed for n, l in layouts.items()}))
        d_slot = Slot(
            "D", element(self._gemm.elements[3]), self.lead, self.m, self.n, may_transpose=True, is_output=True
        )
        self.d_raw = self.raw and not _is_native(d_slot.element)
        if "D" in given.views:
            if not holds(given.views["D"].element, d_slot.element):
                raise refusal(
                    "dtype", "D", f"out has elements of {given.views['D'].element.name}, and D is {d_slot.element.name}"
                )
            layouts["D"] = self._layout(d_slot, given.views["D"], scratch)
            if layouts["D"].transposed:
                self._gemm = self.context.gemm(**self._gemm_options({n: l.transposed for n, l in layouts.items()}))
        else:
            layouts["D"] = d_slot.fresh_layout(self.lead) if "D" in scratch else d_slot.packed_layout()
        self._check_source(given)
        slots["D"] = d_slot
        self._slots = slots
        self._outputs = [Output("D", d_slot, self.d_raw)]
        arguments = self._argument_layouts(given, scratch)
        self._layouts, self._arguments = layouts, arguments
        self._make_call(given, scratch, layouts, arguments)

    def _check_source(self, given: Given) -> None:
        uses = self._gemm.elements[2] != "void" and "c" in _words(self.text)
        if uses and "C" not in given.views:
            raise refusal("missing", "C", f"the epilogue uses c, and no c was given: {self.options.epilogue}")
        if not uses and "C" in given.views:
            raise refusal("unused", "C", f"c was given, and the epilogue does not use it: {self.options.epilogue}")

    def _argument_layouts(self, given: Given, scratch: Mapping[str, str]) -> list[tuple]:
        """(name, is a number, stride, batch stride) of every argument that is given or written."""
        out = []
        infos = {info[0]: info for info in self._gemm.arguments}
        for name in (*given.views, *given.numbers, *given.wanted):
            if name not in infos and name not in MATRICES:
                out.append((name, False, -1, -1))  # the library says which names there are
        for name, short, kind, column_major, optional in infos.values():
            if name in given.numbers:
                out.append((name, True, -1, -1))
                continue
            is_output = kind >= _core.AUX_OUT
            slot = self._argument_slot(name, element(short), kind, column_major)
            self._slots[name] = slot
            if is_output and (name in given.views or name in given.wanted or not optional):
                self._outputs.append(Output(name, slot, False))
            if name in given.views:
                stored = given.views[name].element
                if not holds(stored, slot.element):
                    raise refusal(
                        "dtype",
                        name,
                        f"{name} has elements of {stored.name}, and the epilogue says {slot.element.name}",
                    )
                layout = self._layout(slot, given.views[name], scratch)
            elif is_output and (name in given.wanted or not optional):
                layout = slot.fresh_layout(self.lead) if name in scratch else slot.packed_layout()
            else:
                continue  # the library says whether it may be left out
            out.append((name, False, layout.stride, layout.batch_stride))
        return out

    def _argument_slot(self, name: str, of: Element, kind: int, column_major: bool) -> Slot:
        is_output = kind >= _core.AUX_OUT
        if kind in (_core.AUX_IN, _core.AUX_OUT):
            lines, length = (self.n, self.m) if column_major else (self.m, self.n)
            return Slot(name, of, self.lead, lines, length, column_major=column_major, is_output=is_output)
        if kind in (_core.SCALAR, _core.REDUCE_SCALAR):
            return Slot(name, of, self.lead, None, None, is_output=is_output)
        length = self.n if kind in (_core.ROW, _core.REDUCE_ROW) else self.m
        return Slot(name, of, self.lead, None, length, is_output=is_output)

    def _make_call(
        self, given: Given, scratch: Mapping[str, str], layouts: Mapping[str, Layout], arguments: list[tuple]
    ):
        batch = 1
        for size in self.lead:
            batch *= size
        strides = tuple(tuple(layouts[x][1:]) if x in layouts else (-1, -1) for x in MATRICES)
        self._names = tuple(one[0] for one in arguments)
        self._call = _core.Call(
            self._gemm, (self.m, self.n, self.k, batch), strides, tuple(arguments), self.options.dependent
        )
        places = {
            name: seen.address for name, seen in given.views.items() if name not in scratch and 0 not in seen.shape
        }
        self._example = self._addresses(places, given.numbers)
        self._call.check(self._example)

    def _addresses(self, places: Mapping[str, int], numbers: Mapping[str, float]) -> tuple:
        """Of the matrices and the arguments; arrays without a place, and those without elements, are nowhere."""
        matrices = tuple(places.get(x, 0 if x not in self._slots else nowhere(i)) for i, x in enumerate(MATRICES))
        rest = (numbers[x] if x in numbers else places.get(x, nowhere(i)) for i, x in enumerate(self._names, 4))
        return matrices + tuple(rest)

    # ---- Running

    def __call__(
        self,
        a: Any,
        b: Any,
        *,
        c: Any = None,
        out: Any = None,
        arguments: Mapping[str, Any] | None = None,
        stream: Any = None,
        **named: Any,
    ) -> Any:
        """Runs with arrays of the shapes, strides, elements and alignment that it was planned for."""
        given = gather(a, b, c, out, {**(arguments or {}), **named}, stream)
        signature = given.signature()
        if signature != self._signature:
            raise refusal(
                "plan",
                first_difference(signature, self._signature),
                "these arrays are not of the kind that was "
                f"planned for: {difference(signature, self._signature)}; gantry.gemm plans for any",
            )
        return self.run(given)

    def run(self, given: Given, launch: Any = None) -> Any:
        """Requires arrays of the planned signature. ``launch`` takes the place of the call's own run."""
        copied = {copy.operand for copy in self.copies}
        places = {name: seen.address for name, seen in given.views.items() if 0 not in seen.shape}
        alive = []  # until the kernel is in the stream; then the stream's order keeps them
        for name in copied:
            if name in given.views and not self._slots[name].is_output:
                target = self._copy_in(given, self._slots[name], given.objects[name])
                places[name] = view(name, target, given.library, None).address
                alive.append(target)
        results, back = [], []
        for name, slot, raw in self._outputs:
            target = given.objects.get(name)
            if target is None:
                target = self._new(given, slot, raw)
            results.append(target)
            if name in copied:
                shape = (
                    (*self.lead, slot.lines or 1, slot.fresh_units()) if slot.lines is not None else slot.whole_shape()
                )
                scratch = given.library.empty(given.objects["A"], shape, slot.element, raw)
                places[name] = view(name, scratch, given.library, None).address
                back.append((target, scratch, slot))
            elif name not in given.views and 0 not in target.shape:
                places[name] = view(name, target, given.library, None).address
        addresses = self._addresses(places, given.numbers)
        if launch is None:
            self._launch(given, addresses)
        else:
            report = launch(self._call, addresses)
        for target, scratch, slot in back:
            target[...] = _unpadded(scratch, slot)
        values = results[0] if len(results) == 1 else _outputs_type(tuple(o.name for o in self._outputs[1:]))(*results)
        return values if launch is None else (values, report)

    def _launch(self, given: Given, addresses: tuple) -> None:
        memory = self._workspace_of(given, addresses)
        try:
            self._call.run(addresses, given.stream, *memory[:2])
        except InvalidArgument:
            # A better kernel, which takes more, may have been compiled since it was asked.
            before, self._workspace_bytes = self._workspace_bytes, None
            memory = self._workspace_of(given, addresses)
            if memory[1] <= (before or 0):
                raise
            self._call.run(addresses, given.stream, *memory[:2])

    def _workspace_of(self, given: Given, addresses: tuple) -> tuple[int, int, Any]:
        """Address, bytes and owner of workspace from the library's allocator; zeros where the context has its own."""
        if given.views["A"].device != CUDA or 0 in (self.m, self.n, self.k, *self.lead):
            return 0, 0, None
        if self._workspace_bytes is None:
            self._workspace_bytes = self._call.workspace(addresses)
        memory = given.library.workspace(given.objects["A"], self._workspace_bytes) if self._workspace_bytes else None
        return (0, 0, None) if memory is None else (memory.data_ptr(), self._workspace_bytes, memory)

    def _new(self, given: Given, slot: Slot, raw: bool) -> Any:
        """A new array for an output."""
        like = given.objects["A"]
        if not slot.swaps:
            return given.library.empty(like, slot.whole_shape(), slot.element, raw)
        shape = (*self.lead, slot.lines or 0, slot.units)
        return given.library.empty(like, shape, slot.element, raw).swapaxes(-1, -2)

    def _copy_in(self, given: Given, slot: Slot, source: Any) -> Any:
        source = _as_array(source)
        lead = slot.fresh_lead(slot.lead_of(tuple(source.shape)))
        if slot.name == "B" and not self.options.trans_b:
            source = source.swapaxes(-1, -2)
        raw = is_raw(given.views[slot.name].element, slot.element)
        if slot.lines is None:
            target = given.library.empty(given.objects["A"], lead + slot.shape, slot.element, raw)
            target[...] = source
            return target
        shape = (*lead, slot.lines, slot.fresh_units())
        target = given.library.empty(given.objects["A"], shape, slot.element, raw)
        _unpadded(target, slot)[...] = source
        return target

    # ---- Saying what it does

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of what it returns; the first is D."""
        return ("d", *(o.name for o in self._outputs[1:]))

    @property
    def kernels(self) -> int:
        """How many kernels are loaded for it."""
        return self._gemm.kernels

    def describe(self) -> str:
        """What a run does, in sentences: the choice, the plan, and what is copied."""
        lines = [self._call.explain(self._example)]
        for operand, why in self.copies:
            lines.append(f"Copy: {operand} is copied, because {why}.")
        return "\n".join(lines)

    def warm_up(self, sizes: Sequence[tuple[int, ...]], progress: Any = None) -> None:
        self._gemm.warm_up(tuple((*size, 1)[:4] for size in sizes), progress)

    def __repr__(self) -> str:
        lead = "".join(f"{size} x " for size in self.lead)
        return f"<gantry.Plan {lead}{self.m} x {self.n} x {self.k}, {self.a.name} to {self._slots['D'].element.name}: {self.text}>"


def _is_native(of: Element) -> bool:
    """NumPy has it."""
    return of.name in ("f16", "f32", "f64") or of.python_name.startswith(("int", "uint")) and of.bits >= 8


def _words(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", re.sub(r"#.*", "", text)))


def _check_output(slot: Slot, seen: View) -> None:
    if seen.readonly:
        raise refusal("readonly", slot.name, f"{slot.name} is written to, and its array is read-only")
    if any(stride == 0 and size > 1 for size, stride in zip(seen.shape, seen.strides)):
        raise refusal(
            "strides", slot.name, f"{slot.name} is written to, and a stride of 0 lets its elements share memory"
        )


def _unpadded(scratch: Any, slot: Slot) -> Any:
    if slot.lines is None:
        return scratch
    lines = scratch[..., : slot.units]
    return lines.swapaxes(-1, -2) if slot.swaps else lines


def _as_array(source: Any) -> Any:
    if hasattr(source, "swapaxes"):
        return source
    import numpy

    return numpy.asarray(source)


@functools.lru_cache(maxsize=None)
def _outputs_type(names: tuple[str, ...]) -> type:
    return collections.namedtuple("Outputs", ("d", *names), rename=True, module="gantry")

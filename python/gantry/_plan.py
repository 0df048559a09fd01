"""Plans: a GEMM of given shapes, strides and elements, ready to run with arrays of that kind."""

from __future__ import annotations

from typing import Any, Callable, Mapping, NamedTuple, Sequence

from . import _core
from ._arrays import CUDA, Library, View, nowhere, view
from ._context import Context, default_context
from ._elements import Element, element, element_of, holds, is_raw, understood, whole_numbers
from ._epilogue import with_elements
from ._errors import GantryError, InvalidArgument, Unsupported, refusal
from ._form import (
    ALONG_K,
    COUNTS,
    EXTRAS,
    GATHER,
    INDICES,
    NO_SCALE,
    NO_SCATTER,
    OFFSETS,
    SCALES_A,
    SCALES_B,
    SCATTER,
    SCATTERS,
    Lead,
    form_of,
    scale_mode,
    scatter_of,
)
from ._given import Given, difference, first_difference, gather, take_extras
from ._layouts import Layout, Slot, collapsed
from ._options import Options
from ._outputs import as_array, check_output, check_writeable, empty, is_native, of_int32, outputs_type, unpadded, words
from ._rules import gate_code
from ._slots import Argument, argument_slot, d_slot_of, matrix_slots

MATRICES = ("A", "B", "C", "D")
_D = MATRICES.index("D")
_OVERLAP = "read_while_written"  #: the one rule for operands that is about their addresses


class Copy(NamedTuple):
    """An operand that is copied, and why.

    >>> import numpy as np, gantry
    >>> (copy,) = gantry.explain(np.ones((32, 128), np.float16)[:, ::2], np.ones((16, 64), np.float16)).copies
    >>> copy.operand, "strides (128, 2)" in copy.why
    ('A', True)
    """

    operand: str
    why: str


class Output(NamedTuple):
    name: str
    slot: Slot
    raw: bool


class Plan:
    """A GEMM that is planned for arrays of given shapes, strides and elements. Made by :func:`gantry.plan`.

    Called with arrays of that kind, it runs, and returns what :func:`gantry.gemm` returns.

    >>> import numpy as np, gantry
    >>> a, b = np.ones((32, 64), np.float16), np.ones((16, 64), np.float16)
    >>> layer = gantry.plan(a, b)
    >>> float(layer(a, 2 * b)[0, 0]), layer.output_names
    (128.0, ('d',))
    """

    def __init__(self, given: Given, options: Options, context: Context | None):
        first = given.views["A"]
        self.options = options
        self.context = context or default_context(first.device, first.index)
        if self.context.simulated == (first.device == CUDA):
            machine = "the simulated SM, which works" if self.context.simulated else "a GPU, which does not work"
            raise refusal("device", "A", f"A is on {first.device}, and the context on {machine} on memory of the host")
        self._signature = given.signature()
        self._workspace_bytes = 0
        self.form = form_of(given.views, options.trans_b, options.epilogue, options.groups_along)
        self._gathers, self._scatter = GATHER in given.views, scatter_of(given.views)
        self._find_elements(given)
        self._choose_layouts(given)
        self._check_names(given.absent)

    # ---- What is computed

    def _find_elements(self, given: Given) -> None:
        asked = self.options.dtype
        a_asked, b_asked = asked if isinstance(asked, tuple) else (asked, asked)
        stored = given.views["A"].element
        self.a = understood("A", stored, a_asked)
        self.b = understood("B", given.views["B"].element, b_asked)
        self.raw = is_raw(stored, self.a)
        wanted = self.options.out_dtype
        self.d = None if wanted is None else element_of(wanted)
        meant = self._raw_meanings()
        if "D" in given.views:
            stored = given.views["D"].element
            self.d = meant(stored) if self.d is None else understood("D", stored, self.d)
        self.c = meant(given.views["C"].element) if "C" in given.views else None
        operands = {*MATRICES, *EXTRAS}
        for name in (OFFSETS, COUNTS, *INDICES):
            if name in given.views:
                whole_numbers(name, given.views[name].element)
        self.text = with_elements(
            self.options.epilogue,
            [(name, meant(seen.element).name) for name, seen in given.views.items() if name not in operands],
        )
        self._scales = {
            name: self._scale(given.views[name], name, *of) if name in given.views else (NO_SCALE, (-1, -1, -1))
            for name, of in ((SCALES_A, (self.form.a_rows, self.form.of_a)), (SCALES_B, (self.form.n, self.form.of_b)))
        }

    def _raw_meanings(self) -> Callable[[Element], Element]:
        """What elements of arrays stand for. Where A is raw bits, unsigned integers of the width of D's element are its
        bits too, so that a result may be given back. Seeds of 32 bits and more stay integers."""
        if not self.raw:
            return lambda stored: stored
        usual = element(self.context.gemm(a=self.a.name, b=self.b.name).elements[3])
        known = [of for of in (self.d, usual) if of is not None and of.bits <= 16]
        return lambda stored: next((of for of in known if is_raw(stored, of)), stored)

    def _scale(self, seen: View, name: str, rows: int, lead: Lead) -> tuple[int, tuple[int, int, int]]:
        """The mode of factors of blocks, and their strides."""
        if seen.element.name != "f32":
            raise refusal("dtype", name, f"{name} have elements of {seen.element.name}, and f32 is needed")
        mode = scale_mode(name, seen.shape, rows, self.form.k)
        batch = collapsed(lead, seen.shape[:-2], seen.strides[:-2]) if len(seen.shape) - 2 <= len(lead) else None
        if batch is None or min(batch, *seen.strides[-2:]) < 0:
            raise refusal(
                "strides",
                name,
                f"{name} have the strides {seen.strides} for the shape {seen.shape}: none is negative, and they go through "
                f"the batches {lead} evenly",
            )
        return mode, (*seen.strides[-2:], batch)

    def _gemm_options(self, transposed: Mapping[str, bool]) -> dict[str, Any]:
        o = self.options
        return {
            "a": self.a.name,
            "b": self.b.name,
            "c": None if self.c is None else self.c.name,
            "d": None if self.d is None else self.d.name,
            "epilogue": self.text,
            "a_is_m_major": transposed.get("A", False) or self.form.groups == ALONG_K,
            "b_is_n_major": transposed.get("B", False) or self.form.groups == ALONG_K,
            "c_is_column_major": transposed.get("C", False),
            "d_is_column_major": transposed.get("D", False),
            "promote": o.promote,
            "tile": o.tile,
            "cluster": o.cluster,
            "stages": o.stages,
            "functions": o.functions,
            "groups": self.form.groups,
            "scale_a": self._scales[SCALES_A][0],
            "scale_b": self._scales[SCALES_B][0],
            "gate": gate_code(o.gate),
            "gather_a": self._gathers,
            "scatter_d": SCATTERS[self._scatter] if self._scatter else NO_SCATTER,
            "expected_rows": o.expected_rows,
        }

    # ---- How arrays lie

    def _choose_layouts(self, given: Given) -> None:
        """Sees through strides where the library can, and copies what it refuses."""
        scratch: dict[str, str] = {}
        first_error: GantryError | None = None
        self.is_of_addresses = False
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
                self.is_of_addresses |= any(r.rule == _OVERLAP for r in error.reasons)
        self.copies = tuple(Copy(*one) for one in scratch.items())

    def _made(self) -> set[str]:
        """Outputs that are allocated here."""
        return {"D"} | {output.name for output in getattr(self, "_outputs", ())}

    def _layout(self, slot: Slot, seen: View, scratch: Mapping[str, str]) -> Layout:
        shape, strides = seen.shape, seen.strides
        if slot.name == "B" and not self.options.trans_b:
            shape, strides = (*shape[:-2], shape[-1], shape[-2]), (*strides[:-2], strides[-1], strides[-2])
        slot.check_shape(shape)
        if slot.is_output:
            check_output(slot, seen)
        if slot.name in EXTRAS and seen.element != slot.element and slot.name not in scratch:
            raise refusal("dtype", slot.name, f"{slot.name} have elements of {seen.element.name}, and s32 is needed")
        if slot.name in scratch:
            return slot.fresh_layout(slot.fresh_lead(slot.lead_of(shape)))
        found = slot.layout_of(shape, strides)
        if found is None:
            along_k = self.form.groups == ALONG_K and slot.name in ("A", "B")
            rule = "the first of the last two" if along_k else "one of the last two"
            raise refusal(
                "strides",
                slot.name,
                f"{slot.name} has the strides {strides} for the shape {shape}: {rule} is 1, and the others are positive "
                f"and go through all batches evenly{', as groups along K need it' if along_k else ''}",
            )
        return found

    def _try_layouts(self, given: Given, scratch: dict[str, str]) -> None:
        slots = matrix_slots(self.form, self.a, self.b, self.c, given.views)
        layouts = {name: self._layout(slot, given.views[name], scratch) for name, slot in slots.items()}
        # D of the GEMM is not known before it is made, but whether it is transposed follows from `out` alone.
        self._gemm = self.context.gemm(**self._gemm_options({n: l.transposed for n, l in layouts.items()}))
        form, d_element = self.form, element(self._gemm.elements[3])
        d_slot = d_slot_of(form, d_element)
        self.d_raw = self.raw and not is_native(d_slot.element)
        if "D" in given.views:
            if not holds(given.views["D"].element, d_slot.element):
                raise refusal(
                    "dtype", "D", f"out has elements of {given.views['D'].element.name}, and D is {d_slot.element.name}"
                )
            layouts["D"] = self._layout(d_slot, given.views["D"], scratch)
            if layouts["D"].transposed:
                self._gemm = self.context.gemm(**self._gemm_options({n: l.transposed for n, l in layouts.items()}))
        else:
            layouts["D"] = d_slot.fresh_layout(d_slot.lead) if "D" in scratch else d_slot.packed_layout()
        self._check_source(given)
        slots["D"] = d_slot
        self._slots = slots
        self._outputs = [Output("D", d_slot, self.d_raw)]
        arguments = self._argument_layouts(given, scratch)
        self._layouts, self._arguments = layouts, arguments
        self._make_call(given, scratch, layouts, arguments)

    def _check_source(self, given: Given) -> None:
        uses = self._gemm.elements[2] != "void" and "c" in words(self.text)
        if uses and "C" not in given.views:
            raise refusal("missing", "C", f"the epilogue uses c, and no c was given: {self.options.epilogue}")
        if not uses and "C" in given.views:
            raise refusal("unused", "C", f"c was given, and the epilogue does not use it: {self.options.epilogue}")

    def _argument_layouts(self, given: Given, scratch: Mapping[str, str]) -> list[tuple]:
        """(name, is a number, stride, batch stride) of every argument that is given or written."""
        out = []
        infos = {info[0]: info for info in self._gemm.arguments}
        for name in (*given.views, *given.numbers, *given.wanted):
            if name not in infos and name not in (*MATRICES, *EXTRAS):
                out.append((name, name in given.numbers, -1, -1))  # the library says which names there are
        for name, short, kind, column_major, optional, block in infos.values():
            if name in given.numbers:
                out.append((name, True, -1, -1))
                continue
            is_output = kind >= _core.AUX_OUT
            slot = argument_slot(self.form, Argument(name, element(short), kind, column_major, block))
            self._slots[name] = slot
            if is_output and (name in given.views or name in given.wanted or not optional):
                self._outputs.append(Output(name, slot, self.raw and not is_native(slot.element)))
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
                layout = slot.fresh_layout(slot.lead) if name in scratch else slot.packed_layout()
            else:
                continue  # the library says whether it may be left out
            out.append((name, False, layout.stride, layout.batch_stride))
        return out

    def _call_of(self, layouts: Mapping[str, Layout], arguments: list[tuple]) -> _core.Call:
        form = self.form
        strides = tuple(tuple(layouts[x][1:]) if x in layouts else (-1, -1) for x in MATRICES)
        return _core.Call(
            self._gemm,
            (form.m, form.n, form.k, form.batch),
            strides,
            (self._scales[SCALES_A][1], self._scales[SCALES_B][1]),
            tuple(arguments),
            self.options.dependent,
            (form.a_rows if self._gathers else 0, form.d_rows if self._scatter else 0),
            self.options.check,
        )

    def _make_call(
        self, given: Given, scratch: Mapping[str, str], layouts: Mapping[str, Layout], arguments: list[tuple]
    ):
        self._names = tuple(one[0] for one in arguments)
        self._call = self._call_of(layouts, arguments)
        places = {
            name: seen.address for name, seen in given.views.items() if name not in scratch and 0 not in seen.shape
        }
        self._example = self._addresses(places, given.numbers)
        self._call.check(self._example)

    def _check_names(self, absent: set[str]) -> None:
        """What is None or False is left out, and yet a name of the epilogue: the library says which there are."""
        unknown = sorted(absent - {info[0] for info in self._gemm.arguments}) if absent else ()
        if unknown:
            self._call_of(self._layouts, [*self._arguments, *((name, False, -1, -1) for name in unknown)]).check(
                (*self._example, *map(nowhere, range(64, 64 + len(unknown))))
            )

    def _addresses(self, places: Mapping[str, int], numbers: Mapping[str, float]) -> tuple:
        """Of the operands and the arguments; arrays without a place, and those without elements, are nowhere."""
        there = {*self._slots, *(name for name, (mode, _) in self._scales.items() if mode != NO_SCALE)}
        names = self.places
        first = len(names) - len(self._names)
        operands = (places.get(x, nowhere(i) if x in there else 0) for i, x in enumerate(names[:first]))
        rest = (numbers[x] if x in numbers else places.get(x, nowhere(i)) for i, x in enumerate(names[first:], first))
        return (*operands, *rest)

    @property
    def places(self) -> tuple[str, ...]:
        """Whose addresses a launch takes, in their order. One place is for the index that scatters rows, whichever it is."""
        scatter = self._scatter or SCATTER
        return (*MATRICES, *(x for x in EXTRAS if x not in SCATTERS), scatter, *self._names)

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
        extras = take_extras(named)
        given = gather(a, b, c, out, {**(arguments or {}), **named}, stream, extras)
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
        self._check_names(given.absent)
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
            if name in given.views:
                check_writeable(name, given.views[name])  # plans are for arrays of both kinds
            if target is None:
                target = self._new(given, slot, raw)
            results.append(target)
            if name in copied:
                shape = (
                    (*slot.lead, slot.lines or 1, slot.fresh_units()) if slot.lines is not None else slot.whole_shape()
                )
                scratch = empty(given, slot, shape, raw)
                places[name] = view(name, scratch, given.library, None).address
                if name == "D" and self._scatter:
                    unpadded(scratch, slot)[...] = target  # rows that no index names stay
                back.append((target, scratch, slot))
            elif name not in given.views and 0 not in target.shape:
                places[name] = view(name, target, given.library, None).address
        addresses = self._addresses(places, given.numbers)
        report = None
        try:
            if launch is None:
                self.launch(addresses, given.stream, given.library, given.objects["A"])
            else:
                report = launch(self._call, addresses)
        except InvalidArgument as error:
            # These arrays overlap, and those that it was planned for did not: nothing was launched.
            if not self.options.copy or error.rule != _OVERLAP or error.operand in copied:
                raise
            return Plan(given, self.options, self.context).run(given, launch)
        for target, scratch, slot in back:
            target[...] = unpadded(scratch, slot)
        values = results[0] if len(results) == 1 else outputs_type(tuple(o.name for o in self._outputs[1:]))(*results)
        return values if launch is None else (values, report)

    def launch(self, addresses: tuple, stream: int, library: Library, like: Any) -> None:
        """Runs with workspace from the allocator of ``library``, or with the context's where it has none to give.

        A size that is new, or has a better kernel since, says by its refusal what it needs: only a run knows whether its
        stream is being captured.
        """
        if not library.gives_workspace(like):
            self._call.run(addresses, stream, 0, 0)
            return
        while True:
            count = self._workspace_bytes
            memory = library.workspace(like, count) if count else None
            try:
                self._call.run(addresses, stream, memory.data_ptr() if count else addresses[_D], count)
                return
            except InvalidArgument as error:
                needed = max((r.nearest for r in error.reasons if r.rule == "workspace_too_small"), default=0)
                if needed <= count:
                    raise
                self._workspace_bytes = needed

    def _new(self, given: Given, slot: Slot, raw: bool) -> Any:
        """A new array for an output."""
        if not slot.swaps:
            return empty(given, slot, slot.whole_shape(), raw)
        shape = (*slot.lead, slot.lines or 0, slot.units)
        return empty(given, slot, shape, raw).swapaxes(-1, -2)

    def _copy_in(self, given: Given, slot: Slot, source: Any) -> Any:
        source = as_array(source)
        lead = slot.fresh_lead(slot.lead_of(tuple(source.shape)))
        if slot.name == "B" and not self.options.trans_b:
            source = source.swapaxes(-1, -2)
        raw = is_raw(given.views[slot.name].element, slot.element)
        if slot.lines is None:
            target = empty(given, slot, lead + slot.shape, raw)
            target[...] = of_int32(source) if slot.name in EXTRAS else source
            return target
        shape = (*lead, slot.lines, slot.fresh_units())
        target = empty(given, slot, shape, raw)
        unpadded(target, slot)[...] = source
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
        return f"<gantry.Plan {self.form}, {self.a.name} to {self._slots['D'].element.name}: {self.text}>"

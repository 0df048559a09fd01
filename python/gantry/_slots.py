"""The slot of each operand of a form: the extents and the element that its array has. Plain arithmetic."""

from __future__ import annotations

from typing import Mapping, NamedTuple

from . import _core
from ._arrays import View
from ._elements import Element, element
from ._form import ALONG_K, COUNTS, INDICES, OFFSETS, Form, Lead
from ._layouts import Slot


class Argument(NamedTuple):
    """An argument of an epilogue, as the library lists it."""

    name: str
    element: Element
    kind: int
    column_major: bool
    block: int


def matrix_slots(form: Form, a: Element, b: Element, c: Element | None, views: Mapping[str, View]) -> dict[str, Slot]:
    """Of A, B, and what is given of C and the operands that are neither matrices nor arguments."""
    slots = {
        "A": _factor(form, "A", a, form.of_a, form.a_rows),
        "B": _factor(form, "B", b, form.of_b, form.n),
    }
    if c is not None:
        slots["C"] = Slot("C", c, form.of_d, form.m, form.columns, may_transpose=True)
    for name in (OFFSETS, COUNTS):
        if name in views:
            slots[name] = Slot(name, element("s32"), (), None, form.batch + (name == OFFSETS))
    for name in INDICES:
        if name in views:
            slots[name] = Slot(name, element("s32"), form.of_d, None, form.m, is_whole=True)
    return slots


def _factor(form: Form, name: str, of: Element, lead: Lead, rows: int) -> Slot:
    if form.groups == ALONG_K:  # groups are runs of whole lines: those go along M or N
        return Slot(name, of, lead, form.k, rows, column_major=True)
    return Slot(name, of, lead, rows, form.k, may_transpose=True)


def d_slot_of(form: Form, of: Element) -> Slot:
    return Slot("D", of, form.of_d, form.d_rows, form.columns, may_transpose=True, is_output=True)


def argument_slot(form: Form, argument: Argument) -> Slot:
    name, of, kind, column_major, block = argument
    is_output = kind >= _core.AUX_OUT
    if kind in (_core.AUX_IN, _core.AUX_OUT) or block > 0:
        rows, columns = form.m, form.columns
        if block > 0 and kind == _core.REDUCE_ROW:
            rows = -(-rows // block)
        elif block > 0:
            columns = -(-columns // block)
        lines, length = (columns, rows) if column_major else (rows, columns)
        return Slot(name, of, form.of_d, lines, length, column_major=column_major, is_output=is_output)
    if kind in (_core.SCALAR, _core.REDUCE_SCALAR):
        return Slot(name, of, form.lead, None, None, is_output=is_output)
    if kind in (_core.ROW, _core.REDUCE_ROW):
        return Slot(name, of, form.lead, None, form.columns, is_output=is_output)
    return Slot(name, of, form.of_d, None, form.m, is_output=is_output)

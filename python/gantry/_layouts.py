"""How operands lie in memory: which strides the library can be given, and what a copy looks like. Plain arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from ._elements import Element
from ._errors import refusal


class Layout(NamedTuple):
    """As gantry_matrix has it: strides count elements; transposed: lines run along the other extent."""

    transposed: bool
    stride: int
    batch_stride: int


@dataclass(frozen=True)
class Slot:
    """A place for an array: ``lines`` of ``length`` elements for each batch, a vector of ``length``, or one number.

    Elements of less than a byte are packed into uint8: the array then has bytes where others have elements.
    """

    name: str
    element: Element
    lead: tuple[int, ...]  #: of the whole GEMM
    lines: int | None  #: None: a vector
    length: int | None  #: None: one number
    may_transpose: bool = False
    column_major: bool = False  #: lines are columns of an M x N matrix
    is_output: bool = False
    is_whole: bool = False  #: has all batches, one after the other

    @property
    def per_unit(self) -> int:
        """Elements in one unit of the array."""
        return 8 // self.element.bits if self.element.bits < 8 else 1

    @property
    def units(self) -> int:
        return 1 if self.length is None else -(-self.length // self.per_unit)

    @property
    def swaps(self) -> bool:
        """The array has its last two dimensions the other way round than lines lie."""
        return self.column_major and self.per_unit == 1

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the array, without batches."""
        if self.lines is None:
            return () if self.length is None else (self.units,)
        return (self.units, self.lines) if self.swaps else (self.lines, self.units)

    def whole_shape(self) -> tuple[int, ...]:
        return self.lead + self.shape

    def fresh_units(self) -> int:
        """Units from one line of a copy to the next: a multiple of 16 bytes."""
        step = max(1, 128 // max(self.element.bits, 8))
        return max(step, -(-self.units // step) * step)

    def fresh_layout(self, lead: tuple[int, ...]) -> Layout:
        stride = self.fresh_units() * self.per_unit
        if self.lines is None:
            return Layout(False, -1, batch_stride_of_packed(self.lead, lead, self.units * self.per_unit))
        return Layout(False, stride, batch_stride_of_packed(self.lead, lead, stride * self.lines))

    def packed_layout(self) -> Layout:
        """Of a new array without gaps, one for all batches."""
        line = self.units * self.per_unit
        if self.lines is None:
            return Layout(False, -1, line)
        return Layout(False, line, line * self.lines)

    def fresh_lead(self, lead: tuple[int, ...]) -> tuple[int, ...]:
        """Batches that a copy has: those of the array, or all where the array is shared by some of them only."""
        shares = prod(lead) in (1, prod(self.lead)) and not self.is_output and not self.is_whole
        return lead if shares else self.lead

    def layout_of(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> Layout | None:
        """Of an array that fits; None where no strides say it."""
        batches = len(self.lead_of(shape))
        batch = collapsed(self.lead, shape[:batches], strides[:batches])
        if batch is None or batch < 0:
            return None
        if self.is_whole and prod(self.lead) > 1 and batch != self.units:
            return None
        if self.lines is None:
            return Layout(False, -1, batch * self.per_unit) if self.units <= 1 or strides[-1] == 1 else None
        line_stride, step = (strides[-1], strides[-2]) if self.swaps else (strides[-2], strides[-1])
        seen = self._seen(line_stride, step)
        return None if seen is None else Layout(seen[0], seen[1] * self.per_unit, batch * self.per_unit)

    def _seen(self, line_stride: int, step: int) -> tuple[bool, int] | None:
        lines, units = self.lines or 0, self.units
        if lines <= 1 and (units <= 1 or step == 1):
            return False, self.fresh_units()
        if self.may_transpose and line_stride == 1 and units <= 1:
            return True, -(-lines // 16) * 16
        if line_stride >= 0 and (step == 1 or units <= 1):
            return False, line_stride
        if self.may_transpose and line_stride == 1 and step >= 0:
            return True, step
        return None

    def check_shape(self, shape: tuple[int, ...]) -> None:
        own = self.lead_of(shape)
        if shape[len(own) :] == self.shape and _broadcasts(self.lead, own, self.is_output):
            return
        whole = self.lead + self.shape
        packed = f" ({self.per_unit} elements a byte)" if self.per_unit > 1 else ""
        raise refusal("shape", self.name, f"{self.name} has the shape {shape}, and {whole}{packed} is needed")

    def lead_of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The batches of an array's shape."""
        return shape[: max(0, len(shape) - len(self.shape))]


def _broadcasts(lead: tuple[int, ...], own: tuple[int, ...], whole: bool) -> bool:
    if whole:
        return own == lead
    padded = (1,) * (len(lead) - len(own)) + own
    return len(padded) == len(lead) and all(size in (1, all_) for size, all_ in zip(padded, lead))


def batch_stride_of_packed(lead: tuple[int, ...], own: tuple[int, ...], elements: int) -> int:
    return elements if prod(own) > 1 or prod(lead) <= 1 else 0


def collapsed(lead: tuple[int, ...], own: tuple[int, ...], strides: tuple[int, ...]) -> int | None:
    """One stride that goes through all batches; 0 where all share one matrix, None where there is none."""
    missing = len(lead) - len(own)
    steps = [
        (size, 0 if i < missing or own[i - missing] == 1 else strides[i - missing])
        for i, size in enumerate(lead)
        if size != 1
    ]
    if not steps:
        return 0
    stride = steps[-1][1]
    expected = stride
    for size, step in reversed(steps):
        if step != expected:
            return None
        expected = step * size
    return stride


def broadcast(name: str, lead: tuple[int, ...], own: tuple[int, ...]) -> tuple[int, ...]:
    """The batches of two operands together."""
    rank = max(len(lead), len(own))
    left, right = (1,) * (rank - len(lead)) + lead, (1,) * (rank - len(own)) + own
    if any(x != y and 1 not in (x, y) for x, y in zip(left, right)):
        raise refusal("batch", name, f"{name} has the batches {own}, and those of A are {lead}: each is the same, or 1")
    return tuple(y if x == 1 else x for x, y in zip(left, right))

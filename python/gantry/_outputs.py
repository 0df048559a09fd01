"""Arrays that a run makes or writes: new ones of A's library, copies with whole lines, the named tuple of results."""

from __future__ import annotations

import collections
import functools
import re
from typing import Any

from ._arrays import View
from ._elements import Element, is_integer
from ._errors import GantryError, of_operand, refusal
from ._given import Given
from ._layouts import Slot


def empty(given: Given, slot: Slot, shape: tuple[int, ...], raw: bool) -> Any:
    """A new array of A's library."""
    try:
        return given.library.empty(given.objects["A"], shape, slot.element, raw)
    except GantryError as error:
        raise of_operand(error, slot.name) from error.__cause__


def is_native(of: Element) -> bool:
    """NumPy has it."""
    return of.name in ("f16", "f32", "f64") or is_integer(of)


def words(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", re.sub(r"#.*", "", text)))


def check_writeable(name: str, seen: View) -> None:
    if seen.readonly:
        raise refusal("readonly", name, f"{name} is written to, and its array is read-only")


def check_output(slot: Slot, seen: View) -> None:
    check_writeable(slot.name, seen)
    if any(stride == 0 and size > 1 for size, stride in zip(seen.shape, seen.strides)):
        raise refusal(
            "strides", slot.name, f"{slot.name} is written to, and a stride of 0 lets its elements share memory"
        )


def unpadded(scratch: Any, slot: Slot) -> Any:
    if slot.lines is None:
        return scratch
    lines = scratch[..., : slot.units]
    return lines.swapaxes(-1, -2) if slot.swaps else lines


def as_array(source: Any) -> Any:
    if hasattr(source, "swapaxes"):
        return source
    import numpy

    return numpy.asarray(source)


def of_int32(source: Any) -> Any:
    """Whole numbers that int32 holds. Others become the nearest that it does, and do not wrap around to some row.

    >>> import numpy as np
    >>> of_int32(np.array([7, 1 << 40, -(1 << 40)])).tolist(), of_int32(np.array([7, 1 << 63], np.uint64)).tolist()
    ([7, 2147483647, -2147483648], [7, 2147483647])
    """
    import numpy

    if not hasattr(source, "clip"):
        source = numpy.asarray(source)
    signed = "uint" not in str(source.dtype)
    return source.clip(-(1 << 31) if signed else 0, (1 << 31) - 1) if source.dtype.itemsize >= 4 else source


@functools.lru_cache(maxsize=None)
def outputs_type(names: tuple[str, ...]) -> type:
    return collections.namedtuple("Outputs", ("d", *names), rename=True, module="gantry")

"""Element types: the library's short names, and the dtypes of array libraries."""

from __future__ import annotations

import functools
from typing import NamedTuple

from . import _core
from ._errors import refusal


class Element(NamedTuple):
    """An element type, as the library and as arrays call it.

    >>> import gantry
    >>> gantry.element("float8_e4m3fn").name, gantry.element("tf32").bits
    ('e4m3', 32)
    """

    name: str  #: short: "bf16"
    python_name: str  #: numeric Python's: "bfloat16"
    bits: int  #: in memory


@functools.lru_cache(maxsize=256)
def element(name: str) -> Element:
    """An element type by any of its names: short, CuTe's, or numeric Python's.

    >>> element("bfloat16")
    Element(name='bf16', python_name='bfloat16', bits=16)
    """
    return Element(*_core.element(name))


def element_of(dtype: object) -> Element:
    """The element of a dtype of any library: a name, ``numpy.float16``, ``torch.bfloat16``, ``ml_dtypes.float8_e5m2``."""
    if isinstance(dtype, Element):
        return dtype
    if isinstance(dtype, str):
        return element(dtype)
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    return element(str(name).rsplit(".", 1)[-1])


def holds(stored: Element, meant: Element) -> bool:
    """Whether an array of ``stored`` may be read as ``meant``: itself, tf32 in f32, or raw bits in unsigned integers."""
    if stored == meant or (stored.name, meant.name) == ("f32", "tf32"):
        return True
    return is_raw(stored, meant)


def is_raw(stored: Element, meant: Element) -> bool:
    """Whether ``stored`` is an unsigned integer that only carries the bits of ``meant``."""
    if stored == meant or not stored.python_name.startswith("uint"):
        return False
    return stored.bits == meant.bits or (meant.bits < 8 and stored.bits == 8)


def is_integer(of: Element) -> bool:
    """Whether elements are whole numbers of a byte or more.

    >>> is_integer(element("s64")), is_integer(element("f32")), is_integer(element("u4"))
    (True, False, False)
    """
    return of.python_name.startswith(("int", "uint")) and of.bits >= 8


def whole_numbers(operand: str, of: Element) -> None:
    """Refuses offsets, counts and indices of any other element: a NaN would become some row."""
    if not is_integer(of):
        raise refusal("dtype", operand, f"{operand} have elements of {of.name}: whole numbers are needed, of int32")


def understood(operand: str, stored: Element, asked: object) -> Element:
    """What an operand's elements are: ``asked`` where the array can hold them, else as stored."""
    if asked is None:
        return stored
    meant = element_of(asked)
    if not holds(stored, meant):
        raise refusal(
            "dtype",
            operand,
            f"{operand} has elements of {stored.python_name}, and dtype asks for {meant.name}: an array holds its own "
            f"elements, tf32 in float32, or raw bits in uint{max(meant.bits, 8)}; convert {operand} first",
            stored.bits,
            meant.bits,
        )
    return meant

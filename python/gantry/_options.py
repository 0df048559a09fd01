"""The options of a GEMM, as :func:`gantry.gemm` documents them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

from ._errors import refusal


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
    gate: str = "halves"
    groups_along: str = "m"
    check: bool = False


def options_of(given: Mapping[str, Any]) -> Options:
    """The options among everything that a function was called with."""
    fields = {name: given[name] for name in Options.__dataclass_fields__ if name in given}
    functions = fields.get("functions") or {}
    fields["functions"] = tuple((name, parameters, body) for name, (parameters, body) in functions.items())
    for pair in ("tile", "cluster"):
        if pair in fields:
            fields[pair] = _pair(pair, fields[pair])
    if isinstance(fields.get("dtype"), list):
        fields["dtype"] = tuple(fields["dtype"])
    return Options(**fields)


def _pair(name: str, value: Any) -> tuple[int, int]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise refusal(name, "", f"{name} is {value!r}: it is a pair, of rows and columns")
    return tuple(value)

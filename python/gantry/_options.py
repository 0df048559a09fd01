"""The options of a GEMM. The signature of :func:`gantry.gemm` has them written out, and its docstring says what they are;
every other function that takes them is shown with the same ones."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from operator import index
from typing import Any, Callable, Collection, Mapping, TypeVar

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
    dependent: bool | None = None
    gate: str = "halves"
    groups_along: str = "m"
    expected_rows: tuple[int, ...] = ()
    check: bool = False


_Function = TypeVar("_Function", bound=Callable)


def takes_options_of(like: Callable, without: Collection[str] = ()) -> Callable[[_Function], _Function]:
    """A function of ``a``, ``b``, options of its own and ``**given`` shows the options of another one in place of
    ``given``, but for some. So do help() and completion; type checkers read stubs (scripts/python_stubs.py).

    >>> import inspect
    >>> def run(a, b, *, tile: int = 0, stages: int = 0, **named): ...
    >>> @takes_options_of(run, without=["stages"])
    ... def trace(a, b, *, seed: int = 0, **given) -> str: ...
    >>> str(inspect.signature(trace)).replace("'", "")
    '(a, b, *, seed: int = 0, tile: int = 0, **named) -> str'
    >>> named_options(trace, {"tile": 8, "bias": 1, "stages": 2})
    ({'tile': 8}, {'bias': 1, 'stages': 2})
    """

    def decorate(function: _Function) -> _Function:
        own = inspect.signature(function)
        kept = [x for x in own.parameters.values() if x.kind != x.VAR_KEYWORD]
        theirs = inspect.signature(like).parameters.values()
        shown = [x for x in theirs if x.name not in own.parameters and x.name not in without]
        function.__signature__ = own.replace(parameters=[*kept, *shown])
        return function

    return decorate


def named_options(function: Callable, given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What ``**given`` of such a function has: options, and arguments of the epilogue."""
    names = {name for name, x in function.__signature__.parameters.items() if x.kind == x.KEYWORD_ONLY}
    options = {name: x for name, x in given.items() if name in names}
    return options, {name: x for name, x in given.items() if name not in names}


def options_of(given: Mapping[str, Any]) -> Options:
    """The options among everything that a function was called with."""
    fields = {name: given[name] for name in Options.__dataclass_fields__ if name in given}
    functions = fields.get("functions") or {}
    fields["functions"] = tuple((name, parameters, body) for name, (parameters, body) in functions.items())
    for pair in ("tile", "cluster"):
        if pair in fields:
            fields[pair] = _pair(pair, fields[pair])
    fields["expected_rows"] = _rows(fields.get("expected_rows"))
    if isinstance(fields.get("dtype"), list):
        fields["dtype"] = tuple(fields["dtype"])
    return Options(**fields)


def _rows(given: Any) -> tuple[int, ...]:
    """Whole numbers that fit into 64 bits; the library says which of them are rows.

    >>> _rows(range(3)), _rows(None)
    ((0, 1, 2), ())
    """
    is_list = hasattr(given, "__iter__") and getattr(given, "ndim", 1) == 1 and not isinstance(given, (str, bytes))
    if given is not None and not is_list:
        kind = type(given).__name__
        raise refusal("expected_rows", "", f"expected_rows is a {kind}: a sequence of rows of groups is needed, [8, 500]")
    rows = []
    for one in () if given is None else given:
        try:
            rows.append(index(one))
        except TypeError:
            raise refusal("expected_rows", "", f"expected_rows has {one!r}: rows of a group are a whole number") from None
        if not -(1 << 63) <= rows[-1] < 1 << 63:
            raise refusal("expected_rows", "", f"expected_rows has {one}: a group has less than 2^31 rows")
    return tuple(rows)


def _pair(name: str, value: Any) -> tuple[int, int]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise refusal(name, "", f"{name} is {value!r}: it is a pair, of rows and columns")
    return tuple(value)

"""Exceptions: what the library refuses, with the rule and the numbers as attributes and the sentence as text."""

from __future__ import annotations

from typing import NamedTuple

from . import _core


class Reason(NamedTuple):
    """One reason why a call was refused.

    >>> import gantry
    >>> try:
    ...     gantry.Context("cpu")
    ... except gantry.GantryError as error:
    ...     print(error.reasons[0].sentence)
    machine is 'cpu': it is one of 'automatic', 'gpu', 'simulated'
    """

    status: int
    rule: str  #: name of the rule that was broken; empty where there is none
    operand: str  #: A, B, C, D or the name of an argument; empty where there is none
    actual: int
    nearest: int
    sentence: str


class GantryError(Exception):
    """What went wrong, in sentences. ``rule``, ``operand``, ``actual`` and ``nearest`` are those of the first reason.

    >>> import gantry
    >>> try:
    ...     gantry.element("bf17")
    ... except gantry.GantryError as error:
    ...     print(type(error).__name__, isinstance(error, ValueError), "bf16" in str(error))
    InvalidArgument True True
    """

    def __init__(self, sentence: str, reasons: tuple[Reason, ...] = ()):
        super().__init__(sentence)
        self.reasons = reasons

    def _of_first(self, field: str, otherwise):
        return getattr(self.reasons[0], field) if self.reasons else otherwise

    @property
    def rule(self) -> str:
        return self._of_first("rule", "")

    @property
    def operand(self) -> str:
        return self._of_first("operand", "")

    @property
    def actual(self) -> int:
        return self._of_first("actual", 0)

    @property
    def nearest(self) -> int:
        return self._of_first("nearest", 0)


class InvalidArgument(GantryError, ValueError):
    """It has no meaning, or cannot be addressed.

    >>> import numpy as np, gantry
    >>> try:
    ...     gantry.gemm(np.ones((32, 64), np.float16), np.ones((16, 48), np.float16))
    ... except gantry.InvalidArgument as error:
    ...     print(error.rule, error.operand, error.actual, error.nearest)
    shape B 48 64
    """


class Unsupported(GantryError, ValueError):
    """It has a meaning, and no kernel of the library computes it.

    >>> import numpy as np, gantry
    >>> try:
    ...     gantry.gemm(np.ones((32, 64), np.float16), np.ones((16, 64), np.float16), tile=(100, 64))
    ... except gantry.Unsupported as error:
    ...     print(error.rule, error.actual, error.nearest)
    tile_rows 100 128
    """


class NoDevice(GantryError, RuntimeError):
    """There is no GPU that can run it.

    >>> import gantry
    >>> try:
    ...     gantry.Context("gpu", device=77)
    ... except gantry.NoDevice:
    ...     print("no GPU 77")
    no GPU 77
    """


class NoKernel(GantryError, RuntimeError):
    """The kernel is not there, and the policy or the moment forbids to compile it.

    >>> import numpy as np, tempfile, gantry
    >>> with tempfile.TemporaryDirectory() as empty:
    ...     context = gantry.Context("simulated", policy="never", cache_directory=empty)
    ...     try:
    ...         gantry.gemm(np.ones((32, 64), np.float16), np.ones((16, 64), np.float16), context=context)
    ...     except gantry.NoKernel:
    ...         print("not compiled")
    not compiled
    """


class CompileFailed(GantryError, RuntimeError):
    """There is no compiler, or it failed.

    >>> import gantry
    >>> issubclass(gantry.CompileFailed, gantry.GantryError) and issubclass(gantry.CompileFailed, RuntimeError)
    True
    """


class DeviceFailed(GantryError, RuntimeError):
    """The driver refused a call.

    >>> import gantry
    >>> issubclass(gantry.DeviceFailed, gantry.GantryError) and issubclass(gantry.DeviceFailed, RuntimeError)
    True
    """


class OutOfMemory(GantryError, MemoryError):
    """The memory of the machine has run out.

    >>> import gantry
    >>> issubclass(gantry.OutOfMemory, gantry.GantryError) and issubclass(gantry.OutOfMemory, MemoryError)
    True
    """


class SimulationFailed(GantryError, RuntimeError):
    """The simulated SM found a mistake, or could not go on.

    >>> import gantry
    >>> issubclass(gantry.SimulationFailed, gantry.GantryError) and issubclass(gantry.SimulationFailed, RuntimeError)
    True
    """


class InternalError(GantryError, RuntimeError):
    """A mistake of the library's own.

    >>> import gantry
    >>> issubclass(gantry.InternalError, gantry.GantryError) and issubclass(gantry.InternalError, RuntimeError)
    True
    """


# By gantry_status.
_CLASSES: dict[int, type[GantryError]] = {
    1: InvalidArgument,
    2: Unsupported,
    3: NoDevice,
    4: NoKernel,
    5: CompileFailed,
    6: DeviceFailed,
    7: OutOfMemory,
    8: SimulationFailed,
}


def _make(status: int, name: str, sentence: str, reasons: tuple[tuple, ...]) -> GantryError:
    return _CLASSES.get(status, InternalError)(sentence or name, tuple(Reason(*r) for r in reasons))


_core.set_error_maker(_make)


def of_operand(error: GantryError, operand: str) -> GantryError:
    """A refusal that does not know which operand it is of."""
    if error.operand or len(error.reasons) != 1:
        return error
    (reason,) = error.reasons
    sentence = f"{operand}: {reason.sentence}"
    return type(error)(sentence, (reason._replace(operand=operand, sentence=sentence),))


def refusal(rule: str, operand: str, sentence: str, actual: int = 0, nearest: int = 0) -> InvalidArgument:
    """An error that this package finds by itself, of the form of the library's own."""
    return InvalidArgument(sentence, (Reason(1, rule, operand, actual, nearest, sentence),))

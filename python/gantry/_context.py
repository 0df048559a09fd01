"""Contexts: a GPU or the simulated SM, with its kernel cache, tuning file and compiler."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any, Sequence

from . import _core
from ._errors import refusal

_MACHINES = {
    "automatic": _core.MACHINE_AUTOMATIC,
    "gpu": _core.MACHINE_GPU,
    "simulated": _core.MACHINE_SIMULATED,
}
_POLICIES = {
    "background": _core.COMPILE_BACKGROUND,
    "wait": _core.COMPILE_WAIT,
    "never": _core.COMPILE_NEVER,
}


#: Of a GEMM, as gantry.h has them.
_GEMM_OPTIONS = {
    "b": None,
    "c": None,
    "d": None,
    "epilogue": "d = acc",
    "a_is_m_major": False,
    "b_is_n_major": False,
    "c_is_column_major": False,
    "d_is_column_major": False,
    "promote": False,
    "tile": (0, 0),
    "cluster": (0, 0),
    "stages": 0,
    "functions": (),
    "groups": 0,
    "scale_a": 0,
    "scale_b": 0,
    "gate": 0,
    "gather_a": False,
    "scatter_d": 0,
    "expected_rows": (),
}


def _choice(what: str, value: str, choices: dict[str, int]) -> int:
    if value not in choices:
        raise refusal(what, "", f"{what} is {value!r}: it is one of {', '.join(map(repr, choices))}")
    return choices[value]


class Context:
    """A machine that GEMMs run on. May be used by many threads at once.

    ``machine``: ``"gpu"``, ``"simulated"``, or ``"automatic"``: a GPU where there is one, else the simulated SM.
    ``policy``: what happens where the best kernel for a size is not there. ``"background"``: the best one that is there
    runs, and a better one is compiled meanwhile; ``"wait"``: it is compiled first; ``"never"``: the best one in the
    cache or shipped.

    >>> import gantry
    >>> context = gantry.Context("simulated", seed=7)
    >>> context.simulated
    True
    """

    def __init__(
        self,
        machine: str = "automatic",
        *,
        device: int = 0,
        policy: str = "background",
        most_kernels: int = 0,
        most_plans: int = 0,
        compile_threads: int = 0,
        cache_directory: str | os.PathLike | None = None,
        tuning_file: str | os.PathLike | None = None,
        shipped: Sequence[str | os.PathLike] = (),
        sms: int = 0,
        seed: int = 0,
        checker: bool = True,
    ):
        self.handle = _core.Context(
            machine=_choice("machine", machine, _MACHINES),
            device=device,
            policy=_choice("policy", policy, _POLICIES),
            most_kernels=most_kernels,
            most_plans=most_plans,
            compile_threads=compile_threads,
            cache_directory=None if cache_directory is None else os.fspath(cache_directory),
            tuning_file=None if tuning_file is None else os.fspath(tuning_file),
            shipped=[os.fspath(folder) for folder in shipped],
            sms=sms,
            seed=seed,
            checker=checker,
        )
        self.device = device
        self._gemms: dict[tuple, _core.Gemm] = {}
        self.plans: dict[tuple, Any] = {}  #: by signature and options; they go with their context

    @property
    def simulated(self) -> bool:
        return self.handle.simulated

    @property
    def notes(self) -> list[str]:
        """What is worth knowing and stops nothing: a cache that is not used, say."""
        return self.handle.notes.splitlines()

    def wait_for_compilations(self) -> None:
        """Returns when none of its GEMMs has a kernel that is being compiled in the background.

        >>> import gantry
        >>> gantry.Context("simulated").wait_for_compilations()
        """
        self.handle.wait_for_compilations()

    def gemm(self, **options) -> _core.Gemm:
        """The GEMM of these elements and this epilogue; the same one each time, whether or not defaults are written."""
        options = {**_GEMM_OPTIONS, **options}
        key = tuple(sorted(options.items()))
        found = self._gemms.get(key)
        if found is None:
            found = self._gemms.setdefault(key, _core.Gemm(self.handle, **options))
        return found

    def __repr__(self) -> str:
        return "gantry.Context('simulated')" if self.simulated else f"gantry.Context('gpu', device={self.device})"


#: Where a wheel has kernels that were compiled before, in the form of the cache.
KERNELS = Path(__file__).parent / "kernels"


def shipped_kernels() -> list[Path]:
    """Folders of kernels that came with the package."""
    return [KERNELS] if KERNELS.is_dir() else []


_lock = threading.Lock()
_contexts: dict[tuple[str, int], Context] = {}


def default_context(device: str, index: int) -> Context:
    """That arrays on this device run on: one for each GPU, and one simulated SM for the CPU."""
    key = (device, index if device == "cuda" else 0)
    found = _contexts.get(key)
    if found is None:
        with _lock:
            found = _contexts.get(key)
            if found is None:
                # A kernel for the simulated SM takes seconds to compile, and one computes every size.
                shipped = shipped_kernels()
                if device == "cuda":
                    found = Context("gpu", device=index, shipped=shipped)
                else:
                    found = Context("simulated", most_kernels=1, shipped=shipped)
                _contexts[key] = found
    return found


def wait_for_default_contexts() -> None:
    """Until none of the contexts that arrays run on has a kernel that is being compiled in the background."""
    with _lock:
        found = list(_contexts.values())
    for context in found:
        context.wait_for_compilations()

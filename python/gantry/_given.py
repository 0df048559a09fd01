"""The arrays of one call: looked at once, with the stream that the GEMM runs in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping

from ._arrays import CUDA, Library, View, library_of, view
from ._errors import refusal
from ._form import EXTRAS, INDICES, option_of


@dataclass
class Given:
    """The arrays of one call: objects, views, and numbers."""

    library: Library
    stream: int
    objects: dict[str, Any] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)
    wanted: set[str] = field(default_factory=set)  # optional outputs that are asked for
    absent: set[str] = field(default_factory=set)  # named, and None or False

    def signature(self) -> tuple:
        """What a plan depends on; not the order in which arguments are given."""
        return (
            tuple((name, self.views[name].signature()) for name in sorted(self.views)),
            tuple(sorted(self.numbers)),
            frozenset(self.wanted),
            self.library.name,
        )


def take_extras(named: dict[str, Any]) -> dict[str, Any]:
    """Takes the arrays that are neither matrices nor arguments of the epilogue out of what was given by name."""
    scales = named.pop("block_scales", None)
    if scales is None:
        scales = (None, None)
    elif not isinstance(scales, (tuple, list)) or len(scales) != 2:
        raise refusal("scales", "", "block_scales is a pair: the factors of A's blocks and those of B's")
    indices = (named.pop(option_of(name), None) for name in INDICES)
    given = (named.pop("groups", None), named.pop("group_counts", None), *scales, *indices)
    return {name: x for name, x in zip(EXTRAS, given) if x is not None}


def gather(
    a: Any, b: Any, c: Any, out: Any, arguments: Mapping[str, Any], stream: Any, extras: Mapping[str, Any] | None = None
) -> Given:
    """Looks at everything that a call was given."""
    library = library_of(a)
    first = view("A", a, library, stream_number(stream))
    given = Given(library, _stream_of(library, first, stream))
    given.objects["A"], given.views["A"] = a, first
    _wait_for_writer(given, first)
    for name, x in (("B", b), ("C", c), ("D", out)):
        if x is not None:
            _look_at(given, name, x)
    for name, x in (extras or {}).items():
        _look_at(given, name, x)
    for name, x in arguments.items():
        if isinstance(x, bool) or x is None:
            (given.wanted if x else given.absent).add(name)
        elif isinstance(x, (int, float)) or _is_number_of_numpy(x):
            given.numbers[name] = float(x)
        else:
            _look_at(given, name, x)
    return given


def _is_number_of_numpy(x: Any) -> bool:
    return type(x).__module__ in ("numpy", "ml_dtypes") and hasattr(x, "__float__") and not hasattr(x, "__dlpack__")


def _look_at(given: Given, name: str, x: Any) -> None:
    seen = view(name, x, given.library, given.stream if given.views["A"].device == CUDA else None)
    first = given.views["A"]
    if (seen.device, seen.index) != (first.device, first.index):
        raise refusal(
            "device",
            name,
            f"{name} is on {seen.device}:{seen.index}, and A on {first.device}:{first.index}: all lie on one device",
        )
    _wait_for_writer(given, seen)
    given.objects[name], given.views[name] = x, seen


def _wait_for_writer(given: Given, seen: View) -> None:
    if seen.stream not in (None, given.stream):
        _wait_for_stream(seen.stream)


def _wait_for_stream(stream: int) -> None:
    """__cuda_array_interface__: who reads an array waits for the stream that writes it."""
    import ctypes

    status = ctypes.CDLL("libcuda.so.1").cuStreamSynchronize(ctypes.c_void_p(stream))
    if status != 0:
        raise refusal("stream", "", f"the stream {stream} of an array cannot be waited for: CUresult {status}", status)


def stream_number(stream: Any) -> int | None:
    if stream is None or isinstance(stream, int):
        return stream
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])  # a version, and the address
    for attribute in ("cuda_stream", "ptr", "handle"):
        if hasattr(stream, attribute):
            found = getattr(stream, attribute)
            return int(getattr(found, "value", found) or 0)  # Numba's is a c_void_p, whose 0 is None
    return int(stream)


def _stream_of(library: Library, first: View, stream: Any) -> int:
    if stream is None:
        return library.stream(first) if first.device == CUDA else 0
    if library.name in ("torch", "cupy"):
        raise refusal("stream", "", f"{library.name} has a current stream, and the GEMM runs in that: leave stream out")
    return stream_number(stream) or 0


def first_difference(given: tuple, planned: tuple) -> str:
    """The operand whose signature is not the one that was planned for."""
    mine = dict(planned[0])
    for name, signature in given[0]:
        if mine.get(name) != signature:
            return name
    return ""


def difference(given: tuple, planned: tuple) -> str:
    """In words."""
    name = first_difference(given, planned)
    mine = dict(planned[0])
    if name in mine:
        labels = ("shape", "strides", "element", "device", "device number", "address modulo 16")
        for label, new, old in zip(labels, dict(given[0])[name], mine[name]):
            if new != old:
                return f"{name} has the {label} {new}, and the plan {old}"
    return "other arguments are given"

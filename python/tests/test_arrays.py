"""Arrays of any library: DLPack of both versions, the buffer protocol, and references that are given back."""

import array as stdlib_array
import ctypes
import gc
import sys
import weakref

import numpy as np
import pytest
from reference import array, close, matmul, unsigned

import gantry
from gantry import _core, _given
from gantry._arrays import library_of


class Exporter:
    """A library that has nothing but DLPack, of version 0."""

    def __init__(self, data):
        self.data = data

    def __dlpack__(self, *, stream=None):
        return self.data.__dlpack__()

    def __dlpack_device__(self):
        return self.data.__dlpack_device__()


class VersionedExporter(Exporter):
    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return self.data.__dlpack__(max_version=max_version)


@pytest.mark.parametrize("library", [Exporter, VersionedExporter])
def test_dlpack_is_read_whatever_its_version(rng, library):
    a, b = array(rng, (32, 64), np.float16), array(rng, (16, 64), np.float16)
    close(gantry.gemm(library(a), library(b)), matmul(a, b))
    close(gantry.gemm(a, library(b.T), trans_b=False), matmul(a, b))


@pytest.mark.parametrize(
    "dtype",
    ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "float16", "float32", "float64", "complex64"],
)
def test_dlpack_and_buffers_say_the_same_of_an_array(dtype):
    x = np.zeros((3, 4, 6), dtype)[:, ::2, 1:5]
    for max_version in (None, (1, 0)):
        seen = _core.view_dlpack(x.__dlpack__(max_version=max_version))
        assert seen[:4] == (x.ctypes.data, x.shape, tuple(s // x.itemsize for s in x.strides), dtype)
    assert _core.view_buffer(x)[:4] == seen[:4]


def test_a_capsule_is_used_once():
    capsule = np.zeros(3).__dlpack__()
    _core.view_dlpack(capsule)
    with pytest.raises(TypeError, match="used already"):
        _core.view_dlpack(capsule)
    with pytest.raises(TypeError):
        _core.view_dlpack("no capsule")


def test_read_only_arrays_are_operands_and_no_outputs(rng):
    a, b = array(rng, (32, 64), np.float16), array(rng, (16, 64), np.float16)
    a.flags.writeable = b.flags.writeable = False
    close(gantry.gemm(a, b), matmul(a, b))
    assert _core.view_dlpack(a.__dlpack__(max_version=(1, 0)))[6] is True


def test_buffers_of_the_standard_library_are_arrays(rng):
    a, b = unsigned(rng, (32, 64)), array(rng, (16, 64), np.int8)
    flat = stdlib_array.array("b", b.tobytes())
    d = gantry.gemm(memoryview(a.tobytes()).cast("B", (32, 64)), memoryview(flat).cast("B").cast("b", (16, 64)))
    close(d, matmul(a, b))


def test_buffers_without_an_element_type_are_refused():
    with pytest.raises(TypeError, match="format"):
        _core.view_buffer(np.zeros(3, [("x", "i4"), ("y", "f4")]))
    with pytest.raises(TypeError):
        _core.view_buffer(object())


class OnGpu:
    """An array of a library that has an interface, and no namespace to make others with."""

    def __init__(self, data, stream=None):
        where = {"data": (data.ctypes.data, False), "shape": data.shape, "strides": None, "typestr": data.dtype.str}
        self.__cuda_array_interface__ = {**where, "version": 3, "stream": stream}


def test_no_array_of_the_host_is_made_for_operands_on_a_gpu():
    like = OnGpu(np.zeros((2, 2), np.float16))
    with pytest.raises(gantry.InvalidArgument, match="out=") as refused:
        library_of(like).empty(like, (2, 2), gantry.element("f16"), False)
    assert refused.value.rule == "allocator"


@pytest.mark.parametrize("own, asked, waits", [(7, 9, [7]), (7, 7, []), (7, None, []), (None, 9, []), (1, 0, [])])
def test_the_stream_that_writes_a_is_waited_for(monkeypatch, own, asked, waits):
    """1 is the default stream, as interfaces count."""
    waited = []
    monkeypatch.setattr(_given, "_wait_for_stream", waited.append)
    a, b = OnGpu(np.zeros((2, 2), np.float16), own), OnGpu(np.zeros((2, 2), np.float16))
    given = _given.gather(a, b, None, None, {}, asked)
    assert waited == waits and given.stream == ({1: 0}.get(own, own) if asked is None else asked)


class NumbaStream:
    """Numba's: its handle is a ctypes pointer."""

    handle = ctypes.c_void_p(77)


class DefaultNumbaStream:
    handle = ctypes.c_void_p(0)


class CudaCoreStream:
    """Of cuda.core, and of whoever follows its protocol: version and address."""

    def __cuda_stream__(self):
        return 0, 88


@pytest.mark.parametrize("stream, number", [(NumbaStream, 77), (DefaultNumbaStream, 0), (CudaCoreStream, 88)])
def test_streams_of_any_library_are_numbers(stream, number):
    assert _given.stream_number(stream()) == number


# ---- References


def test_memory_is_kept_while_it_is_seen_and_given_back_after(rng):
    for see in (lambda x: _core.view_dlpack(x.__dlpack__()), _core.view_buffer):
        x = np.zeros((64, 64))
        gone = weakref.ref(x)
        seen = see(x)
        del x
        gc.collect()
        assert gone() is not None
        del seen
        gc.collect()
        assert gone() is None


def _growth(step, times):
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(times):
        step()
    gc.collect()
    return sys.getallocatedblocks() - before


def _leaks(step, times=200):
    """Whether every round loses an object in half of its steps. Caches of plans, by how addresses are aligned, and free
    lists fill in the first rounds, ever more slowly; one round without growth says that nothing leaks."""
    return all(_growth(step, times) > times / 2 for _ in range(32))


def test_the_leak_check_finds_a_leak():
    kept = []
    assert _leaks(lambda: kept.append(object()))


def test_calls_leak_no_references(rng):
    a, b, bias = array(rng, (16, 16), np.float16), array(rng, (8, 16), np.float16), array(rng, 8, np.float32)
    layer = gantry.plan(a, b, epilogue="d = acc + row(bias)", bias=bias)
    counts = [sys.getrefcount(x) for x in (a, b, bias, layer._gemm, layer._call)]
    assert not _leaks(lambda: _core.view_dlpack(a.__dlpack__(max_version=(1, 0))))
    assert not _leaks(lambda: _core.view_buffer(b))
    assert not _leaks(lambda: layer._call.check(layer._example))
    assert not _leaks(lambda: layer._gemm.arguments)
    assert not _leaks(lambda: layer._gemm.elements)
    assert [sys.getrefcount(x) for x in (a, b, bias, layer._gemm, layer._call)] == counts


def test_runs_and_plans_leak_no_references(rng):
    a, b, bias = array(rng, (16, 16), np.float16), array(rng, (8, 16), np.float16), array(rng, 8, np.float32)
    counts = [sys.getrefcount(x) for x in (a, b, bias)]
    gc.collect()
    for _ in range(20):
        gantry.gemm(a, b, epilogue="d = acc + row(bias)", bias=bias)
        gantry.plan(a[:, ::-1], b, epilogue="d = acc + row(bias)", bias=bias)
    gc.collect()
    assert [sys.getrefcount(x) for x in (a, b, bias)] == counts


def test_whole_functions_leak_no_objects(rng):
    a, b = array(rng, (16, 16), np.float16), array(rng, (8, 16), np.float16)
    every_second = array(rng, (16, 32), np.float16)[:, ::2]
    for step in (
        lambda: gantry.gemm(a, b),
        lambda: gantry.gemm(every_second, b),  # copied
        lambda: gantry.simulate(a, b),
        lambda: gantry.explain(a, b),
        lambda: gantry.warm_up("d = acc", [(16, 8, 16)], dtype="f16", progress=lambda done, everything: None),
    ):
        assert not _leaks(step, times=20)


def test_errors_leak_no_references(rng):
    a, b = array(rng, (16, 16), np.float16), array(rng, (8, 8), np.float16)

    def fail():
        try:
            _core.element("bf17")
        except gantry.GantryError:
            pass
        try:
            gantry.gemm(a, b)
        except gantry.GantryError:
            pass

    assert not _leaks(fail)


def test_a_context_is_given_back_with_the_plans_of_its_calls(rng):
    a, b = array(rng, (32, 64), np.float16), array(rng, (16, 64), np.float16)
    context = gantry.Context("simulated", most_kernels=1)
    gone = weakref.ref(context)
    close(gantry.gemm(a, b, context=context), matmul(a, b))
    del context
    gc.collect()
    assert gone() is None


def test_contexts_are_given_back_with_what_was_made_on_them():
    def make():
        context = gantry.Context("simulated")
        made = context.gemm(a="f16", epilogue="d = acc + row(bias)")
        del context
        assert made.elements == ("f16", "f16", "void", "f16")  # the gemm keeps what it needs

    for _ in range(3):
        make()

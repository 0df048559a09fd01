"""Arrays of any library: where they lie, and how to make another one of the same library.

An array is seen through its library's own attributes (NumPy, PyTorch, CuPy), DLPack, ``__cuda_array_interface__`` or
the buffer protocol. Nothing is imported that its owner has not imported already, but NumPy for arrays without a
library.
"""

from __future__ import annotations

import sys
from typing import Any

from . import _core
from ._elements import Element, element
from ._errors import GantryError, of_operand, refusal

CPU, CUDA = "cpu", "cuda"

# Of DLPack.
_DEVICES = {1: CPU, 2: CUDA, 3: CPU, 13: CUDA}


def nowhere(place: int) -> int:
    """An aligned address that nothing lies at, far from those of other places: for arrays that are not there yet."""
    return (place + 1) << 40


class View:
    """Where an array lies: address, shape, strides in elements, element, device."""

    __slots__ = ("address", "shape", "strides", "element", "device", "index", "readonly", "owner", "stream")

    def __init__(self, address, shape, strides, name, device=CPU, index=0, readonly=False, owner=None, stream=None):
        self.address = address
        self.shape = shape
        # No element is reached by the stride of a single row: libraries write there what they like.
        self.strides = tuple(1 if n == 1 else s for n, s in zip(shape, strides)) if 1 in shape else strides
        self.element: Element = element(name)
        self.device = device
        self.index = index
        self.readonly = readonly
        self.owner = owner  # keeps the memory alive
        self.stream = stream  # that its producer writes it in, where it says so

    def signature(self) -> tuple:
        """What a plan depends on."""
        return (self.shape, self.strides, self.element.name, self.device, self.index, self.address % 16)


def _packed(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def _from_interface(interface: dict, name: str, bytes_each: int, **where) -> View:
    shape = tuple(interface["shape"])
    address, readonly = interface["data"]
    strides = interface.get("strides")
    if strides is None:
        strides = _packed(shape)
    else:
        if any(s % bytes_each for s, size in zip(strides, shape) if size > 1):
            raise refusal("stride", "", f"strides of {strides} bytes are no multiples of the element's {bytes_each}")
        strides = tuple(s // bytes_each for s in strides)
    return View(address, shape, strides, name, readonly=readonly, **where)


class Library:
    """An array library: views of its arrays, and new arrays from its allocator."""

    name = "an array library"

    def view(self, x: Any, stream: int | None) -> View:
        if hasattr(x, "__dlpack__"):
            return _view_dlpack(x, stream)
        if hasattr(x, "__cuda_array_interface__"):
            return _view_cuda_interface(x)
        return View(*_from_tuple(_core.view_buffer(x)))

    def stream(self, view: View) -> int:
        """That work on the array belongs to."""
        return view.stream or 0

    def gives_workspace(self, like: Any) -> bool:
        """Otherwise the context has workspace of its own."""
        return False

    def workspace(self, like: Any, count: int) -> Any:
        """So many bytes of the array's device from the library's allocator."""
        raise NotImplementedError

    def empty(self, like: Any, shape: tuple[int, ...], of: Element, raw: bool) -> Any:
        if not hasattr(like, "__array_namespace__"):
            if _is_on_gpu(like):
                raise refusal(
                    "allocator",
                    "",
                    f"a {type(like).__name__} on a GPU has no __array_namespace__ to make arrays with: give out=, and "
                    f"arrays for the epilogue's outputs, and operands that need no copy",
                )
            import numpy

            return NumPy(numpy).empty(like, shape, of, raw)
        space = like.__array_namespace__()
        return space.empty(shape, dtype=getattr(space, storage(of, raw)), device=like.device)


class NumPy(Library):
    name = "numpy"

    def __init__(self, module: Any):
        self.module = module

    def view(self, x, stream):
        if type(x) is not self.module.ndarray and hasattr(x, "mask"):
            raise refusal("mask", "", "a masked array, whose mask a GEMM does not see: fill it first, with x.filled(0)")
        return _from_interface(x.__array_interface__, _interface_name(x.dtype), x.dtype.itemsize, owner=x)

    def empty(self, like, shape, of, raw):
        return self.module.empty(shape, dtype=_numpy_dtype(self.module, of, raw))


class CuPy(NumPy):
    name = "cupy"

    def view(self, x, stream):
        out = _view_cuda_interface(x)
        out.index = x.device.id
        return out

    def stream(self, view):
        return self.module.cuda.get_current_stream().ptr

    def empty(self, like, shape, of, raw):
        import numpy

        with like.device:
            return self.module.empty(shape, dtype=_numpy_dtype(numpy, of, raw))


class Torch(Library):
    name = "torch"

    def __init__(self, module: Any):
        self.module = module

    def view(self, x, stream):
        device = x.device
        if device.type not in (CPU, CUDA):
            raise refusal("device", "", f"a tensor on {device}: Gantry works on cuda and, simulated, on cpu")
        if x.requires_grad and self.module.is_grad_enabled():
            raise refusal(
                "gradient",
                "",
                "a tensor that requires grad came to gantry.gemm, which records no gradient: use gantry.torch, or "
                "torch.no_grad() or detach()",
            )
        name = str(x.dtype).rpartition(".")[2]
        return View(x.data_ptr(), tuple(x.shape), x.stride(), name, device.type, device.index or 0, owner=x)

    def stream(self, view):
        return self.module.cuda.current_stream(view.index).cuda_stream if view.device == CUDA else 0

    def gives_workspace(self, like):
        return like.is_cuda

    def workspace(self, like, count):
        # Of the current stream, and of the graph's pool while one is captured.
        return self.module.empty(count, dtype=self.module.uint8, device=like.device)

    def empty(self, like, shape, of, raw):
        return self.module.empty(shape, dtype=getattr(self.module, storage(of, raw)), device=like.device)


class Jax(Library):
    name = "jax"

    def view(self, x, stream):
        raise refusal(
            "library",
            "",
            "arrays of JAX cannot be written to from outside: use gantry.jax.gemm, which JAX itself calls under jit",
        )


def storage(of: Element, raw: bool) -> str:
    """The dtype that an array of these elements has."""
    if of.name == "tf32":
        return "float32"
    return f"uint{max(of.bits, 8)}" if raw or of.bits < 8 else of.python_name


def _numpy_dtype(numpy: Any, of: Element, raw: bool) -> Any:
    name = storage(of, raw)
    if hasattr(numpy, name):
        return numpy.dtype(name)
    try:
        import ml_dtypes
    except ImportError as missing:
        raise refusal(
            "dtype",
            "",
            f"NumPy has no {name}: install ml_dtypes, or give arrays of uint{of.bits} with dtype={of.name!r}",
        ) from missing
    return numpy.dtype(getattr(ml_dtypes, name))


def _interface_name(dtype: Any) -> str:
    if not dtype.isnative:
        raise refusal("dtype", "", f"elements of {dtype} have their bytes in the other order; convert them first")
    return dtype.name


def _view_cuda_interface(x: Any) -> View:
    interface = x.__cuda_array_interface__
    kind, size = interface["typestr"][1], int(interface["typestr"][2:])
    dtype = getattr(getattr(x, "dtype", None), "name", None)
    name = dtype or {"f": "float", "i": "int", "u": "uint", "c": "complex"}.get(kind, kind) + str(8 * size)
    stream = interface.get("stream")
    stream = 0 if stream == 1 else stream  # interfaces call the default stream 1
    return _from_interface(interface, name, size, device=CUDA, owner=x, stream=stream)


def _from_tuple(fields: tuple) -> tuple:
    address, shape, strides, name, device, index, readonly, owner = fields
    if device not in _DEVICES:
        raise refusal(
            "device", "", f"an array is on DLPack's device {device}: Gantry works on CUDA's and, simulated, the CPU"
        )
    return address, shape, strides, name, _DEVICES[device], index, readonly, owner


def _is_on_gpu(x: Any) -> bool:
    if hasattr(x, "__dlpack_device__"):
        return _DEVICES.get(int(x.__dlpack_device__()[0])) == CUDA
    return hasattr(x, "__cuda_array_interface__")


def _view_dlpack(x: Any, stream: int | None) -> View:
    options: dict[str, Any] = {"max_version": (1, 0)}
    if _DEVICES.get(int(x.__dlpack_device__()[0])) == CUDA:
        options["stream"] = stream or 1  # 1 is the default stream, as DLPack counts
    try:
        capsule = x.__dlpack__(**options)
    except TypeError:  # from before DLPack 1.0
        del options["max_version"]
        capsule = x.__dlpack__(**options)
    return View(*_from_tuple(_core.view_dlpack(capsule)))


_ANY, _JAX = Library(), Jax()


def library_of(x: Any) -> Library:
    """The library that an array came from."""
    modules = sys.modules
    for name, kind, make in (("numpy", "ndarray", NumPy), ("torch", "Tensor", Torch), ("cupy", "ndarray", CuPy)):
        module = modules.get(name)
        if module is not None and isinstance(x, getattr(module, kind, ())):
            return _known(make, module)
    jax = modules.get("jax")
    if jax is not None and isinstance(x, getattr(jax, "Array", ())):
        return _JAX
    return _ANY


_libraries: dict[type, Library] = {}


def _known(make: type, module: Any) -> Library:
    found = _libraries.get(make)
    if found is None:
        found = _libraries[make] = make(module)
    return found


def view(operand: str, x: Any, library: Library, stream: int | None) -> View:
    """An operand as an array; ``library`` and ``stream`` are those that A came from and that the GEMM runs in."""
    own = library_of(x)
    try:
        # Of another library, which has a current stream of its own: DLPack makes that one wait.
        if own is not library and own is not _JAX and stream and hasattr(x, "__dlpack__"):
            return _view_dlpack(x, stream)
        return own.view(x, stream)
    except GantryError as error:
        raise of_operand(error, operand) from error.__cause__
    except (TypeError, BufferError) as error:
        raise refusal(
            "array", operand, f"{operand} is a {type(x).__name__}, which is no array here: {error}"
        ) from error

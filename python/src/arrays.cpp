// Arrays of other libraries as tuples (address, shape, strides in elements, element, device type, device number,
// read-only, owner). Whoever holds the owner keeps the memory alive.
#include <cstring>

#include "dlpack.hpp"
#include "python.hpp"

namespace gantry::python {

namespace {

namespace dl = dlpack;

struct Array {
  std::uintptr_t address = 0;
  int rank = 0;
  const std::int64_t* shape = nullptr;
  const std::int64_t* strides = nullptr;  // in elements; null: packed
  const char* element = nullptr;
  long device_type = dl::kCpu, device_id = 0;
  bool read_only = false;
};

PyObject* sizes(int rank, const std::int64_t* from) {
  Ref out(PyTuple_New(rank));
  if (!out) return nullptr;
  for (int i = 0; i < rank; ++i) {
    PyObject* number = PyLong_FromLongLong(from[i]);
    if (number == nullptr || PyTuple_SetItem(out.get(), i, number) != 0) return nullptr;
  }
  return out.release();
}

// Takes the reference to the owner.
PyObject* to_tuple(const Array& array, Ref owner) {
  constexpr int kMostRank = 64;
  if (array.rank < 0 || array.rank > kMostRank) {
    PyErr_Format(PyExc_ValueError, "an array has %d dimensions, and at most %d are known", array.rank, kMostRank);
    return nullptr;
  }
  std::int64_t packed[kMostRank];
  if (array.strides == nullptr) {
    std::int64_t stride = 1;
    for (int i = array.rank - 1; i >= 0; --i) {
      packed[i] = stride;
      stride *= array.shape[i];
    }
  }
  Ref shape(sizes(array.rank, array.shape));
  Ref strides(shape ? sizes(array.rank, array.strides == nullptr ? packed : array.strides) : nullptr);
  if (!strides) return nullptr;
  return Py_BuildValue("(KOOsllOO)", static_cast<unsigned long long>(array.address), shape.get(), strides.get(),
                       array.element, array.device_type, array.device_id, array.read_only ? Py_True : Py_False,
                       owner.get());
}

const char* real_name(int bits, const char* b8, const char* b16, const char* b32, const char* b64) {
  switch (bits) {
    case 8:
      return b8;
    case 16:
      return b16;
    case 32:
      return b32;
    case 64:
      return b64;
    default:
      return nullptr;
  }
}

// As numeric Python writes it; null: there is none.
const char* name_of(const dl::Tensor& tensor) {
  const int bits = tensor.element.bits;
  if (tensor.element.lanes != 1) return nullptr;
  switch (tensor.element.code) {
    case dl::kInt:
      return real_name(bits, "int8", "int16", "int32", "int64");
    case dl::kUInt:
      return real_name(bits, "uint8", "uint16", "uint32", "uint64");
    case dl::kFloat:
      return real_name(bits, nullptr, "float16", "float32", "float64");
    case dl::kBfloat:
      return bits == 16 ? "bfloat16" : nullptr;
    case dl::kComplex:
      return bits == 64 ? "complex64" : bits == 128 ? "complex128" : nullptr;
    case dl::kBool:
      return bits == 8 ? "bool" : nullptr;
    case dl::kFloat8E4m3fn:
      return bits == 8 ? "float8_e4m3fn" : nullptr;
    case dl::kFloat8E5m2:
      return bits == 8 ? "float8_e5m2" : nullptr;
    default:
      return nullptr;
  }
}

constexpr const char* kOwnerName = "gantry.owner";

template <class M>
void release_managed(PyObject* owner) {
  auto* managed = static_cast<M*>(PyCapsule_GetPointer(owner, kOwnerName));
  if (managed != nullptr && managed->release != nullptr) managed->release(managed);
}

// The capsule's memory belongs to the result from now on, and the capsule says so.
template <class M>
PyObject* take(PyObject* capsule, const char* name, const char* used, bool read_only) {
  auto* managed = static_cast<M*>(PyCapsule_GetPointer(capsule, name));
  if (managed == nullptr) return nullptr;
  const dl::Tensor& t = managed->tensor;
  const char* element = name_of(t);
  if (element == nullptr) {
    PyErr_Format(PyExc_TypeError, "DLPack elements of code %d, %d bits and %d lanes are not known",
                 static_cast<int>(t.element.code), static_cast<int>(t.element.bits), static_cast<int>(t.element.lanes));
    return nullptr;
  }
  Ref owner(PyCapsule_New(managed, kOwnerName, nullptr));
  if (!owner || PyCapsule_SetName(capsule, used) != 0) return nullptr;
  PyCapsule_SetDestructor(owner.get(), release_managed<M>);
  Array array;
  array.address = reinterpret_cast<std::uintptr_t>(t.data) + t.byte_offset;
  array.rank = t.rank;
  array.shape = t.shape;
  array.strides = t.strides;
  array.element = element;
  array.device_type = t.device.type;
  array.device_id = t.device.id;
  array.read_only = read_only;
  return to_tuple(array, std::move(owner));
}

const char* name_of_format(const char* format, Py_ssize_t bytes) {
  if (format == nullptr) return "uint8";
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (format[0] == 'Z' && format[1] != 0 && format[2] == 0) {
    return format[1] == 'f' ? "complex64" : format[1] == 'd' ? "complex128" : nullptr;
  }
  if (format[0] == 0 || format[1] != 0) return nullptr;
  if (std::strchr("bhilq", *format) != nullptr) {
    return real_name(static_cast<int>(bytes) * 8, "int8", "int16", "int32", "int64");
  }
  if (std::strchr("BHILQ", *format) != nullptr) {
    return real_name(static_cast<int>(bytes) * 8, "uint8", "uint16", "uint32", "uint64");
  }
  switch (*format) {
    case 'e':
      return "float16";
    case 'f':
      return "float32";
    case 'd':
      return "float64";
    case '?':
      return "bool";
    default:
      return nullptr;
  }
}

void release_buffer(PyObject* owner) {
  auto* buffer = static_cast<Py_buffer*>(PyCapsule_GetPointer(owner, kOwnerName));
  if (buffer == nullptr) return;
  PyBuffer_Release(buffer);
  delete buffer;
}

}  // namespace

PyObject* view_dlpack(PyObject* /*module*/, PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned") != 0) {
    const auto* head = static_cast<dl::ManagedVersioned*>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
    if (head->major != dl::kMajorVersion) {
      PyErr_Format(PyExc_BufferError, "the capsule is of DLPack %u, and this package reads %u", head->major,
                   dl::kMajorVersion);
      return nullptr;
    }
    return take<dl::ManagedVersioned>(capsule, "dltensor_versioned", "used_dltensor_versioned",
                                      (head->flags & dl::kReadOnly) != 0);
  }
  if (PyCapsule_IsValid(capsule, "dltensor") != 0) {
    return take<dl::Managed>(capsule, "dltensor", "used_dltensor", false);
  }
  PyErr_SetString(PyExc_TypeError, "__dlpack__ gave no capsule of DLPack, or one that was used already");
  return nullptr;
}

PyObject* view_buffer(PyObject* /*module*/, PyObject* object) {
  auto* buffer = new Py_buffer{};
  if (PyObject_GetBuffer(object, buffer, PyBUF_RECORDS_RO) != 0) {
    delete buffer;
    return nullptr;
  }
  Ref owner(PyCapsule_New(buffer, kOwnerName, release_buffer));
  if (!owner) {
    PyBuffer_Release(buffer);
    delete buffer;
    return nullptr;
  }
  const char* element = name_of_format(buffer->format, buffer->itemsize);
  if (element == nullptr) {
    PyErr_Format(PyExc_TypeError, "a buffer of format '%s' has no element type here", buffer->format);
    return nullptr;
  }
  static_assert(sizeof(Py_ssize_t) == sizeof(std::int64_t));
  std::int64_t shape[64], strides[64];
  for (int i = 0; i < buffer->ndim && i < 64; ++i) {
    shape[i] = buffer->shape[i];
    strides[i] = buffer->strides[i] / buffer->itemsize;
    if (buffer->strides[i] % buffer->itemsize != 0) {
      PyErr_Format(PyExc_ValueError, "a stride of %zd bytes is no multiple of the element's %zd", buffer->strides[i],
                   buffer->itemsize);
      return nullptr;
    }
  }
  Array array;
  array.address = reinterpret_cast<std::uintptr_t>(buffer->buf);
  array.rank = buffer->ndim;
  array.shape = shape;
  array.strides = strides;
  array.element = element;
  array.read_only = buffer->readonly != 0;
  return to_tuple(array, std::move(owner));
}

}  // namespace gantry::python

// The structs of DLPack 1.x as they lie in memory: what a capsule that `__dlpack__` returns points to.
#pragma once

#include <cstdint>

namespace gantry::python::dlpack {

enum DeviceType : std::int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3, kCudaManaged = 13 };
enum TypeCode : std::uint8_t {
  kInt = 0,
  kUInt = 1,
  kFloat = 2,
  kBfloat = 4,
  kComplex = 5,
  kBool = 6,
  kFloat8E4m3fn = 10,
  kFloat8E5m2 = 12
};
inline constexpr std::uint64_t kReadOnly = 1;
inline constexpr std::uint32_t kMajorVersion = 1;

struct Tensor {
  void* data;
  struct {
    std::int32_t type, id;
  } device;
  std::int32_t rank;
  struct {
    std::uint8_t code, bits;
    std::uint16_t lanes;
  } element;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: row-major and packed
  std::uint64_t byte_offset;
};

// In a capsule "dltensor".
struct Managed {
  Tensor tensor;
  void* owner;
  void (*release)(Managed*);
};

// In a capsule "dltensor_versioned".
struct ManagedVersioned {
  std::uint32_t major, minor;
  void* owner;
  void (*release)(ManagedVersioned*);
  std::uint64_t flags;
  Tensor tensor;
};

}  // namespace gantry::python::dlpack

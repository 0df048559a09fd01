// A kernel is a type with its parameters, its shared storage, and one function that every thread runs.
//
// Example at namespace scope:
//     struct Fill {
//       struct Params { int tiles; };
//       struct Storage { alignas(1024) unsigned char tile[2][8192]; std::uint64_t full[2]; };
//       static constexpr int kThreads = 128;
//       GANTRY_HD static void run(const Params&, gantry::SharedMemory shared) {
//         Storage& s = shared.as<Storage>();
//         (void)&s.tile[0];
//       }
//     };
#pragma once

#include <cstdint>

#include <gantry/config.hpp>

namespace gantry {

// The dynamic shared memory of a CTA, aligned to 1024 bytes. Kernels take addresses in it and hand them to operations;
// they read and write it only through `arch/` and tensors.
class SharedMemory {
 public:
  GANTRY_INLINE explicit SharedMemory(void* base) : base_(base) {}

  template <class Storage>
  GANTRY_INLINE Storage& as() const {
    static_assert(alignof(Storage) <= 1024, "dynamic shared memory is aligned to 1024 bytes");
    return *static_cast<Storage*>(base_);
  }
  // What lies `offset` bytes in.
  template <class T>
  GANTRY_INLINE T* at(int offset) const {
    return reinterpret_cast<T*>(static_cast<unsigned char*>(base_) + offset);
  }

 private:
  void* base_;
};

}  // namespace gantry

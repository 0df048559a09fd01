// One tiled tensor-copy instruction executed element by element, from the arguments of its map alone, as the hardware
// was seen to do it. It knows nothing of layouts or plans.
//
// Traversal is dense in shared memory, innermost dimension first; the swizzle permutes 16-byte chunks by bits of the
// absolute shared address; what lies outside of the tensor is filled on loads and skipped on stores.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include <gantry/tma/descriptor.hpp>
#include <gantry/tma/operations.hpp>

namespace gantry::test {

inline std::uint64_t swizzled(TmaSwizzle swizzle, std::uint64_t address) {
  switch (swizzle) {
    case TmaSwizzle::bytes_32:
      return address ^ (((address >> 7) & 1) << 4);
    case TmaSwizzle::bytes_64:
      return address ^ (((address >> 7) & 3) << 4);
    case TmaSwizzle::bytes_128:
      return address ^ (((address >> 7) & 7) << 4);
    default:
      return address;
  }
}

// What a reduction leaves in global memory, by the definition of PTX: inc wraps to 0 after b, dec to b after 0.
inline std::uint32_t reduced(TmaOp op, std::uint32_t a, std::uint32_t b) {
  switch (op) {
    case TmaOp::reduce_add:
      return a + b;
    case TmaOp::reduce_min:
      return a < b ? a : b;
    case TmaOp::reduce_max:
      return a > b ? a : b;
    case TmaOp::reduce_inc:
      return a >= b ? 0 : a + 1;
    case TmaOp::reduce_dec:
      return a == 0 || a > b ? b : a - 1;
    case TmaOp::reduce_and:
      return a & b;
    case TmaOp::reduce_or:
      return a | b;
    default:
      return a ^ b;
  }
}

class BoxExecutor {
 public:
  // `global` starts at the map's address, `shared` at shared address 0.
  BoxExecutor(const TmaDescriptorParams& map, std::vector<std::uint8_t>& global, std::vector<std::uint8_t>& shared)
      : map_(map), global_(global), shared_(shared), bytes_(static_cast<std::size_t>(element_bytes(map.data_type))) {}

  // Returns the bytes that the barrier is credited with.
  std::int64_t load(const std::int64_t* coordinates, std::uint64_t address) {
    return walk(coordinates, address, [this](std::uint8_t* s, std::uint8_t* g) {
      if (g == nullptr) {
        std::memset(s, 0, bytes_);
      } else {
        std::memcpy(s, g, bytes_);
      }
    });
  }

  void store(const std::int64_t* coordinates, std::uint64_t address) {
    walk(coordinates, address, [this](std::uint8_t* s, std::uint8_t* g) {
      if (g != nullptr) std::memcpy(g, s, bytes_);
    });
  }

  // For 32-bit unsigned elements.
  void reduce(TmaOp op, const std::int64_t* coordinates, std::uint64_t address) {
    walk(coordinates, address, [op](std::uint8_t* s, std::uint8_t* g) {
      if (g == nullptr) return;
      std::uint32_t a = 0;
      std::uint32_t b = 0;
      std::memcpy(&a, g, 4);
      std::memcpy(&b, s, 4);
      a = reduced(op, a, b);
      std::memcpy(g, &a, 4);
    });
  }

  // Set when an instruction reached beyond either memory: a wrong map, never legal.
  bool out_of_memory = false;

 private:
  template <class F>
  std::int64_t walk(const std::int64_t* c, std::uint64_t address, const F& f) {
    const auto& box = map_.box;
    std::uint64_t b[kTmaMaxRank] = {};
    std::uint64_t linear = 0;
    std::int64_t moved = 0;
    while (true) {
      std::uint64_t at = 0;
      bool inside = true;
      for (std::uint32_t i = 0; i < map_.rank; ++i) {
        const std::int64_t g = c[i] + static_cast<std::int64_t>(b[i]);
        inside = inside && g >= 0 && static_cast<std::uint64_t>(g) < map_.dims[i];
        if (inside) at += static_cast<std::uint64_t>(g) * (i == 0 ? bytes_ : map_.strides[i - 1]);
      }
      const std::uint64_t s = swizzled(map_.swizzle, address + linear * bytes_);
      if (s + bytes_ > shared_.size() || (inside && at + bytes_ > global_.size())) {
        out_of_memory = true;
        return moved;
      }
      f(shared_.data() + s, inside ? global_.data() + at : nullptr);
      ++linear;
      moved += static_cast<std::int64_t>(bytes_);
      std::uint32_t i = 0;
      while (i < map_.rank && ++b[i] == box[i]) b[i++] = 0;
      if (i == map_.rank) return moved;
    }
  }

  const TmaDescriptorParams& map_;
  std::vector<std::uint8_t>& global_;
  std::vector<std::uint8_t>& shared_;
  std::size_t bytes_;
};

}  // namespace gantry::test

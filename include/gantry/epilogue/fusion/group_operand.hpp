// Operands of an epilogue whose groups have vectors and tensors of their own (gemm/pointer_array.hpp): in the place of
// an address stands that of an array in global memory, one element for each group.
//
// A configuration has `static constexpr bool pointer_array` where it is one of those; others need not say.
//
// Example at namespace scope:
//     GANTRY_HD inline const void* bias_of(const gantry::fusion::Operand& operand, int group) {
//       return gantry::fusion::group_vector(operand, group);
//     }
#pragma once

#include <gantry/arch/memory.hpp>
#include <gantry/epilogue/fusion/params.hpp>

namespace gantry::fusion {

// A tensor of one group; its stride is 0 where lines are packed.
struct GroupTensor {
  void* data = nullptr;
  std::int64_t stride = 0;
};

template <class Config>
GANTRY_HD constexpr bool is_pointer_array() {
  if constexpr (requires { Config::pointer_array; }) return Config::pointer_array;
  return false;
}

// A struct of whole 16-byte words from global memory.
template <class T>
GANTRY_INLINE T load_words(const T* from, Site site = Site::here()) {
  struct alignas(16) Word {
    std::uint32_t x, y, z, w;
  };
  static_assert(sizeof(T) % sizeof(Word) == 0);
  Word words[sizeof(T) / sizeof(Word)];
  GANTRY_UNROLL
  for (int i = 0; i < static_cast<int>(sizeof(T) / sizeof(Word)); ++i) {
    words[i] = arch::ld(arch::space_global, reinterpret_cast<const Word*>(from) + i, site);
  }
  T out;
  __builtin_memcpy(static_cast<void*>(&out), words, sizeof out);
  return out;
}

// The vector of a group; null where it has none.
GANTRY_INLINE const void* group_vector(const Operand& operand, int group) {
  if (operand.pointer == nullptr) return nullptr;
  return arch::ld(arch::space_global, static_cast<const void* const*>(operand.pointer) + group);
}
GANTRY_INLINE GroupTensor group_tensor(const Operand& operand, int group) {
  return load_words(static_cast<const GroupTensor*>(operand.pointer) + group);
}

}  // namespace gantry::fusion

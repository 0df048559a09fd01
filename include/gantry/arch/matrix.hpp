// `ldmatrix` and `stmatrix`: one, two or four 8x8 matrices of 16-bit elements between shared memory and a warp's
// registers.
//
// Lane 8 j + r gives the 16-byte aligned address of row r of matrix j; register j of lane l holds row l / 4, columns
// 2 (l % 4) and 2 (l % 4) + 1 of matrix j. With `trans_t` rows and columns change places in memory. The whole warp
// takes part.
//
// Example at namespace scope:
//     GANTRY_HD inline void turn(void* from, void* to) {
//       std::uint32_t m[4];
//       gantry::arch::ldmatrix(m, from);
//       gantry::arch::stmatrix(to, m, gantry::arch::trans);
//     }
#pragma once

#include <cstdint>

#include <gantry/arch/address.hpp>
#include <gantry/arch/site.hpp>

#if !GANTRY_ON_DEVICE
#include <gantry/arch/detail/machine.hpp>
#endif

namespace gantry::arch {

struct trans_t {};
inline constexpr trans_t trans{};

#if GANTRY_ON_DEVICE
#define GANTRY_LDMATRIX(qualifier)                                                                \
  if constexpr (Count == 1) {                                                                     \
    asm volatile("ldmatrix.sync.aligned.m8n8.x1" qualifier ".shared.b16 {%0}, [%1];"              \
                 : "=r"(registers[0])                                                             \
                 : "r"(shared_address(row))                                                       \
                 : "memory");                                                                     \
  } else if constexpr (Count == 2) {                                                              \
    asm volatile("ldmatrix.sync.aligned.m8n8.x2" qualifier ".shared.b16 {%0,%1}, [%2];"           \
                 : "=r"(registers[0]), "=r"(registers[1])                                         \
                 : "r"(shared_address(row))                                                       \
                 : "memory");                                                                     \
  } else {                                                                                        \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" qualifier ".shared.b16 {%0,%1,%2,%3}, [%4];"     \
                 : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3]) \
                 : "r"(shared_address(row))                                                       \
                 : "memory");                                                                     \
  }
#define GANTRY_STMATRIX(qualifier)                                                                                  \
  if constexpr (Count == 1) {                                                                                       \
    asm volatile("stmatrix.sync.aligned.m8n8.x1" qualifier ".shared.b16 [%0], {%1};" ::"r"(shared_address(row)),    \
                 "r"(registers[0])                                                                                  \
                 : "memory");                                                                                       \
  } else if constexpr (Count == 2) {                                                                                \
    asm volatile("stmatrix.sync.aligned.m8n8.x2" qualifier ".shared.b16 [%0], {%1,%2};" ::"r"(shared_address(row)), \
                 "r"(registers[0]), "r"(registers[1])                                                               \
                 : "memory");                                                                                       \
  } else {                                                                                                          \
    asm volatile("stmatrix.sync.aligned.m8n8.x4" qualifier                                                          \
                 ".shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(shared_address(row)),                                     \
                 "r"(registers[0]), "r"(registers[1]), "r"(registers[2]), "r"(registers[3])                         \
                 : "memory");                                                                                       \
  }
#endif

namespace detail {
template <int Count>
inline constexpr bool kMatrixCount = Count == 1 || Count == 2 || Count == 4;
}

template <int Count>
GANTRY_INLINE void ldmatrix(std::uint32_t (&registers)[Count], const void* row,
                            [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kMatrixCount<Count>, "ldmatrix moves one, two or four matrices");
#if GANTRY_ON_DEVICE
  GANTRY_LDMATRIX("")
#else
  sim::ldmatrix(registers, row, Count, false, site);
#endif
}

template <int Count>
GANTRY_INLINE void ldmatrix(std::uint32_t (&registers)[Count], const void* row, trans_t,
                            [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kMatrixCount<Count>, "ldmatrix moves one, two or four matrices");
#if GANTRY_ON_DEVICE
  GANTRY_LDMATRIX(".trans")
#else
  sim::ldmatrix(registers, row, Count, true, site);
#endif
}

template <int Count>
GANTRY_INLINE void stmatrix(void* row, const std::uint32_t (&registers)[Count],
                            [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kMatrixCount<Count>, "stmatrix moves one, two or four matrices");
#if GANTRY_ON_DEVICE
  GANTRY_STMATRIX("")
#else
  sim::stmatrix(row, registers, Count, false, site);
#endif
}

template <int Count>
GANTRY_INLINE void stmatrix(void* row, const std::uint32_t (&registers)[Count], trans_t,
                            [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kMatrixCount<Count>, "stmatrix moves one, two or four matrices");
#if GANTRY_ON_DEVICE
  GANTRY_STMATRIX(".trans")
#else
  sim::stmatrix(row, registers, Count, true, site);
#endif
}

#if GANTRY_ON_DEVICE
#undef GANTRY_LDMATRIX
#undef GANTRY_STMATRIX
#endif

}  // namespace gantry::arch

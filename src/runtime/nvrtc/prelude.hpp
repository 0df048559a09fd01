// What g++ and nvcc have as builtins and NVRTC has not. Read before every kernel that NVRTC compiles.
#pragma once

namespace gantry::nvrtc {

template <class, class>
inline constexpr bool kSame = false;
template <class T>
inline constexpr bool kSame<T, T> = true;

}  // namespace gantry::nvrtc

#define __is_same(...) (::gantry::nvrtc::kSame<__VA_ARGS__>)
#define __extension__
#define __builtin_memcpy memcpy
#define __builtin_inff() __builtin_bit_cast(float, 0x7f800000U)
#define __builtin_huge_valf() __builtin_bit_cast(float, 0x7f800000U)
#define __builtin_nanf(payload) __builtin_bit_cast(float, 0x7fc00000U)

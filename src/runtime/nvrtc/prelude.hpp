// What g++ and nvcc have as builtins and NVRTC has not. Read before every kernel that NVRTC compiles.
#pragma once

namespace gantry::nvrtc {

// Enumerators: of a constant that is a variable, NVRTC makes one in the image, with its name, for each pair of types.
template <class, class>
struct Same {
  enum : bool { value = false };
};
template <class T>
struct Same<T, T> {
  enum : bool { value = true };
};

}  // namespace gantry::nvrtc

#define __is_same(...) static_cast<bool>(::gantry::nvrtc::Same<__VA_ARGS__>::value)
#define __extension__
#define __builtin_memcpy memcpy
#define __builtin_inff() __builtin_bit_cast(float, 0x7f800000U)
#define __builtin_huge_valf() __builtin_bit_cast(float, 0x7f800000U)
#define __builtin_nanf(payload) __builtin_bit_cast(float, 0x7fc00000U)
#define __builtin_huge_val() __builtin_bit_cast(double, 0x7ff0000000000000UL)
#define __builtin_nan(payload) __builtin_bit_cast(double, 0x7ff8000000000000UL)
#define __builtin_fabs ::fabs
#define __builtin_fmin ::fmin
#define __builtin_fmax ::fmax
#define __builtin_sqrt ::sqrt
#define __builtin_exp ::exp
#define __builtin_log ::log
#define __builtin_log1p ::log1p
#define __builtin_sin ::sin
#define __builtin_tanh ::tanh
#define __builtin_erfc ::erfc

// What every header of Gantry may rely on: the marks for functions that run on both machines, and the one place that
// knows which compiler is reading the code.
#pragma once

#include <cstdint>

#if __cplusplus < 202002L
#error "gantry: Gantry is C++20: compile with -std=c++20, nvcc too"
#endif

#if defined(__CUDACC__)
#define GANTRY_HD __host__ __device__
#define GANTRY_DEVICE __device__
#define GANTRY_GLOBAL __global__
#else
#define GANTRY_HD
#define GANTRY_DEVICE
#define GANTRY_GLOBAL
#endif

// Force-inlined functions that run on both machines: what a kernel calls in its inner loop. Under sanitizers they are
// ordinary functions: checks at every access make whole kernels too large to compile.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GANTRY_SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define GANTRY_SANITIZED 1
#endif
#if defined(__CUDACC__)
#define GANTRY_INLINE __host__ __device__ __forceinline__
#elif defined(GANTRY_SANITIZED)
#define GANTRY_INLINE inline
#else
#define GANTRY_INLINE inline __attribute__((always_inline))
#endif

// Before a function whose sums of ints may wrap where a kernel is wrong.
#if defined(GANTRY_SANITIZED) && !defined(__CUDACC__)
#define GANTRY_WRAPS __attribute__((no_sanitize("signed-integer-overflow")))
#else
#define GANTRY_WRAPS
#endif

// What libgantry.so shows to programs.
#define GANTRY_API __attribute__((visibility("default")))
// A part of a class that is shown, which is not.
#define GANTRY_INSIDE __attribute__((visibility("hidden")))

// Functions that run once for a plan, or to word a refusal: made small rather than fast. nvcc's host compiler gets a
// fifth faster by it.
#if defined(__CUDACC__)
#define GANTRY_COLD __attribute__((cold))
#else
#define GANTRY_COLD
#endif

// True while the compiler translates for the GPU. Only `arch/` and this file look at it.
#if defined(__CUDA_ARCH__)
#define GANTRY_ON_DEVICE 1
#else
#define GANTRY_ON_DEVICE 0
#endif

// Host functions that call CUDA are defined where the compiler translates for the host; the GPU's pass calls none.
#define GANTRY_DEFINES_HOST !GANTRY_ON_DEVICE

// Host functions that plan, check and explain, and are no templates. A header declares them, and a file of definitions
// that it includes at its end makes them inline. With GANTRY_LINKED it does not: the program links gantry::planning,
// which has them compiled, and its own sources compile faster. Nor does it while the compiler translates for the GPU,
// which calls none of them.
#if defined(GANTRY_LINKED) || GANTRY_ON_DEVICE
#define GANTRY_LINKAGE
#define GANTRY_DEFINES_PLANNING 0
#else
#define GANTRY_LINKAGE inline
#define GANTRY_DEFINES_PLANNING 1
#endif

// nvcc reads a source once for the GPU and twice for the host. What a program links leaves its host passes nothing to
// do with a kernel but to launch it, so there they read no kernel. A source that runs a GEMM on the simulated SM as
// well includes <gantry/gemm/simulated.hpp>.
#if defined(GANTRY_LINKED) && defined(__CUDACC__) && !GANTRY_ON_DEVICE
#define GANTRY_READS_KERNELS 0
#else
#define GANTRY_READS_KERNELS 1
#endif

// Nor do they read the simulated SM: such a source includes <gantry/gemm/simulated.hpp>.
#if defined(GANTRY_LINKED) && defined(__CUDACC__)
#define GANTRY_READS_SIMULATOR 0
#else
#define GANTRY_READS_SIMULATOR 1
#endif

// Before a function on both machines that calls what it is given: that may be a lambda of a kernel, or one of the host.
#if defined(__CUDACC__)
#define GANTRY_CALLS_ANY _Pragma("nv_exec_check_disable")
#else
#define GANTRY_CALLS_ANY
#endif

// Before a loop whose trip count is a constant: every index in it becomes a constant on the GPU, where registers cannot
// be indexed.
#if defined(__CUDACC__)
#define GANTRY_UNROLL _Pragma("unroll")
#else
#define GANTRY_UNROLL
#endif

// Before a loop that is large and runs often: one copy of it is enough, and compiles faster.
#if defined(__CUDACC__)
#define GANTRY_NO_UNROLL _Pragma("unroll 1")
#else
#define GANTRY_NO_UNROLL
#endif

// True under nvcc, in both of its passes.
#if defined(__CUDACC__)
#define GANTRY_NVCC 1
#else
#define GANTRY_NVCC 0
#endif

namespace gantry {

namespace detail {

// A specialization for each, so that a compiler asks once about a type, and enumerators, so that none of them is a
// variable of a kernel's image.
template <class T>
struct IntegerType {
  enum : bool { is_one = false };
};
#define GANTRY_INTEGER(...)         \
  template <>                       \
  struct IntegerType<__VA_ARGS__> { \
    enum : bool { is_one = true };  \
  };
GANTRY_INTEGER(signed char)
GANTRY_INTEGER(unsigned char)
GANTRY_INTEGER(short)
GANTRY_INTEGER(unsigned short)
GANTRY_INTEGER(int)
GANTRY_INTEGER(unsigned)
GANTRY_INTEGER(long)
GANTRY_INTEGER(unsigned long)
GANTRY_INTEGER(long long)
GANTRY_INTEGER(unsigned long long)
#undef GANTRY_INTEGER

}  // namespace detail

// The integer types of the language, but for bool and characters.
template <class T>
concept Integer = static_cast<bool>(detail::IntegerType<T>::is_one);

// True during constant evaluation. `std::is_constant_evaluated` without <type_traits>, and usable in device code.
GANTRY_HD constexpr bool is_constant_evaluated() noexcept { return __builtin_is_constant_evaluated(); }

}  // namespace gantry

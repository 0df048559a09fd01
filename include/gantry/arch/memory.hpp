// Ordinary loads and stores: of shared and global memory, of other CTAs' shared memory, with cache operators, and the
// strong and volatile ones that threads synchronise with. Atomics are in `atomic.hpp`.
//
// A value is 1, 2, 4, 8 or 16 bytes, aligned to its size.
//
// Example at namespace scope:
//     GANTRY_HD inline void take_over(const std::uint32_t* flag, const float* from, float* shared) {
//       using namespace gantry::arch;
//       while (ld(sem_acquire, scope_gpu, space_global, flag) == 0) pause();
//       st(space_shared, shared, ld(space_global, from, cache_streaming));
//     }
#pragma once

#include <cstdint>

#include <gantry/arch/address.hpp>
#include <gantry/arch/site.hpp>
#include <gantry/arch/tags.hpp>

#if GANTRY_ON_DEVICE
#include <gantry/arch/detail/qualifier_text.hpp>
#else
#include <gantry/arch/detail/machine.hpp>
#endif

namespace gantry::arch {

// Where a load or store leaves its line. Hints: they change no result.
enum class CacheOp : std::uint8_t { global, streaming, last_use, no_allocate };
template <CacheOp Op>
struct CacheTag {};
inline constexpr CacheTag<CacheOp::global> cache_global{};            // in L2 only
inline constexpr CacheTag<CacheOp::streaming> cache_streaming{};      // first to be evicted
inline constexpr CacheTag<CacheOp::last_use> cache_last_use{};        // loads: not needed again
inline constexpr CacheTag<CacheOp::no_allocate> cache_no_allocate{};  // ld.global.nc: of data that no thread writes

namespace detail {

template <int Bytes>
struct Words;
#if GANTRY_ON_DEVICE
template <>
struct Words<1> {
  using type = unsigned char;
};
template <>
struct Words<2> {
  using type = unsigned short;
};
template <>
struct Words<4> {
  using type = unsigned;
};
template <>
struct Words<8> {
  using type = uint2;
};
template <>
struct Words<16> {
  using type = uint4;
};
#endif

template <class T>
inline constexpr bool kAccessible = sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 ||
                                    sizeof(T) == 16;
#define GANTRY_CHECK_ACCESS(T) static_assert(detail::kAccessible<T>, "an access moves 1, 2, 4, 8 or 16 bytes")

}  // namespace detail

template <Space S, class T>
GANTRY_INLINE T ld(SpaceTag<S>, const T* pointer, [[maybe_unused]] Site site = Site::here()) {
  GANTRY_CHECK_ACCESS(T);
#if GANTRY_ON_DEVICE
  using Word = typename detail::Words<sizeof(T)>::type;
  return __builtin_bit_cast(T, *reinterpret_cast<const Word*>(pointer));
#else
  T value;
  sim::load(&value, pointer, sizeof(T), {.space = S}, site);
  return value;
#endif
}

template <Space S, class T>
GANTRY_INLINE void st(SpaceTag<S>, T* pointer, const T& value, [[maybe_unused]] Site site = Site::here()) {
  GANTRY_CHECK_ACCESS(T);
#if GANTRY_ON_DEVICE
  using Word = typename detail::Words<sizeof(T)>::type;
  *reinterpret_cast<Word*>(pointer) = __builtin_bit_cast(Word, value);
#else
  sim::store(pointer, &value, sizeof(T), {.space = S}, site);
#endif
}

template <CacheOp Op, class T>
GANTRY_INLINE T ld(space_global_t, const T* pointer, CacheTag<Op>, [[maybe_unused]] Site site = Site::here()) {
  GANTRY_CHECK_ACCESS(T);
#if GANTRY_ON_DEVICE
  using Word = typename detail::Words<sizeof(T)>::type;
  const Word* from = reinterpret_cast<const Word*>(pointer);
  Word word;
  if constexpr (Op == CacheOp::global) word = __ldcg(from);
  if constexpr (Op == CacheOp::streaming) word = __ldcs(from);
  if constexpr (Op == CacheOp::last_use) word = __ldlu(from);
  if constexpr (Op == CacheOp::no_allocate) word = __ldg(from);
  return __builtin_bit_cast(T, word);
#else
  T value;
  sim::load(&value, pointer, sizeof(T), {.space = Space::global, .constant = Op == CacheOp::no_allocate}, site);
  return value;
#endif
}

// Accumulators of rows that nothing has written may be among values that go to threads of this kernel alone: the
// simulator reports them where they leave it.
struct PassedOn {};
inline constexpr PassedOn passed_on{};

template <CacheOp Op, class T>
GANTRY_INLINE void st(space_global_t, T* pointer, const T& value, CacheTag<Op>, PassedOn,
                      [[maybe_unused]] Site site = Site::here()) {
  GANTRY_CHECK_ACCESS(T);
  static_assert(Op == CacheOp::global || Op == CacheOp::streaming, "stores have cache_global and cache_streaming");
#if GANTRY_ON_DEVICE
  using Word = typename detail::Words<sizeof(T)>::type;
  Word* to = reinterpret_cast<Word*>(pointer);
  if constexpr (Op == CacheOp::global) __stcg(to, __builtin_bit_cast(Word, value));
  if constexpr (Op == CacheOp::streaming) __stcs(to, __builtin_bit_cast(Word, value));
#else
  sim::store(pointer, &value, sizeof(T), {.space = Space::global, .passed_on = true}, site);
#endif
}

template <CacheOp Op, class T>
GANTRY_INLINE void st(space_global_t, T* pointer, const T& value, CacheTag<Op> cache,
                      [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  st(space_global, pointer, value, cache, passed_on);
#else
  static_assert(Op == CacheOp::global || Op == CacheOp::streaming, "stores have cache_global and cache_streaming");
  static_cast<void>(cache);
  st(space_global, pointer, value, site);
#endif
}

#undef GANTRY_CHECK_ACCESS

namespace detail {

template <class T>
inline constexpr bool kStrong = sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8;

#if GANTRY_ON_DEVICE
// Through a register: of 16 bits for one byte too.
#define GANTRY_STRONG_LOAD(text, constraint, address, ...)                                                \
  if constexpr (sizeof(T) == 8) {                                                                         \
    std::uint64_t bits;                                                                                   \
    asm volatile("ld." text ".b64 %0, [%1];" : "=l"(bits) : constraint(address), __VA_ARGS__ : "memory"); \
    return __builtin_bit_cast(T, bits);                                                                   \
  } else if constexpr (sizeof(T) == 4) {                                                                  \
    std::uint32_t bits;                                                                                   \
    asm volatile("ld." text ".b32 %0, [%1];" : "=r"(bits) : constraint(address), __VA_ARGS__ : "memory"); \
    return __builtin_bit_cast(T, bits);                                                                   \
  } else if constexpr (sizeof(T) == 2) {                                                                  \
    std::uint16_t bits;                                                                                   \
    asm volatile("ld." text ".b16 %0, [%1];" : "=h"(bits) : constraint(address), __VA_ARGS__ : "memory"); \
    return __builtin_bit_cast(T, bits);                                                                   \
  } else {                                                                                                \
    std::uint16_t bits;                                                                                   \
    asm volatile("ld." text ".b8 %0, [%1];" : "=h"(bits) : constraint(address), __VA_ARGS__ : "memory");  \
    return __builtin_bit_cast(T, static_cast<std::uint8_t>(bits));                                        \
  }
#define GANTRY_STRONG_STORE(text, constraint, address, ...)                                                        \
  if constexpr (sizeof(T) == 8) {                                                                                  \
    asm volatile("st." text ".b64 [%0], %1;" ::constraint(address), "l"(__builtin_bit_cast(std::uint64_t, value)), \
                 __VA_ARGS__                                                                                       \
                 : "memory");                                                                                      \
  } else if constexpr (sizeof(T) == 4) {                                                                           \
    asm volatile("st." text ".b32 [%0], %1;" ::constraint(address), "r"(__builtin_bit_cast(std::uint32_t, value)), \
                 __VA_ARGS__                                                                                       \
                 : "memory");                                                                                      \
  } else if constexpr (sizeof(T) == 2) {                                                                           \
    asm volatile("st." text ".b16 [%0], %1;" ::constraint(address), "h"(__builtin_bit_cast(std::uint16_t, value)), \
                 __VA_ARGS__                                                                                       \
                 : "memory");                                                                                      \
  } else {                                                                                                         \
    asm volatile("st." text ".b8 [%0], %1;" ::constraint(address),                                                 \
                 "h"(static_cast<std::uint16_t>(__builtin_bit_cast(std::uint8_t, value))), __VA_ARGS__             \
                 : "memory");                                                                                      \
  }
#define GANTRY_TEXT(qualifier) "C"(detail::QualifierText<qualifier>::value)
#endif

}  // namespace detail

// Strong loads and stores of 1, 2, 4 or 8 bytes, by which threads of the scope synchronise. An acquire that reads what
// a release wrote sees everything that went before the release.
template <Semantics S, Scope C, Space P, class T>
GANTRY_INLINE T ld(SemanticsTag<S>, ScopeTag<C>, SpaceTag<P>, const T* pointer,
                   [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kStrong<T>, "a strong load moves 1, 2, 4 or 8 bytes");
  static_assert(S == Semantics::relaxed || S == Semantics::acquire, "a load is relaxed or acquires");
#if GANTRY_ON_DEVICE
  if constexpr (P == Space::global) {
    GANTRY_STRONG_LOAD("%2.%3.global", "l", pointer, GANTRY_TEXT(S), GANTRY_TEXT(C))
  } else {
    GANTRY_STRONG_LOAD("%2.%3.%4", "r", shared_address(pointer), GANTRY_TEXT(S), GANTRY_TEXT(C), GANTRY_TEXT(P))
  }
#else
  T value;
  sim::load(&value, pointer, sizeof(T), {.space = P, .semantics = S, .scope = C}, site);
  return value;
#endif
}

template <Semantics S, Scope C, Space P, class T>
GANTRY_INLINE void st(SemanticsTag<S>, ScopeTag<C>, SpaceTag<P>, T* pointer, const T& value,
                      [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kStrong<T>, "a strong store moves 1, 2, 4 or 8 bytes");
  static_assert(S == Semantics::relaxed || S == Semantics::release, "a store is relaxed or releases");
#if GANTRY_ON_DEVICE
  if constexpr (P == Space::global) {
    GANTRY_STRONG_STORE("%2.%3.global", "l", pointer, GANTRY_TEXT(S), GANTRY_TEXT(C))
  } else {
    GANTRY_STRONG_STORE("%2.%3.%4", "r", shared_address(pointer), GANTRY_TEXT(S), GANTRY_TEXT(C), GANTRY_TEXT(P))
  }
#else
  sim::store(pointer, &value, sizeof(T), {.space = P, .semantics = S, .scope = C}, site);
#endif
}

// Volatile accesses of 1, 2, 4 or 8 bytes: each is made, and ordered as a relaxed one of the scope of the system.
template <Space P, class T>
GANTRY_INLINE T ld_volatile(SpaceTag<P>, const T* pointer, [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kStrong<T>, "a volatile load moves 1, 2, 4 or 8 bytes");
#if GANTRY_ON_DEVICE
  if constexpr (P == Space::global) {
    GANTRY_STRONG_LOAD("volatile.%2", "l", pointer, GANTRY_TEXT(P))
  } else {
    GANTRY_STRONG_LOAD("volatile.%2", "r", shared_address(pointer), GANTRY_TEXT(P))
  }
#else
  return ld(sem_relaxed, scope_sys, SpaceTag<P>{}, pointer, site);
#endif
}

template <Space P, class T>
GANTRY_INLINE void st_volatile(SpaceTag<P>, T* pointer, const T& value, [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kStrong<T>, "a volatile store moves 1, 2, 4 or 8 bytes");
#if GANTRY_ON_DEVICE
  if constexpr (P == Space::global) {
    GANTRY_STRONG_STORE("volatile.%2", "l", pointer, GANTRY_TEXT(P))
  } else {
    GANTRY_STRONG_STORE("volatile.%2", "r", shared_address(pointer), GANTRY_TEXT(P))
  }
#else
  st(sem_relaxed, scope_sys, SpaceTag<P>{}, pointer, value, site);
#endif
}

#if GANTRY_ON_DEVICE
#undef GANTRY_STRONG_LOAD
#undef GANTRY_STRONG_STORE
#undef GANTRY_TEXT
#endif

// Part of every loop that polls: lets others run.
GANTRY_INLINE void pause([[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  __nanosleep(20);
#else
  sim::pause(site);
#endif
}

}  // namespace gantry::arch

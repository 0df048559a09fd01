// Atomic updates: `atom`, which returns the old value, and `red`, which does not. On shared memory, another CTA's
// shared memory or global memory. With semantics and a scope they serve as flags between threads; without them they are
// relaxed at GPU scope.
//
// Example at namespace scope:
//     GANTRY_HD inline std::uint32_t count(std::uint32_t* counter, float* sum, float partial, std::uint32_t* arrived) {
//       using namespace gantry::arch;
//       red(op_add, space_global, sum, partial);
//       red(op_add, sem_release, scope_gpu, space_global, arrived, 1u);
//       return atom(op_add, space_global, counter, 1u);  // the value before
//     }
//     GANTRY_HD inline void lock(std::uint32_t* mutex) {
//       using namespace gantry::arch;
//       while (atom_cas(sem_acquire, scope_cta, space_shared, mutex, 0u, 1u) != 0) {
//       }
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

// Two 16-bit floats in one word, updated each on its own.
struct f16x2 {
  std::uint32_t bits;
};
struct bf16x2 {
  std::uint32_t bits;
};
struct f32x2 {
  float x, y;
};
struct alignas(16) f32x4 {
  float x, y, z, w;
};

namespace detail {

template <class T>
inline constexpr bool kIsWord = __is_same(T, std::uint32_t) || __is_same(T, std::int32_t);
template <class T>
inline constexpr bool kIsLong = __is_same(T, std::uint64_t) || __is_same(T, std::int64_t) ||
                                __is_same(T, unsigned long long) || __is_same(T, long long);
template <class T>
inline constexpr bool kIsInteger = kIsWord<T> || kIsLong<T>;
template <class T>
inline constexpr bool kIsSigned = __is_same(T, std::int32_t) || __is_same(T, std::int64_t) || __is_same(T, long long);
template <class T>
inline constexpr bool kIsWideFloat = __is_same(T, float) || __is_same(T, double);

template <ReduceOp Op, class T>
inline constexpr bool kAtomicExists = Op == ReduceOp::add                          ? kIsInteger<T> || kIsWideFloat<T>
                                      : Op == ReduceOp::inc || Op == ReduceOp::dec ? __is_same(T, std::uint32_t)
                                                                                   : kIsInteger<T>;
template <Semantics M>
inline constexpr bool kUpdates =
    M == Semantics::relaxed || M == Semantics::acquire || M == Semantics::release || M == Semantics::acq_rel;

#define GANTRY_CHECK_ATOMIC(Op, M, T)                                                               \
  static_assert(detail::kAtomicExists<Op, T>,                                                       \
                "atomics are add (32- and 64-bit integers, float, double), min, max, and, or, xor " \
                "(integers), inc, dec (32-bit unsigned)");                                          \
  static_assert(detail::kUpdates<M>, "an atomic is relaxed, acquires, releases, or does both (acq_rel)")

#if GANTRY_ON_DEVICE
#define GANTRY_TEXT(qualifier) "C"(detail::QualifierText<qualifier>::value)

// The type as an instruction names it: addition wraps, min and max are signed or unsigned, the rest is bitwise.
template <ReduceOp Op, class T>
struct AtomicType {
  static constexpr bool kCompares = Op == ReduceOp::min || Op == ReduceOp::max;
  static constexpr char kKind = __is_same(T, float) || __is_same(T, double)                           ? 'f'
                                : kCompares && kIsSigned<T>                                           ? 's'
                                : Op == ReduceOp::and_ || Op == ReduceOp::or_ || Op == ReduceOp::xor_ ? 'b'
                                                                                                      : 'u';
  static constexpr char value[] = {kKind, sizeof(T) == 8 ? '6' : '3', sizeof(T) == 8 ? '4' : '2', '\0'};
};

// The instruction through a register of the type's kind. `bits` and `old` are integers except for float and double.
#define GANTRY_ATOM_AT(text, type, constraint, space, address)                                                \
  type old;                                                                                                   \
  asm volatile("atom.%3.%4.%5.%6.%7 %0, [%1], %2;"                                                            \
               : "=" constraint(old)                                                                          \
               : space(address), constraint(__builtin_bit_cast(type, value)), GANTRY_TEXT(M), GANTRY_TEXT(C), \
                 GANTRY_TEXT(S), GANTRY_TEXT(Op), "C"(detail::AtomicType<Op, T>::value)                       \
               : "memory");                                                                                   \
  return __builtin_bit_cast(T, old)
#define GANTRY_RED_AT(text, type, constraint, space, address)                                                         \
  asm volatile("red.%2.%3.%4.%5.%6 [%0], %1;" ::space(address), constraint(__builtin_bit_cast(type, value)),          \
               GANTRY_TEXT(M), GANTRY_TEXT(C), GANTRY_TEXT(S), GANTRY_TEXT(Op), "C"(detail::AtomicType<Op, T>::value) \
               : "memory")
#define GANTRY_EXCH_AT(text, type, constraint, space, address)                                                \
  type old;                                                                                                   \
  asm volatile("atom.%3.%4.%5.exch." text " %0, [%1], %2;"                                                    \
               : "=" constraint(old)                                                                          \
               : space(address), constraint(__builtin_bit_cast(type, value)), GANTRY_TEXT(M), GANTRY_TEXT(C), \
                 GANTRY_TEXT(S)                                                                               \
               : "memory");                                                                                   \
  return __builtin_bit_cast(T, old)
#define GANTRY_CAS_AT(text, type, constraint, space, address)                                                \
  type old;                                                                                                  \
  asm volatile("atom.%4.%5.%6.cas." text " %0, [%1], %2, %3;"                                                \
               : "=" constraint(old)                                                                         \
               : space(address), constraint(__builtin_bit_cast(type, compare)),                              \
                 constraint(__builtin_bit_cast(type, value)), GANTRY_TEXT(M), GANTRY_TEXT(C), GANTRY_TEXT(S) \
               : "memory");                                                                                  \
  return __builtin_bit_cast(T, old)

#define GANTRY_BY_SPACE(EMIT, text, type, constraint)           \
  if constexpr (S == Space::global) {                           \
    EMIT(text, type, constraint, "l", pointer);                 \
  } else {                                                      \
    EMIT(text, type, constraint, "r", shared_address(pointer)); \
  }
#define GANTRY_BY_TYPE(EMIT)                         \
  if constexpr (__is_same(T, float)) {               \
    GANTRY_BY_SPACE(EMIT, "b32", float, "f")         \
  } else if constexpr (__is_same(T, double)) {       \
    GANTRY_BY_SPACE(EMIT, "b64", double, "d")        \
  } else if constexpr (sizeof(T) == 8) {             \
    GANTRY_BY_SPACE(EMIT, "b64", std::uint64_t, "l") \
  } else if constexpr (sizeof(T) == 4) {             \
    GANTRY_BY_SPACE(EMIT, "b32", std::uint32_t, "r") \
  } else {                                           \
    GANTRY_BY_SPACE(EMIT, "b16", std::uint16_t, "h") \
  }
#else
template <class T>
constexpr sim::Element element_of() {
  if constexpr (__is_same(T, float))
    return sim::Element::f32;
  else if constexpr (__is_same(T, double))
    return sim::Element::f64;
  else if constexpr (sizeof(T) == 2)
    return sim::Element::b16;
  else if constexpr (sizeof(T) == 4)
    return kIsSigned<T> ? sim::Element::s32 : sim::Element::u32;
  else
    return kIsSigned<T> ? sim::Element::s64 : sim::Element::u64;
}

template <class T>
T update(T* target, sim::AtomicOp op, T value, const T* compare, sim::Access access, Site site) {
  T old{};
  sim::atomic(
      {.target = target, .op = op, .element = element_of<T>(), .value = &value, .compare = compare, .old = &old},
      access, site);
  return old;
}
#endif

}  // namespace detail

template <ReduceOp Op, Semantics M, Scope C, Space S, class T>
GANTRY_INLINE T atom(OpTag<Op>, SemanticsTag<M>, ScopeTag<C>, SpaceTag<S>, T* pointer, T value,
                     [[maybe_unused]] Site site = Site::here()) {
  GANTRY_CHECK_ATOMIC(Op, M, T);
#if GANTRY_ON_DEVICE
  GANTRY_BY_TYPE(GANTRY_ATOM_AT)
#else
  return detail::update<T>(pointer, static_cast<sim::AtomicOp>(Op), value, nullptr,
                           {.space = S, .semantics = M, .scope = C}, site);
#endif
}

template <ReduceOp Op, Space S, class T>
GANTRY_INLINE T atom(OpTag<Op> op, SpaceTag<S> space, T* pointer, T value, Site site = Site::here()) {
  return atom(op, sem_relaxed, scope_gpu, space, pointer, value, site);
}

// Returns nothing, and so acquires nothing.
template <ReduceOp Op, Semantics M, Scope C, Space S, class T>
GANTRY_INLINE void red(OpTag<Op>, SemanticsTag<M>, ScopeTag<C>, SpaceTag<S>, T* pointer, T value,
                       [[maybe_unused]] Site site = Site::here()) {
  GANTRY_CHECK_ATOMIC(Op, M, T);
  static_assert(M == Semantics::relaxed || M == Semantics::release, "a reduction is relaxed or releases");
#if GANTRY_ON_DEVICE
  GANTRY_BY_TYPE(GANTRY_RED_AT)
#else
  detail::update<T>(pointer, static_cast<sim::AtomicOp>(Op), value, nullptr, {.space = S, .semantics = M, .scope = C},
                    site);
#endif
}

template <ReduceOp Op, Space S, class T>
GANTRY_INLINE void red(OpTag<Op> op, SpaceTag<S> space, T* pointer, T value, Site site = Site::here()) {
  red(op, sem_relaxed, scope_gpu, space, pointer, value, site);
}

// Writes `value` and returns what was there.
template <Semantics M, Scope C, Space S, class T>
GANTRY_INLINE T atom_exch(SemanticsTag<M>, ScopeTag<C>, SpaceTag<S>, T* pointer, T value,
                          [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kIsInteger<T>, "exchange is for 32- and 64-bit integers");
  static_assert(detail::kUpdates<M>, "an atomic is relaxed, acquires, releases, or does both (acq_rel)");
#if GANTRY_ON_DEVICE
  GANTRY_BY_TYPE(GANTRY_EXCH_AT)
#else
  return detail::update<T>(pointer, sim::AtomicOp::exchange, value, nullptr, {.space = S, .semantics = M, .scope = C},
                           site);
#endif
}

template <Space S, class T>
GANTRY_INLINE T atom_exch(SpaceTag<S> space, T* pointer, T value, Site site = Site::here()) {
  return atom_exch(sem_relaxed, scope_gpu, space, pointer, value, site);
}

// Writes `value` where `compare` is found; returns what was there. One that finds something else is a load: it acquires
// and releases nothing.
template <Semantics M, Scope C, Space S, class T>
GANTRY_INLINE T atom_cas(SemanticsTag<M>, ScopeTag<C>, SpaceTag<S>, T* pointer, T compare, T value,
                         [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kIsInteger<T> || __is_same(T, std::uint16_t),
                "compare-and-swap is for 16-bit unsigned and for 32- and 64-bit integers");
  static_assert(detail::kUpdates<M>, "an atomic is relaxed, acquires, releases, or does both (acq_rel)");
#if GANTRY_ON_DEVICE
  GANTRY_BY_TYPE(GANTRY_CAS_AT)
#else
  return detail::update<T>(pointer, sim::AtomicOp::compare_exchange, value, &compare,
                           {.space = S, .semantics = M, .scope = C}, site);
#endif
}

template <Space S, class T>
GANTRY_INLINE T atom_cas(SpaceTag<S> space, T* pointer, T compare, T value, Site site = Site::here()) {
  return atom_cas(sem_relaxed, scope_gpu, space, pointer, compare, value, site);
}

// Vector additions in global memory; each element is updated atomically on its own.
#if GANTRY_ON_DEVICE
#define GANTRY_RED_BODY(order, text, lanes, kind, ...)                                                      \
  asm volatile("red." order ".global.add." text ::"l"(pointer), __VA_ARGS__, GANTRY_TEXT(M), GANTRY_TEXT(C) \
               : "memor"                                                                                    \
                 "y")
#else
#define GANTRY_RED_BODY(order, text, count, kind, ...)                                                               \
  sim::atomic(                                                                                                       \
      {.target = pointer, .op = sim::AtomicOp::add, .element = sim::Element::kind, .lanes = count, .value = &value}, \
      {.space = Space::global, .semantics = M, .scope = C}, site)
#endif
#define GANTRY_RED_VECTOR(type, ...)                                                                               \
  template <Semantics M, Scope C>                                                                                  \
  GANTRY_INLINE void red(op_add_t, SemanticsTag<M>, ScopeTag<C>, space_global_t, type* pointer, type value,        \
                         [[maybe_unused]] Site site = Site::here()) {                                              \
    static_assert(M == Semantics::relaxed || M == Semantics::release, "a reduction is relaxed or releases");       \
    GANTRY_RED_BODY(__VA_ARGS__);                                                                                  \
  }                                                                                                                \
  GANTRY_INLINE void red(op_add_t op, space_global_t space, type* pointer, type value, Site site = Site::here()) { \
    red(op, sem_relaxed, scope_gpu, space, pointer, value, site);                                                  \
  }
GANTRY_RED_VECTOR(f16x2, "%2.%3", "noftz.f16x2 [%0], %1;", 2, f16, "r"(value.bits))
GANTRY_RED_VECTOR(bf16x2, "%2.%3", "noftz.bf16x2 [%0], %1;", 2, bf16, "r"(value.bits))
GANTRY_RED_VECTOR(f32x2, "%3.%4", "v2.f32 [%0], {%1, %2};", 2, f32, "f"(value.x), "f"(value.y))
GANTRY_RED_VECTOR(f32x4, "%5.%6", "v4.f32 [%0], {%1, %2, %3, %4};", 4, f32, "f"(value.x), "f"(value.y), "f"(value.z),
                  "f"(value.w))
#undef GANTRY_RED_VECTOR
#undef GANTRY_RED_BODY
#undef GANTRY_CHECK_ATOMIC
#if GANTRY_ON_DEVICE
#undef GANTRY_TEXT
#undef GANTRY_ATOM_AT
#undef GANTRY_RED_AT
#undef GANTRY_EXCH_AT
#undef GANTRY_CAS_AT
#undef GANTRY_BY_SPACE
#undef GANTRY_BY_TYPE
#endif

}  // namespace gantry::arch

// Updates that no other update can come between: `atom`, which returns the old value, and `red`, which does not.
// Relaxed, at the scope of the GPU, on shared or global memory; the forms with semantics serve as flags between CTAs.
//
// Example at namespace scope:
//     GANTRY_HD inline std::uint32_t count(std::uint32_t* counter, float* sum, float partial, std::uint32_t* arrived) {
//       using namespace gantry::arch;
//       red(op_add, space_global, sum, partial);
//       red(op_add, sem_release, scope_gpu, space_global, arrived, 1u);
//       return atom(op_add, space_global, counter, 1u);  // the value before
//     }
#pragma once

#include <cstdint>

#include <gantry/arch/site.hpp>
#include <gantry/arch/tags.hpp>

#if !GANTRY_ON_DEVICE
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
inline constexpr bool kIsInteger = __is_same(T, std::uint32_t) || __is_same(T, std::int32_t) ||
                                   __is_same(T, unsigned long long) || __is_same(T, std::uint64_t);
template <class T>
inline constexpr bool kIsWideFloat = __is_same(T, float) || __is_same(T, double);

template <ReduceOp Op, class T>
inline constexpr bool kAtomicExists = Op == ReduceOp::add                          ? kIsInteger<T> || kIsWideFloat<T>
                                      : Op == ReduceOp::inc || Op == ReduceOp::dec ? __is_same(T, std::uint32_t)
                                                                                   : kIsInteger<T>;

#if !GANTRY_ON_DEVICE
template <class T>
constexpr sim::Element element_of() {
  if constexpr (__is_same(T, std::int32_t))
    return sim::Element::s32;
  else if constexpr (__is_same(T, std::uint32_t))
    return sim::Element::u32;
  else if constexpr (__is_same(T, float))
    return sim::Element::f32;
  else if constexpr (__is_same(T, double))
    return sim::Element::f64;
  else
    return sim::Element::u64;
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

#if GANTRY_ON_DEVICE
template <class T>
struct DeviceWord {
  using type = T;
};
template <>
struct DeviceWord<std::uint64_t> {
  using type = unsigned long long;
};
#endif

}  // namespace detail

template <ReduceOp Op, Space S, class T>
GANTRY_INLINE T atom(OpTag<Op>, SpaceTag<S>, T* pointer, T value, [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kAtomicExists<Op, T>,
                "atomics are add (32- and 64-bit integers, float, double), min, max, and, or, xor (integers), "
                "inc, dec (32-bit unsigned)");
#if GANTRY_ON_DEVICE
  using Word = typename detail::DeviceWord<T>::type;
  Word* at = reinterpret_cast<Word*>(pointer);
  if constexpr (Op == ReduceOp::add) return static_cast<T>(atomicAdd(at, static_cast<Word>(value)));
  if constexpr (Op == ReduceOp::min) return static_cast<T>(atomicMin(at, static_cast<Word>(value)));
  if constexpr (Op == ReduceOp::max) return static_cast<T>(atomicMax(at, static_cast<Word>(value)));
  if constexpr (Op == ReduceOp::inc) return static_cast<T>(atomicInc(at, value));
  if constexpr (Op == ReduceOp::dec) return static_cast<T>(atomicDec(at, value));
  if constexpr (Op == ReduceOp::and_) return static_cast<T>(atomicAnd(at, static_cast<Word>(value)));
  if constexpr (Op == ReduceOp::or_) return static_cast<T>(atomicOr(at, static_cast<Word>(value)));
  if constexpr (Op == ReduceOp::xor_) return static_cast<T>(atomicXor(at, static_cast<Word>(value)));
#else
  return detail::update<T>(pointer, static_cast<sim::AtomicOp>(Op), value, nullptr,
                           {.space = S, .semantics = Semantics::relaxed, .scope = Scope::gpu}, site);
#endif
}

template <ReduceOp Op, Space S, class T>
GANTRY_INLINE void red(OpTag<Op> op, SpaceTag<S> space, T* pointer, T value, Site site = Site::here()) {
  (void)atom(op, space, pointer, value, site);
}

// Writes `value` and returns what was there.
template <Space S, class T>
GANTRY_INLINE T atom_exch(SpaceTag<S>, T* pointer, T value, [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kIsInteger<T>, "exchange is for 32- and 64-bit integers");
#if GANTRY_ON_DEVICE
  using Word = typename detail::DeviceWord<T>::type;
  return static_cast<T>(atomicExch(reinterpret_cast<Word*>(pointer), static_cast<Word>(value)));
#else
  return detail::update<T>(pointer, sim::AtomicOp::exchange, value, nullptr,
                           {.space = S, .semantics = Semantics::relaxed, .scope = Scope::gpu}, site);
#endif
}

// Writes `value` where `compare` is found; returns what was there.
template <Space S, class T>
GANTRY_INLINE T atom_cas(SpaceTag<S>, T* pointer, T compare, T value, [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kIsInteger<T>, "compare-and-swap is for 32- and 64-bit integers");
#if GANTRY_ON_DEVICE
  using Word = typename detail::DeviceWord<T>::type;
  return static_cast<T>(
      atomicCAS(reinterpret_cast<Word*>(pointer), static_cast<Word>(compare), static_cast<Word>(value)));
#else
  return detail::update<T>(pointer, sim::AtomicOp::compare_exchange, value, &compare,
                           {.space = S, .semantics = Semantics::relaxed, .scope = Scope::gpu}, site);
#endif
}

// A counter between CTAs: adds and orders.
template <Semantics M>
GANTRY_INLINE std::uint32_t atom(op_add_t, SemanticsTag<M>, scope_gpu_t, space_global_t, std::uint32_t* pointer,
                                 std::uint32_t value, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  std::uint32_t old;
#define GANTRY_ATOM(sem) \
  asm volatile("atom." sem ".gpu.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(pointer), "r"(value) : "memory")
  if constexpr (M == Semantics::relaxed) GANTRY_ATOM("relaxed");
  if constexpr (M == Semantics::acquire) GANTRY_ATOM("acquire");
  if constexpr (M == Semantics::release) GANTRY_ATOM("release");
  if constexpr (M == Semantics::acq_rel) GANTRY_ATOM("acq_rel");
#undef GANTRY_ATOM
  return old;
#else
  return detail::update<std::uint32_t>(pointer, sim::AtomicOp::add, value, nullptr,
                                       {.space = Space::global, .semantics = M, .scope = Scope::gpu}, site);
#endif
}

template <Semantics M>
GANTRY_INLINE void red(op_add_t op, SemanticsTag<M> sem, scope_gpu_t scope, space_global_t space,
                       std::uint32_t* pointer, std::uint32_t value, Site site = Site::here()) {
  (void)atom(op, sem, scope, space, pointer, value, site);
}

#if GANTRY_ON_DEVICE
#define GANTRY_RED_BODY(text, lanes, kind, ...) \
  asm volatile("red.relaxed.gpu.global.add." text ::"l"(pointer), __VA_ARGS__ : "memory")
#else
#define GANTRY_RED_BODY(text, count, kind, ...)                                                                      \
  sim::atomic(                                                                                                       \
      {.target = pointer, .op = sim::AtomicOp::add, .element = sim::Element::kind, .lanes = count, .value = &value}, \
      {.space = Space::global, .semantics = Semantics::relaxed, .scope = Scope::gpu}, site)
#endif

// Sums of several values at once in global memory, each element updated on its own.
GANTRY_INLINE void red(op_add_t, space_global_t, f16x2* pointer, f16x2 value,
                       [[maybe_unused]] Site site = Site::here()) {
  GANTRY_RED_BODY("noftz.f16x2 [%0], %1;", 2, f16, "r"(value.bits));
}
GANTRY_INLINE void red(op_add_t, space_global_t, bf16x2* pointer, bf16x2 value,
                       [[maybe_unused]] Site site = Site::here()) {
  GANTRY_RED_BODY("noftz.bf16x2 [%0], %1;", 2, bf16, "r"(value.bits));
}
GANTRY_INLINE void red(op_add_t, space_global_t, f32x2* pointer, f32x2 value,
                       [[maybe_unused]] Site site = Site::here()) {
  GANTRY_RED_BODY("v2.f32 [%0], {%1, %2};", 2, f32, "f"(value.x), "f"(value.y));
}
GANTRY_INLINE void red(op_add_t, space_global_t, f32x4* pointer, f32x4 value,
                       [[maybe_unused]] Site site = Site::here()) {
  GANTRY_RED_BODY("v4.f32 [%0], {%1, %2, %3, %4};", 4, f32, "f"(value.x), "f"(value.y), "f"(value.z), "f"(value.w));
}

#undef GANTRY_RED_BODY

}  // namespace gantry::arch

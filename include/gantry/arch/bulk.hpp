// Bulk copies and reductions of plain byte ranges: `cp.async.bulk`, `cp.reduce.async.bulk`, and the remote stores that
// carry their own completion. Addresses and sizes are multiples of 16.
//
// Example at namespace scope:
//     GANTRY_HD inline void move(float* row, const float* bias, float* sums, std::uint64_t* full) {
//       using namespace gantry::arch;
//       cp_async_bulk(space_cluster, space_global, row, bias, 512, full);
//       cp_reduce_async_bulk(space_global, space_shared, op_add, sums, row, 512);
//     }
#pragma once

#include <cstdint>

#include <gantry/arch/address.hpp>
#include <gantry/arch/site.hpp>
#include <gantry/arch/tags.hpp>
#include <gantry/numeric/float_types.hpp>

#if !GANTRY_ON_DEVICE
#include <gantry/arch/detail/machine.hpp>
#endif

namespace gantry::arch {

// Global to shared, credited to `barrier`.
GANTRY_INLINE void cp_async_bulk(space_cluster_t, space_global_t, void* destination, const void* source,
                                 std::uint32_t bytes, std::uint64_t* barrier,
                                 [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(destination)),
               "l"(source), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
#else
  sim::bulk_copy(
      {.kind = sim::CopyKind::load, .destination = destination, .source = source, .bytes = bytes, .barrier = barrier},
      site);
#endif
}

// The same bytes into every CTA of the cluster whose bit is set in `mask`.
GANTRY_INLINE void cp_async_bulk(space_cluster_t, space_global_t, void* destination, const void* source,
                                 std::uint32_t bytes, std::uint64_t* barrier, std::uint16_t mask,
                                 [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(destination)),
      "l"(source), "r"(bytes), "r"(shared_address(barrier)), "h"(mask)
      : "memory");
#else
  sim::bulk_copy({.kind = sim::CopyKind::load,
                  .destination = destination,
                  .source = source,
                  .bytes = bytes,
                  .barrier = barrier,
                  .multicast = true,
                  .mask = mask},
                 site);
#endif
}

// From this CTA's shared memory to another's, credited to a barrier there.
GANTRY_INLINE void cp_async_bulk(space_cluster_t, space_shared_t, void* remote, const void* source, std::uint32_t bytes,
                                 std::uint64_t* remote_barrier, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(remote)),
               "r"(shared_address(source)), "r"(bytes), "r"(shared_address(remote_barrier))
               : "memory");
#else
  sim::bulk_copy({.kind = sim::CopyKind::load,
                  .from = Space::shared,
                  .destination = remote,
                  .source = source,
                  .bytes = bytes,
                  .barrier = remote_barrier},
                 site);
#endif
}

// Shared to global, in the issuing thread's bulk group.
GANTRY_INLINE void cp_async_bulk(space_global_t, space_shared_t, void* destination, const void* source,
                                 std::uint32_t bytes, [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(destination),
               "r"(shared_address(source)), "r"(bytes)
               : "memory");
#else
  sim::bulk_copy({.kind = sim::CopyKind::store,
                  .to = Space::global,
                  .from = Space::shared,
                  .destination = destination,
                  .source = source,
                  .bytes = bytes},
                 site);
#endif
}

// Into L2, as a hint.
GANTRY_INLINE void cp_async_bulk_prefetch(space_global_t, const void* source, std::uint32_t bytes,
                                          [[maybe_unused]] Site site = Site::here()) {
#if GANTRY_ON_DEVICE
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(source), "r"(bytes) : "memory");
#else
  sim::bulk_copy({.kind = sim::CopyKind::prefetch, .source = source, .bytes = bytes}, site);
#endif
}

namespace detail {

template <class T>
inline constexpr bool kHalf = __is_same(T, f16) || __is_same(T, bf16);
template <class T>
inline constexpr bool kWord = __is_same(T, std::uint32_t) || __is_same(T, std::int32_t);
template <class T>
inline constexpr bool kLong = __is_same(T, std::uint64_t) || __is_same(T, std::int64_t);

template <ReduceOp Op, class T>
GANTRY_HD constexpr bool bulk_reduces_to_global() {
  switch (Op) {
    case ReduceOp::add:
      return kWord<T> || kHalf<T> || __is_same(T, std::uint64_t) || __is_same(T, float) || __is_same(T, double);
    case ReduceOp::min:
    case ReduceOp::max:
      return kWord<T> || kHalf<T> || kLong<T>;
    case ReduceOp::inc:
    case ReduceOp::dec:
      return __is_same(T, std::uint32_t);
    default:
      return __is_same(T, std::uint32_t) || __is_same(T, std::uint64_t);
  }
}

template <ReduceOp Op, class T>
GANTRY_HD constexpr bool bulk_reduces_to_cluster() {
  switch (Op) {
    case ReduceOp::add:
      return kWord<T> || __is_same(T, std::uint64_t);
    case ReduceOp::min:
    case ReduceOp::max:
      return kWord<T>;
    default:
      return __is_same(T, std::uint32_t);
  }
}

#if !GANTRY_ON_DEVICE
template <class T>
constexpr sim::Element bulk_element() {
  if constexpr (__is_same(T, std::uint32_t))
    return sim::Element::u32;
  else if constexpr (__is_same(T, std::int32_t))
    return sim::Element::s32;
  else if constexpr (__is_same(T, std::uint64_t))
    return sim::Element::u64;
  else if constexpr (__is_same(T, std::int64_t))
    return sim::Element::s64;
  else if constexpr (__is_same(T, f16))
    return sim::Element::f16;
  else if constexpr (__is_same(T, bf16))
    return sim::Element::bf16;
  else if constexpr (__is_same(T, float))
    return sim::Element::f32;
  else
    return sim::Element::f64;
}
#endif

}  // namespace detail

#if GANTRY_ON_DEVICE
// The instruction's text for each operation and type; EMIT takes the part ".op.type".
#define GANTRY_REDUCE_MINMAX(EMIT, op)                            \
  if constexpr (__is_same(T, std::uint32_t)) EMIT("." op ".u32"); \
  if constexpr (__is_same(T, std::int32_t)) EMIT("." op ".s32");  \
  if constexpr (__is_same(T, std::uint64_t)) EMIT("." op ".u64"); \
  if constexpr (__is_same(T, std::int64_t)) EMIT("." op ".s64");  \
  if constexpr (__is_same(T, f16)) EMIT("." op ".f16");           \
  if constexpr (__is_same(T, bf16)) EMIT("." op ".bf16");
#define GANTRY_REDUCE_BITS(EMIT, op)                 \
  if constexpr (sizeof(T) == 4) EMIT("." op ".b32"); \
  if constexpr (sizeof(T) == 8) EMIT("." op ".b64");
#define GANTRY_REDUCE_ALL(EMIT)                                  \
  if constexpr (Op == ReduceOp::add) {                           \
    if constexpr (__is_same(T, std::uint32_t)) EMIT(".add.u32"); \
    if constexpr (__is_same(T, std::int32_t)) EMIT(".add.s32");  \
    if constexpr (__is_same(T, std::uint64_t)) EMIT(".add.u64"); \
    if constexpr (__is_same(T, float)) EMIT(".add.f32");         \
    if constexpr (__is_same(T, double)) EMIT(".add.f64");        \
    if constexpr (__is_same(T, f16)) EMIT(".add.noftz.f16");     \
    if constexpr (__is_same(T, bf16)) EMIT(".add.noftz.bf16");   \
  }                                                              \
  if constexpr (Op == ReduceOp::min) {                           \
    GANTRY_REDUCE_MINMAX(EMIT, "min")                            \
  }                                                              \
  if constexpr (Op == ReduceOp::max) {                           \
    GANTRY_REDUCE_MINMAX(EMIT, "max")                            \
  }                                                              \
  if constexpr (Op == ReduceOp::inc) EMIT(".inc.u32");           \
  if constexpr (Op == ReduceOp::dec) EMIT(".dec.u32");           \
  if constexpr (Op == ReduceOp::and_) {                          \
    GANTRY_REDUCE_BITS(EMIT, "and")                              \
  }                                                              \
  if constexpr (Op == ReduceOp::or_) {                           \
    GANTRY_REDUCE_BITS(EMIT, "or")                               \
  }                                                              \
  if constexpr (Op == ReduceOp::xor_) {                          \
    GANTRY_REDUCE_BITS(EMIT, "xor")                              \
  }
#define GANTRY_REDUCE_GLOBAL(text)                                                                              \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group" text " [%0], [%1], %2;" ::"l"(destination), \
               "r"(shared_address(source)), "r"(bytes)                                                          \
               : "memory")
#define GANTRY_REDUCE_CLUSTER(text)                                                                 \
  asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes" text \
               " [%0], [%1], %2, [%3];" ::"r"(shared_address(remote)),                              \
               "r"(shared_address(source)), "r"(bytes), "r"(shared_address(remote_barrier))         \
               : "memory")
#endif

// Global memory becomes op(global, shared), element by element.
template <ReduceOp Op, class T>
GANTRY_INLINE void cp_reduce_async_bulk(space_global_t, space_shared_t, OpTag<Op>, T* destination, const T* source,
                                        std::uint32_t bytes, [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::bulk_reduces_to_global<Op, T>(),
                "bulk reductions to global memory: add (u32 s32 u64 f32 f64 f16 bf16), min max (u32 s32 u64 s64 f16 "
                "bf16), inc dec (u32), and or xor (u32 u64)");
#if GANTRY_ON_DEVICE
  GANTRY_REDUCE_ALL(GANTRY_REDUCE_GLOBAL)
#else
  sim::bulk_copy({.kind = sim::CopyKind::reduce,
                  .to = Space::global,
                  .from = Space::shared,
                  .destination = destination,
                  .source = source,
                  .bytes = bytes,
                  .op = Op,
                  .element = detail::bulk_element<T>()},
                 site);
#endif
}

// Another CTA's shared memory becomes op(theirs, ours), credited to a barrier there.
template <ReduceOp Op, class T>
GANTRY_INLINE void cp_reduce_async_bulk(space_cluster_t, space_shared_t, OpTag<Op>, T* remote, const T* source,
                                        std::uint32_t bytes, std::uint64_t* remote_barrier,
                                        [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::bulk_reduces_to_cluster<Op, T>(),
                "bulk reductions to shared memory: add (u32 s32 u64), min max (u32 s32), inc dec and or xor (u32)");
#if GANTRY_ON_DEVICE
  GANTRY_REDUCE_ALL(GANTRY_REDUCE_CLUSTER)
#else
  sim::bulk_copy({.kind = sim::CopyKind::reduce,
                  .to = Space::cluster,
                  .from = Space::shared,
                  .destination = remote,
                  .source = source,
                  .bytes = bytes,
                  .barrier = remote_barrier,
                  .op = Op,
                  .element = detail::bulk_element<T>()},
                 site);
#endif
}

#if GANTRY_ON_DEVICE
#undef GANTRY_REDUCE_GLOBAL
#undef GANTRY_REDUCE_CLUSTER
#endif

#if GANTRY_ON_DEVICE
#define GANTRY_ST_ASYNC(text, ...)                                                                               \
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes." text ::"r"(shared_address(remote)), \
               "r"(shared_address(remote_barrier)), __VA_ARGS__                                                  \
               : "memory")
#define GANTRY_BITS(type, value) __builtin_bit_cast(std::type, value)
#endif

// A value of 4 or 8 bytes into another CTA's shared memory, credited to a barrier beside it.
template <class T>
GANTRY_INLINE void st_async(T* remote, const T& value, std::uint64_t* remote_barrier,
                            [[maybe_unused]] Site site = Site::here()) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "st.async stores 4 or 8 bytes");
#if GANTRY_ON_DEVICE
  if constexpr (sizeof(T) == 4) {
    GANTRY_ST_ASYNC("b32 [%0], %2, [%1];", "r"(GANTRY_BITS(uint32_t, value)));
  } else {
    GANTRY_ST_ASYNC("b64 [%0], %2, [%1];", "l"(GANTRY_BITS(uint64_t, value)));
  }
#else
  sim::remote_store({.destination = remote, .value = &value, .bytes = sizeof(T), .barrier = remote_barrier}, site);
#endif
}

// Two values of 4 or 8 bytes, or four of 4, side by side: aligned to the size of them all.
template <class T, int Count>
GANTRY_INLINE void st_async(T* remote, const T (&value)[Count], std::uint64_t* remote_barrier,
                            [[maybe_unused]] Site site = Site::here()) {
  static_assert((Count == 2 && (sizeof(T) == 4 || sizeof(T) == 8)) || (Count == 4 && sizeof(T) == 4),
                "a vector of st.async is two values of 4 or 8 bytes, or four of 4");
#if GANTRY_ON_DEVICE
  if constexpr (Count == 4) {
    GANTRY_ST_ASYNC("v4.b32 [%0], {%2, %3, %4, %5}, [%1];", "r"(GANTRY_BITS(uint32_t, value[0])),
                    "r"(GANTRY_BITS(uint32_t, value[1])), "r"(GANTRY_BITS(uint32_t, value[2])),
                    "r"(GANTRY_BITS(uint32_t, value[3])));
  } else if constexpr (sizeof(T) == 4) {
    GANTRY_ST_ASYNC("v2.b32 [%0], {%2, %3}, [%1];", "r"(GANTRY_BITS(uint32_t, value[0])),
                    "r"(GANTRY_BITS(uint32_t, value[1])));
  } else {
    GANTRY_ST_ASYNC("v2.b64 [%0], {%2, %3}, [%1];", "l"(GANTRY_BITS(uint64_t, value[0])),
                    "l"(GANTRY_BITS(uint64_t, value[1])));
  }
#else
  sim::remote_store({.destination = remote, .value = value, .bytes = sizeof value, .barrier = remote_barrier}, site);
#endif
}

#if GANTRY_ON_DEVICE
#undef GANTRY_ST_ASYNC
#undef GANTRY_BITS
#define GANTRY_RED_ASYNC(text)                                                               \
  asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes" text \
               " [%0], %1, [%2];" ::"r"(shared_address(remote)),                             \
               "r"(value), "r"(shared_address(remote_barrier))                               \
               : "memory")
#endif

// A 32-bit integer in another CTA's shared memory becomes op(theirs, value), credited to a barrier beside it; 64-bit
// integers can be added to.
template <ReduceOp Op, class T>
GANTRY_INLINE void red_async(OpTag<Op>, T* remote, const T& value, std::uint64_t* remote_barrier,
                             [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::bulk_reduces_to_cluster<Op, T>() || (Op == ReduceOp::add && __is_same(T, std::int64_t)),
                "red.async: add (u32 s32 u64 s64), min max (u32 s32), inc dec and or xor (u32)");
#if GANTRY_ON_DEVICE
  if constexpr (sizeof(T) == 8) {
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%0], %1, [%2];" ::"r"(
                     shared_address(remote)),
                 "l"(value), "r"(shared_address(remote_barrier))
                 : "memory");
  } else {
    GANTRY_REDUCE_ALL(GANTRY_RED_ASYNC)
  }
#else
  sim::remote_store({.destination = remote,
                     .value = &value,
                     .bytes = sizeof(T),
                     .barrier = remote_barrier,
                     .reduces = true,
                     .op = Op,
                     .element = detail::bulk_element<T>()},
                    site);
#endif
}

#if GANTRY_ON_DEVICE
#undef GANTRY_RED_ASYNC
#undef GANTRY_REDUCE_MINMAX
#undef GANTRY_REDUCE_BITS
#undef GANTRY_REDUCE_ALL
#endif

}  // namespace gantry::arch

// Bulk tensor copies: `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor` and their prefetch, rank 1 to 5, named and
// ordered as in `cuda::ptx`. Coordinates are in elements, innermost first. One thread issues a copy.
//
// Loads complete on an mbarrier, which is credited the bytes of the whole box; stores and reductions complete in the
// bulk group of the issuing thread (`bulk_group.hpp`).
//
// Example at namespace scope:
//     GANTRY_HD inline void copy_tile(void* tile, const void* from, const void* to, std::uint64_t* full) {
//       using namespace gantry::arch;
//       const std::int32_t at[2] = {64, 128};
//       cp_async_bulk_tensor(space_cluster, space_global, tile, from, at, full);
//       cp_async_bulk_tensor(space_global, space_shared, to, at, tile);
//     }
#pragma once

#include <cstdint>

#include <gantry/arch/address.hpp>
#include <gantry/arch/site.hpp>
#include <gantry/arch/tags.hpp>

#if !GANTRY_ON_DEVICE
#include <gantry/arch/detail/machine.hpp>
#endif

namespace gantry::arch {

#if GANTRY_ON_DEVICE

// One instruction at each rank. `before` and `after` surround the coordinates, which are operands 4 and up; the
// operands that the text names come first, always four, so that their numbers do not depend on the rank.
#define GANTRY_TENSOR_TILED(name, before, after, a, b, c, d)                                                           \
  if constexpr (Rank == 1) {                                                                                           \
    asm volatile(name ".1d" before "{%4}" after ::a, b, c, d, "r"(coordinates[0]) : "memory");                         \
  } else if constexpr (Rank == 2) {                                                                                    \
    asm volatile(name ".2d" before "{%4,%5}" after ::a, b, c, d, "r"(coordinates[0]), "r"(coordinates[1]) : "memory"); \
  } else if constexpr (Rank == 3) {                                                                                    \
    asm volatile(name ".3d" before "{%4,%5,%6}" after ::a, b, c, d, "r"(coordinates[0]), "r"(coordinates[1]),          \
                 "r"(coordinates[2])                                                                                   \
                 : "memory");                                                                                          \
  } else if constexpr (Rank == 4) {                                                                                    \
    asm volatile(name ".4d" before "{%4,%5,%6,%7}" after ::a, b, c, d, "r"(coordinates[0]), "r"(coordinates[1]),       \
                 "r"(coordinates[2]), "r"(coordinates[3])                                                              \
                 : "memory");                                                                                          \
  } else {                                                                                                             \
    asm volatile(name ".5d" before "{%4,%5,%6,%7,%8}" after ::a, b, c, d, "r"(coordinates[0]), "r"(coordinates[1]),    \
                 "r"(coordinates[2]), "r"(coordinates[3]), "r"(coordinates[4])                                         \
                 : "memory");                                                                                          \
  }

// The same for im2col loads, which exist at ranks 3 to 5 and take rank - 2 offsets after the barrier.
#define GANTRY_TENSOR_IM2COL(name, before, middle, after, a, b, c, d)                                                 \
  if constexpr (Rank == 3) {                                                                                          \
    asm volatile(name ".3d" before "{%4,%5,%6}" middle "{%7}" after ::a, b, c, d, "r"(coordinates[0]),                \
                 "r"(coordinates[1]), "r"(coordinates[2]), "h"(offsets[0])                                            \
                 : "memory");                                                                                         \
  } else if constexpr (Rank == 4) {                                                                                   \
    asm volatile(name ".4d" before "{%4,%5,%6,%7}" middle "{%8,%9}" after ::a, b, c, d, "r"(coordinates[0]),          \
                 "r"(coordinates[1]), "r"(coordinates[2]), "r"(coordinates[3]), "h"(offsets[0]), "h"(offsets[1])      \
                 : "memory");                                                                                         \
  } else {                                                                                                            \
    asm volatile(name ".5d" before "{%4,%5,%6,%7,%8}" middle "{%9,%10,%11}" after ::a, b, c, d, "r"(coordinates[0]),  \
                 "r"(coordinates[1]), "r"(coordinates[2]), "r"(coordinates[3]), "r"(coordinates[4]), "h"(offsets[0]), \
                 "h"(offsets[1]), "h"(offsets[2])                                                                     \
                 : "memory");                                                                                         \
  }

#define GANTRY_LOAD_QUALIFIERS(mode) ".shared::cluster.global." mode ".mbarrier::complete_tx::bytes"

#endif

namespace detail {
template <int Rank>
inline constexpr bool kTensorRank = Rank >= 1 && Rank <= 5;
template <int Rank, int Offsets>
inline constexpr bool kIm2colRank = Rank >= 3 && Rank <= 5 && Offsets == Rank - 2;
}  // namespace detail

// Global to shared, credited to `barrier`.
template <int Rank>
GANTRY_INLINE void cp_async_bulk_tensor(space_cluster_t, space_global_t, void* destination, const void* map,
                                        const std::int32_t (&coordinates)[Rank], std::uint64_t* barrier,
                                        [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kTensorRank<Rank>, "a tensor copy has rank 1 to 5");
#if GANTRY_ON_DEVICE
  GANTRY_TENSOR_TILED("cp.async.bulk.tensor", GANTRY_LOAD_QUALIFIERS("tile") " [%0], [%1, ", "], [%2];",
                      "r"(shared_address(destination)), "l"(map), "r"(shared_address(barrier)), "l"(std::uint64_t{0}))
#else
  sim::tensor_copy({.kind = sim::CopyKind::load,
                    .shared = destination,
                    .map = map,
                    .rank = Rank,
                    .coordinates = coordinates,
                    .barrier = barrier},
                   site);
#endif
}

template <int Rank>
GANTRY_INLINE void cp_async_bulk_tensor(space_cluster_t, space_global_t, void* destination, const void* map,
                                        const std::int32_t (&coordinates)[Rank], std::uint64_t* barrier,
                                        [[maybe_unused]] CachePolicy policy,
                                        [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kTensorRank<Rank>, "a tensor copy has rank 1 to 5");
#if GANTRY_ON_DEVICE
  GANTRY_TENSOR_TILED("cp.async.bulk.tensor", GANTRY_LOAD_QUALIFIERS("tile") ".L2::cache_hint [%0], [%1, ",
                      "], [%2], %3;", "r"(shared_address(destination)), "l"(map), "r"(shared_address(barrier)),
                      "l"(policy.bits))
#else
  sim::tensor_copy({.kind = sim::CopyKind::load,
                    .shared = destination,
                    .map = map,
                    .rank = Rank,
                    .coordinates = coordinates,
                    .barrier = barrier},
                   site);
#endif
}

// The same box into every CTA of the cluster whose bit is set in `mask`, each at the offset of `destination` and
// credited to its own barrier at the offset of `barrier`.
template <int Rank>
GANTRY_INLINE void cp_async_bulk_tensor(space_cluster_t, space_global_t, void* destination, const void* map,
                                        const std::int32_t (&coordinates)[Rank], std::uint64_t* barrier,
                                        std::uint16_t mask, [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kTensorRank<Rank>, "a tensor copy has rank 1 to 5");
#if GANTRY_ON_DEVICE
  GANTRY_TENSOR_TILED("cp.async.bulk.tensor", GANTRY_LOAD_QUALIFIERS("tile") ".multicast::cluster [%0], [%1, ",
                      "], [%2], %3;", "r"(shared_address(destination)), "l"(map), "r"(shared_address(barrier)),
                      "h"(mask))
#else
  sim::tensor_copy({.kind = sim::CopyKind::load,
                    .shared = destination,
                    .map = map,
                    .rank = Rank,
                    .coordinates = coordinates,
                    .barrier = barrier,
                    .multicast = true,
                    .mask = mask},
                   site);
#endif
}

template <int Rank>
GANTRY_INLINE void cp_async_bulk_tensor(space_cluster_t, space_global_t, void* destination, const void* map,
                                        const std::int32_t (&coordinates)[Rank], std::uint64_t* barrier,
                                        std::uint16_t mask, [[maybe_unused]] CachePolicy policy,
                                        [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kTensorRank<Rank>, "a tensor copy has rank 1 to 5");
#if GANTRY_ON_DEVICE
  // The mask has no place among the four fixed operands: it travels in the upper half of the barrier's.
  const std::uint64_t barrier_and_mask = std::uint64_t{mask} << 32 | std::uint64_t{shared_address(barrier)};
  GANTRY_TENSOR_TILED(
      "{\n.reg .b32 bar, wide;\n.reg .b16 mask, none;\nmov.b64 {bar, wide}, %2;\n"
      "mov.b32 {mask, none}, wide;\ncp.async.bulk.tensor",
      GANTRY_LOAD_QUALIFIERS("tile") ".multicast::cluster.L2::cache_hint [%0], [%1, ", "], [bar], mask, %3;\n}",
      "r"(shared_address(destination)), "l"(map), "l"(barrier_and_mask), "l"(policy.bits))
#else
  sim::tensor_copy({.kind = sim::CopyKind::load,
                    .shared = destination,
                    .map = map,
                    .rank = Rank,
                    .coordinates = coordinates,
                    .barrier = barrier,
                    .multicast = true,
                    .mask = mask},
                   site);
#endif
}

// Im2col load: `offsets` are those of the filter tap, W first, one for each spatial dimension.
template <int Rank, int Offsets>
GANTRY_INLINE void cp_async_bulk_tensor_im2col(space_cluster_t, space_global_t, void* destination, const void* map,
                                               const std::int32_t (&coordinates)[Rank], std::uint64_t* barrier,
                                               const std::uint16_t (&offsets)[Offsets],
                                               [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kIm2colRank<Rank, Offsets>,
                "an im2col copy has rank 3 to 5 and an offset for each spatial dimension");
#if GANTRY_ON_DEVICE
  GANTRY_TENSOR_IM2COL("cp.async.bulk.tensor", GANTRY_LOAD_QUALIFIERS("im2col") " [%0], [%1, ", "], [%2], ", ";",
                       "r"(shared_address(destination)), "l"(map), "r"(shared_address(barrier)), "l"(std::uint64_t{0}))
#else
  sim::tensor_copy({.kind = sim::CopyKind::load,
                    .shared = destination,
                    .map = map,
                    .rank = Rank,
                    .coordinates = coordinates,
                    .barrier = barrier,
                    .im2col = true,
                    .offsets = offsets},
                   site);
#endif
}

template <int Rank, int Offsets>
GANTRY_INLINE void cp_async_bulk_tensor_im2col(space_cluster_t, space_global_t, void* destination, const void* map,
                                               const std::int32_t (&coordinates)[Rank], std::uint64_t* barrier,
                                               const std::uint16_t (&offsets)[Offsets], std::uint16_t mask,
                                               [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kIm2colRank<Rank, Offsets>,
                "an im2col copy has rank 3 to 5 and an offset for each spatial dimension");
#if GANTRY_ON_DEVICE
  GANTRY_TENSOR_IM2COL("cp.async.bulk.tensor", GANTRY_LOAD_QUALIFIERS("im2col") ".multicast::cluster [%0], [%1, ",
                       "], [%2], ", ", %3;", "r"(shared_address(destination)), "l"(map), "r"(shared_address(barrier)),
                       "h"(mask))
#else
  sim::tensor_copy({.kind = sim::CopyKind::load,
                    .shared = destination,
                    .map = map,
                    .rank = Rank,
                    .coordinates = coordinates,
                    .barrier = barrier,
                    .multicast = true,
                    .mask = mask,
                    .im2col = true,
                    .offsets = offsets},
                   site);
#endif
}

// Shared to global, in the issuing thread's bulk group. What lies beyond the tensor is dropped.
template <int Rank>
GANTRY_INLINE void cp_async_bulk_tensor(space_global_t, space_shared_t, const void* map,
                                        const std::int32_t (&coordinates)[Rank], const void* source,
                                        [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kTensorRank<Rank>, "a tensor copy has rank 1 to 5");
#if GANTRY_ON_DEVICE
  GANTRY_TENSOR_TILED("cp.async.bulk.tensor", ".global.shared::cta.tile.bulk_group [%1, ", "], [%0];",
                      "r"(shared_address(source)), "l"(map), "r"(0), "l"(std::uint64_t{0}))
#else
  sim::tensor_copy({.kind = sim::CopyKind::store,
                    .shared = const_cast<void*>(source),
                    .map = map,
                    .rank = Rank,
                    .coordinates = coordinates},
                   site);
#endif
}

template <int Rank>
GANTRY_INLINE void cp_async_bulk_tensor(space_global_t, space_shared_t, const void* map,
                                        const std::int32_t (&coordinates)[Rank], const void* source,
                                        [[maybe_unused]] CachePolicy policy,
                                        [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kTensorRank<Rank>, "a tensor copy has rank 1 to 5");
#if GANTRY_ON_DEVICE
  GANTRY_TENSOR_TILED("cp.async.bulk.tensor", ".global.shared::cta.tile.bulk_group.L2::cache_hint [%1, ",
                      "], [%0], %3;", "r"(shared_address(source)), "l"(map), "r"(0), "l"(policy.bits))
#else
  sim::tensor_copy({.kind = sim::CopyKind::store,
                    .shared = const_cast<void*>(source),
                    .map = map,
                    .rank = Rank,
                    .coordinates = coordinates},
                   site);
#endif
}

// Global becomes op(global, shared), element by element, in the arithmetic of the map's type: add (u32 s32 u64 f32 f64
// f16 bf16), min and max (u32 s32 u64 s64 f16 bf16), inc and dec (u32), and, or, xor (32- and 64-bit integers).
template <ReduceOp Op, int Rank>
GANTRY_INLINE void cp_reduce_async_bulk_tensor(space_global_t, space_shared_t, OpTag<Op>, const void* map,
                                               const std::int32_t (&coordinates)[Rank], const void* source,
                                               [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kTensorRank<Rank>, "a tensor copy has rank 1 to 5");
#if GANTRY_ON_DEVICE
#define GANTRY_TENSOR_REDUCE(op)                                                                                     \
  GANTRY_TENSOR_TILED("cp.reduce.async.bulk.tensor", ".global.shared::cta." op ".tile.bulk_group [%1, ", "], [%0];", \
                      "r"(shared_address(source)), "l"(map), "r"(0), "l"(std::uint64_t{0}))
  if constexpr (Op == ReduceOp::add) {
    GANTRY_TENSOR_REDUCE("add")
  }
  if constexpr (Op == ReduceOp::min) {
    GANTRY_TENSOR_REDUCE("min")
  }
  if constexpr (Op == ReduceOp::max) {
    GANTRY_TENSOR_REDUCE("max")
  }
  if constexpr (Op == ReduceOp::inc) {
    GANTRY_TENSOR_REDUCE("inc")
  }
  if constexpr (Op == ReduceOp::dec) {
    GANTRY_TENSOR_REDUCE("dec")
  }
  if constexpr (Op == ReduceOp::and_) {
    GANTRY_TENSOR_REDUCE("and")
  }
  if constexpr (Op == ReduceOp::or_) {
    GANTRY_TENSOR_REDUCE("or")
  }
  if constexpr (Op == ReduceOp::xor_) {
    GANTRY_TENSOR_REDUCE("xor")
  }
#undef GANTRY_TENSOR_REDUCE
#else
  sim::tensor_copy({.kind = sim::CopyKind::reduce,
                    .shared = const_cast<void*>(source),
                    .map = map,
                    .rank = Rank,
                    .coordinates = coordinates,
                    .op = Op},
                   site);
#endif
}

// A box into L2, as a hint.
template <int Rank>
GANTRY_INLINE void cp_async_bulk_prefetch_tensor(space_global_t, const void* map,
                                                 const std::int32_t (&coordinates)[Rank],
                                                 [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kTensorRank<Rank>, "a tensor copy has rank 1 to 5");
#if GANTRY_ON_DEVICE
  GANTRY_TENSOR_TILED("cp.async.bulk.prefetch.tensor", ".L2.global.tile [%1, ", "];", "r"(0), "l"(map), "r"(0),
                      "l"(std::uint64_t{0}))
#else
  sim::tensor_copy({.kind = sim::CopyKind::prefetch, .map = map, .rank = Rank, .coordinates = coordinates}, site);
#endif
}

#if GANTRY_ON_DEVICE
#undef GANTRY_TENSOR_TILED
#undef GANTRY_TENSOR_IM2COL
#undef GANTRY_LOAD_QUALIFIERS
#endif

}  // namespace gantry::arch

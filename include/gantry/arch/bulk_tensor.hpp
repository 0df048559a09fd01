// Bulk tensor copies: `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor` and their prefetch, rank 1 to 5, named and
// ordered as in `cuda::ptx`. Coordinates are in elements, innermost first. One thread issues a copy.
//
// Loads complete on an mbarrier, which is credited the bytes of the whole box; stores and reductions complete in the
// bulk group of the issuing thread (`bulk_group.hpp`). Copies of im2col maps are in `bulk_tensor_im2col.hpp`.
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
#include <gantry/arch/detail/tensor_instruction.hpp>
#include <gantry/arch/site.hpp>
#include <gantry/arch/tags.hpp>

#if !GANTRY_ON_DEVICE
#include <gantry/arch/detail/machine.hpp>
#endif

namespace gantry::arch {

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
  const std::uint64_t barrier_and_mask = std::uint64_t{mask} << 32 | std::uint64_t{shared_address(barrier)};
  GANTRY_TENSOR_TILED(GANTRY_BARRIER_AND_MASK "cp.async.bulk.tensor",
                      GANTRY_LOAD_QUALIFIERS("tile") ".multicast::cluster.L2::cache_hint [%0], [%1, ",
                      "], [bar], mask, %3;\n}", "r"(shared_address(destination)), "l"(map), "l"(barrier_and_mask),
                      "l"(policy.bits))
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
  GANTRY_EACH_REDUCTION(GANTRY_TENSOR_REDUCE)
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

template <ReduceOp Op, int Rank>
GANTRY_INLINE void cp_reduce_async_bulk_tensor(space_global_t, space_shared_t, OpTag<Op>, const void* map,
                                               const std::int32_t (&coordinates)[Rank], const void* source,
                                               [[maybe_unused]] CachePolicy policy,
                                               [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kTensorRank<Rank>, "a tensor copy has rank 1 to 5");
#if GANTRY_ON_DEVICE
#define GANTRY_TENSOR_REDUCE(op)                                                                         \
  GANTRY_TENSOR_TILED("cp.reduce.async.bulk.tensor",                                                     \
                      ".global.shared::cta." op ".tile.bulk_group.L2::cache_hint [%1, ", "], [%0], %3;", \
                      "r"(shared_address(source)), "l"(map), "r"(0), "l"(policy.bits))
  GANTRY_EACH_REDUCTION(GANTRY_TENSOR_REDUCE)
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

template <int Rank>
GANTRY_INLINE void cp_async_bulk_prefetch_tensor(space_global_t, const void* map,
                                                 const std::int32_t (&coordinates)[Rank],
                                                 [[maybe_unused]] CachePolicy policy,
                                                 [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kTensorRank<Rank>, "a tensor copy has rank 1 to 5");
#if GANTRY_ON_DEVICE
  GANTRY_TENSOR_TILED("cp.async.bulk.prefetch.tensor", ".L2.global.tile.L2::cache_hint [%1, ", "], %3;", "r"(0),
                      "l"(map), "r"(0), "l"(policy.bits))
#else
  sim::tensor_copy({.kind = sim::CopyKind::prefetch, .map = map, .rank = Rank, .coordinates = coordinates}, site);
#endif
}

}  // namespace gantry::arch

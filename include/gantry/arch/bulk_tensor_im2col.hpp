// Bulk tensor copies of im2col maps: the pixels of a column, rank 3 to 5, named and ordered as the tiled copies in
// `bulk_tensor.hpp`. Coordinates are channel, W, H, D, image; loads and prefetches add the offsets of a filter tap.
//
// Example at namespace scope:
//     GANTRY_HD inline void gather(void* tile, const void* image, std::uint64_t* full) {
//       using namespace gantry::arch;
//       const std::int32_t at[4] = {0, -1, -1, 0};
//       const std::uint16_t tap[2] = {2, 0};
//       cp_async_bulk_tensor_im2col(space_cluster, space_global, tile, image, at, full, tap);
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

// Global to shared, credited to `barrier`: `offsets` are those of the filter tap, W first, one for each spatial
// dimension.
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

// The same with a cache hint.
template <int Rank, int Offsets>
GANTRY_INLINE void cp_async_bulk_tensor_im2col(space_cluster_t, space_global_t, void* destination, const void* map,
                                               const std::int32_t (&coordinates)[Rank], std::uint64_t* barrier,
                                               const std::uint16_t (&offsets)[Offsets],
                                               [[maybe_unused]] CachePolicy policy,
                                               [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kIm2colRank<Rank, Offsets>,
                "an im2col copy has rank 3 to 5 and an offset for each spatial dimension");
#if GANTRY_ON_DEVICE
  GANTRY_TENSOR_IM2COL("cp.async.bulk.tensor", GANTRY_LOAD_QUALIFIERS("im2col") ".L2::cache_hint [%0], [%1, ",
                       "], [%2], ", ", %3;", "r"(shared_address(destination)), "l"(map), "r"(shared_address(barrier)),
                       "l"(policy.bits))
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
                                               [[maybe_unused]] CachePolicy policy,
                                               [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kIm2colRank<Rank, Offsets>,
                "an im2col copy has rank 3 to 5 and an offset for each spatial dimension");
#if GANTRY_ON_DEVICE
  const std::uint64_t barrier_and_mask = std::uint64_t{mask} << 32 | std::uint64_t{shared_address(barrier)};
  GANTRY_TENSOR_IM2COL(GANTRY_BARRIER_AND_MASK "cp.async.bulk.tensor",
                       GANTRY_LOAD_QUALIFIERS("im2col") ".multicast::cluster.L2::cache_hint [%0], [%1, ", "], [bar], ",
                       ", mask, %3;\n}", "r"(shared_address(destination)), "l"(map), "l"(barrier_and_mask),
                       "l"(policy.bits))
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

// Shared to global: the pixels of a column, without offsets, in the issuing thread's bulk group.
template <int Rank>
GANTRY_INLINE void cp_async_bulk_tensor_im2col(space_global_t, space_shared_t, const void* map,
                                               const std::int32_t (&coordinates)[Rank], const void* source,
                                               [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kIm2colRank<Rank, Rank - 2>, "an im2col copy has rank 3 to 5");
#if GANTRY_ON_DEVICE
  GANTRY_TENSOR_TILED("cp.async.bulk.tensor", ".global.shared::cta.im2col_no_offs.bulk_group [%1, ", "], [%0];",
                      "r"(shared_address(source)), "l"(map), "r"(0), "l"(std::uint64_t{0}))
#else
  sim::tensor_copy({.kind = sim::CopyKind::store,
                    .shared = const_cast<void*>(source),
                    .map = map,
                    .rank = Rank,
                    .coordinates = coordinates,
                    .im2col = true},
                   site);
#endif
}

template <int Rank>
GANTRY_INLINE void cp_async_bulk_tensor_im2col(space_global_t, space_shared_t, const void* map,
                                               const std::int32_t (&coordinates)[Rank], const void* source,
                                               [[maybe_unused]] CachePolicy policy,
                                               [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kIm2colRank<Rank, Rank - 2>, "an im2col copy has rank 3 to 5");
#if GANTRY_ON_DEVICE
  GANTRY_TENSOR_TILED("cp.async.bulk.tensor", ".global.shared::cta.im2col_no_offs.bulk_group.L2::cache_hint [%1, ",
                      "], [%0], %3;", "r"(shared_address(source)), "l"(map), "r"(0), "l"(policy.bits))
#else
  sim::tensor_copy({.kind = sim::CopyKind::store,
                    .shared = const_cast<void*>(source),
                    .map = map,
                    .rank = Rank,
                    .coordinates = coordinates,
                    .im2col = true},
                   site);
#endif
}

// Global becomes op(global, shared) for the pixels of a column.
template <ReduceOp Op, int Rank>
GANTRY_INLINE void cp_reduce_async_bulk_tensor_im2col(space_global_t, space_shared_t, OpTag<Op>, const void* map,
                                                      const std::int32_t (&coordinates)[Rank], const void* source,
                                                      [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kIm2colRank<Rank, Rank - 2>, "an im2col copy has rank 3 to 5");
#if GANTRY_ON_DEVICE
#define GANTRY_TENSOR_REDUCE(op)                                                                                   \
  GANTRY_TENSOR_TILED("cp.reduce.async.bulk.tensor", ".global.shared::cta." op ".im2col_no_offs.bulk_group [%1, ", \
                      "], [%0];", "r"(shared_address(source)), "l"(map), "r"(0), "l"(std::uint64_t{0}))
  GANTRY_EACH_REDUCTION(GANTRY_TENSOR_REDUCE)
#undef GANTRY_TENSOR_REDUCE
#else
  sim::tensor_copy({.kind = sim::CopyKind::reduce,
                    .shared = const_cast<void*>(source),
                    .map = map,
                    .rank = Rank,
                    .coordinates = coordinates,
                    .im2col = true,
                    .op = Op},
                   site);
#endif
}

// A column into L2, as a hint.
template <int Rank, int Offsets>
GANTRY_INLINE void cp_async_bulk_prefetch_tensor_im2col(space_global_t, const void* map,
                                                        const std::int32_t (&coordinates)[Rank],
                                                        const std::uint16_t (&offsets)[Offsets],
                                                        [[maybe_unused]] Site site = Site::here()) {
  static_assert(detail::kIm2colRank<Rank, Offsets>,
                "an im2col copy has rank 3 to 5 and an offset for each spatial dimension");
#if GANTRY_ON_DEVICE
  GANTRY_TENSOR_IM2COL("cp.async.bulk.prefetch.tensor", ".L2.global.im2col [%1, ", "], ", ";", "r"(0), "l"(map), "r"(0),
                       "l"(std::uint64_t{0}))
#else
  sim::tensor_copy({.kind = sim::CopyKind::prefetch,
                    .map = map,
                    .rank = Rank,
                    .coordinates = coordinates,
                    .im2col = true,
                    .offsets = offsets},
                   site);
#endif
}

}  // namespace gantry::arch

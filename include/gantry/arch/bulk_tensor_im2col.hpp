// Bulk tensor copies of im2col maps: the pixels of a column, rank 3 to 5, named and ordered as the tiled copies in
// `bulk_tensor.hpp`. Coordinates are channel, W, H, D, image; loads and prefetches add the offsets of a filter tap, W
// first, one for each spatial dimension.
//
// Example at namespace scope:
//     GANTRY_HD inline void gather(void* tile, const void* image, std::uint64_t* full) {
//       using namespace gantry::arch;
//       const std::int32_t at[4] = {0, -1, -1, 0};
//       const std::uint16_t tap[2] = {2, 0};
//       cp_async_bulk_tensor_im2col(space_cluster, space_global, tile, image, at, full, tap);
//     }
#pragma once

#include <gantry/arch/detail/tensor_copy.hpp>

namespace gantry::arch {
namespace detail {

template <int Rank>
GANTRY_INLINE TensorStart column_at(const void* map, const std::int32_t (&coordinates)[Rank]) {
  static_assert(kTensorRank<TensorMode::im2col, Rank>, "an im2col copy has rank 3 to 5");
  return {map, coordinates, nullptr};
}

template <int Rank, int Offsets>
GANTRY_INLINE TensorStart column_at(const void* map, const std::int32_t (&coordinates)[Rank],
                                    const std::uint16_t (&offsets)[Offsets]) {
  static_assert(kTensorRank<TensorMode::im2col, Rank> && Offsets == Rank - 2,
                "an im2col copy has rank 3 to 5 and an offset for each spatial dimension");
  return {map, coordinates, offsets};
}

}  // namespace detail

// Global to shared, credited to `barrier`.
template <int Rank, int Offsets>
GANTRY_INLINE void cp_async_bulk_tensor_im2col(space_cluster_t, space_global_t, void* destination, const void* map,
                                               const std::int32_t (&coordinates)[Rank], std::uint64_t* barrier,
                                               const std::uint16_t (&offsets)[Offsets], Site site = Site::here()) {
  detail::tensor_load<detail::TensorMode::im2col, Rank, false, false>(detail::column_at(map, coordinates, offsets),
                                                                      {destination, barrier, 0}, {}, site);
}
template <int Rank, int Offsets>
GANTRY_INLINE void cp_async_bulk_tensor_im2col(space_cluster_t, space_global_t, void* destination, const void* map,
                                               const std::int32_t (&coordinates)[Rank], std::uint64_t* barrier,
                                               const std::uint16_t (&offsets)[Offsets], CachePolicy policy,
                                               Site site = Site::here()) {
  detail::tensor_load<detail::TensorMode::im2col, Rank, false, true>(detail::column_at(map, coordinates, offsets),
                                                                     {destination, barrier, 0}, policy, site);
}

// The same column into every CTA of the cluster whose bit is set in `mask`.
template <int Rank, int Offsets>
GANTRY_INLINE void cp_async_bulk_tensor_im2col(space_cluster_t, space_global_t, void* destination, const void* map,
                                               const std::int32_t (&coordinates)[Rank], std::uint64_t* barrier,
                                               const std::uint16_t (&offsets)[Offsets], std::uint16_t mask,
                                               Site site = Site::here()) {
  detail::tensor_load<detail::TensorMode::im2col, Rank, true, false>(detail::column_at(map, coordinates, offsets),
                                                                     {destination, barrier, mask}, {}, site);
}
template <int Rank, int Offsets>
GANTRY_INLINE void cp_async_bulk_tensor_im2col(space_cluster_t, space_global_t, void* destination, const void* map,
                                               const std::int32_t (&coordinates)[Rank], std::uint64_t* barrier,
                                               const std::uint16_t (&offsets)[Offsets], std::uint16_t mask,
                                               CachePolicy policy, Site site = Site::here()) {
  detail::tensor_load<detail::TensorMode::im2col, Rank, true, true>(detail::column_at(map, coordinates, offsets),
                                                                    {destination, barrier, mask}, policy, site);
}

// Shared to global: the pixels of a column, without offsets, in the issuing thread's bulk group.
template <int Rank>
GANTRY_INLINE void cp_async_bulk_tensor_im2col(space_global_t, space_shared_t, const void* map,
                                               const std::int32_t (&coordinates)[Rank], const void* source,
                                               Site site = Site::here()) {
  detail::tensor_store<detail::TensorMode::im2col, Rank, false>(detail::column_at(map, coordinates), source, {}, site);
}
template <int Rank>
GANTRY_INLINE void cp_async_bulk_tensor_im2col(space_global_t, space_shared_t, const void* map,
                                               const std::int32_t (&coordinates)[Rank], const void* source,
                                               CachePolicy policy, Site site = Site::here()) {
  detail::tensor_store<detail::TensorMode::im2col, Rank, true>(detail::column_at(map, coordinates), source, policy,
                                                               site);
}

// Global becomes op(global, shared) for the pixels of a column.
template <ReduceOp Op, int Rank>
GANTRY_INLINE void cp_reduce_async_bulk_tensor_im2col(space_global_t, space_shared_t, OpTag<Op>, const void* map,
                                                      const std::int32_t (&coordinates)[Rank], const void* source,
                                                      Site site = Site::here()) {
  detail::tensor_reduce<detail::TensorMode::im2col, Op, Rank, false>(detail::column_at(map, coordinates), source, {},
                                                                     site);
}
template <ReduceOp Op, int Rank>
GANTRY_INLINE void cp_reduce_async_bulk_tensor_im2col(space_global_t, space_shared_t, OpTag<Op>, const void* map,
                                                      const std::int32_t (&coordinates)[Rank], const void* source,
                                                      CachePolicy policy, Site site = Site::here()) {
  detail::tensor_reduce<detail::TensorMode::im2col, Op, Rank, true>(detail::column_at(map, coordinates), source, policy,
                                                                    site);
}

// A column into L2, as a hint.
template <int Rank, int Offsets>
GANTRY_INLINE void cp_async_bulk_prefetch_tensor_im2col(space_global_t, const void* map,
                                                        const std::int32_t (&coordinates)[Rank],
                                                        const std::uint16_t (&offsets)[Offsets],
                                                        Site site = Site::here()) {
  detail::tensor_prefetch<detail::TensorMode::im2col, Rank, false>(detail::column_at(map, coordinates, offsets), {},
                                                                   site);
}
template <int Rank, int Offsets>
GANTRY_INLINE void cp_async_bulk_prefetch_tensor_im2col(space_global_t, const void* map,
                                                        const std::int32_t (&coordinates)[Rank],
                                                        const std::uint16_t (&offsets)[Offsets], CachePolicy policy,
                                                        Site site = Site::here()) {
  detail::tensor_prefetch<detail::TensorMode::im2col, Rank, true>(detail::column_at(map, coordinates, offsets), policy,
                                                                  site);
}

}  // namespace gantry::arch

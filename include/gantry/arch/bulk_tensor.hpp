// Bulk tensor copies: `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor` and their prefetch, rank 1 to 5, named and
// ordered as in `cuda::ptx`. Coordinates are in elements, innermost first. One thread issues a copy.
//
// Loads complete on an mbarrier, which is credited the bytes of the whole box; stores and reductions complete in the
// bulk group of the issuing thread (`bulk_group.hpp`). A cache policy is a hint to L2. Copies of im2col maps are in
// `bulk_tensor_im2col.hpp`.
//
// Example at namespace scope:
//     GANTRY_HD inline void copy_tile(void* tile, const void* from, const void* to, std::uint64_t* full) {
//       using namespace gantry::arch;
//       const std::int32_t at[2] = {64, 128};
//       cp_async_bulk_tensor(space_cluster, space_global, tile, from, at, full);
//       cp_async_bulk_tensor(space_global, space_shared, to, at, tile);
//     }
#pragma once

#include <gantry/arch/detail/tensor_copy.hpp>

namespace gantry::arch {
namespace detail {

template <int Rank>
GANTRY_INLINE TensorStart box_at(const void* map, const std::int32_t (&coordinates)[Rank]) {
  static_assert(kTensorRank<TensorMode::tile, Rank>, "a tensor copy has rank 1 to 5");
  return {map, coordinates, nullptr};
}

}  // namespace detail

// Global to shared, credited to `barrier`.
template <int Rank>
GANTRY_INLINE void cp_async_bulk_tensor(space_cluster_t, space_global_t, void* destination, const void* map,
                                        const std::int32_t (&coordinates)[Rank], std::uint64_t* barrier,
                                        Site site = Site::here()) {
  detail::tensor_load<detail::TensorMode::tile, Rank, false, false>(detail::box_at(map, coordinates),
                                                                    {destination, barrier, 0}, {}, site);
}
template <int Rank>
GANTRY_INLINE void cp_async_bulk_tensor(space_cluster_t, space_global_t, void* destination, const void* map,
                                        const std::int32_t (&coordinates)[Rank], std::uint64_t* barrier,
                                        CachePolicy policy, Site site = Site::here()) {
  detail::tensor_load<detail::TensorMode::tile, Rank, false, true>(detail::box_at(map, coordinates),
                                                                   {destination, barrier, 0}, policy, site);
}

// The same box into every CTA of the cluster whose bit is set in `mask`, each at the offset of `destination` and
// credited to its own barrier at the offset of `barrier`.
template <int Rank>
GANTRY_INLINE void cp_async_bulk_tensor(space_cluster_t, space_global_t, void* destination, const void* map,
                                        const std::int32_t (&coordinates)[Rank], std::uint64_t* barrier,
                                        std::uint16_t mask, Site site = Site::here()) {
  detail::tensor_load<detail::TensorMode::tile, Rank, true, false>(detail::box_at(map, coordinates),
                                                                   {destination, barrier, mask}, {}, site);
}
template <int Rank>
GANTRY_INLINE void cp_async_bulk_tensor(space_cluster_t, space_global_t, void* destination, const void* map,
                                        const std::int32_t (&coordinates)[Rank], std::uint64_t* barrier,
                                        std::uint16_t mask, CachePolicy policy, Site site = Site::here()) {
  detail::tensor_load<detail::TensorMode::tile, Rank, true, true>(detail::box_at(map, coordinates),
                                                                  {destination, barrier, mask}, policy, site);
}

// Shared to global, in the issuing thread's bulk group. What lies beyond the tensor is dropped.
template <int Rank>
GANTRY_INLINE void cp_async_bulk_tensor(space_global_t, space_shared_t, const void* map,
                                        const std::int32_t (&coordinates)[Rank], const void* source,
                                        Site site = Site::here()) {
  detail::tensor_store<detail::TensorMode::tile, Rank, false>(detail::box_at(map, coordinates), source, {}, site);
}
template <int Rank>
GANTRY_INLINE void cp_async_bulk_tensor(space_global_t, space_shared_t, const void* map,
                                        const std::int32_t (&coordinates)[Rank], const void* source, CachePolicy policy,
                                        Site site = Site::here()) {
  detail::tensor_store<detail::TensorMode::tile, Rank, true>(detail::box_at(map, coordinates), source, policy, site);
}

// Global becomes op(global, shared), element by element, in the arithmetic of the map's type: add (u32 s32 u64 f32 f64
// f16 bf16), min and max (u32 s32 u64 s64 f16 bf16), inc and dec (u32), and, or, xor (32- and 64-bit integers).
template <ReduceOp Op, int Rank>
GANTRY_INLINE void cp_reduce_async_bulk_tensor(space_global_t, space_shared_t, OpTag<Op>, const void* map,
                                               const std::int32_t (&coordinates)[Rank], const void* source,
                                               Site site = Site::here()) {
  detail::tensor_reduce<detail::TensorMode::tile, Op, Rank, false>(detail::box_at(map, coordinates), source, {}, site);
}
template <ReduceOp Op, int Rank>
GANTRY_INLINE void cp_reduce_async_bulk_tensor(space_global_t, space_shared_t, OpTag<Op>, const void* map,
                                               const std::int32_t (&coordinates)[Rank], const void* source,
                                               CachePolicy policy, Site site = Site::here()) {
  detail::tensor_reduce<detail::TensorMode::tile, Op, Rank, true>(detail::box_at(map, coordinates), source, policy,
                                                                  site);
}

// A box into L2, as a hint.
template <int Rank>
GANTRY_INLINE void cp_async_bulk_prefetch_tensor(space_global_t, const void* map,
                                                 const std::int32_t (&coordinates)[Rank], Site site = Site::here()) {
  detail::tensor_prefetch<detail::TensorMode::tile, Rank, false>(detail::box_at(map, coordinates), {}, site);
}
template <int Rank>
GANTRY_INLINE void cp_async_bulk_prefetch_tensor(space_global_t, const void* map,
                                                 const std::int32_t (&coordinates)[Rank], CachePolicy policy,
                                                 Site site = Site::here()) {
  detail::tensor_prefetch<detail::TensorMode::tile, Rank, true>(detail::box_at(map, coordinates), policy, site);
}

}  // namespace gantry::arch

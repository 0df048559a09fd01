// The names of `cuda::ptx` for both machines: a kernel written with `namespace ptx = cuda::ptx;` compiles here with
// `namespace ptx = gantry::ptx;`. Which names are covered is listed in docs/reference/ptx.md.
//
// A name means what it means there. Where an operation of `gantry::arch` is stricter it differs: barriers of a cluster
// are joined lane by lane, as `cuda::ptx` emits them, and maps and sizes are taken in the form that it takes them.
//
// Example at namespace scope:
//     namespace ptx = gantry::ptx;  // instead of cuda::ptx
//     GANTRY_HD inline void load(void* tile, const void* from, std::uint64_t* full) {
//       ptx::mbarrier_init(full, 1);
//       ptx::fence_proxy_async(ptx::space_shared);
//       ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, from, 512, full);
//       ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, 512);
//       while (!ptx::mbarrier_try_wait_parity(full, 0)) {
//       }
//     }
#pragma once

#include <cstdint>

#include <gantry/arch.hpp>

namespace gantry::ptx {

// Qualifiers.
using dot_sem = arch::Semantics;
using dot_scope = arch::Scope;
using dot_space = arch::Space;
using dot_op = arch::ReduceOp;
template <dot_sem S>
using sem_t = arch::SemanticsTag<S>;
template <dot_scope S>
using scope_t = arch::ScopeTag<S>;
template <dot_space S>
using space_t = arch::SpaceTag<S>;
template <dot_op O>
using op_t = arch::OpTag<O>;

using arch::n32_t;
using arch::op_add, arch::op_add_t, arch::op_min, arch::op_min_t, arch::op_max, arch::op_max_t;
using arch::op_and_op, arch::op_and_op_t, arch::op_or_op, arch::op_or_op_t, arch::op_xor_op, arch::op_xor_op_t;
using arch::op_inc, arch::op_inc_t, arch::op_dec, arch::op_dec_t;
using arch::scope_cluster, arch::scope_cluster_t, arch::scope_cta, arch::scope_cta_t;
using arch::scope_gpu, arch::scope_gpu_t, arch::scope_sys, arch::scope_sys_t;
using arch::sem_acq_rel, arch::sem_acq_rel_t, arch::sem_acquire, arch::sem_acquire_t, arch::sem_relaxed;
using arch::sem_relaxed_t, arch::sem_release, arch::sem_release_t, arch::sem_sc, arch::sem_sc_t;
using arch::space_cluster, arch::space_cluster_t, arch::space_global, arch::space_global_t;
using arch::space_shared, arch::space_shared_t;

// What has the same operands in the same order.
using arch::cp_async_bulk;
using arch::cp_async_bulk_commit_group;
using arch::cp_async_bulk_tensor;
using arch::cp_async_bulk_wait_group;
using arch::cp_async_bulk_wait_group_read;
using arch::cp_async_mbarrier_arrive;
using arch::cp_async_mbarrier_arrive_noinc;
using arch::cp_reduce_async_bulk;
using arch::cp_reduce_async_bulk_tensor;
using arch::elect_sync;
using arch::fence;
using arch::fence_mbarrier_init;
using arch::fence_proxy_async;
using arch::fence_proxy_async_generic_sync_restrict;
using arch::get_sreg_clock;
using arch::get_sreg_clock64;
using arch::get_sreg_globaltimer;
using arch::getctarank;
using arch::mapa;
using arch::mbarrier_arrive;
using arch::mbarrier_arrive_expect_tx;
using arch::mbarrier_arrive_no_complete;
using arch::mbarrier_expect_tx;
using arch::mbarrier_init;
using arch::mbarrier_test_wait;
using arch::mbarrier_test_wait_parity;
using arch::mbarrier_try_wait;
using arch::mbarrier_try_wait_parity;
using arch::red_async;
using arch::shfl_sync_bfly;
using arch::shfl_sync_down;
using arch::shfl_sync_idx;
using arch::shfl_sync_up;
using arch::st_async;
using arch::tensormap_replace_box_dim;
using arch::tensormap_replace_element_stride;
using arch::tensormap_replace_global_dim;
using arch::tensormap_replace_global_stride;
using arch::tensormap_replace_rank;

// A copy into the own CTA.
GANTRY_INLINE void cp_async_bulk(space_shared_t, space_global_t, void* destination, const void* source,
                                 std::uint32_t bytes, std::uint64_t* barrier, Site site = Site::here()) {
  arch::cp_async_bulk(space_cluster, space_global, destination, source, bytes, barrier, site);
}
template <int Rank>
GANTRY_INLINE void cp_async_bulk_tensor(space_shared_t, space_global_t, void* destination, const void* map,
                                        const std::int32_t (&coordinates)[Rank], std::uint64_t* barrier,
                                        Site site = Site::here()) {
  arch::cp_async_bulk_tensor(space_cluster, space_global, destination, map, coordinates, barrier, site);
}

GANTRY_INLINE std::uint64_t mbarrier_arrive_no_complete(std::uint64_t* barrier, std::uint32_t count,
                                                        Site site = Site::here()) {
  return arch::mbarrier_arrive_no_complete(sem_release, scope_cta, space_shared, barrier, count, site);
}

// Without `.aligned`.
GANTRY_INLINE void barrier_cluster_arrive(sem_release_t sem, Site site = Site::here()) {
  arch::barrier_cluster_arrive(arch::unaligned, sem, site);
}
GANTRY_INLINE void barrier_cluster_arrive(sem_relaxed_t sem, Site site = Site::here()) {
  arch::barrier_cluster_arrive(arch::unaligned, sem, site);
}
GANTRY_INLINE void barrier_cluster_arrive(Site site = Site::here()) {
  arch::barrier_cluster_arrive(arch::unaligned, sem_release, site);
}
GANTRY_INLINE void barrier_cluster_wait(sem_acquire_t sem, Site site = Site::here()) {
  arch::barrier_cluster_wait(arch::unaligned, sem, site);
}
GANTRY_INLINE void barrier_cluster_wait(Site site = Site::here()) {
  arch::barrier_cluster_wait(arch::unaligned, sem_acquire, site);
}

// Shuffles that do not say whether the lane was in reach.
#define GANTRY_PTX_SHUFFLE(name)                                                                       \
  template <class T>                                                                                   \
  GANTRY_INLINE T name(T value, std::uint32_t offset, std::uint32_t clamp_segmask, std::uint32_t mask, \
                       Site site = Site::here()) {                                                     \
    bool in_reach;                                                                                     \
    return arch::name(value, in_reach, offset, clamp_segmask, mask, site);                             \
  }
GANTRY_PTX_SHUFFLE(shfl_sync_idx)
GANTRY_PTX_SHUFFLE(shfl_sync_bfly)
GANTRY_PTX_SHUFFLE(shfl_sync_down)
GANTRY_PTX_SHUFFLE(shfl_sync_up)
#undef GANTRY_PTX_SHUFFLE

// Tensor maps by address, numbers by `n32_t`: element types as the instruction numbers them, not as the driver does.
namespace detail {

GANTRY_HD constexpr TmaDataType element_type(int code) {
  return code == 8    ? TmaDataType::f32_ftz
         : code == 9  ? TmaDataType::f64
         : code == 10 ? TmaDataType::bf16
                      : static_cast<TmaDataType>(code);
}

}  // namespace detail

template <dot_space S, class T>
GANTRY_INLINE void tensormap_replace_global_address(space_t<S> space, void* map, T address, Site site = Site::here()) {
  static_assert(sizeof(T) == 8, "an address has 8 bytes");
  arch::tensormap_replace_global_address(space, static_cast<TmaDescriptor*>(map),
                                         __builtin_bit_cast(const void*, address), site);
}
template <dot_space S, class T>
GANTRY_INLINE void tensormap_replace_rank(space_t<S> space, void* map, T rank, Site site = Site::here()) {
  arch::tensormap_replace_rank(space, static_cast<TmaDescriptor*>(map), static_cast<std::uint32_t>(rank), site);
}
#define GANTRY_PTX_REPLACE(field, type)                                                                                \
  template <int N, dot_space S, class T>                                                                               \
  GANTRY_INLINE void tensormap_replace_##field(space_t<S> space, void* map, n32_t<N> ordinal, T value,                 \
                                               Site site = Site::here()) {                                             \
    arch::tensormap_replace_##field(space, static_cast<TmaDescriptor*>(map), ordinal, static_cast<type>(value), site); \
  }
GANTRY_PTX_REPLACE(box_dim, std::uint32_t)
GANTRY_PTX_REPLACE(global_dim, std::uint32_t)
GANTRY_PTX_REPLACE(element_stride, std::uint32_t)
GANTRY_PTX_REPLACE(global_stride, std::uint64_t)
#undef GANTRY_PTX_REPLACE

#define GANTRY_PTX_REPLACE(field, choice)                                                                         \
  template <int N, dot_space S>                                                                                   \
  GANTRY_INLINE void tensormap_replace_##field(space_t<S> space, void* map, n32_t<N>, Site site = Site::here()) { \
    arch::tensormap_replace_##field<S, choice>(space, static_cast<TmaDescriptor*>(map), site);                    \
  }
GANTRY_PTX_REPLACE(elemtype, detail::element_type(N))
GANTRY_PTX_REPLACE(swizzle_mode, static_cast<TmaSwizzle>(N))
GANTRY_PTX_REPLACE(interleave_layout, static_cast<TmaInterleave>(N))
GANTRY_PTX_REPLACE(fill_mode, static_cast<TmaFill>(N))
#undef GANTRY_PTX_REPLACE

GANTRY_INLINE void tensormap_cp_fenceproxy(sem_release_t sem, scope_gpu_t scope, void* global_map,
                                           const void* shared_map, n32_t<128>, Site site = Site::here()) {
  arch::tensormap_cp_fenceproxy(sem, scope, static_cast<TmaDescriptor*>(global_map),
                                static_cast<const TmaDescriptor*>(shared_map), site);
}
GANTRY_INLINE void fence_proxy_tensormap_generic(sem_release_t sem, scope_gpu_t scope, Site site = Site::here()) {
  arch::fence_proxy_tensormap_generic(sem, scope, site);
}
GANTRY_INLINE void fence_proxy_tensormap_generic(sem_acquire_t sem, scope_gpu_t scope, const void* map, n32_t<128>,
                                                 Site site = Site::here()) {
  arch::fence_proxy_tensormap_generic(sem, scope, static_cast<const TmaDescriptor*>(map), site);
}

// Special registers.
#define GANTRY_PTX_SREG3(name, function)                                           \
  GANTRY_INLINE std::uint32_t get_sreg_##name##_x() { return arch::function().x; } \
  GANTRY_INLINE std::uint32_t get_sreg_##name##_y() { return arch::function().y; } \
  GANTRY_INLINE std::uint32_t get_sreg_##name##_z() { return arch::function().z; }
GANTRY_PTX_SREG3(tid, thread_index)
GANTRY_PTX_SREG3(ntid, block_dim)
GANTRY_PTX_SREG3(ctaid, block_index)
GANTRY_PTX_SREG3(nctaid, grid_dim)
GANTRY_PTX_SREG3(cluster_ctaid, cluster_block_index)
GANTRY_PTX_SREG3(cluster_nctaid, cluster_dim)
GANTRY_PTX_SREG3(clusterid, cluster_index)
GANTRY_PTX_SREG3(nclusterid, cluster_grid_dim)
#undef GANTRY_PTX_SREG3
GANTRY_INLINE std::uint32_t get_sreg_cluster_ctarank() { return arch::cluster_block_rank(); }
GANTRY_INLINE std::uint32_t get_sreg_cluster_nctarank() { return arch::cluster_blocks(); }
GANTRY_INLINE std::uint32_t get_sreg_laneid() { return arch::lane_rank(); }
GANTRY_INLINE std::uint32_t get_sreg_lanemask_eq() { return 1u << arch::lane_rank(); }
GANTRY_INLINE std::uint32_t get_sreg_lanemask_lt() { return get_sreg_lanemask_eq() - 1; }
GANTRY_INLINE std::uint32_t get_sreg_lanemask_le() { return get_sreg_lanemask_eq() | get_sreg_lanemask_lt(); }
GANTRY_INLINE std::uint32_t get_sreg_lanemask_gt() { return ~get_sreg_lanemask_le(); }
GANTRY_INLINE std::uint32_t get_sreg_lanemask_ge() { return ~get_sreg_lanemask_lt(); }
GANTRY_INLINE std::uint32_t get_sreg_clock_hi(Site site = Site::here()) {
  return static_cast<std::uint32_t>(get_sreg_clock64(site) >> 32);
}
GANTRY_INLINE std::uint32_t get_sreg_globaltimer_lo(Site site = Site::here()) {
  return static_cast<std::uint32_t>(get_sreg_globaltimer(site));
}
GANTRY_INLINE std::uint32_t get_sreg_globaltimer_hi(Site site = Site::here()) {
  return static_cast<std::uint32_t>(get_sreg_globaltimer(site) >> 32);
}

}  // namespace gantry::ptx

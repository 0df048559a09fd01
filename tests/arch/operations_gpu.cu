// Every operation of arch/ translated for the GPU: each instruction's text must assemble. What it computes is compared
// on both machines elsewhere.
#include <cstdint>

#include "gantry/arch.hpp"

namespace gantry_test {

using namespace gantry::arch;
using gantry::TmaDescriptor;

struct Shared {
  alignas(1024) std::uint32_t tile[4096];
  alignas(128) TmaDescriptor map;
  std::uint64_t barrier;
  std::uint64_t state;
};

__global__ void identity_and_barriers(std::uint32_t* out) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Shared& s = *reinterpret_cast<Shared*>(memory);
  const auto add = [&](Index3 i) { out[thread_rank()] += i.x + i.y + i.z; };
  add(thread_index()), add(block_dim()), add(block_index()), add(grid_dim());
  add(cluster_block_index()), add(cluster_dim()), add(cluster_index()), add(cluster_grid_dim());
  out[1] = cluster_block_rank() + cluster_blocks() + lane_rank() + warp_rank() + warpgroup_rank() + elect_sync();
  if (thread_rank() == 0) mbarrier_init(&s.barrier, 3);
  fence_mbarrier_init(sem_release, scope_cluster);
  syncthreads();
  barrier_sync(1, 128), barrier_arrive(2, 256);
  out[2] = barrier_reduce_or(3, 128, out[0] > 4);
  barrier_cluster_arrive(), barrier_cluster_wait();
  barrier_cluster_arrive(sem_relaxed), barrier_cluster_wait(sem_acquire);
  std::uint64_t* remote = mapa(space_cluster, &s.barrier, 1);
  out[3] = getctarank(space_cluster, remote);
  s.state = mbarrier_arrive(&s.barrier) + mbarrier_arrive(sem_release, scope_cta, space_shared, &s.barrier, 2);
  mbarrier_arrive(sem_release, scope_cluster, space_cluster, remote);
  mbarrier_arrive(sem_release, scope_cta, space_cluster, remote);
  mbarrier_arrive_no_complete(sem_release, scope_cta, space_shared, &s.barrier, 1);
  mbarrier_arrive_drop(sem_release, scope_cta, space_shared, &s.barrier, 1);
  mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.barrier, 16);
  mbarrier_arrive_expect_tx(sem_release, scope_cluster, space_cluster, remote, 16);
  mbarrier_expect_tx(sem_relaxed, scope_cta, space_shared, &s.barrier, 16);
  mbarrier_expect_tx(sem_relaxed, scope_cluster, space_cluster, remote, 16);
  mbarrier_complete_tx(sem_relaxed, scope_cluster, space_cluster, remote, 16);
  out[4] = mbarrier_test_wait(&s.barrier, s.state) + mbarrier_try_wait(&s.barrier, s.state) +
           mbarrier_test_wait_parity(&s.barrier, 0) + mbarrier_try_wait_parity(&s.barrier, 1) +
           mbarrier_pending_count(s.state);
  gantry::arch::wait(&s.barrier, 0), gantry::arch::wait(&s.barrier, 1);
  mbarrier_inval(&s.barrier);
  fence(sem_acq_rel, scope_cta), fence(sem_acq_rel, scope_cluster), fence(sem_acq_rel, scope_gpu);
  fence(sem_sc, scope_gpu), fence(sem_sc, scope_sys);
  fence_proxy_async(), fence_proxy_async(space_shared), fence_proxy_async(space_cluster);
  fence_proxy_async(space_global);
  fence_proxy_async_generic_sync_restrict(sem_release, space_shared, scope_cluster);
  fence_proxy_async_generic_sync_restrict(sem_acquire, space_cluster, scope_cluster);
  griddepcontrol_wait(), griddepcontrol_launch_dependents();
}

template <int Rank>
__device__ void tensor_copies(const TmaDescriptor& map, Shared& s) {
  std::int32_t at[Rank] = {};
  void* tile = s.tile;
  cp_async_bulk_tensor(space_cluster, space_global, tile, &map, at, &s.barrier);
  cp_async_bulk_tensor(space_cluster, space_global, tile, &map, at, &s.barrier, kEvictFirst);
  cp_async_bulk_tensor(space_cluster, space_global, tile, &map, at, &s.barrier, std::uint16_t{3});
  cp_async_bulk_tensor(space_cluster, space_global, tile, &map, at, &s.barrier, std::uint16_t{3}, kEvictLast);
  cp_async_bulk_tensor(space_global, space_shared, &map, at, tile);
  cp_async_bulk_tensor(space_global, space_shared, &map, at, tile, kEvictNormal);
  cp_reduce_async_bulk_tensor(space_global, space_shared, op_add, &map, at, tile);
  cp_reduce_async_bulk_tensor(space_global, space_shared, op_min, &map, at, tile);
  cp_reduce_async_bulk_tensor(space_global, space_shared, op_max, &map, at, tile);
  cp_reduce_async_bulk_tensor(space_global, space_shared, op_inc, &map, at, tile);
  cp_reduce_async_bulk_tensor(space_global, space_shared, op_dec, &map, at, tile);
  cp_reduce_async_bulk_tensor(space_global, space_shared, op_and_op, &map, at, tile);
  cp_reduce_async_bulk_tensor(space_global, space_shared, op_or_op, &map, at, tile);
  cp_reduce_async_bulk_tensor(space_global, space_shared, op_xor_op, &map, at, tile);
  cp_reduce_async_bulk_tensor(space_global, space_shared, op_add, &map, at, tile, kEvictFirst);
  cp_reduce_async_bulk_tensor(space_global, space_shared, op_max, &map, at, tile, kEvictFirst);
  cp_async_bulk_prefetch_tensor(space_global, &map, at);
  cp_async_bulk_prefetch_tensor(space_global, &map, at, kEvictLast);
  if constexpr (Rank >= 3) {
    std::uint16_t offsets[Rank - 2] = {};
    cp_async_bulk_tensor_im2col(space_cluster, space_global, tile, &map, at, &s.barrier, offsets);
    cp_async_bulk_tensor_im2col(space_cluster, space_global, tile, &map, at, &s.barrier, offsets, std::uint16_t{3});
    cp_async_bulk_tensor_im2col(space_cluster, space_global, tile, &map, at, &s.barrier, offsets, kEvictFirst);
    cp_async_bulk_tensor_im2col(space_cluster, space_global, tile, &map, at, &s.barrier, offsets, std::uint16_t{3},
                                kEvictLast);
    cp_async_bulk_tensor_im2col(space_global, space_shared, &map, at, tile);
    cp_async_bulk_tensor_im2col(space_global, space_shared, &map, at, tile, kEvictNormal);
    cp_reduce_async_bulk_tensor_im2col(space_global, space_shared, op_add, &map, at, tile);
    cp_reduce_async_bulk_tensor_im2col(space_global, space_shared, op_xor_op, &map, at, tile);
    cp_reduce_async_bulk_tensor_im2col(space_global, space_shared, op_add, &map, at, tile, kEvictFirst);
    cp_async_bulk_prefetch_tensor_im2col(space_global, &map, at, offsets);
    cp_async_bulk_prefetch_tensor_im2col(space_global, &map, at, offsets, kEvictLast);
  }
}

template <class T, class... Ops>
__device__ void bulk_reductions(T* global, Shared& s, Ops... ops) {
  (cp_reduce_async_bulk(space_global, space_shared, ops, global, reinterpret_cast<T*>(s.tile), 64), ...);
}
template <class T, class... Ops>
__device__ void cluster_reductions(T* remote, Shared& s, std::uint64_t* bar, Ops... ops) {
  (cp_reduce_async_bulk(space_cluster, space_shared, ops, remote, reinterpret_cast<T*>(s.tile), 64, bar), ...);
}

__global__ void copies(const __grid_constant__ TmaDescriptor map, unsigned char* global, TmaDescriptor* slot) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Shared& s = *reinterpret_cast<Shared*>(memory);
  tensor_copies<1>(map, s), tensor_copies<2>(map, s), tensor_copies<3>(map, s);
  tensor_copies<4>(map, s), tensor_copies<5>(map, s);
  std::uint64_t* bar = mapa(space_cluster, &s.barrier, 1);
  std::uint32_t* remote = mapa(space_cluster, s.tile, 1);
  cp_async_bulk(space_cluster, space_global, s.tile, global, 64, &s.barrier);
  cp_async_bulk(space_cluster, space_global, s.tile, global, 64, &s.barrier, std::uint16_t{3});
  cp_async_bulk(space_cluster, space_shared, remote, s.tile, 64, bar);
  cp_async_bulk(space_global, space_shared, global, s.tile, 64);
  cp_async_bulk_prefetch(space_global, global, 64);
  bulk_reductions(reinterpret_cast<std::uint32_t*>(global), s, op_add, op_min, op_max, op_inc, op_dec, op_and_op,
                  op_or_op, op_xor_op);
  bulk_reductions(reinterpret_cast<std::int32_t*>(global), s, op_add, op_min, op_max);
  bulk_reductions(reinterpret_cast<std::uint64_t*>(global), s, op_add, op_min, op_max, op_and_op, op_or_op, op_xor_op);
  bulk_reductions(reinterpret_cast<std::int64_t*>(global), s, op_min, op_max);
  bulk_reductions(reinterpret_cast<float*>(global), s, op_add);
  bulk_reductions(reinterpret_cast<double*>(global), s, op_add);
  bulk_reductions(reinterpret_cast<gantry::f16*>(global), s, op_add, op_min, op_max);
  bulk_reductions(reinterpret_cast<gantry::bf16*>(global), s, op_add, op_min, op_max);
  cluster_reductions(remote, s, bar, op_add, op_min, op_max, op_inc, op_dec, op_and_op, op_or_op, op_xor_op);
  cluster_reductions(reinterpret_cast<std::int32_t*>(remote), s, bar, op_add, op_min, op_max);
  cluster_reductions(reinterpret_cast<std::uint64_t*>(remote), s, bar, op_add);
  st_async(remote, 7u, bar), st_async(reinterpret_cast<std::uint64_t*>(remote), std::uint64_t{7}, bar);
  red_async(op_add, remote, 7u, bar),
      red_async(op_add, reinterpret_cast<std::uint64_t*>(remote), std::uint64_t{7}, bar);
  cp_async_bulk_commit_group();
  cp_async_bulk_wait_group(n32<1>), cp_async_bulk_wait_group_read(n32<0>);

  prefetch_tensormap(&map);
  tensormap_replace_global_address(space_shared, &s.map, global);
  tensormap_replace_rank(space_shared, &s.map, 1);
  tensormap_replace_box_dim(space_shared, &s.map, n32<1>, 64);
  tensormap_replace_global_dim(space_shared, &s.map, n32<4>, 64);
  tensormap_replace_global_stride(space_shared, &s.map, n32<3>, 64);
  tensormap_replace_element_stride(space_shared, &s.map, n32<2>, 1);
  tensormap_replace_elemtype<gantry::arch::Space::shared, gantry::TmaDataType::bf16>(space_shared, &s.map);
  tensormap_replace_swizzle_mode<gantry::arch::Space::shared, gantry::TmaSwizzle::bytes_128>(space_shared, &s.map);
  tensormap_replace_interleave_layout<gantry::arch::Space::shared, gantry::TmaInterleave::none>(space_shared, &s.map);
  tensormap_replace_fill_mode<gantry::arch::Space::shared, gantry::TmaFill::nan>(space_shared, &s.map);
  tensormap_replace_global_address(space_global, slot, global);
  tensormap_replace_global_dim(space_global, slot, n32<0>, 64);
  tensormap_cp_fenceproxy(sem_release, scope_gpu, slot, &s.map);
  fence_proxy_tensormap_generic(sem_release, scope_gpu);
  fence_proxy_tensormap_generic(sem_acquire, scope_gpu, slot);
}

template <class T>
__device__ void accesses(T* global, T* shared) {
  T v = ld(space_global, global);
  v = v + ld(space_global, global + 1, cache_global) + ld(space_global, global + 2, cache_streaming) +
      ld(space_global, global + 3, cache_last_use) + ld(space_global, global + 4, cache_no_allocate);
  st(space_shared, shared, v);
  st(space_cluster, mapa(space_cluster, shared, 1), ld(space_shared, shared + 1));
  st(space_global, global + 5, ld(space_cluster, mapa(space_cluster, shared, 1)));
  st(space_global, global + 6, v, cache_global), st(space_global, global + 7, v, cache_streaming);
}

template <class T>
__device__ void strong(T* p) {
  T v = ld(sem_acquire, scope_gpu, space_global, p) + ld(sem_acquire, scope_sys, space_global, p) +
        ld(sem_relaxed, scope_gpu, space_global, p) + ld(sem_relaxed, scope_sys, space_global, p);
  st(sem_release, scope_gpu, space_global, p, v), st(sem_release, scope_sys, space_global, p, v);
  st(sem_relaxed, scope_gpu, space_global, p, v), st(sem_relaxed, scope_sys, space_global, p, v);
}

template <class T, class... Ops>
__device__ void atomics(T* global, T* shared, Ops... ops) {
  T v = 1;
  ((v += atom(ops, space_global, global, v), v += atom(ops, space_shared, shared, v)), ...);
  (red(ops, space_global, global, v), ...);
}

__global__ void memory_and_warps(unsigned char* global, float* out) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Shared& s = *reinterpret_cast<Shared*>(memory);
  accesses(reinterpret_cast<std::uint32_t*>(global), s.tile);
  accesses(reinterpret_cast<double*>(global), reinterpret_cast<double*>(s.tile));
  st(space_shared, reinterpret_cast<uint4*>(s.tile), ld(space_global, reinterpret_cast<const uint4*>(global)));
  strong(reinterpret_cast<std::uint32_t*>(global)), strong(reinterpret_cast<std::uint64_t*>(global));
  pause();
  auto* u32 = reinterpret_cast<std::uint32_t*>(global);
  atomics(u32, s.tile, op_add, op_min, op_max, op_inc, op_dec, op_and_op, op_or_op, op_xor_op);
  atomics(reinterpret_cast<std::int32_t*>(global), reinterpret_cast<std::int32_t*>(s.tile), op_add, op_min, op_max,
          op_and_op, op_or_op, op_xor_op);
  atomics(reinterpret_cast<std::uint64_t*>(global), &s.state, op_add, op_min, op_max, op_and_op, op_or_op, op_xor_op);
  atomics(out, reinterpret_cast<float*>(s.tile), op_add);
  atomics(reinterpret_cast<double*>(out), reinterpret_cast<double*>(s.tile), op_add);
  u32[1] =
      atom_exch(space_global, u32, 3u) + atom_cas(space_global, u32, 3u, 4u) + atom_cas(space_shared, s.tile, 1u, 2u);
  s.state = atom_exch(space_shared, &s.state, std::uint64_t{3}) +
            atom_cas(space_shared, &s.state, std::uint64_t{3}, std::uint64_t{4});
  u32[2] = atom(op_add, sem_relaxed, scope_gpu, space_global, u32, 1u) +
           atom(op_add, sem_acquire, scope_gpu, space_global, u32, 1u) +
           atom(op_add, sem_release, scope_gpu, space_global, u32, 1u) +
           atom(op_add, sem_acq_rel, scope_gpu, space_global, u32, 1u);
  red(op_add, sem_release, scope_gpu, space_global, u32, 1u);
  red(op_add, space_global, reinterpret_cast<f16x2*>(global), f16x2{1});
  red(op_add, space_global, reinterpret_cast<bf16x2*>(global), bf16x2{1});
  red(op_add, space_global, reinterpret_cast<f32x2*>(global), f32x2{1, 2});
  red(op_add, space_global, reinterpret_cast<f32x4*>(global), f32x4{1, 2, 3, 4});

  float x = out[thread_rank()];
  syncwarp();
  x += shfl_sync(kFullWarp, x, 3) + shfl_xor_sync(kFullWarp, x, 1) + shfl_down_sync(kFullWarp, x, 2) +
       shfl_up_sync(kFullWarp, x, 4) + ballot_sync(kFullWarp, x > 0) + any_sync(kFullWarp, x > 1) +
       all_sync(kFullWarp, x > 2);
  const auto n = static_cast<std::uint32_t>(x);
  x += redux_sync(op_add, kFullWarp, n) + redux_sync(op_min, kFullWarp, n) + redux_sync(op_max, kFullWarp, n) +
       redux_sync(op_and_op, kFullWarp, n) + redux_sync(op_or_op, kFullWarp, n) + redux_sync(op_xor_op, kFullWarp, n);
  x += ex2_approx(x) + lg2_approx(x) + tanh_approx(x) + rcp_approx(x) + rsqrt_approx(x) + max_nan(x, out[1]) +
       min_nan(x, out[2]);
  u32[3] = cvt_rn_bf16x2(x, x) + cvt_rn_f16x2(x, x) + cvt_rn_satfinite_e4m3x2(x, x) + cvt_rn_satfinite_e5m2x2(x, x) +
           cvt_rna_tf32(x);
  x += cvt_f32_f16(gantry::f16::from_bits(static_cast<std::uint16_t>(u32[3])));
  std::uint32_t r1[1], r2[2], r4[4];
  ldmatrix(r1, s.tile), ldmatrix(r2, s.tile), ldmatrix(r4, s.tile);
  stmatrix(s.tile, r1), stmatrix(s.tile, r2), stmatrix(s.tile, r4);
  ldmatrix(r1, s.tile, trans), ldmatrix(r2, s.tile, trans), ldmatrix(r4, s.tile, trans);
  stmatrix(s.tile, r1, trans), stmatrix(s.tile, r2, trans), stmatrix(s.tile, r4, trans);
  out[thread_rank()] = x;
}

}  // namespace gantry_test

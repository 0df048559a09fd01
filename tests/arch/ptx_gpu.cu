// The kernel with the names of cuda::ptx, translated once with those of NVIDIA's header and once with Gantry's; then
// the other names, once each.
#include <cstdint>
#include <cuda/ptx>

#include "gantry/arch/ptx.hpp"

#define KERNEL_FUNCTION __device__

struct OnGpu {
  static __device__ void store(std::uint32_t* to, std::uint32_t value) { *to = value; }
  static __device__ std::uint32_t load(const std::uint32_t* from) { return *from; }
  static __device__ void show(std::uint32_t* to, std::uint32_t value) { *to = value; }
  static __device__ void sync() { __syncthreads(); }
  template <class S>
  static __device__ S* peer(S* s, std::uint32_t rank) {
    return gantry::arch::mapa(gantry::arch::space_cluster, s, rank);
  }
};

namespace of_nvidia {
namespace ptx = cuda::ptx;
#include "ptx_kernel.hpp"
__global__ void kernel(const Params p) {
  extern __shared__ __align__(128) unsigned char memory[];
  run_ptx_kernel<OnGpu>(p, *reinterpret_cast<Storage*>(memory));
}
}  // namespace of_nvidia

namespace of_gantry {
namespace ptx = gantry::ptx;
#include "ptx_kernel.hpp"
__global__ void kernel(const Params p) {
  extern __shared__ __align__(128) unsigned char memory[];
  run_ptx_kernel<OnGpu>(p, *reinterpret_cast<Storage*>(memory));
}
}  // namespace of_gantry

// Calls with the types that the documentation of cuda::ptx gives; the text compiles with either namespace.
#define THE_OTHER_NAMES                                                                                         \
  __global__ void the_other_names(void* map, void* slot, std::uint32_t* global) {                               \
    __shared__ alignas(128) unsigned char shared_map[128];                                                      \
    __shared__ alignas(128) unsigned char tile[512];                                                            \
    __shared__ std::uint64_t bar;                                                                               \
    const std::int32_t at[2] = {0, 0};                                                                          \
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, map, at, &bar);                      \
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, map, at, tile);                             \
    ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, map, at, tile);         \
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});                                                             \
    ptx::tensormap_replace_global_address(ptx::space_shared, shared_map, global);                               \
    ptx::tensormap_replace_rank(ptx::space_shared, shared_map, 1);                                              \
    ptx::tensormap_replace_box_dim(ptx::space_shared, shared_map, ptx::n32_t<0>{}, 64);                         \
    ptx::tensormap_replace_global_dim(ptx::space_global, slot, ptx::n32_t<1>{}, 64);                            \
    ptx::tensormap_replace_global_stride(ptx::space_shared, shared_map, ptx::n32_t<0>{}, std::int64_t{64});     \
    ptx::tensormap_replace_element_stride(ptx::space_shared, shared_map, ptx::n32_t<0>{}, 1);                   \
    ptx::tensormap_replace_elemtype(ptx::space_shared, shared_map, ptx::n32_t<10>{});                           \
    ptx::tensormap_replace_interleave_layout(ptx::space_shared, shared_map, ptx::n32_t<0>{});                   \
    ptx::tensormap_replace_swizzle_mode(ptx::space_shared, shared_map, ptx::n32_t<3>{});                        \
    ptx::tensormap_replace_fill_mode(ptx::space_shared, shared_map, ptx::n32_t<0>{});                           \
    ptx::tensormap_cp_fenceproxy(ptx::sem_release, ptx::scope_gpu, slot, shared_map, ptx::n32_t<128>{});        \
    ptx::fence_proxy_tensormap_generic(ptx::sem_release, ptx::scope_gpu);                                       \
    ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_gpu, slot, ptx::n32_t<128>{});              \
    ptx::fence(ptx::sem_acq_rel, ptx::scope_gpu), ptx::fence(ptx::sem_sc, ptx::scope_cluster);                  \
    ptx::fence(ptx::sem_acquire, ptx::scope_cta), ptx::fence(ptx::sem_release, ptx::scope_sys);                 \
    ptx::fence_proxy_async(), ptx::fence_proxy_async(ptx::space_global);                                        \
    ptx::cp_async_mbarrier_arrive(&bar), ptx::cp_async_mbarrier_arrive_noinc(&bar);                             \
    std::uint64_t state = ptx::mbarrier_arrive(&bar) + ptx::mbarrier_arrive(&bar, 2) +                          \
                          ptx::mbarrier_arrive_no_complete(&bar, 1) +                                           \
                          ptx::mbarrier_arrive(ptx::sem_relaxed, ptx::scope_cluster, ptx::space_shared, &bar);  \
    ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cluster, ptx::space_cluster, &bar, 16);                \
    global[0] = ptx::mbarrier_test_wait(&bar, state) + ptx::mbarrier_try_wait(&bar, state, 20u) +               \
                ptx::mbarrier_test_wait_parity(&bar, 1u) +                                                      \
                ptx::mbarrier_try_wait(ptx::sem_relaxed, ptx::scope_cta, &bar, state);                          \
    global[1] = ptx::getctarank(ptx::space_cluster, tile) + ptx::shfl_sync_bfly(global[2], 1, 31, ~0u);         \
    global[2] = ptx::get_sreg_ctaid_y() + ptx::get_sreg_nctaid_z() + ptx::get_sreg_cluster_ctaid_x() +          \
                ptx::get_sreg_cluster_nctaid_y() + ptx::get_sreg_clusterid_z() + ptx::get_sreg_nclusterid_x() + \
                ptx::get_sreg_cluster_nctarank() + ptx::get_sreg_lanemask_lt() + ptx::get_sreg_clock() +        \
                ptx::get_sreg_clock_hi() + ptx::get_sreg_globaltimer_lo() + ptx::get_sreg_globaltimer_hi() +    \
                static_cast<std::uint32_t>(ptx::get_sreg_globaltimer());                                        \
  }
namespace of_nvidia {
THE_OTHER_NAMES
}
namespace of_gantry {
THE_OTHER_NAMES
}

// Every cp.async translated for the GPU: each instruction's text must assemble. What it does is compared on both
// machines elsewhere.
#include <cstdint>

#include "gantry/arch/cp_async.hpp"

namespace gantry_test {

using namespace gantry::arch;

template <int Prefetch, int Bytes>
__device__ void copies(unsigned char* shared, const unsigned char* global, std::uint32_t valid) {
  cp_async_ca<Prefetch>(space_shared, space_global, shared, global, n32<Bytes>);
  cp_async_ca<Prefetch>(space_shared, space_global, shared, global, n32<Bytes>, valid);
  cp_async_ca<Prefetch>(space_shared, space_global, shared, global, n32<Bytes>, kEvictFirst);
  cp_async_ca<Prefetch>(space_shared, space_global, shared, global, n32<Bytes>, valid, kEvictLast);
  if constexpr (Bytes == 16) {
    cp_async_cg<Prefetch>(space_shared, space_global, shared, global, n32<Bytes>);
    cp_async_cg<Prefetch>(space_shared, space_global, shared, global, n32<Bytes>, valid);
    cp_async_cg<Prefetch>(space_shared, space_global, shared, global, n32<Bytes>, kEvictFirst);
    cp_async_cg<Prefetch>(space_shared, space_global, shared, global, n32<Bytes>, valid, kEvictLast);
  }
}

template <int Prefetch>
__device__ void sizes(unsigned char* shared, const unsigned char* global, std::uint32_t valid) {
  copies<Prefetch, 4>(shared, global, valid), copies<Prefetch, 8>(shared, global, valid);
  copies<Prefetch, 16>(shared, global, valid);
}

__global__ void all(const unsigned char* global, std::uint32_t valid) {
  __shared__ alignas(16) unsigned char shared[16];
  __shared__ std::uint64_t barrier;
  sizes<0>(shared, global, valid), sizes<64>(shared, global, valid);
  sizes<128>(shared, global, valid), sizes<256>(shared, global, valid);
  cp_async_commit_group();
  cp_async_wait_group(n32<3>), cp_async_wait_group(n32<0>), cp_async_wait_all();
  cp_async_mbarrier_arrive(&barrier), cp_async_mbarrier_arrive_noinc(&barrier);
}

}  // namespace gantry_test

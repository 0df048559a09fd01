// Operations by which threads meet, exchange and order, with every qualifier, translated for the GPU: each
// instruction's text must assemble. What they compute is compared on both machines elsewhere.
#include <cstdint>

#include "gantry/arch.hpp"

namespace gantry_test {

using namespace gantry::arch;

struct Shared {
  alignas(16) std::uint32_t words[16];
  std::uint64_t barrier, state;
};

__device__ Shared& shared_memory() {
  extern __shared__ __align__(16) unsigned char memory[];
  return *reinterpret_cast<Shared*>(memory);
}

__global__ void lanes(std::uint32_t* out) {
  std::uint32_t x = out[threadIdx.x];
  const double wide = x;
  x += shfl_sync(kFullWarp, x, 3, 8) + shfl_xor_sync(kFullWarp, x, 1, 16) + shfl_down_sync(kFullWarp, x, 2, 4) +
       shfl_up_sync(kFullWarp, x, 4, 2) + static_cast<std::uint32_t>(shfl_sync(kFullWarp, wide, 3, 8));
  bool in_reach, all;
  x += shfl_sync_idx(x, in_reach, 3, 31, kFullWarp) + in_reach;
  x += shfl_sync_up(x, in_reach, 3, 0, kFullWarp) + in_reach;
  x += shfl_sync_down(x, in_reach, 3, 0x1018, kFullWarp) + in_reach;
  x += static_cast<std::uint32_t>(shfl_sync_bfly(1.5f, in_reach, 3, 31, kFullWarp)) + in_reach;
  x += match_any_sync(kFullWarp, x) + match_any_sync(kFullWarp, wide);
  x += match_all_sync(kFullWarp, 1.5f, all) + all;
  x += match_all_sync(kFullWarp, std::uint64_t{x}, all) + all;
  out[threadIdx.x] = x;
}

__global__ void barriers(std::uint64_t* out) {
  const bool vote = out[threadIdx.x] > 3;
  barrier_sync(1, 64), barrier_sync(unaligned, 2, 64), barrier_arrive(3, 64), barrier_arrive(unaligned, 4, 64);
  out[0] = barrier_reduce_or(1, 64, vote) + barrier_reduce_or(unaligned, 2, 64, vote);
  out[1] = barrier_reduce_and(1, 64, vote) + barrier_reduce_and(unaligned, 2, 64, vote);
  out[2] = barrier_reduce_popc(1, 64, vote) + barrier_reduce_popc(unaligned, 2, 64, vote);
  out[3] =
      gantry::arch::syncthreads_count(vote) + gantry::arch::syncthreads_and(vote) + gantry::arch::syncthreads_or(vote);
  barrier_cluster_arrive(unaligned, sem_release), barrier_cluster_wait(unaligned, sem_acquire);
  barrier_cluster_arrive(unaligned, sem_relaxed), barrier_cluster_wait(unaligned, sem_acquire);
  out[4] = get_sreg_clock() + get_sreg_clock64() + get_sreg_globaltimer();
}

template <class Scope>
__device__ void arrivals_and_waits(Shared& s, Scope scope) {
  std::uint64_t* bar = &s.barrier;
  std::uint64_t* remote = mapa(space_cluster, bar, 1);
  const auto arrive = [&](auto sem) {
    s.state = mbarrier_arrive(sem, scope, space_shared, bar) + mbarrier_arrive(sem, scope, space_shared, bar, 2) +
              mbarrier_arrive_drop(sem, scope, space_shared, bar, 1) +
              mbarrier_arrive_expect_tx(sem, scope, space_shared, bar, 16);
    mbarrier_arrive(sem, scope, space_cluster, remote), mbarrier_arrive(sem, scope, space_cluster, remote, 2);
    mbarrier_arrive_drop(sem, scope, space_cluster, remote, 1);
    mbarrier_arrive_expect_tx(sem, scope, space_cluster, remote, 16);
  };
  arrive(sem_release), arrive(sem_relaxed);
  mbarrier_expect_tx(sem_relaxed, scope, space_shared, bar, 16);
  mbarrier_expect_tx(sem_relaxed, scope, space_cluster, remote, 16);
  const auto wait_for = [&](auto sem) {
    s.words[0] = mbarrier_test_wait(sem, scope, bar, s.state) + mbarrier_test_wait_parity(sem, scope, bar, 1) +
                 mbarrier_try_wait(sem, scope, bar, s.state) + mbarrier_try_wait_parity(sem, scope, bar, 1) +
                 mbarrier_try_wait(sem, scope, bar, s.state, 20) + mbarrier_try_wait_parity(sem, scope, bar, 1, 20);
    gantry::arch::wait(sem, scope, bar, 1);
  };
  wait_for(sem_acquire), wait_for(sem_relaxed);
}

__global__ void mbarriers() {
  Shared& s = shared_memory();
  arrivals_and_waits(s, scope_cta), arrivals_and_waits(s, scope_cluster);
  s.state = mbarrier_arrive(&s.barrier, 3) + mbarrier_try_wait(&s.barrier, s.state, 20) +
            mbarrier_try_wait_parity(&s.barrier, 1, 20);
}

template <class T, class Space>
__device__ void strong(T* at, Space space) {
  const auto scoped = [&](auto scope) {
    st(sem_relaxed, scope, space, at, ld(sem_acquire, scope, space, at));
    st(sem_release, scope, space, at, ld(sem_relaxed, scope, space, at));
  };
  scoped(scope_cta), scoped(scope_cluster), scoped(scope_gpu), scoped(scope_sys);
  st_volatile(space, at, ld_volatile(space, at));
}

template <class T>
__device__ void strong_everywhere(void* global, Shared& s) {
  auto* shared = reinterpret_cast<T*>(s.words);
  strong(static_cast<T*>(global), space_global), strong(shared, space_shared);
  strong(mapa(space_cluster, shared, 1), space_cluster);
}

__global__ void strong_accesses(void* global) {
  Shared& s = shared_memory();
  strong_everywhere<std::uint8_t>(global, s), strong_everywhere<std::int16_t>(global, s);
  strong_everywhere<float>(global, s), strong_everywhere<double>(global, s);
}

template <class T, class Space, class... Ops>
__device__ void atomics(T* at, Space space, Ops... ops) {
  T v = 1;
  const auto ordered = [&](auto sem, auto scope) {
    ((v += atom(ops, sem, scope, space, at, v)), ...);
    if constexpr (sem.value == Semantics::relaxed || sem.value == Semantics::release) {
      (red(ops, sem, scope, space, at, v), ...);
    }
    if constexpr (!__is_same(T, float) && !__is_same(T, double)) {
      v += atom_exch(sem, scope, space, at, v) + atom_cas(sem, scope, space, at, v, v);
    }
  };
  ordered(sem_relaxed, scope_cta), ordered(sem_acquire, scope_cluster), ordered(sem_release, scope_gpu);
  ordered(sem_acq_rel, scope_sys);
}

template <class T, class... Ops>
__device__ void atomics_everywhere(void* global, Shared& s, Ops... ops) {
  auto* shared = reinterpret_cast<T*>(s.words);
  atomics(static_cast<T*>(global), space_global, ops...), atomics(shared, space_shared, ops...);
  atomics(mapa(space_cluster, shared, 1), space_cluster, ops...);
}

__global__ void ordered_atomics(void* global) {
  Shared& s = shared_memory();
  atomics_everywhere<std::uint32_t>(global, s, op_add, op_min, op_max, op_inc, op_dec, op_and_op, op_or_op, op_xor_op);
  atomics_everywhere<std::int32_t>(global, s, op_add, op_min, op_max, op_and_op, op_or_op, op_xor_op);
  atomics_everywhere<std::uint64_t>(global, s, op_add, op_min, op_max, op_and_op, op_or_op, op_xor_op);
  atomics_everywhere<std::int64_t>(global, s, op_add, op_min, op_max, op_and_op, op_or_op, op_xor_op);
  atomics_everywhere<float>(global, s, op_add), atomics_everywhere<double>(global, s, op_add);
  auto* half = reinterpret_cast<std::uint16_t*>(s.words);
  half[1] = atom_cas(sem_acq_rel, scope_cta, space_shared, half, std::uint16_t{1}, std::uint16_t{2});
  red(op_add, sem_release, scope_gpu, space_global, static_cast<f16x2*>(global), f16x2{1});
  red(op_add, sem_relaxed, scope_sys, space_global, static_cast<bf16x2*>(global), bf16x2{1});
  red(op_add, sem_release, scope_cta, space_global, static_cast<f32x2*>(global), f32x2{1, 2});
  red(op_add, sem_release, scope_cluster, space_global, static_cast<f32x4*>(global), f32x4{1, 2, 3, 4});
}

__global__ void remote_stores() {
  Shared& s = shared_memory();
  Shared& there = *mapa(space_cluster, &s, 1);
  const std::uint32_t two[2] = {1, 2};
  const float four[4] = {1, 2, 3, 4};
  const double wide[2] = {1, 2};
  st_async(there.words, two, &there.barrier);
  st_async(reinterpret_cast<float*>(there.words), four, &there.barrier);
  st_async(reinterpret_cast<double*>(there.words), wide, &there.barrier);
  const auto all = [&](auto* at, auto value, auto... ops) { (red_async(ops, at, value, &there.barrier), ...); };
  all(there.words, 7u, op_add, op_min, op_max, op_inc, op_dec, op_and_op, op_or_op, op_xor_op);
  all(reinterpret_cast<std::int32_t*>(there.words), -7, op_add, op_min, op_max);
  all(reinterpret_cast<std::uint64_t*>(there.words), std::uint64_t{7}, op_add);
  all(reinterpret_cast<std::int64_t*>(there.words), std::int64_t{-7}, op_add);
}

}  // namespace gantry_test

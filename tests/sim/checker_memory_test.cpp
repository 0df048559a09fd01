// What the checker remembers of earlier accesses: each of these was found by random kernels.
#include "every_seed_steps.hpp"

namespace gantry::test {
namespace {

void update(std::uint32_t* where, Semantics semantics, Scope scope, Site site = Site::here()) {
  const std::uint32_t one = 1;
  sim::atomic({.target = where, .op = sim::AtomicOp::add, .element = sim::Element::u32, .value = &one},
              {.space = Space::global, .semantics = semantics, .scope = scope}, site);
}
// Learns nothing but that it has come.
void await_relaxed(std::uint32_t* where) {
  while (ld(sem_relaxed, scope_gpu, space_global, where) == 0) pause();
}

// The fence that counts may be another thread's, on the way from the access and back.
TEST(CheckerMemory, AThreadsOwnAccessIsFencedByAnotherThread) {
  expect_misuse_in_every_seed("proxy-fence-missing", {.block = {64}, .shared_bytes = kShared},
                              [](SharedMemory shared, bool broken) {
                                Storage& s = shared.as<Storage>();
                                if (thread_rank() == 0) {
                                  for (int i = 0; i < 4; ++i) st(space_shared, &s.tile[i], 1u);
                                }
                                syncthreads();
                                if (thread_rank() == 32 && !broken) fence_proxy_async(space_shared);
                                syncthreads();
                                if (thread_rank() != 0) return;
                                cp_async_bulk(space_global, space_shared, target, s.tile, 16);
                                cp_async_bulk_commit_group();
                                cp_async_bulk_wait_group(n32<0>);
                              });
}

// Two updates may pass each other; the store before the one is still unordered with the other.
TEST(CheckerMemory, AnUpdateDoesNotHideTheStoreBeforeIt) {
  expect_misuse_in_every_seed("global-race", {.grid = {2}, .block = {1}}, [](SharedMemory, bool broken) {
    if (block_index().x == 0) {
      if (broken) st(space_global, &counter, 0u);
      atom(op_add, space_global, &counter, 1u);
    } else {
      atom(op_add, space_global, &counter, 1u);
    }
  });
}

// An update that acquires is ordered after what it acquires, its own access included: here one of too narrow a scope,
// of which it hears from a thread between the two.
TEST(CheckerMemory, AnAcquiringUpdateFollowsWhatItAcquires) {
  expect_clean_in_every_seed(
      {.grid = {2}, .block = {2}},
      [](SharedMemory) {
        if (block_index().x == 1) {
          if (thread_rank() == 0) {
            update(&counter, Semantics::release, Scope::cta);
            st(sem_relaxed, scope_gpu, space_global, &flag, 1u);
          } else {
            await_relaxed(&flag);
            update(&counter, Semantics::acq_rel, Scope::gpu);
            st(sem_relaxed, scope_gpu, space_global, &data, 1u);
          }
        } else if (thread_rank() == 0) {
          await_relaxed(&data);
          update(&counter, Semantics::acq_rel, Scope::gpu);
        }
      },
      reset);
}

// An update of another CTA and wider scope is not forgotten for one of this CTA.
TEST(CheckerMemory, AnUpdateOfAnotherCtaIsNotForgottenForOneOfTheSame) {
  expect_misuse_in_every_seed(
      "global-race", {.grid = {2}, .block = {2}},
      [](SharedMemory, bool broken) {
        if (block_index().x == 1) {
          if (thread_rank() == 0) {
            update(&counter, Semantics::relaxed, Scope::gpu);
            st(sem_release, scope_gpu, space_global, &flag, 1u);
          }
        } else if (thread_rank() == 0) {
          await(&flag);
          update(&counter, Semantics::relaxed, Scope::gpu);
          st(sem_release, scope_gpu, space_global, &data, 1u);
        } else {
          await_relaxed(&data);
          update(&counter, Semantics::relaxed, broken ? Scope::cta : Scope::gpu);
        }
      },
      reset);
}

}  // namespace
}  // namespace gantry::test

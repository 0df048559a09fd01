// Which fences make what threads wrote visible to a copy: by the writers before the barrier, or by the issuer after it.
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

struct Storage {
  alignas(128) std::uint32_t tile[128];
};

struct Fences {
  const char* name;
  void (*fence)();
  bool shared;  // covers shared memory
  bool global;
};

const Fences kFences[] = {
    {"none", [] {}, false, false},
    {"thread", [] { fence(sem_acq_rel, scope_gpu); }, false, false},
    {"proxy", [] { fence_proxy_async(); }, true, true},
    {"shared", [] { fence_proxy_async(space_shared); }, true, false},
    {"cluster", [] { fence_proxy_async(space_cluster); }, true, false},
    {"global", [] { fence_proxy_async(space_global); }, false, true},
    {"restricted release", [] { fence_proxy_async_generic_sync_restrict(sem_release, space_shared, scope_cluster); },
     true, false},
    {"restricted acquire", [] { fence_proxy_async_generic_sync_restrict(sem_acquire, space_cluster, scope_cluster); },
     true, false},
};

TEST(Fences, CoverTheirMemoryForTheWritersAndForTheIssuer) {
  alignas(128) static std::uint32_t target[128];
  for (const Fences& kind : kFences) {
    for (const bool by_writers : {true, false}) {
      const Report report = simulate({.block = {128}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
        Storage& s = shared.as<Storage>();
        st(space_shared, &s.tile[thread_rank()], thread_rank());
        if (by_writers) kind.fence();
        syncthreads();
        if (thread_rank() != 0) return;
        if (!by_writers) kind.fence();
        cp_async_bulk(space_global, space_shared, target, s.tile, sizeof s.tile);
        cp_async_bulk_commit_group();
        cp_async_bulk_wait_group_read(n32<0>);
      });
      EXPECT_EQ(report.clean(), kind.shared) << kind.name << ": " << report.text();
      EXPECT_EQ(report.has("proxy-fence-missing"), !kind.shared) << kind.name << ": " << report.text();
    }
  }
}

TEST(Fences, OfGlobalMemoryAreNeededBeforeACopyReadsIt) {
  struct Loaded {
    alignas(128) std::uint32_t tile[128];
    std::uint64_t full;
  };
  for (const Fences& kind : kFences) {
    alignas(128) std::uint32_t source[128] = {};
    const Report report = simulate({.block = {128}, .shared_bytes = sizeof(Loaded)}, [&](SharedMemory shared) {
      Loaded& s = shared.as<Loaded>();
      st(space_global, &source[thread_rank()], thread_rank());
      kind.fence();
      if (thread_rank() == 0) {
        mbarrier_init(&s.full, 1);
        fence_mbarrier_init(sem_release, scope_cluster);
      }
      syncthreads();
      if (thread_rank() == 0) {
        mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, sizeof s.tile);
        cp_async_bulk(space_cluster, space_global, s.tile, source, sizeof s.tile, &s.full);
      }
      wait(&s.full, 0);
    });
    EXPECT_EQ(report.clean(), kind.global) << kind.name << ": " << report.text();
  }
}

}  // namespace
}  // namespace gantry

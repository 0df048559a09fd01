// The lifetime of distributed shared memory, and dependent launches, under every seed.
#include "every_seed_steps.hpp"

namespace gantry::test {
namespace {

TEST(ClusterLifetime, APeerIsKnownToHaveStartedBeforeItsMemoryIsUsed) {
  expect_misuse_in_every_seed(
      "cluster-peer-not-started", {.grid = {2}, .cluster = {2}, .block = {32}, .shared_bytes = kShared},
      [](SharedMemory shared, bool broken) {
        Storage& s = shared.as<Storage>();
        if (!broken) {
          barrier_cluster_arrive(sem_relaxed);
          barrier_cluster_wait();
        }
        st(space_cluster, mapa(space_cluster, &s.tile[thread_rank()], cluster_block_rank() ^ 1), 7u);
        sync();
      });
}

TEST(ClusterLifetime, APeerDoesNotLeaveWhileItsMemoryMayBeRead) {
  for (const bool late : {false, true}) {
    expect_misuse_in_every_seed("cluster-peer-gone",
                                {.grid = {2}, .cluster = {2}, .block = {32}, .shared_bytes = kShared},
                                [&](SharedMemory shared, bool broken) {
                                  Storage& s = shared.as<Storage>();
                                  st(space_shared, &s.tile[thread_rank()], 1u);
                                  sync();
                                  if (cluster_block_rank() == 0) {
                                    ld(space_cluster, mapa(space_cluster, &s.tile[thread_rank()], 1));
                                  } else if (late) {
                                    for (int i = 0; i < 50; ++i) syncthreads();  // it is long busy with something else
                                  }
                                  if (!broken) sync();
                                });
  }
}

TEST(ClusterLifetime, APeerDoesNotLeaveBeforeAnArrivalOnItsBarrier) {
  expect_misuse_in_every_seed("cluster-peer-gone",
                              {.grid = {2}, .cluster = {2}, .block = {32}, .shared_bytes = kShared},
                              [](SharedMemory shared, bool broken) {
                                Storage& s = shared.as<Storage>();
                                if (thread_rank() == 0) start_barrier(s);
                                sync();
                                if (thread_rank() != 0) return;
                                mbarrier_arrive(sem_release, scope_cluster, space_cluster,
                                                mapa(space_cluster, &s.full, cluster_block_rank() ^ 1));
                                if (!broken || cluster_block_rank() == 0) wait(&s.full, 0);
                              });
}

TEST(ClusterLifetime, ACtaThatPushesItsMemoryToAPeerStaysUntilItHasBeenRead) {
  expect_misuse_in_every_seed("exit-with-copies-in-flight",
                              {.grid = {2}, .cluster = {2}, .block = {32}, .shared_bytes = kShared},
                              [](SharedMemory shared, bool broken) {
                                Storage& s = shared.as<Storage>();
                                if (thread_rank() == 0) start_barrier(s);
                                if (cluster_block_rank() == 0) st(space_shared, &s.tile[thread_rank()], 1u);
                                fence_proxy_async(space_shared);
                                sync();
                                if (thread_rank() == 0 && cluster_block_rank() == 0) {
                                  cp_async_bulk(space_cluster, space_shared, mapa(space_cluster, s.other, 1), s.tile,
                                                64, mapa(space_cluster, &s.full, 1));
                                }
                                if (thread_rank() == 0 && cluster_block_rank() == 1) {
                                  mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, 64);
                                  wait(&s.full, 0);
                                }
                                if (!broken) sync();
                              });
}

// ---- Dependent launches

struct First {
  struct Params {};
  static void run(const Params&, SharedMemory) {
    griddepcontrol_launch_dependents();
    if (thread_rank() == 0) st(space_global, &data, 7u);
  }
};
template <bool Waits>
struct Second {
  struct Params {};
  static void run(const Params&, SharedMemory) {
    griddepcontrol_launch_dependents();
    if (Waits) griddepcontrol_wait();
  }
};
struct Third {
  struct Params {};
  static void run(const Params&, SharedMemory) {
    griddepcontrol_wait();
    if (thread_rank() == 0) ld(space_global, &data);
  }
};

TEST(DependentLaunch, AWaitCoversTheKernelBeforeAndNotTheOneBeforeThat) {
  const LaunchConfig config{.block = {32}};
  LaunchConfig dependent = config;
  dependent.dependent = true;
  for (std::uint64_t seed = 0; seed < test::kSeeds; ++seed) {
    const Simulator machine(test::options_of(seed));
    First::Params first;
    Second<true>::Params waits;
    Second<false>::Params does_not;
    Third::Params third;
    const Report right = machine.run_in_order({Simulator::call_of<First>(config, first),
                                               Simulator::call_of<Second<true>>(dependent, waits),
                                               Simulator::call_of<Third>(dependent, third)});
    EXPECT_TRUE(right.clean()) << right.text();
    const Report wrong = machine.run_in_order({Simulator::call_of<First>(config, first),
                                               Simulator::call_of<Second<false>>(dependent, does_not),
                                               Simulator::call_of<Third>(dependent, third)});
    EXPECT_TRUE(wrong.has("grid-dependency-early")) << "seed " << seed << ": " << wrong.text();
  }
}

}  // namespace
}  // namespace gantry::test

// The litmus grid of global memory: threads of two CTAs, alone, in one cluster, or of two launches.
#include "litmus.hpp"

namespace gantry {
namespace {

using namespace arch;
using namespace litmus;

struct Storage {
  alignas(1024) std::uint32_t tile[1024];
  std::uint64_t full;
};
alignas(128) std::uint32_t words[1024];
std::uint32_t flag;

enum Access { st_, ld_, st_relaxed, ld_relaxed, atom_, ld_nc, tma_load, bulk_load, bulk_store, reduce_, kAccesses };
constexpr Kind kKinds[kAccesses] = {
    {"st", true, Proxy::generic, Ends::at_once, false, false, "PTX MCM, weak operations"},
    {"ld", false, Proxy::generic, Ends::at_once, false, false, "PTX MCM, weak operations"},
    {"st.relaxed.gpu", true, Proxy::generic, Ends::at_once, true, false, "PTX MCM, strong operations"},
    {"ld.relaxed.gpu", false, Proxy::generic, Ends::at_once, true, false, "PTX MCM, strong operations"},
    {"atom.relaxed.gpu", true, Proxy::generic, Ends::at_once, true, false, "PTX MCM, strong operations"},
    {"ld.global.nc", false, Proxy::generic, Ends::at_once, false, true,
     "decision: ld.nc requires data that is read-only for the duration of the kernel, so order does not help"},
    {"TMA load", false, Proxy::async, Ends::by_mbarrier, false, false, "cp.async.bulk.tensor reads by the async proxy"},
    {"bulk load", false, Proxy::async, Ends::by_mbarrier, false, false, "cp.async.bulk reads by the async proxy"},
    {"bulk store", true, Proxy::async, Ends::by_write_wait, false, false, "cp.async.bulk: weak, async proxy"},
    {"bulk reduction", true, Proxy::async, Ends::by_write_wait, true, false,
     "cp.reduce.async.bulk: relaxed, GPU scope"},
};

// How the first CTA tells the second. The two are of one cluster where `in_cluster` says so.
enum Sync {
  none,
  release_acquire,
  relaxed,
  fences_gpu,
  fence_sc,
  fences_cluster,
  fence_cta,
  release_relaxed,
  relaxed_acquire,
  release_cta,
  cluster_none,
  cluster_barrier,
  cluster_relaxed,
  cluster_fences,
  kSyncs
};
constexpr struct {
  Chain chain;
  bool in_cluster;
  bool flag_races = false;  // the two accesses to the flag are not in each other's scope: they race themselves
} kChains[kSyncs] = {
    {{"nothing", false, "PTX MCM, causality order: there is none"}, false},
    {{"flag, release.gpu and acquire.gpu", true, "PTX MCM, release and acquire patterns"}, false},
    {{"flag, relaxed", false, "PTX MCM: relaxed operations do not synchronise"}, false},
    {{"flag, fence.acq_rel.gpu on both sides", true, "PTX MCM, patterns by fences"}, false},
    {{"flag, fence.sc.gpu on both sides", true, "PTX MCM, Fence-SC"}, false},
    {{"flag, fence.acq_rel.cluster between clusters", false, "PTX MCM, scope: the fences do not include each other"},
     false},
    {{"flag, fence.acq_rel.cta between CTAs", false, "PTX MCM, scope"}, false},
    {{"flag, release.gpu and relaxed", false, "PTX MCM: a relaxed load without a fence does not acquire"}, false},
    {{"flag, relaxed and acquire.gpu", false, "PTX MCM: a relaxed store without a fence does not release"}, false},
    {{"flag, release.cta and acquire.gpu", false, "PTX MCM, scope: the release does not include the reader"},
     false,
     true},
    {{"nothing, in a cluster", false, "PTX MCM, causality order: there is none"}, true},
    {{"cluster barrier", true, "barrier.cluster: release and acquire by default"}, true},
    {{"cluster barrier, relaxed arrival", false, "barrier.cluster.arrive.relaxed guarantees no ordering"}, true},
    {{"flag, fence.acq_rel.cluster in one cluster", true, "PTX MCM, scope: the cluster includes both"}, true},
};

constexpr std::int32_t kOrigin[2] = {0, 0};

const TmaDescriptor& map() {
  alignas(128) static const TmaDescriptor made = pack({.data_type = TmaDataType::u32,
                                                       .rank = 2,
                                                       .address = reinterpret_cast<std::uint64_t>(words),
                                                       .dims = {32, 32, 1, 1, 1},
                                                       .strides = {128},
                                                       .box = {32, 32, 1, 1, 1}});
  return made;
}

// By one thread, with a barrier of its own.
void issue(Storage& s, Access access) {
  if (access == st_) st(space_global, &words[0], 5u);
  if (access == ld_) ld(space_global, &words[0]);
  if (access == st_relaxed) st(sem_relaxed, scope_gpu, space_global, &words[0], 5u);
  if (access == ld_relaxed) ld(sem_relaxed, scope_gpu, space_global, &words[0]);
  if (access == atom_) atom(op_add, space_global, &words[0], 1u);
  if (access == ld_nc) ld(space_global, &words[0], cache_no_allocate);
  if (access == tma_load || access == bulk_load) {
    const std::uint32_t bytes = access == tma_load ? 4096 : 64;
    mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, bytes);
    if (access == tma_load) {
      cp_async_bulk_tensor(space_cluster, space_global, s.tile, &map(), kOrigin, &s.full);
    } else {
      cp_async_bulk(space_cluster, space_global, s.tile, words, 64, &s.full);
    }
  }
  if (access == bulk_store) cp_async_bulk(space_global, space_shared, words, s.tile, 64);
  if (access == reduce_) cp_reduce_async_bulk(space_global, space_shared, op_add, words, s.tile, 64);
  if (access == bulk_store || access == reduce_) cp_async_bulk_commit_group();
}

enum Waiting { not_waited, source_read, complete, kWaitings };

// `.read` is enough for the thread to leave, and not for the result.
void wait_for_end(Storage& s, Access access, Waiting how) {
  if (how == not_waited) return;
  if (kKinds[access].ends == Ends::by_mbarrier) wait(&s.full, 0);
  if (kKinds[access].ends != Ends::by_write_wait) return;
  how == source_read ? cp_async_bulk_wait_group_read(n32<0>) : cp_async_bulk_wait_group(n32<0>);
}

void set_flag(Semantics semantics, Scope scope) {
  const std::uint32_t set = 1;
  sim::store(&flag, &set, 4, {.space = Space::global, .semantics = semantics, .scope = scope}, Site::here());
}
void await_flag(Semantics semantics) {
  std::uint32_t seen = 0;
  while (seen == 0) {
    sim::load(&seen, &flag, 4, {.space = Space::global, .semantics = semantics, .scope = Scope::gpu}, Site::here());
  }
}

void fence_of(Sync sync) {
  if (sync == fences_gpu) fence(sem_acq_rel, scope_gpu);
  if (sync == fence_sc) fence(sem_sc, scope_gpu);
  if (sync == fences_cluster || sync == cluster_fences) fence(sem_acq_rel, scope_cluster);
  if (sync == fence_cta) fence(sem_acq_rel, scope_cta);
}

void tell(Sync sync) {
  fence_of(sync);
  if (sync == release_acquire || sync == release_relaxed) set_flag(Semantics::release, Scope::gpu);
  if (sync == release_cta) set_flag(Semantics::release, Scope::cta);
  if (sync == relaxed || sync == relaxed_acquire || sync == fences_gpu || sync == fence_sc || sync == fences_cluster ||
      sync == fence_cta || sync == cluster_fences) {
    set_flag(Semantics::relaxed, Scope::gpu);
  }
}

void learn(Sync sync) {
  if (sync == none || sync == cluster_none || sync == cluster_barrier || sync == cluster_relaxed) return;
  const bool acquires = sync == release_acquire || sync == relaxed_acquire || sync == release_cta;
  await_flag(acquires ? Semantics::acquire : Semantics::relaxed);
  fence_of(sync);
}

void wait_for(Sync sync) {
  if (sync != cluster_barrier && sync != cluster_relaxed) return;
  sync == cluster_barrier ? barrier_cluster_arrive() : barrier_cluster_arrive(sem_relaxed);
  barrier_cluster_wait();
}

struct Case {
  Access first, second;
  Sync sync;
  Waiting waited;
  bool fenced;
};

void prepare(Storage& s) {
  mbarrier_init(&s.full, 1);
  fence_mbarrier_init(sem_release, scope_cluster);
  for (int i = 0; i < 16; ++i) st(space_shared, &s.tile[i], 0u);
  fence_proxy_async(space_shared);
}

void first_side(Storage& s, const Case& c) {
  issue(s, c.first);
  wait_for_end(s, c.first, c.waited);
  if (c.fenced) fence_proxy_async(space_global);
}

void run_case(Storage& s, const Case& c) {
  const bool one = thread_rank() == 0, first = block_index().x == 0;
  if (one) prepare(s);
  syncwarp();
  if (first && one) {
    first_side(s, c);
    tell(c.sync);
  }
  syncwarp();
  wait_for(c.sync);
  if (one && !first) {
    learn(c.sync);
    issue(s, c.second);
    wait_for_end(s, c.second, complete);
  }
  if (one && first && c.waited != complete) wait_for_end(s, c.first, complete);
}

// Only a wait for the end of the write covers it; a read is over when its thread knows.
bool covers(const Kind& first, Waiting waited) { return first.ends == Ends::at_once || waited == complete; }

std::string name_of(const Case& c, const char* chain) {
  constexpr const char* kWaited[] = {" (not waited for)", " (source read)", ""};
  return std::string(kKinds[c.first].name) + kWaited[c.waited] + (c.fenced ? ", proxy fence, " : ", ") + chain + ", " +
         kKinds[c.second].name;
}

// Calls `f(case)` for all that make sense.
template <class F>
void each_case(Sync sync, F f) {
  for (int i = 0; i < kAccesses; ++i) {
    for (int j = 0; j < kAccesses; ++j) {
      const Kind &first = kKinds[i], &second = kKinds[j];
      if (!first.writes && !second.writes) continue;
      const bool crosses = first.proxy == Proxy::generic && second.proxy == Proxy::async;
      for (const Waiting waited : {not_waited, source_read, complete}) {
        if (waited != complete && first.ends == Ends::at_once) continue;
        if (waited == source_read && first.ends != Ends::by_write_wait) continue;
        for (const bool fenced : {false, true}) {
          if (fenced && !crosses) continue;
          f(Case{static_cast<Access>(i), static_cast<Access>(j), sync, waited, fenced});
        }
      }
    }
  }
}

TEST(LitmusGrid, OfGlobalMemoryAgreesWithTheTable) {
  Tally tally;
  for (int chain = 0; chain < kSyncs; ++chain) {
    const auto& row = kChains[chain];
    each_case(static_cast<Sync>(chain), [&](const Case& c) {
      const Between between{.waited = covers(kKinds[c.first], c.waited), .fenced = c.fenced};
      Verdict expected = verdict(kKinds[c.first], kKinds[c.second], row.chain, between);
      if (row.flag_races && expected == Verdict::clean) expected = Verdict::race;
      tally.add(name_of(c, row.chain.name), expected, [&](const SimulatorOptions& options) {
        flag = 0;
        const LaunchConfig config{
            .grid = {2}, .cluster = {row.in_cluster ? 2u : 1u}, .block = {32}, .shared_bytes = sizeof(Storage)};
        return test::simulate(
            config, [&](SharedMemory shared) { run_case(shared.as<Storage>(), c); }, options);
      });
    });
  }
  EXPECT_GE(tally.cases(), 600);
}

// ---- Launches: the first access in one kernel, the second in the next.

enum Order { in_stream, dependent_waits, dependent_does_not };
struct LaunchParams {
  const Case* c;
  Order order;
};
struct FirstKernel {
  using Params = LaunchParams;
  static void run(const Params& p, SharedMemory shared) {
    griddepcontrol_launch_dependents();
    if (thread_rank() != 0) return;
    Storage& s = shared.as<Storage>();
    prepare(s);
    first_side(s, *p.c);
    if (p.c->waited != complete) wait_for_end(s, p.c->first, source_read);
  }
};
struct SecondKernel {
  using Params = LaunchParams;
  static void run(const Params& p, SharedMemory shared) {
    if (thread_rank() != 0) return;
    Storage& s = shared.as<Storage>();
    prepare(s);
    if (p.order == dependent_waits) griddepcontrol_wait();
    issue(s, p.c->second);
    wait_for_end(s, p.c->second, complete);
  }
};

TEST(LitmusGrid, OfLaunchesAgreesWithTheTable) {
  Tally tally;
  for (const Order order : {in_stream, dependent_waits, dependent_does_not}) {
    each_case(none, [&](const Case& c) {
      // The end of a kernel completes and publishes everything, to every proxy; griddepcontrol.wait waits for it.
      Verdict expected = Verdict::clean;
      if (order == dependent_does_not) {
        expected =
            verdict(kKinds[c.first], kKinds[c.second],
                    {"dependent launch without a wait", false, "griddepcontrol.launch_dependents promises nothing"},
                    {.waited = c.waited == complete, .fenced = c.fenced});
        // Data that another kernel writes is not constant while both run, whatever the load.
        if (expected != Verdict::clean) expected = Verdict::dependency;
      }
      tally.add(name_of(c, order == in_stream         ? "stream order"
                           : order == dependent_waits ? "wait"
                                                      : "no wait"),
                expected, [&](const SimulatorOptions& options) {
                  const LaunchConfig config{.block = {32}, .shared_bytes = sizeof(Storage)};
                  LaunchConfig second = config;
                  second.dependent = order != in_stream;
                  const LaunchParams params{&c, order};
                  return Simulator(options).run_in_order({Simulator::call_of<FirstKernel>(config, params),
                                                          Simulator::call_of<SecondKernel>(second, params)});
                });
    });
  }
  EXPECT_GE(tally.cases(), 200);
}

}  // namespace
}  // namespace gantry

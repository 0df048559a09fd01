#include "barriers.hpp"

#include <algorithm>
#include <utility>

#include "grid.hpp"

namespace gantry::sim {

void BarrierFences::add(const Thread& thread) {
  if (thread.fences_sc) sc = joined(sc, thread.fences_sc);
  if (thread.fences_acq_rel) acq_rel = joined(acq_rel, thread.fences_acq_rel);
  if (thread.view.noted) noted = joined(noted, thread.view.noted);
}

void BarrierFences::reach(Thread& thread) const {
  thread.fences_sc = joined(thread.fences_sc, sc);
  thread.fences_acq_rel = joined(thread.fences_acq_rel, acq_rel);
  thread.view.noted = joined(thread.view.noted, noted);
}

namespace {

struct Lanes {
  bool some = false;     // have joined
  bool all = true;       // of those that have not returned
  bool meeting = false;  // another one waits for lanes of its warp: that is reported as such
};

Lanes joined_of(const Cta& cta, const NamedBarrier& barrier, std::size_t warp) {
  Lanes lanes;
  for (std::size_t t = 32 * warp; t < std::min(32 * warp + 32, cta.threads.size()); ++t) {
    lanes.some = lanes.some || barrier.joined[t];
    const Thread& thread = cta.threads[t];
    if (barrier.joined[t] || thread.state == Thread::State::exited) continue;
    lanes.all = false;
    lanes.meeting = lanes.meeting || (thread.state == Thread::State::blocked && thread.waiting.mask != 0);
  }
  return lanes;
}

// Arrivals, as the hardware counts them: a warp joins as a whole, once all of its lanes that have not returned have.
std::uint32_t arrivals(const Cta& cta, const NamedBarrier& barrier) {
  std::uint32_t count = 0;
  for (std::size_t warp = 0; 32 * warp < cta.threads.size(); ++warp) {
    const Lanes lanes = joined_of(cta, barrier, warp);
    if (lanes.some && lanes.all) count += 32;
  }
  return count;
}

bool all_came(const Cta& cta, const NamedBarrier& barrier) {
  if (barrier.arrived == 0) return false;
  if (barrier.whole_cta) return barrier.arrived >= cta.alive;
  // Warps are looked at one by one only where lanes that have come or returned, or that the last warp lacks, may do.
  const std::size_t absent = (cta.threads.size() + 31) / 32 * 32 - cta.alive;
  return barrier.arrived + absent >= barrier.expected && arrivals(cta, barrier) >= barrier.expected;
}

// Whoever joins knows that the turn before is over, or its arrival could be counted in that one.
void check_turn(const NamedBarrier& barrier, std::uint32_t id, SiteId site) {
  const Thread& thread = self();
  if (!grid().checking() || barrier.turns == 0 || thread.view.at(barrier.actor).seen >= barrier.turns) return;
  complain(
      "named-barrier-reuse", site,
      grid().checker().describe(thread.view.self) + " joined barrier " + std::to_string(id) +
          ", and nothing orders that after the barrier's last completion: its arrival could be counted in the turn "
          "before. Two groups, or two turns, use the same barrier.");
}

void complete_if_all(Cta& cta, std::size_t id) {
  NamedBarrier& barrier = cta.barriers[id];
  if (barrier.whole_cta) barrier.expected = cta.alive;
  if (!all_came(cta, barrier)) return;
  barrier.joined.reset();
  barrier.places.fill(0);
  ++barrier.turns;
  if (grid().checking()) {
    if (barrier.turns == 1) barrier.actor = cta.add_actor(~0u);
    barrier.clock.raise(barrier.actor, {.seen = barrier.turns});
  }
  Published done(barrier.clock.freeze());
  const BarrierFences fences = std::exchange(barrier.fences, {});
  barrier.result = std::exchange(barrier.votes, {});
  barrier.arrived = barrier.expected = 0;
  for (Thread* thread : std::exchange(barrier.waiting, {})) {
    done.acquire(thread->view);
    if (fences.any()) fences.reach(*thread);
    grid().wake(*thread);
  }
  grid().changed();
}

// The barriers are `.aligned`: the lanes of a warp come at the same place. `place` is where the first of them came, 0
// if none has; it is set, or what is wrong is said.
std::string said_of_place(SiteId& place, SiteId site) {
  if (place == 0) place = site;
  if (place == site) return {};
  return " at another place than the lanes of its warp that came at " + grid().sites().text(place) +
         ": all lanes of a warp come together.";
}

// Arriving at, or waiting for, a round of the cluster barrier.
void check_cluster_place(std::vector<ClusterPlace>& places, std::uint32_t round, SiteId site) {
  ClusterPlace& place = places[2 * (self().rank / 32) + round % 2];
  if (place.round != round) place = {.round = round};
  const std::string said = said_of_place(place.site, site);
  if (said.empty()) return;
  complain("cluster-barrier-divergent", site,
           grid().checker().describe(self().view.self) + " came to the cluster barrier" + said);
}

// Counts the running thread in; the barrier it joined, or null where the call makes no sense.
NamedBarrier* join(const BarrierUse& use, SiteId site) {
  const auto [id, threads, aligned] = use;
  Thread& thread = self();
  Cta& cta = *thread.cta;
  if (id >= static_cast<std::uint32_t>(grid().options().architecture.limits.named_barriers) || threads % 32 != 0) {
    accuse("named-barrier-misuse", site,
           "Barrier " + std::to_string(id) + " with " + std::to_string(threads) +
               " threads: there are barriers 0 to 15, and counts are multiples of 32.");
    return nullptr;
  }
  NamedBarrier& barrier = cta.barriers[id];
  const std::uint32_t expected = threads == 0 ? cta.alive : threads;
  if (barrier.arrived > 0 && barrier.expected != expected) {
    accuse("named-barrier-misuse", site,
           "Barrier " + std::to_string(id) + " was joined for " + std::to_string(expected) +
               " threads, while others joined it for " + std::to_string(barrier.expected) + " at " +
               grid().sites().text(barrier.first_site) + ".");
  }
  if (barrier.joined[thread.rank]) {
    complain("named-barrier-reuse", site,
             grid().checker().describe(thread.view.self) + " joined barrier " + std::to_string(id) +
                 " again before it was complete: two groups, or two turns, use the same barrier.");
  }
  check_turn(barrier, id, site);
  const std::string said = aligned ? said_of_place(barrier.places[thread.rank / 32], site) : "";
  if (!said.empty()) {
    complain("named-barrier-divergent", site,
             grid().checker().describe(thread.view.self) + " joined barrier " + std::to_string(id) + said);
  }
  barrier.joined.set(thread.rank);
  if (barrier.arrived == 0) barrier.first_site = site;
  barrier.expected = expected;
  barrier.whole_cta = threads == 0;
  ++barrier.arrived;
  release_into(barrier.clock, thread);
  barrier.fences.add(thread);
  return &barrier;
}

void complete_cluster_if_all(Cluster& cluster) {
  if (cluster.barrier.arrived == 0 || cluster.barrier.arrived < cluster.alive) return;
  cluster.barrier.arrived = 0;
  ++cluster.barrier.round;
  cluster.barrier.done = Published(cluster.barrier.clock.freeze());
  for (Thread* thread : std::exchange(cluster.barrier.waiting, {})) grid().wake(*thread);
  grid().changed();
}

}  // namespace

namespace {

// Joins and waits. The barrier, or null where the call makes no sense.
NamedBarrier* join_and_wait(const BarrierUse& use, SiteId site) {
  NamedBarrier* barrier = join(use, site);
  if (!barrier) return nullptr;
  Thread& thread = self();
  barrier->waiting.push_back(&thread);
  // The last to come frees all others and goes on itself once it is chosen again.
  thread.state = Thread::State::blocked;
  complete_if_all(*thread.cta, use.id);
  if (thread.state == Thread::State::blocked) {
    grid().block({.site = site, .barrier_id = static_cast<int>(use.id)});
  } else {
    grid().resume_later();
  }
  return barrier;
}

}  // namespace

void barrier_sync(const BarrierUse& use, Site site) {
  const Call call = enter_call(site, Operation::barrier_sync);
  if (!call.dropped()) join_and_wait(use, call.site);
}

void barrier_arrive(const BarrierUse& use, Site site) {
  const Call call = enter_call(site, Operation::barrier_arrive);
  if (call.dropped()) return;
  if (use.threads == 0) {
    accuse("named-barrier-misuse", call.site,
           "barrier.arrive on barrier " + std::to_string(use.id) + " does not say how many threads take part.");
    return;
  }
  if (join(use, call.site)) complete_if_all(*self().cta, use.id);
  grid().yield();
}

BarrierVotes barrier_reduce(const BarrierUse& use, bool value, Site site) {
  const Call call = enter_call(site, Operation::barrier_sync);
  if (use.id < self().cta->barriers.size()) {
    BarrierVotes& votes = self().cta->barriers[use.id].votes;
    votes.count += value ? 1 : 0;
    votes.any = votes.any || value;
    votes.all = votes.all && value;
    if (call.dropped()) return votes;  // without the barrier a thread has the votes that have come so far
  }
  const NamedBarrier* barrier = join_and_wait(use, call.site);
  return barrier ? barrier->result : BarrierVotes{};
}

void cluster_arrive(const ClusterBarrierUse& use, Site site) {
  const Call call = enter_call(site, Operation::cluster_arrive);
  if (call.dropped()) return;
  Thread& thread = self();
  Cluster& cluster = *thread.cta->cluster;
  if (thread.cluster_round > cluster.barrier.round) {
    complain("cluster-barrier-misuse", call.site,
             grid().checker().describe(thread.view.self) +
                 " arrived at the cluster barrier twice without waiting in between.");
    return;
  }
  thread.cluster_round = cluster.barrier.round + 1;
  if (use.aligned) check_cluster_place(thread.cta->cluster_arrivals, thread.cluster_round, call.site);
  ++cluster.barrier.arrived;
  if (use.semantics == Semantics::release) {
    release_into(cluster.barrier.clock, thread);
  } else if (grid().checking()) {
    cluster.barrier.clock.join(fenced_for(thread, Scope::cluster));
    cluster.barrier.clock.raise(thread.cta->start, {.seen = 1});
  }
  complete_cluster_if_all(cluster);
  grid().yield();
}

void cluster_wait(const ClusterBarrierUse& use, Site site) {
  const Call call = enter_call(site, Operation::cluster_wait);
  if (call.dropped()) return;
  Thread& thread = self();
  Cluster& cluster = *thread.cta->cluster;
  if (thread.cluster_round == 0) {
    complain("cluster-barrier-misuse", call.site,
             grid().checker().describe(thread.view.self) + " waited at the cluster barrier without having arrived.");
    return;
  }
  if (use.aligned) check_cluster_place(thread.cta->cluster_waits, thread.cluster_round, call.site);
  while (cluster.barrier.round < thread.cluster_round) {
    cluster.barrier.waiting.push_back(&thread);
    grid().block({.site = call.site});
  }
  thread.cluster_waited = thread.cluster_round;
  if (use.semantics == Semantics::acquire) cluster.barrier.done.acquire(thread.view);
}

void report_split_warps(const Cta& cta) {
  for (std::size_t id = 0; id < cta.barriers.size(); ++id) {
    const NamedBarrier& barrier = cta.barriers[id];
    for (std::size_t warp = 0; barrier.arrived > 0 && 32 * warp < cta.threads.size(); ++warp) {
      const Lanes lanes = joined_of(cta, barrier, warp);
      if (!lanes.some || lanes.all || lanes.meeting) continue;
      complain("named-barrier-divergent", barrier.first_site,
               "Barrier " + std::to_string(id) + " was joined by only some lanes of warp " + std::to_string(warp) +
                   " of " + grid().cta_text(cta.index) + ": all lanes of a warp join together.");
      break;
    }
  }
}

void thread_left_barriers(Thread& thread) {
  // Whoever has arrived at the cluster barrier may leave: the others do not wait for it a second time.
  ClusterBarrier& cluster = thread.cta->cluster->barrier;
  if (thread.cluster_round > cluster.round) --cluster.arrived;
  for (std::size_t id = 0; id < thread.cta->barriers.size(); ++id) {
    if (thread.cta->barriers[id].arrived > 0) complete_if_all(*thread.cta, id);
  }
  complete_cluster_if_all(*thread.cta->cluster);
}

}  // namespace gantry::sim

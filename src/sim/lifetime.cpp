#include "lifetime.hpp"

#include <algorithm>

#include "grid.hpp"

namespace gantry::sim {
namespace {

std::uint32_t key_of(const Thread& thread) { return thread.cta->rank << 16 | thread.rank; }

void report_use(const RemoteUse& use, const std::string& what) {
  Grid& g = grid();
  g.findings().add("cluster-peer-gone", use.site, 0,
                   g.checker().describe(use.actor) + " " + what + " at " + g.sites().text(use.site) + " (" +
                       to_text(g.sites().operation(use.site)) +
                       "), and nothing makes that CTA wait for it before it ends: its shared memory may be gone. Both "
                       "wait at the cluster barrier after the last use.");
}

void check_arrivals(const Cta& cta, const ClockRef& known) {
  for (const auto& [offset, barrier] : cta.mbarriers) {
    for (const auto& [phase, use] : barrier.remote_arrivals) {
      if (barrier.last_wait >= phase || (known && known->at(use.actor).seen >= use.epoch) ||
          cta.lifetime.rounds_waited > use.round) {
        continue;
      }
      const std::uint64_t address = reinterpret_cast<std::uint64_t>(cta.visible) + offset;
      report_use(use, "arrived on " + grid().names().describe_mbarrier(reinterpret_cast<const void*>(address)));
    }
  }
}

}  // namespace

void note_remote_use(Cta& cta, SiteId site) {
  const Thread& thread = self();
  if (!grid().checking()) return;
  if (thread.view.at(cta.start).seen == 0) {
    complain(
        "cluster-peer-not-started", site,
        grid().checker().describe(thread.view.self) + " accessed shared memory of " + grid().cta_text(cta.index) +
            " of the cluster, and nothing tells that this CTA has started: all wait at the cluster barrier first.");
  }
  cta.lifetime.uses[key_of(thread)] = {thread.view.self, thread.view.own.seen, thread.cluster_round, site};
}

void note_remote_arrival(Mbarrier& barrier, SiteId site) {
  const Thread& thread = self();
  if (!grid().checking() || barrier.cta == thread.cta) return;
  barrier.remote_arrivals[barrier.phase + 1] = {thread.view.self, thread.view.own.seen, thread.cluster_round, site};
  // What has been waited for is over; what is older is too, or was reported.
  while (!barrier.remote_arrivals.empty() && barrier.remote_arrivals.begin()->first <= barrier.last_wait) {
    barrier.remote_arrivals.erase(barrier.remote_arrivals.begin());
  }
}

void note_return(Thread& thread) {
  if (!grid().checking()) return;
  Lifetime& lifetime = thread.cta->lifetime;
  if (thread.cta->cluster->ctas.size() > 1) {
    lifetime.known_at_end.join(thread.view);
    lifetime.rounds_waited = std::max(lifetime.rounds_waited, thread.cluster_waited);
  }
  Launch& launch = *thread.cta->launch;
  if (grid().launches().has_next(launch)) launch.known_at_end.join(thread.view);
}

void check_lifetime_at_end(Cta& cta) {
  Grid& g = grid();
  if (!g.checking() || cta.cluster->ctas.size() == 1) return;
  const ClockRef known = cta.lifetime.known_at_end.freeze();
  for (const auto& [key, use] : cta.lifetime.uses) {
    const bool over = known && known->at(use.actor).reads_over() >= use.epoch;
    if (!over && cta.lifetime.rounds_waited <= use.round)
      report_use(use, "uses shared memory of " + g.cta_text(cta.index) + " of the cluster");
  }
  check_arrivals(cta, known);
  for (const std::uint32_t number : cta.lifetime.sources) {
    const AsyncOp& op = g.checker().op(number);
    if (op.epoch != 0 && known && known->at(op.actor).seen >= op.epoch) continue;
    g.findings().add(
        "exit-with-copies-in-flight", op.site, 0,
        g.cta_text(cta.index) + " ended, and none of its threads knew that " +
            g.checker().describe_op(op.site, op.issuer) +
            " had read its shared memory: the CTA that receives the bytes waits for them and then waits for "
            "this one at the cluster barrier.");
  }
}

}  // namespace gantry::sim

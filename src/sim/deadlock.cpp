#include "deadlock.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "grid.hpp"

namespace gantry::sim {
namespace {

// "threads 128..255" for runs of consecutive ranks.
std::string ranges(const std::vector<std::uint32_t>& ranks) {
  std::string text = ranks.size() == 1 ? "thread " : "threads ";
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t j = i;
    while (j + 1 < ranks.size() && ranks[j + 1] == ranks[j] + 1) ++j;
    if (i > 0) text += ", ";
    text += std::to_string(ranks[i]);
    if (j > i) text += ".." + std::to_string(ranks[j]);
    i = j + 1;
  }
  return text;
}

std::string waits_for(Grid& g, const Thread& thread) {
  // A loop that pauses between two looks waits for what it looks at.
  const bool pauses = g.sites().operation(thread.waiting.site) == Operation::pause;
  const Waiting& w = pauses ? thread.last_look : thread.waiting;
  if (w.object) {
    std::string text = g.names().describe_mbarrier(w.object);
    const Mbarrier* barrier = find_mbarrier(w.object);
    if (!barrier || !barrier->live) return text + ", which was not initialised";
    text += " to complete the phase of parity " + std::to_string(w.parity) + ": it is in phase " +
            std::to_string(barrier->phase) + " and ";
    text += barrier->pending == 0 ? "has all its arrivals"
                                  : "lacks " + std::to_string(barrier->pending) + " of " +
                                        std::to_string(barrier->expected) + " arrivals";
    if (barrier->tx != 0 || barrier->expected_bytes != 0) {
      text += ", " + std::to_string(barrier->expected_bytes) + " bytes were expected and " +
              std::to_string(barrier->received_bytes) + " came";
    }
    return text;
  }
  if (w.polled) {
    std::uint64_t value = 0;
    std::memcpy(&value, g.launches().data(w.polled), std::min<std::size_t>(w.polled_bytes, sizeof value));
    return g.names().describe_bytes(reinterpret_cast<std::uint64_t>(w.polled), w.polled_bytes) + ", which holds " +
           std::to_string(value);
  }
  if (w.barrier_id >= 0) {
    const NamedBarrier& barrier = thread.cta->barriers[static_cast<std::size_t>(w.barrier_id)];
    return "named barrier " + std::to_string(w.barrier_id) + ": " + std::to_string(barrier.arrived) + " of " +
           std::to_string(barrier.expected) + " threads have come";
  }
  if (w.mask != 0) return missing_lanes(*thread.cta, thread.rank / 32, w.mask);
  if (g.sites().operation(w.site) == Operation::cluster_wait) {
    const Cluster& cluster = *thread.cta->cluster;
    return "the cluster barrier: " + std::to_string(cluster.barrier.arrived) + " of " + std::to_string(cluster.alive) +
           " threads have arrived";
  }
  if (g.sites().operation(w.site) == Operation::wgmma_wait_group) {
    const Warpgroup& group = thread.cta->warpgroups[thread.rank / kWarpgroupThreads];
    const int brought = group.products.empty() ? 0 : group.products.front().brought;
    return "a wgmma that " + std::to_string(brought) + " of 128 threads have issued";
  }
  if (g.sites().operation(w.site) == Operation::setmaxnreg) return waits_for_registers(thread);
  if (g.sites().operation(w.site) == Operation::griddepcontrol_wait) return "the launch before it to finish";
  return "something that does not come";
}

// Threads that are at the same place, and wait for the same thing, by CTA and by what is said of them.
struct WaitingGroups {
  std::map<std::pair<std::uint32_t, std::string>, std::vector<std::uint32_t>> ranks;
  SiteId first = 0;

  void add(Grid& grid, const Cta& cta) {
    for (const Thread& thread : cta.threads) {
      if (thread.state != Thread::State::blocked && thread.state != Thread::State::polling) continue;
      if (first == 0) first = thread.waiting.site;
      std::string text = std::string(" at ") + grid.sites().text(thread.waiting.site) + " (" +
                         to_text(grid.sites().operation(thread.waiting.site)) + ") for " + waits_for(grid, thread) +
                         ".";
      if (*thread.role != '\0') text.insert(0, std::string(" as ") + thread.role);
      ranks[{cta.index, text}].push_back(thread.rank);
    }
  }

  // Those that could go on.
  void add_running(Grid& grid, const Cta& cta) {
    for (const Thread& thread : cta.threads) {
      if (thread.state != Thread::State::ready && thread.state != Thread::State::running) continue;
      if (first == 0) first = thread.last_site;
      ranks[{cta.index, std::string(" at ") + grid.sites().text(thread.last_site) + " (" +
                            to_text(grid.sites().operation(thread.last_site)) + ")."}]
          .push_back(thread.rank);
    }
  }

  // A line for each group, up to eight.
  std::string text(const Grid& grid, const char* one_does, const char* many_do) const {
    std::string out;
    int lines = 0;
    for (const auto& [key, group] : ranks) {
      if (++lines > 8) {
        out += "\n  ... and " + std::to_string(ranks.size() - 8) + " more groups of threads.";
        break;
      }
      out += "\n  " + grid.cta_text(key.first) + ", " + ranges(group) + (group.size() == 1 ? one_does : many_do) +
             key.second;
    }
    return out;
  }
};

}  // namespace

void report_deadlock(Grid& g) {
  WaitingGroups waiting;
  g.launches().each_cta([&](Cta& cta) { waiting.add(g, cta); });
  // Lanes that went different ways, or a barrier with every arrival and the wrong bytes, explain the rest.
  g.launches().each_cta([&](Cta& cta) {
    report_diverged(cta);
    report_split_warps(cta);
    for (const auto& [offset, barrier] : cta.mbarriers) {
      if (!barrier.live || barrier.tx == 0 || barrier.pending != 0 || barrier.waiters.empty()) continue;
      g.findings().add("mbarrier-byte-count", barrier.waiters.front()->waiting.site, 0,
                       g.names().describe_mbarrier(cta.visible + offset) + " has all its arrivals, but " +
                           std::to_string(barrier.expected_bytes) + " bytes were expected in this phase and " +
                           std::to_string(barrier.received_bytes) +
                           " came: the byte count given to expect_tx must be the sum of the boxes.");
    }
  });
  const std::string text = !g.polling() ? "No thread can go on and no operation is in flight."
                                        : "Threads poll for something that does not come, and nothing else can go on.";
  g.findings().add(!g.polling() ? "deadlock" : "livelock", waiting.first, 0, text + waiting.text(g, " waits", " wait"));
}

void report_too_long(Grid& g) {
  WaitingGroups running, waiting;
  g.launches().each_cta([&](Cta& cta) {
    running.add_running(g, cta);
    waiting.add(g, cta);
  });
  g.findings().add("livelock", running.first != 0 ? running.first : waiting.first, 0,
                   "The kernel was still running after " + std::to_string(g.step()) +
                       " steps, which is more than SimulatorOptions::max_steps." + running.text(g, " is", " are") +
                       waiting.text(g, " waits", " wait"));
}

}  // namespace gantry::sim

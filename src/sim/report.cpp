// Deadlocks told, and reports as text and JSON.
#include <algorithm>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include <gantry/arch/launch_check.hpp>

#include "grid.hpp"

namespace gantry {
namespace sim {
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
  const Waiting& w = thread.waiting;
  if (w.object) {
    std::string text = g.checker.describe_bytes(reinterpret_cast<std::uint64_t>(w.object), 8);
    const Mbarrier* barrier = find_mbarrier(w.object);
    if (!barrier || !barrier->live) return text + ", which is not an initialised mbarrier";
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
  if (w.barrier_id >= 0) {
    const NamedBarrier& barrier = thread.cta->barriers[static_cast<std::size_t>(w.barrier_id)];
    return "named barrier " + std::to_string(w.barrier_id) + ": " + std::to_string(barrier.arrived) + " of " +
           std::to_string(barrier.expected) + " threads have come";
  }
  if (w.mask != 0) return missing_lanes(*thread.cta, thread.rank / 32, w.mask);
  if (g.sites.operation(w.site) == Operation::cluster_wait) {
    const Cluster& cluster = *thread.cta->cluster;
    return "the cluster barrier: " + std::to_string(cluster.arrived) + " of " + std::to_string(cluster.alive) +
           " threads have arrived";
  }
  if (g.sites.operation(w.site) == Operation::wgmma_wait_group) {
    const Warpgroup& group = thread.cta->warpgroups[thread.rank / kWarpgroupThreads];
    const int brought = group.products.empty() ? 0 : group.products.front().brought;
    return "a wgmma that " + std::to_string(brought) + " of 128 threads have issued";
  }
  if (g.sites.operation(w.site) == Operation::setmaxnreg) return waits_for_registers(thread);
  if (g.sites.operation(w.site) == Operation::griddepcontrol_wait) return "the launch before it to finish";
  return "something that does not come";
}

// Threads that wait at the same place for the same thing, by CTA and by what is said of them.
struct WaitingGroups {
  std::map<std::pair<std::uint32_t, std::string>, std::vector<std::uint32_t>> ranks;
  SiteId first = 0;

  void add(Grid& grid, const Cta& cta) {
    for (const Thread& thread : cta.threads) {
      if (thread.state != Thread::State::blocked && thread.state != Thread::State::polling) continue;
      if (first == 0) first = thread.waiting.site;
      std::string text = std::string(" at ") + grid.sites.text(thread.waiting.site) + " (" +
                         to_text(grid.sites.operation(thread.waiting.site)) + ") for " + waits_for(grid, thread) + ".";
      if (*thread.role != '\0') text.insert(0, std::string(" as ") + thread.role);
      ranks[{cta.index, text}].push_back(thread.rank);
    }
  }
};

}  // namespace

void Grid::report_deadlock() {
  WaitingGroups waiting;
  each_cta([&](Cta& cta) { waiting.add(*this, cta); });
  // Lanes that went different ways, or a barrier with every arrival and the wrong bytes, explain the rest.
  each_cta([&](Cta& cta) {
    report_diverged(cta);
    for (const auto& [offset, barrier] : cta.mbarriers) {
      if (!barrier.live || barrier.tx == 0 || barrier.pending != 0 || barrier.waiters.empty()) continue;
      checker.find("mbarrier-byte-count", barrier.waiters.front()->waiting.site, 0,
                   checker.describe_bytes(reinterpret_cast<std::uint64_t>(cta.window) + offset, 8) +
                       " has all its arrivals, but " + std::to_string(barrier.expected_bytes) +
                       " bytes were expected in this phase and " + std::to_string(barrier.received_bytes) +
                       " came: the byte count given to expect_tx must be the sum of the boxes.");
    }
  });
  std::string text = pollers_.empty() ? "No thread can go on and no operation is in flight."
                                      : "Threads poll for something that does not come, and nothing else can go on.";
  int lines = 0;
  for (const auto& [key, ranks] : waiting.ranks) {
    if (++lines > 8) {
      text += "\n  ... and " + std::to_string(waiting.ranks.size() - 8) + " more groups of threads.";
      break;
    }
    text += "\n  " + cta_text(key.first) + ", " + ranges(ranks) + (ranks.size() == 1 ? " waits" : " wait") + key.second;
  }
  checker.find(pollers_.empty() ? "deadlock" : "livelock", waiting.first, 0, text);
}

}  // namespace sim

namespace {

const char* to_text(Schedule schedule) {
  switch (schedule) {
    case Schedule::round_robin:
      return "round_robin";
    case Schedule::random:
      return "random";
    case Schedule::pct:
      return "pct";
    case Schedule::replay:
      return "replay";
  }
  return "unknown";
}

const char* to_text(Latency latency) {
  switch (latency) {
    case Latency::eager:
      return "eager";
    case Latency::random:
      return "random";
    case Latency::late:
      return "late";
    case Latency::mixed:
      return "mixed";
  }
  return "unknown";
}

}  // namespace

bool Report::has(const std::string& rule) const {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) { return f.rule == rule; });
}

std::string Report::replay() const {
  if (command.empty()) {
    return ".seed = " + std::to_string(seed) + ", .schedule = Schedule::" + to_text(schedule) +
           ", .latency = Latency::" + to_text(latency);
  }
  return command + " --seed " + std::to_string(seed) + " --schedule " + to_text(schedule) + " --latency " +
         to_text(latency);
}

std::string Report::text() const {
  std::string out;
  for (const Finding& finding : findings) {
    out += kernel + ": " + finding.rule + ": " + finding.text;
    if (finding.count > 1) out += " (" + std::to_string(finding.count) + " times)";
    out += "\n";
  }
  out += kernel + ": ";
  if (clean()) {
    out += "no finding in " + std::to_string(steps) + " steps; that is evidence, not proof";
  } else if (findings.empty()) {
    out += "stopped before its end";
  } else {
    out += std::to_string(findings.size()) + (findings.size() == 1 ? " finding" : " findings");
  }
  return out + "; replay with " + replay() + ".\n";
}

std::string Report::json() const {
  nlohmann::json out = {{"kernel", kernel},
                        {"seed", seed},
                        {"schedule", to_text(schedule)},
                        {"latency", to_text(latency)},
                        {"completed", completed},
                        {"steps", steps},
                        {"replay", replay()},
                        {"findings", nlohmann::json::array()}};
  for (const Finding& finding : findings) {
    out["findings"].push_back({{"rule", finding.rule},
                               {"text", finding.text},
                               {"file", finding.file},
                               {"line", finding.line},
                               {"count", finding.count}});
  }
  return out.dump(2);
}

Report Simulator::run_in_order(const std::vector<Call>& calls) const {
  std::vector<std::string> refused;
  std::uint64_t ctas = 0;
  for (const Call& call : calls) {
    for (std::string& problem : problems(call.config)) refused.push_back(std::move(problem));
    ctas += call.config.grid.count();
  }
  if (calls.empty()) refused.emplace_back("no kernel was given to run.");
  if (ctas >= sim::kMaxCtas) {
    refused.push_back(std::string(calls.back().config.name) + ": the simulated machine follows up to " +
                      std::to_string(sim::kMaxCtas) + " CTAs; " + std::to_string(ctas) + " were asked for.");
  }
  if (!refused.empty()) {
    Report report;
    if (!calls.empty()) report.kernel = calls.front().config.name;
    for (std::string& text : refused) {
      report.findings.push_back({.rule = "launch-refused", .text = std::move(text), .file = {}});
    }
    return report;
  }
  return sim::Grid(calls, options_).run();
}

Report Simulator::run(const LaunchConfig& config, Entry entry, const void* params) const {
  return run_in_order({{config, entry, params}});
}

}  // namespace gantry

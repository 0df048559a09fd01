#include "interpret.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <gantry/arch/detail/machine.hpp>
#include <gantry/arch/detail/machine_cp_async.hpp>

namespace gantry::fuzz {
namespace {

using sim::CopyKind;
using sim::Space;

constexpr const char* kFile = "fuzz";

// One thread's walk through the program. An event is written down at the moment of its effect: what lets others run
// comes before it in every operation that has one.
class Walker {
 public:
  Walker(const Program& program, std::byte* shared, std::byte* global, Log& log)
      : program_(program), shared_(shared), global_(global), log_(log) {
    const sim::Identity& id = sim::identity();
    cta_ = static_cast<int>(id.ctaid[0]);
    rank_ = id.thread_rank;
    const auto* found = std::find(std::begin(kAgentRanks), std::end(kAgentRanks), rank_);
    if (found != std::end(kAgentRanks)) agent_ = cta_ * kAgentsPerCta + static_cast<int>(found - kAgentRanks);
  }

  void prepare() {
    const Site site{kFile, 0};
    for (std::size_t i = rank_; i < program_.locations.size(); i += 64) {
      if (program_.locations[i].cta != cta_) continue;
      const std::uint64_t zero[2] = {};
      for (std::uint32_t at = 0; at < kBytes; at += 16) {
        sim::store(shared_ + i * kBytes + at, zero, 16, {.space = Space::shared}, site);
      }
    }
    sim::fence(sim::Fence::proxy_async_shared, Semantics::weak, Scope::cta, site);
    for (std::size_t i = 0; rank_ == 0 && i < program_.barriers.size(); ++i) {
      if (program_.barriers[i].cta == cta_)
        sim::mbarrier_init(barrier_here(static_cast<int>(i)), program_.barriers[i].count, site);
    }
    if (rank_ == 0) sim::fence(sim::Fence::mbarrier_init, Semantics::release, Scope::cluster, site);
    sim::barrier_sync({}, site);
    if (!program_.cluster) return;
    sim::cluster_arrive({.semantics = Semantics::release}, site);
    sim::cluster_wait({.semantics = Semantics::acquire}, site);
  }

  void walk() {
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      const Step& step = program_.steps[i];
      if (step.left_out) continue;
      const std::uint32_t warp = static_cast<std::uint32_t>(cta_ * kWarps) + rank_ / 32;
      const bool takes_part = step.warp_wide() ? (step.warps >> warp & 1) != 0 : step.agent == agent_;
      if (takes_part) execute(step, static_cast<int>(i));
    }
  }

 private:
  std::uint64_t* barrier_here(int barrier) {
    return reinterpret_cast<std::uint64_t*>(shared_ + program_.locations.size() * kBytes) + barrier;
  }
  std::uint64_t* barrier_at(const Step& step, Site site) {
    const int cta = program_.barriers[static_cast<std::size_t>(step.barrier)].cta;
    std::uint64_t* here = barrier_here(step.barrier);
    return cta == cta_ ? here
                       : static_cast<std::uint64_t*>(sim::map_shared_rank(here, static_cast<std::uint32_t>(cta), site));
  }
  struct Place {
    std::byte* address;
    Space space;
  };
  Place place(int location, std::uint32_t offset, Site site) {
    const Location& where = program_.locations[static_cast<std::size_t>(location)];
    const std::size_t at = static_cast<std::size_t>(location) * kBytes + offset;
    if (!where.shared()) return {global_ + at, Space::global};
    if (where.cta == cta_) return {shared_ + at, Space::shared};
    return {static_cast<std::byte*>(sim::map_shared_rank(shared_ + at, static_cast<std::uint32_t>(where.cta), site)),
            Space::cluster};
  }

  void note(int step, std::uint32_t value = 0, bool begins = false) {
    if (agent_ >= 0) log_.push_back({step, agent_, begins, value});
  }

  void access(const Step& step, int number, Site site) {
    const Place at = place(step.location, step.offset, site);
    const sim::Access how{.space = at.space, .semantics = step.semantics, .scope = step.scope};
    std::array<std::byte, 16> value{};
    const std::uint32_t one = 1;
    if (step.op == Op::load) {
      sim::load(value.data(), at.address, step.bytes, how, site);
    } else if (step.op == Op::store) {
      sim::store(at.address, value.data(), step.bytes, how, site);
    } else {
      sim::atomic({.target = at.address, .op = sim::AtomicOp::add, .element = sim::Element::u32, .value = &one}, how,
                  site);
    }
    note(number);
  }

  void flag(const Step& step, int number, Site site) {
    const Place at = place(step.location, 0, site);
    const sim::Access how{.space = at.space, .semantics = step.semantics, .scope = step.scope};
    if (step.op == Op::set_flag) {
      sim::store(at.address, &step.value, 4, how, site);
      note(number);
      return;
    }
    std::uint32_t seen = 0;
    if (step.op == Op::join_flag) {
      sim::atomic({.target = at.address,
                   .op = sim::AtomicOp::or_,
                   .element = sim::Element::u32,
                   .value = &step.value,
                   .old = &seen},
                  how, site);
      note(number, seen);
      return;
    }
    do {
      sim::load(&seen, at.address, 4, how, site);
      note(number, seen);
    } while ((seen & step.value) != step.value);
  }

  void copy(const Step& step, int number, Site site) {
    const Place in_shared = place(step.location, step.offset, site), in_global = place(step.other, step.offset, site);
    if (step.op == Op::cp_async) {
      for (std::uint32_t at = 0; at < step.bytes; at += 16) {
        sim::cp_async({in_shared.address + at, in_global.address + at, 16, 16}, site);
      }
    } else if (step.op == Op::bulk_load) {
      sim::bulk_copy({.kind = CopyKind::load,
                      .destination = in_shared.address,
                      .source = in_global.address,
                      .bytes = step.bytes,
                      .barrier = barrier_at(step, site)},
                     site);
    } else {
      sim::bulk_copy({.kind = step.op == Op::bulk_store ? CopyKind::store : CopyKind::reduce,
                      .to = Space::global,
                      .from = Space::shared,
                      .destination = in_global.address,
                      .source = in_shared.address,
                      .bytes = step.bytes,
                      .element = sim::Element::u32},
                     site);
    }
    note(number);
  }

  void meet(const Step& step, int number, Site site) {
    note(number, 0, true);
    if (step.op == Op::syncwarp) {
      std::uint64_t values[32];
      sim::warp_exchange({.mask = ~0u, .ordered = true, .operation = "syncwarp"}, values, site);
    } else if (step.op == Op::named_barrier) {
      sim::barrier_sync({.id = step.value, .threads = 64}, site);
    } else {
      sim::cluster_arrive({.semantics = step.semantics}, site);
      sim::cluster_wait({.semantics = Semantics::acquire}, site);
    }
    note(number);
  }

  void execute(const Step& step, int number) {
    const Site site{kFile, line_of(number)};
    switch (step.op) {
      case Op::load:
      case Op::store:
      case Op::update:
        return access(step, number, site);
      case Op::set_flag:
      case Op::join_flag:
      case Op::wait_flag:
        return flag(step, number, site);
      case Op::bulk_load:
      case Op::bulk_store:
      case Op::bulk_reduce:
      case Op::cp_async:
        return copy(step, number, site);
      case Op::named_barrier:
      case Op::cluster_barrier:
      case Op::syncwarp:
        return meet(step, number, site);
      case Op::fence:
        sim::fence(sim::Fence::thread, step.semantics, step.scope, site);
        break;
      case Op::proxy_fence:
        sim::fence(step.all_spaces     ? sim::Fence::proxy_async
                   : step.shared_space ? sim::Fence::proxy_async_shared
                                       : sim::Fence::proxy_async_global,
                   Semantics::weak, Scope::cta, site);
        break;
      case Op::arrive:
        sim::mbarrier_arrive({.barrier = barrier_at(step, site),
                              .expects = step.bytes > 0,
                              .bytes = step.bytes,
                              .semantics = step.semantics,
                              .scope = step.scope,
                              .space = Space::cluster},
                             site);
        break;
      case Op::wait:
        sim::mbarrier_wait({.barrier = barrier_here(step.barrier),
                            .parity = step.phase & 1,
                            .semantics = step.semantics,
                            .scope = step.scope},
                           site);
        break;
      case Op::remote_store: {
        const std::uint32_t value = 3;
        sim::remote_store({place(step.location, step.offset, site).address, &value, 4, barrier_at(step, site)}, site);
        break;
      }
      case Op::commit:
        sim::bulk_commit_group(site);
        break;
      case Op::wait_group:
        sim::bulk_wait_group(step.allowed, step.read_only, site);
        break;
      case Op::cp_commit:
        sim::cp_async_commit_group(site);
        break;
      case Op::cp_wait:
        step.essential ? sim::cp_async_wait_all(site) : sim::cp_async_wait_group(step.allowed, site);
        break;
      case Op::cp_arrive:
        sim::cp_async_mbarrier_arrive(barrier_here(step.barrier), false, site);
        break;
    }
    note(number);
  }

  const Program& program_;
  std::byte* shared_;
  std::byte* global_;
  Log& log_;
  int cta_ = 0, agent_ = -1;
  std::uint32_t rank_ = 0;
};

struct Params {
  const Program* program;
  std::byte* global;
  Log* log;
};

// The numbers behind "fuzz:" in a text.
std::vector<int> lines_in(const std::string& text) {
  std::vector<int> lines;
  const std::string mark = std::string(kFile) + ":";
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    lines.push_back(std::atoi(text.c_str() + at + mark.size()));
  }
  return lines;
}

}  // namespace

Outcome interpret(const Program& program, const SimulatorOptions& options) {
  std::vector<std::array<std::uint64_t, 2>> memory(program.locations.size() * kBytes / 16 + 1);
  Outcome outcome;
  Params params{&program, reinterpret_cast<std::byte*>(memory.data()), &outcome.log};
  const auto count = static_cast<std::uint32_t>(program.ctas);
  const auto bytes = static_cast<std::uint32_t>(program.locations.size() * kBytes + program.barriers.size() * 8);
  outcome.report = Simulator(options).run(
      {.grid = {count},
       .cluster = {program.cluster ? count : 1},
       .block = {32 * kWarps},
       .shared_bytes = bytes,
       .name = "fuzz"},
      [](const void* given, SharedMemory shared) {
        const Params& p = *static_cast<const Params*>(given);
        Walker walker(*p.program, &shared.as<std::byte>(), p.global, *p.log);
        walker.prepare();
        walker.walk();
      },
      &params);
  return outcome;
}

std::set<Pair> pairs_of(const Report& report, const Program& program) {
  constexpr std::array kRaces{"shared-race",
                              "global-race",
                              "tma-data-early",
                              "store-source-reused",
                              "bulk-result-early",
                              "cp-async-data-early",
                              "cp-async-source-reused",
                              "slot-reloaded-early",
                              "unsynchronised-async-access"};
  std::set<Pair> pairs;
  const auto add = [&](const Finding& finding, Fault fault) {
    const std::vector<int> lines = lines_in(finding.text);
    if (lines.size() < 2) return;
    // A copy touches two locations; the one that the two operations share is meant.
    const Step& later = program.steps[static_cast<std::size_t>(lines[0] - 1)];
    const Step& earlier = program.steps[static_cast<std::size_t>(lines[1] - 1)];
    const bool first = later.location == earlier.location || later.location == earlier.other;
    pairs.insert({first ? later.location : later.other, lines[1], lines[0], fault});
  };
  for (const Finding& finding : report.findings) {
    if (std::find(kRaces.begin(), kRaces.end(), finding.rule) != kRaces.end()) add(finding, Fault::race);
    if (finding.rule.starts_with("proxy-fence-missing")) add(finding, Fault::proxy);
  }
  for (const Finding& note : report.notes) {
    if (note.rule == "fence-before-barrier") add(note, Fault::race);
  }
  return pairs;
}

bool derailed(const Report& report) {
  constexpr std::array kRules{"mbarrier-over-arrival", "mbarrier-phase-overrun", "mbarrier-byte-count", "deadlock",
                              "livelock"};
  return std::any_of(kRules.begin(), kRules.end(), [&](const char* rule) { return report.has(rule); });
}

}  // namespace gantry::fuzz

// Leaving out one synchronising call after another, to see whether the checker objects.
#include <utility>

#include <gantry/arch/mutation_sweep.hpp>

namespace gantry {
namespace {

std::vector<MutationKind> kinds_for(const SiteUse& site, bool orderings) {
  std::vector<MutationKind> kinds{MutationKind::drop};
  if (site.operation.find("expect_tx") != std::string::npos) {
    kinds.push_back(MutationKind::more_bytes);
    kinds.push_back(MutationKind::fewer_bytes);
  }
  if (site.operation == "mbarrier wait") kinds.push_back(MutationKind::flip_parity);
  if (orderings && (site.operation == "mbarrier wait" || site.operation == "mbarrier.arrive")) {
    kinds.push_back(MutationKind::relax);
  }
  return kinds;
}

const char* to_text(MutationKind kind) {
  switch (kind) {
    case MutationKind::none:
      return "unchanged";
    case MutationKind::drop:
      return "dropped";
    case MutationKind::more_bytes:
      return "16 bytes more";
    case MutationKind::fewer_bytes:
      return "16 bytes fewer";
    case MutationKind::flip_parity:
      return "parity flipped";
    case MutationKind::relax:
      return "without its ordering";
  }
  return "changed";
}

}  // namespace

SweepReport mutation_sweep(const SimulatorOptions& options, int seeds,
                           const std::function<Report(const SimulatorOptions&)>& run, bool orderings) {
  SweepReport sweep;
  SimulatorOptions unchanged = options;
  unchanged.mutation = {};
  const Report original = run(unchanged);
  sweep.original_clean = original.clean();
  for (const SiteUse& site : original.sites) {
    for (const MutationKind kind : kinds_for(site, orderings)) {
      SweepEntry entry{.site = site, .kind = kind};
      for (int seed = 0; seed < seeds && entry.rule.empty(); ++seed) {
        SimulatorOptions mutated = options;
        mutated.seed = options.seed + static_cast<std::uint64_t>(seed);
        mutated.mutation = {kind, site.file, site.line, site.operation};
        const Report report = run(mutated);
        ++entry.seeds;
        if (!report.findings.empty()) {
          entry.rule = report.findings.front().rule;
          entry.text = report.findings.front().text;
        } else if (!report.completed) {
          entry.rule = "stopped";
        }
      }
      sweep.entries.push_back(std::move(entry));
    }
  }
  return sweep;
}

int SweepReport::detected() const {
  int count = 0;
  for (const SweepEntry& entry : entries) count += entry.detected() ? 1 : 0;
  return count;
}

std::string SweepReport::text() const {
  std::string out;
  if (!original_clean) out += "The kernel has findings of its own; what follows says little.\n";
  for (const SweepEntry& entry : entries) {
    out += entry.site.file + ":" + std::to_string(entry.site.line) + " " + entry.site.operation + " " +
           to_text(entry.kind) + ": ";
    out += entry.detected()
               ? entry.rule + " after " + std::to_string(entry.seeds) + (entry.seeds == 1 ? " seed" : " seeds")
               : "not shown to be needed in " + std::to_string(entry.seeds) + " seeds";
    out += "\n";
  }
  out += std::to_string(detected()) + " of " + std::to_string(entries.size()) + " changes detected.\n";
  return out;
}

}  // namespace gantry

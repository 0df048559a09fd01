#include "gemm/choice.hpp"

#include <atomic>

#include <fmt/format.h>

#include <gantry/gemm/choice_text.hpp>
#include <gantry/gemm/grouped.hpp>
#include <gantry/runtime/printable.hpp>

namespace gantry::tool {

namespace {

// Once per process: a command may choose for many GEMMs.
void warn_of_unread_lines(const TuningFile& tuning) {
  static std::atomic<bool> said = false;
  const Status unread = unread_lines(tuning);
  if (unread || said.exchange(true)) return;
  fmt::print(stderr, "gantry: the tuning file {} cannot be read in full: {}\n", runtime::one_line(tuning_path()),
             unread.describe());
}

}  // namespace

ExpectedGroups expected_of(const AskedGemm& asked) { return {asked.groups, asked.gemms}; }

GemmWorkload workload_of(const AskedGemm& asked) {
  GemmWorkload w = workload_of(asked.options);
  const GemmExtents e = typical_extents(asked.options.groups, {asked.m, asked.n, asked.k, asked.batch});
  w.m = e.m;
  w.n = e.n;
  w.k = e.k;
  w.batch = e.batch;
  w.expected = expected_of(asked);
  return w;
}

std::vector<GemmDesign> candidates_for(const AskedGemm& asked) {
  runtime::GemmChooser chooser(asked.options, asked.expression, asked.graph);
  chooser.expect(expected_of(asked));
  std::vector<GemmDesign> out;
  const GemmExtents e = typical_extents(asked.options.groups, {asked.m, asked.n, asked.k, asked.batch});
  for (const GemmDesign* design : chooser.candidates(e)) {
    out.push_back(*design);
  }
  return out;
}

Chosen choose_among(const AskedGemm& asked, const std::vector<GemmDesign>& candidates, const runtime::Device& device) {
  // No candidate agrees: the open options take the defaults of make_gemm_design.
  if (candidates.empty())
    return {asked.options, "No candidate has the options that were given; the others take their defaults."};
  GemmQuestion question;
  question.workload = workload_of(asked);
  question.epilogue = epilogue_cost(asked.graph, asked.options.c);
  if (device) {
    question.device = architecture_of(device.facts());
  }
  const TuningFile tuning = TuningFile::read(tuning_path());
  warn_of_unread_lines(tuning);
  if (device) question.tuned = measured(tuning.find(question.workload, asked.expression, device.facts().name));
  const GemmChoice choice = choose(question, candidates);
  if (!choice.ok()) return {candidates.front().options, explanation(question, candidates, choice)};
  const std::string of_what =
      device ? "" : fmt::format("\nTimes are the cost model's estimates for an {}.", question.device.name);
  return {candidates[static_cast<std::size_t>(choice.index)].options,
          explanation(question, candidates, choice) + of_what, gains_as_dependent(choice.cost, question.device)};
}

}  // namespace gantry::tool

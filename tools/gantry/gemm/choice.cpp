#include "gemm/choice.hpp"

#include <atomic>
#include <cstdlib>

#include <fmt/format.h>

#include <gantry/runtime/printable.hpp>

namespace gantry::tool {

namespace {

// What is set is kept.
bool agrees(const GemmOptions& candidate, const GemmOptions& asked) {
  const auto number = [](int there, int wanted) { return wanted == 0 || there == wanted; };
  return number(candidate.tile.m, asked.tile.m) && number(candidate.tile.n, asked.tile.n) &&
         number(candidate.tile.k, asked.tile.k) && number(candidate.cluster.m, asked.cluster.m) &&
         number(candidate.cluster.n, asked.cluster.n) && number(candidate.warpgroups, asked.warpgroups) &&
         (asked.schedule == GemmSchedule::automatic || candidate.schedule == asked.schedule);
}

bool leaves_nothing_open(const GemmOptions& o) {
  return o.tile.m > 0 && o.tile.n > 0 && o.cluster.m > 0 && o.cluster.n > 0 && o.schedule != GemmSchedule::automatic;
}

// Once, though a command may choose for many products.
void warn_of_unread_lines(const TuningFile& tuning) {
  static std::atomic<bool> said = false;
  const std::string unread = unread_lines(tuning);
  if (unread.empty() || said.exchange(true)) return;
  fmt::print(stderr, "gantry: what cannot be read of the tuning file {}: {}\n", runtime::one_line(tuning_path()),
             unread);
}

}  // namespace

std::string unread_lines(const TuningFile& tuning) {
  const std::vector<std::string>& problems = tuning.problems();
  if (problems.empty()) return {};
  const std::string first = runtime::one_line(problems.front());
  return problems.size() == 1 ? first : fmt::format("{} lines; the first: {}", problems.size(), first);
}

GemmWorkload workload_of(const Product& product) {
  GemmWorkload w = workload_of(product.options);
  w.m = product.m;
  w.n = product.n;
  w.k = product.k;
  w.batch = product.batch;
  w.epilogue = product.expression;
  return w;
}

std::vector<GemmDesign> candidates_for(const Product& product) {
  const GemmOptions& asked = product.options;
  const GemmWorkload workload = workload_of(product);
  std::vector<GemmDesign> out;
  const auto add = [&](const GemmOptions& request) {
    const GemmDesign design = make_gemm_design(staged_for(request, product.graph, workload), product.graph);
    if (design.ok()) out.push_back(design);
  };
  if (leaves_nothing_open(asked)) {
    add(asked);
    return out;
  }
  for (GemmOptions candidate : gemm_requests(workload)) {
    if (!agrees(candidate, asked)) continue;
    candidate.layout_c = asked.layout_c;
    candidate.layout_d = asked.layout_d;
    candidate.stages = asked.stages;
    candidate.promote = asked.promote;
    candidate.split = asked.split;
    candidate.epilogue = asked.epilogue;
    add(candidate);
  }
  return out;
}

Chosen choose_among(const Product& product, const std::vector<GemmDesign>& candidates, const runtime::Device& device) {
  // What is left open where no candidate agrees is left to the kernel's own defaults.
  if (candidates.empty())
    return {product.options, "no configuration of the list is what was asked for; the rest follows from it"};
  GemmQuestion question;
  question.workload = workload_of(product);
  question.epilogue = epilogue_cost(product.graph, product.options.c);
  if (device) {
    question.device = architecture_of(device.facts());
  }
  const TuningFile tuning = TuningFile::read(tuning_path());
  warn_of_unread_lines(tuning);
  if (device) question.tuned = tuning.find(question.workload, device.facts().name);
  const GemmChoice choice = choose(question, candidates);
  if (!choice.ok()) return {candidates.front().options, choice.explanation()};
  const std::string of_what = device ? "" : "\nThese times are the model's, for an H200.";
  return {candidates[static_cast<std::size_t>(choice.index)].options, choice.explanation() + of_what,
          gains_as_dependent(choice.cost)};
}

std::string tuning_path() {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (std::string asked = variable("GANTRY_TUNING"); !asked.empty()) return asked;
  if (const std::string config = variable("XDG_CONFIG_HOME"); !config.empty()) return config + "/gantry/tuning";
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.config/gantry/tuning";
}

}  // namespace gantry::tool

#include <algorithm>
#include <tuple>

#include <gantry/gemm/choice_text.hpp>
#include <gantry/gemm/open_options.hpp>
#include <gantry/runtime/chooser.hpp>
#include <gantry/runtime/printable.hpp>

#include "program_search.hpp"
#include "reasons_to_status.hpp"

namespace gantry::runtime {

namespace {

// What is set is kept. Where nothing is, operands may be swapped.
bool agrees(const GemmOptions& candidate, const GemmOptions& asked) {
  return keeps_tile(candidate, asked) &&
         (candidate.swapped == asked.swapped || (candidate.swapped && leaves_all_open(asked)));
}

bool leaves_nothing_open(const GemmOptions& o) {
  return o.tile.m > 0 && o.tile.n > 0 && o.cluster.m > 0 && o.cluster.n > 0 && o.schedule != GemmSchedule::automatic;
}

// Listed configurations that match the options; if there is none, the options with the kernel's defaults.
std::vector<GemmOptions> requests_for(const GemmOptions& asked, const fusion::Graph& graph, const Sm90Limits& limits) {
  std::vector<GemmOptions> out;
  if (!leaves_nothing_open(asked)) {
    for (GemmOptions request : gemm_requests(workload_of(asked), graph, limits)) {
      if (!agrees(request, asked)) continue;
      request.layout_c = asked.layout_c;
      request.layout_d = asked.layout_d;
      request.align_c = asked.align_c;
      request.align_d = asked.align_d;
      request.align_aux = asked.align_aux;
      request.stages = asked.stages;
      request.promote = asked.promote;
      request.scale_a = asked.scale_a;
      request.scale_b = asked.scale_b;
      request.split = asked.split;
      request.groups = asked.groups;
      request.gate = asked.gate;
      request.gather_a = asked.gather_a;
      request.scatter_d = asked.scatter_d;
      request.constant = asked.constant;
      request.epilogue = asked.epilogue;
      if (make_gemm_design(request, graph, limits).ok()) out.push_back(request);
    }
  }
  if (!out.empty()) return out;
  GemmOptions only = asked;
  only.tile = make_gemm_design(asked, graph, limits).options.tile;
  return {only};
}

}  // namespace

GemmChooser::GemmChooser(const GemmOptions& asked, std::string expression, const fusion::Graph& graph,
                         const Architecture& arch)
    : asked_(asked),
      expression_(std::move(expression)),
      graph_(graph),
      arch_(arch),
      epilogue_(epilogue_cost(graph, asked.c)),
      requests_(requests_for(asked, graph, arch.limits)) {}

void GemmChooser::use_tuning(TuningFile tuning, std::string device) {
  tuning_ = std::move(tuning);
  device_ = std::move(device);
}

GemmWorkload GemmChooser::workload(const GemmExtents& sizes) const {
  GemmWorkload w = workload_of(asked_);
  w.m = sizes.m;
  w.n = sizes.n;
  w.k = sizes.k;
  w.batch = sizes.batch;
  w.expected = expected_;
  return w;
}

GemmQuestion GemmChooser::question(const GemmExtents& sizes) const {
  GemmQuestion out;
  out.workload = workload(sizes);
  out.epilogue = epilogue_;
  out.device = arch_;
  if (!device_.empty()) out.tuned = measured(tuning_.find(out.workload, expression_, device_));
  return out;
}

const GemmDesign* GemmChooser::design_of(std::size_t request, const StagingClass& sized) {
  const auto [at, is_new] = staged_.try_emplace({request, sized.k64, sized.overlaps}, nullptr);
  if (!is_new) return at->second;
  const GemmDesign design =
      make_gemm_design(staged_for(requests_[request], graph_, sized, arch_.limits), graph_, arch_.limits);
  for (const GemmDesign& there : designs_) {
    if (there.options == design.options) at->second = &there;
  }
  if (design.ok() && at->second == nullptr) at->second = &designs_.emplace_back(design);
  return at->second;
}

std::vector<const GemmDesign*> GemmChooser::candidates(const GemmExtents& sizes) {
  const GemmWorkload w = workload(sizes);
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<const GemmDesign*> of_room[3];
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const GemmTile& tile = requests_[i].tile;
    if (tile.m <= 0 || tile.n <= 0) continue;
    const GemmDesign* const design = design_of(i, staging_class(tile, w, arch_));
    if (design != nullptr) of_room[static_cast<int>(row_room(*design, w, graph_, arch_.limits))].push_back(design);
  }
  for (const RowRoom room : {RowRoom::best, RowRoom::spread}) {
    if (!of_room[static_cast<int>(room)].empty()) return of_room[static_cast<int>(room)];
  }
  return of_room[static_cast<int>(RowRoom::none)];  // they say what they lack
}

std::vector<const GemmDesign*> GemmChooser::every_design() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<const GemmDesign*> out;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    for (int k64 = 1; k64 <= StagingClass::kLongK; ++k64) {
      for (const bool overlaps : {false, true}) {
        const GemmDesign* const design = design_of(i, {k64, overlaps});
        if (design != nullptr && std::find(out.begin(), out.end(), design) == out.end()) out.push_back(design);
      }
    }
  }
  return out;
}

std::vector<const GemmDesign*> GemmChooser::ranked(const GemmExtents& sizes,
                                                   const std::vector<const GemmDesign*>& there) {
  std::vector<const GemmDesign*> designs = candidates(sizes);
  const std::size_t own = designs.size();
  const GemmWorkload w = workload(sizes);
  for (const GemmDesign* design : there) {
    const RowRoom room = row_room(*design, w, graph_, arch_.limits);
    if (room == RowRoom::none || designs.empty() || room != row_room(*designs.front(), w, graph_, arch_.limits))
      continue;
    const auto end = designs.begin() + static_cast<std::ptrdiff_t>(own);
    if (std::find(designs.begin(), end, design) == end) designs.push_back(design);
  }
  if (sizes.nothing_to_do()) return designs;
  const GemmQuestion q = question(sizes);
  const detail::GemmRanking ranking = detail::rank_candidates(q, designs);
  std::vector<const GemmDesign*> out;
  for (const int i : ranking.order) {
    const GemmDesign* const design = designs[static_cast<std::size_t>(i)];
    const bool tuned = !q.tuned.name.empty() && q.tuned.name == to_text(design->options).c_str();
    out.insert(tuned ? out.begin() : out.end(), design);
  }
  return out;
}

Result<ChosenDesign> GemmChooser::choose(const GemmExtents& sizes) {
  const std::vector<const GemmDesign*> designs = candidates(sizes);
  if (sizes.nothing_to_do() && !designs.empty()) return ChosenDesign{designs.front(), "Nothing is computed."};
  std::vector<GemmDesign> all;
  all.reserve(designs.size());
  for (const GemmDesign* design : designs) all.push_back(*design);
  const GemmQuestion q = question(sizes);
  const GemmChoice choice = gantry::choose(q, all);
  if (!choice.ok()) {
    Status none;
    add_reasons(none, StatusCode::unsupported, choice.reasons);
    return unexpected(std::move(none));
  }
  return ChosenDesign{designs[static_cast<std::size_t>(choice.index)], explanation(q, all, choice)};
}

bool GemmChooser::gains_as_dependent(const GemmDesign& design, const GemmExtents& sizes) const {
  if (sizes.nothing_to_do()) return false;
  return gantry::gains_as_dependent(estimate(workload(sizes), design, epilogue_, arch_), arch_);
}

std::string asked_tuning_path() { return variable("GANTRY_TUNING"); }

std::string tuning_path() {
  if (std::string asked = asked_tuning_path(); !asked.empty()) return asked;
  if (const std::string config = variable("XDG_CONFIG_HOME"); !config.empty()) return config + "/gantry/tuning";
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.config/gantry/tuning";
}

Status unread_lines(const TuningFile& tuning) {
  const std::vector<TuningReason>& reasons = tuning.reasons();
  Status out;
  if (reasons.empty()) return out;
  const auto count = static_cast<std::int64_t>(reasons.size());
  const std::string before = count == 1 ? "" : std::to_string(count) + " lines; the first: ";
  out.add({.rule = entry_of(reasons.front().rule).name,
           .actual = count,
           .sentence = before + one_line(describe(reasons.front()).c_str())});
  return out;
}

}  // namespace gantry::runtime

// Which kernel computes a GEMM: the designs that come into question for one set of options and one epilogue, and the
// choice among them for sizes. What the options say is kept; what they leave open is chosen.
//
// Designs are made once for each class of sizes that is staged alike, so that a choice for new sizes costs
// microseconds. May be used by many threads at once.
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     using namespace gantry;
//     runtime::GemmChooser chooser({}, "d = acc", fusion::graph("d = acc"));
//     const GemmDesign* fastest = chooser.ranked({.m = 4096, .n = 4096, .k = 4096}).front();
//     const std::string why = chooser.choose({.m = 4096, .n = 4096, .k = 4096})->why;
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <gantry/gemm/candidates.hpp>
#include <gantry/gemm/choice.hpp>
#include <gantry/gemm/tuning.hpp>
#include <gantry/runtime/status.hpp>

namespace gantry::runtime {

struct ChosenDesign {
  const GemmDesign* design = nullptr;  // the chooser's
  std::string why{};                   // it was chosen, for readers
};

class GemmChooser {
 public:
  // Requires options without problems, and the graph of the expression. Designs are for `arch`.
  GemmChooser(const GemmOptions& asked, std::string expression, const fusion::Graph& graph,
              const Architecture& arch = kH200);

  // Measured choices, which go before the model's. `device`: as the file names it.
  void use_tuning(TuningFile tuning, std::string device);

  // Of groups: what they may be.
  void expect(ExpectedGroups groups) { expected_ = std::move(groups); }

  // Candidates for sizes, in no order; empty: the options leave nothing that can be built.
  std::vector<const GemmDesign*> candidates(const GemmExtents& sizes);
  // Candidates for any sizes.
  std::vector<const GemmDesign*> every_design();
  // Those, and others of this chooser's that are there already, the fastest first, as far as is known.
  std::vector<const GemmDesign*> ranked(const GemmExtents& sizes, const std::vector<const GemmDesign*>& there = {});
  // The first of them, and why, in sentences; or the rule by which there is none.
  Result<ChosenDesign> choose(const GemmExtents& sizes);
  // Whether launches of one of them in a row gain where each may start before the one before has ended.
  bool gains_as_dependent(const GemmDesign& design, const GemmExtents& sizes) const;

  GemmWorkload workload(const GemmExtents& sizes) const;
  const fusion::Graph& graph() const { return graph_; }

 private:
  GemmQuestion question(const GemmExtents& sizes) const;
  // Null where there is none. Requires the lock.
  const GemmDesign* design_of(std::size_t request, const StagingClass& sized);

  GemmOptions asked_;
  std::string expression_;
  fusion::Graph graph_;
  Architecture arch_;
  GemmEpilogueCost epilogue_;
  TuningFile tuning_;
  std::string device_;
  ExpectedGroups expected_;
  std::vector<GemmOptions> requests_;  // with their tiles

  std::mutex mutex_;
  // By request, K in steps of 64, and whether a store overlaps; null where there is no such design.
  std::map<std::tuple<std::size_t, int, bool>, const GemmDesign*> staged_;
  std::deque<GemmDesign> designs_;
};

// GANTRY_TUNING, else XDG_CONFIG_HOME/gantry/tuning, else ~/.config/gantry/tuning; empty where there is no home.
std::string tuning_path();
// What GANTRY_TUNING names; empty where it names nothing.
std::string asked_tuning_path();

// What cannot be read of a tuning file, however many lines that are: one reason, with the rule of the first line and
// how many there are, "3 lines; the first: line 7 has ...".
Status unread_lines(const TuningFile& tuning);

}  // namespace gantry::runtime

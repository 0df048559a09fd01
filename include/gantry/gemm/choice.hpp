// Which configuration runs a GEMM: of the candidates, the one that is asked for, that a tuning file names, or that the
// cost model ranks fastest. choice_text.hpp says why, in sentences.
//
// Pure host functions: no GPU is queried. Guarantees a choice, or the reason why there is none; never another
// configuration than the one that was asked for.
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     #include <gantry/gemm/candidates.hpp>
//     using namespace gantry;
//     GemmQuestion question;
//     question.workload.m = question.workload.n = question.workload.k = 4096;
//     const auto candidates = gemm_candidates(question.workload, fusion::graph("d = acc"));
//     const GemmChoice choice = choose(question, candidates);  // candidates[choice.index]
#pragma once

#include <vector>

#include <gantry/gemm/choice_rules.hpp>
#include <gantry/gemm/cost_model.hpp>
#include <gantry/gemm/problem.hpp>

namespace gantry {

// What a tuning file has for a GEMM: tuning.hpp.
struct MeasuredConfiguration {
  GemmName name{};  // empty: nothing
  Text<96> device{};
  double milliseconds = 0;  // 0: not recorded
};

struct GemmQuestion {
  GemmWorkload workload{};
  GemmEpilogueCost epilogue{};
  Architecture device = kH200;
  bool workspace = true;          // split-K and stream-K are allowed
  MeasuredConfiguration tuned{};  // none: the model alone
  GemmName asked{};               // a configuration's name; empty: whichever is best
};

// What decides.
enum class ChoiceGround : std::uint8_t { model, tuning_file, asked };

struct [[nodiscard]] GemmChoice {
  int index = -1;        // among the candidates; -1: there is none
  GemmCost cost{};       // as the model has it
  int next = -1;         // the best of the others
  GemmCost next_cost{};  // of that one
  ChoiceGround ground = ChoiceGround::model;
  ChoiceReasons reasons{};  // why there is none

  bool ok() const { return index >= 0; }
};

namespace detail {

// Times whose ratio is less are equal, as far as the model can tell.
inline constexpr double kEqualTimes = 1.0005;

// "4096 x 4096 x 64, batch of 3", "500 x 512 x 64 on average, 8 groups along M, of 0 to 70 rows".
GANTRY_LINKAGE Text<192> sizes_of(const GemmWorkload& w);

// Candidates by estimated time.
struct GemmRanking {
  std::vector<GemmCost> costs{};  // of candidate after candidate
  std::vector<int> order{};       // of those that compute the GEMM: the fastest first, those that rank last behind
  bool too_large = false;         // for a candidate
};

// Of candidates that the model cannot tell apart the one named first leads.
GANTRY_LINKAGE GemmRanking rank_candidates(const GemmQuestion& q, const std::vector<const GemmDesign*>& candidates);

}  // namespace detail

// Requires candidates that are ok().
GANTRY_LINKAGE GemmChoice choose(const GemmQuestion& question, const std::vector<GemmDesign>& candidates);

}  // namespace gantry

#if GANTRY_DEFINES_PLANNING
#include <gantry/gemm/detail/choice_definitions.hpp>
#endif

// Which configuration runs a GEMM: of the candidates, the one that is asked for, that a tuning file names, or that the
// cost model ranks fastest; and why, in sentences.
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
//     const GemmChoice choice = choose(question, gemm_candidates(question.workload, fusion::graph("d = acc")));
//     const std::string why = choice.explanation();  // "The model chooses 128x256x64 cooperative 2x1 bf16 ..."
#pragma once

#include <string>
#include <vector>

#include <gantry/gemm/choice_rules.hpp>
#include <gantry/gemm/cost_model.hpp>
#include <gantry/gemm/problem.hpp>

namespace gantry {

struct GemmQuestion {
  GemmWorkload workload{};
  GemmEpilogueCost epilogue{};
  Architecture device = kH200;
  bool workspace = true;               // split-K and stream-K are allowed
  const TuningEntry* tuned = nullptr;  // what a tuning file has for it (TuningFile::find); none: the model alone
  std::string asked{};                 // a configuration's name; empty: whichever is best
};

struct [[nodiscard]] GemmChoice {
  int index = -1;                  // among the candidates; -1: there is none
  GemmCost cost{};                 // as the model has it
  int next = -1;                   // the best of the others
  std::vector<std::string> why{};  // it was chosen, for readers; empty where there is none
  ChoiceReasons reasons{};         // why there is none

  bool ok() const { return index >= 0; }
  // The sentences of either, a line each.
  GANTRY_LINKAGE std::string explanation() const;
};

namespace detail {

GANTRY_LINKAGE std::string name_of(const GemmOptions& options);

GANTRY_LINKAGE std::string sizes_of(const GemmWorkload& w);

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

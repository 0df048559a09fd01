// Why a configuration was chosen for a GEMM (choice.hpp), in sentences; or why there is none.
//
// Example:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     #include <gantry/gemm/candidates.hpp>
//     using namespace gantry;
//     GemmQuestion question;
//     question.workload.m = question.workload.n = question.workload.k = 4096;
//     const auto candidates = gemm_candidates(question.workload, fusion::graph("d = acc"));
//     const std::string why = explanation(question, candidates, choose(question, candidates));
//     // "The model chooses 128x256x64 cooperative 2x1 bf16 for 4096 x 4096 x 4096: about 0.17 ms.\n..."
#pragma once

#include <string>
#include <vector>

#include <gantry/gemm/choice.hpp>

namespace gantry {

// Of a choice that was made for the question among these candidates; none where there is no choice.
GANTRY_LINKAGE std::vector<std::string> sentences(const GemmQuestion& question,
                                                  const std::vector<GemmDesign>& candidates, const GemmChoice& choice);

// Those, or the reason why there is no choice, a line each.
GANTRY_LINKAGE std::string explanation(const GemmQuestion& question, const std::vector<GemmDesign>& candidates,
                                       const GemmChoice& choice);

}  // namespace gantry

#if GANTRY_DEFINES_PLANNING
#include <gantry/gemm/detail/choice_text_definitions.hpp>
#endif

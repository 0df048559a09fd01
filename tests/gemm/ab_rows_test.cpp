// The A/B harness compares the kernels that users get: its rows against the automatic choice for an H200.
#include <string>
#include <vector>

#include <bench/gpu/ab_options.hpp>
#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/candidates.hpp>
#include <gantry/gemm/choice.hpp>

namespace gantry::bench {
namespace {

std::string text_of(const GemmOptions& o) { return std::string(to_text(o).c_str()) + " " + staging_text(o).c_str(); }

struct Chosen {
  GemmOptions options{};
  bool dependent = false;
};

// As `gantry gemm` and `gantry bench gemm` choose where nothing is asked for.
Chosen chosen_for(const AbRow& row) {
  const fusion::Graph graph = fusion::parse_graph(expression_of(row.job)).graph;
  GemmQuestion question;
  GemmWorkload& workload = question.workload;
  workload.m = row.size.m;
  workload.n = row.size.n;
  workload.k = row.size.k;
  if (graph.uses_source()) workload.c = ElementType::bf16;
  question.epilogue = epilogue_cost(graph, workload.c);
  const std::vector<GemmDesign> candidates = gemm_candidates(workload, graph);
  const GemmChoice choice = choose(question, candidates);
  if (!choice.ok()) return {};
  return {candidates[static_cast<std::size_t>(choice.index)].options, gains_as_dependent(choice.cost, question.device)};
}

TEST(AbRows, AreInTheConfigurationsThatAreChosenAutomatically) {
  for (const AbRow& row : kAbRows) {
    SCOPED_TRACE(std::to_string(row.size.m) + " x " + std::to_string(row.size.n) + " x " + std::to_string(row.size.k) +
                 " " + name_of(row.job));
    const Chosen chosen = chosen_for(row);
    EXPECT_EQ(text_of(options_of(row)), text_of(chosen.options));
    EXPECT_TRUE(options_of(row) == chosen.options) << "they differ in a field that has no place in the text";
    EXPECT_EQ(row.dependent, chosen.dependent);
  }
}

}  // namespace
}  // namespace gantry::bench

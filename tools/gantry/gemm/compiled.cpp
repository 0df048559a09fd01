#include "gemm/compiled.hpp"

#include <fmt/format.h>

#include <gantry/gemm/explain.hpp>

#include "gemm/choice.hpp"

namespace gantry::tool {

std::string describe_compiled(const AskedGemm& asked) {
  if (asked.m == 0 || asked.n == 0 || asked.batch == 0) return {};
  const std::vector<GemmDesign> candidates = candidates_for(asked);
  GemmQuestion question;
  question.workload = workload_of(asked);
  question.epilogue = epilogue_cost(asked.graph, asked.options.c);
  const GemmChoice choice = choose(question, candidates);
  const GemmDesign design =
      choice.ok() ? candidates[static_cast<std::size_t>(choice.index)] : make_gemm_design(asked.options, asked.graph);
  if (!design.ok()) return fmt::format("There is no GPU kernel for this: {}.", describe(design.reasons[0]).c_str());
  const std::string time = choice.ok() ? fmt::format(", in about {:.3g} ms", choice.cost.milliseconds) : "";
  detail::GemmFacts facts;
  facts.design = design;
  return fmt::format("An H200 would run {}{}, compiled for this epilogue only.\n{}",
                     gantry::to_text(design.options).c_str(), time, detail::explain_memory(facts));
}

}  // namespace gantry::tool

#include "gemm/compiled.hpp"

#include <fmt/format.h>

#include <gantry/gemm/explain.hpp>
#include <gantry/gemm/room.hpp>

#include "gemm/choice.hpp"

namespace gantry::tool {

namespace {

// Shared memory of a kernel that is compiled for one graph. Requires options without problems.
std::string shared_memory(const GemmOptions& asked, const fusion::Graph& graph) {
  detail::GemmFacts facts;
  facts.options = resolve(asked, graph);
  GemmOptions& o = facts.options;
  facts.adds = o.split == SplitMode::reduce_add;
  facts.deferred = can_store_behind(o, graph) && asked.epilogue.epi_n == 0;
  facts.epilogue_bytes = epilogue_bytes(o, graph, facts.deferred);
  if (o.stages == 0) o.stages = stages_beside(o, facts.epilogue_bytes);
  facts.shared_bytes = shared_bytes(o, o.stages, facts.epilogue_bytes);
  return detail::explain_memory(facts);
}

}  // namespace

std::string describe_compiled(const Product& product) {
  if (product.m == 0 || product.n == 0 || product.batch == 0) return {};
  const std::vector<GemmOptions> candidates = candidates_for(product);
  GemmQuestion question;
  question.workload = workload_of(product);
  question.epilogue = epilogue_cost(product.graph, product.options.c);
  const GemmChoice choice = choose(question, candidates);
  const GemmOptions asked = choice.ok() ? candidates[static_cast<std::size_t>(choice.index)] : product.options;
  if (const GemmReasons reasons = problems(asked, product.graph); !reasons.empty())
    return fmt::format("A GPU has no kernel for this: {}.", describe(reasons[0]).c_str());
  const std::string time = choice.ok() ? fmt::format(", in about {:.3g} ms", choice.cost.milliseconds) : "";
  return fmt::format("An H200 would run {}{}, compiled for this epilogue alone.\n{}",
                     gantry::to_text(resolve(asked, product.graph)).c_str(), time, shared_memory(asked, product.graph));
}

}  // namespace gantry::tool

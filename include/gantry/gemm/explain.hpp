// What a planned GEMM will do, in sentences: the kernel, its shared memory, the tile schedule, bytes and operations.
//
// Example:
//     #include <string>
//     #include <gantry/epilogue/fusion/parse.hpp>
//     using namespace gantry;
//     detail::GemmFacts facts;
//     facts.design = make_gemm_design({}, fusion::graph("d = acc"));
//     facts.m = facts.n = facts.k = 4096;
//     const std::string text = detail::explain_gemm(facts);  // "D = A B^T, 4096 x 4096 x 4096 (M x N x K) ..."
#pragma once

#include <iosfwd>

#include <gantry/epilogue/fusion/arguments.hpp>
#include <gantry/gemm/design.hpp>

namespace gantry::detail {

struct GemmFacts {
  GemmDesign design{};
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  const char* expression = "";
  const fusion::Graph* graph = nullptr;
  TileSchedule schedule{};
  int ctas = 0;
  std::size_t workspace_bytes = 0;
  bool packed_a = false, packed_b = false;
  std::size_t packed_bytes = 0;
  std::size_t slot_bytes = 0;  // of rows that are added in a fixed order
  std::int64_t slot_rows = 0;  // of the D that they are added to
  Architecture arch = kH200;
};

GANTRY_LINKAGE std::string explain_gemm(const GemmFacts& f);
GANTRY_LINKAGE void append_explanation(const GemmFacts& f, std::string& out);
// The part of it about shared memory.
GANTRY_LINKAGE std::string explain_memory(const GemmFacts& f);

}  // namespace gantry::detail

#if GANTRY_DEFINES_PLANNING
#include <gantry/gemm/detail/explain_definitions.hpp>
#endif

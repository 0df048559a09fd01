// What a request for a GEMM may have beside tile, cluster and schedule: each occurs among the requests that are
// accepted and among those that are refused, and each is compiled.
#pragma once

#include <gantry/epilogue/fusion/spans.hpp>

#include "random_requests.hpp"

namespace gantry::test {

struct Feature {
  const char* name;
  bool (*has)(const GemmRequest& request);
};

inline constexpr Feature kFeatures[] = {
    {"groups along M", [](const GemmRequest& r) { return r.options.groups == GemmGrouping::along_m; }},
    {"groups along K", [](const GemmRequest& r) { return r.options.groups == GemmGrouping::along_k; }},
    {"pointer arrays", [](const GemmRequest& r) { return r.options.groups == GemmGrouping::pointer_array; }},
    {"gathered rows", [](const GemmRequest& r) { return r.options.gather_a; }},
    {"scattered rows", [](const GemmRequest& r) { return r.options.scatter_d == RowScatter::store; }},
    {"added rows", [](const GemmRequest& r) { return r.options.scatter_d == RowScatter::add; }},
    {"rows added in order", [](const GemmRequest& r) { return r.options.scatter_d == RowScatter::ordered; }},
    {"gates", [](const GemmRequest& r) { return r.fusion.graph.gated(); }},
    {"interleaved gates", [](const GemmRequest& r) { return r.options.gate == GemmGate::interleaved; }},
    {"swapped operands", [](const GemmRequest& r) { return r.options.swapped; }},
    {"a constant A", [](const GemmRequest& r) { return r.options.constant == ConstantOperand::a; }},
    {"a constant B", [](const GemmRequest& r) { return r.options.constant == ConstantOperand::b; }},
    {"scales of rows and blocks", [](const GemmRequest& r) { return r.options.scale_a == ScaleMode::row_block; }},
    {"scales of blocks of A", [](const GemmRequest& r) { return r.options.scale_a == ScaleMode::block; }},
    {"scales of blocks of B", [](const GemmRequest& r) { return r.options.scale_b == ScaleMode::block; }},
    {"scales of columns and blocks", [](const GemmRequest& r) { return r.options.scale_b == ScaleMode::row_block; }},
    {"scales of rows", [](const GemmRequest& r) { return r.scale_a == "row" || r.scale_b == "row"; }},
    {"scales of tensors", [](const GemmRequest& r) { return r.scale_a == "tensor" || r.scale_b == "tensor"; }},
    {"promotion", [](const GemmRequest& r) { return r.options.promote; }},
    {"clusters along K", [](const GemmRequest& r) { return r.options.cluster.k > 1; }},
    {"a C that threads read", [](const GemmRequest& r) { return direct_c(r.options); }},
    {"a D that threads write", [](const GemmRequest& r) { return is_direct(r.options.d, r.options.align_d); }},
    {"an alignment of tensors", [](const GemmRequest& r) { return r.options.align_aux > 0; }},
    {"delayed stores", [](const GemmRequest& r) { return r.options.epilogue.delay_tma_store == Choice::yes; }},
    {"no split", [](const GemmRequest& r) { return r.options.split == SplitMode::none; }},
    {"addition by TMA", [](const GemmRequest& r) { return r.options.split == SplitMode::reduce_add; }},
    {"no D", [](const GemmRequest& r) { return r.fusion.graph.d < 0; }},
    {"rows in one tile",
     [](const GemmRequest& r) { return fusion::longest_span(r.fusion.graph) == fusion::kWholeRow; }},
    {"spans of columns", [](const GemmRequest& r) { return fusion::longest_span(r.fusion.graph) > 2; }},
    {"values of f16", [](const GemmRequest& r) { return r.fusion.graph.compute_element == ElementType::f16; }},
    {"values of bf16", [](const GemmRequest& r) { return r.fusion.graph.compute_element == ElementType::bf16; }},
};
inline constexpr int kFeatureCount = static_cast<int>(std::size(kFeatures));

}  // namespace gantry::test

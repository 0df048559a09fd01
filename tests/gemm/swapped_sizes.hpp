// GEMMs with swapped operands on the simulated SM, in sizes of few rows, compared with the reference of D = A B^T as it
// was asked for; nothing is found, and nothing is written beside the matrices.
#pragma once

#include <cstdlib>
#include <string>

#include <gantry/epilogue/fusion/loop_callbacks.hpp>

#include "given_memory.hpp"

namespace gantry_test {

template <class Spec>
void expect_swapped_right(const GemmArguments<Spec>& args, unsigned seed, int sms) {
  const std::string explained = gantry_test::expect_right(args, seed, sms);
  if (testing::Test::HasFatalFailure()) return;
  EXPECT_NE(explained.find("operands are swapped"), std::string::npos);
}

// M from 1 to 64 and a little more.
template <class Spec>
void expect_random_swapped_right(const fusion::Graph* graph = nullptr, unsigned first_seed = 0) {
  const unsigned count = std::getenv("GANTRY_LONG_TESTS") ? 40 : 3;
  constexpr GemmOptions o = Gemm<Spec>::kDesign.options;
  constexpr bool columns = o.layout_d == kColumnMajor || o.major_a == Major::MN;
  bool stores_columns = false;  // TMA writes whole 16 bytes of each
  for (int i = 0; graph != nullptr && i < graph->argument_count; ++i) {
    const fusion::Argument& argument = graph->arguments[i];
    stores_columns = stores_columns || (argument.kind == fusion::ArgumentKind::aux_out && !argument.row_major);
  }
  const int chunk_m = columns ? 8 : stores_columns ? 4 : 1, chunk_n = o.d == ElementType::e4m3 ? 16 : 8;
  for (unsigned seed = first_seed; seed < first_seed + count && !testing::Test::HasFatalFailure(); ++seed) {
    Random random(seed + 100);
    const GemmExtents e{.m = (1 + random.below(72 / chunk_m)) * chunk_m,
                        .n = (1 + random.below(280 / chunk_n)) * chunk_n,
                        .k = random.below(300),
                        .batch = 1 + random.below(2)};
    const int sms = static_cast<int>(1 + random.below(8));
    if constexpr (detail::kRunTimeGraph<Spec>) {
      expect_swapped_right<Spec>({e, *graph}, seed, sms);
    } else {
      expect_swapped_right<Spec>(e, seed, sms);
    }
  }
}

// Any graph, at run time.
template <int m, int n>
struct AnySwapped
    : fusion::GraphAtRunTime<true, true, 32 * 1024, fusion::element_set(ElementType::f32, ElementType::bf16)> {
  static constexpr GemmOptions options{
      .c = ElementType::bf16, .tile = {.m = m, .n = n}, .cluster = {1, 1}, .stages = 3, .swapped = true};
};

inline constexpr const char* kSwappedExpressions[] = {
    "d = acc",
    "d = acc + row(bias)",
    "d = acc * col(scale:bf16) + beta * c",
    "d = acc + load(x:bf16) - load(y:f32 col)",
    "d = relu(acc); y:bf16 = acc; z:f32 col = 2 * acc",
    "d = acc; r = reduce_row_add(acc)",
    "d = acc; r = reduce_col_add(acc); s = reduce_col_max(acc)",
    "d = acc + c; r deterministic = reduce_row_add(d); s deterministic = reduce_add(acc)",
    "d = acc * load(m:u1) + load(l:u1 col); n:u1 = acc > 0; o:u1 col = acc > 1",
};

template <class Spec>
void expect_every_expression_right() {
  unsigned seed = 0;
  for (const char* expression : kSwappedExpressions) {
    SCOPED_TRACE(expression);
    const fusion::Graph graph = fusion::graph(expression);
    expect_random_swapped_right<Spec>(&graph, 10 * ++seed);
  }
}

}  // namespace gantry_test

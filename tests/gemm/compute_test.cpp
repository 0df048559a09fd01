// Epilogues whose values are rounded to f16 or bf16, on the simulated SM.
#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/expression.hpp>

#include "model_fusions.hpp"

namespace gantry_test {
namespace {

// Bits that f32 keeps and the rounding loses: 257 * 3 is 772 in bf16.
struct Rounded {
  static constexpr GemmOptions options{.d = ElementType::f32, .tile = {64, 64}, .cluster = {1, 1}, .stages = 2};
  static constexpr fusion::Graph graph =
      fusion::graph("compute bf16; let x = acc * 257 + row(bias); d = x * 1.01; aux = x; sum = reduce_col_add(x)");
};
TEST(Compute, InBf16IsRightInACompiledKernel) { expect_random_right<Rounded>(1, 4); }

struct Gelu {
  static constexpr GemmOptions options{.tile = {128, 128}, .cluster = {1, 2}, .stages = 2};
  static constexpr fusion::Graph graph = fusion::graph("compute f16; d = gelu_tanh(0.125 * acc + row(bias))");
};
TEST(Compute, InF16IsRightBesideAFunctionThatTakesHalves) { expect_random_right<Gelu>(2); }

// A D that is the accumulators is rounded twice, and so is not stored as it is.
struct Plain {
  static constexpr GemmOptions options{.d = ElementType::f32, .tile = {64, 64}, .cluster = {1, 1}, .stages = 2};
  static constexpr fusion::Graph graph = fusion::graph("compute bf16; d = acc");
};
TEST(Compute, OfAPlainDIsRight) {
  static_assert(Gemm<Plain>::kDesign.store == GemmStore::collective);
  expect_random_right<Plain>(3);
  static_assert(make_gemm_design({}, fusion::graph("d = acc")).store == GemmStore::overlapped);
  static_assert(make_gemm_design({}, fusion::graph("compute f16; d = acc")).store == GemmStore::collective);
}

}  // namespace
}  // namespace gantry_test

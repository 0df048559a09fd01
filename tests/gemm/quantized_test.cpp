// Outputs of 8 bits with a scale that is given, and scales of rows around a GEMM, on the simulated SM.
#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/expression.hpp>

#include "model_fusions.hpp"

namespace gantry_test {
namespace {

// Accumulators of some tens, so that the factor decides how many of the values saturate.
template <ElementType d_element, LayoutTag layout, bool small>
struct Quantized {
  static constexpr GemmOptions options{
      .d = d_element, .layout_d = layout, .tile = {64, 64}, .cluster = {1, 1}, .stages = 2};
  static constexpr fusion::Graph graph =
      small ? fusion::graph("let x = acc * 16; d = quantize(x, scalar(scale)); top = reduce_amax(x)")
            : fusion::graph("let x = acc * 4096; d = quantize(x, scalar(scale)); top = reduce_amax(x)");
};

TEST(Quantized, DOfE4m3IsRight) { expect_random_right<Quantized<ElementType::e4m3, kRowMajor, true>>(1, 16); }
TEST(Quantized, DOfE5m2IsRight) { expect_random_right<Quantized<ElementType::e5m2, kRowMajor, false>>(2, 16); }
TEST(Quantized, DOfS8IsRight) { expect_random_right<Quantized<ElementType::s8, kRowMajor, true>>(3, 16); }
TEST(Quantized, DOfU8IsRight) { expect_random_right<Quantized<ElementType::u8, kRowMajor, true>>(4, 16); }

TEST(Quantized, AuxiliaryOutputsAreRightInAnyGraph) {
  unsigned seed = 0;
  for (const char* text : {
           "d = acc; q:e4m3 = quantize(16 * acc, scalar(scale)); top = reduce_amax(16 * acc)",
           "d = relu(acc); q:e5m2 = quantize(4096 * d, scalar(scale)); top = reduce_amax(4096 * d)",
           "d = acc; q:s8 = quantize(acc, 0.5); top = reduce_col_amax(acc)",
       }) {
    SCOPED_TRACE(text);
    expect_random_right<AnyPlain>(seed += 10, 16, fusion::graph(text));
  }
}

// RMS norm of A folded in, and what the next one needs of D.
constexpr fusion::Graph norm() {
  using namespace fusion;
  using namespace fusion::names;
  constexpr auto x = col("rstd") * acc;
  return expression(d = x, reduction("squares") = reduce_col_add(x * x));
}
struct Norm {
  static constexpr GemmOptions options{.tile = {64, 128}, .cluster = {1, 2}, .stages = 2};
  static constexpr fusion::Graph graph = norm();
};
TEST(RowScale, AndTheSumOfSquaresAreRight) {
  static_assert(norm() == fusion::graph("d = col(rstd) * acc; squares = reduce_col_add(d * d)"));
  expect_random_right<Norm>(5);
}
TEST(RowScale, AndTheSumOfSquaresAreRightInAnyGraph) {
  expect_random_right<AnyPlain>(6, 8, fusion::graph("d = col(rstd:bf16) * acc + c; ss:bf16 = reduce_col_add(d * d)"));
  expect_random_right<AnySwapped>(7, 8, fusion::graph("d = col(rstd) * acc; ss deterministic = reduce_col_add(d * d)"));
}

}  // namespace
}  // namespace gantry_test

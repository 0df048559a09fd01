// Outputs of 8 bits with a scale that is given, and scales of rows around a GEMM, on the simulated SM.
#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/expression.hpp>

#include "model_fusions.hpp"

namespace gantry_test {
namespace {

TEST(Quantized, DOfE4m3IsRight) { expect_random_right<Quantized<ElementType::e4m3, kRowMajor, true>>(1, 16); }
TEST(Quantized, DOfS8IsRight) { expect_random_right<Quantized<ElementType::s8, kRowMajor, true>>(3, 16); }

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

}  // namespace
}  // namespace gantry_test

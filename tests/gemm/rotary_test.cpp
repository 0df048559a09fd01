// Rotary embeddings in GEMMs on the simulated SM: neighbouring columns and halves of heads, compiled and at run time.
#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/expression.hpp>

#include "model_fusions.hpp"

namespace gantry_test {
namespace {

struct Adjacent {
  static constexpr GemmOptions options{
      .tile = {128, 128}, .cluster = {1, 1}, .stages = 2, .schedule = GemmSchedule::pingpong};
  static constexpr fusion::Graph graph =
      fusion::graph("let x = acc + row(bias); d = rotary_adjacent(x, load(cos:bf16), load(sin:bf16))");
};
TEST(Rotary, OfNeighboursIsRightInAPingpongKernel) { expect_random_right<Adjacent>(1); }

constexpr fusion::Graph halves() {
  using namespace fusion;
  using namespace fusion::names;
  constexpr ArgumentOptions kOf{.element = ElementType::bf16};
  return expression(d = rotary_halves(acc + row("bias"), load("cos", kOf), load("sin", kOf), 128));
}
struct Halves {
  static constexpr GemmOptions options{.tile = {128, 128}, .cluster = {2, 1}, .stages = 2};
  static constexpr fusion::Graph graph = halves();
};
TEST(Rotary, OfHalvesOfHeadsIsRightInClusters) {
  static_assert(Gemm<Halves>::kDesign.options.epilogue.epi_n == 128);  // a head's columns, and not the usual 64
  expect_random_right<Halves>(2, 128);
}

struct Unaligned {
  static constexpr GemmOptions options{.align_d = 1, .align_aux = 1, .tile = {64, 64}, .cluster = {1, 1}, .stages = 2};
  static constexpr fusion::Graph graph = fusion::graph("d = rotary_adjacent(acc, load(cos:bf16), load(sin:bf16))");
};
TEST(Rotary, OfNeighboursIsRightWhereTmaCannotAddressD) { expect_random_right<Unaligned>(3, 2); }

}  // namespace
}  // namespace gantry_test

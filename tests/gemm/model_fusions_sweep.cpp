// Dropout in further kernels, graphs at run time with swapped operands, and quantised outputs of further elements: the
// long form.
#include <gtest/gtest.h>

#include "model_fusions.hpp"

namespace gantry_test {
namespace {

struct Compiled {
  static constexpr fusion::Graph graph = fusion::graph("d = dropout(acc, 0.5, seed); bits:u1 = keep(0.5, seed)");
};
struct InClusters : Compiled {
  static constexpr GemmOptions options{.tile = {128, 64}, .cluster = {2, 1}, .stages = 2};
};
struct Swapped : Compiled {
  static constexpr GemmOptions options{.tile = {32, 128}, .cluster = {1, 1}, .stages = 2, .swapped = true};
};
struct WithoutTma : Compiled {
  static constexpr GemmOptions options{.align_d = 1, .tile = {64, 64}, .cluster = {1, 1}, .stages = 2};
};

TEST(Dropout, AgreesWithTheReferenceInFurtherKernels) {
  expect_random_right<InClusters>(1);
  expect_random_right<Swapped>(3);
  expect_random_right<WithoutTma>(4, 1);
}

TEST(GraphsAtRunTime, AgreeWithTheReferenceWhereOperandsAreSwapped) {
  unsigned seed = 0;
  for (const char* text : kDropouts) expect_random_right<AnySwapped>(seed += 10, 8, fusion::graph(text));
  for (const char* text : {"d = acc; m = reduce_row_max(acc, 16); s col = reduce_row_sumexp(acc, 16)",
                           "d = acc; a:bf16 = reduce_col_add(acc + c, 64); t = reduce_row_sumexp(acc)"}) {
    expect_random_right<AnySwapped>(seed += 10, 8, fusion::graph(text));
  }
  for (const char* text : kRounded) expect_random_right<AnySwapped>(seed += 10, 8, fusion::graph(text));
  expect_random_right<AnySwapped>(7, 8, fusion::graph("d = col(rstd) * acc; ss deterministic = reduce_col_add(d * d)"));
}

TEST(Quantized, DOfE5m2IsRight) { expect_random_right<Quantized<ElementType::e5m2, kRowMajor, false>>(2, 16); }
TEST(Quantized, DOfU8IsRight) { expect_random_right<Quantized<ElementType::u8, kRowMajor, true>>(4, 16); }

}  // namespace
}  // namespace gantry_test

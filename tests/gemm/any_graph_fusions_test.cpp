// What models fuse, as graphs that come at run time: one kernel for all of them. With swapped operands: the long form.
#include <gtest/gtest.h>

#include "model_fusions.hpp"

namespace gantry_test {
namespace {

TEST(Dropout, AgreesWithTheReferenceInAnyGraph) {
  unsigned seed = 0;
  for (const char* text : kDropouts) expect_random_right<AnyPlain>(seed += 10, 8, fusion::graph(text));
}
TEST(Rotary, AgreesWithTheReferenceInAnyGraph) {
  unsigned seed = 0;
  for (const char* text : {
           "d = rotary_adjacent(acc, load(cos), load(sin))",
           "d = rotary_halves(acc + row(bias), load(cos:bf16), load(sin:bf16 col), 32) + c; y:bf16 = rotate(c, 2)",
           "d = rotary_halves(acc, row(cos), row(sin), 64); s = reduce_col_add(d)",
           "d = rotate(rotate(acc + c, 16) * col(scale), 2); bits:u1 = d > 0",
       }) {
    SCOPED_TRACE(text);
    expect_random_right<AnyPlain>(seed += 10, 64, fusion::graph(text));
  }
}

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

TEST(BlocksOfResults, AgreeWithTheReferenceInAnyGraph) {
  unsigned seed = 0;
  for (const char* text : kBlocks) {
    SCOPED_TRACE(text);
    expect_random_right<AnyPlain>(seed += 10, 8, fusion::graph(text));
  }
}

TEST(OutputRounding, AgreesWithTheReferenceInAnyGraph) {
  unsigned seed = 0;
  for (const char* text : {"round toward_zero; d = 1.1 * acc + c; y:e4m3 = acc; z:s8 = 0.3 * acc",
                           "round nearest_away; d = acc / 3; y:f16 = 1.1 * acc; s:bf16 = reduce_col_add(d)"}) {
    SCOPED_TRACE(text);
    expect_random_right<AnyPlain>(seed += 10, 16, fusion::graph(text));
  }
}

TEST(RowScale, AndTheSumOfSquaresAreRightInAnyGraph) {
  expect_random_right<AnyPlain>(6, 8, fusion::graph("d = col(rstd:bf16) * acc + c; ss:bf16 = reduce_col_add(d * d)"));
}

TEST(Compute, AgreesWithTheReferenceInAnyGraph) {
  unsigned seed = 20;
  for (const char* text : kRounded) {
    SCOPED_TRACE(text);
    expect_random_right<AnyPlain>(seed += 10, 8, fusion::graph(text));
  }
  expect_random_right<AnyPlain>(
      80, 8, fusion::graph("compute bf16; d = rotary_adjacent(acc * 1.7, load(cos), load(sin)); m:u1 = d > 0.1"));
}

}  // namespace
}  // namespace gantry_test

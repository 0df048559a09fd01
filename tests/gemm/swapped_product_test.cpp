// GEMMs with swapped operands on the simulated SM: few rows, every kind of argument, majors, both kernels, batches,
// split tiles. swapped_kinds_sweep.cpp has more kinds.
#include <string>

#include <gtest/gtest.h>

#include "swapped_sizes.hpp"

namespace gantry {
namespace {

using gantry_test::expect_random_swapped_right, gantry_test::expect_swapped_right;

struct Plain {
  static constexpr GemmOptions options{.tile = {.m = 8, .n = 64}, .swapped = true};
};
// Compiled for its graph: with C, vectors both ways, a further output.
struct Everything {
  static constexpr GemmOptions options{
      .c = ElementType::bf16, .tile = {.m = 16, .n = 64}, .cluster = {.m = 1, .n = 2}, .swapped = true};
  static constexpr fusion::Graph graph =
      fusion::graph("aux:f16 = alpha * acc + c + row(bias) + col(shift); d = gelu(aux)");
};
struct Transposed {
  static constexpr GemmOptions options{.a = ElementType::f16,
                                       .b = ElementType::f16,
                                       .d = ElementType::f16,
                                       .major_a = Major::MN,
                                       .major_b = Major::MN,
                                       .layout_d = kColumnMajor,
                                       .tile = {.m = 8, .n = 64},
                                       .swapped = true};
};
struct Tensor32 {
  static constexpr GemmOptions options{.a = ElementType::tf32,
                                       .b = ElementType::tf32,
                                       .d = ElementType::f32,
                                       .tile = {.m = 16, .n = 64},
                                       .schedule = GemmSchedule::pingpong,
                                       .swapped = true};
};
// The weights are loaded before the wait of a dependent launch.
struct Constant {
  static constexpr GemmOptions options{.tile = {.m = 8, .n = 64},
                                       .cluster = {.m = 1, .n = 2},
                                       .stages = 4,
                                       .swapped = true,
                                       .constant = ConstantOperand::b};
};

TEST(SwappedGemm, IsRightForFewRows) {
  expect_random_swapped_right<Plain>();
  for (const int m : {1, 2, 7, 8, 9}) expect_swapped_right<Plain>(GemmExtents{.m = m, .n = 136, .k = 192}, 7, 3);
  expect_swapped_right<Plain>(GemmExtents{.m = 3, .n = 72, .k = 0}, 8, 2);
}
TEST(SwappedGemm, IsRightWhereTilesAreSplit) {
  expect_swapped_right<Plain>(GemmExtents{.m = 5, .n = 128, .k = 2560}, 1, 8);
  expect_swapped_right<Plain>(GemmExtents{.m = 8, .n = 320, .k = 1984, .batch = 2}, 2, 30);
  expect_swapped_right<Everything>(GemmExtents{.m = 11, .n = 128, .k = 2560}, 3, 12);
}
TEST(SwappedGemm, IsRightWithEveryKindOfOperand) { expect_random_swapped_right<Everything>(); }
TEST(SwappedGemm, IsRightForTransposedMatricesOfF16) { expect_random_swapped_right<Transposed>(); }
TEST(SwappedGemm, IsRightForTf32) { expect_random_swapped_right<Tensor32>(); }
TEST(SwappedGemm, IsRightWithConstantWeights) {
  expect_random_swapped_right<Constant>();
  expect_swapped_right<Constant>(GemmExtents{.m = 3, .n = 136, .k = 200}, 5, 2);  // fewer K tiles than stages
  expect_swapped_right<Constant>(GemmExtents{.m = 3, .n = 600, .k = 600}, 6, 2);  // more, and several tiles
  expect_swapped_right<Constant>(GemmExtents{.m = 3, .n = 600, .k = 256}, 7, 2);  // stages could keep what they hold
}

TEST(SwappedGemm, IsRightForEveryExpressionWithATileOf8Rows) {
  gantry_test::expect_every_expression_right<gantry_test::AnySwapped<8, 64>>();
}

struct Straight : Everything {
  static constexpr GemmOptions options{.c = ElementType::bf16, .tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
};

// The user's words, not the kernel's.
TEST(SwappedGemm, RefusesArgumentsInTermsOfTheGemmThatWasAskedFor) {
  alignas(16) static bf16 memory[4096];
  GemmArguments<Everything> args({.m = 3, .n = 100, .k = 60});
  args.a = memory;
  args.b = memory;
  args.d = memory + 1024;
  const ArgumentReasons reasons = can_implement(args);
  std::string all;
  for (const ArgumentReason& r : reasons) all += std::string(describe(r).c_str()) + "\n";
  GemmArguments<Straight> same({.m = 3, .n = 100, .k = 60});
  same.a = memory;
  same.b = memory;
  same.d = memory + 1024;
  std::string expected;
  for (const ArgumentReason& r : can_implement(same)) expected += std::string(describe(r).c_str()) + "\n";
  EXPECT_EQ(all, expected);
  EXPECT_NE(all.find("A"), std::string::npos);
}

}  // namespace
}  // namespace gantry

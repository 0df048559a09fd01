// GEMMs with swapped operands on the simulated SM: few rows, every kind of argument, majors and elements, batches,
// split tiles. The values are the reference's, of D = A B^T as it was asked for; nothing is found, and nothing is
// written beside the matrices.
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/loop_callbacks.hpp>

#include "given_memory.hpp"

namespace gantry {
namespace {

using gantry_test::Random;

template <class Spec>
void expect_right(const GemmArguments<Spec>& args, unsigned seed, int sms) {
  const std::string explained = gantry_test::expect_right(args, seed, sms);
  if (testing::Test::HasFatalFailure()) return;
  EXPECT_NE(explained.find("operands are swapped"), std::string::npos);
}

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
// Compiled for its graph: reductions both ways, and a mask.
struct Reduced {
  static constexpr GemmOptions options{.d = ElementType::f32, .tile = {.m = 24, .n = 128}, .swapped = true};
  static constexpr fusion::Graph graph = fusion::graph(
      "d = acc * load(m:u1); r = reduce_row_add(acc); s deterministic = reduce_col_add(acc); t = reduce_amax(d)");
};
// Any graph, at run time.
template <int m, int n>
struct Any : fusion::GraphAtRunTime<true, true, 32 * 1024, fusion::element_set(ElementType::f32, ElementType::bf16)> {
  static constexpr GemmOptions options{
      .c = ElementType::bf16, .tile = {.m = m, .n = n}, .cluster = {1, 1}, .stages = 3, .swapped = true};
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
struct Promoted {
  static constexpr GemmOptions options{.a = ElementType::e4m3,
                                       .b = ElementType::e5m2,
                                       .d = ElementType::bf16,
                                       .tile = {.m = 32, .n = 128},
                                       .promote = true,
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
struct Integers {
  static constexpr GemmOptions options{
      .a = ElementType::s8, .b = ElementType::u8, .d = ElementType::f32, .tile = {.m = 48, .n = 64}, .swapped = true};
  static constexpr fusion::Graph graph = fusion::graph("d = scalar(scale) * acc + row(bias)");
};
// The weights are loaded before the wait of a dependent launch.
struct Constant {
  static constexpr GemmOptions options{.tile = {.m = 8, .n = 64},
                                       .cluster = {.m = 1, .n = 2},
                                       .stages = 4,
                                       .swapped = true,
                                       .constant = ConstantOperand::b};
};
struct ToFp8 {
  static constexpr GemmOptions options{.d = ElementType::e4m3, .tile = {.m = 8, .n = 128}, .swapped = true};
};

// M from 1 to 64 and a little more.
template <class Spec>
void expect_random_sizes_right(const fusion::Graph* graph = nullptr, unsigned first_seed = 0) {
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
      expect_right<Spec>({e, *graph}, seed, sms);
    } else {
      expect_right<Spec>(e, seed, sms);
    }
  }
}

TEST(SwappedGemm, IsRightForFewRows) {
  expect_random_sizes_right<Plain>();
  for (const int m : {1, 2, 7, 8, 9}) expect_right<Plain>(GemmExtents{.m = m, .n = 136, .k = 192}, 7, 3);
  expect_right<Plain>(GemmExtents{.m = 3, .n = 72, .k = 0}, 8, 2);
}
TEST(SwappedGemm, IsRightWhereTilesAreSplit) {
  expect_right<Plain>(GemmExtents{.m = 5, .n = 128, .k = 2560}, 1, 8);
  expect_right<Plain>(GemmExtents{.m = 8, .n = 320, .k = 1984, .batch = 2}, 2, 30);
  expect_right<Everything>(GemmExtents{.m = 11, .n = 128, .k = 2560}, 3, 12);
}
TEST(SwappedGemm, IsRightWithEveryKindOfOperand) { expect_random_sizes_right<Everything>(); }
TEST(SwappedGemm, IsRightWithReductionsAndMasks) { expect_random_sizes_right<Reduced>(); }
TEST(SwappedGemm, IsRightForTransposedMatricesOfF16) { expect_random_sizes_right<Transposed>(); }
TEST(SwappedGemm, IsRightForPromotedAccumulatorsOfFp8) { expect_random_sizes_right<Promoted>(); }
TEST(SwappedGemm, IsRightForTf32) { expect_random_sizes_right<Tensor32>(); }
TEST(SwappedGemm, IsRightForIntegers) { expect_random_sizes_right<Integers>(); }
TEST(SwappedGemm, IsRightWithConstantWeights) {
  expect_random_sizes_right<Constant>();
  expect_right<Constant>(GemmExtents{.m = 3, .n = 136, .k = 200}, 5, 2);  // fewer K tiles than stages
  expect_right<Constant>(GemmExtents{.m = 3, .n = 600, .k = 600}, 6, 2);  // more, and several tiles
  expect_right<Constant>(GemmExtents{.m = 3, .n = 600, .k = 256}, 7, 2);  // stages could keep what they hold
}
TEST(SwappedGemm, IsRightForResultsOfFp8) { expect_random_sizes_right<ToFp8>(); }

constexpr const char* kExpressions[] = {
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
  for (const char* expression : kExpressions) {
    SCOPED_TRACE(expression);
    const fusion::Graph graph = fusion::graph(expression);
    expect_random_sizes_right<Spec>(&graph, 10 * ++seed);
  }
}
TEST(SwappedGemm, IsRightForEveryExpressionWithATileOf8Rows) { expect_every_expression_right<Any<8, 64>>(); }
TEST(SwappedGemm, IsRightForEveryExpressionWithATileOf32RowsThatTwoWarpgroupsShare) {
  expect_every_expression_right<Any<32, 128>>();
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

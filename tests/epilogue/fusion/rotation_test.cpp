// Rotary embeddings: text, operators, the pairs of columns, the reference against the definition; and quantised outputs
// of the reference.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/expression.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/fusion/print.hpp>
#include <gantry/epilogue/fusion/reference.hpp>
#include <gantry/epilogue/fusion/rotation.hpp>

namespace gantry::fusion {
namespace {

using namespace names;

TEST(Rotary, IsTheSameInTextAndInOperators) {
  static_assert(graph("d = rotary_adjacent(acc, load(cos), row(sin))") ==
                expression(d = rotary_adjacent(acc, load("cos"), row("sin"))));
  static_assert(graph("d = rotary_halves(acc, load(cos), load(sin), 64)") ==
                expression(d = rotary_halves(acc, load("cos"), load("sin"), 64)));
  static_assert(graph("d = rotate(acc, 32)") == expression(d = rotate(acc, 32)));
  static_assert(graph("d = rotate(acc, 32)") != graph("d = rotate(acc, 2)"));
  static_assert(graph("d = rotary_halves(acc, 1, 2, 2)") == graph("d = rotary_adjacent(acc, 1, 2)"));
}

TEST(Rotary, IsPrintedAsItIsRead) {
  const Graph g = graph("d = rotary_halves(acc + row(b), load(cos:bf16), load(sin:bf16), 128)");
  EXPECT_STREQ(print(g).c_str(), "let t0 = acc + row(b); d = t0 * load(cos:bf16) + rotate(t0, 128) * load(sin:bf16)");
  EXPECT_EQ(graph(print(g).c_str()), g);
}

TEST(Rotary, IsRefusedInASentenceWhereAThreadHasNotBothColumns) {
  const auto problem = [](const char* text) { return std::string(parse_graph(text).problem.c_str()); };
  EXPECT_EQ(
      problem("d = rotate(acc, 8)"),
      "node 1 (rotate) pairs the columns of heads of 8: a thread has both columns of a pair in heads of 2 columns, "
      "and of 16, 32, ... to 256; the nearest head that works is 16");
  EXPECT_EQ(problem("d = rotate(acc, 1.5)"), "a head has a whole number of columns: 2, or 16, 32, ... to 256");
  EXPECT_EQ(problem("d = rotate(acc)"), "expected ',' and how many columns a head has: rotate(x, 64), found ')'");
  EXPECT_EQ(problem("d = rotary_adjacent(acc, 1)"), "expected ',': rotary_adjacent(x, cos, sin), found ')'");
}

TEST(Rotary, WantsAWholeNumberOfHeads) {
  const Graph g = graph("d = rotate(rotate(acc, 48), 2)");
  const FusionArguments args(g);
  EXPECT_TRUE(args.problems({.m = 1, .n = 96}).ok());
  const ArgumentReasons reasons = args.problems({.m = 1, .n = 64});
  ASSERT_TRUE(reasons.has(ArgumentRule::rotated_columns));
  EXPECT_STREQ(describe(reasons[0]).c_str(),
               "D has 64 columns, and the epilogue rotates pairs in heads of 48: every column has its partner: the "
               "columns of D are a multiple of a head's; the nearest larger number that works is 96");
}

// By the columns of values, as the tile has them.
TEST(Rotation, PartnersAreTheThreadsOwnAndEachOthers) {
  for (const int columns : {32, 64, 96, 128, 256}) {
    const Subtiles tile{.m = 128, .n = columns, .epi_m = 128, .epi_n = columns, .warpgroups = 1};
    for (const int head : {2, 16, 32, 48, 64, 96, 128, 256}) {
      if (!has_whole_spans(tile, tile.values(), head)) continue;
      for (int i = 0; i < tile.values(); ++i) {
        const Partner partner = partner_of(tile, head, i);
        for (const int thread : {0, 3, 37, 127}) {
          ASSERT_EQ(tile.row(thread, partner.value), tile.row(thread, i));
          ASSERT_EQ(tile.column(thread, partner.value), partner_column(head, tile.column(thread, i)));
          ASSERT_EQ(partner.first_half, tile.column(thread, i) % head < head / 2);
        }
        ASSERT_EQ(partner_of(tile, head, partner.value).value, i);
      }
    }
  }
}

TEST(Rotary, OfTheReferenceIsItsDefinition) {
  constexpr int kM = 3, kN = 64;
  std::vector<float> x(kM * kN), cosines(kM * kN), sines(kM * kN);
  for (int i = 0; i < kM * kN; ++i) {
    const auto at = static_cast<std::size_t>(i);
    x[at] = static_cast<float>(i % 13 - 6);
    cosines[at] = static_cast<float>(i % 5 - 2);
    sines[at] = static_cast<float>(i % 7 - 3);
  }
  for (const int head : {2, 16, 32, 64}) {
    const Graph g = expression(d = rotary_halves(2 * acc, load("cos"), load("sin"), head));
    FusionArguments args(g);
    args["cos"] = cosines.data();
    args["sin"] = sines.data();
    const ReferenceResult expected =
        reference(g, {.shape = {.m = kM, .n = kN}, .accumulators = {ElementType::f32, x.data(), kN, 1}}, args);
    for (int m = 0; m < kM; ++m) {
      for (int first = 0; first < kN; first += head) {
        for (int i = 0; i < head / 2; ++i) {
          const auto a = static_cast<std::size_t>(m * kN + first + i), b = a + static_cast<std::size_t>(head / 2);
          ASSERT_TRUE(expected.d[a].is_point() && expected.d[b].is_point());
          ASSERT_EQ(expected.d[a].value, 2.0 * x[a] * cosines[a] - 2.0 * x[b] * sines[a]) << head << ": " << a;
          ASSERT_EQ(expected.d[b].value, 2.0 * x[b] * cosines[b] + 2.0 * x[a] * sines[b]) << head << ": " << b;
        }
      }
    }
  }
}

TEST(Quantized, OutputsOfTheReferenceAreRoundedToEvenAndSaturated) {
  const Graph g =
      graph("d = quantize(acc, scalar(scale)); b:e4m3 = d; h:e5m2 = d * 1024; u:u8 = d; top = reduce_amax(acc)");
  const std::vector<float> acc{-2000, -3, -1, 1, 3, 5, 2000, 34};
  std::uint8_t bytes[3][8] = {};
  float top = 0;
  FusionArguments args(g);
  args["scale"] = 0.5f;
  args["b"] = static_cast<void*>(bytes[0]);
  args["h"] = static_cast<void*>(bytes[1]);
  args["u"] = static_cast<void*>(bytes[2]);
  args["top"] = &top;
  const ReferenceResult expected = reference(
      g,
      {.shape = {.m = 1, .n = 8}, .accumulators = {ElementType::f32, acc.data(), 8, 1}, .d_element = ElementType::s8},
      args);
  const double of_s8[] = {-128, -2, 0, 0, 2, 2, 127, 17}, of_u8[] = {0, 0, 0, 0, 2, 2, 255, 17};
  const double of_e4m3[] = {-448, -1.5, -0.5, 0.5, 1.5, 2.5, 448, 16};
  const double of_e5m2[] = {-57344, -1536, -512, 512, 1536, 2560, 57344, 16384};
  for (std::size_t i = 0; i < 8; ++i) {
    for (const auto& [range, value] : {std::pair{expected.d[i], of_s8[i]},
                                       {expected.output("u")[i], of_u8[i]},
                                       {expected.output("b")[i], of_e4m3[i]},
                                       {expected.output("h")[i], of_e5m2[i]}}) {
      EXPECT_TRUE(range.is_point() && range.holds(value)) << i << ": " << range.lower << ", not " << value;
    }
  }
  EXPECT_TRUE(expected.output("top")[0].is_point() && expected.output("top")[0].holds(2000));
}

}  // namespace
}  // namespace gantry::fusion

// Dropout: the generator against published words, its mask's statistics, and text, operators and reference of it.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/dropout.hpp>
#include <gantry/epilogue/fusion/expression.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/fusion/print.hpp>
#include <gantry/epilogue/fusion/reference.hpp>
#include <gantry/gemm/swap.hpp>

namespace gantry::fusion {
namespace {

// The known answers that come with the authors' Random123.
TEST(Philox2x32, GivesItsPublishedWords) {
  EXPECT_EQ(philox2x32<7>({0, 0}, 0), (PhiloxWords{0x257a3673, 0xcd26be2a}));
  EXPECT_EQ(philox2x32<10>({0, 0}, 0), (PhiloxWords{0xff1dae59, 0x6cd10df2}));
  EXPECT_EQ(philox2x32<10>({0xffffffff, 0xffffffff}, 0xffffffff), (PhiloxWords{0x2c3f628b, 0xab4fd7ad}));
  EXPECT_EQ(philox2x32<10>({0x243f6a88, 0x85a308d3}, 0x13198a2e), (PhiloxWords{0xdd7ce038, 0xf62a4c12}));
}

std::vector<bool> mask(std::uint32_t seed, int batch, float p, int rows, int columns) {
  std::vector<bool> out;
  const Dropout dropout{drop_threshold(p), dropout_key(seed, batch)};
  for (int m = 0; m < rows; ++m) {
    for (int n = 0; n < columns; ++n) out.push_back(keeps(dropout, m, n));
  }
  return out;
}

// How far the number of equal bits of two masks is from that of independent ones, in standard deviations.
double dependence(const std::vector<bool>& a, const std::vector<bool>& b, double p) {
  const double equal = p * p + (1 - p) * (1 - p);
  double count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] == b[i] ? 1 : 0;
  const auto size = static_cast<double>(a.size());
  return std::abs(count - size * equal) / std::sqrt(size * equal * (1 - equal));
}

TEST(Dropout, DropsTheShareThatWasAskedFor) {
  constexpr int kRows = 512, kColumns = 512;
  for (const float p : {0.0f, 0.01f, 0.1f, 0.5f, 0.9f, 0.99f}) {
    for (std::uint32_t seed = 0; seed < 8; ++seed) {
      double dropped = 0;
      for (const bool kept : mask(seed, 0, p, kRows, kColumns)) dropped += kept ? 0 : 1;
      const double expected = static_cast<double>(p) * kRows * kColumns;
      EXPECT_LE(std::abs(dropped - expected), 5 * std::sqrt(expected * (1 - static_cast<double>(p))))
          << p << ", " << seed;
    }
  }
}

// Every row and every column by itself: a generator whose bits follow one coordinate passes the test above.
TEST(Dropout, DropsTheShareInEveryRowAndColumn) {
  constexpr int kSize = 400;
  const std::vector<bool> all = mask(3, 1, 0.5f, kSize, kSize);
  for (int i = 0; i < kSize; ++i) {
    int row = 0, column = 0;
    for (int j = 0; j < kSize; ++j) {
      row += all[static_cast<std::size_t>(i * kSize + j)] ? 1 : 0;
      column += all[static_cast<std::size_t>(j * kSize + i)] ? 1 : 0;
    }
    EXPECT_NEAR(row, kSize / 2, 5 * 10) << "row " << i;  // the standard deviation is 10
    EXPECT_NEAR(column, kSize / 2, 5 * 10) << "column " << i;
  }
}

TEST(Dropout, ElementsAreIndependentOfTheirNeighboursSeedsAndBatches) {
  constexpr int kSize = 400;
  for (const float p : {0.1f, 0.5f}) {
    const std::vector<bool> all = mask(7, 2, p, kSize + 16, kSize + 16);
    const auto part = [&](int row, int column) {
      std::vector<bool> out;
      for (int m = 0; m < kSize; ++m) {
        for (int n = 0; n < kSize; ++n)
          out.push_back(all[static_cast<std::size_t>((m + row) * (kSize + 16) + n + column)]);
      }
      return out;
    };
    const std::vector<bool> here = part(0, 0);
    for (const auto& [row, column] : {std::pair{0, 1}, {0, 2}, {1, 0}, {8, 0}, {1, 1}, {0, 8}, {16, 16}}) {
      EXPECT_LE(dependence(here, part(row, column), static_cast<double>(p)), 5) << row << ", " << column;
    }
    EXPECT_LE(dependence(here, mask(8, 2, p, kSize, kSize), static_cast<double>(p)), 5) << "the next seed";
    EXPECT_LE(dependence(here, mask(7, 3, p, kSize, kSize), static_cast<double>(p)), 5) << "the next batch";
    EXPECT_LE(dependence(mask(0, 1, p, kSize, kSize), mask(1, 0, p, kSize, kSize), static_cast<double>(p)), 5);
  }
}

using namespace names;

TEST(Dropout, IsTheSameInTextAndInOperators) {
  constexpr auto bits = ElementType::u1;
  static_assert(
      graph("d = dropout(relu(acc), 0.25, seed); bits:u1 = keep(0.25, seed)") ==
      expression(d = dropout(relu(acc), 0.25f, "seed"), store("bits", {.element = bits}) = keep(0.25f, "seed")));
  static_assert(
      graph("d = dropout(acc, 0.5, s:s64 = 7)") ==
      expression(d = dropout(acc, 0.5f, "s", {.element = ElementType::s64, .has_default = true, .value = 7})));
  static_assert(graph("d = dropout(acc, 0.5, s)") == graph("d = select(keep(0.5, s:u32), acc * 2, 0)"));
  static_assert(graph("d = dropout(acc, 0.5, s)") != graph("d = dropout(acc, 0.25, s)"));
}

TEST(Dropout, IsPrintedAsItIsRead) {
  for (const char* text : {
           "d = dropout(relu(acc), 0.25, seed:u32)",
           "d = dropout(acc, 0.1, seed:u32 = 3); bits:u1 = keep(0.1, seed:u32 = 3)",
           "d = select(keep(0.5, s:s64), acc, 0)",
           "let t0 = acc * 2; d = select(keep(0.5, s:u32), t0, 0); y = t0",
           "d = dropout(dropout(acc, 0.5, a:u32), 0.5, b:u32) + scalar(a:u32)",
       }) {
    EXPECT_STREQ(print(graph(text)).c_str(), text);
    EXPECT_TRUE(parse_graph(text).ok());
  }
}

TEST(Dropout, OfOperandsThatAreSwappedTwiceIsItself) {
  const Graph g = graph("d = dropout(acc, 0.25, seed)");
  EXPECT_NE(swapped(g), g);
  EXPECT_EQ(swapped(swapped(g)), g);
  EXPECT_EQ(canonical(swapped(g)), swapped(g));
}

TEST(Dropout, IsRefusedInASentenceWhereItsShareOrSeedIsNone) {
  const auto problem = [](const char* text) { return std::string(parse_graph(text).problem.c_str()); };
  EXPECT_EQ(problem("d = dropout(acc, 1, seed)"), "dropout drops a share of the elements: 0 or more, and below 1");
  EXPECT_EQ(problem("d = keep(-0.5, seed)"), "dropout drops a share of the elements: 0 or more, and below 1");
  EXPECT_EQ(
      problem("d = dropout(acc, p, seed)"),
      "expected the share that is dropped, a number in [0, 1): keep(0.1, seed), dropout(x, 0.1, seed), found 'p'");
  EXPECT_EQ(problem("d = dropout(acc, 0.1)"), "expected ',' and the name of the seed, found ')'");
  EXPECT_EQ(
      problem("d = dropout(acc, 0.1, seed:f32)"),
      "argument 0 ('seed') is a seed of f32: a seed is a whole number, u32, s32, u64 or s64, of which the lowest 32 "
      "bits count; the nearest type that works is u32");
  EXPECT_EQ(problem("d = dropot(acc, 0.1, seed)"), "there is no function dropot; did you mean dropout?");
}

TEST(Dropout, TakesWholeNumbersByValueAndLargerOnesByAddress) {
  const Graph g = graph("d = dropout(acc, 0.5, seed)");
  FusionArguments args(g);
  const auto refused = [&] { return args.problems({.m = 8, .n = 8}).has(ArgumentRule::seed_by_value); };
  for (const float fine : {0.0f, 1.0f, 16777215.0f}) {
    args["seed"] = fine;
    EXPECT_TRUE(args.problems({.m = 8, .n = 8}).ok()) << fine;
  }
  for (const float wrong : {-1.0f, 0.5f, 16777216.0f, 1e20f, std::nanf("")}) {
    args["seed"] = wrong;
    EXPECT_TRUE(refused()) << wrong;
  }
  std::uint32_t seed = 0xdeadbeef;
  args["seed"] = &seed;
  EXPECT_TRUE(args.problems({.m = 8, .n = 8}).ok());
}

TEST(Dropout, OfTheReferenceScalesWhatItKeepsAndCountsFromThePlaceInD) {
  const Graph g = graph("d = dropout(acc, 0.75, seed:s64); bits:u1 = keep(0.75, seed:s64)");
  constexpr int kM = 20, kN = 30, kBatch = 2;
  std::vector<float> acc(static_cast<std::size_t>(kM) * kN * kBatch, 3.0f);
  const std::int64_t seed = 0x7fffffff12345678;
  std::vector<std::uint8_t> bits(1000);
  FusionArguments args(g);
  args["seed"] = &seed;
  args["bits"].tensor(bits.data(), 32);
  ReferenceProblem problem{.shape = {.m = kM, .n = kN, .batch = kBatch},
                           .accumulators = {ElementType::f32, acc.data(), kN, 1, kM * kN}};
  problem.first_row = 5;
  problem.first_batch = 3;
  const ReferenceResult expected = reference(g, problem, args);
  for (int batch = 0; batch < kBatch; ++batch) {
    for (int m = 0; m < kM; ++m) {
      for (int n = 0; n < kN; ++n) {
        const bool kept = keeps({drop_threshold(0.75f), dropout_key(0x12345678, 3 + batch)}, 5 + m, n);
        const Range& value = expected.d[expected.index(m, n, batch)];
        ASSERT_TRUE(value.is_point() && value.value == (kept ? 12 : 0)) << m << ", " << n;
        ASSERT_TRUE(expected.output("bits")[expected.index(m, n, batch)].holds(kept ? 1 : 0));
        ASSERT_FALSE(expected.output("bits")[expected.index(m, n, batch)].holds(kept ? 0 : 1));
      }
    }
  }
}

}  // namespace
}  // namespace gantry::fusion

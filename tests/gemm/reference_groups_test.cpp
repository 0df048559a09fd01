// The reference knows groups and indices: what is right passes, one wrong element is named, and nothing is read beyond
// the matrices (the sanitizer's long form looks). No kernel runs here.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm.hpp>

#include "grouped_exact.hpp"

namespace gantry_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::int64_t kN = 6, kK = 8;

struct ByRows {
  static constexpr GemmOptions options{.d = ElementType::f32, .groups = GemmGrouping::along_m};
  static constexpr fusion::Graph graph =
      fusion::graph("d = acc + row(bias); all = reduce_sum(d); each = reduce_row_sum(d)");
};

std::size_t at(std::int64_t row, std::int64_t columns, std::int64_t column = 0) {
  return static_cast<std::size_t>(row * columns + column);
}

// D = A B^T + bias of rows [begin, end) with the weights of a group, by the definition.
struct Whole {
  std::int64_t m, groups;
  std::vector<bf16> a = numbers<bf16>(at(m, kK), 1), b = numbers<bf16>(at(groups * kN, kK), 2);
  std::vector<float> bias = numbers<float>(at(groups, kN), 3), d = std::vector<float>(at(m, kN), NAN);
  std::vector<float> each = std::vector<float>(at(groups, kN), 0.0F);
  float all = 0;

  void compute(std::int64_t group, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      for (std::int64_t j = 0; j < kN; ++j) {
        float sum = bias[at(group, kN, j)];
        for (std::int64_t x = 0; x < kK; ++x) sum += float(a[at(i, kK, x)]) * float(b[at(group * kN + j, kK, x)]);
        d[at(i, kN, j)] = sum;
        all += sum;
        each[at(group, kN, j)] += sum;
      }
    }
  }
  GemmArguments<ByRows> arguments() {
    GemmArguments<ByRows> out({.m = m, .n = kN, .k = kK, .batch = groups});
    out.a = a.data();
    out.b = b.data();
    out.d = d.data();
    out.fusion["bias"] = bias.data();
    out.fusion["all"] = &all;
    out.fusion["each"] = each.data();
    return out;
  }
};

TEST(GroupedReference, JudgesRowsOfGroupsByTheirOwnWeights) {
  Whole x{.m = 12, .groups = 3};
  const std::int32_t offsets[] = {1, 5, 5, 10};  // rows 0, 10 and 11 are in no group, and hold NaN
  x.compute(0, 1, 5);
  x.compute(2, 5, 10);
  GemmArguments<ByRows> args = x.arguments();
  args.groups.offsets = offsets;
  EXPECT_EQ(first_mismatch(args), "");
  x.d[at(7, kN, 2)] += 1;
  EXPECT_THAT(first_mismatch(args), StartsWith("D: element (7, 2, 0) is "));
  x.d[at(7, kN, 2)] -= 1;
  x.each[at(2, kN, 4)] += 1;
  EXPECT_THAT(first_mismatch(args), StartsWith("each: element (0, 4, 2) is "));
  x.each[at(2, kN, 4)] -= 1;
  x.all += 1;
  EXPECT_THAT(first_mismatch(args), StartsWith("all: element (0, 0, 0) is "));
}

TEST(GroupedReference, TakesCountsAndWrongOffsetsAsKernelsDo) {
  Whole masked{.m = 12, .groups = 3};
  const std::int32_t counts[] = {9, -1, 2};  // of a capacity of 4
  masked.compute(0, 0, 4);
  masked.compute(2, 8, 10);
  GemmArguments<ByRows> args = masked.arguments();
  args.groups.counts = counts;
  EXPECT_EQ(first_mismatch(args), "");
  Whole falling{.m = 12, .groups = 3};
  const std::int32_t offsets[] = {0, 5, 3, 12};  // the second falls, and the third begins inside of the first
  falling.compute(0, 0, 5);
  GemmArguments<ByRows> wrong = falling.arguments();
  wrong.groups.offsets = offsets;
  EXPECT_EQ(first_mismatch(wrong), "");
}

struct ByK {
  static constexpr GemmOptions options{
      .d = ElementType::f32, .major_a = Major::MN, .major_b = Major::MN, .groups = GemmGrouping::along_k};
};

TEST(GroupedReference, JudgesGroupsOfKByTheirOwnRows) {
  constexpr std::int64_t kM = 5, kAll = 9;
  const auto a = numbers<bf16>(at(kAll, kM), 1), b = numbers<bf16>(at(kAll, kN), 2);
  const std::int32_t offsets[] = {1, 4, 4, 9};
  std::vector<float> d(at(3 * kM, kN));
  for (std::int64_t g = 0; g < 3; ++g) {
    for (std::int64_t x = offsets[g]; x < offsets[g + 1]; ++x) {
      for (std::int64_t i = 0; i < kM; ++i) {
        for (std::int64_t j = 0; j < kN; ++j) {
          d[at(g * kM + i, kN, j)] += float(a[at(x, kM, i)]) * float(b[at(x, kN, j)]);
        }
      }
    }
  }
  GemmArguments<ByK> args({.m = kM, .n = kN, .k = kAll, .batch = 3});
  args.a = a.data();
  args.b = b.data();
  args.d = d.data();
  args.groups.offsets = offsets;
  EXPECT_EQ(first_mismatch(args), "");
  d[at(kM + 3, kN, 1)] = 1;  // the empty group's accumulators are 0
  EXPECT_THAT(first_mismatch(args), StartsWith("D: element (3, 1, 1) is 1.000000, and should be 0.000000"));
}

struct ByIndex {
  static constexpr GemmOptions options{.d = ElementType::f32, .gather_a = true, .scatter_d = RowScatter::add};
};

TEST(GroupedReference, FindsRowsWhereTheIndicesSay) {
  constexpr std::int64_t kM = 6, kRows = 4;
  const auto a = numbers<bf16>(at(kRows, kK), 1), b = numbers<bf16>(at(kN, kK), 2);
  const std::int32_t from[] = {3, 0, 3, 4, -1, 1}, to[] = {1, 2, 1, 0, 3, 7};  // of A and of D, with 4 and 5 rows
  std::vector<float> d(at(5, kN));
  d[at(4, kN)] = NAN;  // no row goes there
  for (std::int64_t i = 0; i < kM; ++i) {
    for (std::int64_t j = 0; j < kN && to[i] < 5; ++j) {
      for (std::int64_t x = 0; x < kK && from[i] >= 0 && from[i] < kRows; ++x) {
        d[at(to[i], kN, j)] += float(a[at(from[i], kK, x)]) * float(b[at(j, kK, x)]);
      }
    }
  }
  GemmArguments<ByIndex> args({.m = kM, .n = kN, .k = kK});
  args.a = a.data();
  args.b = b.data();
  args.d = d.data();
  args.gather = {from, kRows};
  args.scatter = {to, 5};
  EXPECT_EQ(first_mismatch(args), "");
  d[at(1, kN, 3)] += 1;
  EXPECT_THAT(first_mismatch(args), StartsWith("D: element (1, 3, 0) is "));
}

struct Apart {
  static constexpr GemmOptions options{.groups = GemmGrouping::pointer_array};
};

TEST(GroupedReference, RefusesPointerArraysInASentence) {
  const GemmGroup gemm{};
  GemmArguments<Apart> args({.m = 8, .n = 8, .k = 8});
  args.groups.gemms = &gemm;
  EXPECT_THAT(first_mismatch(args), HasSubstr("computes no pointer arrays"));
}

}  // namespace
}  // namespace gantry_test

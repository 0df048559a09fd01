// Groups of rows with an epilogue that has one argument of every kind, against its definition, element by element: the
// bias and the sums over rows are each group's own, everything else is shared.
#pragma once

#include <algorithm>
#include <cmath>

#include "grouped_exact.hpp"

namespace gantry_test {

inline constexpr fusion::Graph kEverything = fusion::graph(
    "let z = alpha * acc + c + row(bias) + col(shift) + load(given:f32); d = relu(z); positive:u1 = z > 0; "
    "copy:f32 = z; sums = reduce_row_add(z); totals = reduce_col_add(z); top = reduce_max(z)");

struct EverythingInMemory {
  std::vector<float> bias, shift, given, copy, sums, totals;
  std::vector<std::uint8_t> positive;
  float top = 0;
};

template <class Spec>
void expect_everything(const std::vector<int>& sizes, std::uint64_t seeds) {
  using Gemm = gantry::Gemm<Spec>;
  const Offsets offsets = offsets_of(sizes);
  const int groups = static_cast<int>(sizes.size());
  constexpr int kN = 72, kK = 64;
  const int m = offsets.back();
  const auto count = [](int x, int y) { return static_cast<std::size_t>(x) * static_cast<std::size_t>(y); };
  const auto a = numbers<bf16>(count(m, kK), 1), b = numbers<bf16>(count(groups * kN, kK), 2);
  const auto c = numbers<bf16>(count(m, kN), 3);
  EverythingInMemory x{numbers<float>(count(groups, kN), 4),
                       numbers<float>(count(m, 1), 5),
                       numbers<float>(count(m, kN), 6),
                       std::vector<float>(count(m, kN), kUntouched),
                       std::vector<float>(count(groups, kN), kUntouched),
                       std::vector<float>(count(m, 1), kUntouched),
                       std::vector<std::uint8_t>(count(m, kN / 8), 0xa5)};
  std::vector<float> d(count(m, kN), kUntouched);
  const GemmExtents extents{.m = m, .n = kN, .k = kK, .batch = groups};
  typename Gemm::Arguments args = [&extents] {
    if constexpr (detail::kRunTimeGraph<Spec>) {
      return typename Gemm::Arguments(extents, kEverything);
    } else {
      return typename Gemm::Arguments(extents);
    }
  }();
  args.a = a.data();
  args.b = b.data();
  args.c = c.data();
  args.d = d.data();
  args.groups.offsets = offsets.data();
  args.fusion["alpha"] = 2.0f;
  args.fusion["bias"] = x.bias.data();
  args.fusion["shift"] = x.shift.data();
  args.fusion["given"] = x.given.data();
  args.fusion["positive"] = x.positive.data();
  args.fusion["copy"] = x.copy.data();
  args.fusion["sums"] = x.sums.data();
  args.fusion["totals"] = x.totals.data();
  args.fusion["top"] = &x.top;
  const auto plan = Gemm::plan(args, device_of(Simulator(), 4));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const LaunchResult result = plan->run(Simulator({.seed = seed}));
    ASSERT_TRUE(result) << describe(result);
    std::vector<float> sums(count(groups, kN)), totals(count(m, 1));
    float top = -INFINITY;
    for (int g = 0; g < groups; ++g) {
      for (int row = offsets[static_cast<std::size_t>(g)]; row < offsets[static_cast<std::size_t>(g) + 1]; ++row) {
        for (int j = 0; j < kN; ++j) {
          const std::size_t at = count(row, kN) + static_cast<std::size_t>(j);
          float sum = 0;
          for (int k = 0; k < kK; ++k) {
            sum += float(a[count(row, kK) + static_cast<std::size_t>(k)]) *
                   float(b[count(g * kN + j, kK) + static_cast<std::size_t>(k)]);
          }
          const float z = 2 * sum + float(c[at]) + x.bias[count(g, kN) + static_cast<std::size_t>(j)] +
                          x.shift[static_cast<std::size_t>(row)] + x.given[at];
          ASSERT_EQ(d[at], std::max(z, 0.0f)) << "row " << row << ", column " << j;
          ASSERT_EQ(x.copy[at], z);
          const int bit = x.positive[count(row, kN / 8) + static_cast<std::size_t>(j / 8)] >> j % 8 & 1;
          ASSERT_EQ(bit, z > 0 ? 1 : 0) << "row " << row << ", column " << j;
          sums[count(g, kN) + static_cast<std::size_t>(j)] += z;
          totals[static_cast<std::size_t>(row)] += z;
          top = std::max(top, z);
        }
      }
    }
    EXPECT_EQ(x.sums, sums);
    EXPECT_EQ(x.totals, totals);
    EXPECT_EQ(x.top, top);
  }
}

}  // namespace gantry_test

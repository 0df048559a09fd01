// Grouped GEMMs on the simulated SM, whose accumulators are exact, against their definition.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm.hpp>

#include "exact_sums.hpp"

namespace gantry_test {

using namespace gantry;

using Offsets = std::vector<std::int32_t>;

inline Offsets offsets_of(const std::vector<int>& sizes) {
  Offsets out{0};
  for (const int size : sizes) out.push_back(out.back() + size);
  return out;
}

// Sizes of 0, 1, a tile and one more or less, and others.
inline std::vector<int> random_sizes(std::mt19937& random, int groups, int tile, int most) {
  const int edges[] = {0, 0, 1, tile - 1, tile, tile + 1};
  std::vector<int> out;
  for (int i = 0; i < groups; ++i) {
    out.push_back(random() % 2 == 0 ? edges[random() % 6] : static_cast<int>(random() % static_cast<unsigned>(most)));
  }
  return out;
}

// Small integers: accumulators are exact.
template <class T>
std::vector<T> numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> out(count);
  for (T& x : out) x = T(static_cast<float>(static_cast<int>(random() % 7) - 3));
  return out;
}

template <ElementType a, GemmSchedule schedule, int tile_m, int cluster_m, int cluster_n, Major major_b = Major::K>
struct Rows {
  static constexpr GemmOptions options{.a = a,
                                       .b = a,
                                       .major_b = major_b,
                                       .tile = {tile_m, 128},
                                       .cluster = {cluster_m, cluster_n},
                                       .stages = 2,
                                       .schedule = schedule,
                                       .groups = GemmGrouping::along_m};
};

// Rows before the first group, after the last one and between them keep what they had.
inline constexpr float kUntouched = -77;

template <class Spec>
void expect_rows(const std::vector<int>& sizes, int n, int k, std::uint64_t seed) {
  using Gemm = gantry::Gemm<Spec>;
  using A = typename Gemm::Arguments::A;
  Offsets offsets = offsets_of(sizes);
  const int groups = static_cast<int>(sizes.size());
  constexpr int kBefore = 3, kAfter = 5;
  for (std::int32_t& x : offsets) x += kBefore;
  const int m = offsets.back() + kAfter;
  const auto a = numbers<A>(static_cast<std::size_t>(m) * static_cast<std::size_t>(k), 1);
  const auto b = numbers<A>(static_cast<std::size_t>(groups) * static_cast<std::size_t>(n * k), 2);
  std::vector<bf16> d(static_cast<std::size_t>(m) * static_cast<std::size_t>(n), bf16(kUntouched));
  typename Gemm::Arguments args({.m = m, .n = n, .k = k, .batch = groups});
  args.a = a.data();
  args.b = b.data();
  args.d = d.data();
  args.groups.offsets = offsets.data();
  const auto plan = Gemm::plan(args, device_of(Simulator(), 6));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  const LaunchResult result = plan->run(Simulator({.seed = seed}));
  ASSERT_TRUE(result) << describe(result);
  const bool n_major = Spec::options.major_b == Major::MN;
  const std::vector<float> of_a = floats(a), of_b = floats(b);
  for (int row = 0; row < m; ++row) {
    int group = -1;
    for (int g = 0; g < groups; ++g) {
      if (row >= offsets[static_cast<std::size_t>(g)] && row < offsets[static_cast<std::size_t>(g + 1)]) group = g;
    }
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int x = 0; x < k && group >= 0; ++x) {
        const auto at = static_cast<std::size_t>(group) * static_cast<std::size_t>(n * k) +
                        static_cast<std::size_t>(n_major ? x * n + j : j * k + x);
        sum += of_a[static_cast<std::size_t>(row * k + x)] * of_b[at];
      }
      ASSERT_EQ(float(d[static_cast<std::size_t>(row * n + j)]), group < 0 ? kUntouched : float(bf16(sum)))
          << "row " << row << " of group " << group << ", column " << j;
    }
  }
}

// One group, whose rows are all the memory that A has, in a capacity of more: the simulator reports a row before or
// after them.
template <class Spec>
void expect_no_row_of_a_neighbour() {
  using Gemm = gantry::Gemm<Spec>;
  constexpr int kCapacity = 256, kN = 136, kK = 72;
  static bf16 d[kCapacity * kN];  // before the heap: where A would be is nothing that is written
  const auto given = numbers<bf16>(kCapacity * kK, 1), b = numbers<bf16>(kN * kK, 2);
  for (const std::int32_t count : {1, 7, 8, 9, 63, 64, 65, 120, 127, 128, 129, 200, 255}) {
    SCOPED_TRACE(testing::Message() << count << " rows");
    Buffer<bf16> a(static_cast<std::size_t>(count) * kK);
    std::copy_n(given.begin(), a.size(), a.data());
    typename Gemm::Arguments args({.m = kCapacity, .n = kN, .k = kK, .batch = 1});
    args.a = a.data();
    args.b = b.data();
    args.d = d;
    args.groups.counts = &count;
    const auto plan = Gemm::plan(args, device_of(Simulator(), 4));
    ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
    const LaunchResult result = plan->run(Simulator({.seed = static_cast<std::uint64_t>(count)}));
    ASSERT_TRUE(result) << describe(result);
  }
}

template <int tile_m, int cluster_m, int cluster_n, bool adds_c, GemmSchedule schedule = GemmSchedule::cooperative>
struct Gradient {
  static constexpr GemmOptions options{.d = adds_c ? ElementType::f32 : ElementType::bf16,
                                       .major_a = Major::MN,
                                       .major_b = Major::MN,
                                       .tile = {tile_m, 128},
                                       .cluster = {cluster_m, cluster_n},
                                       .stages = 2,
                                       .schedule = schedule,
                                       .groups = GemmGrouping::along_k};
  static constexpr fusion::Graph graph = adds_c ? fusion::graph("d = acc + c") : fusion::graph("d = acc");
};

template <class Spec>
void expect_gradients(const std::vector<int>& sizes, int m, int n, std::uint64_t seed) {
  using Gemm = gantry::Gemm<Spec>;
  using D = typename Gemm::Arguments::D;
  Offsets offsets = offsets_of(sizes);
  for (std::int32_t& x : offsets) x += 2;
  const int groups = static_cast<int>(sizes.size()), k = offsets.back() + 3;
  const auto count = [](int x, int y) { return static_cast<std::size_t>(x) * static_cast<std::size_t>(y); };
  const auto a = numbers<bf16>(count(k, m), 1), b = numbers<bf16>(count(k, n), 2);
  const bool adds_c = Spec::graph.uses_source();
  const auto c = numbers<D>(count(groups * m, n), 3);
  std::vector<D> d(count(groups * m, n), D(kUntouched));
  typename Gemm::Arguments args({.m = m, .n = n, .k = k, .batch = groups});
  args.a = a.data();
  args.b = b.data();
  if constexpr (Spec::graph.uses_source()) args.c = c.data();
  args.d = d.data();
  args.groups.offsets = offsets.data();
  const auto plan = Gemm::plan(args, device_of(Simulator(), 4));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  const LaunchResult result = plan->run(Simulator({.seed = seed}));
  ASSERT_TRUE(result) << describe(result);
  for (int g = 0; g < groups; ++g) {
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        const std::size_t at = count(g * m + i, n) + static_cast<std::size_t>(j);
        float sum = adds_c ? float(c[at]) : 0;
        for (int x = offsets[static_cast<std::size_t>(g)]; x < offsets[static_cast<std::size_t>(g) + 1]; ++x) {
          sum +=
              float(a[count(x, m) + static_cast<std::size_t>(i)]) * float(b[count(x, n) + static_cast<std::size_t>(j)]);
        }
        ASSERT_EQ(float(d[at]), float(D(sum))) << "group " << g << ", row " << i << ", column " << j;
      }
    }
  }
}

// Rows of C, D and auxiliary tensors that TMA cannot address: nothing of another group is touched.
inline constexpr fusion::Graph kOddColumns = fusion::graph("x:bf16 = acc + load(y:bf16); d = acc + c + row(bias)");
template <class Spec>
void expect_any_columns() {
  using Gemm = gantry::Gemm<Spec>;
  constexpr int kGroups = 4, kN = 77, kK = 64;
  Offsets offsets = offsets_of({100, 0, 30, 5});
  for (std::int32_t& x : offsets) x += 1;
  const int m = offsets.back() + 2;
  const auto count = [](int x, int y) { return static_cast<std::size_t>(x) * static_cast<std::size_t>(y); };
  const auto a = numbers<bf16>(count(m, kK), 1), b = numbers<bf16>(count(kGroups * kN, kK), 2);
  const auto c = numbers<bf16>(count(m, kN), 3);
  const auto bias = numbers<float>(count(kGroups, kN), 4);
  const auto y = numbers<bf16>(count(m, kN), 5);
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    std::vector<bf16> d(count(m, kN), bf16(kUntouched)), stored(d);
    typename Gemm::Arguments args({.m = m, .n = kN, .k = kK, .batch = kGroups});
    args.a = a.data();
    args.b = b.data();
    args.c = c.data();
    args.d = d.data();
    args.fusion["bias"] = bias.data();
    args.fusion["x"] = stored.data();
    args.fusion["y"] = y.data();
    args.groups.offsets = offsets.data();
    const auto plan = Gemm::plan(args, device_of(Simulator(), 4));
    ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
    const LaunchResult result = plan->run(Simulator({.seed = seed}));
    ASSERT_TRUE(result) << describe(result);
    for (int row = 0; row < m; ++row) {
      const int group = static_cast<int>(std::upper_bound(offsets.begin(), offsets.end(), row) - offsets.begin()) - 1;
      for (int j = 0; j < kN; ++j) {
        const std::size_t at = count(row, kN) + static_cast<std::size_t>(j);
        float sum = kUntouched, also = kUntouched;
        if (group >= 0 && group < kGroups) {
          sum = 0;
          for (std::size_t x = 0; x < kK; ++x)
            sum += float(a[count(row, kK) + x]) * float(b[count(group * kN + j, kK) + x]);
          also = sum + float(y[at]);
          sum += float(c[at]) + bias[count(group, kN) + static_cast<std::size_t>(j)];
        }
        ASSERT_EQ(float(d[at]), float(bf16(sum))) << "row " << row << ", column " << j;
        ASSERT_EQ(float(stored[at]), float(bf16(also))) << "row " << row << ", column " << j;
      }
    }
  }
}

// Masked groups: a capacity for each group, and counts.
template <class Spec>
void expect_counted() {
  using Gemm = gantry::Gemm<Spec>;
  constexpr int kGroups = 4, kCapacity = 72, kN = 136, kK = 72;
  const std::int32_t counts[] = {65, 0, 500, -3};  // more than there are: all of them; fewer than none: none
  const int rows[] = {65, 0, kCapacity, 0};
  const auto a = numbers<bf16>(kGroups * kCapacity * kK, 1), b = numbers<bf16>(kGroups * kN * kK, 2);
  std::vector<bf16> d(kGroups * kCapacity * kN, bf16(kUntouched));
  typename Gemm::Arguments args({.m = kGroups * kCapacity, .n = kN, .k = kK, .batch = kGroups});
  args.a = a.data();
  args.b = b.data();
  args.d = d.data();
  args.groups.counts = counts;
  const auto plan = Gemm::plan(args, device_of(Simulator(), 4));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  ASSERT_TRUE(plan->run(Simulator({.seed = 3})));
  for (int g = 0; g < kGroups; ++g) {
    for (int i = 0; i < kCapacity; ++i) {
      const int row = g * kCapacity + i;
      for (int j = 0; j < kN; ++j) {
        float sum = 0;
        for (int k = 0; k < kK; ++k) {
          sum += float(a[static_cast<std::size_t>(row * kK + k)]) *
                 float(b[static_cast<std::size_t>((g * kN + j) * kK + k)]);
        }
        const float expected = i < rows[g] ? float(bf16(sum)) : kUntouched;
        ASSERT_EQ(float(d[static_cast<std::size_t>(row * kN + j)]), expected) << "row " << i << " of group " << g;
      }
    }
  }
}

}  // namespace gantry_test

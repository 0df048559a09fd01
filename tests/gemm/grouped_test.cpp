// Grouped GEMMs on the simulated SM: groups of any size, in any cluster, with epilogues, under several seeds.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm.hpp>

namespace gantry {
namespace {

using Offsets = std::vector<std::int32_t>;

Offsets offsets_of(const std::vector<int>& sizes) {
  Offsets out{0};
  for (const int size : sizes) out.push_back(out.back() + size);
  return out;
}

// Sizes of 0, 1, a tile and one more or less, and others.
std::vector<int> random_sizes(std::mt19937& random, int groups, int tile, int most) {
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
constexpr float kUntouched = -77;

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
        sum += float(a[static_cast<std::size_t>(row * k + x)]) * float(b[at]);
      }
      ASSERT_EQ(float(d[static_cast<std::size_t>(row * n + j)]), group < 0 ? kUntouched : float(bf16(sum)))
          << "row " << row << " of group " << group << ", column " << j;
    }
  }
}

TEST(GroupsOfRows, AreMultipliedWithTheirOwnWeights) {
  using Spec = Rows<ElementType::bf16, GemmSchedule::cooperative, 128, 1, 1>;
  for (std::uint64_t seed = 0; seed < 3; ++seed) expect_rows<Spec>({128, 0, 77, 200, 1}, 136, 72, seed);
}

TEST(GroupsOfRows, OfRandomSizesInClustersOfEveryShape) {
  std::mt19937 random(7);
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    const auto sizes = random_sizes(random, 5, 64, 200);
    expect_rows<Rows<ElementType::bf16, GemmSchedule::cooperative, 64, 2, 1>>(sizes, 264, 136, seed);
    expect_rows<Rows<ElementType::bf16, GemmSchedule::pingpong, 64, 1, 2>>(sizes, 200, 136, seed);
    expect_rows<Rows<ElementType::bf16, GemmSchedule::pingpong, 64, 2, 2, Major::MN>>(sizes, 136, 72, seed);
    expect_rows<Rows<ElementType::e4m3, GemmSchedule::cooperative, 64, 1, 1>>(sizes, 136, 144, seed);
  }
}

}  // namespace
}  // namespace gantry

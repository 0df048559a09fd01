// FP8 groups along M whose blocks have scales: of each row of A and 128 elements of K, and of 128 x 128 of a group's B
// or of each of its rows. Scales are powers of two, so that results are exact.
#include "grouped_exact.hpp"

namespace gantry_test {
namespace {

using enum GemmSchedule;

template <ScaleMode of_b, GemmSchedule schedule, int tile_m, int cluster_m, bool swaps = false>
struct ScaledGroups {
  static constexpr GemmOptions options{.a = ElementType::e4m3,
                                       .b = ElementType::e4m3,
                                       .d = ElementType::f32,
                                       .tile = {tile_m, 64},
                                       .cluster = {cluster_m, 1},
                                       .schedule = schedule,
                                       .scale_a = ScaleMode::row_block,
                                       .scale_b = of_b,
                                       .swapped = swaps,
                                       .groups = GemmGrouping::along_m};
};

std::vector<float> powers_of_two(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> out(count);
  for (float& x : out) x = static_cast<float>(1u << random() % 4) / 4;
  return out;
}

template <class Spec>
void expect_definition(const std::vector<int>& sizes, int n, int k, std::uint64_t seed) {
  using Gemm = gantry::Gemm<Spec>;
  using E4m3 = element_t<ElementType::e4m3>;
  const Offsets offsets = offsets_of(sizes);
  const int groups = static_cast<int>(sizes.size()), m = offsets.back() + 5;
  const auto size = [](int a, int b, int c = 1) {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(b) * static_cast<std::size_t>(c);
  };
  const int blocks = static_cast<int>(scale_blocks(k)), lines = static_cast<int>(scale_rows(Spec::options.scale_b, n));
  const bool by_row = Spec::options.scale_b == ScaleMode::row_block;
  const auto a = numbers<E4m3>(size(m, k), 1), b = numbers<E4m3>(size(groups, n, k), 2);
  const auto scale_a = powers_of_two(size(m, blocks), 3), scale_b = powers_of_two(size(groups, lines, blocks), 4);
  std::vector<float> d(size(m, n), kUntouched);
  typename Gemm::Arguments args({.m = m, .n = n, .k = k, .batch = groups});
  args.a = a.data();
  args.b = b.data();
  args.d = d.data();
  args.scale_a = GemmScale(scale_a.data());  // packed: rows are next to each other
  constexpr bool kScalesB = Spec::options.scale_b != ScaleMode::none;
  if (kScalesB) args.scale_b = GemmScale(scale_b.data());
  args.groups.offsets = offsets.data();
  const auto plan = Gemm::plan(args, device_of(Simulator(), 4));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  const LaunchResult result = plan->run(Simulator({.seed = seed}));
  ASSERT_TRUE(result) << describe(result);
  for (int row = 0; row < m; ++row) {
    int group = -1;
    for (int g = 0; g < groups; ++g) {
      if (row >= offsets[static_cast<std::size_t>(g)] && row < offsets[static_cast<std::size_t>(g + 1)]) group = g;
    }
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int x = 0; x < k && group >= 0; ++x) {
        const int block = x / kScaleBlock;
        const int of_b = by_row ? block * n + j : j / kScaleBlock * blocks + block;
        sum += float(a[size(row, k) + static_cast<std::size_t>(x)]) *
               float(b[size(group * n + j, k) + static_cast<std::size_t>(x)]) *
               scale_a[static_cast<std::size_t>(block * m + row)] *
               (kScalesB ? scale_b[size(group, lines, blocks) + static_cast<std::size_t>(of_b)] : 1.0f);
      }
      ASSERT_EQ(d[size(row, n) + static_cast<std::size_t>(j)], group < 0 ? kUntouched : sum)
          << "row " << row << " of group " << group << ", column " << j;
    }
  }
}

TEST(ScaledGroups, HaveScalesOfTheirRowsAndOfTheirOwnWeights) {
  const std::vector<int> sizes{70, 0, 1, 129, 64, 3};
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    expect_definition<ScaledGroups<ScaleMode::block, cooperative, 128, 2>>(sizes, 272, 400, seed);
    expect_definition<ScaledGroups<ScaleMode::block, pingpong, 64, 1>>(sizes, 144, 272, seed);
    expect_definition<ScaledGroups<ScaleMode::row_block, pingpong, 64, 2>>(sizes, 80, 400, seed);
    expect_definition<ScaledGroups<ScaleMode::none, cooperative, 64, 1>>(sizes, 80, 144, seed);
  }
}

TEST(ScaledGroups, OfFewRowsHaveTheSameScalesWithSwappedOperands) {
  const std::vector<int> sizes{3, 0, 17, 1};
  expect_definition<ScaledGroups<ScaleMode::block, cooperative, 16, 1, true>>(sizes, 272, 272, 1);
  expect_definition<ScaledGroups<ScaleMode::row_block, cooperative, 8, 1, true>>(sizes, 80, 144, 2);
}

}  // namespace
}  // namespace gantry_test

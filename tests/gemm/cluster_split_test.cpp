// CTAs of a cluster that share the K tiles of a tile, on the simulated SM: the reference's values for every size of the
// cluster, any number of K tiles, one tile or several, and any epilogue; nothing is found under any seed.
#include <string>

#include <gtest/gtest.h>

#include "given_memory.hpp"

namespace gantry {
namespace {

using gantry_test::expect_right;

template <int ctas>
struct Plain {
  static constexpr GemmOptions options{.tile = {.m = 64, .n = 32}, .cluster = {1, 1, ctas}, .stages = 3};
};
template <int ctas>
struct Swapped {
  static constexpr GemmOptions options{
      .tile = {.m = 8, .n = 64}, .cluster = {1, 1, ctas}, .stages = 4, .swapped = true};
};
// Two warpgroups, C, a vector, an auxiliary tensor and a reduction.
struct Everything {
  static constexpr GemmOptions options{
      .c = ElementType::bf16, .tile = {.m = 16, .n = 128}, .cluster = {1, 1, 2}, .stages = 3, .swapped = true};
  static constexpr fusion::Graph graph =
      fusion::graph("d = acc + c + row(bias) + load(x:f32); s = reduce_col_add(acc)");
};
struct Integers {
  static constexpr GemmOptions options{.a = ElementType::s8,
                                       .b = ElementType::s8,
                                       .d = ElementType::s32,
                                       .tile = {.m = 64, .n = 32},
                                       .cluster = {1, 1, 4}};
};

template <class Spec>
void expect_every_depth_right() {
  unsigned seed = 0;
  for (const int k : {1, 100, 192, 520}) expect_right<Spec>(GemmExtents{.m = 7, .n = 72, .k = k}, ++seed, 16);
  expect_right<Spec>(GemmExtents{.m = 20, .n = 136, .k = 200, .batch = 2}, ++seed, 4);  // clusters have several tiles
  expect_right<Spec>(GemmExtents{.m = 7, .n = 72, .k = 0}, ++seed, 8);
}

TEST(ClusterAlongK, IsRightForTwoCtas) {
  expect_every_depth_right<Plain<2>>();
  expect_every_depth_right<Swapped<2>>();
}
TEST(ClusterAlongK, IsRightForFourCtas) { expect_every_depth_right<Swapped<4>>(); }
TEST(ClusterAlongK, IsRightForEightCtas) { expect_every_depth_right<Plain<8>>(); }
TEST(ClusterAlongK, IsRightWithEveryKindOfOperand) { expect_every_depth_right<Everything>(); }
TEST(ClusterAlongK, IsRightForIntegers) { expect_every_depth_right<Integers>(); }

TEST(ClusterAlongK, FindsNothingUnderManySeeds) {
  for (unsigned seed = 0; seed < 8 && !testing::Test::HasFatalFailure(); ++seed) {
    expect_right<Swapped<4>>(GemmExtents{.m = 12, .n = 72, .k = 300}, seed, 4);
    expect_right<Everything>(GemmExtents{.m = 20, .n = 72, .k = 130}, seed, 4);
  }
}

TEST(ClusterAlongK, TakesNoWorkspaceAndSaysWhatItDoes) {
  const std::string text = expect_right<Swapped<2>>(GemmExtents{.m = 5, .n = 64, .k = 1024}, 1, 64);
  EXPECT_NE(text.find("2 CTAs of a cluster share the K tiles of a tile"), std::string::npos) << text;
  EXPECT_NE(text.find("Workspace: none."), std::string::npos) << text;
}

// Sums that depend on the order of additions have the same bits under every seed.
TEST(ClusterAlongK, GivesTheSameBitsUnderEverySeed) {
  constexpr int m = 8, n = 64, k = 512;
  std::mt19937 random(5);
  std::uniform_real_distribution<float> real(-1, 1);
  std::vector<bf16> a(m * k), b(n * k);
  for (bf16& x : a) x = bf16(real(random));
  for (bf16& x : b) x = bf16(real(random));
  struct Result {
    std::vector<bf16> d = std::vector<bf16>(m * n);
  };
  Result first, again;
  GemmArguments<Swapped<8>> args({.m = m, .n = n, .k = k});
  args.a = a.data();
  args.b = b.data();
  for (unsigned seed = 0; seed < 6; ++seed) {
    Result& result = seed == 0 ? first : again;
    args.d = result.d.data();
    const auto plan = Gemm<Swapped<8>>::plan(args, device_of(Simulator(), 8));
    ASSERT_TRUE(plan);
    ASSERT_TRUE(plan->run(Simulator({.seed = seed})));
    if (seed == 0) again = first;
    EXPECT_EQ(std::memcmp(first.d.data(), again.d.data(), first.d.size() * sizeof(bf16)), 0) << seed;
  }
}

TEST(ClusterAlongK, IsRefusedWhereItCannotBe) {
  const auto first = [](const GemmOptions& o) { return std::string(describe(problems(o)[0]).c_str()); };
  EXPECT_EQ(
      first(GemmOptions{.cluster = {1, 1, 3}}),
      "the cluster has 3 CTAs along K: 1, 2, 4 or 8 CTAs share the K tiles of a tile; the nearest value that works "
      "is 2");
  EXPECT_TRUE(problems(GemmOptions{.cluster = {2, 1, 2}}).has(GemmRule::cluster_k_alone));
  EXPECT_TRUE(
      problems(GemmOptions{.cluster = {1, 1, 2}, .schedule = GemmSchedule::pingpong}).has(GemmRule::cluster_k_alone));
  EXPECT_TRUE(
      problems(GemmOptions{.cluster = {1, 1, 2}, .split = SplitMode::reduce_add}).has(GemmRule::cluster_k_alone));
  EXPECT_TRUE(problems(GemmOptions{.cluster = {1, 1, 8}}).empty());
}

}  // namespace
}  // namespace gantry

// Gathered rows over many seeds, with random sizes of groups, clusters and stages.
#include "gather_exact.hpp"

namespace gantry_test {
namespace {

using enum GemmSchedule;

template <GemmSchedule schedule, int tile_m, int cluster_m, int stages>
using Groups = Gathered<schedule, tile_m, 64, cluster_m, stages, ElementType::bf16, GemmGrouping::along_m>;

template <class Spec>
void expect_exact_over_seeds(int seeds) {
  std::mt19937 random(23);
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(seeds); ++seed) {
    const int k = 8 * (1 + static_cast<int>(random() % 64)), rows = 1 + static_cast<int>(random() % 300);
    if constexpr (Spec::options.groups == GemmGrouping::along_m) {
      const std::vector<int> sizes = random_sizes(random, 6, 64, 150);
      const Offsets offsets = offsets_of(sizes);
      Check<Spec>::expect_exact({.m = offsets.back() + 5, .n = 72, .k = k, .batch = 6}, rows, seed, 0, sizes);
    } else {
      const auto m = static_cast<std::int64_t>(1 + random() % 400);
      Check<Spec>::expect_exact({.m = m, .n = 136, .k = k}, rows, seed, 8);
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(GatheredRows, AreRightOverManySeeds) {
  expect_exact_over_seeds<Gathered<cooperative, 64, 64, 2, 2>>(40);
  expect_exact_over_seeds<Gathered<cooperative, 128, 128, 1, 4>>(20);
  expect_exact_over_seeds<Gathered<pingpong, 64, 64, 2, 5>>(40);
}
TEST(GatheredRows, OfGroupsAreRightOverManySeeds) {
  expect_exact_over_seeds<Groups<cooperative, 64, 1, 3>>(40);
  expect_exact_over_seeds<Groups<cooperative, 128, 2, 4>>(20);
  expect_exact_over_seeds<Groups<pingpong, 64, 2, 6>>(40);
}

TEST(GatheredRows, OfFurtherTilesStagesAndElements) {
  Check<Gathered<cooperative, 64, 64, 1, 3>>::expect_exact({.m = 130, .n = 72, .k = 328}, 300, 2);
  Check<Gathered<cooperative, 256, 64, 2>>::expect_exact({.m = 600, .n = 72, .k = 136}, 100, 1);
  Check<Gathered<pingpong, 192, 64, 2>>::expect_exact({.m = 600, .n = 136, .k = 136}, 100, 2);
  Check<Gathered<cooperative, 64, 64, 1, 0, ElementType::s8>>::expect_exact({.m = 130, .n = 72, .k = 272}, 30, 2);
}
TEST(GatheredRows, AreCopiedByEveryWarpThatHasNoOtherRoleInTallTiles) {
  const std::vector<int> sizes{70, 0, 129, 3};
  const GemmExtents dense{.m = 230, .n = 72, .k = 200}, groups{.m = 210, .n = 72, .k = 200, .batch = 4};
  Check<Roles<GemmGrouping::none, true, pingpong, 192>>::expect_exact(dense, 90, 2);
  Check<Roles<GemmGrouping::along_m, false>>::expect_exact(groups, 90, 3, 0, sizes);
  Check<Roles<GemmGrouping::along_m, true, pingpong, 192>>::expect_exact(groups, 90, 5, 0, sizes);
}

}  // namespace
}  // namespace gantry_test

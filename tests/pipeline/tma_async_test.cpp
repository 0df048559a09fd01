// PipelineTmaAsync on the simulated SM, alone and in clusters that multicast: right results and clean reports;
// each misuse is named.
#include <gtest/gtest.h>

#include "runs.hpp"
#include "tma_async_kernel.hpp"

namespace gantry::test {
namespace {

constexpr int kTiles = 11;

template <class Kernel>
void expect_sums() {
  const std::vector<std::uint32_t> from = Memory(kTiles).from;
  std::vector<std::uint32_t> expected;
  for (std::uint32_t rank = 0; rank < Kernel::kCluster.count(); ++rank) {
    for (int i = 0; i < kTiles; ++i) {
      const auto a = static_cast<std::size_t>(Kernel::tile_a(i, rank % Kernel::kCluster.x, kTiles)) * kWords;
      const auto b = static_cast<std::size_t>(Kernel::tile_b(i, rank / Kernel::kCluster.x, kTiles)) * kWords;
      for (std::size_t w = 0; w < kWords; ++w) expected.push_back(2 * from[a + w] + 3 * from[b + w]);
    }
  }
  expect_clean<Kernel>(kTiles, expected, Kernel::kCluster);
}

template <std::uint32_t X, std::uint32_t Y>
void expect_sums_for_every_number_of_stages() {
  expect_sums<MulticastKernel<1, X, Y>>();
  expect_sums<MulticastKernel<2, X, Y>>();
  expect_sums<MulticastKernel<3, X, Y>>();
  expect_sums<MulticastKernel<4, X, Y>>();
}

TEST(PipelineTmaAsync, FeedsOneCta) { expect_sums_for_every_number_of_stages<1, 1>(); }
TEST(PipelineTmaAsync, FeedsAClusterOfTwoByOne) { expect_sums_for_every_number_of_stages<2, 1>(); }
TEST(PipelineTmaAsync, FeedsAClusterOfOneByTwo) { expect_sums_for_every_number_of_stages<1, 2>(); }
TEST(PipelineTmaAsync, FeedsAClusterOfTwoByTwo) { expect_sums_for_every_number_of_stages<2, 2>(); }
TEST(PipelineTmaAsync, FeedsAClusterOfFourByTwo) { expect_sums<MulticastKernel<2, 4, 2>>(); }

TEST(PipelineTmaAsync, WarpgroupsReleaseAsOne) {
  expect_sums<MulticastKernel<2, 1, 1, 128>>();
  expect_sums<MulticastKernel<2, 2, 2, 128>>();
  expect_sums<MulticastKernel<3, 2, 1, 256>>();
}

TEST(PipelineTmaAsync, CountsOneReleaseForEachGroupAndCtaThatFeeds) {
  using Pipeline = PipelineTmaAsync<2>;
  static_assert(Pipeline::releases({.consumers = 256}) == 2);
  static_assert(Pipeline::releases({.consumers = 64}) == 2);
  static_assert(Pipeline::releases({.consumers = 256, .cluster = {2, 1}}) == 4);
  static_assert(Pipeline::releases({.consumers = 384, .cluster = {4, 2}}) == 15);
}

// By the definition of a row and a column, for every cluster of up to 16 CTAs.
TEST(ClusterSpread, EveryFeederIsSignalledOnceAndEachThreadSignalsAtMostOne) {
  for (std::uint32_t x = 1; x <= 16; ++x) {
    for (std::uint32_t y = 1; x * y <= 16; ++y) {
      for (std::uint32_t z = 1; x * y * z <= 16; ++z) {
        const Extent3 cluster{x, y, z};
        for (std::uint32_t rank = 0; rank < x * y * z; ++rank) {
          for (const std::uint32_t group : {32u, 128u}) {
            std::vector<int> signals(x * y * z);
            for (std::uint32_t thread = 0; thread < group; ++thread) {
              const Signal signal = signal_of_thread(thread, rank, cluster, group);
              if (signal.sent) ++signals.at(signal.rank);
            }
            std::uint32_t total = 0;
            for (std::uint32_t other = 0; other < x * y * z; ++other) {
              const bool same_z = other / (x * y) == rank / (x * y);
              const bool in_line = other % x == rank % x || other / x % y == rank / x % y;
              ASSERT_EQ(signals[other], same_z && in_line ? 1 : 0) << x << " " << y << " " << z << ": " << other;
              total += static_cast<std::uint32_t>(signals[other]);
            }
            ASSERT_EQ(total, feeding_ctas(cluster));
          }
        }
      }
    }
  }
}

TEST(PipelineTmaAsync, WithoutTheTailACtaExitsWhileItIsSignalled) {
  using Kernel = MulticastKernel<2, 2, 1, 64, MulticastFlaw::no_tail>;
  const std::string text = finding<Kernel>("cluster-peer-gone", kTiles, Kernel::kCluster);
  EXPECT_NE(text.find("tile.empty["), std::string::npos) << text;
}

TEST(PipelineTmaAsync, AReleaseThatStaysInItsCtaLetsAPeerReloadTheStage) {
  using Kernel = MulticastKernel<2, 2, 2, 64, MulticastFlaw::releases_own_cta_only>;
  const std::string text = finding<Kernel>("slot-reloaded-early", kTiles, Kernel::kCluster);
  EXPECT_NE(text.find("consumer"), std::string::npos) << text;
}

TEST(PipelineTmaAsync, EveryCallIsNeededInACluster) {
  using Kernel = MulticastKernel<2, 2, 1>;
  expect_every_change_detected<Kernel>(
      kTiles, [](const SweepEntry&) { return false; }, Kernel::kCluster);
}

}  // namespace
}  // namespace gantry::test

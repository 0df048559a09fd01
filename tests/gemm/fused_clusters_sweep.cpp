// Fused GEMMs in more clusters and tiles than in fused_test.cpp.
#include <gtest/gtest.h>

#include "fused_exact.hpp"
#include "wide_clusters.hpp"

namespace gantry_test {
namespace {

// Tiles of a single row of wgmmas.
struct Low {
  static constexpr GemmOptions options{.tile = {64, 128}, .cluster = {1, 1}, .stages = 3, .schedule = kInTurn};
};

TEST(FusedGemm, CooperativeIsExactInClustersAlongMWithThreeStages) {
  check_everything<CooperativeGemm, Together<2, 1, 3>>(300, 136, 200, 4, 3);
}
TEST(FusedGemm, CooperativeIsExactInClustersAlongN) {
  check_everything<CooperativeGemm, Together<1, 2, 2>>(136, 272, 72, 2, 3);
}
TEST(FusedGemm, CooperativeIsExactInSquareClusters) {
  check_everything<CooperativeGemm, Together<2, 2, 2>>(264, 264, 136, 4, 3);
}
TEST(FusedGemm, PingpongIsExactInClusters) { check_everything<PingpongGemm, InTurn<2, 1, 3>>(300, 136, 200, 4, 3); }
TEST(ClustersOfEight, ShareTilesInEveryShape) {
  expect_right_in_clusters<InCluster<4, 1, GemmSchedule::pingpong>>(10);
  expect_right_in_clusters<InCluster<1, 4, GemmSchedule::cooperative>>(20);
  expect_right_in_clusters<InCluster<8, 1, GemmSchedule::cooperative>>(30);
  expect_right_in_clusters<InCluster<1, 8, GemmSchedule::pingpong>>(40);
  expect_right_in_clusters<InCluster<2, 4, GemmSchedule::pingpong, Major::MN>>(50);
  expect_right_in_clusters<InCluster<4, 2, GemmSchedule::cooperative, Major::MN>>(60);
}

// Two CTAs load 16 rows of B each, and so do four.
struct GatedInCluster {
  static constexpr GemmOptions options{.tile = {64, 64}, .cluster = {4, 1}, .stages = 2};
  static constexpr fusion::Graph graph = fusion::graph("d = silu(gate(acc)) * up(acc)");
};
TEST(ClustersOfEight, ShareGateAndUp) { expect_right<GatedInCluster>(GemmExtents{.m = 300, .n = 160, .k = 136}, 1, 8); }
TEST(FusedGemm, PingpongIsExactInTilesOf64Rows) { check_everything<PingpongGemm, Low>(136, 136, 136, 1, 1); }

}  // namespace
}  // namespace gantry_test

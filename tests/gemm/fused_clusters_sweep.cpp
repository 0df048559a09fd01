// Fused GEMMs in more clusters and tiles than in fused_test.cpp.
#include <gtest/gtest.h>

#include "fused_exact.hpp"

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
TEST(FusedGemm, PingpongIsExactInTilesOf64Rows) { check_everything<PingpongGemm, Low>(136, 136, 136, 1, 1); }

}  // namespace
}  // namespace gantry_test

// A cluster of 8 CTAs that multicast along both modes. Further shapes: the long form.
#include "wide_clusters.hpp"

#include <gtest/gtest.h>

namespace gantry_test {
namespace {

TEST(ClustersOfEight, ShareTilesAlongBothModes) {
  expect_right_in_clusters<InCluster<4, 2, GemmSchedule::cooperative>>(1);
}

}  // namespace
}  // namespace gantry_test

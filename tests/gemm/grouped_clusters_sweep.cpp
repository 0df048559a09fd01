// Grouped GEMMs in more clusters, tiles and elements than in grouped_test.cpp.
#include <random>

#include <gtest/gtest.h>

#include "grouped_exact.hpp"

namespace gantry_test {
namespace {

TEST(GroupsOfRows, OfRandomSizesOfFp8AndInAClusterAlongN) {
  std::mt19937 random(7);
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    const auto sizes = random_sizes(random, 5, 64, 200);
    expect_rows<Rows<ElementType::bf16, GemmSchedule::pingpong, 64, 1, 2>>(sizes, 200, 136, seed);
    expect_rows<Rows<ElementType::e4m3, GemmSchedule::cooperative, 64, 1, 1>>(sizes, 136, 144, seed);
    expect_rows<Rows<ElementType::bf16, GemmSchedule::cooperative, 64, 4, 1>>(sizes, 200, 136, seed);
  }
}

TEST(GroupsOfK, OfRandomSizesInClusters) {
  std::mt19937 random(11);
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    const auto sizes = random_sizes(random, 3, 64, 200);
    expect_gradients<Gradient<128, 2, 1, false>>(sizes, 136, 72, seed);
    expect_gradients<Gradient<64, 1, 2, false>>(sizes, 72, 136, seed);
    expect_gradients<Gradient<64, 2, 2, true>>(sizes, 72, 136, seed);
  }
}

}  // namespace
}  // namespace gantry_test

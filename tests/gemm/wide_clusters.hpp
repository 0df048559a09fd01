// GEMMs in clusters of up to 8 CTAs along M and N, compared with the reference.
#pragma once

#include <gantry/epilogue/fusion/parse.hpp>

#include "given_memory.hpp"

namespace gantry_test {

template <int kM, int kN, GemmSchedule kSchedule, Major kMajor = Major::K>
struct InCluster {
  static constexpr GemmOptions options{
      .major_a = kMajor, .major_b = kMajor, .tile = {64, 64}, .cluster = {kM, kN}, .stages = 2, .schedule = kSchedule};
  static constexpr fusion::Graph graph = fusion::graph("d = acc + row(r); s = reduce_col_add(acc)");
};

// More tiles than clusters, a cluster whose last CTAs lie outside of D, and K that ends inside of a tile.
template <class Spec>
void expect_right_in_clusters(unsigned seed) {
  expect_right<Spec>(GemmExtents{.m = 200, .n = 328, .k = 200}, seed, 16);
  expect_right<Spec>(GemmExtents{.m = 600, .n = 72, .k = 136, .batch = 2}, seed + 1, 8);
}

}  // namespace gantry_test

// Which CTAs of a cluster multicast into this one, and which thread signals each of them that a stage is empty.
//
// In a cluster of X by Y CTAs a tile of one operand is multicast to the CTAs with the same x, a tile of the other to
// those with the same y. So a stage of a CTA is filled by every CTA of its row and of its column, X + Y - 1 of them
// with itself, and a release must reach all of them. The arrivals of a group of consumers are spread over its threads:
// each sends one at most, and those of a warpgroup come from its four warps in turn.
//
// Example:
//     using namespace gantry;
//     constexpr Extent3 cluster{2, 2};
//     static_assert(feeding_ctas(cluster) == 3);
//     static_assert(feeds(1, 0, cluster) && feeds(2, 0, cluster) && !feeds(3, 0, cluster));
//     static_assert(signal_of_thread(32, 0, cluster, 128).rank == 1);  // the second warp's first lane, in CTA 0
#pragma once

#include <cstdint>

#include <gantry/arch/launch_config.hpp>

namespace gantry {

// Ranks run along x first, as %cluster_ctarank does. CTAs with different z do not feed each other.
GANTRY_HD constexpr bool feeds(std::uint32_t rank, std::uint32_t other, const Extent3& cluster) noexcept {
  const std::uint32_t layer = cluster.x * cluster.y;
  const bool same_layer = rank / layer == other / layer;
  const bool same_x = rank % cluster.x == other % cluster.x;
  const bool same_y = rank / cluster.x == other / cluster.x;
  return same_layer && (same_x || same_y);
}

// How many CTAs feed one, itself included.
GANTRY_HD constexpr std::uint32_t feeding_ctas(const Extent3& cluster) noexcept { return cluster.x + cluster.y - 1; }

struct Signal {
  bool sent = false;
  std::uint32_t rank = 0;  // of the CTA that it goes to
};

// What thread `thread` of a group of `group` consumers, 32 or 128, signals from CTA `rank`. Over the threads of the
// group every CTA that feeds `rank` gets one signal, for every cluster that fits in 16 CTAs.
GANTRY_HD constexpr Signal signal_of_thread(std::uint32_t thread, std::uint32_t rank, const Extent3& cluster,
                                            std::uint32_t group) noexcept {
  const std::uint32_t warps = group / 32;
  const std::uint32_t to = thread % 32 * warps + thread / 32 % warps;
  return {to < cluster.count() && feeds(to, rank, cluster), to};
}

}  // namespace gantry

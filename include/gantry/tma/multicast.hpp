// Which CTAs of a cluster receive a multicast.
//
// The layout of a cluster takes a CTA's coordinate to its rank. Projecting along some modes, `_` in the coordinate,
// gives the CTAs that share a tile; the mask has one bit for the rank of each.
//
// Example:
//     using namespace gantry;
//     constexpr Layout cluster = make_layout(make_shape(_2, _4, _1));  // (M,N,K) -> rank
//     static_assert(create_tma_multicast_mask(cluster, make_coord(1, _, 0)) == 0b10101010);  // along N
#pragma once

#include <gantry/layout/layout.hpp>

namespace gantry {

// A mask has 16 bits: no cluster is larger.
inline constexpr int kMaxClusterCtas = 16;

// The CTAs that the coordinate's `_` run over. Ranks beyond 15 have no bit, and no cluster has more CTAs than bits: for
// a layout of more the mask is empty.
GANTRY_HD constexpr std::uint16_t create_tma_multicast_mask(const Layout& cta_layout, TupleView cta_coord) {
  const SlicedLayout s = slice_and_offset(cta_coord, cta_layout);
  if (!s.layout.ok() || !s.offset.ok() || !s.offset.is_leaf()) return 0;
  const std::int64_t first = s.offset.leaf().value();
  const std::int64_t ctas = size(s.layout.shape());
  if (ctas > kMaxClusterCtas) return 0;
  std::uint32_t mask = 0;
  for (std::int64_t i = 0; i < ctas; ++i) {
    const std::int64_t rank = first + s.layout(i);
    if (rank >= 0 && rank < kMaxClusterCtas) mask |= 1U << rank;
  }
  return static_cast<std::uint16_t>(mask);
}

// The CTAs along the given modes, through the CTA at a coordinate.
template <int... modes>
GANTRY_HD constexpr std::uint16_t create_tma_multicast_mask(const Layout& cta_layout,
                                                            TupleView cta_coord) requires(sizeof...(modes) > 0) {
  IntTuple projected(cta_coord);
  ((projected = replace(projected, modes, Int::all())), ...);
  return create_tma_multicast_mask(cta_layout, projected);
}

}  // namespace gantry

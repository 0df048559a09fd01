// The instructions that a planned copy of one tile takes: where each starts in the global tensor and in shared memory,
// what it moves, and which CTAs receive it.
//
// Instructions follow shared memory: the first starts at the tile's first byte. With a multicast every CTA issues its
// share of each box, and all of them receive it. Coordinates are relative to the tile until an origin is added, and
// then are what the instruction takes.
//
// Example:
//     using namespace gantry;
//     constexpr TmaPlan plan = make_tma_copy(
//         TmaOp::load,
//         {.element = ElementType::bf16, .layout = make_layout(make_shape(256, 128), make_stride(128, _1))},
//         make_layout(make_shape(_64, make_shape(_32, _2)), make_stride(_32, make_stride(_1, _2048))), make_tile(_64, _64));
//     constexpr TmaTileWalk walk(plan);
//     static_assert(walk.count() == 2 && walk.at(1).coordinates[0] == 32 && walk.at(1).shared_offset == 4096);
//     constexpr TmaCoordinates first = tile_origin(plan, make_coord(3, 1));
//     static_assert(first.values[0] == 64 && first.values[1] == 192);
#pragma once

#include <gantry/tma/issue.hpp>
#include <gantry/tma/partition.hpp>

namespace gantry {

struct TmaCoordinates {
  std::int64_t values[kTmaMaxRank] = {0, 0, 0, 0, 0};  // elements, innermost first
};

struct TmaInstruction {
  std::int64_t coordinates[kTmaMaxRank] = {0, 0, 0, 0, 0};  // where the box starts, innermost first
  std::int64_t shared_offset = 0;                           // bytes from the start of the tile, without the swizzle
  std::int64_t bytes = 0;                                   // moved, and credited in every CTA that receives them
};

namespace detail {

// The numbers of an arithmetic tuple of TMA coordinates. Refuses those that are not known. Rational ones are rounded
// down; a plan that is not refused has none.
GANTRY_HD constexpr TmaCoordinates to_coordinates(const IntTuple& t) {
  TmaCoordinates out;
  int i = 0;
  for (TupleView c : TupleView(t)) {
    if (i == kTmaMaxRank) break;
    if (c.is_leaf()) {
      if (!c.leaf().is_known()) refuse({Rule::value_unknown});
      out.values[i] = c.leaf().value() / c.leaf().denominator();
    }
    ++i;
  }
  return out;
}

// The leaf of a tuple that a path names. Requires a path into the tuple.
GANTRY_HD constexpr Int leaf_at(TupleView t, BasisPath path) {
  for (int level = 0; level < path.depth() && t.is_tuple(); ++level) t = t[path[level]];
  return t.leaf();
}

// Tile index -> TMA coordinate, from the tile's origin on.
GANTRY_HD constexpr Layout tile_coordinates(const TmaPlan& plan) {
  return Layout(plan.cta_v_map.shape(), transform_leaf(plan.cta_v_map.stride(), [&plan](const Int& d) {
                  return d.coefficient() * leaf_at(plan.tma_tensor_stride, d.path());
                }));
}

}  // namespace detail

// The coordinates of the first element of a tile. Entries of the coordinate that are missing count as 0. Requires a
// bound plan, or one whose coordinates do not depend on run-time strides.
GANTRY_HD constexpr TmaCoordinates tile_origin(const TmaPlan& plan, TupleView tile_coord) {
  const IntTuple whole = append(tile_coord, Int::fixed(0), rank(plan.gmem));
  return detail::to_coordinates(local_tile(get_tma_tensor(plan, plan.gmem.shape()), plan.cta_tiler, whole).origin);
}

class TmaTileWalk {
 public:
  // Requires a plan that has a box. An unbound one will do as long as the tile does not step along a mode that shares
  // its TMA dimension with others.
  GANTRY_HD constexpr explicit TmaTileWalk(const TmaPlan& plan)
      : smem_(plan.smem.layout()),
        order_(tile_to_shape(make_layout(right_inverse(smem_)), product(smem_.shape()))),
        tile_(detail::tile_coordinates(plan)),
        values_(plan.elements_per_tma()),
        share_(plan.elements_per_tma() / static_cast<std::int64_t>(plan.num_multicast)),
        bits_(element_bits(plan.element)) {}

  GANTRY_HD constexpr bool ok() const { return order_.ok() && tile_.ok() && values_ > 0; }

  // Instructions that every CTA issues for one tile.
  GANTRY_HD constexpr std::int64_t count() const { return ok() ? size(smem_) / values_ : 0; }

  // Instruction i of the CTA that has part `cta` of the multicast, relative to the tile's origin. Requires
  // 0 <= i < count().
  GANTRY_HD constexpr TmaInstruction at(std::int64_t i, std::int64_t cta = 0) const {
    const std::int64_t index = order_(i * values_ + cta * share_);
    TmaCoordinates c = detail::to_coordinates(tile_.at(Int::fixed(index)));
    TmaInstruction out{.shared_offset = smem_(index) * bits_ / 8, .bytes = share_ * bits_ / 8};
    for (int k = 0; k < kTmaMaxRank; ++k) out.coordinates[k] = c.values[k];
    return out;
  }

 private:
  Layout smem_;
  Layout order_;  // shared index -> tile index, for the whole tile
  Layout tile_;   // tile index -> TMA coordinate
  std::int64_t values_;
  std::int64_t share_;
  std::int64_t bits_;
};

// Calls f(instruction) for every instruction that one CTA issues for the tile that starts at `origin`, in order.
template <class F>
GANTRY_HD constexpr void for_each_instruction(const TmaPlan& plan, const TmaCoordinates& origin, std::int64_t cta,
                                              const F& f) {
  const TmaTileWalk walk(plan);
  const std::int64_t n = walk.count();
  for (std::int64_t i = 0; i < n; ++i) {
    TmaInstruction instruction = walk.at(i, cta);
    for (int k = 0; k < kTmaMaxRank; ++k) instruction.coordinates[k] += origin.values[k];
    f(instruction);
  }
}

// The instruction as the rules of `tma/issue.hpp` judge it, for a shared tile that starts at an address.
GANTRY_HD constexpr TmaIssue to_issue(const TmaPlan& plan, const TmaInstruction& instruction,
                                      std::uint64_t tile_address) {
  TmaIssue out{.op = plan.op, .rank = static_cast<int>(plan.descriptor.rank)};
  for (int k = 0; k < kTmaMaxRank; ++k) out.coordinates[k] = static_cast<std::int32_t>(instruction.coordinates[k]);
  out.shared_address = tile_address + static_cast<std::uint64_t>(instruction.shared_offset);
  return out;
}

}  // namespace gantry

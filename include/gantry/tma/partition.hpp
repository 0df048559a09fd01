// A plan in use: the coordinate tensor of the whole global tensor, the tile of one CTA, and both sides of a copy cut
// into instructions.
//
// Coordinates replace pointers. get_tma_tensor gives the global tensor as TMA coordinates; tiling and slicing it moves
// its origin, and partitioning it in the order of shared memory leaves ((instruction, instructions), rest...) on both
// sides, so that instruction i goes from gmem(i) to smem(i). Shared memory is counted in values from the start of the
// tile, without the swizzle, which the hardware applies to the address.
//
// Example:
//     using namespace gantry;
//     constexpr TmaPlan plan = make_tma_copy(
//         TmaOp::load,
//         {.element = ElementType::bf16, .layout = make_layout(make_shape(256, 128), make_stride(128, _1))},
//         make_layout(make_shape(_64, _32), LayoutRight{}));
//     constexpr PlacedLayout m = get_tma_tensor(plan, make_shape(256, 128));
//     constexpr PlacedLayout g = local_tile(m, make_tile(_64, _32), make_coord(2, 3));
//     static_assert(g.origin == make_coord(96, 128));  // innermost first
//     constexpr PlacedLayout s{_0, plan.smem.layout()};
//     constexpr TmaPartition p = tma_partition(plan, group_modes(s, 0, 2), group_modes(g, 0, 2));
//     static_assert(size(p.gmem.layout) == 2048 && p.gmem.origin == g.origin);
#pragma once

#include <gantry/layout/divide.hpp>
#include <gantry/tma/plan.hpp>

namespace gantry {

// A layout that starts somewhere: at an offset for memory, at a coordinate for basis strides.
struct PlacedLayout {
  IntTuple origin;
  Layout layout;
};

// The place of an element.
GANTRY_HD constexpr IntTuple place_of(const PlacedLayout& t, TupleView crd) { return add(t.origin, t.layout.at(crd)); }

// The same tensor seen from the element at `crd` on.
GANTRY_HD constexpr PlacedLayout domain_offset(TupleView crd, const PlacedLayout& t) {
  return {place_of(t, crd), t.layout};
}

// The modes where `crd` has `_`, starting at the coordinate that it has elsewhere.
GANTRY_HD constexpr PlacedLayout slice(TupleView crd, const PlacedLayout& t) {
  return {place_of(t, crd), slice(crd, t.layout)};
}

GANTRY_HD constexpr PlacedLayout group_modes(const PlacedLayout& t, int begin, int end) {
  return {t.origin, group(t.layout, begin, end)};
}

// Tile `coord` of a tensor; `_` in the coordinate, and modes that it does not have, keep all tiles as a mode that
// follows the tile's.
GANTRY_HD constexpr PlacedLayout local_tile(const PlacedLayout& t, const Tiler& tiler, TupleView coord) {
  const Layout zipped = zipped_divide(t.layout, tiler);
  if (!zipped.ok()) return {t.origin, zipped};
  // A tensor that is a single mode has tiles that are.
  const TupleView rest = TupleView(zipped.shape())[1];
  IntTuple whole;
  whole.push_back(zipped[0].shape().is_leaf() ? IntTuple(Int::all()) : repeat(Int::all(), rank(zipped[0])));
  whole.push_back(rest.is_leaf() ? IntTuple(coord.is_leaf() ? coord : coord[0])
                                 : append(coord, Int::all(), rank(rest)));
  return slice(whole, PlacedLayout{t.origin, zipped});
}

// The global tensor as TMA coordinates, innermost first. Requires a shape with the profile of the planned tensor.
GANTRY_HD constexpr PlacedLayout get_tma_tensor(const TmaPlan& plan, TupleView shape) {
  const Layout layout(shape, plan.tma_tensor_stride);
  return {coprofile(layout), layout};
}

// ---- The atom form

// Both sides of a copy, as ((values of an instruction, instructions), rest...).
struct TmaPartition {
  PlacedLayout gmem;
  PlacedLayout smem;
};

// The elements of a tile in the order of shared memory, as (values of an instruction, instructions).
GANTRY_HD constexpr Layout instruction_walk(const TmaPlan& plan, const Layout& tile) {
  if (!tile.ok()) return tile;
  const Layout walk = tile_to_shape(make_layout(right_inverse(tile)), product(tile.shape()));
  return logical_divide(walk, make_layout(Int::fixed(plan.elements_per_tma())));
}

// A tensor whose mode 0 is the tile of `walk`, as ((values of an instruction, instructions), rest...).
GANTRY_HD constexpr Layout cut_by(const Layout& walk, const Layout& tensor) {
  if (!walk.ok() || !tensor.ok()) return tensor.ok() ? walk : tensor;
  Tiler tiler = make_tile(walk);
  for (int i = 1; i < rank(tensor); ++i) tiler.push_back(_);
  return coalesce(composition(tensor, tiler), make_int_tuple(make_int_tuple(_1, _1)));
}

// Requires: mode 0 of both tensors is the tile, as large as the plan's; `cta_layout` takes a CTA's coordinate to its
// part of the multicast. Guarantees: both sides start at the part of CTA `cta_coord`.
GANTRY_HD constexpr TmaPartition tma_partition(const TmaPlan& plan, TupleView cta_coord, const Layout& cta_layout,
                                               const PlacedLayout& smem, const PlacedLayout& gmem) {
  const Layout tile = smem.layout[0];
  if (!tile.ok() || !gmem.layout.ok()) return {{gmem.origin, tile.ok() ? gmem.layout : tile}, {smem.origin, tile}};
  const Layout walk = instruction_walk(plan, tile);
  const Int share = Int::fixed(plan.elements_per_tma()) / Int::fixed(cosize(cta_layout));
  const IntTuple id = cta_layout.at(cta_coord);
  const Int offset = id.is_leaf() ? id.leaf() * share : Int::faulty(Rule::not_an_integer);
  const auto part = [&](const PlacedLayout& t) {
    const PlacedLayout whole{t.origin, cut_by(walk, t.layout)};
    const IntTuple first = make_coord(make_coord(offset, _0));
    return domain_offset(append(first, _0, rank(t.layout)), whole);
  };
  return {part(gmem), part(smem)};
}

// For a copy that no other CTA shares.
GANTRY_HD constexpr TmaPartition tma_partition(const TmaPlan& plan, const PlacedLayout& smem,
                                               const PlacedLayout& gmem) {
  return tma_partition(plan, _0, Layout(), smem, gmem);
}

// ---- The tiled form

// The part of one CTA: what get_slice gives.
class TmaCopySlice {
 public:
  GANTRY_HD constexpr TmaCopySlice(const TmaTiledCopy& tiled, std::int64_t elements_per_tma, const Int& cta)
      : tiled_(tiled), elements_per_tma_(elements_per_tma), cta_(cta) {}

  // ((values of an instruction, instructions), rest...) of a global coordinate tensor or of a shared tensor. Requires a
  // tensor whose first modes are those of the tile. Source and destination are cut alike.
  GANTRY_HD constexpr PlacedLayout partition_S(const PlacedLayout& t) const { return partition(t); }
  GANTRY_HD constexpr PlacedLayout partition_D(const PlacedLayout& t) const { return partition(t); }

 private:
  GANTRY_HD constexpr PlacedLayout partition(const PlacedLayout& t) const {
    const Layout values = tma_val_layout(elements_per_tma_);
    const Layout atoms = zipped_divide(tiled_.layout_TV, Tiler(values.shape()));
    if (!atoms.ok()) return {t.origin, atoms};
    const Layout atom = composition(atoms[0], composition(right_inverse(values), values));
    const Layout tv = coalesce(zip(atom, atoms[1]), make_int_tuple(_1, make_int_tuple(_1, _1)));
    const Layout tiles = zipped_divide(t.layout, Tiler(tiled_.tiler_mn));
    if (!tv.ok() || !tiles.ok()) return {t.origin, tv.ok() ? tiles : tv};
    // V counts the values of the whole box and T starts inside of it, so the two are laid over the tile one by one.
    const IntTuple start = composition(tiles[0], tv[0]).at(cta_);
    const Layout mine = composition(tiles[0], tv[1]);
    if (!mine.ok()) return {t.origin, mine};
    IntTuple shape = make_shape(mine.shape());
    IntTuple stride = make_stride(mine.stride());
    const Layout rest = tiles[1];
    for (int i = 0; i < rank(rest); ++i) {
      shape.push_back(TupleView(rest.shape())[i]);
      stride.push_back(TupleView(rest.stride())[i]);
    }
    return {add(t.origin, start), Layout(shape, stride)};
  }

  TmaTiledCopy tiled_;
  std::int64_t elements_per_tma_;
  Int cta_;
};

GANTRY_HD constexpr TmaTiledCopy make_tma_copy_tiled(const TmaPlan& plan) {
  return make_tma_copy_tiled({.smem = plan.smem.layout(),
                              .cta_v_map = plan.cta_v_map,
                              .elements_per_tma = plan.elements_per_tma(),
                              .num_multicast = plan.num_multicast});
}

// The copy as CTA `cta` of the multicast issues it.
GANTRY_HD constexpr TmaCopySlice get_slice(const TmaPlan& plan, const Int& cta) {
  return TmaCopySlice(make_tma_copy_tiled(plan), plan.elements_per_tma(), cta);
}

}  // namespace gantry

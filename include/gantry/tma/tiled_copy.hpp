// A planned copy as a tiled copy: which part of the tile each CTA of a multicast issues, and in which order the
// instructions of a tile follow one another.
//
// A tile is walked as shared memory lies: first the elements of one instruction, then the instructions. T counts CTAs,
// V values; both give indices of the tile.
//
// Example:
//     using namespace gantry;
//     constexpr Layout smem = make_layout(make_shape(_8, make_shape(_32, _2)), make_stride(_32, make_stride(_1, _256)));
//     constexpr TmaTiledCopy copy = make_tma_copy_tiled(
//         {.smem = smem, .cta_v_map = make_identity_layout(make_shape(_8, _64)), .elements_per_tma = 256});
//     static_assert(copy.ok && copy.layout_TV(0, 256) == 256);  // the second instruction starts at tile column 32
#pragma once

#include <gantry/layout/product.hpp>
#include <gantry/tma/gbasis.hpp>

namespace gantry {

struct TmaTiledCopy {
  bool ok = false;    // false where the instruction does not divide the tile: only the atom can be used then
  IntTuple tiler_mn;  // the tile, one extent for each of its modes
  Layout layout_v;    // value of an instruction -> tile index
  Layout layout_V;    // value of all instructions -> tile index
  Layout layout_t;    // CTA -> shared index within an instruction
  Layout layout_T;    // CTA -> tile index
  Layout layout_TV;   // (CTA, value) -> tile index
};

struct TmaTiledCopyOperands {
  const Layout& smem;
  const Layout& cta_v_map;
  std::int64_t elements_per_tma = 1;  // values, before the division among CTAs
  std::int64_t num_multicast = 1;
};

// The extent of every mode of a tile.
GANTRY_HD constexpr IntTuple product_each(TupleView shape) {
  if (!shape.ok()) return IntTuple::faulty(shape.fault());
  IntTuple out;
  for (TupleView s : shape) out.push_back(product(s));
  return out;
}

// The values of one instruction as (thread, value) -> value: one thread issues all.
GANTRY_HD constexpr Layout tma_val_layout(std::int64_t elements_per_tma) {
  return make_layout(make_shape(Int::fixed(1), Int::fixed(elements_per_tma)),
                     make_stride(Int::fixed(0), Int::fixed(1)));
}

GANTRY_HD constexpr TmaTiledCopy make_tma_copy_tiled(const TmaTiledCopyOperands& in) {
  TmaTiledCopy out;
  const Int per_tma = Int::fixed(in.elements_per_tma);
  const Int ctas = Int::fixed(in.num_multicast);
  if (in.num_multicast < 1 || in.elements_per_tma < 1 || in.elements_per_tma % in.num_multicast != 0) return out;
  const Layout inv_smem_layout = right_inverse(in.smem);
  out.tiler_mn = product_each(in.cta_v_map.shape());
  out.layout_v = composition(inv_smem_layout, Tiler(per_tma));
  out.layout_V = tile_to_shape(make_layout(out.layout_v), product(in.cta_v_map.shape()));
  out.layout_t = make_layout(ctas, per_tma / ctas);
  out.layout_T = composition(inv_smem_layout, composition(out.layout_t, make_layout(ctas)));
  out.layout_TV = make_layout(out.layout_T, out.layout_V);
  out.ok = out.layout_TV.ok() && size(out.layout_V) % in.elements_per_tma == 0;
  return out;
}

}  // namespace gantry

// The coordinates of a matrix in a tensor map: one of a batch, or lines of one that groups share (tma/ragged.hpp).
// Extents do not enter coordinates: the map clips.
//
// Example at namespace scope:
//     #include <gantry/tma/matrix_plan.hpp>
//     struct Load {  // 64 x 64 of a matrix that groups share
//       static constexpr gantry::TmaPlan value = gantry::plan_structure(
//           {.gtensor = {.element = gantry::ElementType::bf16,
//                        .layout = gantry::ragged_matrix(gantry::MatrixMode::second)},
//            .smem = tile_to_shape(gantry::smem_atom(gantry::Major::K, gantry::SwizzleMode::b128, 16),
//                                  gantry::make_shape(gantry::_64, gantry::_64))});
//     };
//     inline auto tiles_of_group(const gantry::TmaDescriptor* map, const gantry::GroupLines& group) {
//       using namespace gantry;
//       const auto matrix = matrix_coordinates<true>(TmaCopy<Load>{map}, group.end);
//       return local_tile(domain_offset(coord(group.origin, 0), matrix), Tile<64, 64>{}, coord(_, _));
//     }
#pragma once

#include <gantry/atom/tma_copy.hpp>
#include <gantry/tma/ragged.hpp>

namespace gantry {

// `third`: the matrix of the batch, or the line after the group's last one.
template <bool ragged, class Copy>
GANTRY_INLINE auto matrix_coordinates(const Copy& copy, int third) {
  constexpr int kAny = 1 << 30;
  if constexpr (ragged) {
    return copy.get_tma_tensor(kAny, kAny, kAny, kAny)(_, _, third, kRaggedLines);
  } else {
    return copy.get_tma_tensor(kAny, kAny, kAny)(_, _, third);
  }
}

}  // namespace gantry

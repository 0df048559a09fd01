// From the plan of a matrix's copy to its compact box.
//
// Example:
//     using namespace gantry;
//     constexpr ComposedLayout tile = tile_to_shape(smem_atom(Major::K, SwizzleMode::b128, 16), make_shape(_64, _64));
//     constexpr TmaPlan plan = plan_structure({.gtensor = {.element = ElementType::bf16,
//                                                          .layout = matrix_batch(MatrixMode::second)},
//                                              .smem = tile});
//     static_assert(compact(plan).map.box[0] == 64 && compact(plan).contiguous == MatrixMode::second);
#pragma once

#include <gantry/layout/smem_atoms.hpp>
#include <gantry/tma/matrix_box.hpp>
#include <gantry/tma/plan.hpp>

namespace gantry {

// (first, second, batch), extents and the other strides unknown.
GANTRY_HD constexpr Layout matrix_batch(MatrixMode contiguous) {
  const Int u = Int::unknown(),
            one = Int::fixed(1);  // not _1: the host calls this at run time, and nvcc has no _1 there
  return make_layout(make_shape(u, u, u),
                     contiguous == MatrixMode::second ? make_stride(u, one, u) : make_stride(one, u, u));
}
// Likewise (first, second, end, turn), the modes of a ragged map (ragged.hpp).
GANTRY_HD constexpr Layout ragged_matrix(MatrixMode contiguous) {
  const Int u = Int::unknown(), one = Int::fixed(1);
  return make_layout(make_shape(u, u, u, u),
                     contiguous == MatrixMode::second ? make_stride(u, one, u, u) : make_stride(one, u, u, u));
}

// Requires a plan that is ok() over matrix_batch(...) or ragged_matrix(...).
GANTRY_HD constexpr TmaMatrixBox compact(const TmaPlan& plan) {
  TmaMatrixBox box;
  box.op = plan.op;
  box.element = plan.element;
  const Int second = TupleView(plan.gmem.stride())[1].leaf();
  box.contiguous = second.is_fixed() && second.value() == 1 ? MatrixMode::second : MatrixMode::first;
  box.multicast = plan.num_multicast;
  box.instruction_bytes = static_cast<std::int32_t>(plan.bytes_per_instruction());
  box.map = plan.descriptor;
  return box;
}

}  // namespace gantry

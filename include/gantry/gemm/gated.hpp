// Gated epilogues, d = silu(gate(acc)) * up(acc): the order in which a tile has the rows of B.
//
// D has N / 2 columns where B has N rows: column j of D has the accumulators of two rows of B, its gate's and its up's
// (gated_row). Both must lie in one thread. A thread's accumulators are two columns of every 8, so a tile of B has 8
// rows of the gate, the 8 rows of up that belong to them, the next 8 of the gate, and so on: the gate of a value and
// its up are then four registers apart (Subtiles::gate_register_of). TMA brings the rows in that order: the tensor map
// has the modes K, 8 rows, gate and up, runs of 16 rows, batch. Only its strides say whether gate and up are halves of
// B or interleaved; the kernel is the same.
//
// Example:
//     using namespace gantry;
//     static_assert(gated_row(GemmGate::halves, 64, 3, false) == 3 && gated_row(GemmGate::halves, 64, 3, true) == 35);
//     static_assert(gated_row(GemmGate::interleaved, 64, 3, true) == 7);
#pragma once

#include <gantry/gemm/options.hpp>
#include <gantry/layout/smem_atoms.hpp>
#include <gantry/tma/matrix_plan.hpp>

namespace gantry {

inline constexpr int kGateRun = 8;               // rows of the gate before those of up
inline constexpr int kGatedRows = 2 * kGateRun;  // that N, and the columns of a tile, are a multiple of

// The row of B (column of A B^T) that column `column` of D has its gate from, or its up.
GANTRY_HD constexpr std::int64_t gated_row(GemmGate gate, std::int64_t n, std::int64_t column, bool up) {
  if (gate == GemmGate::interleaved) return 2 * column + (up ? 1 : 0);
  return column + (up ? n / 2 : 0);
}

// The plan of a stage of B, K-major, over the modes (8 rows, gate and up, runs, K, batch).
GANTRY_HD constexpr TmaPlan gated_plan(ElementType element, const ComposedLayout& stage, int sharers) {
  const Int u = Int::unknown(), one = Int::fixed(1), run = Int::fixed(kGateRun), two = Int::fixed(2);
  const auto rows = static_cast<int>(size(stage.shape()[0])), k = static_cast<int>(size(stage.shape()[1]));
  // A K tile is as wide as the swizzle: rows follow one another.
  const Layout tile =
      make_layout(make_shape(run, two, Int::fixed(rows / kGatedRows), Int::fixed(k)),
                  make_stride(Int::fixed(k), Int::fixed(kGateRun * k), Int::fixed(kGatedRows * k), one));
  return plan_structure(
      {.op = sharers > 1 ? TmaOp::load_multicast : TmaOp::load,
       .gtensor = {.element = element,
                   .layout = make_layout(make_shape(run, two, u, u, u), make_stride(u, u, u, one, u))},
       .smem = ComposedLayout(stage.swizzle(), stage.offset(), tile, element_bits(element)),
       .num_multicast = sharers});
}

// The arguments of B's tensor map. Requires N that is a multiple of kGatedRows.
GANTRY_HD constexpr TmaDescriptorParams bind_gated(const TmaMatrixBox& box, const MatrixInMemory& b, GemmGate gate) {
  const auto bytes = [bits = element_bits(box.element)](std::int64_t elements) {
    return static_cast<std::uint64_t>(elements) * static_cast<std::uint64_t>(bits) / 8;
  };
  const auto distance = [&](std::int64_t column, bool up) {
    return bytes(gated_row(gate, b.first, column, up) * b.stride);
  };
  TmaDescriptorParams map = box.map;
  map.rank = 5;
  map.address = b.address;
  map.dims[0] = static_cast<std::uint64_t>(b.second);
  map.dims[1] = kGateRun;
  map.dims[2] = 2;
  map.dims[3] = static_cast<std::uint64_t>(b.first / kGatedRows);
  map.dims[4] = static_cast<std::uint64_t>(b.batch);
  map.strides[0] = distance(1, false);
  map.strides[1] = distance(0, true);
  map.strides[2] = distance(kGateRun, false);
  map.strides[3] = bytes(b.batch_stride);
  return map;
}

}  // namespace gantry

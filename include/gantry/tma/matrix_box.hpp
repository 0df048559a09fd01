// The TMA plan of a tile of a batch of matrices, in compact form: what a host needs to encode a tensor map for given
// pointers and strides, in a few hundred bytes where a TmaPlan takes thousands.
//
// The plan of a matrix (M, N, batch) with one contiguous mode always has three TMA modes: the contiguous one, the
// other, the batch. So binding a tensor is filling in three extents and two strides; box, swizzle, element and
// operation follow from the plan's structure and are decided once.
//
// Invariant: bind(compact(plan), matrix) is the descriptor that bind(plan, tensor) gives for the same tensor.
//
// Example:
//     #include <gantry/tma/matrix_plan.hpp>
//     using namespace gantry;
//     constexpr TmaPlan plan = plan_structure(
//         {.op = TmaOp::load,
//          .gtensor = {.element = ElementType::bf16, .layout = matrix_batch(MatrixMode::second)},
//          .smem = tile_to_shape(smem_atom(Major::K, SwizzleMode::b128, 16), make_shape(_128, _64))});
//     constexpr TmaMatrixBox box = compact(plan);
//     constexpr TmaDescriptorParams map = bind(box, {.first = 300, .second = 512, .batch = 4, .stride = 512,
//                                                    .batch_stride = 300 * 512});
//     static_assert(map.dims[0] == 512 && map.dims[1] == 300 && map.dims[2] == 4 && map.strides[0] == 1024);
#pragma once

#include <gantry/numeric/element_type.hpp>
#include <gantry/tma/operations.hpp>

namespace gantry {

// Which mode of a matrix is contiguous: the second of a row-major one, the first of a column-major one.
enum class MatrixMode : std::uint8_t { first, second };

struct TmaMatrixBox {
  TmaOp op = TmaOp::load;
  ElementType element = ElementType::void_;  // void: there is no such operand
  MatrixMode contiguous = MatrixMode::second;
  std::uint32_t multicast = 1;         // CTAs that issue a part of the box each
  std::int32_t instruction_bytes = 0;  // that one instruction brings to each CTA it reaches
  TmaDescriptorParams map{};           // address, extents and strides are bound later

  GANTRY_HD constexpr bool exists() const noexcept { return element != ElementType::void_; }
  GANTRY_HD friend constexpr bool operator==(const TmaMatrixBox&, const TmaMatrixBox&) noexcept = default;
};

// A batch of matrices in memory. Strides count elements: from one line to the next, from one matrix to the next.
struct MatrixInMemory {
  std::uint64_t address = 0;
  std::int64_t first = 0, second = 0, batch = 1;
  std::int64_t stride = 0, batch_stride = 0;
};

GANTRY_HD constexpr TmaDescriptorParams bind(const TmaMatrixBox& box, const MatrixInMemory& matrix) {
  const bool rows = box.contiguous == MatrixMode::second;
  const auto bytes = [bits = element_bits(box.element)](std::int64_t elements) {
    return static_cast<std::uint64_t>(elements) * static_cast<std::uint64_t>(bits) / 8;
  };
  TmaDescriptorParams map = box.map;
  map.rank = 3;
  map.address = matrix.address;
  map.dims[0] = static_cast<std::uint64_t>(rows ? matrix.second : matrix.first);
  map.dims[1] = static_cast<std::uint64_t>(rows ? matrix.first : matrix.second);
  map.dims[2] = static_cast<std::uint64_t>(matrix.batch);
  map.strides[0] = bytes(matrix.stride);
  map.strides[1] = bytes(matrix.batch_stride);
  return map;
}

}  // namespace gantry

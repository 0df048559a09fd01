// Reductions of an epilogue: over the whole problem, over m (one result for each n) or over n (one for each m).
//
// A thread combines its own values, lanes meet by shuffles, warps in shared memory; then either atomics combine the
// tiles in whatever order they finish, or each tile leaves its part in workspace and the last one to arrive combines
// them in the order of the tiles, which gives the same bits on every run.
//
// Example:
//     using namespace gantry::fusion;
//     static_assert(combine<Reduction::amax>(-3.0f, 2.0f) == 3.0f && identity<Reduction::amax>() == 0.0f);
#pragma once

#include <gantry/arch/atomic.hpp>
#include <gantry/arch/memory.hpp>
#include <gantry/arch/warp.hpp>
#include <gantry/epilogue/fusion/graph.hpp>
#include <gantry/epilogue/fusion/params.hpp>

namespace gantry::fusion {

template <Reduction op>
GANTRY_HD constexpr float identity() {
  return op == Reduction::max ? -__builtin_inff() : 0.0f;
}

// NaN in either operand of max and amax is the result.
template <Reduction op>
GANTRY_HD constexpr float combine(float a, float b) {
  if constexpr (op == Reduction::add) {
    return a + b;
  } else {
    if constexpr (op == Reduction::amax) {
      a = a < 0 ? -a : a;
      b = b < 0 ? -b : b;
    }
    return a > b || a != a ? a : b;
  }
}

// Over the lanes whose numbers differ in the bits of `lanes`; every lane has the result.
template <Reduction op, int lanes>
GANTRY_INLINE float combine_lanes(float x) {
  GANTRY_UNROLL
  for (int bit = 16; bit > 0; bit /= 2) {
    if ((lanes & bit) != 0) x = combine<op>(x, arch::shfl_xor_sync(arch::kFullWarp, x, bit));
  }
  return x;
}

// Combines with what other tiles bring, in the order they come. The bits of floats of one sign are ordered as integers,
// and NaN (made positive) is above all of them.
template <Reduction op>
GANTRY_INLINE void combine_in_memory(float* result, float x) {
  if constexpr (op == Reduction::add) {
    arch::red(arch::op_add, arch::space_global, result, x);
  } else {
    if (x != x) x = __builtin_nanf("");
    const auto bits = __builtin_bit_cast(std::int32_t, x);
    if (bits >= 0) {
      arch::red(arch::op_max, arch::space_global, reinterpret_cast<std::int32_t*>(result), bits);
    } else {
      arch::red(arch::op_min, arch::space_global, reinterpret_cast<std::uint32_t*>(result),
                __builtin_bit_cast(std::uint32_t, x));
    }
  }
}

// What one reduction of one tile knows about where its result goes.
struct ReductionTarget {
  float* result;             // of this tile's first element
  float* partials;           // null: atomics
  std::int64_t part_stride;  // between the parts of neighbouring tiles
  std::int64_t part;         // this tile's number among those that are combined
  std::int64_t parts;
};

// How the results of a reduction lie in memory: `length` of them, of which a tile has those from `first` on; and which
// of the `parts` of one batch the tile brings.
struct ReductionPart {
  std::int64_t length, first, part, parts;
};

// The target of one batch of `batches`. Without a batch stride all batches share one result, and their parts follow
// each other.
GANTRY_INLINE ReductionTarget reduction_target(const Operand& operand, int batch, int batches,
                                               const ReductionPart& of) {
  const bool by_batch = operand.batch_stride != 0;
  const std::int64_t before = batch * of.parts;
  ReductionTarget to{static_cast<float*>(operand.pointer) + batch * operand.batch_stride + of.first, operand.partials,
                     of.length, of.part, of.parts};
  if (to.partials != nullptr) to.partials += (by_batch ? before * of.length : 0) + of.first;
  if (!by_batch) {
    to.part += before;
    to.parts *= batches;
  }
  return to;
}

// One result of a tile.
template <Reduction op>
GANTRY_INLINE void leave(const ReductionTarget& to, int i, float x) {
  if (to.partials == nullptr) {
    combine_in_memory<op>(to.result + i, x);
  } else {
    arch::st(arch::space_global, to.partials + to.part * to.part_stride + i, x);
  }
}

// The parts of every tile, in their order.
template <Reduction op>
GANTRY_INLINE void finish(const ReductionTarget& to, int i) {
  float x = identity<op>();
  for (std::int64_t part = 0; part < to.parts; ++part) {
    x = combine<op>(x, arch::ld(arch::space_global, to.partials + part * to.part_stride + i, arch::cache_global));
  }
  arch::st(arch::space_global, to.result + i, x);
}

}  // namespace gantry::fusion

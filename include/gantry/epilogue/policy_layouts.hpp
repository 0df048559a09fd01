// The layouts and TMA plans of a policy's C and D, computed from its compact values.
//
// Example:
//     using namespace gantry;
//     constexpr EpilogueOperand d{.element = ElementType::bf16,
//                                 .smem_element = ElementType::bf16,
//                                 .stages = 2,
//                                 .subtile = {64, 32},
//                                 .part = {64, 32}};
//     static_assert(size(d.smem_layout()) == 2 * 64 * 32);
#pragma once

#include <gantry/epilogue/policy.hpp>
#include <gantry/epilogue/subtile_layout.hpp>

namespace gantry {

GANTRY_HD constexpr IntTuple EpilogueOperand::gmem_stride() const { return gantry::gmem_stride(layout); }

GANTRY_HD constexpr ComposedLayout EpilogueOperand::smem_atom() const {
  return epilogue_smem_atom(bits(), m_major(), part);
}

GANTRY_HD constexpr ComposedLayout EpilogueOperand::smem_layout() const {
  return staged_layout(smem_element, !m_major(), part.m, part.n, stages * parts());
}

GANTRY_HD constexpr int EpilogueOperand::smem_alignment() const {
  return static_cast<int>(gantry::smem_alignment(epilogue_smem_atom(element_bits(smem_element), m_major(), part)));
}

GANTRY_HD constexpr TmaPlan EpilogueOperand::plan(TmaOp op) const {
  return subtile_plan(
      {.element = smem_element, .row_major = !m_major(), .subtile = part, .op = op, .gmem = gmem_layout(layout)});
}

}  // namespace gantry

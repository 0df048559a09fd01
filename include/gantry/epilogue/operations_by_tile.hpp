// The copy operations between registers and shared memory that an epilogue tile takes, by element, major and columns.
//
// 16-bit elements move as 8x8 matrices: four at once where the tile has a multiple of 16 columns, two where it has a
// multiple of 8, transposed where rows are contiguous. All others move with the widest accesses their layouts allow.
// An operation is a value here, named after the type in atom/ that does it.
//
// Example:
//     using namespace gantry;
//     static_assert(smem_store_operation(16, false, 32) == CopyOp::SM90_U32x4_STSM_N);
//     static_assert(smem_load_operation(16, true, 24) == CopyOp::SM75_U16x4_LDSM_T);
//     static_assert(cute_name(smem_store_operation(32, false, 32))[0] == 'A');  // AutoVectorizingCopy...
#pragma once

#include <cstdint>

#include <gantry/config.hpp>

// X(id, CuTe's name)
#define GANTRY_EPILOGUE_COPY_OPS(X)                                   \
  X(none, "void")                                                     \
  X(auto_vectorizing, "AutoVectorizingCopyWithAssumedAlignment<128>") \
  X(SM75_U32x2_LDSM_N, "SM75_U32x2_LDSM_N")                           \
  X(SM75_U32x4_LDSM_N, "SM75_U32x4_LDSM_N")                           \
  X(SM75_U16x4_LDSM_T, "SM75_U16x4_LDSM_T")                           \
  X(SM75_U16x8_LDSM_T, "SM75_U16x8_LDSM_T")                           \
  X(SM90_U32x2_STSM_N, "SM90_U32x2_STSM_N")                           \
  X(SM90_U32x4_STSM_N, "SM90_U32x4_STSM_N")                           \
  X(SM90_U16x4_STSM_T, "SM90_U16x4_STSM_T")                           \
  X(SM90_U16x8_STSM_T, "SM90_U16x8_STSM_T")

namespace gantry {

// Named after the types they stand for.
// g++ takes a scoped enumerator for something that hides the type of the same name.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
enum class CopyOp : std::uint8_t {
#define GANTRY_X(id, ...) id,
  GANTRY_EPILOGUE_COPY_OPS(GANTRY_X)
#undef GANTRY_X
};
#pragma GCC diagnostic pop

GANTRY_HD constexpr const char* cute_name(CopyOp op) noexcept {
  switch (op) {
#define GANTRY_X(id, name) \
  case CopyOp::id:         \
    return name;
    GANTRY_EPILOGUE_COPY_OPS(GANTRY_X)
#undef GANTRY_X
  }
  return "unknown";
}

// Registers to shared memory. Requires a multiple of 8 columns.
GANTRY_HD constexpr CopyOp smem_store_operation(int element_bits, bool m_major, int columns) noexcept {
  if (element_bits != 16) return CopyOp::auto_vectorizing;
  const bool four = columns % 16 == 0;
  if (m_major) return four ? CopyOp::SM90_U16x8_STSM_T : CopyOp::SM90_U16x4_STSM_T;
  return four ? CopyOp::SM90_U32x4_STSM_N : CopyOp::SM90_U32x2_STSM_N;
}

// Shared memory to registers. Requires a multiple of 8 columns.
GANTRY_HD constexpr CopyOp smem_load_operation(int element_bits, bool m_major, int columns) noexcept {
  if (element_bits != 16) return CopyOp::auto_vectorizing;
  const bool four = columns % 16 == 0;
  if (m_major) return four ? CopyOp::SM75_U16x8_LDSM_T : CopyOp::SM75_U16x4_LDSM_T;
  return four ? CopyOp::SM75_U32x4_LDSM_N : CopyOp::SM75_U32x2_LDSM_N;
}

// How accumulators are partitioned into fragments: as 16-bit matrices would be stored, whatever C and D are. Requires a
// multiple of 8 columns.
GANTRY_HD constexpr CopyOp accumulator_operation(int columns) noexcept {
  return smem_store_operation(16, false, columns);
}

}  // namespace gantry

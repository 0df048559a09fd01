// The small vocabularies of a tensor map: element types, interleave, swizzle, L2 promotion, fill,
// and the kind of map.
//
// Invariant: each enumerator has the value that the driver's enum of the same meaning has, so
// encoding is a cast. The one numbering that differs on the device, that of `tensormap.replace ...
// .elemtype`, is `ptx_elemtype`. Values outside an enum are allowed to exist: the rules in
// `tma/rules.hpp` name them.
//
// Example:
//     static_assert(gantry::element_bytes(gantry::TmaDataType::bf16) == 2);
//     static_assert(gantry::swizzle_span_bytes(gantry::TmaSwizzle::bytes_128) == 128);
#pragma once

#include <cstdint>

#include <gantry/config.hpp>

namespace gantry {

enum class TmaMode : std::uint8_t { tiled = 0, im2col = 1 };

// Bytes that TMA does not interpret (s8, e4m3, e5m2) travel as u8.
enum class TmaDataType : std::uint8_t {
  u8 = 0,
  u16 = 1,
  u32 = 2,
  s32 = 3,
  u64 = 4,
  s64 = 5,
  f16 = 6,
  f32 = 7,
  f64 = 8,
  bf16 = 9,
  f32_ftz = 10,
  tf32 = 11,
  tf32_ftz = 12,
  u4x16_align8 = 13,  // the last three need compute capability 10
  u4x16_align16 = 14,
  u6x16_align16 = 15,
};
inline constexpr int kTmaDataTypeCount = 16;

enum class TmaInterleave : std::uint8_t { none = 0, bytes_16 = 1, bytes_32 = 2 };

enum class TmaSwizzle : std::uint8_t {
  none = 0,
  bytes_32 = 1,
  bytes_64 = 2,
  bytes_128 = 3,
  bytes_128_atom_32 = 4,  // the last three need compute capability 10
  bytes_128_atom_32_flip_8 = 5,
  bytes_128_atom_64 = 6,
};

enum class TmaL2Promotion : std::uint8_t { none = 0, bytes_64 = 1, bytes_128 = 2, bytes_256 = 3 };

// What a load delivers for elements outside the tensor: zeros, or half-words 0x7FF7 (a NaN in every
// floating type).
enum class TmaFill : std::uint8_t { zero = 0, nan = 1 };

// Bits of one element; 0 for a value outside the enum.
GANTRY_HD constexpr int element_bits(TmaDataType type) noexcept {
  switch (type) {
    case TmaDataType::u8:
      return 8;
    case TmaDataType::u16:
    case TmaDataType::f16:
    case TmaDataType::bf16:
      return 16;
    case TmaDataType::u32:
    case TmaDataType::s32:
    case TmaDataType::f32:
    case TmaDataType::f32_ftz:
    case TmaDataType::tf32:
    case TmaDataType::tf32_ftz:
      return 32;
    case TmaDataType::u64:
    case TmaDataType::s64:
    case TmaDataType::f64:
      return 64;
    case TmaDataType::u4x16_align8:
    case TmaDataType::u4x16_align16:
      return 4;
    case TmaDataType::u6x16_align16:
      return 6;
  }
  return 0;
}

// Whole bytes of one element; 0 for the sub-byte types and for a value outside the enum.
GANTRY_HD constexpr int element_bytes(TmaDataType type) noexcept { return element_bits(type) / 8; }

GANTRY_HD constexpr bool is_floating(TmaDataType type) noexcept {
  return type >= TmaDataType::f16 && type <= TmaDataType::tf32_ftz;
}

GANTRY_HD constexpr bool hopper_has(TmaDataType type) noexcept { return type <= TmaDataType::tf32_ftz; }

GANTRY_HD constexpr bool hopper_has(TmaSwizzle swizzle) noexcept { return swizzle <= TmaSwizzle::bytes_128; }

// The widest inner box that a swizzle covers, which is also the distance of rows in shared memory;
// 0 without a swizzle.
GANTRY_HD constexpr int swizzle_span_bytes(TmaSwizzle swizzle) noexcept {
  switch (swizzle) {
    case TmaSwizzle::none:
      return 0;
    case TmaSwizzle::bytes_32:
      return 32;
    case TmaSwizzle::bytes_64:
      return 64;
    case TmaSwizzle::bytes_128:
    case TmaSwizzle::bytes_128_atom_32:
    case TmaSwizzle::bytes_128_atom_32_flip_8:
    case TmaSwizzle::bytes_128_atom_64:
      return 128;
  }
  return 0;
}

// The code that `tensormap.replace.tile.elemtype` takes: 8, 9 and 10 are permuted against the
// driver's enum.
GANTRY_HD constexpr int ptx_elemtype(TmaDataType type) noexcept {
  switch (type) {
    case TmaDataType::f32_ftz:
      return 8;
    case TmaDataType::f64:
      return 9;
    case TmaDataType::bf16:
      return 10;
    default:
      return static_cast<int>(type);
  }
}

// The inverse of `ptx_elemtype`. Requires a code from 0 to 12, which is what Hopper takes.
GANTRY_HD constexpr TmaDataType data_type_from_ptx(int code) noexcept {
  switch (code) {
    case 8:
      return TmaDataType::f32_ftz;
    case 9:
      return TmaDataType::f64;
    case 10:
      return TmaDataType::bf16;
    default:
      return static_cast<TmaDataType>(code);
  }
}

GANTRY_HD constexpr const char* to_text(TmaMode mode) noexcept {
  switch (mode) {
    case TmaMode::tiled:
      return "tiled";
    case TmaMode::im2col:
      return "im2col";
  }
  return "unknown";
}

GANTRY_HD constexpr const char* to_text(TmaDataType type) noexcept {
  switch (type) {
    case TmaDataType::u8:
      return "u8";
    case TmaDataType::u16:
      return "u16";
    case TmaDataType::u32:
      return "u32";
    case TmaDataType::s32:
      return "s32";
    case TmaDataType::u64:
      return "u64";
    case TmaDataType::s64:
      return "s64";
    case TmaDataType::f16:
      return "f16";
    case TmaDataType::f32:
      return "f32";
    case TmaDataType::f64:
      return "f64";
    case TmaDataType::bf16:
      return "bf16";
    case TmaDataType::f32_ftz:
      return "f32.ftz";
    case TmaDataType::tf32:
      return "tf32";
    case TmaDataType::tf32_ftz:
      return "tf32.ftz";
    case TmaDataType::u4x16_align8:
      return "u4x16.align8";
    case TmaDataType::u4x16_align16:
      return "u4x16.align16";
    case TmaDataType::u6x16_align16:
      return "u6x16.align16";
  }
  return "unknown";
}

GANTRY_HD constexpr const char* to_text(TmaInterleave interleave) noexcept {
  switch (interleave) {
    case TmaInterleave::none:
      return "none";
    case TmaInterleave::bytes_16:
      return "16B";
    case TmaInterleave::bytes_32:
      return "32B";
  }
  return "unknown";
}

GANTRY_HD constexpr const char* to_text(TmaSwizzle swizzle) noexcept {
  switch (swizzle) {
    case TmaSwizzle::none:
      return "none";
    case TmaSwizzle::bytes_32:
      return "32B";
    case TmaSwizzle::bytes_64:
      return "64B";
    case TmaSwizzle::bytes_128:
      return "128B";
    case TmaSwizzle::bytes_128_atom_32:
      return "128B (32B atoms)";
    case TmaSwizzle::bytes_128_atom_32_flip_8:
      return "128B (32B atoms, 8B flip)";
    case TmaSwizzle::bytes_128_atom_64:
      return "128B (64B atoms)";
  }
  return "unknown";
}

GANTRY_HD constexpr const char* to_text(TmaL2Promotion promotion) noexcept {
  switch (promotion) {
    case TmaL2Promotion::none:
      return "none";
    case TmaL2Promotion::bytes_64:
      return "64B";
    case TmaL2Promotion::bytes_128:
      return "128B";
    case TmaL2Promotion::bytes_256:
      return "256B";
  }
  return "unknown";
}

GANTRY_HD constexpr const char* to_text(TmaFill fill) noexcept {
  switch (fill) {
    case TmaFill::zero:
      return "zero";
    case TmaFill::nan:
      return "nan";
  }
  return "unknown";
}

// The driver's own spelling, for reports that are read beside its documentation.
GANTRY_HD constexpr const char* driver_name(TmaDataType type) noexcept {
  switch (type) {
    case TmaDataType::u8:
      return "CU_TENSOR_MAP_DATA_TYPE_UINT8";
    case TmaDataType::u16:
      return "CU_TENSOR_MAP_DATA_TYPE_UINT16";
    case TmaDataType::u32:
      return "CU_TENSOR_MAP_DATA_TYPE_UINT32";
    case TmaDataType::s32:
      return "CU_TENSOR_MAP_DATA_TYPE_INT32";
    case TmaDataType::u64:
      return "CU_TENSOR_MAP_DATA_TYPE_UINT64";
    case TmaDataType::s64:
      return "CU_TENSOR_MAP_DATA_TYPE_INT64";
    case TmaDataType::f16:
      return "CU_TENSOR_MAP_DATA_TYPE_FLOAT16";
    case TmaDataType::f32:
      return "CU_TENSOR_MAP_DATA_TYPE_FLOAT32";
    case TmaDataType::f64:
      return "CU_TENSOR_MAP_DATA_TYPE_FLOAT64";
    case TmaDataType::bf16:
      return "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16";
    case TmaDataType::f32_ftz:
      return "CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ";
    case TmaDataType::tf32:
      return "CU_TENSOR_MAP_DATA_TYPE_TFLOAT32";
    case TmaDataType::tf32_ftz:
      return "CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ";
    case TmaDataType::u4x16_align8:
      return "CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B";
    case TmaDataType::u4x16_align16:
      return "CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B";
    case TmaDataType::u6x16_align16:
      return "CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B";
  }
  return "unknown";
}

GANTRY_HD constexpr const char* driver_name(TmaSwizzle swizzle) noexcept {
  switch (swizzle) {
    case TmaSwizzle::none:
      return "CU_TENSOR_MAP_SWIZZLE_NONE";
    case TmaSwizzle::bytes_32:
      return "CU_TENSOR_MAP_SWIZZLE_32B";
    case TmaSwizzle::bytes_64:
      return "CU_TENSOR_MAP_SWIZZLE_64B";
    case TmaSwizzle::bytes_128:
      return "CU_TENSOR_MAP_SWIZZLE_128B";
    case TmaSwizzle::bytes_128_atom_32:
      return "CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B";
    case TmaSwizzle::bytes_128_atom_32_flip_8:
      return "CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B";
    case TmaSwizzle::bytes_128_atom_64:
      return "CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B";
  }
  return "unknown";
}

}  // namespace gantry

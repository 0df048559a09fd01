// Editing a packed map field by field, as `tensormap.replace` does on the device and
// `cuTensorMapReplaceAddress` on the host.
//
// Invariant: a successful edit changes one field and nothing else; a refused one leaves every byte
// as it was. Values are the operands that PTX takes: the rank minus one, the element type in PTX
// numbering, strides in bytes.
//
// Example:
//     constexpr auto moved = [] {
//       gantry::TmaDescriptor map = gantry::pack({.dims = {4096}, .box = {128}});
//       const auto result = gantry::replace_address(map, 0x10000);
//       return result == gantry::TmaReplaceResult::replaced ? map : gantry::TmaDescriptor{};
//     }();
//     static_assert(gantry::unpack(moved)->address == 0x10000);
#pragma once

#include <gantry/tma/descriptor.hpp>

// X(id, PTX name, number of ordinals, bits of the operand, operand, what the operand means). What a
// kernel may replace on Hopper, and only in tiled maps.
#define GANTRY_TMA_REPLACEABLE_FIELDS(X)                                                                          \
  X(global_address, "global_address", 1, 64, register_operand, "generic address")                                 \
  X(rank, "rank", 1, 32, register_operand, "rank minus 1")                                                        \
  X(box_dim, "box_dim", 5, 32, register_operand, "elements, 1 to 256")                                            \
  X(global_dim, "global_dim", 5, 32, register_operand, "elements, 1 to 2^32 - 1")                                 \
  X(global_stride, "global_stride", 4, 64, register_operand, "bytes; ordinal i is the stride of dimension i + 1") \
  X(element_stride, "element_stride", 5, 32, register_operand, "1 to 8")                                          \
  X(elemtype, "elemtype", 1, 32, immediate_operand, "0 to 12 in PTX numbering")                                   \
  X(interleave_layout, "interleave_layout", 1, 32, immediate_operand, "0 none, 1 16 bytes, 2 32 bytes")           \
  X(swizzle_mode, "swizzle_mode", 1, 32, immediate_operand, "0 none, 1 32 bytes, 2 64 bytes, 3 128 bytes")        \
  X(fill_mode, "fill_mode", 1, 32, immediate_operand, "0 zeros, 1 NaN")

namespace gantry {

enum class TmaReplaceField : std::uint8_t {
#define GANTRY_X(id, ...) id,
  GANTRY_TMA_REPLACEABLE_FIELDS(GANTRY_X)
#undef GANTRY_X
};

enum class TmaReplaceOperand : std::uint8_t { register_operand, immediate_operand };

struct TmaReplaceableField {
  TmaReplaceField field;
  const char* ptx_name;
  int ordinals;
  int operand_bits;
  TmaReplaceOperand operand;
  const char* meaning;
};

inline constexpr TmaReplaceableField kTmaReplaceableFields[] = {
#define GANTRY_X(id, name, ordinals, bits, operand, meaning) \
  {TmaReplaceField::id, name, ordinals, bits, TmaReplaceOperand::operand, meaning},
    GANTRY_TMA_REPLACEABLE_FIELDS(GANTRY_X)
#undef GANTRY_X
};

enum class [[nodiscard]] TmaReplaceResult : std::uint8_t{
    replaced, not_a_map, not_tiled, no_such_ordinal, value_not_representable, address_misaligned,
};

GANTRY_HD constexpr const char* to_text(TmaReplaceResult result) noexcept {
  switch (result) {
    case TmaReplaceResult::replaced:
      return "the field was replaced";
    case TmaReplaceResult::not_a_map:
      return "the 128 bytes are not a tensor map: encode one, or copy one there, first";
    case TmaReplaceResult::not_tiled:
      return "only a tiled map can be edited, and this one is im2col";
    case TmaReplaceResult::no_such_ordinal:
      return "the ordinal names a dimension that the field does not have";
    case TmaReplaceResult::value_not_representable:
      return "the value is outside the range that the field can hold";
    case TmaReplaceResult::address_misaligned:
      return "the address is not a multiple of 16 bytes (32 with 32-byte interleave)";
  }
  return "unknown";
}

namespace tma_detail {

GANTRY_HD constexpr int ordinals_of(TmaReplaceField field) noexcept {
  switch (field) {
#define GANTRY_X(id, name, ordinals, ...) \
  case TmaReplaceField::id:               \
    return ordinals;
    GANTRY_TMA_REPLACEABLE_FIELDS(GANTRY_X)
#undef GANTRY_X
  }
  return 0;
}

// Sets one field from its PTX operand. Guarantees: false, and `p` unspecified, when Hopper has no
// such value.
GANTRY_HD constexpr bool set_field(TmaDescriptorParams& p, TmaReplaceField field, int ordinal,
                                   std::uint64_t value) noexcept {
  const auto low = static_cast<std::uint32_t>(value);
  if (field != TmaReplaceField::global_address && field != TmaReplaceField::global_stride && low != value) {
    return false;
  }
  const auto code = static_cast<std::uint8_t>(low);
  switch (field) {
    case TmaReplaceField::global_address:
      p.address = value;
      return true;
    case TmaReplaceField::rank:
      p.rank = low + 1;
      return low < kTmaMaxRank;
    case TmaReplaceField::box_dim:
      p.box[ordinal] = low;
      return true;
    case TmaReplaceField::global_dim:
      p.dims[ordinal] = low;
      return true;
    case TmaReplaceField::global_stride:
      p.strides[ordinal] = value;
      return true;
    case TmaReplaceField::element_stride:
      p.element_strides[ordinal] = low;
      return true;
    case TmaReplaceField::elemtype:
      p.data_type = data_type_from_ptx(static_cast<int>(code));
      return low <= 12;
    case TmaReplaceField::interleave_layout:
      p.interleave = static_cast<TmaInterleave>(code);
      return low <= 2;
    case TmaReplaceField::swizzle_mode:
      p.swizzle = static_cast<TmaSwizzle>(code);
      return low <= 3;
    case TmaReplaceField::fill_mode:
      p.fill = static_cast<TmaFill>(code);
      return low <= 1;
  }
  return false;
}

}  // namespace tma_detail

// One `tensormap.replace.tile.<field>` on a packed map. Fields without a dimension take ordinal 0.
GANTRY_HD constexpr TmaReplaceResult replace(TmaDescriptor& map, TmaReplaceField field, int ordinal,
                                             std::uint64_t value) noexcept {
  const UnpackedTmaDescriptor before = unpack(map);
  if (!before) return TmaReplaceResult::not_a_map;
  if (before->mode != TmaMode::tiled) return TmaReplaceResult::not_tiled;
  if (ordinal < 0 || ordinal >= tma_detail::ordinals_of(field)) return TmaReplaceResult::no_such_ordinal;
  TmaDescriptorParams after = *before;
  if (!tma_detail::set_field(after, field, ordinal, value)) {
    return TmaReplaceResult::value_not_representable;
  }
  const TmaDescriptor packed = tma_detail::pack_all(after);
  if (!unpack(packed)) return TmaReplaceResult::value_not_representable;
  map = packed;
  return TmaReplaceResult::replaced;
}

// The host's address replacement: tiled and im2col maps alike, and unlike the device's it checks
// the alignment.
GANTRY_HD constexpr TmaReplaceResult replace_address(TmaDescriptor& map, std::uint64_t address) noexcept {
  const UnpackedTmaDescriptor before = unpack(map);
  if (!before) return TmaReplaceResult::not_a_map;
  TmaDescriptorParams after = *before;
  if (address % address_alignment(after) != 0) return TmaReplaceResult::address_misaligned;
  after.address = address;
  map = tma_detail::pack_all(after);
  return TmaReplaceResult::replaced;
}

}  // namespace gantry

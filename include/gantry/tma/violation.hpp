// Every rule that a tensor map and a copy through it must keep, as data, and what is reported when
// one is broken.
//
// The table below is the only place where a rule's sentence, weight and source stand; validation,
// tests and documentation read it from here. A violation names its rule, the field, the actual
// value and the nearest value that keeps the rule.
//
// Example:
//     constexpr gantry::TmaViolation v{.rule = gantry::TmaRule::box_extent_out_of_range,
//                                      .field = gantry::TmaField::box,
//                                      .index = 1,
//                                      .actual = 512,
//                                      .nearest = 256};
//     static_assert(gantry::describe(v) ==
//                   "box[1] is 512: a box has 1 to 256 elements along each dimension; "
//                   "the nearest value that works is 256");
#pragma once

#include <gantry/layout/text.hpp>
#include <gantry/tma/descriptor.hpp>

// X(id, severity, rule, source). {first} and {second} stand for the two numbers of a violation.
#define GANTRY_TMA_RULES(X)                                                                                            \
  X(mode_unknown, driver_rejects, "a map is tiled or im2col", "there are two encoders")                                \
  X(data_type_not_on_hopper, driver_rejects,                                                                           \
    "Hopper has element types 0 to 12; packed 4- and 6-bit values travel as u8",                                       \
    "driver API, tensorDataType; observed")                                                                            \
  X(rank_out_of_range, driver_rejects, "a tensor map has 1 to 5 dimensions", "driver API, tensorRank; observed")       \
  X(rank_too_low_for_interleave, driver_rejects, "an interleaved map has at least 3 dimensions",                       \
    "driver API, tensorRank; observed")                                                                                \
  X(rank_not_im2col, driver_rejects, "an im2col map has 3 (NWC), 4 (NHWC) or 5 (NDHWC) dimensions",                    \
    "driver API, cuTensorMapEncodeIm2col, tensorRank; observed")                                                       \
  X(address_misaligned, driver_rejects,                                                                                \
    "the global address must be a multiple of {first} bytes (of 32 with 32-byte interleave, else of 16)",              \
    "driver API, globalAddress; observed")                                                                             \
  X(swizzled_address_misaligned, pitfall,                                                                              \
    "the programming guide asks for a 128-byte aligned address when the map is swizzled, although "                    \
    "the driver takes 16",                                                                                             \
    "CUDA C++ programming guide; the driver accepts it")                                                               \
  X(extent_out_of_range, driver_rejects, "an extent is 1 to 2^32 elements", "driver API, globalDim; observed")         \
  X(extent_beyond_coordinates, pitfall,                                                                                \
    "coordinates are signed 32-bit integers, so no copy can start at 2^31 or beyond", "PTX ISA, cp.async.bulk.tensor") \
  X(stride_not_multiple, driver_rejects,                                                                               \
    "a stride must be a multiple of {first} bytes (of 32 with 32-byte interleave, else of 16)",                        \
    "driver API, globalStrides; observed")                                                                             \
  X(stride_too_large, driver_rejects, "a stride is less than 2^40 bytes", "driver API, globalStrides; observed")       \
  X(box_extent_out_of_range, driver_rejects, "a box has 1 to 256 elements along each dimension",                       \
    "driver API, boxDim; observed")                                                                                    \
  X(inner_box_bytes_not_multiple_of_16, driver_rejects,                                                                \
    "the innermost extent spans {first} bytes, and without interleave it must span a multiple of 16",                  \
    "driver API, boxDim; observed")                                                                                    \
  X(inner_box_bytes_exceed_swizzle_span, driver_rejects,                                                               \
    "the innermost extent spans {first} bytes, and the swizzle covers {second}", "driver API, swizzle; observed")      \
  X(inner_box_narrower_than_swizzle_span, pitfall,                                                                     \
    "the innermost extent spans {first} bytes, and the swizzle spaces rows {second} bytes apart: "                     \
    "the tile in shared memory has gaps",                                                                              \
    "observed")                                                                                                        \
  X(box_bytes_too_large, driver_rejects,                                                                               \
    "one copy would deliver {first} bytes, and the driver takes less than {second}", "observed")                       \
  X(box_exceeds_shared_memory, documented,                                                                             \
    "one copy would fill {first} bytes of shared memory, and a block has at most {second}",                            \
    "CUDA C++ programming guide, compute capability 9.0")                                                              \
  X(element_stride_out_of_range, driver_rejects, "an element stride is 1 to 8",                                        \
    "driver API, elementStrides; observed")                                                                            \
  X(element_stride_ignored, pitfall,                                                                                   \
    "dimension 0 cannot be strided without interleave, and the driver ignores the entry",                              \
    "driver API, elementStrides; observed")                                                                            \
  X(interleave_unknown, driver_rejects, "interleave is none (0), 16B (1) or 32B (2)",                                  \
    "driver API, interleave; observed")                                                                                \
  X(interleave_needs_swizzle_32, documented, "32-byte interleave is documented with the 32-byte swizzle only",         \
    "driver API, interleave; the driver accepts it")                                                                   \
  X(swizzle_not_on_hopper, driver_rejects, "Hopper swizzles by none (0), 32B (1), 64B (2) or 128B (3)",                \
    "driver API, swizzle; observed")                                                                                   \
  X(l2_promotion_unknown, driver_rejects, "L2 promotion is none (0), 64B (1), 128B (2) or 256B (3)",                   \
    "driver API, l2Promotion; observed")                                                                               \
  X(fill_unknown, driver_rejects, "the fill is zero (0) or nan (1)", "driver API, oobFill; observed")                  \
  X(fill_needs_floating_type, driver_rejects, "only floating-point elements can be filled with NaN",                   \
    "driver API, oobFill; observed")                                                                                   \
  X(corner_out_of_range, driver_rejects, "with this rank a corner of the pixel box is {first} to {second}",            \
    "driver API, pixelBoxLowerCorner and pixelBoxUpperCorner; observed")                                               \
  X(pixel_box_empty, driver_rejects, "the pixel box runs from {first} to {second} on this axis and holds no pixel",    \
    "driver API, pixelBoxLowerCorner and pixelBoxUpperCorner; observed")                                               \
  X(channels_out_of_range, driver_rejects, "a pixel has 1 to 256 channels", "driver API, channelsPerPixel; observed")  \
  X(pixels_out_of_range, driver_rejects, "a column has 1 to 1024 pixels", "driver API, pixelsPerColumn; observed")     \
  X(map_kind_mismatch, device_faults, "tiled operations take tiled maps and im2col operations im2col maps",            \
    "observed: error 715")                                                                                             \
  X(reduce_add_type, documented, "a TMA reduction by add takes u32, s32, u64, f16, f32 and bf16",                      \
    "PTX ISA, cp.reduce.async.bulk.tensor")                                                                            \
  X(reduce_min_max_type, documented, "a TMA reduction by min or max takes u32, s32, u64, s64, f16 and bf16",           \
    "PTX ISA, cp.reduce.async.bulk.tensor")                                                                            \
  X(reduce_inc_dec_type, documented, "a TMA reduction by inc or dec takes u32",                                        \
    "PTX ISA, cp.reduce.async.bulk.tensor")                                                                            \
  X(reduce_bitwise_type, documented, "a TMA reduction by and, or or xor takes u32, s32, u64 and s64",                  \
    "PTX ISA, cp.reduce.async.bulk.tensor")                                                                            \
  X(store_overlaps_itself, documented,                                                                                 \
    "with stride 0 several elements of one box are stored to the same address, in no order",                           \
    "PTX ISA, cp.async.bulk.tensor: accesses are weak and unordered")                                                  \
  X(instruction_rank_mismatch, device_faults, "the instruction and the map have the same rank", "observed: error 715") \
  X(coordinate_misaligned, device_faults,                                                                              \
    "coordinate 0 starts {first} bytes into its row, and the start must be a multiple of 16 bytes",                    \
    "observed: error 715")                                                                                             \
  X(coordinate_negative, device_faults, "a store or reduction never starts below 0", "PTX ISA; observed: error 715")   \
  X(coordinate_overflow, device_faults, "a box ends within signed 32-bit coordinates",                                 \
    "observed: error 715 for 2^31 - 1")                                                                                \
  X(start_outside_pixel_box, device_faults,                                                                            \
    "an im2col copy starts inside the pixel box, from {first} to {second} on this axis", "observed: error 715")        \
  X(offset_out_of_range, documented, "with this rank an im2col offset is {first} to {second}",                         \
    "PTX ISA, cp.async.bulk.tensor im2col offsets")                                                                    \
  X(shared_address_misaligned, device_faults, "the shared address of a tensor copy is a multiple of 128 bytes",        \
    "observed: error 716")

namespace gantry {

enum class TmaRule : std::uint8_t {
#define GANTRY_X(id, ...) id,
  GANTRY_TMA_RULES(GANTRY_X)
#undef GANTRY_X
};

// driver_rejects: the encoder answers INVALID_VALUE. device_faults: the launch dies.
// documented: works or seems to work in practice, against documentation. pitfall: legal, and not
// what the arguments seem to say.
enum class TmaSeverity : std::uint8_t { driver_rejects, device_faults, documented, pitfall };

GANTRY_HD constexpr const char* to_text(TmaSeverity severity) noexcept {
  switch (severity) {
    case TmaSeverity::driver_rejects:
      return "driver rejects";
    case TmaSeverity::device_faults:
      return "device faults";
    case TmaSeverity::documented:
      return "documented";
    case TmaSeverity::pitfall:
      return "pitfall";
  }
  return "unknown";
}

struct TmaRuleEntry {
  TmaRule rule;
  const char* name;
  TmaSeverity severity;
  const char* text;
  const char* source;
};

inline constexpr TmaRuleEntry kTmaRules[] = {
#define GANTRY_X(id, severity, text, source) {TmaRule::id, #id, TmaSeverity::severity, text, source},
    GANTRY_TMA_RULES(GANTRY_X)
#undef GANTRY_X
};

GANTRY_HD constexpr TmaRuleEntry entry_of(TmaRule rule) noexcept {
  switch (rule) {
#define GANTRY_X(id, severity, text, source) \
  case TmaRule::id:                          \
    return {TmaRule::id, #id, TmaSeverity::severity, text, source};
    GANTRY_TMA_RULES(GANTRY_X)
#undef GANTRY_X
  }
  return {rule, "unknown", TmaSeverity::pitfall, "unknown rule", ""};
}

// What a violation is about: an argument of the encoder, or an operand of the instruction.
enum class TmaField : std::uint8_t {
  mode,
  data_type,
  rank,
  address,
  dims,
  strides,
  box,
  element_strides,
  interleave,
  swizzle,
  l2_promotion,
  fill,
  lower_corner,
  upper_corner,
  channels_per_pixel,
  pixels_per_column,
  instruction_rank,
  coordinate,
  offset,
  shared_address,
};

GANTRY_HD constexpr const char* to_text(TmaField field) noexcept {
  switch (field) {
    case TmaField::mode:
      return "mode";
    case TmaField::data_type:
      return "data_type";
    case TmaField::rank:
      return "rank";
    case TmaField::address:
      return "address";
    case TmaField::dims:
      return "dims";
    case TmaField::strides:
      return "strides";
    case TmaField::box:
      return "box";
    case TmaField::element_strides:
      return "element_strides";
    case TmaField::interleave:
      return "interleave";
    case TmaField::swizzle:
      return "swizzle";
    case TmaField::l2_promotion:
      return "l2_promotion";
    case TmaField::fill:
      return "fill";
    case TmaField::lower_corner:
      return "lower_corner";
    case TmaField::upper_corner:
      return "upper_corner";
    case TmaField::channels_per_pixel:
      return "channels_per_pixel";
    case TmaField::pixels_per_column:
      return "pixels_per_column";
    case TmaField::instruction_rank:
      return "instruction rank";
    case TmaField::coordinate:
      return "coordinate";
    case TmaField::offset:
      return "offset";
    case TmaField::shared_address:
      return "shared address";
  }
  return "unknown";
}

// Values are the field's bits; `lower_corner`, `upper_corner` and `coordinate` are signed.
struct TmaViolation {
  TmaRule rule = TmaRule::mode_unknown;
  TmaField field = TmaField::mode;
  std::int8_t index = -1;  // the entry of an array field, or -1
  std::uint64_t actual = 0;
  std::uint64_t nearest = 0;
  std::int64_t first = 0;  // the numbers that the rule's text names
  std::int64_t second = 0;

  GANTRY_HD constexpr TmaSeverity severity() const noexcept { return entry_of(rule).severity; }
};

// Every violation found, in the order of the arguments. Holds as many as one check can produce.
class TmaViolations {
 public:
  static constexpr int kCapacity = 48;

  GANTRY_HD constexpr void add(const TmaViolation& violation) noexcept {
    if (size_ < kCapacity) entries_[size_++] = violation;
  }
  GANTRY_HD constexpr void add(const TmaViolations& others) noexcept {
    for (const TmaViolation& violation : others) add(violation);
  }

  GANTRY_HD constexpr int size() const noexcept { return size_; }
  GANTRY_HD constexpr bool empty() const noexcept { return size_ == 0; }
  GANTRY_HD constexpr const TmaViolation& operator[](int i) const noexcept { return entries_[i]; }
  GANTRY_HD constexpr const TmaViolation* begin() const noexcept { return entries_; }
  GANTRY_HD constexpr const TmaViolation* end() const noexcept { return entries_ + size_; }

  GANTRY_HD constexpr bool has(TmaRule rule) const noexcept {
    for (const TmaViolation& violation : *this) {
      if (violation.rule == rule) return true;
    }
    return false;
  }
  GANTRY_HD constexpr bool has(TmaSeverity severity) const noexcept {
    for (const TmaViolation& violation : *this) {
      if (violation.severity() == severity) return true;
    }
    return false;
  }

  // Nothing but pitfalls: what was asked is legal.
  GANTRY_HD constexpr bool ok() const noexcept {
    return !has(TmaSeverity::driver_rejects) && !has(TmaSeverity::device_faults) && !has(TmaSeverity::documented);
  }

 private:
  TmaViolation entries_[kCapacity] = {};
  int size_ = 0;
};

using TmaSentence = Text<384>;

namespace detail {

GANTRY_HD constexpr void append_unsigned(TmaSentence& out, std::uint64_t value, unsigned base) {
  char digits[20] = {};
  int n = 0;
  do {
    digits[n++] = "0123456789abcdef"[value % base];
    value /= base;
  } while (value != 0);
  while (n > 0) out.append(digits[--n]);
}

GANTRY_HD constexpr const char* enumerator_text(TmaField field, std::uint64_t value) noexcept {
  if (value > 0xff) return "";
  const auto code = static_cast<std::uint8_t>(value);
  switch (field) {
    case TmaField::mode:
      return to_text(static_cast<TmaMode>(code));
    case TmaField::data_type:
      return to_text(static_cast<TmaDataType>(code));
    case TmaField::interleave:
      return to_text(static_cast<TmaInterleave>(code));
    case TmaField::swizzle:
      return to_text(static_cast<TmaSwizzle>(code));
    case TmaField::l2_promotion:
      return to_text(static_cast<TmaL2Promotion>(code));
    case TmaField::fill:
      return to_text(static_cast<TmaFill>(code));
    default:
      return "";
  }
}

GANTRY_HD constexpr void append_value(TmaSentence& out, TmaField field, std::uint64_t value) {
  switch (field) {
    case TmaField::address:
    case TmaField::shared_address:
      out.append("0x");
      append_unsigned(out, value, 16);
      return;
    case TmaField::lower_corner:
    case TmaField::upper_corner:
    case TmaField::coordinate:
      out.append(static_cast<std::int64_t>(value));
      return;
    default:
      append_unsigned(out, value, 10);
  }
  const char* name = enumerator_text(field, value);
  if (*name != '\0') out.append(" (").append(name).append(')');
}

// The rule's text with {first} and {second} replaced.
GANTRY_HD constexpr void append_rule(TmaSentence& out, const TmaViolation& violation) {
  for (const char* s = entry_of(violation.rule).text; *s != '\0'; ++s) {
    if (*s != '{') {
      out.append(*s);
      continue;
    }
    out.append(s[1] == 'f' ? violation.first : violation.second);
    while (*s != '}') ++s;
  }
}

}  // namespace detail

// What was asked, the rule, the nearest value that works.
GANTRY_HD constexpr TmaSentence describe(const TmaViolation& violation) {
  TmaSentence out;
  out.append(to_text(violation.field));
  if (violation.index >= 0) out.append('[').append(static_cast<int>(violation.index)).append(']');
  out.append(" is ");
  detail::append_value(out, violation.field, violation.actual);
  out.append(": ");
  detail::append_rule(out, violation);
  out.append("; the nearest value that works is ");
  detail::append_value(out, violation.field, violation.nearest);
  return out;
}

}  // namespace gantry

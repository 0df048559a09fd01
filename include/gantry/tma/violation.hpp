// Every rule that a tensor map and a copy through it must keep, as data, and what is reported when
// one is broken.
//
// The table in `detail/rule_table.hpp` is the only place where a rule's words, weight and source stand; validation,
// tests and documentation read it from here. A violation names its rule, the field, the actual value and the nearest
// value that keeps the rule; describe() gives its sentence.
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

#include <gantry/layout/int.hpp>
#include <gantry/rules/reasons.hpp>
#include <gantry/tma/descriptor.hpp>

namespace gantry {

enum class TmaRule : std::uint8_t {
#define GANTRY_X(id, ...) id,
#include <gantry/tma/detail/rule_table.hpp>
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

// Only a pitfall is legal.
GANTRY_HD constexpr bool refuses(TmaSeverity severity) noexcept { return severity != TmaSeverity::pitfall; }

struct TmaRuleEntry : RuleEntry<TmaSeverity> {
  const char* source = "";  // who says so
};

GANTRY_COLD GANTRY_HD constexpr TmaRuleEntry entry_of(TmaRule rule) noexcept {
  switch (rule) {
#define GANTRY_X(id, severity, asked, rule, source)                                                                   \
  case TmaRule::id:                                                                                                   \
    return {                                                                                                          \
        {#id, TmaSeverity::severity, "{field} is {actual}" asked, rule, "the nearest value that works is {nearest}"}, \
        source};
#include <gantry/tma/detail/rule_table.hpp>
  }
  return {};
}

inline constexpr TmaRule kTmaRules[] = {
#define GANTRY_X(id, ...) TmaRule::id,
#include <gantry/tma/detail/rule_table.hpp>
};

// What a violation is about: an argument of the encoder, an operand of the instruction, or a property of a convolution.
// clang-format off
#define GANTRY_TMA_FIELDS(X)                                                                          \
  X(mode) X(data_type) X(rank) X(address) X(dims) X(strides) X(box) X(element_strides) X(interleave)  \
  X(swizzle) X(l2_promotion) X(fill) X(lower_corner) X(upper_corner) X(channels_per_pixel)            \
  X(pixels_per_column) X(instruction_rank) X(coordinate) X(offset) X(shared_address) X(spatial_rank)  \
  X(images) X(channels) X(extent) X(filter) X(pad_lower) X(pad_upper) X(stride) X(dilation) X(pixels) X(ctas)  \
  X(shared_bytes) X(global_stride) X(global_extent)
// clang-format on

enum class TmaField : std::uint8_t {
#define GANTRY_X(id) id,
  GANTRY_TMA_FIELDS(GANTRY_X)
#undef GANTRY_X
};

GANTRY_HD constexpr const char* to_text(TmaField field) noexcept {
  switch (field) {
#define GANTRY_X(id) \
  case TmaField::id: \
    return #id;
    GANTRY_TMA_FIELDS(GANTRY_X)
#undef GANTRY_X
  }
  return "unknown";
}

// Values are the field's bits, sign-extended where the field is signed.
struct TmaViolation {
  TmaRule rule = TmaRule::mode_unknown;
  TmaField field = TmaField::mode;
  std::int16_t index = -1;  // the entry of an array field, or -1
  BasisPath mode{};         // of a plan: the global mode whose stride or extent it is
  std::uint64_t actual = 0;
  std::uint64_t nearest = 0;
  std::int64_t first = 0;  // the numbers that the rule's text names
  std::int64_t second = 0;

  GANTRY_HD constexpr TmaSeverity severity() const noexcept { return entry_of(rule).weight; }
};

// Every violation found, in the order of the arguments. Holds as many as one check can produce.
using TmaViolations = Reasons<TmaViolation, 48>;

namespace tma_detail {

GANTRY_HD constexpr void append_unsigned(Sentence& out, std::uint64_t value, unsigned base) {
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

GANTRY_HD constexpr bool is_signed(TmaField field) noexcept {
  return field == TmaField::lower_corner || field == TmaField::upper_corner || field == TmaField::coordinate ||
         field >= TmaField::spatial_rank;
}

GANTRY_COLD GANTRY_HD constexpr void append_value(Sentence& out, TmaField field, std::uint64_t value) {
  if (field == TmaField::address || field == TmaField::shared_address) {
    out.append("0x");
    append_unsigned(out, value, 16);
  } else if (is_signed(field)) {
    out.append(static_cast<std::int64_t>(value));
  } else {
    append_unsigned(out, value, 10);
  }
  const char* name = enumerator_text(field, value);
  if (*name != '\0') out.append(" (").append(name).append(')');
}

// Outermost mode first: mode 0 of mode 2 is "2.0".
GANTRY_HD constexpr void append_mode(Sentence& out, BasisPath path) {
  if (path.empty()) out.append('0');
  for (int level = 0; level < path.depth(); ++level) {
    if (level > 0) out.append('.');
    out.append(path[level]);
  }
}

}  // namespace tma_detail

// The words of a violation beside its numbers: the field with its index, and values as the field has them.
GANTRY_HD constexpr bool append_word(Sentence& out, Placeholder word, const TmaViolation& violation) {
  const bool stride = violation.field == TmaField::global_stride, extent = violation.field == TmaField::global_extent;
  if (word == "field" && (stride || extent)) {
    out.append(stride ? "the stride of global mode " : "the extent of global mode ");
    tma_detail::append_mode(out, violation.mode);
  } else if (word == "field") {
    out.append(to_text(violation.field));
    if (violation.index >= 0) out.append('[').append(static_cast<int>(violation.index)).append(']');
  } else if (word == "actual") {
    tma_detail::append_value(out, violation.field, violation.actual);
    if (stride) out.append(" (").append(violation.first).append(" bytes)");
    if (extent && violation.second > 0) {
      out.append(" (TMA dimension ").append(violation.second).append(", which it shares, would have ");
      out.append(violation.first).append(')');
    }
  } else if (word == "nearest") {
    tma_detail::append_value(out, violation.field, violation.nearest);
  } else {
    return false;
  }
  return true;
}

// What a static assertion shows as the field.
GANTRY_HD constexpr TmaField operand_of(const TmaViolation& violation) noexcept { return violation.field; }

}  // namespace gantry

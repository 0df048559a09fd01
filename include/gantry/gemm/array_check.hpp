// What is wrong with a GEMM of a pointer array, as a value. Host only.
//
// Kernels leave such a GEMM out (pointer_array.hpp); who has the array in memory of the host can ask here before.
//
// Example:
//     using namespace gantry;
//     constexpr GemmOptions options{.groups = GemmGrouping::pointer_array};
//     alignas(16) static const bf16 a[64 * 64] = {}, b[12 * 64] = {};
//     alignas(16) static bf16 d[64 * 12];
//     const GemmGroup gemm{.m = 64, .n = 12, .k = 64, .a = a, .b = b, .d = d};
//     const std::optional<ArrayReason> why = why_left_out(options, gemm);
//     const bool misaligned = why && why->rule == ArrayRule::stride_misaligned && why->nearest == 16;
#pragma once

#include <algorithm>
#include <optional>

#include <gantry/gemm/pointer_array.hpp>
#include <gantry/numeric/float_types.hpp>
#include <gantry/rules/rule.hpp>

namespace gantry {

enum class ArrayRule : std::uint8_t {
#define GANTRY_X(id, ...) id,
#include <gantry/gemm/detail/array_rule_table.hpp>
};

constexpr RuleEntry<> entry_of(ArrayRule rule) noexcept {
  switch (rule) {
#define GANTRY_X(...) GANTRY_RULE_CASE(ArrayRule, __VA_ARGS__)
#include <gantry/gemm/detail/array_rule_table.hpp>
  }
  return {};
}

struct ArrayReason {
  ArrayRule rule = ArrayRule::address_missing;
  fusion::Name operand{};  // A, B, C, D, or an argument of the epilogue; empty where sizes are wrong
  ElementType element = ElementType::void_;
  bool rows = true;         // are contiguous
  int m = 0, n = 0, k = 0;  // where sizes are wrong
  std::int64_t actual = 0, nearest = 0, first = 0, second = 0;
};

// The words of a reason beside its numbers.
constexpr bool append_word(Sentence& out, Placeholder word, const ArrayReason& r) {
  if (word == "operand") {
    out.append(r.operand.text);
  } else if (word == "element") {
    out.append(to_text(r.element));
  } else if (word == "lines") {
    out.append(r.rows ? "rows" : "columns");
  } else if (word == "extent") {
    out.append(r.rows ? 'N' : 'M');
  } else if (word == "m" || word == "n" || word == "k") {
    out.append(word == "m" ? r.m : word == "n" ? r.n : r.k);
  } else {
    return false;
  }
  return true;
}

namespace detail {

struct FaultyMatrix {
  const char* name;
  ElementType element;
  ArrayMatrix layout;
  GroupMatrix matrix;
};

// A mask has lines of bits, and `stride` is the one that was given; 0: packed.
inline ArrayReason reason_of_mask(const FaultyMatrix& x, std::int64_t stride) {
  const std::int64_t bits = x.matrix.contiguous, given = stride == 0 ? bits : stride;
  return {.rule = ArrayRule::mask_stride,
          .operand = x.name,
          .element = x.element,
          .rows = x.layout.rows,
          .actual = given,
          .nearest = (std::max(given, bits) + 7) / 8 * 8,
          .first = bits};
}

// Requires a rule of a matrix that is broken.
inline ArrayReason reason_of(GroupRule rule, const FaultyMatrix& x) {
  ArrayReason out{.operand = x.name, .element = x.element, .rows = x.layout.rows};
  const auto rounded = [&](std::int64_t elements) {  // up to whole 16 bytes
    const std::int64_t chunk = 128 / x.layout.bits;
    return (elements + chunk - 1) / chunk * chunk;
  };
  const std::int64_t stride = x.matrix.stride * 8 / x.layout.bits;
  switch (rule) {
    case GroupRule::address_misaligned:
      out.rule = ArrayRule::address_misaligned;
      out.actual = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(x.matrix.data) % 16);
      break;
    case GroupRule::stride_too_short:
      out.rule = ArrayRule::stride_too_short;
      out.actual = stride;
      out.first = x.matrix.contiguous;
      out.nearest = rounded(x.matrix.contiguous);
      break;
    case GroupRule::stride_too_long:
      out.rule = ArrayRule::stride_too_long;
      out.actual = x.matrix.stride;
      out.nearest = static_cast<std::int64_t>(kTmaStrideLimit) - 16;
      break;
    case GroupRule::stride_misaligned:
      out.rule = ArrayRule::stride_misaligned;
      out.actual = stride;
      out.first = x.matrix.stride;
      out.nearest = rounded(stride);
      break;
    case GroupRule::ends_inside_chunk:
      out.rule = ArrayRule::ends_inside_chunk;
      out.actual = x.matrix.contiguous;
      out.first = x.matrix.contiguous * x.layout.bits / 8;
      out.nearest = rounded(x.matrix.contiguous);
      break;
    default:
      out.rule = ArrayRule::address_missing;
  }
  return out;
}

}  // namespace detail

// Of an argument of the epilogue, as a GEMM of m x n has it. Nothing: it can be read or written.
inline std::optional<ArrayReason> why_left_out(const fusion::Argument& a, const GemmGroupTensor& x, int m, int n) {
  const ArrayMatrix layout = array_tensor(a);
  const GroupRule rule = rule_of_tensor(layout, x, m, n);
  if (rule == GroupRule::none) return {};
  const detail::FaultyMatrix matrix{a.name.text, a.element, layout, layout.of(x.data, x.stride, m, n)};
  if (layout.bits == 1 && rule != GroupRule::address_missing) return detail::reason_of_mask(matrix, x.stride);
  return detail::reason_of(rule, matrix);
}
inline std::optional<ArrayReason> why_left_out(const fusion::Argument& a, const void* vector) {
  const int bits = element_bits(a.element);
  if (rule_of_vector(bits, vector) == GroupRule::none) return {};
  const std::int64_t bytes = bits / 8;
  return ArrayReason{.rule = ArrayRule::element_misaligned,
                     .operand = a.name,
                     .element = a.element,
                     .actual = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(vector) %
                                                         static_cast<std::uintptr_t>(bytes)),
                     .first = bytes};
}

// Nothing: it is computed. `has_c`: the epilogue reads C; `has_d`: it gives D.
inline std::optional<ArrayReason> why_left_out(const GemmOptions& o, const GemmGroup& g, bool has_c = false,
                                               bool has_d = true) {
  const ArrayLayout layout = array_layout(o, has_c, has_d);
  const GroupFault fault = fault_of(layout, g);
  if (fault.ok()) return {};
  const bool negative = fault.rule == GroupRule::size_negative;
  if (negative || fault.rule == GroupRule::size_too_large) {
    return ArrayReason{.rule = negative ? ArrayRule::size_negative : ArrayRule::size_too_large,
                       .m = g.m,
                       .n = g.n,
                       .k = g.k,
                       .nearest = kMostExtent,
                       .second = kMostGroupTiles};
  }
  switch (fault.operand) {
    case 'A':
      return detail::reason_of(fault.rule, {"A", o.a, layout.a, layout.a.of(g.a, g.stride_a, g.m, g.k)});
    case 'B':
      return detail::reason_of(fault.rule, {"B", o.b, layout.b, layout.b.of(g.b, g.stride_b, g.n, g.k)});
    case 'C':
      return detail::reason_of(fault.rule, {"C", o.c, layout.c, layout.c.of(g.c, g.stride_c, g.m, g.n)});
    default:
      return detail::reason_of(fault.rule, {"D", o.d, layout.d, layout.d.of(g.d, g.stride_d, g.m, g.n)});
  }
}

}  // namespace gantry

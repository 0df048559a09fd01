// What is wrong with a GEMM of a pointer array, in a sentence. Host only.
//
// Kernels leave such a GEMM out (pointer_array.hpp); who has the array in memory of the host can ask here before.
//
// Example:
//     using namespace gantry;
//     constexpr GemmOptions options{.groups = GemmGrouping::pointer_array};
//     alignas(16) static const bf16 a[64 * 64] = {}, b[12 * 64] = {};
//     alignas(16) static bf16 d[64 * 12];
//     const GemmGroup gemm{.m = 64, .n = 12, .k = 64, .a = a, .b = b, .d = d};
//     const std::string why = why_left_out(options, gemm);  // "D has rows of 12 elements of bf16, ...: ..."
#pragma once

#include <algorithm>
#include <string>

#include <gantry/gemm/pointer_array.hpp>
#include <gantry/numeric/float_types.hpp>

namespace gantry {

namespace detail {

struct FaultyMatrix {
  const char* name;
  ElementType element;
  ArrayMatrix layout;
  GroupMatrix matrix;
};

// "a multiple of 16 bytes" as elements of the matrix.
inline std::int64_t rounded_elements(const FaultyMatrix& x, std::int64_t elements) {
  const std::int64_t chunk = 128 / x.layout.bits;
  return (elements + chunk - 1) / chunk * chunk;
}

inline std::string sentence(GroupRule rule, const FaultyMatrix& x) {
  const std::string name = x.name, lines = x.layout.rows ? "rows" : "columns", element = info(x.element).name;
  const auto number = [](std::int64_t i) { return std::to_string(i); };
  const std::int64_t stride = x.matrix.stride * 8 / x.layout.bits;
  switch (rule) {
    case GroupRule::address_missing:
      return name + " has no address: a matrix that is read or written has one";
    case GroupRule::address_misaligned:
      return name + " begins " +
             number(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(x.matrix.data) % 16)) +
             " bytes after a multiple of 16: TMA takes addresses that are multiples of 16 bytes";
    case GroupRule::stride_too_short:
      return name + " has a stride of " + number(stride) + " elements, and " + lines + " of " +
             number(x.matrix.contiguous) + ": " + lines + " do not overlap; the nearest stride that works is " +
             number(rounded_elements(x, x.matrix.contiguous));
    case GroupRule::stride_too_long:
      return name + " has a stride of " + number(x.matrix.stride) + " bytes: TMA takes less than 1099511627776";
    case GroupRule::stride_misaligned:
      return name + " has a stride of " + number(stride) + " elements of " + element + ", which is " +
             number(x.matrix.stride) + " bytes: TMA takes strides of whole 16 bytes; the nearest larger one is " +
             number(rounded_elements(x, stride));
    case GroupRule::ends_inside_chunk:
      return name + " has " + lines + " of " + number(x.matrix.contiguous) + " elements of " + element + ", which is " +
             number(x.matrix.contiguous * x.layout.bits / 8) + " bytes: TMA writes whole 16 bytes; the " +
             "nearest larger " + (x.layout.rows ? "N" : "M") + " that works is " +
             number(rounded_elements(x, x.matrix.contiguous));
    case GroupRule::none:
    case GroupRule::size_negative:
    case GroupRule::size_too_large:
    case GroupRule::element_misaligned:
      break;
  }
  return "";
}

// A mask, whose lines are bits.
inline std::string sentence_of_mask(GroupRule rule, const FaultyMatrix& x, std::int64_t stride) {
  const std::int64_t bits = x.matrix.contiguous, given = stride == 0 ? bits : stride;
  const std::string name = x.name, lines = x.layout.rows ? "rows" : "columns";
  if (rule == GroupRule::address_missing) return sentence(rule, x);
  return name + " has a stride of " + std::to_string(given) + " bits, and " + lines + " of " + std::to_string(bits) +
         ": " + lines + " of a mask are whole bytes and do not overlap; the nearest stride that works is " +
         std::to_string((std::max(given, bits) + 7) / 8 * 8);
}

}  // namespace detail

// Of an argument of the epilogue, as a GEMM of m x n has it. Empty: it can be read or written.
inline std::string why_left_out(const fusion::Argument& a, const GemmGroupTensor& x, int m, int n) {
  const ArrayMatrix layout = array_tensor(a);
  const GroupRule rule = rule_of_tensor(layout, x, m, n);
  if (rule == GroupRule::none) return "";
  const detail::FaultyMatrix matrix{a.name.text, a.element, layout, layout.of(x.data, x.stride, m, n)};
  return layout.bits == 1 ? detail::sentence_of_mask(rule, matrix, x.stride) : detail::sentence(rule, matrix);
}
inline std::string why_left_out(const fusion::Argument& a, const void* vector) {
  const int bits = element_bits(a.element);
  if (rule_of_vector(bits, vector) == GroupRule::none) return "";
  const auto bytes = static_cast<std::uintptr_t>(bits / 8);
  return std::string(a.name.text) + " begins " + std::to_string(reinterpret_cast<std::uintptr_t>(vector) % bytes) +
         " bytes after a multiple of " + std::to_string(bytes) + ": elements of " + info(a.element).name +
         " lie at multiples of their size";
}

// Empty: it is computed. `has_c`: the epilogue reads C; `has_d`: it gives D.
inline std::string why_left_out(const GemmOptions& o, const GemmGroup& g, bool has_c = false, bool has_d = true) {
  const ArrayLayout layout = array_layout(o, has_c, has_d);
  const GroupFault fault = fault_of(layout, g);
  const std::string sizes =
      "M, N and K are " + std::to_string(g.m) + ", " + std::to_string(g.n) + " and " + std::to_string(g.k);
  if (fault.ok()) return "";
  if (fault.rule == GroupRule::size_negative) return sizes + ": sizes are not negative";
  if (fault.rule == GroupRule::size_too_large) {
    return sizes + ": a GEMM of a pointer array has up to " + std::to_string(kMostExtent) + " rows and columns, and " +
           std::to_string(kMostGroupTiles) + " tiles";
  }
  switch (fault.operand) {
    case 'A':
      return detail::sentence(fault.rule, {"A", o.a, layout.a, layout.a.of(g.a, g.stride_a, g.m, g.k)});
    case 'B':
      return detail::sentence(fault.rule, {"B", o.b, layout.b, layout.b.of(g.b, g.stride_b, g.n, g.k)});
    case 'C':
      return detail::sentence(fault.rule, {"C", o.c, layout.c, layout.c.of(g.c, g.stride_c, g.m, g.n)});
    default:
      return detail::sentence(fault.rule, {"D", o.d, layout.d, layout.d.of(g.d, g.stride_d, g.m, g.n)});
  }
}

}  // namespace gantry

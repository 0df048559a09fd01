// Tuples, layouts and swizzles from text, in CuTe's notation. Constant expressions, no allocation; every text gives a
// value or a ParseError that points at a character.
//
//     integer   `8` dynamic, `_8` fixed, `?` unknown; `64@1` and `1@0@2` along a mode; `_1/_2@0` rational
//     tuple     an integer, `_`, or modes in parentheses: `(4,(_,2))`; Python's `(4,)` is `(4)`
//     layout    shape:stride; a shape alone is compact, mode 0 fastest
//     swizzle   `Sw<3,4,3>`
//     composed  swizzle o layout, or with an offset or an element width between: `Sw<3,4,3> o _5 o (8,64)`,
//               `Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)`; a layout alone has no swizzle
//
// Spaces may stand between all of these. The functions parse_... tell what is wrong. Those without give the value
// alone: from a text that cannot be read a faulty one, and in a constant expression they stop the build at the text.
//
// Example:
//     using namespace gantry;
//     constexpr Layout l = layout("((_2,_4),3):((_1,_2),_8)");
//     static_assert(l(5, 2) == 21);
//     static_assert(layout("(4, 8)") == make_layout(make_shape(4, 8)));
//     static_assert(composed_layout("Sw<2,0,2> o (4,4):(4,1)")(3, 1) == 12 + (1 ^ 3));
//     static_assert(describe(parse_layout("(4,8):(1,4))").error) == "expected the end, found ')' at column 12");
#pragma once

#include <gantry/layout/composed.hpp>
#include <gantry/layout/detail/reader.hpp>

namespace gantry {

namespace detail {

// Where node `i` of the tuple that begins at `start` stands.
GANTRY_HD constexpr int position_of_node(Reader reader, int start, int i) {
  reader.rewind(start);
  while (true) {
    const int at = reader.position();
    if (reader.accept(',') || reader.accept(')')) continue;
    if (i-- == 0) return at;
    if (!reader.accept('(')) reader.leaf();
  }
}

// The character to blame for the fault of a layout whose shape and stride begin at the given positions.
GANTRY_HD constexpr int position_of_fault(const Reader& reader, const IntTuple& shape, int shape_at,
                                          const IntTuple& stride, int stride_at) {
  const TupleView s = shape;
  const TupleView d = stride;
  if (!congruent(s, d)) return stride_at;
  for (int i = 0; i < s.nodes(); ++i) {
    if (!s.node_is_leaf(i)) continue;
    const Int& extent = s.node_leaf(i);
    const bool is_integer = extent.is_plain() && extent.denominator() == 1;
    if (!is_integer || (extent.is_known() && extent.value() < 1)) return position_of_node(reader, shape_at, i);
    if (!d.node_leaf(i).is_number()) return position_of_node(reader, stride_at, i);
  }
  return shape_at;
}

// The first stride that is a rational number and not a coefficient, or -1.
GANTRY_HD constexpr int bare_rational(TupleView stride) {
  for (int i = 0; i < stride.nodes(); ++i) {
    if (stride.node_is_leaf(i) && stride.node_leaf(i).is_plain() && stride.node_leaf(i).denominator() != 1) return i;
  }
  return -1;
}

struct ReadLayout {
  Layout value;
  bool has_stride = false;
};

GANTRY_HD constexpr ReadLayout read_layout(Reader& reader) {
  const int shape_at = reader.position();
  const IntTuple shape = reader.tuple();
  const bool has_stride = reader.ok() && reader.accept(':');
  const int stride_at = reader.position();
  const IntTuple stride = has_stride ? reader.tuple() : compact_col_major(shape);
  if (!reader.ok()) return {Layout::faulty({Rule::parse, reader.error().position + 1}), has_stride};
  const ReadLayout out{Layout(shape, stride), has_stride};
  if (const int i = bare_rational(stride); has_stride && i >= 0) {
    reader.rewind(position_of_node(reader, stride_at, i));
    reader.fail("an integer, or a rational with its mode such as '_1/_2@0'");
  }
  if (!out.value.ok()) reader.fail(position_of_fault(reader, shape, shape_at, stride, stride_at), out.value.fault());
  return out;
}

GANTRY_HD constexpr Swizzle read_swizzle(Reader& reader) {
  constexpr int kMost = Swizzle::kMaxBit;
  const int start = reader.position();
  reader.expect("Sw", "'Sw<'");
  reader.expect("<", "'<'");
  const int bits = reader.number_between(0, kMost, "the bits of a swizzle, from 0 to 62");
  reader.expect(",", "','");
  const int base = reader.number_between(0, kMost, "the base of a swizzle, from 0 to 62");
  reader.expect(",", "','");
  const int reach = kMost - base;
  const int shift = reader.number_between(-reach, reach, "the shift of a swizzle, at most 62 together with its base");
  reader.expect(">", "'>'");
  if (!reader.ok()) return Swizzle::faulty({Rule::parse, reader.error().position + 1});
  const Swizzle out(bits, base, shift);
  if (!out.ok()) reader.fail(start, out.fault());
  return out;
}

// What stands between a swizzle and its layout.
struct Origin {
  Int offset = Int::fixed(0);
  int element_bits = 0;
};

GANTRY_HD constexpr Origin read_smem_ptr(Reader& reader) {
  Origin out;
  reader.expect("[", "'['");
  out.element_bits =
      reader.number_between(1, ComposedLayout::kMaxElementBits, "the width of an element, from 1 to 1024 bits");
  reader.expect("b", "'b'");
  reader.expect("]", "']'");
  if (reader.ok() && reader.accept('(')) {
    if (!reader.accept("unset")) out.offset = reader.leaf();
    reader.expect(")", "')'");
  }
  return out;
}

// An offset is told from a shape by the `o` that follows it.
GANTRY_HD constexpr Origin read_offset(Reader& reader) {
  const int start = reader.position();
  const IntTuple offset = reader.tuple();
  if (reader.ok() && !reader.accept('o')) {
    reader.rewind(start);
    return {};
  }
  if (reader.ok() && !offset.is_leaf()) reader.fail(start, {Rule::not_an_integer});
  return reader.ok() ? Origin{offset.leaf(), 0} : Origin{};
}

GANTRY_HD constexpr ComposedLayout read_composed_layout(Reader& reader, bool& has_stride) {
  const int start = reader.position();
  Swizzle swizzle;
  Origin origin;
  if (reader.peek() == 'S') {
    swizzle = read_swizzle(reader);
    reader.expect("o", "'o'");
    if (reader.ok() && reader.accept("smem_ptr")) {
      origin = read_smem_ptr(reader);
      reader.expect("o", "'o'");
    } else if (reader.ok()) {
      origin = read_offset(reader);
    }
  }
  if (!reader.ok()) return ComposedLayout::faulty({Rule::parse, reader.error().position + 1});
  const ReadLayout layout = read_layout(reader);
  has_stride = layout.has_stride;
  const ComposedLayout out(swizzle, origin.offset, layout.value, origin.element_bits);
  if (!out.ok()) reader.fail(start, out.fault());
  return out;
}

GANTRY_HD constexpr Parsed<IntTuple> parse_int_tuple(Reader reader) {
  Parsed<IntTuple> out{.value = reader.tuple()};
  reader.expect_end("the end");
  out.error = reader.error();
  return out;
}

GANTRY_HD constexpr Parsed<Layout> parse_layout(Reader reader) {
  const ReadLayout read = read_layout(reader);
  reader.expect_end(read.has_stride ? "the end" : "':' or the end");
  return {.value = read.value, .error = reader.error()};
}

GANTRY_HD constexpr Parsed<Swizzle> parse_swizzle(Reader reader) {
  Parsed<Swizzle> out{.value = read_swizzle(reader)};
  reader.expect_end("the end");
  out.error = reader.error();
  return out;
}

GANTRY_HD constexpr Parsed<ComposedLayout> parse_composed_layout(Reader reader) {
  bool has_stride = false;
  Parsed<ComposedLayout> out{.value = read_composed_layout(reader, has_stride)};
  reader.expect_end(has_stride ? "the end" : "':' or the end");
  out.error = reader.error();
  return out;
}

GANTRY_HD constexpr Fault fault_of(const ParseError& e) {
  return e.expected != nullptr ? Fault{Rule::parse, e.position + 1} : e.fault;
}

// The value for those who do not ask for the error.
template <class T>
GANTRY_HD constexpr T value_or_faulty(const Parsed<T>& parsed) {
  return parsed.ok() ? parsed.value : T::faulty(fault_of(parsed.error));
}

}  // namespace detail

GANTRY_HD constexpr Parsed<IntTuple> parse_int_tuple(Chars text, const ParseOptions& options = {}) {
  return detail::parse_int_tuple({text, options});
}
GANTRY_HD constexpr Parsed<Layout> parse_layout(Chars text, const ParseOptions& options = {}) {
  return detail::parse_layout({text, options});
}
GANTRY_HD constexpr Parsed<Swizzle> parse_swizzle(Chars text) { return detail::parse_swizzle({text, {}}); }
GANTRY_HD constexpr Parsed<ComposedLayout> parse_composed_layout(Chars text, const ParseOptions& options = {}) {
  return detail::parse_composed_layout({text, options});
}

GANTRY_HD constexpr IntTuple int_tuple(Chars text) {
  return detail::value_or_faulty(detail::parse_int_tuple({text, {}, is_constant_evaluated()}));
}
GANTRY_HD constexpr Layout layout(Chars text) {
  return detail::value_or_faulty(detail::parse_layout({text, {}, is_constant_evaluated()}));
}
GANTRY_HD constexpr Swizzle swizzle(Chars text) {
  return detail::value_or_faulty(detail::parse_swizzle({text, {}, is_constant_evaluated()}));
}
GANTRY_HD constexpr ComposedLayout composed_layout(Chars text) {
  return detail::value_or_faulty(detail::parse_composed_layout({text, {}, is_constant_evaluated()}));
}

}  // namespace gantry

// Integers, tuples, layouts and swizzles as text, in CuTe's notation: `((_2,_4),3):((_1,_2),_8)`,
// `Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)`.
//
// What is printed here, parse.hpp reads back as an equal value. Sinks are anything with append(char),
// append(const char*) and append(std::int64_t), such as Text. A faulty value prints its sentence in angle brackets.
//
// Example:
//     using namespace gantry;
//     constexpr Layout l = make_layout(make_shape(_4, 8), make_stride(_1, 4));
//     static_assert(to_text(l) == "(_4,8):(_1,4)");
//     static_assert(to_text(make_layout(make_shape(_4)), kPythonText) == "(4,):(1,)");
#pragma once

#include <gantry/layout/composed.hpp>

namespace gantry {

struct PrintOptions {
  bool marks = true;              // `_` before integers that are known at compile time
  bool one_tuple_commas = false;  // a tuple of one as Python writes it, `(4,)`
};

// As Python writes tuples of plain integers.
inline constexpr PrintOptions kPythonText{.marks = false, .one_tuple_commas = true};

namespace detail {

GANTRY_CALLS_ANY
template <class Sink>
GANTRY_HD constexpr void print_fault(Sink& out, const Fault& fault) {
  out.append('<');
  out.append(describe(fault).c_str());
  out.append('>');
}

}  // namespace detail

GANTRY_CALLS_ANY
template <class Sink>
GANTRY_HD constexpr void print(Sink& out, const Int& v, const PrintOptions& options = {}) {
  if (v.rule() != Rule::none) return detail::print_fault(out, v.fault());
  const bool mark = options.marks && v.is_fixed();
  if (v.is_all() || mark) out.append('_');
  if (v.kind() == Int::Kind::unknown) out.append('?');
  if (v.is_known()) out.append(v.value());
  if (v.denominator() != 1) {
    out.append(mark ? "/_" : "/");
    out.append(static_cast<std::int64_t>(v.denominator()));
  }
  for (int level = v.path().depth() - 1; level >= 0; --level) {
    out.append('@');
    out.append(static_cast<std::int64_t>(v.path()[level]));
  }
}

GANTRY_CALLS_ANY
template <class Sink>
GANTRY_HD constexpr void print(Sink& out, TupleView t, const PrintOptions& options = {}) {
  if (!t.ok()) return detail::print_fault(out, t.fault());
  if (t.is_leaf()) return print(out, t.leaf(), options);
  out.append('(');
  int modes = 0;
  for (TupleView mode : t) {
    if (modes++ > 0) out.append(',');
    print(out, mode, options);
  }
  if (modes == 1 && options.one_tuple_commas) out.append(',');
  out.append(')');
}

GANTRY_CALLS_ANY
template <class Sink>
GANTRY_HD constexpr void print(Sink& out, const Layout& l, const PrintOptions& options = {}) {
  print(out, TupleView(l.shape()), options);
  if (!l.ok()) return;
  out.append(':');
  print(out, TupleView(l.stride()), options);
}

GANTRY_CALLS_ANY
template <class Sink>
GANTRY_HD constexpr void print(Sink& out, const Swizzle& sw) {
  if (!sw.ok()) return detail::print_fault(out, sw.fault());
  out.append("Sw<");
  out.append(static_cast<std::int64_t>(sw.bits()));
  out.append(',');
  out.append(static_cast<std::int64_t>(sw.base()));
  out.append(',');
  out.append(static_cast<std::int64_t>(sw.shift()));
  out.append('>');
}

// A layout that nothing was composed with prints as the plain layout that it is.
GANTRY_CALLS_ANY
template <class Sink>
GANTRY_HD constexpr void print(Sink& out, const ComposedLayout& l, const PrintOptions& options = {}) {
  const bool at_start = l.offset().is_fixed(0);
  if (!l.ok() || (l.swizzle() == Swizzle() && at_start && l.element_bits() == 0))
    return print(out, l.layout(), options);
  print(out, l.swizzle());
  out.append(" o ");
  if (l.element_bits() == 0) {
    print(out, l.offset(), options);
  } else {
    out.append("smem_ptr[");
    out.append(static_cast<std::int64_t>(l.element_bits()));
    out.append("b](");
    if (at_start) {
      out.append("unset");
    } else {
      print(out, l.offset(), options);
    }
    out.append(')');
  }
  out.append(" o ");
  print(out, l.layout(), options);
}

namespace detail {

// Mark, sign, 19 digits, a denominator, a path, and a comma; an upper bound for every node.
inline constexpr int kNodeText = 1 + 1 + 19 + 7 + 3 * BasisPath::kMaxDepth + 1;
inline constexpr int kTupleText = kNodeText * IntTuple::kCapacity + 1;

}  // namespace detail

// Buffers that hold every tuple, every layout and every swizzled layout whole.
using TupleText = Text<detail::kTupleText>;
using LayoutText = Text<2 * detail::kTupleText>;
using ComposedLayoutText = Text<2 * detail::kTupleText + 96>;

GANTRY_HD constexpr TupleText to_text(TupleView t, const PrintOptions& options = {}) {
  TupleText out;
  print(out, t, options);
  return out;
}

GANTRY_HD constexpr LayoutText to_text(const Layout& l, const PrintOptions& options = {}) {
  LayoutText out;
  print(out, l, options);
  return out;
}

GANTRY_HD constexpr ComposedLayoutText to_text(const ComposedLayout& l, const PrintOptions& options = {}) {
  ComposedLayoutText out;
  print(out, l, options);
  return out;
}

GANTRY_HD constexpr Sentence to_text(const Swizzle& sw) {
  Sentence out;
  print(out, sw);
  return out;
}

}  // namespace gantry

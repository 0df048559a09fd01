// Tilers from text and back: `8:2`, `(2,_,4:1)`, `((4,2):(1,8),(3,_))`. An entry with a `:` is a layout; a tuple
// without one is taken mode by mode.
//
// Example:
//     using namespace gantry;
//     constexpr Tiler t = tiler("(2, _, 4:1)");
//     static_assert(rank(t.shape()) == 3 && to_text(t) == "(2,_,4:1)");
//     static_assert(tiler("(2,4):(1,2)").is_layout() && !tiler("(2,4)").is_layout());
#pragma once

#include <gantry/layout/parse.hpp>
#include <gantry/layout/print.hpp>
#include <gantry/layout/tiler.hpp>

namespace gantry {

namespace detail {

// takes_stride tells whether a `:` could have followed what was read.
GANTRY_HD constexpr Tiler read_tiler(Reader& reader, bool& takes_stride, int depth = 0) {
  // What follows a tuple decides what it is, so it is read once to find out.
  const int start = reader.position();
  Reader ahead = reader.look_ahead();
  ahead.tuple();
  const bool has_stride = ahead.ok() && ahead.accept(':');
  takes_stride = ahead.ok() && !has_stride;
  if (has_stride) return read_layout(reader).value;
  if (ahead.ok() || reader.peek() != '(') return reader.tuple();
  if (depth == IntTuple::kCapacity) reader.fail(start, {Rule::capacity, depth + 1, depth});

  Tiler out = Tiler::tuple();
  reader.accept('(');
  while (reader.ok()) {
    const int entry_at = reader.position();
    bool entry_takes_stride = false;
    out.push_back(read_tiler(reader, entry_takes_stride, depth + 1));
    if (!out.ok()) reader.fail(entry_at, out.fault());
    if (reader.ok() && !reader.accept(',') && reader.peek() != ')') {
      reader.fail(entry_takes_stride ? "':', ',' or ')'" : "',' or ')'");
    }
    if (reader.ok() && reader.accept(')')) return out;
  }
  return IntTuple::faulty({Rule::parse, reader.error().position + 1});
}

GANTRY_HD constexpr Parsed<Tiler> parse_tiler(Reader reader) {
  bool takes_stride = false;
  Parsed<Tiler> out{.value = read_tiler(reader, takes_stride)};
  reader.expect_end(takes_stride ? "':' or the end" : "the end");
  out.error = reader.error();
  return out;
}

template <class Sink>
GANTRY_HD constexpr void print_tiler(Sink& out, const TilerView& t, const PrintOptions& options) {
  if (!t.is_tuple()) {
    print(out, t.parts.shape, options);
    if (!t.is_layout()) return;
    out.append(':');
    return print(out, t.parts.stride, options);
  }
  out.append('(');
  const int modes = rank(t);
  for (int i = 0; i < modes; ++i) {
    if (i > 0) out.append(',');
    print_tiler(out, t[i], options);
  }
  if (modes == 1 && options.one_tuple_commas) out.append(',');
  out.append(')');
}

}  // namespace detail

GANTRY_HD constexpr Parsed<Tiler> parse_tiler(Chars text, const ParseOptions& options = {}) {
  return detail::parse_tiler({text, options});
}

// As layout() and int_tuple() in parse.hpp.
GANTRY_HD constexpr Tiler tiler(Chars text) {
  const Parsed<Tiler> parsed = detail::parse_tiler({text, {}, is_constant_evaluated()});
  return parsed.ok() ? parsed.value : Tiler(IntTuple::faulty(detail::fault_of(parsed.error)));
}

// For tilers alone: what converts to a tiler prints as what it is.
template <class Sink, class T>
requires(__is_same(T, Tiler)) GANTRY_HD constexpr void print(Sink& out, const T& t, const PrintOptions& options = {}) {
  if (!t.ok()) return detail::print_fault(out, t.fault());
  detail::print_tiler(out, t, options);
}

template <class T>
requires(__is_same(T, Tiler)) GANTRY_HD constexpr LayoutText to_text(const T& t, const PrintOptions& options = {}) {
  LayoutText out;
  print(out, t, options);
  return out;
}

}  // namespace gantry

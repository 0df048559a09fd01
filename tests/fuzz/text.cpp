// Any text whatever, given to every parser: a value that prints and reads back as itself, or an error that points into
// the text.
#include <cstddef>
#include <cstdint>
#include <string>

#include <gantry/layout/format.hpp>
#include <gantry/layout/parse.hpp>
#include <gantry/layout/tiler_text.hpp>

#include "require.hpp"

namespace gantry {
namespace {

using fuzz::require;

void check(std::string_view text, const ParseError& e) {
  const auto size = static_cast<int>(text.size());
  require(e.position >= 0 && e.position <= size, "the error points into the text", text);
  if (e.expected == nullptr) {
    require(e.fault.rule != Rule::none && e.fault.rule != Rule::parse, "a refused value breaks a rule", text);
  } else {
    const int there =
        e.position < size ? static_cast<unsigned char>(text[static_cast<std::size_t>(e.position)]) : ParseError::kEnd;
    require(e.found == there, "the error names the character that it points at", text);
  }
  require(!explain(text, e).empty(), "the error can be explained", text);
}

bool same(const Tiler& a, const Tiler& b) {
  return a.shape() == b.shape() && a.stride() == b.stride() && a.layouts() == b.layouts();
}
template <class T>
bool same(const T& a, const T& b) {
  return a == b;
}

template <class T, class Parse>
void check(std::string_view text, const Parsed<T>& parsed, const Parse& parse) {
  if (!parsed.ok()) return check(text, parsed.error);
  require(parsed.value.ok(), "what was read is no faulty value", text);
  const Parsed<T> back = parse(to_text(parsed.value), ParseOptions{});
  require(back.ok() && same(back.value, parsed.value), "what is printed is read back", text);
  const ParseOptions all_fixed{.all_fixed = true};
  const Parsed<T> fixed = parse(text, all_fixed);
  require(fixed.ok(), "marks do not decide what can be read", text);
  const Parsed<T> python = parse(to_text(fixed.value, kPythonText), all_fixed);
  require(python.ok() && same(python.value, fixed.value), "Python's notation is read back", text);
}

void check_table(std::string_view text, const ComposedLayout& l) {
  StringSink out;
  print_table(out, l, {.max_rows = 8, .max_columns = 8});
  require(!out.str().empty() && out.str().back() == '\n', "a table or a reason is printed", text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  check(text, parse_int_tuple(text), [](Chars t, const ParseOptions& o) { return parse_int_tuple(t, o); });
  check(text, parse_layout(text), [](Chars t, const ParseOptions& o) { return parse_layout(t, o); });
  check(text, parse_tiler(text), [](Chars t, const ParseOptions& o) { return parse_tiler(t, o); });
  const auto composed = parse_composed_layout(text);
  check(text, composed, [](Chars t, const ParseOptions& o) { return parse_composed_layout(t, o); });
  if (composed.ok()) check_table(text, composed.value);
  if (const auto swizzle = parse_swizzle(text); !swizzle.ok()) {
    check(text, swizzle.error);
  } else {
    require(parse_swizzle(to_text(swizzle.value)).value == swizzle.value, "a swizzle is read back", text);
  }
  return 0;
}

}  // namespace gantry

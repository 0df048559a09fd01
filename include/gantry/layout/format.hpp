// Tuples, layouts and swizzles in streams and in {fmt}, for programs that use them. The rest of the layer includes
// neither.
//
// {fmt} 9 does not compile under nvcc. In a .cu file this header therefore includes no {fmt}, and teaches it to print
// only where it was included before.
//
// Example:
//     #include <iostream>
//     using namespace gantry;
//     std::cout << make_layout(make_shape(_4, 8)) << '\n' << as_table(make_layout(make_shape(_4, 8)));
#pragma once

#include <ostream>
#include <string>

#include <gantry/layout/parse_error.hpp>
#include <gantry/layout/table.hpp>

#if __has_include(<fmt/format.h>) && !GANTRY_NVCC
#include <fmt/format.h>
#endif

namespace gantry {

// A std::string as a sink for print() and print_table().
class StringSink {
 public:
  void append(char c) { text_ += c; }
  void append(const char* s) { text_ += s; }
  void append(std::int64_t v) { text_ += Text<24>{}.append(v).c_str(); }
  const std::string& str() const { return text_; }

 private:
  std::string text_;
};

inline std::ostream& operator<<(std::ostream& out, const Int& v) { return out << to_text(v).c_str(); }
inline std::ostream& operator<<(std::ostream& out, const IntTuple& t) { return out << to_text(t).c_str(); }
inline std::ostream& operator<<(std::ostream& out, const Layout& l) { return out << to_text(l).c_str(); }
inline std::ostream& operator<<(std::ostream& out, const Swizzle& sw) { return out << to_text(sw).c_str(); }
inline std::ostream& operator<<(std::ostream& out, const ComposedLayout& l) { return out << to_text(l).c_str(); }
template <int N>
std::ostream& operator<<(std::ostream& out, const Text<N>& t) {
  return out << t.c_str();
}
inline std::ostream& operator<<(std::ostream& out, const ParseError& e) { return out << describe(e).c_str(); }

// The table of a layout, as a string.
template <class L>
std::string as_table(const L& layout, const TableOptions& options = {}) {
  StringSink out;
  print_table(out, layout, options);
  return out.str();
}

}  // namespace gantry

#if defined(FMT_VERSION)

namespace gantry::detail {

// {} prints as CuTe does, {:p} as Python does.
struct TextFormatter {
  PrintOptions options;

  constexpr auto parse(fmt::format_parse_context& context) {
    const char* it = context.begin();
    if (it != context.end() && *it == 'p') {
      options = kPythonText;
      ++it;
    }
    return it;
  }
  template <class T>
  auto format(const T& value, fmt::format_context& context) const {
    auto out = context.out();
    for (const char c : to_text(value, options)) *out++ = c;
    return out;
  }
};

}  // namespace gantry::detail

template <>
struct fmt::formatter<gantry::IntTuple> : gantry::detail::TextFormatter {};
template <>
struct fmt::formatter<gantry::Layout> : gantry::detail::TextFormatter {};
template <>
struct fmt::formatter<gantry::ComposedLayout> : gantry::detail::TextFormatter {};
template <>
struct fmt::formatter<gantry::Int> : gantry::detail::TextFormatter {};
template <int N>
struct fmt::formatter<gantry::Text<N>> : fmt::formatter<const char*> {
  auto format(const gantry::Text<N>& text, fmt::format_context& context) const {
    return fmt::formatter<const char*>::format(text.c_str(), context);
  }
};
template <>
struct fmt::formatter<gantry::Swizzle> : fmt::formatter<const char*> {
  auto format(const gantry::Swizzle& sw, fmt::format_context& context) const {
    return fmt::formatter<const char*>::format(gantry::to_text(sw).c_str(), context);
  }
};

#endif

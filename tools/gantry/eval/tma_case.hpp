// What the TMA kinds of `gantry eval` share: reading the operands of a copy from a line, and writing layouts, lists and
// nested values into it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gantry/layout/parse_error.hpp>
#include <gantry/tma/plan.hpp>

#include "eval/json_line.hpp"

namespace gantry::tool {

// Reads fields of a line. Of several problems the first is kept; what is read after it has no meaning.
class TmaCase {
 public:
  explicit TmaCase(const JsonLine& line) : line_(line) {}

  std::optional<Problem> problem;
  // Names of element types that there are not: no plan can be made with them.
  std::vector<std::string> refused;

  bool has(std::string_view key) const { return line_.find(key) != nullptr; }
  std::string_view word(std::string_view key);
  std::int64_t integer(std::string_view key);
  std::int64_t integer_or(std::string_view key, std::int64_t value) { return has(key) ? integer(key) : value; }

  // A number of CTAs that share a copy, however many.
  std::uint32_t ctas(std::string_view key);
  std::vector<std::int64_t> integers(std::string_view key);
  IntTuple tuple(std::string_view key);
  Layout layout(std::string_view key);
  Tiler tiler(std::string_view key);
  // A shared layout, with its swizzle on bytes: `Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)`, or in two fields.
  ComposedLayout shared(std::string_view key, int element_bits);
  ComposedLayout shared_in_parts(std::string_view swizzle_key, std::string_view layout_key, int element_bits);
  ElementType element(std::string_view key);
  TmaOp operation(std::string_view key);

 private:
  const Field* require(std::string_view key);
  std::string_view text(std::string_view key);
  void wrong(std::string_view key, std::string_view expected);
  // The swizzle that the text of a field starts with.
  Swizzle swizzle(std::string_view key, std::string_view text);
  template <class T>
  T parsed(std::string_view key, const Parsed<T>& p);

  const JsonLine& line_;
};

// A JSON object, array or string, built up in order.
class JsonText {
 public:
  std::string out;

  JsonText& begin(char bracket);
  JsonText& end(char bracket);
  JsonText& key(std::string_view name);
  JsonText& value(std::string_view text);
  JsonText& value(const char* text) { return value(std::string_view(text)); }
  JsonText& value(std::int64_t v);
  JsonText& value(bool v);
  JsonText& value(const Layout& l);
  JsonText& value(const IntTuple& t);
  JsonText& null();

 private:
  void separate();
};

std::string text_of(const Layout& l);
std::string text_of(const IntTuple& t);

// The sentences of a plan that carry a verdict, the plan's own reasons first.
std::vector<std::string> sentences(const TmaPlan& plan, TmaVerdict verdict);
std::string json_list(const std::vector<std::string>& sentences);

}  // namespace gantry::tool

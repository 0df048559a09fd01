#include "eval/tma_case.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <gantry/layout/parse.hpp>
#include <gantry/layout/print.hpp>
#include <gantry/layout/tiler_text.hpp>
#include <gantry/numeric/element_name.hpp>

namespace gantry::tool {

const Field* TmaCase::require(std::string_view key) {
  const Field* field = line_.find(key);
  if (field == nullptr && !problem) problem = Problem{fmt::format("the field \"{}\" is missing", key)};
  return field;
}

void TmaCase::wrong(std::string_view key, std::string_view expected) {
  if (!problem) problem = Problem{fmt::format("the field \"{}\" must be {}", key, expected)};
}

std::string_view TmaCase::word(std::string_view key) {
  const Field* field = require(key);
  if (field == nullptr) return {};
  if (field->kind != Field::Kind::string) return wrong(key, "a string"), std::string_view();
  return field->text;
}

std::int64_t TmaCase::integer(std::string_view key) {
  const Field* field = require(key);
  if (field == nullptr) return 0;
  if (field->kind != Field::Kind::integer) return wrong(key, "an integer of at most 64 bits"), 0;
  return field->integer;
}

std::uint32_t TmaCase::ctas(std::string_view key) {
  const std::int64_t n = integer(key);
  if (n < 1 || n > UINT32_MAX) wrong(key, "a number of CTAs, at least 1");
  return static_cast<std::uint32_t>(n);
}

std::vector<std::int64_t> TmaCase::integers(std::string_view key) {
  const Field* field = require(key);
  if (field == nullptr) return {};
  if (field->kind != Field::Kind::integers) wrong(key, "an array of integers of at most 64 bits");
  return field->integers;
}

std::string_view TmaCase::text(std::string_view key) {
  const Field* field = require(key);
  if (field == nullptr) return "1";
  if (field->kind == Field::Kind::string || field->kind == Field::Kind::integer) return field->text;
  wrong(key, "a text such as \"(4,8):(8,1)\"");
  return "1";
}

template <class T>
T TmaCase::parsed(std::string_view key, const Parsed<T>& p) {
  // A text that can be read and breaks a rule gives a faulty value, and the plan says why it cannot use it.
  if (!p.ok() && p.error.expected != nullptr && !problem) {
    problem = Problem{fmt::format("the field \"{}\" cannot be read: {}", key, describe(p.error).c_str()),
                      p.error.position + 1};
  }
  return p.value;
}

IntTuple TmaCase::tuple(std::string_view key) { return parsed(key, parse_int_tuple(text(key))); }
Layout TmaCase::layout(std::string_view key) { return parsed(key, parse_layout(text(key))); }
Tiler TmaCase::tiler(std::string_view key) { return parsed(key, parse_tiler(text(key))); }

namespace {

// `Sw<B,M,S>`, with the rest of the text after it.
struct SwizzleText {
  bool found = false;
  Swizzle swizzle;
  std::string_view rest;
};

SwizzleText split_swizzle(std::string_view text) {
  int numbers[3] = {};
  std::size_t at = 3;
  if (text.substr(0, 3) != "Sw<") return {false, {}, text};
  for (int& n : numbers) {
    const std::size_t end = text.find_first_of(",>", at);
    if (end == std::string_view::npos) return {false, {}, text};
    n = std::atoi(std::string(text.substr(at, end - at)).c_str());
    at = end + 1;
  }
  return {true, Swizzle(numbers[0], numbers[1], numbers[2]), text.substr(at)};
}

}  // namespace

ComposedLayout TmaCase::shared(std::string_view key, int element_bits) {
  std::string_view rest = word(key);
  const Swizzle swizzle = split_swizzle(rest).swizzle;
  // The layout is what follows the last " o ".
  if (const auto o = rest.rfind(" o "); o != std::string_view::npos) rest.remove_prefix(o + 3);
  return ComposedLayout(swizzle, Int::fixed(0), parsed(key, parse_layout(rest)), element_bits);
}

ComposedLayout TmaCase::shared_in_parts(std::string_view swizzle_key, std::string_view layout_key, int element_bits) {
  const SwizzleText sw = split_swizzle(word(swizzle_key));
  if (!sw.found) wrong(swizzle_key, "a text such as \"Sw<3,4,3>\"");
  return ComposedLayout(sw.swizzle, Int::fixed(0), layout(layout_key), element_bits);
}

ElementType TmaCase::element(std::string_view key) {
  const ParsedElementType p = parse_element_type(std::string(word(key)).c_str());
  if (!p.ok) {
    refused.emplace_back(p.problem.c_str());
    return ElementType::void_;
  }
  return p.type;
}

TmaOp TmaCase::operation(std::string_view key) {
  TmaOp op = TmaOp::load;
  if (!parse_tma_op(std::string(word(key)).c_str(), op))
    wrong(key, "the name of a TMA operation, such as \"SM90_TMA_LOAD\"");
  return op;
}

void JsonText::separate() {
  if (!out.empty() && out.back() != '[' && out.back() != '{' && out.back() != ':') out += ',';
}

JsonText& JsonText::begin(char bracket) {
  separate();
  out += bracket;
  return *this;
}
JsonText& JsonText::end(char bracket) {
  out += bracket;
  return *this;
}
JsonText& JsonText::key(std::string_view name) {
  separate();
  append_json_string(out, name);
  out += ':';
  return *this;
}
JsonText& JsonText::value(std::string_view text) {
  separate();
  append_json_string(out, text);
  return *this;
}
JsonText& JsonText::value(std::int64_t v) {
  separate();
  out += std::to_string(v);
  return *this;
}
JsonText& JsonText::value(bool v) {
  separate();
  out += v ? "true" : "false";
  return *this;
}
JsonText& JsonText::value(const Layout& l) { return value(std::string_view(text_of(l))); }
JsonText& JsonText::value(const IntTuple& t) { return value(std::string_view(text_of(t))); }
JsonText& JsonText::null() {
  separate();
  out += "null";
  return *this;
}

std::string text_of(const Layout& l) { return to_text(l).c_str(); }
std::string text_of(const IntTuple& t) { return to_text(t).c_str(); }

std::vector<std::string> sentences(const TmaPlan& plan, TmaVerdict verdict) {
  std::vector<std::string> out;
  for (const TmaReason& r : plan.reasons) {
    if (verdict_of(r) == verdict) out.emplace_back(describe(r).c_str());
  }
  for (const TmaViolation& v : check_map(plan)) {
    if (verdict_of(v) == verdict) out.emplace_back(describe(v).c_str());
  }
  return out;
}

std::string json_list(const std::vector<std::string>& sentences) {
  JsonText json;
  json.begin('[');
  for (const std::string& s : sentences) json.value(std::string_view(s));
  json.end(']');
  return std::move(json.out);
}

}  // namespace gantry::tool

#include "eval/tma_case.hpp"

#include <charconv>
#include <optional>

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

// The swizzle that a text starts with, `Sw<B,M,S>`; nothing where it is not written so.
std::optional<Swizzle> leading_swizzle(std::string_view text) {
  int numbers[3] = {};
  const char* at = text.data() + 3;
  const char* const end = text.data() + text.size();
  for (int i = 0; i < 3; ++i) {
    const auto [after, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc() || after == end || *after != (i < 2 ? ',' : '>')) return std::nullopt;
    at = after + 1;
  }
  return Swizzle(numbers[0], numbers[1], numbers[2]);
}

bool starts_as_swizzle(std::string_view text) { return text.substr(0, 3) == "Sw<"; }

constexpr std::string_view kSwizzleText = "a swizzle such as \"Sw<3,4,3>\", of three integers";

}  // namespace

Swizzle TmaCase::swizzle(std::string_view key, std::string_view text) {
  const std::optional<Swizzle> found = starts_as_swizzle(text) ? leading_swizzle(text) : std::nullopt;
  if (!found) wrong(key, kSwizzleText);
  return found.value_or(Swizzle());
}

ComposedLayout TmaCase::shared(std::string_view key, int element_bits) {
  std::string_view rest = word(key);
  const Swizzle swizzle = starts_as_swizzle(rest) ? this->swizzle(key, rest) : Swizzle();
  // The layout is what follows the last " o ".
  if (const auto o = rest.rfind(" o "); o != std::string_view::npos) rest.remove_prefix(o + 3);
  return ComposedLayout(swizzle, Int::fixed(0), parsed(key, parse_layout(rest)), element_bits);
}

ComposedLayout TmaCase::shared_in_parts(std::string_view swizzle_key, std::string_view layout_key, int element_bits) {
  const Swizzle sw = swizzle(swizzle_key, word(swizzle_key));
  return ComposedLayout(sw, Int::fixed(0), layout(layout_key), element_bits);
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
  if (verdict == TmaVerdict::refused && plan.reasons.left_out() > 0) {
    out.emplace_back(describe_left_out(plan.reasons).c_str());
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

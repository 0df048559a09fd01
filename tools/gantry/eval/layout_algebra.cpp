// `gantry eval layout_algebra`: one operation of the layout algebra per line. All integers are compile-time ones, and
// texts are written as Python writes tuples.
#include <array>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include <gantry/layout.hpp>
#include <gantry/layout/tiler_text.hpp>

#include "eval/kinds.hpp"

namespace gantry::tool {

namespace {

constexpr std::string_view kComputed[] = {"result", "image", "out", "size", kError, kPosition};
constexpr std::int64_t kLongestImage = 256;
constexpr ParseOptions kAllFixed{.all_fixed = true};

// Reads the operands of an operation and takes its result. Of several problems the first is kept; what is computed
// after it has no meaning.
class Case {
 public:
  explicit Case(JsonLine& line) : line_(line) {}

  std::optional<Problem> problem;

  bool has(std::string_view key) const { return line_.find(key) != nullptr; }

  std::string_view word(std::string_view key) {
    const Field* field = require(key);
    if (field == nullptr) return {};
    if (field->kind != Field::Kind::string) return wrong(key, "a string"), std::string_view();
    return field->text;
  }
  std::int64_t integer(std::string_view key) {
    const Field* field = require(key);
    if (field == nullptr) return 0;
    if (field->kind != Field::Kind::integer) return wrong(key, "an integer of at most 64 bits"), 0;
    return field->integer;
  }
  std::span<const std::int64_t> integers(std::string_view key) {
    const Field* field = require(key);
    if (field == nullptr) return {};
    if (field->kind != Field::Kind::integers) wrong(key, "an array of integers of at most 64 bits");
    return field->integers;
  }
  IntTuple tuple(std::string_view key) { return parsed(key, parse_int_tuple(text(key), kAllFixed)); }
  Layout layout(std::string_view key) { return parsed(key, parse_layout(text(key), kAllFixed)); }
  Tiler tiler(std::string_view key) { return parsed(key, parse_tiler(text(key), kAllFixed)); }

  void refuse(const Fault& fault) {
    if (!problem) problem = Problem{.sentence = describe(fault).c_str(), .is_unreadable = false};
  }

  void result(std::int64_t value) {
    if (!problem) line_.set("result", value);
  }
  void result(const IntTuple& t) {
    if (!t.ok()) return refuse(t.fault());
    if (t.is_leaf() && t.leaf().is_plain() && t.leaf().is_known()) return result(t.leaf().value());
    if (!problem) line_.set("result", to_text(t, kPythonText).c_str());
  }
  void result(const Layout& l) {
    if (!l.ok()) return refuse(l.fault());
    if (problem) return;
    line_.set("result", to_text(l, kPythonText).c_str());
    if (is_fixed(l) && !has_basis(l.stride()) && size(l) <= kLongestImage) line_.set("image", image(l));
  }
  void output(std::string_view key, std::span<const std::int64_t> values) {
    if (!problem) line_.set(key, values);
  }
  void output(std::string_view key, std::int64_t value) {
    if (!problem) line_.set(key, value);
  }

 private:
  const Field* require(std::string_view key) {
    const Field* field = line_.find(key);
    if (field == nullptr && !problem) problem = Problem{fmt::format("the field \"{}\" is missing", key)};
    return field;
  }
  void wrong(std::string_view key, std::string_view expected) {
    if (!problem) problem = Problem{fmt::format("the field \"{}\" must be {}", key, expected)};
  }
  // An integer stands for its digits.
  std::string_view text(std::string_view key) {
    const Field* field = require(key);
    if (field == nullptr) return "1";
    if (field->kind == Field::Kind::string || field->kind == Field::Kind::integer) return field->text;
    wrong(key, "a text such as \"(4,8):(8,1)\", or an integer");
    return "1";
  }
  template <class T>
  T parsed(std::string_view key, const Parsed<T>& p) {
    if (!p.ok() && !problem) {
      problem = Problem{fmt::format("the field \"{}\" cannot be read: {}", key, describe(p.error).c_str()),
                        p.error.position + 1};
    }
    return p.value;
  }

  // The offsets in order of the 1-D index: those of the first modes, repeated along each further one.
  std::span<const std::int64_t> image(const Layout& l) {
    std::size_t n = 1;
    image_[0] = 0;
    const TupleView shape = l.shape();
    const TupleView stride = l.stride();
    for (int node = 0; node < shape.nodes(); ++node) {
      if (!shape.node_is_leaf(node)) continue;
      const auto extent = static_cast<std::size_t>(shape.node_leaf(node).value());
      const std::int64_t step = stride.node_leaf(node).value();
      for (std::size_t i = n; i < n * extent; ++i) image_[i] = image_[i - n] + step;
      n *= extent;
    }
    return {image_.data(), n};
  }

  JsonLine& line_;
  std::array<std::int64_t, kLongestImage> image_;
};

void run_coalesce(Case& c) {
  const Layout a = c.layout("a");
  c.result(c.has("profile") ? coalesce(a, c.tuple("profile")) : coalesce(a));
}

void run_idx2crd(Case& c) {
  const IntTuple idx = c.tuple("idx");
  const IntTuple shape = c.tuple("shape");
  c.result(c.has("stride") ? idx2crd(idx, shape, c.tuple("stride")) : idx2crd(idx, shape));
}

void run_swizzle(Case& c) {
  const Swizzle swizzle(c.integer("bits"), c.integer("base"), c.integer("shift"));
  if (!swizzle.ok()) return c.refuse(swizzle.fault());
  std::vector<std::int64_t> out;
  for (const std::int64_t offset : c.integers("in")) out.push_back(swizzle(offset));
  c.output("out", out);
  c.output("size", std::int64_t{1} << (swizzle.bits() + swizzle.base() + std::abs(swizzle.shift())));
}

struct Operation {
  std::string_view name;
  void (*run)(Case& c);
};

constexpr Operation kOperations[] = {
    {"size", [](Case& c) { c.result(IntTuple(product(c.layout("a").shape()))); }},
    {"cosize", [](Case& c) { c.result(IntTuple(product(coshape(c.layout("a"))))); }},
    {"coalesce", run_coalesce},
    {"filter", [](Case& c) { c.result(filter(c.layout("a"))); }},
    {"composition", [](Case& c) { c.result(composition(c.layout("a"), c.layout("b"))); }},
    {"complement", [](Case& c) { c.result(complement(c.layout("a"), c.tuple("cotarget"))); }},
    {"right_inverse", [](Case& c) { c.result(right_inverse(c.layout("a"))); }},
    {"left_inverse", [](Case& c) { c.result(left_inverse(c.layout("a"))); }},
    {"logical_divide", [](Case& c) { c.result(logical_divide(c.layout("a"), c.tiler("tiler"))); }},
    {"zipped_divide", [](Case& c) { c.result(zipped_divide(c.layout("a"), c.tiler("tiler"))); }},
    {"tiled_divide", [](Case& c) { c.result(tiled_divide(c.layout("a"), c.tiler("tiler"))); }},
    {"flat_divide", [](Case& c) { c.result(flat_divide(c.layout("a"), c.tiler("tiler"))); }},
    {"logical_product", [](Case& c) { c.result(logical_product(c.layout("a"), c.tiler("tiler"))); }},
    {"zipped_product", [](Case& c) { c.result(zipped_product(c.layout("a"), c.tiler("tiler"))); }},
    {"tiled_product", [](Case& c) { c.result(tiled_product(c.layout("a"), c.tiler("tiler"))); }},
    {"flat_product", [](Case& c) { c.result(flat_product(c.layout("a"), c.tiler("tiler"))); }},
    {"crd2idx", [](Case& c) { c.result(crd2idx(c.tuple("crd"), c.tuple("shape"), c.tuple("stride"))); }},
    {"idx2crd", run_idx2crd},
    {"swizzle", run_swizzle},
};

std::string unknown_operation(std::string_view name) {
  std::string out = fmt::format("the operation \"{}\" is not known; there are", name);
  for (const Operation& op : kOperations) fmt::format_to(std::back_inserter(out), " {}", op.name);
  return out;
}

std::optional<Problem> evaluate(JsonLine& line) {
  Case c(line);
  const std::string_view name = c.word("op");
  if (c.problem) return c.problem;
  for (const Operation& op : kOperations) {
    if (op.name != name) continue;
    op.run(c);
    return std::move(c.problem);
  }
  return Problem{unknown_operation(name)};
}

}  // namespace

const EvalKind layout_algebra_kind{
    .name = "layout_algebra",
    .what = "one operation of the layout algebra per line",
    .computed = kComputed,
    .evaluate = evaluate,
};

}  // namespace gantry::tool

// gantry layout TEXT: what there is to know about one layout, and its table.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gantry/layout.hpp>
#include <gantry/layout/format.hpp>

#include "commands/commands.hpp"
#include "layout_facts.hpp"
#include "plain_options.hpp"

namespace gantry::tool {

namespace {

constexpr std::int64_t kLongestImage = 256;

// Prints values as the request wants them: a number that is not known as the reason why.
class Report {
 public:
  Report(const ComposedLayout& layout, const PrintOptions& options)
      : layout_(layout), options_(options), facts_(look_at(layout)) {}

  std::string as_text() const {
    std::string out = fmt::format("{}\n\n", text(layout_));
    line(out, "size", number(product(layout_.shape())));
    line(out, "cosize", cosize_text());
    line(out, "rank", std::to_string(rank(layout_)));
    line(out, "depth", std::to_string(depth(layout_)));
    line(out, "coalesced", text(coalesced()));
    if (facts_) {
      line(out, "injective",
           facts_->injective ? "yes, each offset is used once" : "no, some offsets are used more than once");
      line(out, "surjective", facts_->surjective ? "yes, the offsets have no gaps" : "no, the offsets have gaps");
      line(out, "compact", facts_->bijective() ? "yes" : "no");
    } else {
      line(out, "compact", fmt::format("not looked at: unknown strides, or more than {} elements", kMostElements));
    }
    return out + '\n' + as_table(layout_);
  }

  nlohmann::ordered_json as_json() const {
    nlohmann::ordered_json out;
    out["layout"] = text(layout_);
    out["size"] = json_number(product(layout_.shape()));
    out["cosize"] = json_number(cosize_or_fault());
    out["rank"] = rank(layout_);
    out["depth"] = depth(layout_);
    out["coalesced"] = text(coalesced());
    for (const char* key : {"injective", "surjective", "bijective", "compact"}) out[key] = nullptr;
    if (facts_) {
      out["injective"] = facts_->injective;
      out["surjective"] = facts_->surjective;
      out["bijective"] = out["compact"] = facts_->bijective();
    }
    if (const Int n = product(layout_.shape()); n.is_known() && n.value() <= kLongestImage) {
      out["image"] = nlohmann::ordered_json::array();
      for (std::int64_t i = 0; i < n.value(); ++i) out["image"].push_back(json_tuple(layout_.at(i)));
    }
    return out;
  }

  // The offset of a coordinate, or what a slice leaves; or the reason why there is none.
  Fault at_fault(const IntTuple& crd) const {
    const IntTuple offset = layout_.layout().at(crd);
    return offset.ok() ? slice(crd, layout_.layout()).fault() : offset.fault();
  }
  std::string at_text(const IntTuple& crd) const {
    if (!has_underscore(crd)) return text(layout_.at(crd));
    if (!is_plain()) return text(slice(crd, layout_));
    const SlicedLayout sliced = slice_and_offset(crd, layout_.layout());
    return fmt::format("{} from offset {}", text(sliced.layout), text(sliced.offset));
  }
  nlohmann::ordered_json at_json(const IntTuple& crd) const {
    if (!has_underscore(crd)) return json_tuple(layout_.at(crd));
    if (!is_plain()) return {{"layout", text(slice(crd, layout_))}};
    const SlicedLayout sliced = slice_and_offset(crd, layout_.layout());
    return {{"layout", text(sliced.layout)}, {"offset", json_tuple(sliced.offset)}};
  }

 private:
  template <class T>
  std::string text(const T& value) const {
    return to_text(value, options_).c_str();
  }
  static void line(std::string& out, std::string_view name, std::string_view value) {
    fmt::format_to(std::back_inserter(out), "  {:<12}{}\n", name, value);
  }
  static std::string number(const Int& v) {
    if (v.is_known()) return std::to_string(v.value());
    return v.rule() != Rule::none ? describe(Fault{v.rule()}).c_str() : "not known";
  }
  static nlohmann::ordered_json json_number(const Int& v) {
    return v.is_known() ? nlohmann::ordered_json(v.value()) : nlohmann::ordered_json();
  }
  nlohmann::ordered_json json_tuple(const IntTuple& t) const {
    if (t.ok() && t.is_leaf() && t.leaf().is_plain()) return json_number(t.leaf());
    return text(t);
  }

  bool is_plain() const { return layout_ == ComposedLayout(layout_.layout()); }
  ComposedLayout coalesced() const { return layout_.with_layout(coalesce(layout_.layout())); }
  Int cosize_or_fault() const {
    try {
      return Int(cosize(layout_));
    } catch (const LayoutError& e) {
      return e.fault().rule == Rule::value_unknown ? Int::unknown() : Int::faulty(e.fault().rule);
    }
  }
  std::string cosize_text() const {
    const IntTuple box = coshape(layout_.layout());
    const std::string whole = number(cosize_or_fault());
    return box.is_leaf() ? whole : fmt::format("{} = {}", whole, to_text(box, {.marks = false}).c_str());
  }

  const ComposedLayout& layout_;
  PrintOptions options_;
  std::optional<LayoutFacts> facts_;
};

LayoutReport cannot_read(std::string_view what, std::string_view text, const ParseError& error) {
  return {fmt::format("gantry: the {} cannot be read\n{}\n", what, explain(text, error).c_str()), false};
}

}  // namespace

LayoutReport report_layout(const LayoutRequest& request) {
  const Parsed<ComposedLayout> parsed = parse_composed_layout(request.text);
  if (!parsed.ok()) return cannot_read("layout", request.text, parsed.error);
  if (const Swizzle sw = parsed.value.element_swizzle(); !sw.ok()) {
    return {fmt::format("gantry: {} has no offsets in elements: {}\n", request.text, describe(sw.fault()).c_str()),
            false};
  }
  const Report report(parsed.value, request.python ? kPythonText : PrintOptions{});
  if (request.at.empty()) return {request.json ? report.as_json().dump() + '\n' : report.as_text()};

  const Parsed<IntTuple> crd = parse_int_tuple(request.at);
  if (!crd.ok()) return cannot_read("coordinate", request.at, crd.error);
  if (const Fault fault = report.at_fault(crd.value)) {
    return {fmt::format("gantry: {} has no offset in {}: {}\n", request.at, request.text, describe(fault).c_str()),
            false};
  }
  if (!request.json) return {report.at_text(crd.value) + '\n'};
  nlohmann::ordered_json out = report.as_json();
  out["at"] = report.at_json(crd.value);
  return {out.dump() + '\n'};
}

void add_layout_command(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("layout", "Shows a layout: its facts and its table of offsets");
  const auto request = std::make_shared<LayoutRequest>();
  command->add_option("LAYOUT", request->text, "such as \"(4,(2,3)):(6,(3,1))\"")->required()->option_text(" ");
  command->add_option("--at", request->at, "only the offset of this coordinate; with '_' in it, the slice")
      ->option_text("CRD");
  add_flag(*command, "--python", request->python, "tuples as Python writes them, without '_' marks");
  add_flag(*command, "--json", request->json, "one line of JSON");
  command->callback([request, &status] {
    const LayoutReport report = report_layout(*request);
    fmt::print(report.ok ? stdout : stderr, "{}", report.text);
    status = report.ok ? 0 : 1;
  });
}

}  // namespace gantry::tool

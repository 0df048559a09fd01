#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/runtime/gemm_spec.hpp>
#include <gantry/runtime/printable.hpp>

namespace gantry::runtime {

namespace {

// "<name>" as an enumerator of ElementType.
std::string element(ElementType e) {
  const std::string name = info(e).name;
  return "ElementType::" + (e == ElementType::void_ ? "void_" : name);
}

std::string major(Major m) { return m == Major::K ? "Major::K" : "Major::MN"; }

std::string layout(LayoutTag tag) { return tag == kRowMajor ? "kRowMajor" : "kColumnMajor"; }

std::string choice(Choice c) {
  return c == Choice::automatic ? "Choice::automatic" : c == Choice::yes ? "Choice::yes" : "Choice::no";
}

std::string split(SplitMode mode) {
  return mode == SplitMode::automatic ? "SplitMode::automatic"
         : mode == SplitMode::none    ? "SplitMode::none"
                                      : "SplitMode::reduce_add";
}

// As a string literal: what is not a printable character of ASCII is written as three octal digits, so that no line
// end, no quote and no control character of the text is one of the source.
std::string literal(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const unsigned byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte > '~') {
      out += {'\\', static_cast<char>('0' + (byte >> 6)), static_cast<char>('0' + (byte >> 3 & 7U)),
              static_cast<char>('0' + (byte & 7U))};
      continue;
    }
    if (c == '"' || c == '\\' || c == '?') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

Expected<DesignedSpec> design_spec(const GemmSpec& spec) {
  const fusion::ParsedGraph parsed = fusion::parse_graph(spec.expression);
  if (!parsed.ok()) return failure(StatusCode::invalid_argument, explain(spec.expression, parsed).c_str());
  DesignedSpec out{.graph = parsed.graph};
  Status refused;
  for (const fusion::GraphReason& reason : fusion::check_elements(out.graph)) {
    refused.add({StatusCode::unsupported, entry_of(reason.rule).name, {}, 0, 0, describe(reason).c_str()});
  }
  if (out.graph.d < 0) {
    refused.add(StatusCode::unsupported, "the expression gives no D: begin with \"d = acc\"");
  }
  if (!refused.ok()) return tl::unexpected<Status>(std::move(refused));
  out.design = make_gemm_design(spec.options, out.graph);
  for (const GemmReason& reason : out.design.reasons) {
    refused.add({StatusCode::unsupported,
                 entry_of(reason.rule).name,
                 {},
                 static_cast<std::int64_t>(reason.actual),
                 static_cast<std::int64_t>(reason.nearest),
                 describe(reason).c_str()});
  }
  if (!refused.ok()) return tl::unexpected<Status>(std::move(refused));
  return out;
}

std::string spec_source(const GemmSpec& spec) {
  const GemmOptions& o = spec.options;
  const auto number = [](int x) { return std::to_string(x); };
  std::string out =
      "#include <gantry/epilogue/fusion/parse.hpp>\n"
      "#include <gantry/gemm/options.hpp>\n"
      "\n"
      "using namespace gantry;\n"
      "\n"
      "struct Product {\n"
      "  static constexpr GemmOptions options{\n";
  const auto field = [&](const char* name, const std::string& value) {
    out += std::string("      .") + name + " = " + value + ",\n";
  };
  field("a", element(o.a));
  field("b", element(o.b));
  field("c", element(o.c));
  field("d", element(o.d));
  field("major_a", major(o.major_a));
  field("major_b", major(o.major_b));
  field("layout_c", layout(o.layout_c));
  field("layout_d", layout(o.layout_d));
  field("tile", "{" + number(o.tile.m) + ", " + number(o.tile.n) + ", " + number(o.tile.k) + "}");
  field("cluster", "{" + number(o.cluster.m) + ", " + number(o.cluster.n) + "}");
  field("stages", number(o.stages));
  field("schedule", std::string("GemmSchedule::") + to_text(o.schedule));
  field("warpgroups", number(o.warpgroups));
  field("epilogue", "{" + number(o.epilogue.epi_n) + ", " + number(o.epilogue.stages_c) + ", " +
                        number(o.epilogue.stages_d) + ", " + choice(o.epilogue.reuse) + ", " +
                        number(o.epilogue.epi_m) + "}");
  field("promote", o.promote ? "true" : "false");
  field("split", split(o.split));
  return out +
         "  };\n"
         "  static constexpr fusion::Graph graph = fusion::graph(" +
         literal(spec.expression) +
         ");\n"
         "};\n";
}

std::string spec_title(const GemmSpec& spec) {
  return one_line(std::string(to_text(spec.options).c_str()) + ", " + spec.expression);
}

}  // namespace gantry::runtime

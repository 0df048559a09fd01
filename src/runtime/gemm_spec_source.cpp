#include <algorithm>

#include <gantry/epilogue/fusion/function_names.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/runtime/gemm_spec.hpp>
#include <gantry/runtime/printable.hpp>

#include "reasons_to_status.hpp"

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

std::string scale_mode(ScaleMode mode) {
  return mode == ScaleMode::none        ? "ScaleMode::none"
         : mode == ScaleMode::row_block ? "ScaleMode::row_block"
                                        : "ScaleMode::block";
}

std::string grouping(GemmGrouping groups) {
  return groups == GemmGrouping::none      ? "GemmGrouping::none"
         : groups == GemmGrouping::along_m ? "GemmGrouping::along_m"
         : groups == GemmGrouping::along_k ? "GemmGrouping::along_k"
                                           : "GemmGrouping::pointer_array";
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

bool is_identifier(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || !letter(text[0])) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || digit(c); });
}

// "x, y" as {"x", "y"}.
std::vector<std::string> parameters_of(const FunctionText& function) {
  std::vector<std::string> out{""};
  for (const char c : function.parameters) {
    if (c == ',') {
      out.emplace_back();
    } else if (c != ' ' && c != '\t') {
      out.back() += c;
    }
  }
  return out;
}

// Every reason why functions cannot be a part of a source.
Status check_functions(const std::vector<FunctionText>& functions) {
  constexpr int kMost = fusion::detail::UserNames::kMost;
  constexpr std::size_t kMostParameters = 3;
  Status out;
  const auto refuse = [&](const FunctionText& f, const std::string& why) {
    out.add({StatusCode::invalid_argument, "function_text", one_line(f.name), 0, 0,
             "the function \"" + one_line(f.name) + "\" " + why});
  };
  if (functions.size() > kMost) {
    out.add({.rule = "functions_too_many",
             .actual = static_cast<std::int64_t>(functions.size()),
             .nearest = kMost,
             .sentence = std::to_string(functions.size()) + " functions were given: at most " + std::to_string(kMost) +
                         " come with an expression"});
  }
  for (const FunctionText& f : functions) {
    const std::vector<std::string> parameters = parameters_of(f);
    if (!is_identifier(f.name) || f.name.size() > static_cast<std::size_t>(fusion::kMaxName)) {
      refuse(f, "has no name that an expression can call: letters, digits and underscores, " +
                    std::to_string(fusion::kMaxName) + " at most, a letter first");
    } else if (fusion::find_function(f.name.c_str()) != fusion::Function::user) {
      refuse(f, "has the name of a function of the library: give it another");
    }
    if (std::count_if(functions.begin(), functions.end(), [&](const auto& g) { return g.name == f.name; }) > 1) {
      refuse(f, "was given more than once");
    }
    if (parameters.size() > kMostParameters || !std::all_of(parameters.begin(), parameters.end(), is_identifier)) {
      refuse(f, "takes \"" + one_line(f.parameters) + R"(": parameters are one to three names, such as "x, y")");
    }
    if (f.body.empty()) refuse(f, R"(has no body: give it one, such as "return x * x;")");
    if (printable(f.body) != f.body) refuse(f, "has control characters in its body");
  }
  return out;
}

// `struct UserFunction0 { ... };` of each, and the type that has them all.
std::string functions_source(const std::vector<FunctionText>& functions) {
  std::string out, names;
  for (const FunctionText& f : functions) {
    const std::string type = "UserFunction" + std::to_string(&f - functions.data());
    std::string parameters;
    for (const std::string& name : parameters_of(f))
      parameters.append(parameters.empty() ? "float " : ", float ").append(name);
    out.append("struct ").append(type).append(" {\n  static constexpr const char* name = ").append(literal(f.name));
    out.append(";\n  GANTRY_HD static float call(").append(parameters).append(") {\n");
    out.append(f.body).append("\n  }\n};\n");
    names.append(names.empty() ? "" : ", ").append(type);
  }
  return out + "using UserFunctionsOfProduct = fusion::UserFunctions<" + names + ">;\n\n";
}

// Requires functions that are right.
fusion::ParsedGraph parse(const GemmSpec& spec) {
  fusion::detail::UserNames users;
  for (const FunctionText& f : spec.functions) {
    users.names[users.count] = f.name.c_str();
    users.arities[users.count++] = static_cast<int>(parameters_of(f).size());
  }
  return fusion::parse_graph(spec.expression, users);
}

const char* name_of(fusion::TextRule rule) {
  constexpr const char* kNames[] = {
#define GANTRY_X(id) #id,
      GANTRY_FUSION_TEXT_RULES(GANTRY_X)
#undef GANTRY_X
  };
  return kNames[static_cast<int>(rule)];
}

}  // namespace

bool uses_source(const GemmSpec& spec) {
  return check_functions(spec.functions).ok() && parse(spec).graph.uses_source();
}

Result<DesignedSpec> design_spec(const GemmSpec& spec) {
  if (Status refused = check_functions(spec.functions); !refused) return unexpected(std::move(refused));
  const fusion::ParsedGraph parsed = parse(spec);
  if (!parsed.ok()) {
    Status unread;
    unread.add({.rule = name_of(parsed.rule),
                .operand = "epilogue",
                .actual = parsed.position + 1,  // the column
                .sentence = explain(spec.expression, parsed).c_str()});
    return unexpected(std::move(unread));
  }
  DesignedSpec out{.graph = parsed.graph};
  Status refused;
  add_reasons(refused, StatusCode::unsupported, fusion::check_elements(out.graph));
  if (!refused.ok()) return unexpected(std::move(refused));
  out.graph = with_access(out.graph, spec.options);
  out.design = make_gemm_design(spec.options, out.graph);
  add_reasons(refused, StatusCode::unsupported, out.design.reasons);
  if (!refused.ok()) return unexpected(std::move(refused));
  return out;
}

std::string spec_source(const GemmSpec& spec) {
  const GemmOptions& o = spec.options;
  const auto number = [](int x) { return std::to_string(x); };
  std::string out =
      "#include <gantry/epilogue/fusion/functions.hpp>\n"
      "#include <gantry/epilogue/fusion/parse.hpp>\n"
      "#include <gantry/gemm/options.hpp>\n"
      "\n"
      "using namespace gantry;\n"
      "\n";
  const bool own = !spec.functions.empty();
  if (own) out += functions_source(spec.functions);
  out +=
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
  if (o.align_c != 0) field("align_c", number(o.align_c));
  if (o.align_d != 0) field("align_d", number(o.align_d));
  if (o.align_aux != 0) field("align_aux", number(o.align_aux));
  field("tile", "{" + number(o.tile.m) + ", " + number(o.tile.n) + ", " + number(o.tile.k) + "}");
  field("cluster", "{" + number(o.cluster.m) + ", " + number(o.cluster.n) +
                       (o.cluster.k != 1 ? ", " + number(o.cluster.k) : "") + "}");
  field("stages", number(o.stages));
  field("schedule", std::string("GemmSchedule::") + to_text(o.schedule));
  field("warpgroups", number(o.warpgroups));
  field("epilogue", "{" + number(o.epilogue.epi_n) + ", " + number(o.epilogue.stages_c) + ", " +
                        number(o.epilogue.stages_d) + ", " + choice(o.epilogue.reuse) + ", " +
                        number(o.epilogue.epi_m) +
                        (o.epilogue.delay_tma_store == Choice::yes ? ", Choice::yes}" : "}"));
  field("promote", o.promote ? "true" : "false");
  field("scale_a", scale_mode(o.scale_a));
  field("scale_b", scale_mode(o.scale_b));
  field("split", split(o.split));
  if (o.swapped) field("swapped", "true");
  if (o.constant != ConstantOperand::none) {
    field("constant", o.constant == ConstantOperand::a ? "ConstantOperand::a" : "ConstantOperand::b");
  }
  if (o.groups != GemmGrouping::none) field("groups", grouping(o.groups));
  if (o.gate == GemmGate::interleaved) field("gate", "GemmGate::interleaved");
  if (o.gather_a) field("gather_a", "true");
  if (o.scatter_d != RowScatter::none) {
    field("scatter_d", o.scatter_d == RowScatter::store ? "RowScatter::store"
                       : o.scatter_d == RowScatter::add ? "RowScatter::add"
                                                        : "RowScatter::ordered");
  }
  out += "  };\n";
  if (own) out += "  using Functions = UserFunctionsOfProduct;\n";
  return out + "  static constexpr fusion::Graph graph = fusion::graph(" + literal(spec.expression) +
         (own ? ", UserFunctionsOfProduct{}" : "") + ");\n};\n";
}

std::string spec_title(const GemmSpec& spec) {
  return one_line(std::string(to_text(spec.options).c_str()) + ", " + spec.expression);
}

}  // namespace gantry::runtime

#include "gemm/request.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/runtime/printable.hpp>

#include "plain_options.hpp"

namespace gantry::tool {

namespace {

class Reader : public OptionReader {
 public:
  using OptionReader::OptionReader;

  void scalars(const std::vector<std::string>& texts, std::vector<Scalar>& out) {
    for (const std::string& text : texts) {
      const std::size_t equals = text.find('=');
      Scalar scalar{text.substr(0, equals)};
      const std::string_view number = equals == std::string::npos ? "" : std::string_view(text).substr(equals + 1);
      if (!read_number(number, scalar.value)) wrong("--set", "a scalar's name and value such as alpha=2", text);
      const bool again = std::any_of(out.begin(), out.end(), [&](const Scalar& s) { return s.name == scalar.name; });
      if (again) problem(fmt::format("--set gives {} more than once: a scalar has one value", in_quotes(scalar.name)));
      out.push_back(scalar);
    }
  }
};

constexpr NumberRange<std::int64_t> kSizes{0, kMostExtent};

void read_elements(const ProductTexts& texts, Reader& read, Product& product) {
  GemmOptions& o = product.options;
  read.element("--a", texts.a, o.a);
  o.b = o.a;
  o.d = usual_result(o.a);
  read.element("--b", texts.b, o.b);
  read.element("--d", texts.d, o.d);
  if (product.graph.uses_source()) o.c = o.d;
  read.element("--c", texts.c, o.c);
}

}  // namespace

void add_product_options(CLI::App& command, ProductTexts& texts, bool needs_size) {
  const auto size = [&](const char* name, std::int64_t& value, const char* help) {
    CLI::Option* option = add_number(command, name, value, help, kSizes);
    if (needs_size) option->required();
  };
  size("--m", texts.m, "rows of A and D");
  size("--n", texts.n, "rows of B, columns of D");
  size("--k", texts.k, "columns of A and B: D = A B^T");
  add_number(command, "--batch", texts.batch, "matrices in the batch; default 1", kSizes);
  const auto text = [&](const char* name, std::string& value, const char* what, const char* help) {
    add_text(command, name, value, help)->option_text(what);
  };
  text("--a", texts.a, "TYPE", "elements of A: f16, bf16, tf32, e4m3, e5m2, s8, u8; default bf16");
  text("--b", texts.b, "TYPE", "elements of B; default as A");
  text("--c", texts.c, "TYPE", "elements of C, where the epilogue uses it; default as D");
  text("--d", texts.d, "TYPE", "elements of D; default as A, bf16 for 8-bit floats, f32 for tf32, s32 for integers");
  text("--epilogue", texts.epilogue, "TEXT", "the fused epilogue; default \"d = acc\" (see gantry explain fusion)");
  command.add_option("--set", texts.values, "a scalar of the epilogue, such as alpha=2")->option_text("NAME=NUMBER");
  text("--major-a", texts.major_a, "k|m", "contiguous mode of A; default k");
  text("--major-b", texts.major_b, "k|n", "contiguous mode of B; default k");
  text("--layout-c", texts.layout_c, "row|column", "row- or column-major C; default row");
  text("--layout-d", texts.layout_d, "row|column", "row- or column-major D; default row");
  text("--tile", texts.tile, "MxN", "CTA tile, such as 128x192; default by the cost model");
  text("--cluster", texts.cluster, "MxN",
       "CTAs in a cluster, such as 2x1, or 1x1x2 that share K; default by the cost model");
  text("--schedule", texts.schedule, "NAME", "cooperative or pingpong; default by the cost model");
  text("--split", texts.split, "NAME", "split-K: auto, none or reduce_add; default auto");
  text("--constant", texts.constant, "NAME",
       "a or b: no kernel before writes it, so that dependent launches load it early; default none");
  add_number(command, "--stages", texts.stages, "pipeline stages of the main loop; default as many as fit");
  add_number(command, "--warpgroups", texts.warpgroups,
             "consumer warpgroups: 2, or 3 with pingpong; default by the cost model");
  add_flag(command, "--swap", texts.swap, "swap operands: the kernel computes D^T = B A^T; default by the cost model");
  add_flag(command, "--promote", texts.promote, "FP8: promote accumulators to f32 registers every 128 elements of K");
}

Product read_product(const ProductTexts& texts) {
  Product out;
  out.m = texts.m;
  out.n = texts.n;
  out.k = texts.k;
  out.batch = texts.batch;
  out.expression = texts.epilogue;
  Reader read(out.problems);
  const fusion::ParsedGraph parsed = fusion::parse_graph(texts.epilogue);
  if (!parsed.ok()) out.problems.push_back(fmt::format("--epilogue:\n{}", explain(texts.epilogue, parsed).c_str()));
  out.graph = parsed.graph;
  for (const fusion::GraphReason& reason : fusion::check_elements(out.graph)) {
    out.problems.push_back(fmt::format("--epilogue: {}", describe(reason).c_str()));
  }
  if (parsed.ok() && out.graph.d < 0) {
    out.problems.emplace_back("--epilogue gives no D: a GEMM stores it; begin with \"d = acc\"");
  }
  read_elements(texts, read, out);
  GemmOptions& o = out.options;
  read.word<Major>("--major-a", texts.major_a, {{"k", Major::K}, {"m", Major::MN}}, o.major_a);
  read.word<Major>("--major-b", texts.major_b, {{"k", Major::K}, {"n", Major::MN}}, o.major_b);
  const std::vector<std::pair<const char*, LayoutTag>> layouts{{"row", kRowMajor}, {"column", kColumnMajor}};
  read.word<LayoutTag>("--layout-c", texts.layout_c, layouts, o.layout_c);
  read.word<LayoutTag>("--layout-d", texts.layout_d, layouts, o.layout_d);
  read.extents("--tile", texts.tile, "128x192 or 128x192x64", {&o.tile.m, &o.tile.n, &o.tile.k});
  read.extents("--cluster", texts.cluster, "2x1 or 1x1x2", {&o.cluster.m, &o.cluster.n, &o.cluster.k});
  read.word<GemmSchedule>("--schedule", texts.schedule,
                          {{"auto", GemmSchedule::automatic},
                           {"cooperative", GemmSchedule::cooperative},
                           {"pingpong", GemmSchedule::pingpong}},
                          o.schedule);
  read.word<SplitMode>(
      "--split", texts.split,
      {{"auto", SplitMode::automatic}, {"none", SplitMode::none}, {"reduce_add", SplitMode::reduce_add}}, o.split);
  read.word<ConstantOperand>("--constant", texts.constant,
                             {{"none", ConstantOperand::none}, {"a", ConstantOperand::a}, {"b", ConstantOperand::b}},
                             o.constant);
  o.stages = texts.stages;
  o.warpgroups = texts.warpgroups;
  o.promote = texts.promote;
  o.swapped = texts.swap;
  read.scalars(texts.values, out.scalars);
  if (!out.ok()) return out;
  for (const GemmReason& reason : problems(o)) out.problems.emplace_back(describe(reason).c_str());
  return out;
}

std::string title(const Product& product) {
  std::string out = fmt::format("{} x {} x {}", product.m, product.n, product.k);
  if (product.batch != 1) out += fmt::format(", batch of {}", product.batch);
  out += fmt::format(", {}", info(product.options.a).name);
  if (product.options.b != product.options.a) out += fmt::format(" by {}", info(product.options.b).name);
  return out + fmt::format(" to {}: {}", info(product.options.d).name, runtime::printable(product.expression));
}

const char* to_text(Inputs inputs) {
  constexpr const char* kNames[] = {"eighths", "uniform", "zeros", "special"};
  return kNames[static_cast<int>(inputs)];
}

Inputs read_inputs(const std::string& text, std::vector<std::string>& problems) {
  Inputs out = Inputs::eighths;
  OptionReader(problems).word<Inputs>("--inputs", text,
                                      {{"eighths", Inputs::eighths},
                                       {"uniform", Inputs::uniform},
                                       {"zeros", Inputs::zeros},
                                       {"special", Inputs::special}},
                                      out);
  return out;
}

}  // namespace gantry::tool

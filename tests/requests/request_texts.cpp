#include "request_texts.hpp"

#include <fmt/format.h>

namespace gantry::test {

namespace {

std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const std::size_t begin = text.find(before) + before.size();
  return text.substr(begin, text.find(after, begin) - begin);
}

std::string element(ElementType e) {
  return e == ElementType::void_ ? "ElementType::void_" : fmt::format("ElementType::{}", info(e).name);
}
std::string layout(LayoutTag tag) {
  return fmt::format("LayoutTag{{static_cast<LayoutKind>({}), {}}}", static_cast<int>(tag.kind), tag.per_group);
}
std::string choice(Choice c) { return fmt::format("static_cast<Choice>({})", static_cast<int>(c)); }

// Blocks, or what the epilogue scales.
std::string scaling(ScaleMode mode, const std::string& by_epilogue) {
  if (mode == ScaleMode::none) return by_epilogue;
  return mode == ScaleMode::block ? "block" : "row_block";
}

// Nothing where the option is left out.
std::string number(int n) { return n == 0 ? std::string() : std::to_string(n); }
std::string yes_or_no(Choice c) { return c == Choice::automatic ? "" : c == Choice::yes ? "yes" : "no"; }

}  // namespace

std::string spec_text(const GemmRequest& r) {
  const std::string source = runtime::gemm_source({.options = r.options, .expression = r.fusion.text});
  return between(source, "struct Product {\n", "\n};\n");
}

std::string options_text(const GemmOptions& options) {
  const std::string source = runtime::gemm_source({.options = options, .expression = "d = acc"});
  return between(source, "struct Product {\n", "  static constexpr fusion::Graph");
}

std::string builder_text(const CollectiveBuilder& b) {
  return fmt::format(
      "CollectiveBuilder{{.flavour = static_cast<PolicyFlavour>({}), .schedule = static_cast<EpilogueSchedule>({}),\n"
      "    .tile = {{{}, {}, {}}}, .epi_tile = {{{}, {}}}, .c = {}, .d = {}, .layout_c = {}, .layout_d = {},\n"
      "    .align_c = {}, .align_d = {}, .acc = {}, .compute = {}, .aux = {}, .warpgroups = {}, .stages_c = {},\n"
      "    .stages_d = {}, .fragment_size = {}, .reuse_smem_c = {}, .delay_tma_store = {}}}",
      static_cast<int>(b.flavour), static_cast<int>(b.schedule), b.tile.m, b.tile.n, b.tile.k, b.epi_tile.m,
      b.epi_tile.n, element(b.c), element(b.d), layout(b.layout_c), layout(b.layout_d), b.align_c, b.align_d,
      element(b.acc), element(b.compute), element(b.aux), b.warpgroups, b.stages_c, b.stages_d, b.fragment_size,
      choice(b.reuse_smem_c), choice(b.delay_tma_store));
}

std::string literal(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

tool::EpilogueTexts texts_of(const EpilogueRequest& r) {
  const CollectiveBuilder& b = r.builder;
  tool::EpilogueTexts t;
  t.policy = b.flavour == PolicyFlavour::gantry ? "gantry" : "cutlass";
  t.schedule = to_text(b.schedule);
  t.tile = fmt::format("{}x{}x{}", b.tile.m, b.tile.n, b.tile.k);
  if (b.epi_tile != TileMN{}) t.epi_tile = fmt::format("{}x{}", b.epi_tile.m, b.epi_tile.n);
  t.c = info(b.c).name;
  t.d = info(b.d).name;
  t.aux = info(b.aux).name;
  t.c_layout = to_text(b.layout_c).c_str();
  t.d_layout = to_text(b.layout_d).c_str();
  t.acc = info(b.acc).name;
  t.compute = info(b.compute).name;
  t.c_align = number(b.align_c);
  t.d_align = number(b.align_d);
  t.warpgroups = number(b.warpgroups);
  t.stages_c = number(b.stages_c);
  t.stages_d = number(b.stages_d);
  t.fragment = number(b.fragment_size);
  t.reuse = yes_or_no(b.reuse_smem_c);
  t.delay = yes_or_no(b.delay_tma_store);
  t.epilogue = r.fusion.text;
  return t;
}

tool::AskedTexts asked_texts_of(const GemmRequest& r) {
  const GemmOptions& o = r.options;
  tool::AskedTexts t;
  t.m = t.n = 256;
  t.k = 128;
  if (o.groups == GemmGrouping::pointer_array) t.m = t.n = t.k = 0;
  t.a = info(o.a).name;
  t.b = info(o.b).name;
  if (o.c != ElementType::void_) t.c = info(o.c).name;
  t.d = info(o.d).name;
  t.epilogue = r.written;
  t.major_a = o.major_a == Major::K ? "k" : "m";
  t.major_b = o.major_b == Major::K ? "k" : "n";
  t.layout_c = is_m_major(o.layout_c) ? "column" : "row";
  t.layout_d = is_m_major(o.layout_d) ? "column" : "row";
  if (o.tile.m != 0 && o.tile.n != 0) t.tile = fmt::format("{}x{}", o.tile.m, o.tile.n);
  if (o.tile.k != 0) t.tile += fmt::format("x{}", o.tile.k);
  if (o.cluster.m != 0) t.cluster = fmt::format("{}x{}", o.cluster.m, o.cluster.n);
  if (o.cluster.m != 0 && o.cluster.k != 1) t.cluster += fmt::format("x{}", o.cluster.k);
  t.schedule = o.schedule == GemmSchedule::automatic ? "auto" : to_text(o.schedule);
  t.split = o.split == SplitMode::automatic ? "auto" : o.split == SplitMode::none ? "none" : "reduce_add";
  t.stages = o.stages;
  t.warpgroups = o.warpgroups;
  t.promote = o.promote;
  t.swap = o.swapped;
  t.constant = o.constant == ConstantOperand::none ? "none" : o.constant == ConstantOperand::a ? "a" : "b";
  t.gate = o.gate == GemmGate::halves ? "halves" : "interleaved";
  t.scale_a = scaling(o.scale_a, r.scale_a);
  t.scale_b = scaling(o.scale_b, r.scale_b);
  if (o.groups == GemmGrouping::along_m) t.groups = "100,0,156";
  if (o.groups == GemmGrouping::along_k) t.groups_k = "64,0,64";
  if (o.gather_a) t.gather_rows = 77;
  constexpr const char* kScatter[] = {"none", "store", "add", "ordered"};
  t.scatter = kScatter[static_cast<int>(o.scatter_d)];
  return t;
}

}  // namespace gantry::test

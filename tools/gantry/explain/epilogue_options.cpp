#include "explain/epilogue_options.hpp"

#include <nlohmann/json.hpp>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/schedule_names.hpp>
#include <gantry/epilogue/tile_of_layouts.hpp>
#include <gantry/layout/tiler_text.hpp>

#include "eval/epilogue_json.hpp"
#include "option_text.hpp"

namespace gantry::tool {

namespace {

// Reads options that were given into the builder's fields.
class Reader : public OptionReader {
 public:
  using OptionReader::OptionReader;

  void layout(const char* option, const std::string& text, LayoutTag& out) {
    if (text.empty()) return;
    const ParsedLayoutTag parsed = parse_layout_tag(text.c_str());
    if (!parsed.ok) wrong(option, "row, column, NWC, NHWC or NDHWC, with '*' for strides of each group", text);
    out = parsed.tag;
  }

  void schedule(const char* option, const std::string& text, EpilogueSchedule& out) {
    if (text.empty()) return;
    const ParsedSchedule parsed = parse_epilogue_schedule(text.c_str());
    if (!parsed.ok) {
      tool::refuse(status(), option, no_epilogue_schedule(shortened(text).c_str()),
                   fmt::format("{} takes auto, tma, cooperative, no_smem or a name of CUTLASS's: ", option));
    }
    out = parsed.schedule;
  }

  void flavour(const char* option, const std::string& text, PolicyFlavour& out) {
    if (text.empty() || text == "gantry") return;
    if (text != "cutlass") wrong(option, "gantry or cutlass", text);
    out = PolicyFlavour::cutlass_compatible;
  }

  void number(const char* option, const std::string& text, int& out) {
    if (text.empty()) return;
    if (!read_number(text, out) || out == 0) wrong(option, "a number other than 0", text);
  }

  void rounding(const char* option, const std::string& text, Rounding& out) {
    std::vector<std::pair<const char*, Rounding>> words;
    for (const fusion::RoundingName& name : fusion::kRoundingNames) words.emplace_back(name.text, name.rounding);
    word(option, text, words, out);
  }

  // Extents, or a tiler of layouts.
  void epi_tile(const char* option, const std::string& text, EpiTile& out) {
    if (text.empty() || text.front() != '(') return extents(option, text, "64x32", {&out.m, &out.n});
    const Parsed<Tiler> parsed = parse_tiler(text);
    if (parsed.ok()) out = EpiTile(parsed.value);
    if (!parsed.ok() || !out.is_known()) wrong(option, "extents or layouts such as (64,(32,2):(1,64))", text);
  }

  void choice(const char* option, const std::string& text, Choice& out) {
    if (text.empty() || text == "auto") return;
    if (text != "yes" && text != "no") wrong(option, "yes, no or auto", text);
    out = text == "yes" ? Choice::yes : Choice::no;
  }
};

}  // namespace

EpilogueQuestion read_question(const EpilogueTexts& texts) {
  EpilogueQuestion q;
  Reader read(q.status);
  CollectiveBuilder& b = q.builder;
  read.flavour("--policy", texts.policy, b.flavour);
  read.schedule("--schedule", texts.schedule, b.schedule);
  read.extents("--tile", texts.tile, "128x256x64", {&b.tile.m, &b.tile.n, &b.tile.k});
  read.epi_tile("--epi-tile", texts.epi_tile, b.epi_tile);
  read.element("--c", texts.c, b.c);
  read.element("--d", texts.d, b.d);
  read.element("--aux", texts.aux, b.aux);
  read.layout("--c-layout", texts.c_layout, b.layout_c);
  read.layout("--d-layout", texts.d_layout, b.layout_d);
  read.element("--acc", texts.acc, b.acc);
  read.element("--compute", texts.compute, b.compute);
  read.rounding("--round", texts.round, b.rounding);
  read.number("--c-align", texts.c_align, b.align_c);
  read.number("--d-align", texts.d_align, b.align_d);
  read.number("--warpgroups", texts.warpgroups, b.warpgroups);
  read.number("--stages-c", texts.stages_c, b.stages_c);
  read.number("--stages-d", texts.stages_d, b.stages_d);
  read.number("--fragment", texts.fragment, b.fragment_size);
  read.choice("--reuse", texts.reuse, b.reuse_smem_c);
  read.choice("--delay", texts.delay, b.delay_tma_store);
  if (!texts.epilogue.empty()) {
    const fusion::ParsedGraph parsed = fusion::parse_graph(texts.epilogue);
    if (!parsed.ok()) {
      read.refuse(OptionRule::expression, "--epilogue",
                  std::string("--epilogue:\n") + explain(texts.epilogue, parsed).c_str());
    }
    q.graph = parsed.graph;
    if (texts.c.empty() && parsed.ok() && parsed.graph.uses_source()) b.c = b.d;
  }
  return q;
}

EpilogueExplanation answer(const EpilogueQuestion& q) {
  return q.graph ? explain(q.builder, *q.graph) : explain(q.builder);
}

nlohmann::ordered_json to_json(const EpilogueExplanation& e) {
  nlohmann::ordered_json out;
  out["ok"] = e.ok();
  out["refused"] = e.sentences(RuleWeight::refused);
  out["not_on_hopper"] = e.sentences(RuleWeight::hopper);
  out["no_kernel"] = e.sentences(RuleWeight::unsupported);
  out["decisions"] = nlohmann::ordered_json::array();
  for (const EpilogueDecision& d : e.decisions) {
    out["decisions"].push_back({{"section", d.section}, {"name", d.name}, {"value", d.value}, {"why", d.why}});
  }
  if (!e.has(RuleWeight::refused)) out["policy"] = policy_json(e.policy);
  return out;
}

}  // namespace gantry::tool

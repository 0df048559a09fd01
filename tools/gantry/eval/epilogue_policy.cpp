// `gantry eval epilogue_policy`: one configuration of an epilogue per line, and every decision about it.
//
// A line has `config`, an object; `result` is the policy. `refused` lists why there is none, in sentences, and
// `not_on_hopper` why an SM has no room for one that is otherwise well formed, and `no_kernel` why no collective runs
// it. Decisions are CUTLASS's unless the configuration has `"flavour": "gantry"`.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gantry/epilogue/builder.hpp>
#include <gantry/epilogue/schedule_names.hpp>
#include <gantry/numeric/element_name.hpp>

#include "eval/epilogue_json.hpp"
#include "eval/kinds.hpp"

namespace gantry::tool {

namespace {

using nlohmann::json;

constexpr std::string_view kComputed[] = {"result",     "refused", "not_on_hopper", "no_kernel",
                                          "error_kind", kError,    kPosition};

// Reads the fields of a configuration. Of several problems the first is kept; what is read after it has no meaning.
class Config {
 public:
  explicit Config(const json& fields) : fields_(fields) {}

  std::optional<Problem> problem;

  EpilogueSchedule schedule(const char* key) {
    const std::string text = word(key);
    const ParsedSchedule parsed = parse_epilogue_schedule(text.c_str());
    if (!parsed.ok) wrong(key, describe(no_epilogue_schedule(text.c_str())).c_str());
    return parsed.schedule;
  }

  ElementType element(const char* key) {
    const ParsedElementType parsed = parse_element_type(word(key).c_str());
    if (!parsed.ok) wrong(key, parsed.problem.c_str());
    return parsed.type;
  }

  LayoutTag layout(const char* key) {
    const std::string text = word(key);
    const ParsedLayoutTag parsed = parse_layout_tag(text.c_str());
    if (!parsed.ok) wrong(key, fmt::format("RowMajor, ColumnMajor or a Tensor..., and not \"{}\"", text));
    return parsed.tag;
  }

  int integer(const char* key) {
    const json value = fields_.value(key, json());
    if (!fits(value)) {
      wrong(key, "an integer of 32 bits");
      return 0;
    }
    return value.get<int>();
  }

  std::vector<int> extents(const char* key, std::size_t count) {
    const json value = fields_.value(key, json());
    std::vector<int> out(count, 0);
    bool ok = value.is_array() && value.size() == count;
    for (std::size_t i = 0; ok && i < count; ++i) ok = fits(value[i]);
    if (!ok) wrong(key, fmt::format("{} integers, [m,n{}]", count, count == 3 ? ",k" : ""));
    for (std::size_t i = 0; ok && i < count; ++i) out[i] = value[i].get<int>();
    return out;
  }

  Choice choice(const char* key) {
    const json value = fields_.value(key, json());
    if (!value.is_boolean()) {
      wrong(key, "true or false");
      return Choice::automatic;
    }
    return value.get<bool>() ? Choice::yes : Choice::no;
  }

  bool has(const char* key) const { return fields_.contains(key); }
  bool is(const char* key, const char* text) const { return has(key) && fields_[key] == text; }

 private:
  static bool fits(const json& value) {
    if (value.is_number_unsigned()) return value.get<std::uint64_t>() <= INT32_MAX;
    return value.is_number_integer() && value.get<std::int64_t>() >= INT32_MIN;
  }

  std::string word(const char* key) {
    const json value = fields_.value(key, json());
    // Names are read up to their first 0.
    if (!value.is_string() || value.get_ref<const std::string&>().find('\0') != std::string::npos) {
      wrong(key, "a name");
      return {};
    }
    return value.get<std::string>();
  }

  void wrong(const char* key, std::string_view expected) {
    if (!problem) problem = Problem{fmt::format("the field \"{}\" of the configuration: {}", key, expected)};
  }

  const json& fields_;
};

CollectiveBuilder read_builder(Config& c) {
  CollectiveBuilder b;
  b.flavour = c.is("flavour", "gantry") ? PolicyFlavour::gantry : PolicyFlavour::cutlass_compatible;
  b.schedule = c.schedule("schedule");
  const std::vector<int> tile = c.extents("tile_mnk", 3);
  b.tile = {tile[0], tile[1], tile[2]};
  if (c.has("epi_tile") && !c.is("epi_tile", "auto")) {
    const std::vector<int> epi = c.extents("epi_tile", 2);
    b.epi_tile = {epi[0], epi[1]};
  }
  b.c = c.element("elem_c");
  b.d = c.element("elem_d");
  b.layout_c = c.layout("layout_c");
  b.layout_d = c.layout("layout_d");
  b.align_c = c.integer("align_c");
  b.align_d = c.integer("align_d");
  b.acc = c.element("elem_acc");
  b.compute = c.element("elem_compute");
  if (c.has("elem_aux")) b.aux = c.element("elem_aux");
  if (c.has("stages_c")) b.stages_c = c.integer("stages_c");
  if (c.has("stages_d")) b.stages_d = c.integer("stages_d");
  if (c.has("fragment_size")) b.fragment_size = c.integer("fragment_size");
  if (c.has("reuse_smem_c")) b.reuse_smem_c = c.choice("reuse_smem_c");
  if (c.has("delay_tma_store")) b.delay_tma_store = c.choice("delay_tma_store");
  return b;
}

std::optional<Problem> evaluate(JsonLine& line) {
  const Field* const field = line.find("config");
  const json fields = field != nullptr && field->kind == Field::Kind::other
                          ? json::parse(field->text, nullptr, /*allow_exceptions=*/false)
                          : json();
  if (!fields.is_object()) return Problem{"the line must have a field \"config\" that holds an object"};
  Config config(fields);
  const CollectiveBuilder builder = read_builder(config);
  if (config.problem) return config.problem;
  const EpiloguePolicy policy = builder.policy();
  if (policy.refused()) {
    const std::vector<std::string> refused = sentences(policy, RuleWeight::refused);
    line.set_json("refused", json(refused).dump());
    line.set(kError, refused.front());
    return std::nullopt;
  }
  line.set_json("result", policy_json(policy).dump());
  const auto say = [&](const char* key, RuleWeight weight) {
    const std::vector<std::string> reasons = sentences(policy, weight);
    if (!reasons.empty()) line.set_json(key, json(reasons).dump());
  };
  say("not_on_hopper", RuleWeight::hopper);
  say("no_kernel", RuleWeight::unsupported);
  return std::nullopt;
}

}  // namespace

const EvalKind epilogue_policy_kind{"epilogue_policy", "epilogues: tiles, stages, shared layouts, copies, storage",
                                    kComputed, evaluate};

}  // namespace gantry::tool

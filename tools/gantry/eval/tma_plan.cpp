// `gantry eval tma_plan`: one TMA copy per line, planned with every intermediate value.
//
// `refused` lists why there is no such copy, in sentences; the values known before the refusal are still given.
// `not_on_hopper` lists why Hopper would not run a copy that is otherwise well formed.
#include <fmt/format.h>

#include <gantry/tma/plan.hpp>

#include "eval/kinds.hpp"
#include "eval/tma_case.hpp"

namespace gantry::tool {

namespace {

constexpr std::string_view kComputed[] = {
    "cta_v_map",      "inv_smem_layout", "sidx2gmode_full",  "smem_rank",
    "sidx2gmode",     "tile_gstride",    "tma_gstride",      "tma_gbasis_tile",
    "tma_gbasis",     "tma_rank",        "gmem_prob_shape",  "gmem_prob_stride_bytes",
    "smem_box_shape", "smem_box_stride", "swizzle_bits",     "swizzle_base",
    "swizzle_enum",   "swizzle_name",    "format",           "interleave",
    "l2_promotion",   "oob_fill",        "num_bits_per_tma", "tma_tensor_stride",
    "val_layout_src", "tiled_copy",      "tile_reproduced",  "documented_driver_rule_violations",
    "refused",        "not_on_hopper",   "error_kind",       kError,
    kPosition};

TmaCopyRequest read_request(TmaCase& c) {
  TmaCopyRequest r;
  r.op = c.operation("copy_op");
  r.gtensor.address = static_cast<std::uint64_t>(c.integer_or("gmem_addr", 0));
  r.gtensor.element = c.element("elem");
  r.gtensor.layout = c.layout("gmem");
  const int bits = element_bits(r.gtensor.element);
  const bool in_parts = c.has("smem_layout") && c.has("smem_swizzle");
  r.smem = in_parts ? c.shared_in_parts("smem_swizzle", "smem_layout", bits) : c.shared("smem", bits);
  r.cta_tiler = c.tiler("cta_tiler");
  r.tma_element = c.has("tma_type") ? c.element("tma_type") : r.gtensor.element;
  if (c.has("num_multicast")) r.num_multicast = c.ctas("num_multicast");
  return r;
}

void set_layout(JsonLine& line, std::string_view key, const Layout& l) {
  if (l.ok()) line.set(key, text_of(l));
}

void write_steps(JsonLine& line, const TmaPlan& plan, const TmaGbasisSteps& steps) {
  if (steps.reached < 3) return;
  set_layout(line, "inv_smem_layout", steps.inv_smem_layout);
  set_layout(line, "sidx2gmode_full", steps.sidx2gmode_full);
  line.set("smem_rank", std::int64_t{steps.smem_rank});
  if (steps.reached < 7) return;
  set_layout(line, "sidx2gmode", steps.sidx2gmode);
  set_layout(line, "tile_gstride", steps.tile_gstride);
  set_layout(line, "tma_gstride", steps.tma_gstride);
  set_layout(line, "tma_gbasis_tile", steps.tma_gbasis_tile);
  set_layout(line, "tma_gbasis", plan.tma_gbasis);
}

template <class T>
void set_five(JsonLine& line, std::string_view key, const T* values) {
  std::int64_t v[kTmaMaxRank];
  for (int i = 0; i < kTmaMaxRank; ++i) v[i] = static_cast<std::int64_t>(values[i]);
  line.set(key, std::span<const std::int64_t>(v));
}

std::string_view swizzle_bits_name(TmaSwizzle swizzle) {
  switch (swizzle) {
    case TmaSwizzle::none:
      return "DISABLE";
    case TmaSwizzle::bytes_32:
      return "B32";
    case TmaSwizzle::bytes_64:
      return "B64";
    default:
      return "B128";
  }
}

std::string_view swizzle_base_name(TmaSwizzle swizzle) {
  switch (swizzle) {
    case TmaSwizzle::bytes_128_atom_32:
      return "32B";
    case TmaSwizzle::bytes_128_atom_64:
      return "64B";
    default:
      return "16B";
  }
}

void write_descriptor(JsonLine& line, const TmaPlan& plan) {
  const TmaDescriptorParams& p = plan.descriptor;
  line.set("tma_rank", std::int64_t{p.rank});
  set_five(line, "gmem_prob_shape", p.dims);
  std::uint64_t strides[kTmaMaxRank] = {static_cast<std::uint64_t>(element_bytes(p.data_type))};
  for (int i = 1; i < kTmaMaxRank; ++i) strides[i] = p.strides[i - 1];
  set_five(line, "gmem_prob_stride_bytes", strides);
  set_five(line, "smem_box_shape", p.box);
  set_five(line, "smem_box_stride", p.element_strides);
  line.set("swizzle_bits", swizzle_bits_name(p.swizzle));
  line.set("swizzle_base", swizzle_base_name(p.swizzle));
  line.set("swizzle_enum", static_cast<std::int64_t>(p.swizzle));
  line.set("swizzle_name", driver_name(p.swizzle));
  line.set("format", driver_name(p.data_type));
  line.set("interleave", static_cast<std::int64_t>(p.interleave));
  line.set("l2_promotion", static_cast<std::int64_t>(p.l2_promotion));
  line.set("oob_fill", static_cast<std::int64_t>(p.fill));
  line.set("num_bits_per_tma", plan.num_bits_per_tma);
  line.set("tma_tensor_stride", text_of(plan.tma_tensor_stride));
}

void write_tiled_copy(JsonLine& line, const TmaPlanSteps& steps) {
  set_layout(line, "val_layout_src", steps.val_layout_src);
  const TmaTiledCopy& t = steps.tiled_copy;
  JsonText json;
  if (!t.ok) {
    json.null();
  } else {
    json.begin('{').key("tiler_mn").value(t.tiler_mn).key("layout_v").value(t.layout_v);
    json.key("layout_V").value(t.layout_V).key("layout_t").value(t.layout_t);
    json.key("layout_T").value(t.layout_T).key("layout_TV").value(t.layout_TV).end('}');
  }
  line.set_json("tiled_copy", json.out);
}

// What CuTe lets through against the driver's documentation.
void write_documented(JsonLine& line, const TmaPlan& plan) {
  std::vector<std::string> names;
  for (const TmaViolation& v : check_map(plan)) {
    if (v.rule == TmaRule::inner_box_bytes_not_multiple_of_16 ||
        v.rule == TmaRule::inner_box_bytes_exceed_swizzle_span) {
      names.emplace_back(entry_of(v.rule).name);
    }
  }
  if (!names.empty()) line.set_json("documented_driver_rule_violations", json_list(names));
}

std::optional<Problem> evaluate(JsonLine& line) {
  TmaCase c(line);
  const TmaCopyRequest request = read_request(c);
  if (c.problem) return c.problem;
  TmaPlanSteps steps;
  const TmaPlan plan = make_tma_copy(request, &steps);
  if (request.gtensor.layout.ok() && plan.cta_v_map.ok() && !plan.reasons.has(TmaPlanRule::tiler_rank)) {
    set_layout(line, "cta_v_map", plan.cta_v_map);
  }
  write_steps(line, plan, steps.gbasis);
  if (plan.bound) {
    write_descriptor(line, plan);
    write_tiled_copy(line, steps);
    const TmaUnits units = plan.units();
    if (units.value_bits == units.tma_bits) line.set_json("tile_reproduced", plan.tile_reproduced ? "true" : "false");
    write_documented(line, plan);
  }
  std::vector<std::string> refused = c.refused;
  for (std::string& s : sentences(plan, TmaVerdict::refused)) refused.push_back(std::move(s));
  if (!refused.empty()) line.set_json("refused", json_list(refused));
  if (const auto hopper = sentences(plan, TmaVerdict::not_on_hopper); !hopper.empty()) {
    line.set_json("not_on_hopper", json_list(hopper));
  }
  return std::nullopt;
}

}  // namespace

const EvalKind tma_plan_kind{"tma_plan", "TMA copies, planned: box, tensor map, coordinates, and all values on the way",
                             kComputed, evaluate};

}  // namespace gantry::tool

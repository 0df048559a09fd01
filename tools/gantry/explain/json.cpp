#include "explain/json.hpp"

#include <nlohmann/json.hpp>

#include <gantry/layout/tiler_text.hpp>
#include <gantry/tma/explain_chunks.hpp>

namespace gantry::tool {

namespace {

using Json = nlohmann::ordered_json;
using tma_detail::text_of;

template <class T>
Json array_of(const T* values, int n) {
  Json out = Json::array();
  for (int i = 0; i < n; ++i) out.push_back(values[i]);
  return out;
}

Json objections_json(const std::vector<TmaObjection>& all) {
  Json out = Json::array();
  for (const TmaObjection& o : all) {
    out.push_back({{"rule", o.rule}, {"sentence", o.sentence}, {"on_hopper_only", o.on_hopper_only}});
  }
  return out;
}

Json steps_json(const std::vector<TmaStepText>& all) {
  Json out = Json::array();
  for (const TmaStepText& s : all) out.push_back({{"name", s.name}, {"what", s.what}, {"value", s.value}});
  return out;
}

Json fields_json(const std::vector<TmaFieldText>& all) {
  Json out = Json::array();
  for (const TmaFieldText& f : all) out.push_back({{"name", f.name}, {"value", f.value}, {"meaning", f.meaning}});
  return out;
}

Json advice_json(const std::vector<TmaAdvice>& all) {
  Json out = Json::array();
  for (const TmaAdvice& a : all) {
    out.push_back(
        {{"name", a.name}, {"level", to_text(a.level)}, {"what", a.what}, {"why", a.why}, {"change", a.change}});
  }
  return out;
}

Json reads_json(const SharedReads& reads) {
  const auto one = [](const BankPasses& p) -> Json {
    if (p.worst == 0) return nullptr;
    return {{"worst", p.worst}, {"phases", p.phases}, {"passes", p.passes}};
  };
  return {{"row", one(reads.row)}, {"column", one(reads.column)}, {"element", one(reads.element)}};
}

// Numbers where the fields are texts for people.
Json descriptor_json(const TmaDescriptorParams& p, bool bound) {
  const int rank = clamped_rank(p);
  Json out{{"mode", to_text(p.mode)}, {"data_type", to_text(p.data_type)}, {"rank", p.rank}, {"address", p.address}};
  out["dims"] = bound ? array_of(p.dims, rank) : Json();
  out["strides"] = bound ? array_of(p.strides, rank > 0 ? rank - 1 : 0) : Json();
  if (p.mode == TmaMode::im2col) {
    out["lower_corner"] = array_of(p.lower_corner, spatial_rank(p));
    out["upper_corner"] = array_of(p.upper_corner, spatial_rank(p));
    out["channels_per_pixel"] = p.channels_per_pixel;
    out["pixels_per_column"] = p.pixels_per_column;
  } else {
    out["box"] = array_of(p.box, rank);
  }
  out["element_strides"] = array_of(p.element_strides, rank);
  out["interleave"] = to_text(p.interleave);
  out["swizzle"] = to_text(p.swizzle);
  out["l2_promotion"] = to_text(p.l2_promotion);
  out["fill"] = to_text(p.fill);
  out["element_bits"] = element_bits(p.data_type);
  out["bytes"] = box_bytes(p);
  return out;
}

Json shared_json(const SharedTile& tile, std::int64_t bytes, std::int64_t alignment) {
  const Swizzle& sw = tile.smem.swizzle();
  Json out{{"layout", text_of(tile.smem)},
           {"bytes", bytes},
           {"alignment", alignment},
           {"swizzle", {{"bits", sw.bits()}, {"base", sw.base()}, {"shift", sw.shift()}}}};
  if (tile.row_mode < 0) return out;
  out["row_mode"] = tile.row_mode;
  out["column_mode"] = tile.column_mode < 0 ? Json() : Json(tile.column_mode);
  out["rows"] = tile.rows;
  out["row_elements"] = tile.row_elements;
  return out;
}

// One array for each property: the page reads them all, and names would take more room than numbers.
Json chunks_json(const std::vector<SharedChunk>& chunks) {
  Json out;
  for (const char* key : {"instruction", "tile_index", "row", "column", "global", "global_byte", "inside"}) {
    out[key] = Json::array();
  }
  for (const SharedChunk& c : chunks) {
    out["instruction"].push_back(c.instruction);
    out["tile_index"].push_back(c.tile_index);
    out["row"].push_back(c.row);
    out["column"].push_back(c.column);
    out["global"].push_back(c.global);
    out["global_byte"].push_back(c.global_byte);
    out["inside"].push_back(c.inside ? 1 : 0);
  }
  return out;
}

Json instructions_json(const TmaExplanation& e) {
  Json out = Json::array();
  const int rank = clamped_rank(e.plan.descriptor);
  for (const TmaInstructionText& i : e.instructions) {
    out.push_back({{"cta", i.cta},
                   {"index", i.index},
                   {"coordinates", array_of(i.coordinates, rank)},
                   {"shared_offset", is_prefetch(e.plan.op) ? Json() : Json(i.shared_offset)},
                   {"bytes", i.bytes},
                   {"bytes_inside", i.bytes_inside},
                   {"cta_mask", i.cta_mask == 0 ? Json() : Json(i.cta_mask)}});
  }
  return out;
}

Json instructions_json(const Im2colExplanation& e) {
  Json out = Json::array();
  const int axes = spatial_rank(e.plan.map);
  for (const Im2colInstructionText& i : e.instructions) {
    out.push_back({{"cta", i.cta},
                   {"tap", array_of(i.tap, axes)},
                   {"channel_tile", i.channel_tile},
                   {"coordinates", array_of(i.coordinates, axes + 2)},
                   {"offsets", is_store(e.plan.op) ? Json() : array_of(i.offsets, axes)},
                   {"shared_offset", is_prefetch(e.plan.op) ? Json() : Json(i.shared_offset)},
                   {"bytes", i.bytes},
                   {"pixels_inside", i.pixels_inside},
                   {"cta_mask", i.cta_mask == 0 ? Json() : Json(i.cta_mask)}});
  }
  return out;
}

}  // namespace

Json to_json(const TmaExplanation& e) {
  const TmaPlan& plan = e.plan;
  Json out{{"kind", "tma"},
           {"ok", e.ok()},
           {"op", to_text(plan.op)},
           {"element", to_text(plan.element)},
           {"element_bits", element_bits(plan.element)},
           {"tma_element", to_text(plan.tma_element)},
           {"gmem", text_of(plan.gmem)},
           {"smem", text_of(plan.smem)},
           {"tiler", text_of(plan.cta_tiler)},
           {"ctas", plan.num_multicast},
           {"bound", plan.bound},
           {"refused", objections_json(e.objections)},
           {"steps", steps_json(e.steps)}};
  if (!e.fields.empty()) {
    out["descriptor"] = descriptor_json(plan.descriptor, plan.bound);
    out["fields"] = fields_json(e.fields);
  }
  if (!e.has_box()) return out;
  out["ptx"] = e.ptx;
  out["tile"] = {{"coordinate", text_of(e.tile)},
                 {"origin", array_of(e.origin.values, clamped_rank(plan.descriptor))},
                 {"shape", tma_detail::leaves_of(product_each(plan.cta_v_map.shape()))},
                 {"bytes", e.tile_bytes}};
  out["instructions"] = instructions_json(e);
  out["instruction_count"] = e.instruction_count;
  if (!is_prefetch(plan.op)) {
    out["shared"] = shared_json(e.shared, e.shared_bytes, e.alignment);
    out["shared"]["chunks"] = chunks_json(shared_chunks(e));
    out["reads"] = reads_json(e.reads);
  }
  out["advice"] = advice_json(e.advice);
  return out;
}

Json to_json(const Im2colExplanation& e) {
  Json out{{"kind", "im2col"},
           {"ok", e.ok()},
           {"op", to_text(e.plan.op)},
           {"element", to_text(e.plan.map.data_type)},
           {"element_bits", element_bits(e.plan.map.data_type)},
           {"ctas", e.plan.ctas},
           {"refused", objections_json(e.objections)},
           {"steps", steps_json(e.steps)},
           {"descriptor", descriptor_json(e.plan.map, true)},
           {"fields", fields_json(e.fields)}};
  if (!e.ok()) return out;
  const int axes = spatial_rank(e.plan.map);
  out["ptx"] = e.ptx;
  out["output"] = array_of(e.plan.output, axes);
  out["filter"] = array_of(e.plan.filter, axes);
  out["dilation"] = array_of(e.plan.dilation, axes);
  out["pixels"] = e.plan.pixels();
  out["pixel_tile"] = e.pixel_tile;
  out["tile_pixels"] = e.plan.tile_pixels();
  out["pixel_tiles"] = e.plan.pixel_tiles();
  out["channel_tiles"] = e.plan.channel_tiles();
  out["instructions"] = instructions_json(e);
  out["instruction_count"] = e.instruction_count;
  if (!is_prefetch(e.plan.op)) {
    out["shared"] = shared_json(e.shared, e.shared_bytes, e.alignment);
    out["shared"]["chunks"] = chunks_json(shared_chunks(e));
    out["reads"] = reads_json(e.reads);
  }
  out["advice"] = advice_json(e.advice);
  return out;
}

}  // namespace gantry::tool

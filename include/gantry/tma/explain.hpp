// A plan that explains itself: the steps with their layouts, the tensor map, the instructions of a tile, what the banks
// make of it, advice; and for a plan that does not run, every reason.
//
// Everything is computed from the plan alone. `tma/explain_report.hpp` makes it a report for people.
//
// Example:
//     using namespace gantry;
//     const TmaPlan plan = make_tma_copy(
//         TmaOp::load,
//         {.element = ElementType::bf16, .layout = make_layout(make_shape(4096, 8192), make_stride(8192, _1))},
//         ComposedLayout(make_swizzle(SwizzleMode::b128), _0, make_layout(make_shape(_128, _64), LayoutRight{}), 16));
//     const TmaExplanation e = explain(plan, {.tile = make_coord(3, 5)});
//     // e.ok(), e.steps[1].name == "inv_smem_layout", e.instructions[0].coordinates[1] == 384
#pragma once

#include <gantry/tma/explain_advice.hpp>
#include <gantry/tma/explain_plan_advice.hpp>
#include <gantry/tma/instructions.hpp>
#include <gantry/tma/multicast.hpp>

namespace gantry {

// One instruction of the tile, as the CTA that has part `cta` of a multicast issues it.
struct TmaInstructionText {
  int cta = 0;
  std::int64_t index = 0;  // in the order of that CTA
  std::int64_t coordinates[kTmaMaxRank] = {0, 0, 0, 0, 0};
  std::int64_t shared_offset = 0;  // bytes from the start of the tile, before the swizzle
  std::int64_t bytes = 0;          // moved, filled ones included
  std::int64_t bytes_inside = 0;   // of them, those that lie in the tensor; all of them while the plan is not bound
  std::uint16_t cta_mask = 0;      // 0 where the instruction takes none
};

struct TmaExplainOptions {
  IntTuple tile = make_coord(_0);          // which tile: its coordinate, missing entries are 0
  std::int64_t most_instructions = 16384;  // in the list; shared memory holds no tile that takes more
};

struct TmaExplanation {
  TmaPlan plan;
  std::vector<TmaObjection> objections;  // every reason why the plan does not run
  std::vector<TmaStepText> steps;        // as far as planning came
  std::vector<TmaFieldText> fields;      // empty where planning did not come as far as a tensor map
  std::string ptx;                       // the instruction's opcode
  IntTuple tile;                         // the coordinate of the tile that the instructions move
  TmaCoordinates origin;                 // and where it starts
  std::vector<TmaInstructionText> instructions;
  std::int64_t instruction_count = 0;  // of all CTAs together; the list may be shorter
  std::int64_t tile_bytes = 0;         // that a CTA receives or sends, and what its barrier expects
  std::int64_t shared_bytes = 0;       // of shared memory that the tile takes: more with gaps, less with stride 0
  std::int64_t alignment = 0;          // of the shared tile, in bytes
  SharedTile shared;                   // the tile as rows and columns
  SharedReads reads;
  std::vector<TmaAdvice> advice;

  bool ok() const { return plan.ok(); }
  // There is a box that moves the tile, although Hopper may not run it: instructions and advice are about that.
  bool has_box() const { return !plan.refused; }
};

namespace tma_detail {

inline std::vector<TmaObjection> objections_of(const TmaPlan& plan) {
  std::vector<TmaObjection> out;
  for (const TmaReason& r : plan.reasons) {
    out.push_back({entry_of(r.rule).name, verdict_of(r) == TmaVerdict::not_on_hopper, describe(r).c_str()});
  }
  if (plan.reasons.left_out() > 0) out.push_back({"more_reasons", false, describe_left_out(plan.reasons).c_str()});
  for (const TmaViolation& v : check_map(plan)) {
    const TmaVerdict verdict = verdict_of(v);
    if (verdict == TmaVerdict::legal) continue;
    out.push_back({entry_of(v.rule).name, verdict == TmaVerdict::not_on_hopper, describe(v).c_str()});
  }
  return out;
}

// Whether the operands themselves were refused, so that there is not even a tile.
inline bool stopped_before_tile(const TmaReasons& reasons) {
  return reasons.has(TmaPlanRule::gmem_invalid) || reasons.has(TmaPlanRule::smem_invalid) ||
         reasons.has(TmaPlanRule::tiler_rank);
}

inline std::vector<TmaStepText> steps_of(const TmaPlan& plan, const TmaGbasisSteps& steps) {
  std::vector<TmaStepText> out;
  const auto add = [&out](const char* name, std::string what, std::string value) {
    out.push_back({name, std::move(what), std::move(value)});
  };
  if (!plan.cta_v_map.ok() || stopped_before_tile(plan.reasons)) return out;
  add("cta_v_map", "tile index -> global coordinate", text_of(plan.cta_v_map));
  if (steps.reached < 3) return out;
  add("inv_smem_layout", "shared index -> tile index: the shared layout inverted, its swizzle left to the hardware",
      text_of(steps.inv_smem_layout));
  add("sidx2gmode_full", "shared index -> global mode", text_of(steps.sidx2gmode_full));
  if (steps.reached < 4) return out;
  add("sidx2gmode",
      "the first " + counted(steps.smem_rank, "mode") + " of " + number(rank(steps.sidx2gmode_full)) +
          ", walked in steps of one: what a box can hold",
      text_of(steps.sidx2gmode));
  if (steps.reached < 7) return out;
  add("tile_gstride", "the same modes with their global strides, in TMA elements", text_of(steps.tile_gstride));
  add("tma_gstride", "neighbours merged, up to 256 elements a dimension", text_of(steps.tma_gstride));
  add("tma_gbasis_tile", "the same grouping, with the global modes that it names", text_of(steps.tma_gbasis_tile));
  add("tma_gbasis", "followed by the global modes that the tile does not touch; at most 5 dimensions",
      text_of(plan.tma_gbasis));
  if (plan.num_bits_per_tma == 0) return out;
  add("box",
      plan.num_multicast > 1 ? "of one instruction: each of " + number(plan.num_multicast) + " CTAs moves its part"
                             : "of one instruction",
      list_of(plan.descriptor.box, clamped_rank(plan.descriptor)));
  add("tma_tensor_stride", "global mode -> TMA coordinate", text_of(plan.tma_tensor_stride));
  return out;
}

inline TmaKnownDims known_dims(const TmaPlan& plan) {
  const TmaGmemModes dims = fill_tma_gmem_shape_stride(TmaGmodes(plan.gmem, plan.units()), plan.tma_gbasis);
  TmaKnownDims out;
  for (int i = 0; i < dims.rank; ++i) {
    out.dims[i] = dims.shape_decided[i];
    if (i > 0) out.strides[i - 1] = dims.stride_decided[i];
  }
  return out;
}

// Bytes of the box at these coordinates, which are not negative, that lie in the tensor.
inline std::int64_t bytes_inside(const TmaDescriptorParams& map, const std::int64_t* at) {
  std::int64_t elements = 1;
  for (int i = 0; i < clamped_rank(map); ++i) {
    const std::int64_t end = at[i] + std::int64_t{map.box[i]};
    const auto dim = static_cast<std::int64_t>(map.dims[i]);
    const std::int64_t last = end < dim ? end : dim;
    elements *= last > at[i] ? last - at[i] : 0;
  }
  return elements * element_bits(map.data_type) / 8;
}

inline void list_instructions(const TmaExplainOptions& options, TmaExplanation& out) {
  const TmaPlan& plan = out.plan;
  const TmaTileWalk walk(plan);
  const std::int64_t count = walk.count();
  const auto ctas = static_cast<std::int64_t>(plan.num_multicast);
  out.instruction_count = count * ctas;
  const bool multicast = is_multicast(plan.op);
  const std::uint16_t mask = multicast ? create_tma_multicast_mask(make_layout(Int(ctas)), _) : std::uint16_t{0};
  for (std::int64_t cta = 0; cta < ctas; ++cta) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (static_cast<std::int64_t>(out.instructions.size()) == options.most_instructions) return;
      const TmaInstruction at = walk.at(i, cta);
      TmaInstructionText text{.cta = static_cast<int>(cta), .index = i, .shared_offset = at.shared_offset};
      for (int k = 0; k < kTmaMaxRank; ++k) text.coordinates[k] = at.coordinates[k] + out.origin.values[k];
      text.bytes = at.bytes;
      text.bytes_inside = plan.bound ? bytes_inside(plan.descriptor, text.coordinates) : at.bytes;
      text.cta_mask = mask;
      out.instructions.push_back(text);
    }
  }
}

// Instructions can be listed: every step along the global tensor is known, and the tile is one that memory could hold.
inline bool can_be_listed(const TmaPlan& plan) {
  if (!can_be_addressed(plan.smem.layout())) return false;
  const TupleView t = plan.tma_tensor_stride;
  for (int i = 0; i < t.nodes(); ++i) {
    if (t.node_is_leaf(i) && !t.node_leaf(i).is_known()) return false;
  }
  return plan.tma_tensor_stride.ok();
}

}  // namespace tma_detail

inline TmaExplanation explain(const TmaPlan& plan, const TmaExplainOptions& options = {}) {
  TmaExplanation out;
  out.plan = plan;
  out.objections = tma_detail::objections_of(plan);
  const TmaGbasisSteps steps = gbasis_steps(plan);
  out.steps = tma_detail::steps_of(plan, steps);
  if (plan.num_bits_per_tma == 0) return out;

  out.fields = explain_fields(plan.descriptor, tma_detail::known_dims(plan));
  if (plan.refused) return out;

  out.ptx = ptx_name(plan.op, clamped_rank(plan.descriptor));
  out.tile = append(options.tile, Int::fixed(0), rank(plan.gmem));
  out.tile_bytes = detail::bits_of(size(plan.cta_v_map), element_bits(plan.element)) / 8;
  out.shared_bytes = shared_bytes_of(plan.smem);
  out.alignment = shared_alignment(plan.descriptor.swizzle);
  if (tma_detail::can_be_listed(plan)) {
    out.origin = tile_origin(plan, options.tile);
    tma_detail::list_instructions(options, out);
  }
  out.shared = make_shared_tile(plan.smem, product_each(plan.cta_v_map.shape()));
  out.reads = shared_reads(out.shared);
  out.advice = advise({.op = plan.op,
                       .map = plan.descriptor,
                       .bound = plan.bound,
                       .tile = out.shared,
                       .shared_bytes = out.shared_bytes,
                       .violations = check_map(plan)});
  for (TmaAdvice& a : advise_plan(plan, steps)) out.advice.push_back(std::move(a));
  return out;
}

}  // namespace gantry

// What a plan of a TMA copy is asked with, and what it is: a value with named fields, whose structure depends only on
// static leaves. `tma/plan.hpp` makes it.
//
// Example:
//     using namespace gantry;
//     constexpr TmaCopyRequest request{
//         .op = TmaOp::store,
//         .gtensor = {.element = ElementType::f32, .layout = make_layout(make_shape(1024, 256), make_stride(256, _1))},
//         .smem = make_layout(make_shape(_64, _32), LayoutRight{})};
//     constexpr TmaPlan nothing_planned;
//     static_assert(!nothing_planned.bound && nothing_planned.elements_per_tma() == 0);
#pragma once

#include <gantry/tma/copy_desc.hpp>
#include <gantry/tma/operations.hpp>
#include <gantry/tma/rules.hpp>
#include <gantry/tma/tiled_copy.hpp>

namespace gantry {

// A tiler of `_` means a tile as large as the shared layout, mode by mode.
struct TmaCopyRequest {
  TmaOp op = TmaOp::load;
  GlobalTensor gtensor{};
  ComposedLayout smem{};  // one tile
  Tiler cta_tiler{_};
  std::int64_t num_multicast = 1;                // CTAs that share one tile
  ElementType tma_element = ElementType::void_;  // what the instruction moves; void: the value type
};

struct [[nodiscard]] TmaPlan {
  TmaOp op = TmaOp::load;
  ElementType element = ElementType::void_;
  ElementType tma_element = ElementType::void_;
  std::uint32_t num_multicast = 1;    // 1 where that many cannot share the copy
  Layout gmem;                        // values
  ComposedLayout smem;                // values, one tile; the swizzle on bytes
  Tiler cta_tiler{_};                 // the tile, mode by mode of the global tensor
  Layout cta_v_map;                   // tile index -> global coordinate
  Layout tma_gbasis;                  // TMA mode -> global mode, with the box before it is divided among CTAs
  IntTuple tma_tensor_stride;         // global mode -> TMA coordinate
  TmaDescriptorParams descriptor;     // the box is that of one CTA
  std::int64_t num_bits_per_tma = 0;  // the whole box, before it is divided; 0 if there is no box
  bool bound = false;                 // extents and strides of the tensor map are known
  bool without_box = false;           // there is no box: the tensor map holds what needs none, to be judged
  bool tile_reproduced = false;       // box and strides address exactly the tile; meaningful once bound
  bool refused = false;               // a rule of planning or of tensor maps is broken
  bool not_on_hopper = false;         // the plan stands, and Hopper does not run it
  TmaReasons reasons;
  int structural_reasons = 0;  // the first of them do not depend on run-time values

  // Hopper runs the plan.
  GANTRY_HD constexpr bool ok() const noexcept { return !refused && !not_on_hopper; }

  GANTRY_HD constexpr TmaUnits units() const noexcept { return {element_bits(element), element_bits(tma_element)}; }
  // Values that one instruction moves before the box is divided among CTAs.
  GANTRY_HD constexpr std::int64_t elements_per_tma() const noexcept {
    const int bits = element_bits(element);
    return bits > 0 ? num_bits_per_tma / bits : 0;
  }
  // Bytes that one instruction moves, and credits to the barrier of every CTA that it reaches.
  GANTRY_HD constexpr std::int64_t bytes_per_instruction() const noexcept {
    return num_bits_per_tma / 8 / static_cast<std::int64_t>(num_multicast);
  }
};

// All intermediate values, for reports and comparisons.
struct TmaPlanSteps {
  TmaGbasisSteps gbasis;
  Layout val_layout_src;
  TmaTiledCopy tiled_copy;
};

// ---- What a broken rule means for a plan

enum class TmaVerdict : std::uint8_t { refused, not_on_hopper, legal };

GANTRY_HD constexpr TmaVerdict verdict_of(const TmaReason& reason) noexcept {
  return reason.weight() == RuleWeight::refused ? TmaVerdict::refused : TmaVerdict::not_on_hopper;
}

GANTRY_HD constexpr TmaVerdict verdict_of(const TmaViolation& violation) noexcept {
  switch (violation.rule) {
    case TmaRule::data_type_not_on_hopper:
    case TmaRule::swizzle_not_on_hopper:
    case TmaRule::box_bytes_too_large:
    case TmaRule::box_exceeds_shared_memory:
    case TmaRule::tile_exceeds_shared_memory:
    case TmaRule::store_overlaps_itself:
      return TmaVerdict::not_on_hopper;
    default:
      return violation.severity() == TmaSeverity::pitfall ? TmaVerdict::legal : TmaVerdict::refused;
  }
}

}  // namespace gantry

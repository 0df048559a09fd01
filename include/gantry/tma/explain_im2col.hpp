// An im2col plan that explains itself: the matrix that a convolution becomes, the tensor map, the instructions that
// load one tile of pixels, advice; and for a plan that does not run, every reason.
//
// Example:
//     using namespace gantry;
//     constexpr Convolution conv{.data_type = TmaDataType::f16,
//                                .spatial_rank = 2,
//                                .images = 8,
//                                .channels = 64,
//                                .extent = {56, 56},
//                                .filter = {3, 3},
//                                .pad_lower = {1, 1},
//                                .pad_upper = {1, 1}};
//     const Im2colExplanation e =
//         explain(plan_im2col(conv, {.channels = 64, .pixels = 128, .swizzle = TmaSwizzle::bytes_128}));
//     // e.ok(), e.instructions.size() == 9: one for each tap; e.instructions[0].pixels_inside < 128: padding is filled
#pragma once

#include <gantry/tma/explain_advice.hpp>
#include <gantry/tma/im2col.hpp>

namespace gantry {

// What one CTA moves of one tap and one tile of channels.
struct Im2colInstructionText {
  int cta = 0;
  std::int32_t tap[kTmaMaxSpatialRank] = {0, 0, 0};  // W, H, D
  std::int64_t channel_tile = 0;
  std::int32_t coordinates[kTmaMaxRank] = {0, 0, 0, 0, 0};  // C, W, H, D, N
  std::uint16_t offsets[kTmaMaxSpatialRank] = {0, 0, 0};    // W, H, D
  std::int64_t shared_offset = 0;                           // bytes into the shared tile
  std::int64_t bytes = 0;
  std::int64_t pixels_inside = 0;  // of the column; the others are padding or past the last image
  std::uint16_t cta_mask = 0;      // who receives it; 0 for one CTA alone
};

struct Im2colExplainOptions {
  std::int64_t pixel_tile = 0;
  std::int64_t most_instructions = 4096;  // in the list
};

struct Im2colExplanation {
  Im2colPlan plan;
  std::vector<TmaObjection> objections;
  std::vector<TmaStepText> steps;
  std::vector<TmaFieldText> fields;
  std::string ptx;
  std::int64_t pixel_tile = 0;
  std::vector<Im2colInstructionText> instructions;
  std::int64_t instruction_count = 0;  // for one tile of pixels; the list may be shorter
  std::int64_t shared_bytes = 0;       // of shared memory, gaps included
  std::int64_t alignment = 0;
  SharedTile shared;
  SharedReads reads;
  std::vector<TmaAdvice> advice;

  bool ok() const { return plan.ok(); }
};

namespace tma_detail {

inline std::vector<TmaObjection> objections_of(const Im2colPlan& plan) {
  std::vector<TmaObjection> out;
  for (const TmaViolation& v : plan.violations) {
    if (v.severity() == TmaSeverity::pitfall) continue;
    out.push_back({entry_of(v.rule).name, false, describe(v).c_str()});
  }
  return out;
}

inline std::vector<TmaStepText> steps_of(const Im2colPlan& plan) {
  const int axes = spatial_rank(plan.map);
  std::string box, taps;
  for (int axis = 0; axis < axes; ++axis) {
    const TmaRange range = pixel_box(plan.map, axis);
    box += (axis > 0 ? ", " : "") + std::string(1, "WHD"[axis]) + " from " + number(range.first) + " to " +
           number(range.last) + " by " + number(plan.map.element_strides[axis + 1]);
    taps += (axis > 0 ? ", " : "") + std::string(1, "WHD"[axis]);
    for (std::int32_t t = 0; t < plan.filter[axis] && t < 8; ++t) taps += ' ' + number(t * plan.dilation[axis]);
    if (plan.filter[axis] > 8) taps += " ... " + number((plan.filter[axis] - 1) * plan.dilation[axis]);
  }
  const auto channels = static_cast<std::int64_t>(plan.map.dims[0]);
  std::vector<TmaStepText> out{
      {"output", "output pixels along W, H, D of each image", list_of(plan.output, axes)},
      {"matrix", "rows are output pixels, columns are taps x channels",
       number(plan.pixels()) + " x " + number(plan.taps() * channels)},
      {"pixel_box", "where the first tap walks over the tensor, padding included", box},
  };
  if (!is_store(plan.op)) {
    out.push_back({"tap_offsets", "how far each tap is from the first, given with every instruction", taps});
  }
  out.push_back({"tiles",
                 plan.ctas > 1 ? "tiles of pixels, taps, tiles of channels: one instruction of each CTA"
                               : "tiles of pixels, taps, tiles of channels: one instruction each",
                 number(plan.pixel_tiles()) + " x " + number(plan.taps()) + " x " + number(plan.channel_tiles())});
  return out;
}

// Pixels of the tile's column that lie in the tensor under one tap.
inline std::int64_t pixels_inside(const Im2colPlan& plan, std::int64_t first, const std::uint16_t* offsets) {
  const int axes = spatial_rank(plan.map);
  std::int64_t inside = 0;
  const std::int64_t past = first + plan.map.pixels_per_column;
  for (std::int64_t pixel = first; pixel < past && pixel < plan.pixels(); ++pixel) {
    const Im2colStart at = im2col_start(plan, pixel);
    bool in = true;
    for (int axis = 0; axis < axes; ++axis) {
      const std::int64_t x = std::int64_t{at.coordinates[axis + 1]} + offsets[axis];
      in = in && x >= 0 && x < static_cast<std::int64_t>(plan.map.dims[axis + 1]);
    }
    inside += in ? 1 : 0;
  }
  return inside;
}

// The CTAs of a tile beside each other, then tiles of channels, then taps.
inline void list_instructions(const Im2colExplainOptions& options, Im2colExplanation& out) {
  const Im2colPlan& plan = out.plan;
  out.instruction_count = plan.taps() * plan.channel_tiles() * plan.ctas;
  const auto everyone = static_cast<std::uint16_t>((1U << plan.ctas) - 1);
  for (std::int64_t i = 0; i < out.instruction_count && i < options.most_instructions; ++i) {
    Im2colTileIndex index{.pixel_tile = out.pixel_tile,
                          .channel_tile = i / plan.ctas % plan.channel_tiles(),
                          .cta = static_cast<std::int32_t>(i % plan.ctas)};
    std::int64_t rest = i / plan.ctas / plan.channel_tiles();
    for (int axis = 0; axis < spatial_rank(plan.map); ++axis) {
      index.tap[axis] = static_cast<std::int32_t>(rest % plan.filter[axis]);
      rest /= plan.filter[axis];
    }
    const TmaIssue issue = is_store(plan.op) ? im2col_store(plan, index) : im2col_load(plan, index);
    Im2colInstructionText text{.cta = index.cta, .channel_tile = index.channel_tile};
    for (int k = 0; k < kTmaMaxRank; ++k) text.coordinates[k] = issue.coordinates[k];
    for (int k = 0; k < kTmaMaxSpatialRank; ++k) {
      text.tap[k] = index.tap[k];
      text.offsets[k] = issue.offsets[k];
    }
    text.shared_offset = static_cast<std::int64_t>(issue.shared_address);
    text.bytes = static_cast<std::int64_t>(transaction_bytes(plan.map));
    const std::int64_t first =
        out.pixel_tile * plan.tile_pixels() + std::int64_t{index.cta} * plan.map.pixels_per_column;
    text.pixels_inside = pixels_inside(plan, first, text.offsets);
    text.cta_mask = is_multicast(plan.op) ? everyone : std::uint16_t{0};
    out.instructions.push_back(text);
  }
}

inline void advise_tiles(const Im2colPlan& plan, std::vector<TmaAdvice>& out) {
  const bool stores = is_store(plan.op);
  const auto channels = static_cast<std::int64_t>(plan.map.dims[0]);
  const std::int64_t per_tile = plan.map.channels_per_pixel;
  if (channels % per_tile != 0) {
    out.push_back(
        {"edge_channels", channels < per_tile ? TmaAdviceLevel::warning : TmaAdviceLevel::note,
         "tiles of " + number(per_tile) + " channels do not divide the " + number(channels) + " of the tensor",
         stores ? "the last tile of channels holds some that are not stored"
                : "the last tile of channels is filled beyond them, for every tap",
         "choose channels per pixel that divide " + number(channels)});
  }
  if (plan.pixels() % plan.tile_pixels() != 0) {
    out.push_back({"edge_pixels", TmaAdviceLevel::note,
                   "tiles of " + number(plan.tile_pixels()) + " pixels do not divide the " + number(plan.pixels()) +
                       " of the output",
                   stores ? "the last tile goes on past the last image, and nothing is stored there"
                          : "the last tile goes on past the last image and is filled there",
                   "nothing needs to change for correctness"});
  }
}

}  // namespace tma_detail

// How a tile lies in shared memory: a row for each pixel, spaced by the swizzle's span where that is wider.
inline ComposedLayout im2col_shared_layout(const Im2colPlan& plan) {
  const TmaDescriptorParams& map = plan.map;
  const auto bytes = static_cast<std::int64_t>(element_bytes(map.data_type));
  const Int pitch = Int::fixed(bytes > 0 ? static_cast<std::int64_t>(shared_row_pitch(map)) / bytes : 1);
  const Layout rows = make_layout(make_shape(Int::fixed(plan.tile_pixels()), Int::fixed(map.channels_per_pixel)),
                                  make_stride(pitch, Int::fixed(1)));
  return ComposedLayout(Swizzle(static_cast<int>(map.swizzle), 4, 3), Int::fixed(0), rows, element_bits(map.data_type));
}

// Requires a pixel tile of the plan.
inline Im2colExplanation explain(const Im2colPlan& plan, const Im2colExplainOptions& options = {}) {
  Im2colExplanation out;
  out.plan = plan;
  out.objections = tma_detail::objections_of(plan);
  out.fields = explain_fields(plan.map);
  if (!plan.ok()) return out;

  out.steps = tma_detail::steps_of(plan);
  out.ptx = ptx_name(plan.op, clamped_rank(plan.map));
  out.pixel_tile = options.pixel_tile;
  out.shared_bytes = static_cast<std::int64_t>(shared_row_pitch(plan.map)) * plan.tile_pixels();
  out.alignment = shared_alignment(plan.map.swizzle);
  tma_detail::list_instructions(options, out);
  const ComposedLayout smem = im2col_shared_layout(plan);
  out.shared = make_shared_tile(smem, smem.shape());
  out.reads = shared_reads(out.shared);
  out.advice = advise({.op = plan.op,
                       .map = plan.map,
                       .tile = out.shared,
                       .shared_bytes = out.shared_bytes,
                       .violations = plan.violations});
  tma_detail::advise_tiles(plan, out.advice);
  return out;
}

}  // namespace gantry

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

// The load of one tap and one tile of channels.
struct Im2colInstructionText {
  std::int32_t tap[kTmaMaxSpatialRank] = {0, 0, 0};  // W, H, D
  std::int64_t channel_tile = 0;
  std::int32_t coordinates[kTmaMaxRank] = {0, 0, 0, 0, 0};  // C, W, H, D, N
  std::uint16_t offsets[kTmaMaxSpatialRank] = {0, 0, 0};    // W, H, D
  std::int64_t bytes = 0;
  std::int64_t pixels_inside = 0;  // of the column; the others are padding or past the last image
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
  return {
      {"output", "output pixels along W, H, D of each image", list_of(plan.output, axes)},
      {"matrix", "rows are output pixels, columns are taps x channels",
       number(plan.pixels()) + " x " + number(plan.taps() * channels)},
      {"pixel_box", "where the first tap walks over the tensor, padding included", box},
      {"tap_offsets", "how far each tap is from the first, given with every instruction", taps},
      {"tiles", "tiles of pixels, taps, tiles of channels: one instruction each",
       number(plan.pixel_tiles()) + " x " + number(plan.taps()) + " x " + number(plan.channel_tiles())},
  };
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

inline void list_instructions(const Im2colExplainOptions& options, Im2colExplanation& out) {
  const Im2colPlan& plan = out.plan;
  out.instruction_count = plan.taps() * plan.channel_tiles();
  for (std::int64_t i = 0; i < out.instruction_count && i < options.most_instructions; ++i) {
    Im2colTileIndex index{.pixel_tile = out.pixel_tile, .channel_tile = i % plan.channel_tiles()};
    std::int64_t rest = i / plan.channel_tiles();
    for (int axis = 0; axis < spatial_rank(plan.map); ++axis) {
      index.tap[axis] = static_cast<std::int32_t>(rest % plan.filter[axis]);
      rest /= plan.filter[axis];
    }
    const TmaIssue issue = im2col_load(plan, index);
    Im2colInstructionText text{.channel_tile = index.channel_tile};
    for (int k = 0; k < kTmaMaxRank; ++k) text.coordinates[k] = issue.coordinates[k];
    for (int k = 0; k < kTmaMaxSpatialRank; ++k) {
      text.tap[k] = index.tap[k];
      text.offsets[k] = issue.offsets[k];
    }
    text.bytes = static_cast<std::int64_t>(transaction_bytes(plan.map));
    text.pixels_inside = pixels_inside(plan, out.pixel_tile * plan.map.pixels_per_column, text.offsets);
    out.instructions.push_back(text);
  }
}

inline void advise_tiles(const Im2colPlan& plan, std::vector<TmaAdvice>& out) {
  const auto channels = static_cast<std::int64_t>(plan.map.dims[0]);
  const std::int64_t per_tile = plan.map.channels_per_pixel;
  if (channels % per_tile != 0) {
    out.push_back(
        {"edge_channels", channels < per_tile ? TmaAdviceLevel::warning : TmaAdviceLevel::note,
         "tiles of " + number(per_tile) + " channels do not divide the " + number(channels) + " of the tensor",
         "the last tile of channels is filled beyond them, for every tap",
         "choose channels per pixel that divide " + number(channels)});
  }
  if (plan.pixels() % plan.map.pixels_per_column != 0) {
    out.push_back({"edge_pixels", TmaAdviceLevel::note,
                   "tiles of " + number(plan.map.pixels_per_column) + " pixels do not divide the " +
                       number(plan.pixels()) + " of the output",
                   "the last tile goes on past the last image and is filled there",
                   "nothing needs to change for correctness"});
  }
}

}  // namespace tma_detail

// How a tile lies in shared memory: a row for each pixel, spaced by the swizzle's span where that is wider.
inline ComposedLayout im2col_shared_layout(const TmaDescriptorParams& map) {
  const auto bytes = static_cast<std::int64_t>(element_bytes(map.data_type));
  const Int pitch = Int::fixed(bytes > 0 ? static_cast<std::int64_t>(shared_row_pitch(map)) / bytes : 1);
  const Layout rows = make_layout(make_shape(Int::fixed(map.pixels_per_column), Int::fixed(map.channels_per_pixel)),
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
  out.ptx = ptx_name(TmaOp::load_im2col, clamped_rank(plan.map));
  out.pixel_tile = options.pixel_tile;
  out.shared_bytes = static_cast<std::int64_t>(shared_row_pitch(plan.map)) * plan.map.pixels_per_column;
  out.alignment = shared_alignment(plan.map.swizzle);
  tma_detail::list_instructions(options, out);
  const ComposedLayout smem = im2col_shared_layout(plan.map);
  out.shared = make_shared_tile(smem, smem.shape());
  out.reads = shared_reads(out.shared);
  out.advice =
      advise({.op = TmaOp::load_im2col, .map = plan.map, .tile = out.shared, .shared_bytes = out.shared_bytes});
  tma_detail::advise_tiles(plan, out.advice);
  return out;
}

}  // namespace gantry

// Where every 16 bytes of a shared tile come from or go to: the pieces that a swizzle moves, each with the element of
// the tile and of the global tensor that it starts with, and the instruction that moves it.
//
// Guarantees: chunk i of the list is byte 16 * i of a tile that starts at a multiple of the swizzle's period. Chunks
// that the shared layout leaves out have no instruction.
//
// Example:
//     using namespace gantry;
//     const TmaPlan plan = make_tma_copy(
//         TmaOp::load, {.element = ElementType::bf16, .layout = make_layout(make_shape(256, 512), make_stride(512, _1))},
//         ComposedLayout(make_swizzle(SwizzleMode::b128), _0, make_layout(make_shape(_8, _64), LayoutRight{}), 16));
//     const std::vector<SharedChunk> chunks = shared_chunks(explain(plan));
//     // chunks[8].global == {1, 8}: the swizzle has exchanged the first two chunks of row 1
#pragma once

#include <gantry/tma/explain.hpp>
#include <gantry/tma/explain_im2col.hpp>

namespace gantry {

struct SharedChunk {
  static constexpr std::int32_t kNone = -1;

  std::int32_t instruction = kNone;  // its place in the explanation's list
  std::int64_t tile_index = 0;       // of the chunk's first element
  std::int64_t row = 0;              // of the picture that the shared tile is
  std::int64_t column = 0;           // chunks from the start of the row
  std::vector<std::int64_t> global;  // coordinate of the first element, one entry for each leaf of the global shape
  std::int64_t global_byte = 0;      // from the tensor's address on
  bool inside = true;                // the first element lies in the tensor
};

// More are not listed: no block has shared memory for them.
inline constexpr std::int64_t kMostSharedChunks = static_cast<std::int64_t>(kSharedBytesPerBlock) / kSharedChunkBytes;

namespace tma_detail {

inline std::vector<std::int64_t> leaves_of(TupleView t) {
  std::vector<std::int64_t> out;
  for (int i = 0; i < t.nodes(); ++i) {
    if (t.node_is_leaf(i)) out.push_back(t.node_leaf(i).value());
  }
  return out;
}

class ChunkLister {
 public:
  explicit ChunkLister(const TmaExplanation& e) : e_(e), plan_(e.plan), bits_(element_bits(e.plan.element)) {}

  std::vector<SharedChunk> run() {
    if (!can_be_listed()) return {};
    out_.resize(static_cast<std::size_t>(count_));
    place_elements();
    place_instructions();
    return std::move(out_);
  }

 private:
  bool can_be_listed() {
    const Layout& smem = plan_.smem.layout();
    if (is_prefetch(plan_.op) || !e_.has_box() || !plan_.bound || e_.instructions.empty() || bits_ == 0 ||
        128 % bits_ != 0)
      return false;
    if (!can_be_addressed(smem) || !plan_.smem.swizzle().ok() || !plan_.smem.offset().is_fixed(0)) return false;
    if (cosize(smem) > kMostSharedChunks * 128 / bits_ || plan_.smem.swizzle().period() > 1024) return false;
    // A swizzle stays within its period, and the last one may be incomplete.
    const std::int64_t period = plan_.smem.swizzle().period() < 16 ? 16 : plan_.smem.swizzle().period();
    count_ = ((cosize(smem) * bits_ + 7) / 8 + period - 1) / period * period / kSharedChunkBytes;
    return true;
  }

  std::size_t chunk_of(std::int64_t byte) const {
    return static_cast<std::size_t>(plan_.smem.swizzle()(byte) / kSharedChunkBytes);
  }

  void place_elements() {
    const PlacedLayout whole = get_global_coordinates();
    const PlacedLayout tile = local_tile(whole, plan_.cta_tiler, e_.tile);
    const Layout& smem = plan_.smem.layout();
    const std::int64_t elements = size(smem);
    for (std::int64_t i = 0; i < elements; ++i) {
      const std::int64_t bit = smem(i) * bits_;
      if (bit < 0 || bit % (8 * kSharedChunkBytes) != 0) continue;
      SharedChunk& chunk = out_[chunk_of(bit / 8)];
      const IntTuple at = add(tile.origin, plan_.cta_v_map.at(Int(i)));
      const IntTuple offset = plan_.gmem.at(at);
      chunk.tile_index = i;
      chunk.global = leaves_of(at);
      chunk.global_byte = offset.is_leaf() ? detail::bits_of(offset.leaf().value(), bits_) / 8 : 0;
      chunk.inside = is_inside(chunk.global);
      place_in_picture(chunk, i);
    }
  }

  PlacedLayout get_global_coordinates() const {
    const Layout identity = make_identity_layout(plan_.gmem.shape());
    return {coprofile(identity), identity};
  }

  bool is_inside(const std::vector<std::int64_t>& at) const {
    const std::vector<std::int64_t> extents = leaves_of(plan_.gmem.shape());
    for (std::size_t i = 0; i < at.size() && i < extents.size(); ++i) {
      if (at[i] < 0 || at[i] >= extents[i]) return false;
    }
    return true;
  }

  // Modes that are not in the picture count as further rows.
  void place_in_picture(SharedChunk& chunk, std::int64_t index) const {
    const SharedTile& t = e_.shared;
    if (t.row_mode < 0) return;
    const std::int64_t k = index / t.row_step % t.row_elements;
    chunk.column = k / t.chunk_elements();
    const std::int64_t low = index % t.row_step;
    const std::int64_t high = index / (t.row_step * t.row_elements);
    chunk.row = low + high * t.row_step;
  }

  void place_instructions() {
    for (std::size_t i = 0; i < e_.instructions.size(); ++i) {
      const TmaInstructionText& at = e_.instructions[i];
      for (std::int64_t byte = 0; byte < at.bytes; byte += kSharedChunkBytes) {
        const std::size_t chunk = chunk_of(at.shared_offset + byte);
        if (chunk < out_.size()) out_[chunk].instruction = static_cast<std::int32_t>(i);
      }
    }
  }

  const TmaExplanation& e_;
  const TmaPlan& plan_;
  int bits_;
  std::int64_t count_ = 0;
  std::vector<SharedChunk> out_;
};

}  // namespace tma_detail

// Empty where there is nothing to list: no box, no shared memory, a tensor that is not bound, a
// tile larger than shared memory.
inline std::vector<SharedChunk> shared_chunks(const TmaExplanation& e) { return tma_detail::ChunkLister(e).run(); }

// The tile of the first tap and the first channels. Rows are pixels, `global` is C, W, H, D, N as the instruction names
// them; another tap adds its offsets to the pixels and another tile of channels its first to C.
inline std::vector<SharedChunk> shared_chunks(const Im2colExplanation& e) {
  const Im2colPlan& plan = e.plan;
  const auto bytes = static_cast<std::int64_t>(element_bytes(plan.map.data_type));
  const auto pitch = static_cast<std::int64_t>(plan.ok() ? shared_row_pitch(plan.map) : 0);
  const Swizzle swizzle(static_cast<int>(plan.map.swizzle), 4, 3);
  const std::int64_t count =
      (e.shared_bytes + swizzle.period() - 1) / swizzle.period() * swizzle.period() / kSharedChunkBytes;
  if (!plan.ok() || is_prefetch(plan.op) || count > kMostSharedChunks) return {};
  std::vector<SharedChunk> out(static_cast<std::size_t>(count));
  const int rank = clamped_rank(plan.map);
  for (std::int64_t row = 0; row < plan.tile_pixels(); ++row) {
    const Im2colStart at = im2col_start(plan, e.pixel_tile * plan.tile_pixels() + row);
    for (std::int64_t column = 0; column * kSharedChunkBytes < inner_bytes(plan.map); ++column) {
      SharedChunk& chunk =
          out[static_cast<std::size_t>(swizzle(row * pitch + column * kSharedChunkBytes) / kSharedChunkBytes)];
      chunk.instruction = static_cast<std::int32_t>(row / plan.map.pixels_per_column);
      chunk.tile_index = row + column * kSharedChunkBytes / bytes * plan.tile_pixels();
      chunk.row = row;
      chunk.column = column;
      for (int i = 0; i < rank; ++i) {
        const std::int64_t c = i == 0 ? column * kSharedChunkBytes / bytes : at.coordinates[i];
        chunk.global.push_back(c);
        chunk.global_byte += c * (i == 0 ? bytes : static_cast<std::int64_t>(plan.map.strides[i - 1]));
        chunk.inside = chunk.inside && c >= 0 && c < static_cast<std::int64_t>(plan.map.dims[i]);
      }
    }
  }
  return out;
}

}  // namespace gantry

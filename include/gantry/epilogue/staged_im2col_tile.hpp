// A ring of subtiles whose tensor in global memory is that of a convolution, NWC, NHWC or NDHWC: rows are pixels,
// counted along W first, then H, D and the images; columns are channels. In shared memory and registers it is a
// StagedTile.
//
// `Shape` is that of a StagedTile, and has `spatial_rank`. One instruction moves the pixels of a subtile by the
// channels of a swizzled row; pixels past the last one and channels beyond the tensor's are clipped by the map.
//
// Example at namespace scope:
//     struct ImagesShape {
//       static constexpr gantry::Subtiles tile{.m = 128, .n = 128, .epi_m = 64, .epi_n = 64, .warpgroups = 1};
//       static constexpr gantry::ElementType element = gantry::ElementType::f32;
//       static constexpr bool row_major = true;
//       static constexpr int stages = 2;
//       static constexpr int spatial_rank = 2;
//     };
//     using Images = gantry::StagedIm2colTile<ImagesShape>;
//     static_assert(Images::kInstructions == 2 && Images::kChannels == 32);
#pragma once

#include <gantry/arch/bulk_tensor_im2col.hpp>
#include <gantry/epilogue/staged_tile.hpp>
#include <gantry/epilogue/tensor_params.hpp>

namespace gantry {

template <class Shape>
struct StagedIm2colTile : StagedTile<Shape> {
  using Base = StagedTile<Shape>;
  using Element = typename Base::Element;
  using Map = Im2colMap;
  static_assert(Shape::row_major, "gantry: the channels of a convolution's tensor lie side by side");

  // The box of the matrix that the tensor would be if it were packed.
  template <TmaOp kOp>
  using MatrixPlan = typename Base::template Plan<kOp == TmaOp::load_im2col ? TmaOp::load : TmaOp::store>;
  static constexpr int kRank = Shape::spatial_rank + 2;
  static constexpr int kPixels = Base::kBox.m;
  static constexpr int kChannels = static_cast<int>(MatrixPlan<TmaOp::load_im2col>::value.descriptor.box[0]);
  static constexpr int kInstructions = Base::kBox.n / kChannels;  // of a box
  static constexpr TmaDataType kDataType = MatrixPlan<TmaOp::load_im2col>::value.descriptor.data_type;
  static constexpr TmaSwizzle kSwizzle = MatrixPlan<TmaOp::load_im2col>::value.descriptor.swizzle;

  GANTRY_INLINE static const TmaDescriptor* descriptor(const Map& map) { return &map.descriptor; }

  // As StagedTile's.
  GANTRY_INLINE static void load(const Map* map, Element* buffers, int stage, std::uint64_t* full,
                                 const TileCoordinate& at, int em, int en, Site site = Site::here()) {
    constexpr std::uint16_t kNoTap[kRank - 2] = {};
    for_each_instruction(*map, buffers, stage, at, em, en, [&](const auto& coordinates, Element* shared) {
      arch::cp_async_bulk_tensor_im2col(arch::space_cluster, arch::space_global, shared, &map->descriptor, coordinates,
                                        full, kNoTap, site);
    });
  }
  GANTRY_INLINE static void store(const Map* map, Element* buffers, int stage, const TileCoordinate& at, int em, int en,
                                  Site site = Site::here()) {
    for_each_instruction(*map, buffers, stage, at, em, en, [&](const auto& coordinates, Element* shared) {
      arch::cp_async_bulk_tensor_im2col(arch::space_global, arch::space_shared, &map->descriptor, coordinates, shared,
                                        site);
    });
  }

 private:
  template <class F>
  GANTRY_INLINE static void for_each_instruction(const Map& map, Element* buffers, int stage, const TileCoordinate& at,
                                                 int em, int en, const F& f) {
    constexpr Subtiles tile = Shape::tile;
    constexpr TileRuns rows = Base::kRows, columns = Base::kColumns;
    GANTRY_UNROLL
    for (int box = 0; box < Base::kBoxes; ++box) {
      std::int32_t coordinates[kRank];
      std::int32_t pixel = at.m * tile.m + rows.number(em, box % rows.count) * rows.extent;
      for_each_index<kRank - 2>([&](auto axis) {
        coordinates[axis + 1] = map.pixels.first[axis] + pixel % map.pixels.count[axis] * map.pixels.step[axis];
        pixel /= map.pixels.count[axis];
      });
      coordinates[kRank - 1] = pixel;  // the image
      GANTRY_UNROLL
      for (int i = 0; i < kInstructions; ++i) {
        coordinates[0] = at.n * tile.n + columns.number(en, box / rows.count) * columns.extent + i * kChannels;
        f(coordinates, buffers + ((stage * Base::kBoxes + box) * kInstructions + i) * (kPixels * kChannels));
      }
    }
  }
};

}  // namespace gantry

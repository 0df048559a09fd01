// The scales of a thread's accumulators, block of K by block of K, and the promotion that applies them.
//
// A thread of a warpgroup holds two rows of each 64 (lane / 4 and 8 below it) and two columns of each 8, as wgmma lays
// accumulators out. Scales are read from global memory while the wgmmas of their block run. Rows and columns outside of
// the matrix take the last scale: their accumulators are 0.
//
// Where 128 rows of B share a scale, a tile has one of them, or two: its columns before and from the next multiple of
// 128. That lies between segments of gcd(columns, 128).
//
// Example at namespace scope:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     struct Scaled {
//       static constexpr gantry::GemmOptions options{.a = gantry::ElementType::e4m3, .b = gantry::ElementType::e4m3,
//           .scale_a = gantry::ScaleMode::row_block, .scale_b = gantry::ScaleMode::block};
//       static constexpr gantry::GemmDesign design =
//           gantry::make_gemm_design(options, gantry::fusion::graph("d = acc"));
//     };
//     static_assert(Scaled::design.options.tile.n == 128 && gantry::PromotionScales<Scaled>::kRows == 2);
#pragma once

#include <gantry/arch/memory.hpp>
#include <gantry/arch/thread.hpp>
#include <gantry/gemm/shape.hpp>

namespace gantry {

template <class Design>
class PromotionScales {
  using Shape = GemmShape<Design>;
  static constexpr ScaleMode kModeA = Design::design.options.scale_a, kModeB = Design::design.options.scale_b;
  static constexpr bool kByColumn = kModeB == ScaleMode::row_block;
  static constexpr int kSegment = largest_step(Shape::kTileN);  // columns that have the same scale of B
  static constexpr bool kTwo = kModeB == ScaleMode::block && kSegment < Shape::kTileN;

 public:
  static constexpr int kRows = Shape::kWarpgroupM / 32, kColumns = Shape::kTileN / 4;  // of a thread

  // Of one block of K.
  struct Factors {
    float of_row[kRows];
    float of_row_beyond[kTwo ? kRows : 1];  // in the tile's second block of B
    float of_column[kByColumn ? kColumns : 1];
  };

  // Before the main loop of a tile. `row` and `column` are the first of the warpgroup's part.
  GANTRY_INLINE void aim(const GemmScaleParams& p, int row, int column, int batch) {
    const int thread = static_cast<int>(arch::thread_rank()) % 128;
    if constexpr (kModeA != ScaleMode::none) {
      a_ = &p.a;
      first_row_ = row + thread / 32 * 16 + thread % 32 / 4;
      rows_ = p.a.data + batch * p.a.batch_stride;
    }
    if constexpr (kModeB != ScaleMode::none) {
      b_ = &p.b;
      first_column_ = kByColumn ? column + thread % 4 * 2 : column;
      columns_ = p.b.data + batch * p.b.batch_stride;
    }
  }

  // Of block `k`.
  GANTRY_INLINE Factors load(int k) const {
    Factors out;
    float of_tile = 1, beyond = 1;
    if constexpr (kModeB == ScaleMode::block) of_tile = scale<kModeB>(columns_, *b_, first_column_, k);
    if constexpr (kTwo) beyond = scale<kModeB>(columns_, *b_, first_column_ + kScaleBlock, k);
    GANTRY_UNROLL
    for (int i = 0; i < kRows; ++i) {
      float of_row = 1;
      if constexpr (kModeA != ScaleMode::none) {
        of_row = scale<kModeA>(rows_, *a_, first_row_ + i / 2 * 64 + i % 2 * 8, k);
      }
      out.of_row[i] = of_row * of_tile;
      if constexpr (kTwo) out.of_row_beyond[i] = of_row * beyond;
    }
    if constexpr (kByColumn) {
      GANTRY_UNROLL
      for (int i = 0; i < kColumns; ++i) {
        out.of_column[i] = scale<kModeB>(columns_, *b_, first_column_ + i / 2 * 8 + i % 2, k);
      }
    }
    return out;
  }

  // acc += part, scaled.
  template <class Acc>
  GANTRY_INLINE void add(Acc& acc, const Acc& part, const Factors& f) const {
    const int before = kScaleBlock - first_column_ % kScaleBlock;  // columns of the tile in its first block of B
    GANTRY_UNROLL
    for (int i = 0; i < Shape::kWarpgroupM * Shape::kTileN / 128; ++i) {
      const int block = i / (Shape::kTileN / 2), in_block = i % (Shape::kTileN / 2);
      const int row = 2 * block + in_block / 2 % 2;
      float factor = f.of_row[row];
      if constexpr (kTwo) {
        if (in_block / 4 * 8 / kSegment * kSegment >= before) factor = f.of_row_beyond[row];
      }
      if constexpr (kByColumn) {
        acc.data()[i] += part.data()[i] * (factor * f.of_column[in_block / 4 * 2 + in_block % 2]);
      } else {
        acc.data()[i] += part.data()[i] * factor;
      }
    }
  }

 private:
  template <ScaleMode mode>
  GANTRY_INLINE static float scale(const float* data, const GemmScaleParams::Operand& x, int line, int k) {
    const std::int64_t wanted = mode == ScaleMode::block ? line / kScaleBlock : line;
    const std::int64_t row = wanted < x.rows ? wanted : x.rows - 1;
    return arch::ld(arch::space_global, data + row * x.stride + k * x.k_stride);
  }

  const GemmScaleParams::Operand *a_ = nullptr, *b_ = nullptr;
  const float *rows_ = nullptr, *columns_ = nullptr;
  int first_row_ = 0, first_column_ = 0;
};

}  // namespace gantry

// The scales of a thread's accumulators, block of K by block of K, and the promotion that applies them.
//
// A thread of a warpgroup holds two rows of each 64 (lane / 4 and 8 below it) and two columns of each 8, as wgmma lays
// accumulators out. Scales are read from global memory while the wgmmas of blocks before run. Rows and columns
// outside of the matrix take the last scale: their accumulators are 0.
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
#include <gantry/gemm/gather.hpp>
#include <gantry/gemm/shape.hpp>

namespace gantry {

template <class Design>
class PromotionScales {
  using Shape = GemmShape<Design>;
  static constexpr ScaleMode kModeA = Design::design.options.scale_a, kModeB = Design::design.options.scale_b;
  static constexpr int kSegment = largest_step(Shape::kTileN);  // columns that have the same scale of B
  static constexpr bool kTwo = kModeB == ScaleMode::block && kSegment < Shape::kTileN;

 public:
  static constexpr bool kByColumn = kModeB == ScaleMode::row_block;                    // each column has its own
  static constexpr int kRows = Shape::kWarpgroupM / 32, kColumns = Shape::kTileN / 4;  // of a thread

  // As they are in memory, of one block of K: on their way while the wgmmas of blocks before run.
  struct Loaded {
    float rows[kRows];
    float tile, beyond;
  };
  // What accumulators are multiplied by.
  struct Factors {
    float of_row[kRows];
    float of_row_beyond[kTwo ? kRows : 1];  // in the tile's second block of B
    float of_column[kByColumn ? kColumns : 1];
  };

  // The first row and column of a warpgroup's part of a tile, and the matrices that they are of: groups of rows share
  // an A.
  struct Corner {
    int row, column;
    int batch_a, batch_b;
  };

  // Before the main loop of a tile.
  GANTRY_INLINE void aim(const GemmScaleParams& p, const Corner& at) {
    aim_by(p, at, [&p, &at](int line) { return place<kModeA>(p.a, line, at.batch_a); });
  }
  // Where rows of A are gathered, their scales are those of the rows that the index names. A row that is not there has
  // accumulators of 0 whatever A's scales are: it has none.
  GANTRY_INLINE void aim(const GemmScaleParams& p, const Corner& at, const GatherParams& a) {
    aim_by(p, at, [&p, &at, &a](int line) {
      const std::int64_t last = a.count - 1, wanted = line < last ? line : last;
      const int row = arch::ld(arch::space_global, a.index + at.batch_a * std::int64_t{a.count} + wanted);
      const bool is_there = row >= 0 && row < a.rows;
      return is_there ? place<kModeA>(p.a, row, at.batch_a) : nullptr;
    });
  }

  // The first block of K that is loaded, and which follow it: upwards and around the end of K, or downwards.
  GANTRY_INLINE void begin(int k, int k_step, int k_steps) {
    if constexpr (kModeA != ScaleMode::none) {
      GANTRY_UNROLL
      for (int i = 0; i < kRows; ++i) rows_[i] += k * k_stride_a_;
    }
    if constexpr (kModeB == ScaleMode::block) tile_ += k * k_stride_b_;
    if constexpr (kTwo) beyond_ += k * k_stride_b_;
    k_steps_ = k_steps;
    left_ = k_step > 0 ? k_steps - k : k + 1;
    if (k_step < 0) {
      k_stride_a_ = -k_stride_a_;
      k_stride_b_ = -k_stride_b_;
    }
  }

  // Of the next block. Those after a tile's last one are around the end of K too, and are not used.
  GANTRY_INLINE Loaded load() {
    Loaded out{};
    if constexpr (kModeA != ScaleMode::none) {
      GANTRY_UNROLL
      for (int i = 0; i < kRows; ++i) out.rows[i] = arch::ld(arch::space_global, rows_[i]);
    }
    if constexpr (kModeB == ScaleMode::block) out.tile = arch::ld(arch::space_global, tile_);
    if constexpr (kTwo) out.beyond = arch::ld(arch::space_global, beyond_);
    advance(1);
    if (--left_ == 0) {
      advance(-k_steps_);
      left_ = k_steps_;
    }
    return out;
  }

  // Of the same block.
  GANTRY_INLINE Factors factors(const Loaded& x) const {
    Factors out;
    GANTRY_UNROLL
    for (int i = 0; i < kRows; ++i) {
      float of_row = 1;
      if constexpr (kModeA != ScaleMode::none) of_row = x.rows[i];
      out.of_row[i] = kModeB == ScaleMode::block ? of_row * x.tile : of_row;
      if constexpr (kTwo) out.of_row_beyond[i] = of_row * x.beyond;
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
  GANTRY_INLINE void advance(int blocks) {
    if constexpr (kModeA != ScaleMode::none) {
      GANTRY_UNROLL
      for (int i = 0; i < kRows; ++i) rows_[i] += blocks * k_stride_a_;
    }
    if constexpr (kModeB == ScaleMode::block) tile_ += blocks * k_stride_b_;
    if constexpr (kTwo) beyond_ += blocks * k_stride_b_;
  }

  // `scale_of(line)`: where the first scale of a row is; null where it has none.
  template <class ScaleOf>
  GANTRY_INLINE void aim_by(const GemmScaleParams& p, const Corner& at, const ScaleOf& scale_of) {
    const int thread = static_cast<int>(arch::thread_rank()) % 128;
    if constexpr (kModeA != ScaleMode::none) {
      const int first = at.row + thread / 32 * 16 + thread % 32 / 4;
      GANTRY_UNROLL
      for (int i = 0; i < kRows; ++i) rows_[i] = scale_of(first + i / 2 * 64 + i % 2 * 8);
      k_stride_a_ = p.a.k_stride;
    }
    if constexpr (kModeB != ScaleMode::none) {
      first_column_ = kByColumn ? at.column + thread % 4 * 2 : at.column;
      b_ = &p.b;
      batch_ = at.batch_b;
      tile_ = place<kModeB>(p.b, first_column_, batch_);
      if constexpr (kTwo) beyond_ = place<kModeB>(p.b, first_column_ + kScaleBlock, batch_);
      k_stride_b_ = p.b.k_stride;
    }
  }

  GANTRY_INLINE float scale_of_row(int i, int k) const {
    if constexpr (Design::design.options.gather_a) {
      if (rows_[i] == nullptr) return 1;
    }
    return arch::ld(arch::space_global, rows_[i] + k * k_stride_a_);
  }

  // The first block's scale of a row or column of the tile.
  template <ScaleMode mode>
  GANTRY_INLINE static const float* place(const GemmScaleParams::Operand& x, int line, int batch) {
    const std::int64_t wanted = mode == ScaleMode::block ? line / kScaleBlock : line;
    return x.data + batch * x.batch_stride + (wanted < x.rows ? wanted : x.rows - 1) * x.stride;
  }

  const float* rows_[kRows] = {};
  const float *tile_ = nullptr, *beyond_ = nullptr;
  std::int64_t k_stride_a_ = 0, k_stride_b_ = 0;
  const GemmScaleParams::Operand* b_ = nullptr;
  int first_column_ = 0, batch_ = 0;
  int k_steps_ = 0, left_ = 0;  // blocks until K wraps around
};

}  // namespace gantry

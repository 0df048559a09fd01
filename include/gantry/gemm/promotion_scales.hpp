// The scales of a thread's accumulators, block of K by block of K, and the promotion that applies them.
//
// A thread of a warpgroup holds two rows of each 64 (lane / 4 and 8 below it) and two columns of each 8, as wgmma lays
// accumulators out. Four threads hold the same rows. Each of them loads the scales of one row and one of two blocks of
// K, while the wgmmas of the two blocks before run, and has the products of both operands' scales from the others by
// shuffles: that takes fewer registers and instructions than loads by every thread. Where a scale lies is 32 bits
// beyond its operand's address, which no thread holds: an address of 64 bits for each took 60 cycles of a block of 800.
//
// Rows and columns outside of the matrix take the last scale: what they have accumulated is not stored.
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

#include <gantry/arch/control.hpp>
#include <gantry/arch/memory.hpp>
#include <gantry/arch/thread.hpp>
#include <gantry/arch/warp.hpp>
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

  // Blocks of K whose scales are loaded together. Beside a scale for each column there are no registers for two.
  static constexpr int kTogether = kByColumn ? 1 : 2;

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

  // The blocks of K of a tile: from `first` on, upwards and around the end of K, or downwards.
  struct Blocks {
    int first, step, count;
  };

  // Before the main loop of a tile.
  GANTRY_INLINE void aim(const GemmScaleParams& p, const Corner& at, const Blocks& blocks) {
    aim_by(p, at, blocks, [&p, &at](int line) { return place<kModeA>(p.a, line, at.batch_a); });
  }
  // Where rows of A are gathered, their scales are those of the rows that the index names. A row that is not there is
  // read as zeros, whatever A's scales are: it has none.
  GANTRY_INLINE void aim(const GemmScaleParams& p, const Corner& at, const Blocks& blocks, const GatherParams& a) {
    aim_by(p, at, blocks, [&p, &at, &a](int line) {
      const std::int64_t last = a.count - 1, wanted = line < last ? line : last;
      const int row = arch::ld(arch::space_global, a.index + at.batch_a * std::int64_t{a.count} + wanted);
      const bool is_there = row >= 0 && row < a.rows;
      return is_there ? place<kModeA>(p.a, row, at.batch_a) : kNowhere;
    });
  }

  // Sets out for the scales of the next two blocks. After a tile's last one K goes on at its beginning: what is read
  // there is not used.
  GANTRY_INLINE void load() {
    const auto k = static_cast<Offset>(k_);
    if constexpr (kModeB == ScaleMode::block) of_tile_ = read(p_->b, tile_, k);
    if constexpr (kTwo) of_beyond_ = read(p_->b, beyond_, k);
    if constexpr (kModeA != ScaleMode::none) {
      GANTRY_UNROLL
      for (int i = 0; i < kBlocksM; ++i) of_rows_[i] = scale_of_row(i, k);
    }
    k_ = wrapped(k_ + kTogether * blocks_.step);
  }
  // Instead, where a tile has no blocks. Registers that were not written on some path would be kept on every one.
  GANTRY_INLINE void forget() {
    of_tile_ = of_beyond_ = 1;
    GANTRY_UNROLL
    for (int i = 0; i < kBlocksM; ++i) of_rows_[i] = 1;
  }

  // Those that were loaded are the factors of the next two blocks.
  GANTRY_INLINE void take() {
    GANTRY_UNROLL
    for (int i = 0; i < kBlocksM; ++i) {
      const float of_row = kModeA == ScaleMode::none ? 1 : of_rows_[i];
      products_[i] = kModeB == ScaleMode::block ? of_row * of_tile_ : of_row;
      if constexpr (kTwo) products_beyond_[i] = of_row * of_beyond_;
    }
  }

  // Of the first or second of them. All threads of a warp call it. Columns that have scales of their own are read here:
  // their registers hold no second set.
  GANTRY_INLINE Factors factors(int second) {
    Factors out;
    GANTRY_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const int source = 2 * second + i % 2;
      out.of_row[i] = 1;
      if constexpr (kLoads) out.of_row[i] = arch::shfl_sync(arch::kFullWarp, products_[i / 2], source, 4);
      if constexpr (kTwo) out.of_row_beyond[i] = arch::shfl_sync(arch::kFullWarp, products_beyond_[i / 2], source, 4);
    }
    if constexpr (kByColumn) {
      GANTRY_UNROLL
      for (int i = 0; i < kColumns; ++i) {
        const Offset first = place<kModeB>(p_->b, first_column_ + i / 2 * 8 + i % 2, batch_);
        out.of_column[i] = read(p_->b, first, static_cast<Offset>(k_of_columns_));
      }
      k_of_columns_ = wrapped(k_of_columns_ + blocks_.step);
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
  static constexpr int kBlocksM = kRows / 2;  // of 64 rows
  static constexpr bool kLoads = kModeA != ScaleMode::none || kModeB == ScaleMode::block;

  // Bytes from an operand's first scale. A rule says that all of them lie within 4 GiB.
  using Offset = std::uint32_t;
  static constexpr Offset kNowhere = ~Offset{0};  // no multiple of 4

  // `scale_of(line)`: where the first scale of a row is; kNowhere where it has none.
  template <class ScaleOf>
  GANTRY_INLINE void aim_by(const GemmScaleParams& p, const Corner& at, const Blocks& blocks, const ScaleOf& scale_of) {
    const int thread = static_cast<int>(arch::opaque(arch::thread_rank())) % 128;  // or its parts are kept in registers
    p_ = &p;
    blocks_ = blocks;
    k_ = wrapped(blocks.first + thread % (2 * kTogether) / 2 * blocks.step);
    if constexpr (kModeA != ScaleMode::none) {
      const int first = at.row + thread / 32 * 16 + thread % 32 / 4 + thread % 2 * 8;
      GANTRY_UNROLL
      for (int i = 0; i < kBlocksM; ++i) rows_[i] = scale_of(first + i * 64);
    }
    if constexpr (kModeB != ScaleMode::none) {
      first_column_ = kByColumn ? at.column + thread % 4 * 2 : at.column;
      batch_ = at.batch_b;
      k_of_columns_ = blocks.first;
      tile_ = place<kModeB>(p.b, first_column_, batch_);
      if constexpr (kTwo) beyond_ = place<kModeB>(p.b, first_column_ + kScaleBlock, batch_);
    }
  }

  GANTRY_INLINE int wrapped(int k) const {
    const int around = k >= blocks_.count ? k - blocks_.count : k;
    return around < 0 ? 0 : around;
  }

  GANTRY_INLINE static float read(const GemmScaleParams::Operand& x, Offset first, Offset k) {
    const Offset at = first + k * static_cast<Offset>(x.k_bytes);
    return arch::ld(arch::space_global, reinterpret_cast<const float*>(reinterpret_cast<const char*>(x.data) + at));
  }
  GANTRY_INLINE float scale_of_row(int i, Offset k) const {
    if constexpr (Design::design.options.gather_a) {
      if (rows_[i] == kNowhere) return 1;
    }
    return read(p_->a, rows_[i], k);
  }

  // The first block's scale of a row or column of the tile.
  template <ScaleMode mode>
  GANTRY_INLINE static Offset place(const GemmScaleParams::Operand& x, int line, int batch) {
    const std::int64_t wanted = mode == ScaleMode::block ? line / kScaleBlock : line;
    const auto row = static_cast<Offset>(wanted < x.rows ? wanted : x.rows - 1);
    const Offset first = static_cast<Offset>(batch) * static_cast<Offset>(x.batch_stride);
    return (first + row * static_cast<Offset>(x.stride)) * Offset{sizeof(float)};
  }

  const GemmScaleParams* p_ = nullptr;
  Blocks blocks_{};
  int k_ = 0;  // that is loaded next
  Offset rows_[kBlocksM] = {}, tile_ = 0, beyond_ = 0;
  float of_rows_[kBlocksM], of_tile_, of_beyond_;
  float products_[kBlocksM], products_beyond_[kBlocksM];
  int first_column_ = 0, batch_ = 0, k_of_columns_ = 0;
};

}  // namespace gantry

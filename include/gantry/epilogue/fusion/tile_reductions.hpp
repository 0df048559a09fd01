// The reductions of one tile: threads hand in values fragment by fragment, then lanes, warps and tiles combine theirs.
//
// Row vectors (over m) are combined subtile by subtile, column vectors and scalars at the end of the tile, and what has
// results of blocks where a block ends. `so_far` is what a thread has: kept(extent) floats that begin() sets. `parts`
// is shared memory for the partial results of warps. Requires that all threads have synchronised since the previous
// tile's last reduction.
//
// Example at namespace scope:
//     struct Geometry {
//       static constexpr gantry::Subtiles tile{.m = 64, .n = 64, .epi_m = 64, .epi_n = 32, .warpgroups = 1};
//     };
//     using Largest = gantry::fusion::TileReduction<Geometry, gantry::fusion::Reduction::max>;
//     static_assert(Largest::kept(gantry::fusion::Extent::row) == 8 && Largest::kept(gantry::fusion::Extent::scalar) == 1);
#pragma once

#include <gantry/arch/barrier.hpp>
#include <gantry/arch/memory.hpp>
#include <gantry/epilogue/fusion/callback_contract.hpp>
#include <gantry/epilogue/fusion/reductions.hpp>

namespace gantry::fusion {

// Which of a thread's rows of the tile value i of subtile row em is in; there are two for each row of wgmmas.
GANTRY_HD constexpr int row_slot(const Subtiles& tile, int em, int i) {
  return tile.block_of_value(em, i) * 2 + i / 2 % 2;
}
GANTRY_HD constexpr int row_slots(const Subtiles& tile) { return tile.m / tile.mma_m() * 2; }

template <class Config, Reduction op>
struct TileReduction {
  static constexpr Subtiles kTile = Config::tile;
  static constexpr int kWarps = kTile.threads() / 32;

  // Floats that a thread keeps.
  GANTRY_HD static constexpr int kept(Extent extent) {
    const int slots = extent == Extent::column ? row_slots(Config::tile)
                      : extent == Extent::row  ? Config::tile.epi_n / 4
                                               : 1;
    return slots * floats_of(op);
  }

  GANTRY_INLINE static void begin(float* so_far, int floats) {
    GANTRY_UNROLL
    for (int i = 0; i < floats / floats_of(op); ++i) set_state<op>(so_far, i, initial<op>());
  }

  // Values first, first + 1, ... of subtile (em, en), where they lie in the problem.
  template <Extent extent, int F>
  GANTRY_INLINE static void add(const TileContext& context, float* so_far, const float (&in)[F], int first, int em,
                                int en) {
    constexpr Subtiles tile = Config::tile;
    // What a row or a column beyond the problem adds to is nobody's result.
    const int rows = context.m - context.at.m * kTile.m - tile.first_row(em) - Subtiles::row_of_thread(context.thread);
    const int columns =
        context.n - context.at.n * kTile.n - tile.first_column(en) - Subtiles::column_of_thread(context.thread);
    const auto is_inside = [&](int i) {
      return (extent == Extent::column || tile.row_of_value(i) < rows) &&
             (extent == Extent::row || tile.column_of_value(i) < columns);
    };
    if constexpr (kExponentials && extent != Extent::row && F % 4 == 0) {
      add_exponentials<extent, F>(so_far, first, em,
                                  [&](int k) { return is_inside(first + k) ? in[k] : -__builtin_inff(); });
    } else {
      GANTRY_UNROLL
      for (int k = 0; k < F; ++k) {
        const int i = first + k;
        if (!is_inside(i)) continue;
        int slot = 0;
        if constexpr (extent == Extent::column) slot = row_slot(tile, em, i);
        if constexpr (extent == Extent::row) slot = i % kTile.values_of_block() / 4 * 2 + i % 2;
        set_state<op>(so_far, slot, combine<op>(state_at<op>(so_far, slot), state_of(in[k])));
      }
    }
  }

  // Of one subtile, or of the last one of a block of rows: every warp leaves its rows' part, then each column is
  // combined over warps by one thread.
  template <class Sync>
  GANTRY_INLINE static void reduce_rows(const TileContext& context, const Operand& operand, const ResultForm& form,
                                        float* so_far, float* parts, int em, int en, const Sync& sync) {
    constexpr Subtiles tile = Config::tile;
    const int rows = form.block > 0 ? form.block : kTile.epi_m;
    if ((em + 1) * kTile.epi_m % rows != 0) return;
    const int block = em * kTile.epi_m / rows, blocks_of_tile = kTile.m / rows;
    // Two sets of partial results, so that one is combined while the next is written.
    parts += (en * blocks_of_tile + block) % 2 * kWarps * kTile.epi_n * floats_of(op);
    const int warp = context.thread / 32;
    GANTRY_UNROLL
    for (int i = 0; i < kTile.epi_n / 4; ++i) {
      const State<op> x = combine_lanes<op, 16 + 8 + 4>(state_at<op>(so_far, i));
      if (context.thread % 32 < 4) {
        store_state<op>(arch::space_shared, parts,
                        warp * kTile.epi_n + i / 2 * 8 + i % 2 + Subtiles::column_of_thread(context.thread), x);
      }
      set_state<op>(so_far, i, initial<op>());
    }
    sync();
    const int column0 = context.at.n * kTile.n + tile.first_column(en);
    const int part = context.at.m * blocks_of_tile + block;
    const ReductionTarget to = reduction_target<op>(operand, context.at.batch, context.batch,
                                                    {.length = context.n,
                                                     .first = context.at.first_column + column0,
                                                     .part = part,
                                                     .parts = context.tiles_m * kTile.along_m()});
    for (int i = context.thread; i < kTile.epi_n; i += kTile.threads()) {
      const int column = tile.column_runs().at(i);
      if (column0 + column >= context.n) continue;
      State<op> x = initial<op>();
      GANTRY_UNROLL
      for (int w = 0; w < kWarps; ++w) x = combine<op>(x, load_shared_state<op>(parts, w * kTile.epi_n + i));
      if (form.block == 0) {
        leave<op>(to, column, x);
      } else if (part * rows < context.m) {
        leave_block(operand, context.at.batch, form, part, column0 + column, result_of(x));
      }
    }
  }

  // Of the last subtile of a block of columns: the rows of a thread's quad.
  GANTRY_INLINE static void reduce_columns(const TileContext& context, const Operand& operand, const ResultForm& form,
                                           float* so_far, int em, int en) {
    constexpr Subtiles tile = Config::tile;
    if ((en + 1) * kTile.epi_n % form.block != 0) return;
    const int part = (context.at.n * kTile.n + tile.first_column(en)) / form.block;
    constexpr int kSlots = 2 * tile.blocks();  // of a subtile
    GANTRY_UNROLL
    for (int i = 0; i < kSlots; ++i) {
      const int slot = em * kSlots + i;
      const State<op> x = combine_lanes<op, 1 + 2>(state_at<op>(so_far, slot));
      set_state<op>(so_far, slot, initial<op>());
      const int row = context.at.m * kTile.m + row_of_slot(context.thread, slot);
      if (context.thread % 4 != 0 || row >= context.m || part * form.block >= context.n) continue;
      leave_block(operand, context.at.batch, form, part, row, result_of(x));
    }
  }

  // Row vectors through workspace.
  template <class Sync>
  GANTRY_INLINE static void end_row(const TileContext& context, const Operand& operand, const ResultForm& form,
                                    const Sync& sync) {
    const int column0 = context.at.n * kTile.n;
    const ReductionTarget to = reduction_target<op>(operand, context.at.batch, context.batch,
                                                    {.length = context.n,
                                                     .first = context.at.first_column + column0,
                                                     .part = 0,
                                                     .parts = context.tiles_m * kTile.along_m()});
    when_last(context, operand, {context.at.n, context.tiles_n, context.tiles_m}, sync, [&] {
      for (int i = context.thread; i < kTile.n; i += kTile.threads()) {
        if (column0 + i < context.n) finish<op>(to, form.rounding, i);
      }
    });
  }

  template <bool deterministic, class Sync>
  GANTRY_INLINE static void end_column(const TileContext& context, const Operand& operand, const ResultForm& form,
                                       float* so_far, const Sync& sync) {
    constexpr Subtiles tile = Config::tile;
    const int row0 = context.at.m * kTile.m;
    const ReductionTarget to = reduction_target<op>(
        operand, context.at.batch, context.batch,
        {.length = context.m, .first = context.at.first_row + row0, .part = context.at.n, .parts = context.tiles_n});
    GANTRY_UNROLL
    for (int i = 0; i < row_slots(tile); ++i) {
      const State<op> x = combine_lanes<op, 1 + 2>(state_at<op>(so_far, i));
      const int row = row_of_slot(context.thread, i);
      if (context.thread % 4 == 0 && row0 + row < context.m) leave<op>(to, row, x);
    }
    if constexpr (deterministic) {
      when_last(context, operand, {context.at.m, context.tiles_m, context.tiles_n}, sync, [&] {
        for (int i = context.thread; i < kTile.m; i += kTile.threads()) {
          if (row0 + i < context.m) finish<op>(to, form.rounding, i);
        }
      });
    }
  }

  template <bool deterministic, class Sync>
  GANTRY_INLINE static void end_scalar(const TileContext& context, const Operand& operand, const ResultForm& form,
                                       const float* so_far, float* parts, const Sync& sync) {
    const std::int64_t tiles_m = context.tiles_m, tiles = tiles_m * context.tiles_n;
    const ReductionTarget to =
        reduction_target<op>(operand, context.at.batch, context.batch,
                             {.length = 1, .first = 0, .part = context.at.n * tiles_m + context.at.m, .parts = tiles});
    const State<op> x = combine_lanes<op, 31>(state_at<op>(so_far, 0));
    if (context.thread % 32 == 0) store_state<op>(arch::space_shared, parts, context.thread / 32, x);
    sync();
    if (context.thread == 0) {
      State<op> all = initial<op>();
      GANTRY_UNROLL
      for (int w = 0; w < kWarps; ++w) all = combine<op>(all, load_shared_state<op>(parts, w));
      leave<op>(to, 0, all);
    }
    if constexpr (deterministic) {
      when_last(context, operand, {0, 1, static_cast<int>(tiles)}, sync, [&] {
        if (context.thread == 0) finish<op>(to, form.rounding, 0);
      });
    }
  }

 private:
  static constexpr bool kExponentials = op == Reduction::lse || op == Reduction::sumexp;

  // Which row of the tile a slot of a thread is.
  GANTRY_HD static constexpr int row_of_slot(int thread, int slot) {
    return slot / 2 * Config::tile.mma_m() + slot % 2 * 8 + Subtiles::row_of_thread(thread);
  }
  // Of one value.
  GANTRY_INLINE static State<op> state_of(float x) {
    if constexpr (op == Reduction::sumexp) {
      // The exponential of an infinity relative to 0, which no other is relative to; a NaN has no place.
      const LogSumBase base(x);
      return {x == x ? x : -__builtin_inff(), base.exponential(x)};
    } else {
      return x;
    }
  }

  // One base for all values that a slot gets: of a column vector those of one row, of a scalar all of them.
  template <Extent extent, int F, class In>
  GANTRY_INLINE static void add_exponentials(float* so_far, int first, int em, const In& in) {
    constexpr Subtiles tile = Config::tile;
    constexpr int kRows = extent == Extent::column ? 2 : 1;
    constexpr int kBlock = kRows == 2 && tile.values_of_block() < F ? tile.values_of_block() : F;
    GANTRY_UNROLL
    for (int begin = 0; begin < F; begin += kBlock) {
      GANTRY_UNROLL
      for (int row = 0; row < kRows; ++row) {
        const int slot = kRows == 2 ? row_slot(tile, em, first + begin + 2 * row) : 0;
        const auto is_mine = [&](int k) { return kRows == 1 || k / 2 % 2 == row; };
        const State<op> before = state_at<op>(so_far, slot);
        float top = exponent_of(before);
        GANTRY_UNROLL
        for (int k = begin; k < begin + kBlock; ++k) {
          if (is_mine(k) && in(k) > top) top = in(k);
        }
        const LogSumBase base(top);
        float sum = base.exponential(exponent_of(before));
        if constexpr (op == Reduction::sumexp) sum *= before.sum;
        GANTRY_UNROLL
        for (int k = begin; k < begin + kBlock; ++k) {
          if (is_mine(k)) sum += base.exponential(in(k));
        }
        if constexpr (op == Reduction::sumexp) {
          set_state<op>(so_far, slot, {top, sum});
        } else {
          set_state<op>(so_far, slot, base.logarithm(sum));
        }
      }
    }
  }

  GANTRY_HD static constexpr float exponent_of(float logarithm) { return logarithm; }
  GANTRY_HD static constexpr float exponent_of(const ExponentialSum& sum) { return sum.top; }

  // Which of the results of a batch this is, how many there are, and how many tiles bring a part of it.
  struct Group {
    int number, count, tiles;
  };

  // Runs `last` in the tile that arrives last of those that share a result.
  template <class Sync, class Last>
  GANTRY_INLINE static void when_last(const TileContext& context, const Operand& operand, const Group& group,
                                      const Sync& sync, const Last& last) {
    const bool by_batch = operand.batch_stride != 0;
    std::uint32_t* arrived = operand.arrived + (by_batch ? context.at.batch * group.count : 0) + group.number;
    const int parts = by_batch ? group.tiles : group.tiles * context.batch;
    sync();
    bool is_last = false;
    if (context.thread == 0) {
      is_last = arch::atom(arch::op_add, arch::sem_acq_rel, arch::scope_gpu, arch::space_global, arrived, 1u) + 1 ==
                static_cast<std::uint32_t>(parts);
    }
    if (arch::barrier_reduce_or(sync.barrier, static_cast<std::uint32_t>(kTile.threads()), is_last)) last();
  }
};

}  // namespace gantry::fusion

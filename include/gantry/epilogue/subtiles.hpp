// How an epilogue cuts a CTA's tile: into subtiles, and each subtile into the values of a thread.
//
// Accumulators of wgmma lie in registers in runs of four for each 8 columns: two neighbouring columns of one row, the
// same two of the row eight below. Warps of a warpgroup take 16 rows each, warpgroups 64. A thread's values of a
// subtile are counted in the order of its registers: along N first, then along M.
//
// Example:
//     using namespace gantry;
//     constexpr Subtiles tile{.m = 128, .n = 256, .epi_m = 128, .epi_n = 64, .warpgroups = 2};
//     static_assert(tile.count() == 4 && tile.values() == 32 && tile.threads() == 256);
//     static_assert(tile.gate_register_of(0, 0, 5) == 9);  // 8 registers have the gate and up of values 0 to 3
//     constexpr Subtiles strided{.m = 64, .n = 256, .epi_m = 64, .epi_n = 64, .n_runs = {32, 2, 64}};
//     static_assert(strided.first_column(1) == 32 && strided.column_of_value(16) == 64);
//     static_assert(tile.row(33, 2) == 16 + 0 + 8 && tile.column(33, 2) == 2);  // lane 1 of warp 1, third register
#pragma once

#include <gantry/config.hpp>

namespace gantry {

struct TmaDescriptor;  // tma/descriptor.hpp

// The rows (or columns) of a subtile in its CTA tile: `count` runs of `extent` neighbours, whose first ones are
// `stride` apart. CuTe's layout (extent,count):(1,stride). Other subtiles fill the gaps: where one has rows 0 to 63 and
// 128 to 191, the next has 64 to 127 and 192 to 255.
struct TileRuns {
  int extent = 0;  // 0: all of the subtile is one run
  int count = 1;
  int stride = 0;

  GANTRY_HD friend constexpr bool operator==(const TileRuns&, const TileRuns&) noexcept = default;
  GANTRY_HD constexpr int size() const { return extent * count; }
  // Subtiles that fill the gaps of one.
  GANTRY_HD constexpr int interleaved() const { return count == 1 ? 1 : stride / extent; }
  // Row i of a subtile, counted from its first one.
  GANTRY_HD constexpr int at(int i) const { return count == 1 ? i : i / extent * stride + i % extent; }
  // Where run `run` of subtile `part` is, in runs.
  GANTRY_HD constexpr int number(int part, int run) const {
    if (count == 1) return part;
    return part / interleaved() * (interleaved() * count) + run * interleaved() + part % interleaved();
  }
  // The first row of subtile `part`.
  GANTRY_HD constexpr int first(int part) const { return number(part, 0) * extent; }
};

// The CTAs of a cluster whose tiles, side by side along N, have the columns of a row together; from one to the next
// ranks of the cluster grow by `rank_step`. One: what is combined of a row lies in one tile.
struct RowCtas {
  int count = 1;
  int rank_step = 1;
  GANTRY_HD friend constexpr bool operator==(const RowCtas&, const RowCtas&) noexcept = default;
};

struct Subtiles {
  int m = 128, n = 128;         // of the CTA
  int epi_m = 64, epi_n = 32;   // of a subtile
  int warpgroups = 1;           // that hold the tile's accumulators, one above the other
  TileRuns m_runs{}, n_runs{};  // of a subtile's rows and columns; {}: neighbours all of them
  RowCtas row_ctas{};
  bool ragged = false;  // groups share D, C and tensors: their maps are ragged (tma/ragged.hpp)

  GANTRY_HD constexpr TileRuns row_runs() const { return m_runs.extent == 0 ? TileRuns{epi_m} : m_runs; }
  GANTRY_HD constexpr TileRuns column_runs() const { return n_runs.extent == 0 ? TileRuns{epi_n} : n_runs; }
  // Of subtile (em, en), in the tile.
  GANTRY_HD constexpr int first_row(int em) const { return row_runs().first(em); }
  GANTRY_HD constexpr int first_column(int en) const { return column_runs().first(en); }

  // Rows that the warpgroups hold in one wgmma each.
  GANTRY_HD constexpr int mma_m() const { return 64 * warpgroups; }
  GANTRY_HD constexpr int threads() const { return 128 * warpgroups; }

  GANTRY_HD constexpr int along_m() const { return m / epi_m; }
  GANTRY_HD constexpr int along_n() const { return n / epi_n; }
  GANTRY_HD constexpr int count() const { return along_m() * along_n(); }

  // Values of a thread in a subtile: blocks of rows that lie mma_m() apart, each with its columns.
  GANTRY_HD constexpr int blocks() const { return epi_m / mma_m(); }
  GANTRY_HD constexpr int values_of_block() const { return epi_n / 2; }
  GANTRY_HD constexpr int values() const { return blocks() * values_of_block(); }

  // Which of the tile's blocks of rows value i of subtile row em is in.
  GANTRY_HD constexpr int block_of_value(int em, int i) const { return (first_row(em) + row_of_value(i)) / mma_m(); }

  // The accumulator that value i of subtile (em, en) is.
  GANTRY_HD constexpr int register_of(int em, int en, int i) const {
    return block_of_value(em, i) * (n / 2) + (first_column(en) + column_of_value(i)) / 8 * 4 + i % 4;
  }

  // Of a gated tile, whose accumulators have twice as many columns, 8 of the gate and 8 of up by turns: the accumulator
  // of value i's gate. Up's is four registers behind it.
  GANTRY_HD constexpr int gate_register_of(int em, int en, int i) const {
    const int value = register_of(em, en, i);
    return value / 4 * 8 + value % 4;
  }

  // Where value i of a thread lies in its subtile: the thread's part, and the value's part, which is a constant.
  GANTRY_HD static constexpr int row_of_thread(int thread) {
    return thread / 128 * 64 + thread / 32 % 4 * 16 + thread % 32 / 4;
  }
  GANTRY_HD static constexpr int column_of_thread(int thread) { return thread % 4 * 2; }
  GANTRY_HD constexpr int row_of_value(int i) const {
    return row_runs().at(i / values_of_block() * mma_m()) + i / 2 % 2 * 8;
  }
  GANTRY_HD constexpr int column_of_value(int i) const {
    return column_runs().at(i % values_of_block() / 4 * 8) + i % 2;
  }
  GANTRY_HD constexpr int row(int thread, int i) const { return row_of_thread(thread) + row_of_value(i); }
  GANTRY_HD constexpr int column(int thread, int i) const { return column_of_thread(thread) + column_of_value(i); }
};

// The tensor maps of one GEMM of a pointer array, side by side.
struct GroupMapIndex {
  static constexpr int kA = 0, kB = 1, kC = 2, kD = 3;
  static constexpr int kAux = 4;  // and those of further tensors
};

// A CTA's tile of the problem, counted in tiles.
struct TileCoordinate {
  int m = 0, n = 0, batch = 0;
  // Of a group of rows (gemm/grouped.hpp), from whose first row on `m` counts: where that row is in column vectors and
  // masks, how many rows there are, and the row's coordinates in tensor maps. Of a group of columns likewise.
  int first_row = 0, first_column = 0;
  int rows = 0x7fffffff, columns = 0x7fffffff;
  int map_row = 0, map_column = 0, map_batch = batch;
  int d_batch = batch;  // of D: groups of rows have one D for all of them
  // Of a pointer array (gemm/pointer_array.hpp), whose GEMM is the batch, and has `rows` and `columns`: its tensor
  // maps, and whether it has a C.
  const TmaDescriptor* maps = nullptr;
  bool has_c = true;
};

}  // namespace gantry

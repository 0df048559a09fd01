// What is to be computed, whatever computes it: sizes, elements, majors, layouts, scales and groups. The epilogue is
// said beside it.
//
// Invariant: options that give different results, or read or write other memory, give different workloads.
//
// Example:
//     using namespace gantry;
//     GemmWorkload w = workload_of({.d = ElementType::f32});
//     w.m = w.n = w.k = 4096;
#pragma once

#include <cstdint>
#include <vector>

#include <gantry/gemm/options.hpp>
#include <gantry/gemm/problem.hpp>

namespace gantry {

// What groups are expected to be, as the host knows no sizes. A distribution: where there are more groups than entries,
// each entry stands for as many. Empty: each group has the mean. To a tuning file they make no difference.
struct ExpectedGroups {
  // Of groups along M or K: rows of each, of M or of K. Where the GEMM has more of them in all, each group has.
  std::vector<std::int64_t> rows{};
  std::vector<GemmExtents> gemms{};  // of a pointer array: sizes, and how many GEMMs of the distribution have them

  friend bool operator==(const ExpectedGroups&, const ExpectedGroups&) { return true; }
};

struct GemmWorkload {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  ElementType a = ElementType::bf16, b = ElementType::bf16;
  ElementType c = ElementType::void_, d = ElementType::bf16;
  Major major_a = Major::K, major_b = Major::K;
  // Of groups, sizes that differ are the mean, and `batch` counts them.
  GemmGrouping groups = GemmGrouping::none;
  ExpectedGroups expected{};
  bool column_major_c = false, column_major_d = false;
  bool promotes = false;
  ScaleMode scale_a = ScaleMode::none, scale_b = ScaleMode::none;
  GemmGate gate = GemmGate::halves;
  bool gathers = false;
  RowScatter scatter = RowScatter::none;
  bool adds = false;  // D += A B^T

  friend bool operator==(const GemmWorkload&, const GemmWorkload&) = default;
};

// With the operands that options name; sizes are left as they are by default.
inline GemmWorkload workload_of(const GemmOptions& o) {
  GemmWorkload w;
  w.a = o.a;
  w.b = o.b;
  w.c = o.c;
  w.d = o.d;
  w.major_a = o.major_a;
  w.major_b = o.major_b;
  w.groups = o.groups;
  w.column_major_c = o.c != ElementType::void_ && is_m_major(o.layout_c);
  w.column_major_d = is_m_major(o.layout_d);
  w.promotes = o.promotes();
  w.scale_a = o.scale_a;
  w.scale_b = o.scale_b;
  w.gate = o.gate;
  w.gathers = o.gather_a;
  w.scatter = o.scatter_d;
  w.adds = o.split == SplitMode::reduce_add;
  return w;
}

// Groups of one size, and how many there are: a part of one, where a distribution has more entries than groups.
struct GroupsAlike {
  double m = 0, n = 0, k = 0, count = 0;
};

// The groups of a workload: as they are expected, else all of the mean size. Matrices of a batch are groups of one
// size.
template <class Visit>
void for_each_group(const GemmWorkload& w, const Visit& visit) {
  const auto number = [](std::int64_t x) { return static_cast<double>(x); };
  const GroupsAlike mean{number(w.m), number(w.n), number(w.k), number(w.batch)};
  double all = 0;
  if (w.groups == GemmGrouping::pointer_array) {
    bool any = false;
    for (const GemmExtents& e : w.expected.gemms) {
      all += number(e.batch);
      any = any || !e.nothing_to_do();
    }
    if (!any) return visit(mean);
    for (const GemmExtents& e : w.expected.gemms) {
      visit(GroupsAlike{number(e.m), number(e.n), number(e.k), mean.count * number(e.batch) / all});
    }
    return;
  }
  if (w.groups != GemmGrouping::none) {
    for (const std::int64_t rows : w.expected.rows) all += number(rows);
  }
  if (all <= 0) return visit(mean);
  const auto entries = number(static_cast<std::int64_t>(w.expected.rows.size()));
  double GroupsAlike::*const ragged = w.groups == GemmGrouping::along_m   ? &GroupsAlike::m
                                      : w.groups == GemmGrouping::along_n ? &GroupsAlike::n
                                                                          : &GroupsAlike::k;
  const double given = mean.*ragged, expected = all / entries;
  const double scale = __builtin_ceil(expected) == given ? 1 : given / expected;  // the mean is rounded up
  for (const std::int64_t rows : w.expected.rows) {
    GroupsAlike one = mean;
    one.*ragged = number(rows) * scale;
    one.count = mean.count / entries;
    visit(one);
  }
}

// The rows of all matrices of a batch, or of all groups, in tiles of so many rows; or the columns.
struct LinesInTiles {
  double lines = 0, tiles = 0;
  double most = 0;      // tiles of a matrix or a group
  double matrices = 0;  // that have any: as many are read of what each group has by itself

  double mean() const { return matrices > 0 ? lines / matrices : 0; }
};
inline LinesInTiles lines_in_tiles(const GemmWorkload& w, double GroupsAlike::*extent, int tile) {
  LinesInTiles out;
  for_each_group(w, [&](const GroupsAlike& g) {
    const double lines = g.*extent, tiles = __builtin_ceil(lines / tile);
    out.lines += lines * g.count;
    out.tiles += tiles * g.count;
    out.most = tiles > out.most ? tiles : out.most;
    if (lines > 0) out.matrices += g.count;
  });
  return out;
}
inline LinesInTiles row_tiles(const GemmWorkload& w, int tile) { return lines_in_tiles(w, &GroupsAlike::m, tile); }
inline LinesInTiles column_tiles(const GemmWorkload& w, int tile) { return lines_in_tiles(w, &GroupsAlike::n, tile); }

// The output tiles of all groups, and their K tiles.
struct TileSums {
  double tiles = 0, k_tiles = 0;
  double shortest = 0, longest = 0;  // K tiles of an output tile

  bool even() const { return shortest == longest; }
  double k_steps() const { return even() ? longest : k_tiles / tiles; }  // of an output tile, on average
};
inline TileSums tile_sums(const GemmWorkload& w, const GemmTile& tile) {
  TileSums out;
  for_each_group(w, [&](const GroupsAlike& g) {
    const double tiles = __builtin_ceil(g.m / tile.m) * __builtin_ceil(g.n / tile.n) * g.count;
    const double steps = __builtin_ceil(g.k / tile.k);
    if (tiles == 0) return;
    out.shortest = out.tiles == 0 || steps < out.shortest ? steps : out.shortest;
    out.longest = steps > out.longest ? steps : out.longest;
    out.tiles += tiles;
    out.k_tiles += tiles * steps;
  });
  return out;
}

// What a kernel with swapped operands computes.
inline GemmWorkload swapped(GemmWorkload w) {
  detail::exchange_values(w.m, w.n);
  detail::exchange_values(w.a, w.b);
  detail::exchange_values(w.major_a, w.major_b);
  detail::exchange_values(w.scale_a, w.scale_b);
  w.groups = swapped(w.groups);
  for (GemmExtents& e : w.expected.gemms) detail::exchange_values(e.m, e.n);
  w.column_major_c = w.c != ElementType::void_ && !w.column_major_c;
  w.column_major_d = !w.column_major_d;
  return w;
}

}  // namespace gantry

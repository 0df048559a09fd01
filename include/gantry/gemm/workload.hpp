// What is to be computed, whatever computes it: sizes, elements, majors, layouts, scales, groups and the epilogue as
// text; and what a tuning file says of it.
//
// Invariant: options that give different results, or read or write other memory, give different workloads.
//
// Example:
//     using namespace gantry;
//     GemmWorkload w = workload_of({.d = ElementType::f32});
//     w.m = w.n = w.k = 4096;
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gantry/gemm/options.hpp>

namespace gantry {

// Rows that groups along M are expected to have, as the host knows no others. A distribution: where there are more
// groups than entries, each entry stands for as many, and where the GEMM has more rows, each group has. Empty: each
// group has the mean. To a tuning file they make no difference.
struct ExpectedRows {
  std::vector<std::int64_t> rows{};

  friend bool operator==(const ExpectedRows&, const ExpectedRows&) { return true; }
};

struct GemmWorkload {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  ElementType a = ElementType::bf16, b = ElementType::bf16;
  ElementType c = ElementType::void_, d = ElementType::bf16;
  Major major_a = Major::K, major_b = Major::K;
  // Of groups, M or K is the mean and `batch` counts them.
  GemmGrouping groups = GemmGrouping::none;
  ExpectedRows expected{};
  bool column_major_c = false, column_major_d = false;
  bool promotes = false;
  ScaleMode scale_a = ScaleMode::none, scale_b = ScaleMode::none;
  GemmGate gate = GemmGate::halves;
  bool gathers = false;
  RowScatter scatter = RowScatter::none;
  bool adds = false;  // D += A B^T
  std::string epilogue = "d = acc";

  friend bool operator==(const GemmWorkload&, const GemmWorkload&) = default;
};

// With the operands that options name; sizes and epilogue are left as they are by default.
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

// The rows of all matrices of a batch, or of all groups, in tiles of so many rows.
struct RowTiles {
  double rows = 0, tiles = 0;
  double most = 0;      // tiles of a matrix or a group
  double matrices = 0;  // that have rows: as many are read of what each group has by itself

  double mean() const { return matrices > 0 ? rows / matrices : 0; }
};
// Of groups. `mean_rows`: what each has where no other rows are expected.
inline RowTiles group_tiles(const GemmWorkload& w, std::int64_t mean_rows, int tile) {
  const auto tiles_of = [tile](double rows) { return __builtin_ceil(rows / tile); };
  const auto m = static_cast<double>(mean_rows), batch = static_cast<double>(w.batch);
  double sum = 0;
  for (const std::int64_t rows : w.expected.rows) sum += static_cast<double>(rows);
  if (sum <= 0) return {m * batch, tiles_of(m) * batch, tiles_of(m), batch};
  const auto entries = static_cast<double>(w.expected.rows.size());
  const double each = batch / entries, mean = sum / entries;
  const double scale = __builtin_ceil(mean) == m ? 1 : m / mean;  // M is the mean, rounded up
  RowTiles out;
  for (const std::int64_t rows : w.expected.rows) {
    if (rows == 0) continue;
    const double scaled = static_cast<double>(rows) * scale, tiles = tiles_of(scaled);
    out.rows += scaled * each;
    out.tiles += tiles * each;
    out.most = tiles > out.most ? tiles : out.most;
    out.matrices += each;
  }
  return out;
}

inline RowTiles row_tiles(const GemmWorkload& w, int tile) {
  if (w.groups == GemmGrouping::along_m) return group_tiles(w, w.m, tile);
  const auto m = static_cast<double>(w.m), batch = static_cast<double>(w.batch);
  const double tiles = __builtin_ceil(m / tile);
  return {m * batch, tiles * batch, tiles, batch};
}

// What a kernel with swapped operands computes. The epilogue's text is left as it is.
inline GemmWorkload swapped(GemmWorkload w) {
  detail::exchange_values(w.m, w.n);
  detail::exchange_values(w.a, w.b);
  detail::exchange_values(w.major_a, w.major_b);
  detail::exchange_values(w.scale_a, w.scale_b);
  w.groups = swapped(w.groups);
  w.column_major_c = w.c != ElementType::void_ && !w.column_major_c;
  w.column_major_d = !w.column_major_d;
  return w;
}

// A measured choice.
struct TuningEntry {
  GemmWorkload workload{};
  std::string device{};
  std::string configuration{};
  double milliseconds = 0;  // 0: not recorded
};

}  // namespace gantry

// The check of options that are set, for option_rules.hpp.
#pragma once

#include <gantry/epilogue/detail/nearest.hpp>
#include <gantry/gemm/accumulator_limits.hpp>
#include <gantry/gemm/detail/option_reasons.hpp>

namespace gantry::detail {

// The sentences of these rules name the numbers, since a static assertion prints them as they are.
static_assert(kSm90.wgmma_columns == 256 && kSm90.wgmma_column_step == 8 && kAccumulatorLimits.alone == 128 * 192 &&
                  kAccumulatorLimits.promoted == 64 * 160 && kAccumulatorLimits.scaled_by_column == 64 * 96 &&
                  kAccumulatorLimits.of_three == 128 * 128 && kAccumulatorLimits.columns_of_three == 192,
              "gantry: detail/rule_table.hpp names other limits of tiles and accumulators");

// Warpgroups that share a tile of so many rows. Without a schedule a tile of 64 rows is one warpgroup's, and two share
// any other.
GANTRY_HD constexpr int tile_warpgroups(GemmSchedule schedule, int rows) noexcept {
  return schedule == GemmSchedule::pingpong || rows == 64 ? 1 : 2;
}
// Math warpgroups where nobody says how many: those that share the tile, and two that take turns.
GANTRY_HD constexpr int usual_warpgroups(GemmSchedule schedule, int rows) noexcept {
  return schedule == GemmSchedule::cooperative ? tile_warpgroups(schedule, rows) : 2;
}

// A warpgroup has 192 rows to itself, and such a tile in turns: the schedule of those rows where it is open.
GANTRY_HD constexpr GemmOptions with_schedule_of_rows(GemmOptions o) {
  if (o.tile.m == 192 && o.schedule == GemmSchedule::automatic) o.schedule = GemmSchedule::pingpong;
  return o;
}

// The kernel of a swapped request with what it leaves open: a tile for few rows.
GANTRY_HD constexpr GemmOptions with_swapped_tile(GemmOptions o) {
  constexpr int kRows = 64, kColumns = 32;
  if (o.tile.m == 0) o.tile.m = kRows;
  if (o.tile.n == 0) o.tile.n = kColumns;
  if (o.cluster.m == 0) o.cluster.m = 1;
  if (o.schedule == GemmSchedule::automatic && o.warpgroups != 3) o.schedule = GemmSchedule::cooperative;
  return o;
}

GANTRY_HD constexpr GemmReasons said_of_swapped(const GemmReasons& reasons) {
  GemmReasons out;
  for (GemmReason reason : reasons) {
    reason.swapped = true;
    if (reason.rule == GemmRule::few_rows) reason.rule = GemmRule::tile_rows;  // they are columns of the request
    out.add(reason);
  }
  return out;
}

// Groups begin anywhere along their mode, so that it is never the contiguous one: TMA reads from multiples of 16 bytes.
// The GEMMs of a pointer array begin where each one's address says. Groups along M are checked as they were asked for,
// whether operands are swapped or not.
GANTRY_HD constexpr void check_grouping(const GemmOptions& o, GemmReasons& out) {
  if (o.groups == GemmGrouping::none || o.groups == GemmGrouping::along_n) return;
  const bool along_m = o.groups == GemmGrouping::along_m, along_k = o.groups == GemmGrouping::along_k;
  const auto contiguous = [&](char operand, bool is) {
    if (!is) return;
    out.add({.rule = along_m ? GemmRule::groups_contiguous_m : GemmRule::groups_contiguous_k, .operand = operand});
  };
  const auto has_16_bits = [](ElementType e) { return gemm_kind(e) == GemmKind::none || element_bits(e) == 16; };
  const bool wide = has_16_bits(o.a) && has_16_bits(o.b);
  if (along_k && !wide) {
    const char operand = has_16_bits(o.a) ? 'B' : 'A';
    const ElementType element = operand == 'A' ? o.a : o.b;
    out.add({.rule = GemmRule::groups_element, .operand = operand, .element = element, .other = ElementType::bf16});
  }
  contiguous('A', (along_m && o.major_a == Major::MN) || (along_k && wide && o.major_a == Major::K));
  contiguous('B', along_k && wide && o.major_b == Major::K);
  contiguous('C', along_m && o.c != ElementType::void_ && is_m_major(o.layout_c));
  contiguous('D', along_m && is_m_major(o.layout_d));
  if (o.warpgroups == 3) out.add({.rule = GemmRule::groups_warpgroups});
  if (o.split == SplitMode::reduce_add) out.add({.rule = GemmRule::groups_split});
  if (o.scaled() && (!along_m || o.scale_a == ScaleMode::block)) out.add({.rule = GemmRule::groups_scaled});
  const bool shared = o.cluster.k > 1 || o.constant != ConstantOperand::none;
  if (shared || (o.swapped && !along_m)) out.add({.rule = GemmRule::groups_swapped});
  const bool array = o.groups == GemmGrouping::pointer_array;
  if (array && (o.align_aux != 0 || direct_c(o) || is_direct(o.d, o.align_d))) {
    out.add({.rule = GemmRule::groups_aligned});
  }
}

// Options that no kernel with swapped operands supports.
GANTRY_HD constexpr GemmReasons swapped_refusals(const GemmOptions& o) {
  GemmReasons out;
  check_grouping(o, out);
  if (o.gather_a) out.add({.rule = GemmRule::gather_alone});
  if (o.scatter_d != RowScatter::none) out.add({.rule = GemmRule::scatter_alone});
  return out;
}

inline constexpr int kMostStages = 32, kMostBuffers = 8;  // of the main loop; of an operand in the epilogue

// Checks the options that are set.
class GemmOptionsCheck {
 public:
  GANTRY_HD constexpr GemmOptionsCheck(const GemmOptions& options, const Sm90Limits& limits)
      : o_(with_schedule_of_rows(options)), limits_(limits) {}

  GANTRY_HD constexpr const GemmReasons& check() {
    elements();
    majors();
    tile();
    cluster();
    warpgroups();
    pipeline();
    alignments();
    accumulation();
    check_grouping(o_, out_);
    gather();
    scatter();
    for (int i = 0; i < kBuilderFieldCount; ++i) {
      if ((o_.not_carried >> i & 1) != 0) out_.add({.rule = GemmRule::builder, .first = i});
    }
    return out_;
  }

 private:
  GANTRY_HD constexpr void elements() {
    const GemmKind a = gemm_kind(o_.a), b = gemm_kind(o_.b);
    if (a == GemmKind::none) out_.add(no_products_of('A', o_.a));
    if (b == GemmKind::none) out_.add(no_products_of('B', o_.b));
    if (a != GemmKind::none && b != GemmKind::none && a != b) {
      out_.add({.rule = GemmRule::element_pair, .element = o_.a, .other = o_.b});
    }
  }

  // tf32 lies in memory as f32 does.
  GANTRY_HD static constexpr GemmReason no_products_of(char operand, ElementType element) {
    const bool wide = element == ElementType::f32 || element == ElementType::f64;
    const ElementType nearest = wide ? ElementType::tf32 : ElementType::bf16;
    return {.rule = GemmRule::element, .operand = operand, .element = element, .other = nearest};
  }

  GANTRY_HD constexpr void majors() {
    const auto check = [&](char operand, Major major, ElementType element) {
      if (major == Major::K || element_bits(element) == 16 || o_.groups == GemmGrouping::along_k) return;
      out_.add({.rule = GemmRule::major, .operand = operand, .element = element});
    };
    check('A', o_.major_a, o_.a);
    check('B', o_.major_b, o_.b);
    if (o_.d == ElementType::void_) out_.add({.rule = GemmRule::no_d});
    const auto matrix = [&](char operand, LayoutTag tag, ElementType element) {
      if (element == ElementType::void_ || (!is_im2col(tag) && !tag.per_group)) return;
      out_.add({.rule = GemmRule::layout, .operand = operand});
    };
    matrix('C', o_.layout_c, o_.c);
    matrix('D', o_.layout_d, o_.d);
  }

  GANTRY_HD constexpr void tile() {
    const GemmTile t = o_.tile;
    const bool alone = o_.schedule == GemmSchedule::pingpong;
    const int nearest_rows = t.m < 97 ? 64 : t.m < (alone ? 161 : 193) ? 128 : alone ? 192 : 256;
    if (t.m != 0 && t.m != nearest_rows) {
      const GemmRule rule = t.m > 0 && t.m < 64 && t.m % limits_.wgmma_column_step == 0 ? GemmRule::few_rows
                            : alone                                                     ? GemmRule::pingpong_rows
                                                                                        : GemmRule::tile_rows;
      out_.add({.rule = rule, .actual = t.m, .nearest = nearest_rows});
    }
    // Rows that were refused count as those that work, so that both nearest values work together.
    const int rows = nearest_rows / tile_warpgroups(o_.schedule, nearest_rows);
    const int step = limits_.wgmma_column_step, most = limits_.wgmma_columns, held = most_accumulators() / rows;
    if (t.n != 0 && (t.n < step || t.n % step != 0 || t.n > most)) {
      const int nearest = nearest_multiple(t.n, step), beside = t.m > 0 && held < most ? held / step * step : most;
      out_.add(
          {.rule = GemmRule::tile_columns, .actual = t.n, .nearest = clamped(nearest, step, beside), .first = step});
    } else if (t.m > 0 && t.n > held) {
      out_.add({.rule = GemmRule::accumulators, .actual = t.n, .nearest = held / step * step, .first = rows});
    }
    const int row = elements_per_row(gemm_kind(o_.a) == GemmKind::none ? ElementType::bf16 : o_.a, limits_);
    if (t.k != 0 && t.k != row) {
      out_.add({.rule = GemmRule::tile_depth, .element = o_.a, .actual = t.k, .nearest = row});
    }
  }

  GANTRY_HD constexpr void cluster() {
    const GemmCluster c = o_.cluster;
    const auto nearest = [](int x) { return x < 2 ? 1 : x < 4 ? 2 : x < 7 ? 4 : 8; };
    const auto check = [&](char operand, int x) {
      if (x != 0 && x != nearest(x)) {
        out_.add({.rule = GemmRule::cluster, .operand = operand, .actual = x, .nearest = nearest(x)});
        return false;
      }
      return true;
    };
    const bool is_m = check('M', c.m), is_n = check('N', c.n);
    if (is_m && is_n && c.m * c.n > limits_.portable_cluster) {
      out_.add({.rule = GemmRule::cluster_size,
                .actual = c.m * c.n,
                .nearest = limits_.portable_cluster / c.n,
                .first = limits_.portable_cluster});
    }
    if (c.k != 1 && c.k != 2 && c.k != 4 && c.k != 8) {
      out_.add({.rule = GemmRule::cluster_k, .actual = c.k, .nearest = c.k < 2 ? 1 : c.k < 4 ? 2 : c.k < 7 ? 4 : 8});
    } else if (c.k > 1 && (c.m > 1 || c.n > 1 || o_.schedule == GemmSchedule::pingpong || o_.warpgroups == 3 ||
                           o_.split == SplitMode::reduce_add)) {
      out_.add({.rule = GemmRule::cluster_k_alone, .actual = c.k});
    }
  }

  GANTRY_HD constexpr int most_accumulators() const {
    if (o_.scale_b == ScaleMode::row_block) return kAccumulatorLimits.scaled_by_column;
    return o_.promotes() ? kAccumulatorLimits.promoted : kAccumulatorLimits.alone;
  }

  GANTRY_HD constexpr void warpgroups() {
    const bool together = o_.schedule == GemmSchedule::cooperative;
    const bool three = !together && !o_.scaled() && o_.tile.n <= kAccumulatorLimits.columns_of_three &&
                       o_.tile.m * o_.tile.n <= kAccumulatorLimits.of_three;
    const int usual = usual_warpgroups(o_.schedule, o_.tile.m);
    const int count = o_.warpgroups;
    if (count == 0 || count == usual || (count == 3 && three)) return;
    out_.add({.rule = GemmRule::warpgroups, .actual = count, .nearest = three && count > 2 ? 3 : usual});
  }

  GANTRY_HD constexpr void pipeline() {
    // How many there are at most depends on the tile and the epilogue: choose_stages() says that.
    if (o_.stages < 0 || o_.stages == 1) {
      out_.add({.rule = GemmRule::stages, .actual = o_.stages, .nearest = 2});
    }
    const GemmEpilogueOptions& e = o_.epilogue;
    const int step = limits_.wgmma_column_step;
    if (e.epi_n != 0 && (e.epi_n < step || e.epi_n % step != 0 || (o_.tile.n > 0 && o_.tile.n % e.epi_n != 0))) {
      const int whole = o_.tile.n > 0 ? o_.tile.n : limits_.wgmma_columns;
      out_.add({.rule = GemmRule::subtile,
                .actual = e.epi_n,
                .nearest = nearest_divisor(e.epi_n, whole, step),
                .first = o_.tile.n});
    }
    // A schedule that is left open may give all rows to one warpgroup.
    const bool open = o_.schedule == GemmSchedule::automatic;
    const bool deep = o_.tile.m / (open ? 1 : tile_warpgroups(o_.schedule, o_.tile.m)) % 128 == 0;
    if (e.epi_m != 0 && e.epi_m != 64 && (e.epi_m != 128 || !deep)) {
      out_.add({.rule = GemmRule::subtile_rows, .actual = e.epi_m, .nearest = e.epi_m > 96 && deep ? 128 : 64});
    }
    const auto buffers = [&](char operand, int count) {
      if (count >= 0 && count <= kMostBuffers) return;
      out_.add({.rule = GemmRule::buffers,
                .operand = operand,
                .actual = count,
                .nearest = clamped(count, 1, kMostBuffers),
                .first = kMostBuffers});
    };
    buffers('C', e.stages_c);
    buffers('D', e.stages_d);
    if (e.reuse == Choice::yes && (o_.c == ElementType::void_ || element_bits(o_.c) != element_bits(o_.d))) {
      out_.add({.rule = GemmRule::reuse, .element = o_.c, .other = o_.d});
    }
  }

  GANTRY_HD constexpr void alignments() {
    const auto check = [&](char operand, int align) {
      if (align < 0) out_.add({.rule = GemmRule::align, .operand = operand, .actual = align, .nearest = 1});
    };
    check('C', o_.align_c);
    check('D', o_.align_d);
    check('X', o_.align_aux);
    if (o_.epilogue.reuse == Choice::yes && (direct_c(o_) || direct_d(o_))) {
      out_.add({.rule = GemmRule::reuse_direct, .operand = direct_c(o_) ? 'C' : 'D'});
    }
    if (o_.split == SplitMode::reduce_add && is_direct(o_.d, o_.align_d)) {
      out_.add({.rule = GemmRule::reduce_add_aligned,
                .actual = o_.align_d,
                .nearest = 8 * kTmaAlignment / element_bits(o_.d)});
    }
  }

  GANTRY_HD constexpr void accumulation() {
    const bool fp8 = gemm_kind(o_.a) == GemmKind::fp8 && gemm_kind(o_.b) == GemmKind::fp8;
    if (o_.promotes() && !fp8) {
      out_.add({.rule = o_.scaled() ? GemmRule::scale : GemmRule::promote, .element = o_.a, .other = o_.b});
    }
    const int step = limits_.wgmma_column_step;
    if (o_.scale_b == ScaleMode::block && o_.tile.n > 0 && o_.tile.n % step == 0 && !meets_two_blocks(o_.tile.n)) {
      int nearest = o_.tile.n;
      while (!meets_two_blocks(nearest)) nearest -= step;
      out_.add({.rule = GemmRule::scale_columns, .actual = o_.tile.n, .nearest = nearest});
    }
    if (o_.split != SplitMode::reduce_add) return;
    const bool integers = gemm_kind(o_.a) == GemmKind::int8;
    const bool adds = integers ? o_.d == ElementType::s32
                               : o_.d == ElementType::f32 || o_.d == ElementType::bf16 || o_.d == ElementType::f16;
    if (!adds)
      out_.add(
          {.rule = GemmRule::reduce_add, .element = o_.d, .other = integers ? ElementType::s32 : ElementType::f32});
    if (o_.schedule == GemmSchedule::pingpong || o_.c != ElementType::void_ || is_m_major(o_.layout_d)) {
      out_.add({.rule = GemmRule::reduce_add_plain});
    }
  }

  // Threads copy rows of A into the CTA's own shared memory, as they are.
  GANTRY_HD constexpr void gather() {
    if (!o_.gather_a) return;
    const bool along_k = o_.groups == GemmGrouping::along_k;  // which is refused below
    if (o_.major_a != Major::K && !along_k) out_.add({.rule = GemmRule::gather_major});
    if (o_.a == ElementType::tf32) out_.add({.rule = GemmRule::gather_element, .element = o_.a});
    if (o_.cluster.n > 1) out_.add({.rule = GemmRule::gather_cluster, .actual = o_.cluster.n, .nearest = 1});
    if (o_.warpgroups == 3) out_.add({.rule = GemmRule::gather_warpgroups, .actual = 3, .nearest = 2});
    if (along_k || o_.groups == GemmGrouping::pointer_array) {
      out_.add({.rule = GemmRule::gather_groups});
    }
    if (o_.constant != ConstantOperand::none) out_.add({.rule = GemmRule::gather_alone});
  }

  // Threads write rows of D to where an index says, or another kernel adds them there.
  GANTRY_HD constexpr void scatter() {
    if (o_.scatter_d == RowScatter::none) return;
    if (is_m_major(o_.layout_d)) out_.add({.rule = GemmRule::scatter_major});
    if (o_.scatter_d != RowScatter::store && o_.d != ElementType::f32) {
      out_.add({.rule = GemmRule::scatter_element, .element = o_.d, .other = ElementType::f32});
    }
    if (o_.groups == GemmGrouping::along_k || o_.groups == GemmGrouping::pointer_array) {
      out_.add({.rule = GemmRule::scatter_groups});
    }
    if (o_.split == SplitMode::reduce_add) out_.add({.rule = GemmRule::scatter_alone});
  }

  GemmOptions o_;
  const Sm90Limits& limits_;
  GemmReasons out_{};
};

}  // namespace gantry::detail

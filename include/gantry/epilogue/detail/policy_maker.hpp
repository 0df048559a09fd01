// From the fields of a CollectiveBuilder to a policy, decision by decision, with every reason against it.
#pragma once

#include <gantry/epilogue/atoms.hpp>
#include <gantry/epilogue/builder_options.hpp>
#include <gantry/epilogue/detail/collective_check.hpp>
#include <gantry/epilogue/detail/nearest.hpp>

namespace gantry::detail {

// Makes one policy, decision by decision. Skips decisions that depend on a refused one.
class PolicyMaker {
 public:
  GANTRY_HD constexpr PolicyMaker(const CollectiveBuilder& asked, const Sm90Limits& limits)
      : in_(asked), limits_(limits) {}

  GANTRY_HD constexpr const EpiloguePolicy& make() {
    take_over();
    choose_schedule();
    check_layouts();
    const bool tile = check_cta_tile();
    if (p_.uses_tma()) {
      make_tma(tile);
    } else {
      finish_without_smem();
    }
    CollectiveCheck(in_, p_).check(tile);
    return p_;
  }

 private:
  static constexpr int kLargestExtent = 1024;
  static constexpr int kMostStages = 32;
  static constexpr int kMostWarpgroups = 4;
  static constexpr int kRun = 4;  // accumulators that lie side by side in registers

  GANTRY_HD constexpr bool compatible() const { return in_.flavour == PolicyFlavour::cutlass_compatible; }
  GANTRY_HD constexpr int c_bits() const { return element_bits(in_.c); }
  GANTRY_HD constexpr int d_bits() const { return element_bits(p_.d.smem_element); }

  GANTRY_HD constexpr void take_over() {
    p_.flavour = in_.flavour;
    p_.asked = in_.schedule;
    p_.cta_tile = in_.tile;
    p_.element_acc = in_.acc;
    p_.element_compute = in_.compute;
    p_.rounding = in_.rounding;
    p_.d.element = in_.d;
    p_.d.smem_element = p_.d.exists() ? in_.d : in_.aux;
    p_.c.element = in_.c;
    p_.c.smem_element = p_.c.exists() ? in_.c : p_.d.smem_element;
    p_.d.layout = in_.layout_d;
    p_.c.layout = p_.c.exists() ? in_.layout_c : in_.layout_d;
    p_.c.gmem_alignment = alignment_of(p_.c, in_.align_c);
    p_.d.gmem_alignment = alignment_of(p_.d, in_.align_d);
    check_element(EpilogueSide::accumulator, in_.acc);
    check_element(EpilogueSide::compute, in_.compute);
  }

  GANTRY_HD static constexpr int alignment_of(const EpilogueOperand& x, int asked) {
    const int bits = element_bits(x.smem_element);
    return asked != 0 || bits == 0 ? asked : (bits < 128 ? 128 / bits : 1);
  }

  GANTRY_HD constexpr void check_element(EpilogueSide what, ElementType element) {
    if (element != ElementType::void_) return;
    p_.reasons.add({.rule = EpilogueRule::element_missing,
                    .operand = what,
                    .element = element,
                    .nearest = static_cast<std::int64_t>(ElementType::f32)});
  }

  // ---- Schedule

  GANTRY_HD static constexpr bool aligned(const EpilogueOperand& x) {
    return !x.exists() || (x.gmem_alignment > 0 && is_tma_aligned(x.gmem_alignment, element_bits(x.element)));
  }

  GANTRY_HD constexpr void choose_schedule() {
    p_.schedule = in_.schedule == EpilogueSchedule::automatic ? automatic_schedule() : in_.schedule;
    const EpilogueScheduleInfo s = info(p_.schedule);
    p_.map_warpgroups = s.map_warpgroups;
    p_.warpgroups = s.tile_warpgroups;
    if (in_.warpgroups == 0) return;
    p_.warpgroups = clamped(in_.warpgroups, 1, kMostWarpgroups);
    if (p_.warpgroups == in_.warpgroups) return;
    p_.reasons.add({.rule = EpilogueRule::warpgroups, .actual = in_.warpgroups, .nearest = p_.warpgroups});
  }

  GANTRY_HD constexpr EpilogueSchedule automatic_schedule() const {
    const bool arrays = !compatible() && (p_.c.layout.per_group || p_.d.layout.per_group);
    if (compatible() || !aligned(p_.c) || !aligned(p_.d)) {
      return arrays ? EpilogueSchedule::ptr_array_no_smem_warp_specialized : EpilogueSchedule::no_smem_warp_specialized;
    }
    const bool two = in_.tile.m % (2 * kMmaRows) == 0;
    if (arrays) {
      return two ? EpilogueSchedule::ptr_array_tma_warp_specialized_cooperative
                 : EpilogueSchedule::ptr_array_tma_warp_specialized;
    }
    return two ? EpilogueSchedule::tma_warp_specialized_cooperative : EpilogueSchedule::tma_warp_specialized;
  }

  GANTRY_HD constexpr void check_layouts() {
    if (p_.c.exists()) check_layout(EpilogueSide::c, p_.c.layout);
    check_layout(EpilogueSide::d, p_.d.layout);
  }

  GANTRY_HD constexpr void check_layout(EpilogueSide which, LayoutTag tag) {
    const bool tma = p_.uses_tma();
    if (tag.per_group && is_im2col(tag)) {
      p_.reasons.add({.rule = EpilogueRule::per_group_im2col, .operand = which});
    } else if (tag.per_group && !p_.pointer_array()) {
      p_.reasons.add({.rule = EpilogueRule::per_group_strides, .operand = which, .schedule = p_.schedule});
    } else if (is_im2col(tag) && !tma) {
      p_.reasons.add({.rule = EpilogueRule::im2col_needs_tma,
                      .operand = which,
                      .schedule = p_.schedule,
                      .nearest = static_cast<std::int64_t>(EpilogueSchedule::tma_warp_specialized)});
    }
  }

  // ---- Tiles

  // True if the extents are usable.
  GANTRY_HD constexpr bool check_cta_tile() {
    const bool m = check_extent(TileMode::m, in_.tile.m);
    const bool n = check_extent(TileMode::n, in_.tile.n);
    if (!m || !n || !p_.uses_tma()) return m && n;
    // CUTLASS lets two warpgroups share 64 rows.
    const int all = kMmaRows * p_.warpgroups;
    const int step = compatible() && in_.tile.m < all ? kMmaRows : all;
    if (in_.tile.m % step == 0) return true;
    p_.reasons.add({.rule = EpilogueRule::mma_rows,
                    .actual = in_.tile.m,
                    .nearest = nearest_multiple(in_.tile.m, step),
                    .first = step});
    return false;
  }

  GANTRY_HD constexpr bool check_extent(TileMode mode, int extent) {
    if (extent >= 1 && extent <= kLargestExtent) return true;
    p_.reasons.add({.rule = EpilogueRule::cta_tile_extent,
                    .mode = mode,
                    .actual = extent,
                    .nearest = nearest_extent(mode, extent)});
    return false;
  }

  // Of whole MMAs, rows of 16 bytes, and no more accumulators than threads hold beside the tile's other extent.
  GANTRY_HD constexpr int nearest_extent(TileMode mode, int extent) const {
    const bool rows = mode == TileMode::m;
    // Rows decide how many warpgroups share the tile where nobody says.
    const bool open = rows && p_.uses_tma() && in_.schedule == EpilogueSchedule::automatic && in_.warpgroups == 0;
    const int warpgroups = open && extent > kMmaRows ? 2 : p_.warpgroups;
    const int chunk = d_bits() > 0 ? elements_per_chunk(d_bits()) : 0;
    const int step = rows ? kMmaRows * warpgroups : chunk > 8 ? chunk : 8;
    const int other = clamped(rows ? in_.tile.n : in_.tile.m, 1, kLargestExtent);
    const int held = kMostAccumulators * 128 * warpgroups / other / step * step;
    return clamped(extent, step, clamped(held, step, kLargestExtent));
  }

  GANTRY_HD constexpr bool choose_epi_tile() {
    const TileMN cta{in_.tile.m, in_.tile.n};
    const bool chosen = in_.epi_tile != EpiTile{};
    p_.epi_tile = in_.epi_tile;
    if (!chosen) {
      p_.epi_tile =
          default_epi_tile({.cta_tile = cta, .d_bits = d_bits(), .warpgroups = p_.warpgroups, .flavour = in_.flavour});
    }
    const int before = p_.reasons.size();
    if (chosen) check_chosen_tile();
    if (p_.reasons.size() == before) check_divides(TileMode::m, p_.epi_tile.m, cta.m, kMmaRows * p_.warpgroups);
    if (p_.reasons.size() == before) check_divides(TileMode::n, p_.epi_tile.n, cta.n, compatible() && chosen ? 16 : 8);
    if (p_.epi_tile.n > 0 && p_.epi_tile.n % 8 != 0 && p_.reasons.size() == before) {
      p_.reasons.add({.rule = EpilogueRule::accumulator_columns,
                      .actual = p_.epi_tile.n,
                      .nearest = nearest_multiple(p_.epi_tile.n, 8)});
    }
    if (p_.reasons.size() == before) {
      check_runs(TileMode::m, {p_.epi_tile.m, p_.epi_tile.rows, p_.epi_tile.row_form, kMmaRows * p_.warpgroups});
      check_runs(TileMode::n, {p_.epi_tile.n, p_.epi_tile.columns, p_.epi_tile.column_form, 8});
    }
    return p_.reasons.size() == before;
  }

  // The layout of one mode of the epilogue tile, and what a run is a multiple of: the rows of MMAs, the columns of a
  // matrix of accumulators.
  struct ModeLayout {
    int extent;
    TileRuns runs;
    EpiTile::Form form;
    int step;
  };
  GANTRY_HD constexpr void check_runs(TileMode mode, const ModeLayout& of) {
    if (!of.form.runs()) {
      p_.reasons.add({.rule = of.form.step != 1 ? EpilogueRule::epi_tile_neighbours : EpilogueRule::epi_tile_modes,
                      .mode = mode,
                      .actual = of.form.step != 1 ? of.form.step : of.form.modes,
                      .nearest = packed_runs({of.extent})});
      return;
    }
    const int whole = mode == TileMode::m ? in_.tile.m : in_.tile.n;
    if (of.runs.extent == 0 || fills(of.runs, whole, of.step)) return;
    p_.reasons.add({.rule = EpilogueRule::epi_tile_runs,
                    .mode = mode,
                    .actual = packed_runs(of.runs),
                    .nearest = packed_runs(nearest_runs(of.runs, whole, of.step)),
                    .first = of.step,
                    .second = whole});
  }

  GANTRY_HD constexpr void check_chosen_tile() {
    const TileMN t = p_.epi_tile.extents();
    const int rows = kMmaRows * (p_.warpgroups > 0 ? p_.warpgroups : 1);
    const int columns = compatible() ? 16 : 8;
    if (compatible() && t.m != rows) {
      p_.reasons.add({.rule = EpilogueRule::epi_tile_rows, .schedule = p_.schedule, .actual = t.m, .nearest = rows});
    } else if (t.m < rows || t.m % rows != 0) {
      p_.reasons.add({.rule = EpilogueRule::epi_tile_mma_rows,
                      .actual = t.m,
                      .nearest = nearest_multiple(t.m, rows),
                      .first = rows});
    }
    if (t.n < columns || t.n % columns != 0) {
      p_.reasons.add({.rule = EpilogueRule::epi_tile_columns,
                      .actual = t.n,
                      .nearest = nearest_divisor(t.n, in_.tile.n, columns)});
    }
  }

  GANTRY_HD constexpr void check_divides(TileMode mode, int extent, int whole, int step) {
    if (extent > 0 && whole % extent == 0) return;
    p_.reasons.add({.rule = EpilogueRule::epi_tile_divides,
                    .mode = mode,
                    .actual = extent,
                    .nearest = nearest_divisor(extent, whole, step),
                    .first = whole});
  }

  // ---- Elements, alignments

  GANTRY_HD constexpr bool check_operands() {
    const int before = p_.reasons.size();
    if (p_.d.smem_element == ElementType::void_) {
      p_.reasons.add({.rule = EpilogueRule::d_without_element,
                      .operand = EpilogueSide::d,
                      .nearest = static_cast<std::int64_t>(in_.compute)});
    }
    check_operand(EpilogueSide::c, p_.c);
    check_operand(EpilogueSide::d, p_.d);
    return p_.reasons.size() == before;
  }

  GANTRY_HD constexpr void check_operand(EpilogueSide which, const EpilogueOperand& x) {
    const int bits = element_bits(x.smem_element);
    if (bits == 0) return;
    if (128 % bits != 0) {
      if (which == EpilogueSide::c && !x.exists()) return;
      p_.reasons.add({.rule = EpilogueRule::smem_element,
                      .operand = which,
                      .element = x.smem_element,
                      .actual = bits,
                      .nearest = static_cast<std::int64_t>(ElementType::u8)});
    } else if (!aligned(x)) {
      p_.reasons.add({.rule = EpilogueRule::alignment,
                      .operand = which,
                      .element = x.element,
                      .actual = x.gmem_alignment,
                      .nearest = 128 / bits,
                      .first = std::int64_t{x.gmem_alignment} * bits / 8});
    }
  }

  GANTRY_HD constexpr bool check_smem_rows() {
    const int before = p_.reasons.size();
    if (p_.c.exists()) check_smem_row(EpilogueSide::c, p_.c);
    check_smem_row(EpilogueSide::d, p_.d);
    return p_.reasons.size() == before;
  }

  GANTRY_HD constexpr void check_smem_row(EpilogueSide which, const EpilogueOperand& x) {
    const int chunk = elements_per_chunk(element_bits(x.smem_element));
    const TileMN part = p_.epi_tile.box();
    const int extent = x.m_major() ? part.m : part.n;
    if (extent % chunk == 0) return;
    p_.reasons.add({.rule = EpilogueRule::smem_row,
                    .operand = which,
                    .mode = x.m_major() ? TileMode::m : TileMode::n,
                    .element = x.smem_element,
                    .actual = extent,
                    .nearest = nearest_multiple(extent, chunk),
                    .first = chunk});
  }

  // ---- Stages, fragments

  GANTRY_HD constexpr int take_stages(EpilogueSide which, int asked, int by_rule) {
    if (asked == 0) return by_rule;
    const int taken = clamped(asked, 1, kMostStages);
    if (taken != asked) {
      p_.reasons.add({.rule = EpilogueRule::stages, .operand = which, .actual = asked, .nearest = taken});
    }
    return taken;
  }

  // `tiles`: the subtiles of a CTA tile; many if their number is not known, so that only what was asked is refused.
  GANTRY_HD constexpr void choose_stages(int tiles) {
    const auto least = [](int a, int b) { return a < b ? a : b; };
    p_.stages_d = take_stages(EpilogueSide::d, in_.stages_d, least(tiles, 2));
    // With loads a delayed store is slower, and it complicates the maps of pointer arrays.
    const bool delay_by_rule = !p_.c.exists() && !p_.pointer_array();
    p_.delay_tma_store = in_.delay_tma_store == Choice::automatic ? delay_by_rule : in_.delay_tma_store == Choice::yes;
    // 8-bit elements load fast and take little shared memory: waiting for stores would cost more than own buffers.
    const bool same_wide = p_.c.exists() && p_.d.exists() && c_bits() == d_bits() && d_bits() > 8;
    const bool room =
        in_.stages_c == 0 || in_.stages_c > p_.stages_d || (in_.stages_c == p_.stages_d && !p_.delay_tma_store);
    const bool reuse = in_.reuse_smem_c == Choice::automatic ? same_wide && room : in_.reuse_smem_c == Choice::yes;
    const int few = least(tiles, 4);
    p_.stages_c = take_stages(EpilogueSide::c, in_.stages_c, reuse && few < p_.stages_d + 1 ? p_.stages_d + 1 : few);
    p_.reuse_smem_c = reuse;
  }

  GANTRY_HD constexpr void choose_fragment() {
    const int values = p_.epi_tile.size() / p_.threads();
    if (values < 1 || p_.epi_tile.size() % p_.threads() != 0) {
      p_.reasons.add({.rule = EpilogueRule::tile_threads,
                      .actual = p_.epi_tile.size(),
                      .nearest = nearest_multiple(p_.epi_tile.size(), p_.threads()),
                      .first = p_.threads()});
      return;
    }
    p_.fragment_size = in_.fragment_size == 0 ? values : in_.fragment_size;
    if (p_.fragment_size < 1 || values % p_.fragment_size != 0) {
      p_.reasons.add({.rule = EpilogueRule::fragment_size,
                      .actual = p_.fragment_size,
                      .nearest = nearest_divisor(p_.fragment_size, values, values % kRun == 0 ? kRun : 1),
                      .first = values});
    } else if (p_.fragment_size % kRun != 0 && values % kRun == 0) {
      p_.reasons.add({.rule = EpilogueRule::fragment_runs,
                      .actual = p_.fragment_size,
                      .nearest = nearest_divisor(p_.fragment_size, values, kRun)});
    }
  }

  // ---- Buffers

  GANTRY_HD constexpr void lay_out(EpilogueOperand& x, int stages) const {
    x.stages = stages;
    x.subtile = p_.epi_tile.extents();
    x.part = p_.epi_tile.box();
  }

  GANTRY_HD constexpr void check_reuse() {
    if (!p_.reuse_smem_c) return;
    if (!p_.c.exists() || !p_.d.exists()) {
      p_.reasons.add(
          {.rule = EpilogueRule::reuse_needs_both, .operand = p_.c.exists() ? EpilogueSide::d : EpilogueSide::c});
    }
    if (p_.stages_d > p_.stages_c) {
      p_.reasons.add(
          {.rule = EpilogueRule::reuse_stages, .actual = p_.stages_d, .nearest = p_.stages_c, .first = p_.stages_c});
    }
    if (p_.c.exists() && p_.d.exists() && c_bits() != d_bits()) {
      p_.reasons.add({.rule = EpilogueRule::reuse_space, .actual = d_bits(), .first = c_bits()});
    }
    if (!p_.delay_tma_store || p_.stages_c > p_.stages_d) return;
    if (in_.deadlock == DeadlockCheck::bypassed_for_demonstration) {
      p_.deadlock_bypassed = true;
    } else {
      p_.reasons.add(
          {.rule = EpilogueRule::deadlock, .actual = p_.stages_c, .nearest = p_.stages_d + 1, .first = p_.stages_d});
    }
  }

  // ---- TMA

  GANTRY_HD constexpr void plan_copies() {
    p_.d.box = boxed(EpilogueSide::d, p_.d, TmaOp::store);
    if (!p_.c.exists()) return;
    if (p_.c.smem_element == p_.d.smem_element && p_.c.m_major() == p_.d.m_major()) {
      p_.c.box = p_.d.box;  // the same box, the other way
      p_.c.box.op = TmaOp::load;
    } else {
      p_.c.box = boxed(EpilogueSide::c, p_.c, TmaOp::load);
    }
  }

  GANTRY_HD constexpr TmaMatrixBox boxed(EpilogueSide which, const EpilogueOperand& x, TmaOp op) {
    const TmaPlan plan = subtile_plan(x.smem_element, !x.m_major(), x.part, op);
    for (const TmaReason& r : plan.reasons) p_.reasons.add(quoted(which, r));
    if (!plan.reasons.empty()) return {};
    // The box is a swizzled row wide and as long as the subtile's other extent.
    constexpr auto kLongest = static_cast<int>(kTmaMaxBoxExtent);
    const bool rows = !x.m_major();
    const int extent = rows ? x.part.m : x.part.n;
    if (plan.descriptor.box[1] > kTmaMaxBoxExtent) {
      p_.reasons.add(
          {.rule = EpilogueRule::tma_box,
           .operand = which,
           .mode = rows ? TileMode::m : TileMode::n,
           .actual = extent,
           .nearest = largest_divisor(kLongest, rows ? in_.tile.m : in_.tile.n, rows ? kMmaRows * p_.warpgroups : 8)});
    }
    return compact(plan);
  }

  // ---- Storage

  GANTRY_HD constexpr void lay_out_storage() {
    const StorageNeed& f = in_.fusion;
    if (f.bytes < 0 || f.alignment < 1 || (f.alignment & (f.alignment - 1)) != 0) {
      p_.reasons.add({.rule = EpilogueRule::fusion_storage, .actual = f.bytes, .nearest = 16, .first = f.alignment});
      return;
    }
    p_.storage = epilogue_storage(p_, f);
    check_room(p_, p_.storage, limits_, p_.reasons);
  }

  GANTRY_HD constexpr void make_tma(bool tile) {
    const bool operands = check_operands();
    const bool epi_tile = tile && choose_epi_tile();
    choose_stages(epi_tile ? p_.subtiles() : kMostStages);
    check_reuse();
    if (!epi_tile || !operands || !check_smem_rows()) return;
    choose_fragment();
    lay_out(p_.c, p_.stages_c);
    lay_out(p_.d, p_.store_stages());
    plan_copies();
    if (!p_.refused()) lay_out_storage();
  }

  GANTRY_HD constexpr void finish_without_smem() {
    if (!p_.d.exists()) {
      p_.reasons.add({.rule = EpilogueRule::d_without_element,
                      .operand = EpilogueSide::d,
                      .nearest = static_cast<std::int64_t>(in_.compute)});
    }
    // What a thread visits before it goes on.
    p_.epi_tile = {kMmaRows * p_.warpgroups, in_.tile.n % 32 == 0 ? 32 : in_.tile.n % 16 == 0 ? 16 : 8};
    if (!compatible()) p_.fragment_size = kRun;
    lay_out_storage();
    const auto refuse = [&](EpilogueSetting setting, bool set) {
      if (set) p_.reasons.add({.rule = EpilogueRule::no_smem_setting, .schedule = p_.schedule, .setting = setting});
    };
    refuse(EpilogueSetting::epi_tile, in_.epi_tile != EpiTile{});
    refuse(EpilogueSetting::stages_c, in_.stages_c != 0);
    refuse(EpilogueSetting::stages_d, in_.stages_d != 0);
    refuse(EpilogueSetting::fragment_size, in_.fragment_size != 0 && in_.fragment_size != p_.fragment_size);
    refuse(EpilogueSetting::reuse_smem_c, in_.reuse_smem_c == Choice::yes);
    refuse(EpilogueSetting::delay_tma_store, in_.delay_tma_store == Choice::yes);
  }

  const CollectiveBuilder& in_;
  const Sm90Limits& limits_;
  EpiloguePolicy p_{};
};

}  // namespace gantry::detail

// The options that a builder of epilogues implies: its tile, elements, layouts, alignments, stages and schedule, where
// one warpgroup to a tile means the pingpong kernel. CUTLASS's pointer-array schedules by TMA are those of a GEMM that
// is a pointer array. Without shared memory, threads read C and write D at any alignment. What CUTLASS's rules decide
// of an epilogue (`cutlass_compatible`) becomes options.
//
// Example:
//     using namespace gantry;
//     constexpr GemmOptions o = options_from({.tile = {128, 128, 64}, .d = ElementType::f16, .stages_d = 2});
//     static_assert(o.d == ElementType::f16 && o.epilogue.stages_d == 2);
#pragma once

#include <gantry/epilogue/builder.hpp>
#include <gantry/gemm/options.hpp>

namespace gantry {

namespace detail {

// Schedules by TMA, of one tensor or of a pointer array.
GANTRY_HD constexpr bool has_tile_alone(EpilogueSchedule s) {
  return info(s).collective == EpilogueCollective::tma && info(s).tile_warpgroups == 1;
}
GANTRY_HD constexpr bool shares_tile(EpilogueSchedule s) {
  return info(s).collective == EpilogueCollective::tma && info(s).tile_warpgroups == 2;
}

// D is written by threads, and C read by them, element by element; by CUTLASS's rules so is what is left open.
GANTRY_HD constexpr bool is_without_smem(const CollectiveBuilder& b) {
  if (b.schedule == EpilogueSchedule::no_smem_warp_specialized) return true;
  return b.schedule == EpilogueSchedule::automatic && b.flavour == PolicyFlavour::cutlass_compatible;
}
// CUTLASS's rules decide about buffers, and there is such an epilogue.
GANTRY_HD constexpr bool has_buffers_of_cutlass(const CollectiveBuilder& b) {
  return b.flavour == PolicyFlavour::cutlass_compatible && (has_tile_alone(b.schedule) || shares_tile(b.schedule)) &&
         b.policy().ok();
}

GANTRY_HD constexpr std::uint16_t not_carried(const CollectiveBuilder& b) {
  std::uint16_t out = 0;
  const auto add = [&out](BuilderField field, bool asked) {
    if (asked) out = static_cast<std::uint16_t>(out | 1 << static_cast<int>(field));
  };
  const bool alone = has_tile_alone(b.schedule), shared = shares_tile(b.schedule);
  const bool automatic = b.schedule == EpilogueSchedule::automatic;
  const bool without_smem = is_without_smem(b);
  add(BuilderField::flavour, b.flavour != PolicyFlavour::gantry && !without_smem && !has_buffers_of_cutlass(b));
  add(BuilderField::schedule, !alone && !shared && !automatic && !without_smem);
  add(BuilderField::acc, b.acc != ElementType::f32);
  add(BuilderField::compute, b.compute != ElementType::f32);
  add(BuilderField::rounding, b.rounding != Rounding::nearest_even);
  add(BuilderField::aux, b.aux != ElementType::void_);
  add(BuilderField::warpgroups, b.warpgroups != 0 && b.warpgroups != (alone ? 1 : shared ? 2 : 0));
  add(BuilderField::fragment_size, b.fragment_size != 0);
  add(BuilderField::epi_tile,
      b.epi_tile.has_runs() || b.epi_tile.row_form != EpiTile::Form{} || b.epi_tile.column_form != EpiTile::Form{});
  add(BuilderField::deadlock, b.deadlock != DeadlockCheck::refused);
  add(BuilderField::fusion, b.fusion.bytes != 0);
  return out;
}

}  // namespace detail

// The options that a builder of epilogues implies: its tile, elements, layouts, stages and schedule, where one
// warpgroup to a tile means the pingpong kernel. Other fields are refused (GemmRule::builder).
GANTRY_HD constexpr GemmOptions options_from(const CollectiveBuilder& builder) {
  GemmOptions o;
  o.c = builder.c;
  o.d = builder.d;
  o.layout_c = builder.layout_c;
  o.layout_d = builder.layout_d;
  o.align_c = builder.align_c;
  o.align_d = builder.align_d;
  o.tile = {builder.tile.m, builder.tile.n, builder.tile.k};
  if (detail::has_tile_alone(builder.schedule)) o.schedule = GemmSchedule::pingpong;
  if (detail::shares_tile(builder.schedule)) o.schedule = GemmSchedule::cooperative;
  if (info(builder.schedule).pointer_array) {
    o.groups = GemmGrouping::pointer_array;
    o.layout_c.per_group = o.layout_d.per_group = false;  // each GEMM has its strides
  }
  // A builder's epilogue tile covers all warpgroups that share a CTA tile, a GEMM's covers one warpgroup.
  const int sharing = o.schedule == GemmSchedule::cooperative && o.tile.m != 64 ? 2 : 1;
  o.epilogue = {builder.epi_tile.n,
                builder.stages_c,
                builder.stages_d,
                builder.reuse_smem_c,
                (builder.epi_tile.m + sharing - 1) / sharing,
                builder.delay_tma_store};
  if (detail::is_without_smem(builder)) {
    if (o.c != ElementType::void_) o.align_c = 1;
    if (o.d != ElementType::void_) o.align_d = 1;
  }
  if (detail::has_buffers_of_cutlass(builder)) {
    const EpiloguePolicy policy = builder.policy();
    o.epilogue = {policy.epi_tile.n,
                  policy.c.exists() ? policy.stages_c : 0,
                  policy.stages_d,
                  policy.reuse_smem_c ? Choice::yes : Choice::no,
                  policy.epi_tile.m / sharing,
                  policy.delay_tma_store ? Choice::yes : Choice::no};
  }
  o.not_carried = detail::not_carried(builder);
  return o;
}

}  // namespace gantry

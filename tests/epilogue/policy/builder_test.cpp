// Decisions of CollectiveBuilder that the golden data does not hold: the tuned flavour, overrides, elements and layouts
// beyond it; and the policy as a constant.
#include <gtest/gtest.h>

#include <gantry/epilogue/dispatch_policy.hpp>
#include <gantry/epilogue/policy_static_check.hpp>
#include <gantry/layout/print.hpp>

namespace gantry {
namespace {

constexpr CollectiveBuilder kBase{.schedule = EpilogueSchedule::tma_warp_specialized_cooperative,
                                  .tile = {128, 256, 64},
                                  .c = ElementType::bf16,
                                  .d = ElementType::bf16};

constexpr CollectiveBuilder changed(void (*change)(CollectiveBuilder&)) {
  CollectiveBuilder b = kBase;
  change(b);
  return b;
}

struct Config {
  static constexpr EpiloguePolicy policy = kBase.policy();
};
GANTRY_EPILOGUE_STATIC_CHECK(Config::policy);

TEST(EpiloguePolicy, IsAConstantOfAConfigurationAndTheSameAtRunTime) {
  constexpr int kElements = static_cast<int>(cosize(Config::policy.d.smem_layout()));
  static_assert(kElements == 4 * 128 * 64);
  static_assert(Config::policy.d.smem_layout()(5, 3, 2) == 2 * 128 * 64 + 5 * 64 + (5 * 8 + 3));
  CollectiveBuilder b = kBase;
  const EpiloguePolicy again = b.policy();
  EXPECT_EQ(again.epi_tile, Config::policy.epi_tile);
  EXPECT_EQ(again.d.smem_layout(), Config::policy.d.smem_layout());
  EXPECT_EQ(again.c.box, Config::policy.c.box);
  EXPECT_EQ(again.storage.bytes, Config::policy.storage.bytes);
}

TEST(EpiloguePolicy, IsCompact) { static_assert(sizeof(EpiloguePolicy) <= 1536); }

// The box that the host encodes and the plan that a report shows are of one subtile.
TEST(EpiloguePolicy, BoxesAreThoseOfTheirPlans) {
  EXPECT_EQ(Config::policy.d.box, compact(Config::policy.d.plan(TmaOp::store)));
  EXPECT_EQ(Config::policy.c.box, compact(Config::policy.c.plan(TmaOp::load)));
}

TEST(EpiloguePolicy, TheTunedFlavourFillsRowsOf128Bytes) {
  const auto columns = [](ElementType d, int n) {
    CollectiveBuilder b{.tile = {128, n, 64}, .d = d};
    const EpiloguePolicy p = b.policy();
    EXPECT_TRUE(p.ok());
    return p.epi_tile.n;
  };
  EXPECT_EQ(columns(ElementType::bf16, 256), 64);
  EXPECT_EQ(columns(ElementType::f32, 256), 32);
  EXPECT_EQ(columns(ElementType::f64, 256), 16);
  EXPECT_EQ(columns(ElementType::e4m3, 256), 64);
  EXPECT_EQ(columns(ElementType::bf16, 176), 16);  // what divides the tile
  EXPECT_EQ(columns(ElementType::bf16, 48), 48);
}

TEST(EpiloguePolicy, AutoTakesTmaWhereRowsAreAlignedAndRegistersWhereTheyAreNot) {
  CollectiveBuilder b{.tile = {128, 128, 64}, .c = ElementType::f16, .d = ElementType::f16};
  EXPECT_EQ(b.policy().schedule, EpilogueSchedule::tma_warp_specialized_cooperative);
  b.tile.m = 64;
  EXPECT_EQ(b.policy().schedule, EpilogueSchedule::tma_warp_specialized);
  b.layout_d = per_group(kRowMajor);
  EXPECT_EQ(b.policy().schedule, EpilogueSchedule::ptr_array_tma_warp_specialized);
  b.align_c = 4;
  EXPECT_EQ(b.policy().schedule, EpilogueSchedule::ptr_array_no_smem_warp_specialized);
  b.layout_d = kRowMajor;
  const EpiloguePolicy p = b.policy();
  EXPECT_EQ(p.schedule, EpilogueSchedule::no_smem_warp_specialized);
  EXPECT_TRUE(p.ok());
  EXPECT_EQ(p.storage.bytes, 0);
  b.flavour = PolicyFlavour::cutlass_compatible;
  b.align_c = 8;
  EXPECT_EQ(b.policy().schedule, EpilogueSchedule::no_smem_warp_specialized);
}

TEST(EpiloguePolicy, WhatIsSetIsKept) {
  constexpr EpiloguePolicy p = changed([](CollectiveBuilder& b) {
                                 b.epi_tile = {128, 32};
                                 b.stages_c = 6;
                                 b.stages_d = 3;
                                 b.fragment_size = 8;
                                 b.reuse_smem_c = Choice::no;
                                 b.delay_tma_store = Choice::yes;
                               }).policy();
  static_assert(p.ok());
  EXPECT_EQ(p.stages_c, 6);
  EXPECT_EQ(p.stages_d, 3);
  EXPECT_EQ(p.fragment_size, 8);
  EXPECT_FALSE(p.reuse_smem_c);
  EXPECT_TRUE(p.delay_tma_store);
  EXPECT_EQ(p.subtiles(), 8);
  EXPECT_EQ(p.store_stages(), 3);
  EXPECT_EQ(p.store_unacquired_stages(), 2);
  EXPECT_EQ(p.storage.c_bytes, 6 * 128 * 32 * 2);
  EXPECT_EQ(p.storage.d_bytes, 3 * 128 * 32 * 2);
}

TEST(EpiloguePolicy, ReuseThatNobodyAskedForGivesWayToTheStages) {
  const EpiloguePolicy p = changed([](CollectiveBuilder& b) {
                             b.stages_c = 1;
                             b.stages_d = 2;
                           }).policy();
  EXPECT_TRUE(p.ok());
  EXPECT_FALSE(p.reuse_smem_c);
  const EpiloguePolicy delayed = changed([](CollectiveBuilder& b) {
                                   b.stages_c = 2;
                                   b.stages_d = 2;
                                   b.delay_tma_store = Choice::yes;
                                 }).policy();
  EXPECT_TRUE(delayed.ok());
  EXPECT_FALSE(delayed.reuse_smem_c);
}

TEST(EpiloguePolicy, AnEpilogueTileMayHoldSeveralMmas) {
  const EpiloguePolicy p = CollectiveBuilder{.schedule = EpilogueSchedule::tma_warp_specialized,
                                             .tile = {256, 128, 64},
                                             .epi_tile = {128, 32},
                                             .d = ElementType::f32}
                               .policy();
  EXPECT_TRUE(p.ok());
  EXPECT_EQ(p.subtiles_m(), 2);
  EXPECT_EQ(p.fragment_size, 128 * 32 / 128);
}

TEST(EpiloguePolicy, ThreeWarpGroupsMayShareATile) {
  const EpiloguePolicy p = changed([](CollectiveBuilder& b) {
                             b.tile = {192, 128, 64};
                             b.warpgroups = 3;
                           }).policy();
  EXPECT_TRUE(p.ok());
  EXPECT_EQ(p.epi_tile, (TileMN{192, 64}));
  EXPECT_EQ(p.threads(), 384);
}

TEST(EpiloguePolicy, ComplexNumbersTravelAs64BitElements) {
  const EpiloguePolicy p = changed([](CollectiveBuilder& b) {
                             b.c = b.d = ElementType::cf32;
                             b.compute = ElementType::cf32;
                           }).policy();
  ASSERT_TRUE(p.ok()) << describe(p.reasons[0]).c_str();
  EXPECT_EQ(p.c.plan(TmaOp::load).tma_element, ElementType::u64);
  EXPECT_EQ(p.c.stage_bytes(), 128 * 16 * 8);
  EXPECT_EQ(p.d.smem_store(), CopyOp::auto_vectorizing);
}

TEST(EpiloguePolicy, SignedShortsTravelAsUnsignedOnes) {
  const EpiloguePolicy p = changed([](CollectiveBuilder& b) { b.c = b.d = ElementType::s16; }).policy();
  ASSERT_TRUE(p.ok()) << describe(p.reasons[0]).c_str();
  EXPECT_EQ(p.d.plan(TmaOp::store).tma_element, ElementType::u16);
}

TEST(EpiloguePolicy, PackedElementsTravelAsBytesAndNoCollectiveStoresThem) {
  const EpiloguePolicy p = CollectiveBuilder{.tile = {128, 256, 64}, .d = ElementType::s4}.policy();
  EXPECT_TRUE(!p.ok() && !p.refused() && p.reasons.has(EpilogueRule::packed_element));
  EXPECT_EQ(p.d.plan(TmaOp::store).tma_element, ElementType::u8);
  EXPECT_EQ(p.d.gmem_alignment, 32);
  EXPECT_EQ(p.d.stage_bytes(), 128 * 64 / 2);
}

TEST(EpiloguePolicy, WithoutDTheAuxiliaryOutputStandsInAndOnlyCutlassKeepsItsBuffers) {
  CollectiveBuilder b = changed([](CollectiveBuilder& x) {
    x.d = ElementType::void_;
    x.aux = ElementType::f32;
  });
  const EpiloguePolicy p = b.policy();
  ASSERT_TRUE(p.ok());
  EXPECT_FALSE(p.d.exists());
  EXPECT_EQ(p.d.smem_element, ElementType::f32);
  EXPECT_EQ(p.storage.buffers, EpilogueBuffers::c_only);
  EXPECT_EQ(p.storage.d_bytes, 0);
  b.flavour = PolicyFlavour::cutlass_compatible;
  EXPECT_EQ(b.policy().storage.buffers, EpilogueBuffers::c_and_d);
  b.flavour = PolicyFlavour::gantry;
  b.c = ElementType::void_;
  EXPECT_EQ(b.policy().storage.buffers, EpilogueBuffers::none);
}

TEST(EpiloguePolicy, TheTensorsOfAConvolutionAreCopiedInIm2colMode) {
  const EpiloguePolicy p = changed([](CollectiveBuilder& b) {
                             b.layout_c = kTensorNHWC;
                             b.layout_d = kTensorNDHWC;
                           }).policy();
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(p.copy_op_g2s(), TmaOp::load_im2col);
  EXPECT_EQ(p.copy_op_s2g(), TmaOp::store_im2col);
  EXPECT_EQ(to_text(p.c.gmem_stride()), "((?,?,?),_1,_0)");
  EXPECT_EQ(to_text(p.d.gmem_stride()), "((?,?,?,?),_1,_0)");
  EXPECT_EQ(to_text(p.d.plan(TmaOp::store).tma_gbasis), "(_64,_128):(_1@1,_1@0)");  // channels, pixels
}

TEST(EpiloguePolicy, PointerArraysWithStridesOfTheirOwnHaveNoBatchMode) {
  const EpiloguePolicy p = changed([](CollectiveBuilder& b) {
                             b.schedule = EpilogueSchedule::ptr_array_tma_warp_specialized_cooperative;
                             b.layout_c = per_group(kColumnMajor);
                             b.layout_d = per_group(kRowMajor);
                           }).policy();
  ASSERT_TRUE(!p.refused() && p.reasons.has(EpilogueRule::pointer_arrays));
  EXPECT_EQ(to_text(p.c.gmem_stride()), "(_1,?,_0)");
  EXPECT_EQ(to_text(p.d.plan(TmaOp::store).tma_gbasis), "(_64,_128):(_1@1,_1@0)");
  EXPECT_EQ(p.storage.tensormap_bytes, 3 * 128);  // C's, and one of D for each warpgroup
  EXPECT_EQ(p.storage.tensormap_offset % 128, 0);
}

TEST(EpiloguePolicy, TheFusionsStorageIsPlacedAndAligned) {
  const EpiloguePolicy p = changed([](CollectiveBuilder& b) { b.fusion = {.bytes = 100, .alignment = 2048}; }).policy();
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(p.storage.fusion_offset % 2048, 0);
  EXPECT_EQ(p.storage.alignment, 2048);
  EXPECT_EQ(p.storage.pipeline_offset, p.storage.fusion_offset + 2048);
}

TEST(DispatchPolicy, GoesIntoABuilderAndComesOutOfItsPolicy) {
  constexpr Sm90TmaWarpSpecialized kWanted{
      .stages_c = 3, .stages_d = 1, .fragment_size = 8, .reuse_smem_c = true, .delay_tma_store = true};
  constexpr EpiloguePolicy p = with(kBase, kWanted).policy();
  static_assert(p.ok());
  EXPECT_EQ(dispatch_policy(p), kWanted);
  EXPECT_EQ(to_text(ptr_array_dispatch_policy(p)), "Sm90PtrArrayTmaWarpSpecialized<3, 1, 8, true, true, 1>");
  EXPECT_TRUE(
      with(kBase, {.stages_c = 2, .stages_d = 2, .fragment_size = 8, .reuse_smem_c = true, .delay_tma_store = true})
          .policy()
          .reasons.has(EpilogueRule::deadlock));
}

TEST(EpilogueTags, AreReadByEitherName) {
  EXPECT_EQ(parse_epilogue_schedule("PtrArrayTmaWarpSpecializedPingpong").schedule,
            EpilogueSchedule::ptr_array_tma_warp_specialized_pingpong);
  EXPECT_EQ(parse_epilogue_schedule("no-smem").schedule, EpilogueSchedule::no_smem_warp_specialized);
  EXPECT_FALSE(parse_epilogue_schedule("TmaWarpSpecializedX").ok);
  EXPECT_FALSE(parse_epilogue_schedule("").ok);
  EXPECT_EQ(parse_layout_tag("row*").tag, per_group(kRowMajor));
  EXPECT_EQ(parse_layout_tag("NDHWC").tag, kTensorNDHWC);
  EXPECT_FALSE(parse_layout_tag("*").ok);
  for (const LayoutTag tag :
       {kRowMajor, kColumnMajor, kTensorNWC, kTensorNHWC, kTensorNDHWC, per_group(kColumnMajor)}) {
    EXPECT_EQ(parse_layout_tag(to_text(tag).c_str()).tag, tag);
  }
}

}  // namespace
}  // namespace gantry

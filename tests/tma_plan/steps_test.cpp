// Each step of planning alone, and every reason that planning can give.
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <gantry/layout/parse.hpp>
#include <gantry/layout/print.hpp>
#include <gantry/layout/tiler_text.hpp>
#include <gantry/tma.hpp>

namespace gantry::test {
namespace {

std::string str(const Layout& l) { return to_text(l).c_str(); }
std::string str(const IntTuple& t) { return to_text(t).c_str(); }

constexpr TmaUnits kSame{16, 16};

TEST(Coalesce256, MergesOnlyStaticNeighboursAndOnlyUpTo256) {
  EXPECT_EQ(str(coalesce_256(layout("(_16,_4,_4,_4):(_1,_16,_64,_256)"))), "(_256,_4):(_1,_256)");
  EXPECT_EQ(str(coalesce_256(layout("(_128,_2):(_1,_128)"))), "_256:_1");
  EXPECT_EQ(str(coalesce_256(layout("(_128,_4):(_1,_128)"))), "(_128,_4):(_1,_128)");
  EXPECT_EQ(str(coalesce_256(layout("(_16,_4):(_1,16)"))), "(_16,_4):(_1,16)");
  EXPECT_EQ(str(coalesce_256(layout("(_1,_4):(_7,_9)"))), "_4:_9");
  EXPECT_EQ(str(coalesce_256(layout("_512:_1"))), "_512:_1");
}

TEST(CtaVMap, LeavesOutModesThatTheTilerDoesNotHaveAndSplitsHierarchicalOnes) {
  EXPECT_EQ(str(make_cta_v_map(int_tuple("(512,256,8)"), tiler("(_64,_16)"))), "(_64,_16):(_1@0,_1@1)");
  EXPECT_EQ(str(make_cta_v_map(int_tuple("(_1024,(_4,16))"), tiler("(_32,_8)"))),
            "(_32,(_4,_2)):(_1@0,(_1@0@1,_1@1@1))");
  EXPECT_EQ(str(make_cta_v_map(int_tuple("(1024,256)"), tiler("((_32,_2):(_1,_64),_16)"))),
            "((_32,_2),_16):((_1@0,_64@0),_1@1)");
}

TEST(LeadingUnitModes, StopAtTheFirstStepThatIsNotAStaticOne) {
  EXPECT_EQ(leading_unit_modes(layout("(_32,_128,_2):(_1@1,_1@0,_32@1)")), 2);
  EXPECT_EQ(leading_unit_modes(layout("(_32,_128):(_2@1,_1@0)")), 0);
  EXPECT_EQ(leading_unit_modes(layout("(_32,_8):(_1@1,1@0)")), 1);
  EXPECT_EQ(leading_unit_modes(layout("_32:_1@0")), 1);
}

TEST(Units, CountValuesInWiderAndNarrowerElements) {
  const auto counted = [](const TmaUnits& units, const Int& extent, const Int& step) {
    const ModeInUnits m = in_units(units, extent, step);
    return str(Layout(m.extent, m.step)) + (m.step_fits ? "" : " stride rounded") +
           (m.extent_fits ? "" : " extent rounded");
  };
  const TmaUnits bytes_of_halves{16, 8};
  EXPECT_EQ(counted(bytes_of_halves, 64, _1), "128:_1");
  EXPECT_EQ(counted(bytes_of_halves, _8, 64), "_8:128");
  const TmaUnits wide{8, 64};
  EXPECT_EQ(counted(wide, 1024, _1), "128:_1");
  EXPECT_EQ(counted(wide, 256, 1024), "256:128");
  EXPECT_EQ(counted(wide, 256, 1028), "256:128 stride rounded");
  EXPECT_EQ(counted(wide, _4, _1), "_1:_1 extent rounded");
  EXPECT_EQ(counted(wide, 7, _0), "7:_0");
  EXPECT_FALSE((TmaUnits{6, 8}.exist()));
}

TEST(AppendMissingModes, SkipsStaticOnesAndStaticZerosAndKeepsTheirRunTimeTwins) {
  const Layout box = layout("(_64):(_1@0)");
  const auto appended = [&](const char* gmem) {
    return str(append_missing_modes(box, TmaGmodes(layout(gmem), kSame)));
  };
  EXPECT_EQ(appended("(256,_1,64,6):(_1,256,256,_0)"), "(_64,_1):(_1@0,_1@2)");
  EXPECT_EQ(appended("(256,1,64,6):(_1,256,256,0)"), "(_64,_1,_1,_1):(_1@0,_1@1,_1@2,_1@3)");
}

TEST(AppendMissingModes, WrapsTheFifthModeAndAllThatFollow) {
  const auto grouped = [](const char* box, const char* gmem) {
    return str(append_missing_modes(layout(box), TmaGmodes(layout(gmem), kSame)));
  };
  EXPECT_EQ(grouped("(_8):(_1@0)", "(8,2,2,2):(_1,8,16,32)"), "(_8,_1,_1,_1):(_1@0,_1@1,_1@2,_1@3)");
  EXPECT_EQ(grouped("(_8):(_1@0)", "(8,2,2,2,2):(_1,8,16,32,64)"), "(_8,_1,_1,_1,(_1)):(_1@0,_1@1,_1@2,_1@3,(_1@4))");
  EXPECT_EQ(grouped("(_8,_2,_2,_2,_2,_3):(_1@0,_1@1,_1@2,_1@3,_1@5,_1@6)", "(8,2,2,2,2,2,3):(_1,8,16,32,64,128,256)"),
            "(_8,_2,_2,_2,(_2,_3,_1)):(_1@0,_1@1,_1@2,_1@3,(_1@5,_1@6,_1@4))");
}

// The extent of a dimension reaches the last element of all of its modes: counted, not computed by the formula.
TEST(FillGmemShapeStride, ReachesTheLastElementOfModesThatShareADimension) {
  const Layout gmem = layout("(64,3,2,4):(_1,192,96,1056)");
  const Layout basis = layout("(_32,(_1,_1,_1)):(_1@0,(_1@1,_1@2,_1@3))");
  const TmaGmemModes m = fill_tma_gmem_shape_stride(TmaGmodes(gmem, kSame), basis);
  std::int64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 2; ++j) {
      for (int k = 0; k < 4; ++k) {
        const std::int64_t offset = gmem(0, i, j, k);
        EXPECT_EQ(offset % static_cast<std::int64_t>(m.stride[1]), 0);
        last = std::max(last, offset / static_cast<std::int64_t>(m.stride[1]));
      }
    }
  }
  EXPECT_EQ(m.stride[1], 96U);
  EXPECT_EQ(m.shape[1], static_cast<std::uint64_t>(last + 1));
  const TmaGmemModes zero = fill_tma_gmem_shape_stride(TmaGmodes(layout("(64,3,5):(_1,0,0)"), kSame),
                                                       layout("(_32,(_1,_1)):(_1@0,(_1@1,_1@2))"));
  EXPECT_EQ(zero.stride[1], 0U);
  EXPECT_EQ(zero.shape[1], 5U);
  EXPECT_FALSE(TmaGmodes(layout("(?,3):(_1,64)"), kSame).known());
}

TEST(DivideBox, TakesFromTheLastDimensionFirst) {
  const auto divided = [](const char* box, std::uint32_t n) {
    const TmaBox b = divide_box(layout(box), n);
    return b.fits
               ? std::to_string(b.extents[0]) + "," + std::to_string(b.extents[1]) + "," + std::to_string(b.extents[2])
               : "stuck at " + std::to_string(b.stuck_at);
  };
  EXPECT_EQ(divided("(_16,_4,_2):(_1@0,_1@1,_1@2)", 2), "16,4,1");
  EXPECT_EQ(divided("(_16,_4,_2):(_1@0,_1@1,_1@2)", 4), "16,2,1");
  EXPECT_EQ(divided("(_16,_4,_2):(_1@0,_1@1,_1@2)", 16), "8,1,1");
  EXPECT_EQ(divided("(_32,_7):(_1@0,_1@1)", 4), "stuck at 1");
  EXPECT_EQ(divided("(_8):(_1@0)", 16), "stuck at -1");
}

TEST(Swizzles, AreNamedByTheTensorMapWhereItHasAName) {
  EXPECT_EQ(tma_swizzle(Swizzle(3, 4, 3)).swizzle, TmaSwizzle::bytes_128);
  EXPECT_EQ(tma_swizzle(Swizzle()).swizzle, TmaSwizzle::none);
  EXPECT_EQ(tma_swizzle(Swizzle(2, 5, 2)).swizzle, TmaSwizzle::bytes_128_atom_32);
  EXPECT_EQ(tma_swizzle(Swizzle(2, 6, 3)).swizzle, TmaSwizzle::bytes_128_atom_64);
  for (const Swizzle& sw : {Swizzle(3, 3, 3), Swizzle(1, 4, 1), Swizzle(1, 5, 2), Swizzle(2, 5, 3), Swizzle(4, 4, 4)}) {
    EXPECT_FALSE(tma_swizzle(sw).exists);
  }
  // A swizzle that counts 2-byte elements is the same one on bytes.
  const ComposedLayout tile = composition(Swizzle(3, 3, 3), layout("(_8,_64):(_64,_1)"));
  EXPECT_EQ(byte_swizzle(tile, 16), Swizzle(3, 4, 3));
}

// ---- Reasons

struct Asked {
  TmaPlanRule rule;
  const char* gmem;
  const char* smem;
  const char* tile;
  TmaCopyRequest more{};
};

TmaPlan plan_of(const Asked& a) {
  TmaCopyRequest r = a.more;
  if (r.gtensor.element == ElementType::void_) r.gtensor.element = ElementType::f16;
  r.gtensor.layout = layout(a.gmem);
  const Swizzle swizzle = r.smem.swizzle();
  r.smem = ComposedLayout(swizzle, _0, layout(a.smem), element_bits(r.gtensor.element));
  r.cta_tiler = tiler(a.tile);
  return make_tma_copy(r);
}

TmaCopyRequest with_elements(ElementType value, ElementType tma) {
  TmaCopyRequest r;
  r.gtensor.element = value;
  r.tma_element = tma;
  return r;
}
TmaCopyRequest with_multicast(TmaOp op, std::uint32_t ctas) {
  TmaCopyRequest r;
  r.op = op;
  r.num_multicast = ctas;
  return r;
}
TmaCopyRequest with_swizzle(int bits, int base, int shift) {
  TmaCopyRequest r;
  r.smem = ComposedLayout(Swizzle(bits, base, shift), _0, layout("_1:_0"), 16);
  return r;
}

const Asked kAsked[] = {
    {TmaPlanRule::gmem_invalid, "(256,0):(_1,256)", "(_32,_8):(_1,_32)", "(_32,_8)"},
    {TmaPlanRule::smem_invalid, "(256,64):(_1,256)", "(_32,_0):(_1,_32)", "(_32,_8)"},
    {TmaPlanRule::element_without_format, "(256,64):(_1,256)", "(_32,_8):(_1,_32)", "(_32,_8)",
     with_elements(ElementType::s4, ElementType::s4)},
    {TmaPlanRule::recast_width, "(256,64):(_1,256)", "(_32,_8):(_1,_32)", "(_32,_8)",
     with_elements(ElementType::e2m3, ElementType::u8)},
    {TmaPlanRule::recast_stride, "(1024,256):(_1,1028)", "(_32,_8):(_1,_32)", "(_32,_8)",
     with_elements(ElementType::u8, ElementType::u64)},
    {TmaPlanRule::recast_extent, "(1023,256):(_1,1024)", "(_32,_8):(_1,_32)", "(_32,_8)",
     with_elements(ElementType::u8, ElementType::u16)},
    {TmaPlanRule::recast_extent, "(1024,256):(_1,1024)", "(_12,_8):(_1,_12)", "(_12,_8)",
     with_elements(ElementType::u8, ElementType::u64)},
    {TmaPlanRule::recast_needs_unit_stride, "(256,64):(1,256)", "(_32,_8):(_1,_32)", "(_32,_8)",
     with_elements(ElementType::f16, ElementType::u8)},
    {TmaPlanRule::tiler_rank, "(512,256):(_1,512)", "(_32,_8,_4):(_1,_32,_256)", "(_32,_8,_4)"},
    {TmaPlanRule::tile_invalid, "((_24,40),256):((_1,64),2560)", "(_64,_8):(_1,_64)", "(_64,_8)"},
    {TmaPlanRule::tile_dynamic, "((16,40),256):((_1,16),640)", "(_64,_8):(_1,_64)", "(_64,_8)"},
    {TmaPlanRule::smem_dynamic, "(512,512):(_1,512)", "(32,_8):(_1,32)", "(_32,_8)"},
    {TmaPlanRule::size_mismatch, "(1024,512):(_1,1024)", "(_32,_8):(_1,_32)", "(_32,_16)"},
    {TmaPlanRule::smem_without_unit_stride, "(512,512):(_1,512)", "(_32,_8):(_2,_64)", "(_32,_8)"},
    {TmaPlanRule::shared_stride_negative, "(512,512):(_1,512)", "(_32,_8):(_1,-32)", "(_32,_8)"},
    {TmaPlanRule::shared_overlaps, "(512,512):(_1,512)", "(_32,_8):(_1,_16)", "(_32,_8)"},
    {TmaPlanRule::tile_steps_over_mode, "(256,256):(_1,256)", "(_16,_8):(_1,_16)", "(_16:_2,_8)"},
    {TmaPlanRule::major_mismatch, "(1024,256):(_1,1024)", "(_32,_64):(_64,_1)", "(_32,_64)"},
    {TmaPlanRule::gmem_without_unit_stride, "(512,512):(8,4096)", "(_32,_16):(_1,_32)", "(_32,_16)"},
    {TmaPlanRule::stride_negative, "(512,64):(_1,-512)", "(_32,_16):(_1,_32)", "(_32,_16)"},
    {TmaPlanRule::swizzle_without_format, "(256,256):(256,_1)", "(_8,_64):(_64,_1)", "(_8,_64)", with_swizzle(3, 3, 3)},
    {TmaPlanRule::merged_in_last_dimension, "(_32,4,4,4,(_2,_4)):(_1,32,128,512,(_2048,_4096))",
     "(_32,_2,_2,_2,(_2,_4)):(_1,_32,_64,_128,(_256,_512))", "(_32,_2,_2,_2,(_2,_4))"},
    {TmaPlanRule::multicast_count, "(256,256):(256,_1)", "(_8,_64):(_64,_1)", "(_8,_64)",
     with_multicast(TmaOp::load_multicast, 0)},
    {TmaPlanRule::multicast_needs_operation, "(256,256):(256,_1)", "(_8,_64):(_64,_1)", "(_8,_64)",
     with_multicast(TmaOp::store, 2)},
    {TmaPlanRule::multicast_not_dividing, "(256,512):(_1,256)", "(_32,_7):(_1,_32)", "(_32,_7)",
     with_multicast(TmaOp::load_multicast, 4)},
    {TmaPlanRule::multicast_too_wide, "(256):(_1)", "(_8):(_1)", "(_8)", with_multicast(TmaOp::load_multicast, 16)},
    {TmaPlanRule::tile_not_reproduced, "(32,8,8,8,6,8):(_1,32,256,2048,16384,98304)",
     "(_16,_2,_2,_2,_2,_2):(_1,_16,_32,_64,_128,_256)", "(_16,_2,_2,_2,_2,_2)"},
    {TmaPlanRule::tile_leaves_mode, "(32,8,8,8,5,8):(_1,32,256,2048,16384,81920)",
     "(_16,_2,_2,_2,_2,_1):(_1,_16,_32,_64,_128,_256)", "(_16,_2,_2,_2,_2,_1)"},
    {TmaPlanRule::mode_without_coordinate, "(256,_6,8):(_1,_0,256)", "(_64,_4):(_1,_64)", "(_64,_4)"},
    {TmaPlanRule::coordinate_step_too_large, "(8,2,2,2,2,2):(_1,8,16,32,64,549755813888)",
     "(_8,_1,_1,_1,_1,_1):(_1,_8,_8,_8,_8,_8)", "(_8,_1,_1,_1,_1,_1)"},
    {TmaPlanRule::multicast_beyond_cluster, "(4096,4096):(4096,_1)", "(_64,_64):(_64,_1)", "(_64,_64)",
     with_multicast(TmaOp::load_multicast, 32)},
    {TmaPlanRule::shared_step_misaligned, "(1024,256):(256,_1)", "(_8,_32):(_48,_1)", "(_8,_32)"},
    {TmaPlanRule::rows_padded, "(1024,256):(256,_1)", "(_8,_32):(_32,_1)", "(_8,_32)", with_swizzle(3, 4, 3)},
};

TEST(Reasons, EachRuleIsGivenWhereItIsBroken) {
  for (const Asked& a : kAsked) {
    const TmaPlan plan = plan_of(a);
    EXPECT_FALSE(plan.ok()) << entry_of(a.rule).name;
    EXPECT_TRUE(plan.reasons.has(a.rule)) << entry_of(a.rule).name;
    for (const TmaReason& r : plan.reasons) {
      const std::string sentence = describe(r).c_str();
      EXPECT_EQ(sentence.find('{'), std::string::npos) << sentence;
      EXPECT_LT(sentence.size(), 500U) << sentence;
    }
  }
}

// A rule that nothing can break would be dead; bind_mismatch and operand_rank have their own tests.
TEST(Reasons, AllRulesAreShown) {
  std::set<TmaPlanRule> shown = {TmaPlanRule::bind_mismatch, TmaPlanRule::operand_rank};
  for (const Asked& a : kAsked) shown.insert(a.rule);
  int rules = 0;
#define GANTRY_X(id, ...) ++rules;
#include <gantry/tma/detail/plan_rule_table.hpp>
  EXPECT_EQ(static_cast<int>(shown.size()), rules);
}

TEST(Reasons, SayWhatWasAskedTheRuleAndTheNearestValue) {
  const auto first = [](const Asked& a) { return std::string(describe(plan_of(a).reasons[0]).c_str()); };
  EXPECT_EQ(
      first({TmaPlanRule::size_mismatch, "(1024,512):(_1,1024)", "(_32,_8):(_1,_32)", "(_32,_16)"}),
      "the shared layout has 256 elements and the tile 512: one copy fills the layout with the tile, so both have "
      "the same size; a tile with the extents of the shared layout works, or a shared layout of 512 elements");
  EXPECT_EQ(first({TmaPlanRule::major_mismatch, "((_4,1024),256):((256,1024),_1)", "(_64,_32):(_1,_64)", "(_64,_32)"}),
            "shared memory runs along global mode 0.0, whose stride is 256: it must run along the mode of stride 1; "
            "that is mode 1");
}

TEST(Reasons, AreFoundAtCompileTimeToo) {
  constexpr TmaPlan plan = make_tma_copy(
      TmaOp::load, {.element = ElementType::f16, .layout = make_layout(make_shape(512, 512), make_stride(_1, 512))},
      make_layout(make_shape(_32, _8)), make_tile(_32, _16));
  static_assert(plan.refused && plan.reasons.has(TmaPlanRule::size_mismatch));
}

// ---- Forms

TEST(GemmForms, KeepTheModesOfTheirOperandAndShareItAlongTheOtherOne) {
  const GlobalTensor a{
      .address = 4096, .element = ElementType::bf16, .layout = layout("(512,1024,2):(1024,_1,524288)")};
  const ComposedLayout smem(Swizzle(3, 4, 3), _0, layout("(_128,_64):(_64,_1)"), 16);
  const IntTuple tile = make_shape(_128, _256, _64);
  const IntTuple cluster = make_shape(_2, _4, _1);
  const TmaPlan load_a = make_tma_copy_A_sm90(
      {.op = TmaOp::load_multicast, .gtensor = a, .smem = smem, .tile_mnk = tile, .cluster_mnk = cluster});
  EXPECT_TRUE(load_a.ok());
  EXPECT_EQ(load_a.num_multicast, 4U);
  EXPECT_EQ(load_a.descriptor.box[0], 64U);
  EXPECT_EQ(load_a.descriptor.box[1], 32U);
  const ComposedLayout smem_b(Swizzle(3, 4, 3), _0, layout("(_256,_64):(_64,_1)"), 16);
  const TmaPlan load_b = make_tma_copy_B_sm90(
      {.op = TmaOp::load_multicast, .gtensor = a, .smem = smem_b, .tile_mnk = tile, .cluster_mnk = cluster});
  EXPECT_EQ(load_b.num_multicast, 2U);
  EXPECT_EQ(load_b.descriptor.box[1], 128U);
  const ComposedLayout smem_c(Swizzle(3, 4, 3), _0, layout("(_128,(_64,_4)):(_64,(_1,_8192))"), 16);
  const TmaPlan store_c = make_tma_copy_C_sm90(
      {.op = TmaOp::store, .gtensor = a, .smem = smem_c, .tile_mnk = tile, .cluster_mnk = cluster});
  EXPECT_EQ(store_c.num_multicast, 1U);
  EXPECT_EQ(TmaTileWalk(store_c).count(), 4);
}

TEST(MakeTmaCopy, TakesATileAsLargeAsTheSharedLayoutByDefault) {
  const GlobalTensor g{.address = 4096, .element = ElementType::f32, .layout = layout("(1024,256):(256,_1)")};
  const TmaPlan plain = make_tma_copy(TmaOp::load, g, layout("((_8,_4),_32):((_32,_256),_1)"));
  EXPECT_EQ(str(plain.cta_v_map), "(_32,_32):(_1@0,_1@1)");
  const TmaPlan shared =
      make_tma_copy(TmaOp::load_multicast, g, layout("(_32,_32):(_32,_1)"), make_tile(_32, _32), make_shape(_2, _2));
  EXPECT_EQ(shared.num_multicast, 4U);
  EXPECT_EQ(str(shared.tma_tensor_stride), "(_1@1,_1@0)");
}

TEST(Plan, PacksTwoFourBitValuesIntoEveryByte) {
  TmaCopyRequest r = with_elements(ElementType::s4, ElementType::u8);
  r.gtensor.layout = layout("(256,512):(512,_1)");
  r.gtensor.address = 4096;
  r.smem = layout("(_32,_256):(_256,_1)");
  const TmaPlan plan = make_tma_copy(r);
  EXPECT_TRUE(plan.ok());
  EXPECT_EQ(plan.descriptor.dims[0], 256U);
  EXPECT_EQ(plan.descriptor.strides[0], 256U);
  EXPECT_EQ(plan.descriptor.box[0], 128U);
  EXPECT_EQ(plan.bytes_per_instruction(), 4096);
  EXPECT_EQ(str(plan.tma_tensor_stride), "(_1@1,_1/_2@0)");
  EXPECT_EQ(tile_origin(plan, make_coord(1, 1)).values[0], 128);
}

}  // namespace
}  // namespace gantry::test

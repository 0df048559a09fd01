// Each rule is broken once: its sentence names what was asked, the actual value and one that works, and that one works.
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/builder.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/graph_rules.hpp>

namespace gantry {
namespace {

struct Broken {
  EpilogueRule rule;
  CollectiveBuilder asked;
  std::function<void(CollectiveBuilder&, std::int64_t nearest)> mend = nullptr;
};

constexpr CollectiveBuilder kBase{.schedule = EpilogueSchedule::tma_warp_specialized,
                                  .tile = {128, 128, 64},
                                  .c = ElementType::f16,
                                  .d = ElementType::f16};

template <class F>
CollectiveBuilder with(const F& change) {
  CollectiveBuilder b = kBase;
  change(b);
  return b;
}

// The runs that a reason names.
Layout layout_of(std::int64_t packed) {
  const TileRuns runs = unpacked_runs(packed);
  return make_layout(make_shape(Int(runs.extent), Int(runs.count)), make_stride(_1, Int(runs.stride)));
}

std::vector<Broken> broken_rules() {
  using B = CollectiveBuilder;
  constexpr auto kCompatible = PolicyFlavour::cutlass_compatible;
  return {
      {EpilogueRule::cta_tile_extent, with([](B& b) { b.tile.n = -8; }),
       [](B& b, std::int64_t v) { b.tile.n = static_cast<int>(v); }},
      {EpilogueRule::cta_tile_extent, with([](B& b) {
         b.tile = {128, 2000, 64};
       }),
       [](B& b, std::int64_t v) { b.tile.n = static_cast<int>(v); }},
      {EpilogueRule::cta_tile_extent, with([](B& b) {
         b.tile = {100000, 128, 64};
       }),
       [](B& b, std::int64_t v) { b.tile.m = static_cast<int>(v); }},
      {EpilogueRule::cta_tile_extent, with([](B& b) {
         b.tile = {64, 1032, 64};
         b.schedule = EpilogueSchedule::no_smem_warp_specialized;
       }),
       [](B& b, std::int64_t v) { b.tile.n = static_cast<int>(v); }},
      {EpilogueRule::cta_tile_extent, with([](B& b) {
         b.tile = {2048, 32, 64};
       }),
       [](B& b, std::int64_t v) { b.tile.m = static_cast<int>(v); }},
      {EpilogueRule::mma_rows, with([](B& b) { b.tile.m = 100; }),
       [](B& b, std::int64_t v) { b.tile.m = static_cast<int>(v); }},
      {EpilogueRule::warpgroups, with([](B& b) {
         b.tile.m = 256;
         b.warpgroups = 9;
       }),
       [](B& b, std::int64_t v) { b.warpgroups = static_cast<int>(v); }},
      {EpilogueRule::epi_tile_rows, with([](B& b) {
         b.flavour = kCompatible;
         b.epi_tile = {128, 32};
       }),
       [](B& b, std::int64_t v) { b.epi_tile.m = static_cast<int>(v); }},
      {EpilogueRule::epi_tile_mma_rows, with([](B& b) {
         b.epi_tile = {32, 32};
       }),
       [](B& b, std::int64_t v) { b.epi_tile.m = static_cast<int>(v); }},
      {EpilogueRule::epi_tile_columns, with([](B& b) {
         b.flavour = kCompatible;
         b.epi_tile = {64, 24};
       }),
       [](B& b, std::int64_t v) { b.epi_tile.n = static_cast<int>(v); }},
      {EpilogueRule::epi_tile_divides, with([](B& b) {
         b.epi_tile = {64, 48};
       }),
       [](B& b, std::int64_t v) { b.epi_tile.n = static_cast<int>(v); }},
      {EpilogueRule::epi_tile_neighbours, with([](B& b) { b.epi_tile = make_tile(_64, make_layout(_32, _2)); }),
       [](B& b, std::int64_t v) { b.epi_tile = make_tile(_64, layout_of(v)); }},
      {EpilogueRule::epi_tile_modes,
       with([](B& b) { b.epi_tile = make_tile(_64, make_layout(make_shape(_8, _2, _2), make_stride(_1, _16, _64))); }),
       [](B& b, std::int64_t v) { b.epi_tile = make_tile(_64, layout_of(v)); }},
      {EpilogueRule::epi_tile_runs,
       with([](B& b) { b.epi_tile = make_tile(make_layout(make_shape(_32, _2), make_stride(_1, _64)), _32); }),
       [](B& b, std::int64_t v) { b.epi_tile = make_tile(layout_of(v), _32); }},
      {EpilogueRule::epi_tile_runs, with([](B& b) {  // columns that two subtiles would have
         b.epi_tile = make_tile(_64, make_layout(make_shape(_32, _2), make_stride(_1, Int(48))));
       }),
       [](B& b, std::int64_t v) { b.epi_tile = make_tile(_64, layout_of(v)); }},
      {EpilogueRule::accumulator_columns, with([](B& b) { b.tile.n = 20; }),
       [](B& b, std::int64_t v) { b.tile.n = static_cast<int>(v); }},
      {EpilogueRule::fragment_size, with([](B& b) { b.fragment_size = 7; }),
       [](B& b, std::int64_t v) { b.fragment_size = static_cast<int>(v); }},
      {EpilogueRule::smem_row, with([](B& b) {
         b.d = ElementType::e4m3;
         b.tile.n = 72;
       }),
       [](B& b, std::int64_t v) { b.tile.n = static_cast<int>(v); }},
      {EpilogueRule::smem_element, with([](B& b) { b.c = ElementType::e3m2; }),
       [](B& b, std::int64_t v) { b.c = static_cast<ElementType>(v); }},
      {EpilogueRule::alignment, with([](B& b) { b.align_c = 1; }),
       [](B& b, std::int64_t v) { b.align_c = static_cast<int>(v); }},
      {EpilogueRule::alignment, with([](B& b) {
         b.d = ElementType::f32;
         b.align_d = 6;
       }),
       [](B& b, std::int64_t v) { b.align_d = static_cast<int>(v); }},
      {EpilogueRule::d_without_element, with([](B& b) { b.d = ElementType::void_; }),
       [](B& b, std::int64_t v) { b.aux = static_cast<ElementType>(v); }},
      {EpilogueRule::element_missing, with([](B& b) { b.compute = ElementType::void_; }),
       [](B& b, std::int64_t v) { b.compute = static_cast<ElementType>(v); }},
      {EpilogueRule::stages, with([](B& b) { b.stages_d = -1; }),
       [](B& b, std::int64_t v) { b.stages_d = static_cast<int>(v); }},
      {EpilogueRule::reuse_needs_both, with([](B& b) {
         b.c = ElementType::void_;
         b.reuse_smem_c = Choice::yes;
       }),
       [](B& b, std::int64_t) { b.reuse_smem_c = Choice::no; }},
      {EpilogueRule::reuse_stages, with([](B& b) {
         b.stages_c = 2;
         b.stages_d = 3;
         b.reuse_smem_c = Choice::yes;
       }),
       [](B& b, std::int64_t v) { b.stages_d = static_cast<int>(v); }},
      {EpilogueRule::reuse_space, with([](B& b) {
         b.d = ElementType::f32;
         b.reuse_smem_c = Choice::yes;
       }),
       [](B& b, std::int64_t) { b.reuse_smem_c = Choice::no; }},
      {EpilogueRule::deadlock, with([](B& b) {
         b.stages_c = b.stages_d = 2;
         b.reuse_smem_c = b.delay_tma_store = Choice::yes;
       }),
       [](B& b, std::int64_t v) { b.stages_c = static_cast<int>(v); }},
      {EpilogueRule::per_group_strides, with([](B& b) { b.layout_d = per_group(kRowMajor); }),
       [](B& b, std::int64_t) { b.layout_d = kRowMajor; }},
      {EpilogueRule::per_group_im2col, with([](B& b) { b.layout_d = per_group(kTensorNHWC); }),
       [](B& b, std::int64_t) { b.layout_d = kTensorNHWC; }},
      {EpilogueRule::im2col_needs_tma, with([](B& b) {
         b.schedule = EpilogueSchedule::no_smem_warp_specialized;
         b.layout_d = kTensorNWC;
       }),
       [](B& b, std::int64_t v) { b.schedule = static_cast<EpilogueSchedule>(v); }},
      {EpilogueRule::fusion_storage, with([](B& b) { b.fusion = {.bytes = 64, .alignment = 24}; }),
       [](B& b, std::int64_t v) { b.fusion.alignment = static_cast<int>(v); }},
      {EpilogueRule::shared_memory, with([](B& b) {
         b.tile.n = 256;
         b.epi_tile = {64, 256};
         b.stages_c = 8;
       }),
       [](B& b, std::int64_t v) { b.stages_c = static_cast<int>(v); }},
      {EpilogueRule::tma_box, with([](B& b) {
         b.tile = {320, 64, 64};
         b.epi_tile = {320, 32};
       }),
       [](B& b, std::int64_t v) { b.epi_tile.m = static_cast<int>(v); }},
      {EpilogueRule::pointer_arrays, with([](B& b) { b.schedule = EpilogueSchedule::ptr_array_tma_warp_specialized; }),
       [](B& b, std::int64_t v) { b.schedule = static_cast<EpilogueSchedule>(v); }},
      {EpilogueRule::packed_element, with([](B& b) {
         b.tile.n = 256;
         b.d = ElementType::s4;
       }),
       [](B& b, std::int64_t v) { b.d = static_cast<ElementType>(v); }},
      {EpilogueRule::packed_element, with([](B& b) {
         b.schedule = EpilogueSchedule::no_smem_warp_specialized;
         b.c = ElementType::e3m2;
       }),
       [](B& b, std::int64_t v) { b.c = static_cast<ElementType>(v); }},
      {EpilogueRule::compute_element, with([](B& b) { b.compute = ElementType::f64; }),
       [](B& b, std::int64_t v) { b.compute = static_cast<ElementType>(v); }},
      {EpilogueRule::wide_element, with([](B& b) { b.d = ElementType::cf64; }),
       [](B& b, std::int64_t v) { b.d = static_cast<ElementType>(v); }},
      {EpilogueRule::complex_operand, with([](B& b) { b.c = b.d = ElementType::cf32; }),
       [](B& b, std::int64_t v) { b.compute = static_cast<ElementType>(v); }},
      {EpilogueRule::real_destination, with([](B& b) { b.compute = ElementType::cf32; }),
       [](B& b, std::int64_t v) { b.d = static_cast<ElementType>(v); }},
      {EpilogueRule::fragment_runs, with([](B& b) { b.fragment_size = 2; }),
       [](B& b, std::int64_t v) { b.fragment_size = static_cast<int>(v); }},
      {EpilogueRule::shared_mma_rows, with([](B& b) {
         b.flavour = kCompatible;
         b.schedule = EpilogueSchedule::tma_warp_specialized_cooperative;
         b.tile.m = 64;
       }),
       [](B& b, std::int64_t v) { b.tile.m = static_cast<int>(v); }},
      {EpilogueRule::shared_mma_rows, with([](B& b) {
         b.schedule = EpilogueSchedule::no_smem_warp_specialized;
         b.tile.m = 100;
       }),
       [](B& b, std::int64_t v) { b.tile.m = static_cast<int>(v); }},
      {EpilogueRule::mma_columns, with([](B& b) {
         b.schedule = EpilogueSchedule::no_smem_warp_specialized;
         b.tile.n = 20;
       }),
       [](B& b, std::int64_t v) { b.tile.n = static_cast<int>(v); }},
      {EpilogueRule::accumulators, with([](B& b) {
         b.tile = {256, 512, 64};
       }),
       [](B& b, std::int64_t v) { b.tile.n = static_cast<int>(v); }},
      {EpilogueRule::no_smem_setting, with([](B& b) {
         b.schedule = EpilogueSchedule::no_smem_warp_specialized;
         b.stages_d = 2;
       }),
       [](B& b, std::int64_t) { b.stages_d = 0; }},
  };
}

struct BrokenByAGraph {
  EpilogueRule rule;
  CollectiveBuilder asked;
  const char* expression;
};

std::vector<BrokenByAGraph> rules_broken_by_graphs() {
  using B = CollectiveBuilder;
  const auto complex = with([](B& b) { b.c = b.d = b.acc = b.compute = ElementType::cf32; });
  return {
      {EpilogueRule::source_without_element, with([](B& b) { b.c = ElementType::void_; }), "d = acc + c"},
      {EpilogueRule::gated_graph, kBase, "d = silu(gate(acc)) * up(acc)"},
      {EpilogueRule::d_not_given, kBase, "x:f16 = acc"},
      {EpilogueRule::d_not_stored, with([](B& b) {
         b.d = ElementType::void_;
         b.aux = ElementType::f16;
       }),
       "d = acc"},
      {EpilogueRule::function_without_form, complex, "d = gelu(acc)"},
      {EpilogueRule::rotated_heads, with([](B& b) { b.schedule = EpilogueSchedule::no_smem_warp_specialized; }),
       "d = rotate(acc, 16)"},
      {EpilogueRule::combined_columns, with([](B& b) { b.schedule = EpilogueSchedule::no_smem_warp_specialized; }),
       "d = across_max(acc, 8)"},
      {EpilogueRule::blocks_of_rows, kBase, "d = acc; s = reduce_row_add(acc, 8)"},
      {EpilogueRule::blocks_of_columns, kBase, "d = acc; s = reduce_col_add(acc, 8)"},
      {EpilogueRule::tensor_without_smem, with([](B& b) { b.schedule = EpilogueSchedule::no_smem_warp_specialized; }),
       "d = acc + load(x:f16)"},
      {EpilogueRule::argument_element, kBase, "d = acc + row(r:cf32)"},
      {EpilogueRule::argument_element, kBase, "d = acc + load(x:s4)"},
      {EpilogueRule::argument_element, kBase, "d = acc; s:e4m3 = reduce_row_add(acc)"},
      {EpilogueRule::reduction_of_complex, complex, "d = acc; s = reduce_row_add(acc)"},
      {EpilogueRule::smem_row, with([](B& b) {
         b.epi_tile = {64, 8};
       }),
       "d = acc; x:e4m3 = acc"},
      {EpilogueRule::tma_box, with([](B& b) {
         b.tile = {320, 64, 64};
         b.epi_tile = {320, 32};
         b.c = ElementType::void_;
         b.layout_d = kColumnMajor;
       }),
       "d = acc; x:f16 = acc"},
      {EpilogueRule::shared_memory, with([](B& b) {
         b.tile.n = 256;
         b.epi_tile = {64, 256};
         b.stages_d = 6;
         b.c = ElementType::void_;
       }),
       "d = acc; x:f16 = acc"},
  };
}

// D takes the place of C, so that buffers count once; each has a buffer of x beside it.
TEST(EpilogueRefusals, SayHowManySharedBuffersFitBesideAGraph) {
  const auto reasons = [](int buffers) {
    const CollectiveBuilder asked = with([&](CollectiveBuilder& b) {
      b.tile.n = 256;
      b.epi_tile = {64, 256};
      b.stages_c = buffers;
      b.reuse_smem_c = Choice::yes;
    });
    return graph_reasons(asked.policy(), fusion::graph("d = acc + c; x:f16 = acc"));
  };
  ASSERT_EQ(reasons(6).size(), 1);
  ASSERT_EQ(reasons(6)[0].rule, EpilogueRule::shared_memory);
  const auto most = static_cast<int>(reasons(6)[0].nearest);
  EXPECT_TRUE(reasons(most).empty());
  EXPECT_TRUE(reasons(most + 1).has(EpilogueRule::shared_memory));
}

TEST(EpilogueRefusals, AGraphBreaksOneRuleOfAPolicyThatIsRight) {
  for (const BrokenByAGraph& broken : rules_broken_by_graphs()) {
    const fusion::ParsedGraph parsed = fusion::parse_graph(broken.expression);
    ASSERT_TRUE(parsed.ok()) << broken.expression;
    const EpiloguePolicy p = broken.asked.policy();
    ASSERT_TRUE(p.ok()) << describe(p.reasons[0]).c_str();
    const EpilogueReasons reasons = graph_reasons(p, parsed.graph);
    ASSERT_EQ(reasons.size(), 1) << broken.expression;
    EXPECT_EQ(reasons[0].rule, broken.rule) << describe(reasons[0]).c_str();
  }
}

// Two cannot be broken alone: tile_threads, where three warpgroups share 64 rows in CUTLASS's way, and tma_plan, for
// subtiles that are always boxes.
TEST(EpilogueRefusals, EveryRuleOfTheTableIsBrokenHere) {
  std::set<EpilogueRule> broken{EpilogueRule::tile_threads, EpilogueRule::tma_plan};
  for (const Broken& b : broken_rules()) broken.insert(b.rule);
  for (const BrokenByAGraph& b : rules_broken_by_graphs()) broken.insert(b.rule);
  for (const EpilogueRule rule : {
#define GANTRY_X(id, ...) EpilogueRule::id,
#include <gantry/epilogue/detail/rule_table.hpp>
       }) {
    EXPECT_EQ(broken.count(rule), 1U) << entry_of(rule).name;
  }
}

TEST(EpilogueRefusals, EachRuleIsTheOnlyReasonWhereItIsBroken) {
  for (const Broken& broken : broken_rules()) {
    const EpiloguePolicy p = broken.asked.policy();
    ASSERT_EQ(p.reasons.size(), 1) << entry_of(broken.rule).name;
    EXPECT_FALSE(p.ok());
    EXPECT_EQ(p.reasons[0].rule, broken.rule) << describe(p.reasons[0]).c_str();
    EXPECT_EQ(std::string(describe(p.reasons[0]).c_str()).find('{'), std::string::npos);
  }
}

TEST(EpilogueRefusals, TheValueThatIsNamedWorks) {
  for (const Broken& broken : broken_rules()) {
    if (!broken.mend) continue;
    const EpilogueReason reason = broken.asked.policy().reasons[0];
    CollectiveBuilder mended = broken.asked;
    broken.mend(mended, reason.nearest);
    const EpiloguePolicy p = mended.policy();
    EXPECT_TRUE(p.ok()) << describe(reason).c_str() << "\nand then: " << (p.ok() ? "" : describe(p.reasons[0]).c_str());
  }
}

TEST(EpilogueRefusals, ASentenceSaysWhatWasAskedWhyNotAndWhatWorks) {
  const auto said = [](const CollectiveBuilder& b) { return std::string(describe(b.policy().reasons[0]).c_str()); };
  EXPECT_EQ(
      said(with([](CollectiveBuilder& b) { b.tile.m = 100; })),
      "the CTA tile has 100 rows: whole MMAs of 64 rows fill it, for each warpgroup that shares it; so its rows are "
      "a multiple of 64; the nearest value that works is 128");
  EXPECT_EQ(
      said(with([](CollectiveBuilder& b) { b.schedule = EpilogueSchedule::ptr_array_tma_warp_specialized; })),
      "the schedule is PtrArrayTmaWarpSpecialized: an epilogue by itself has one tensor C "
      "and one tensor D; GEMMs have pointer arrays (GemmGrouping::pointer_array); the nearest schedule that works is "
      "TmaWarpSpecialized");
  EXPECT_EQ(said(with([](CollectiveBuilder& b) { b.compute = ElementType::f64; })),
            "values are computed in f64: an epilogue computes in f32, f16, bf16 or cf32, and in s32 where D is the "
            "accumulators themselves; the nearest type that works is f32");
  EXPECT_TRUE(with([](CollectiveBuilder& b) { b.compute = ElementType::f16; }).policy().ok());
}

TEST(EpilogueRefusals, EveryReasonIsGiven) {
  const EpiloguePolicy p = CollectiveBuilder{.schedule = EpilogueSchedule::tma_warp_specialized,
                                             .tile = {100, 64, 64},
                                             .c = ElementType::f16,
                                             .d = ElementType::f16,
                                             .layout_c = per_group(kRowMajor),
                                             .align_c = 1,
                                             .align_d = 3,
                                             .acc = ElementType::void_,
                                             .stages_c = 2,
                                             .stages_d = 2,
                                             .reuse_smem_c = Choice::yes,
                                             .delay_tma_store = Choice::yes}
                               .policy();
  for (const EpilogueRule rule : {EpilogueRule::element_missing, EpilogueRule::per_group_strides,
                                  EpilogueRule::mma_rows, EpilogueRule::alignment, EpilogueRule::deadlock}) {
    EXPECT_TRUE(p.reasons.has(rule)) << entry_of(rule).name;
  }
  EXPECT_EQ(p.reasons.size(), 6);  // alignments of both
}

TEST(EpilogueRefusals, TheDeadlockIsBuiltWhereItIsToBeShown) {
  CollectiveBuilder b = kBase;
  b.stages_c = b.stages_d = 2;
  b.reuse_smem_c = b.delay_tma_store = Choice::yes;
  EXPECT_FALSE(b.policy().ok());
  b.deadlock = DeadlockCheck::bypassed_for_demonstration;
  const EpiloguePolicy p = b.policy();
  EXPECT_TRUE(p.ok());
  EXPECT_TRUE(p.deadlock_bypassed && p.reuse_smem_c && p.delay_tma_store && p.stages_c <= p.stages_d);
  b.stages_c = 3;
  EXPECT_FALSE(b.policy().deadlock_bypassed);
}

TEST(EpilogueRefusals, VoidTensorsNeedNoAlignment) {
  CollectiveBuilder b = kBase;
  b.c = ElementType::void_;
  b.align_c = 1;
  EXPECT_TRUE(b.policy().ok());
}

TEST(EpilogueRefusals, WhatDoesNotFitStillHasItsValues) {
  CollectiveBuilder b = kBase;
  b.tile = {64, 256, 64};
  b.epi_tile = {64, 256};
  b.stages_c = 8;
  const EpiloguePolicy p = b.policy();
  EXPECT_FALSE(p.ok());
  EXPECT_FALSE(p.refused());
  EXPECT_EQ(p.storage.collective_bytes, 8 * 64 * 256 * 2);
}

}  // namespace
}  // namespace gantry

// The options of a GEMM: what is left open is chosen, and what cannot be is refused. (option_rules_test.cpp: each
// rule.)
#include <string>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/design.hpp>
#include <gantry/gemm/kernel_schedule.hpp>

namespace gantry {
namespace {

constexpr fusion::Graph kPlain = fusion::graph("d = acc");
constexpr fusion::Graph kBias = fusion::graph("d = relu(acc + row(bias))");

// What a refusal names as the nearest value is not refused.
TEST(GemmOptions, NameValuesThatWork) {
  for (int x = -300; x <= 600; ++x) {
    for (const GemmSchedule schedule : {GemmSchedule::automatic, GemmSchedule::cooperative, GemmSchedule::pingpong}) {
      const auto nearest = [](const GemmOptions& o) {
        return problems(o).empty() ? 0 : static_cast<int>(problems(o)[0].nearest);
      };
      if (x == 0) continue;
      if (const int m = nearest({.tile = {.m = x}, .schedule = schedule})) {
        EXPECT_TRUE(problems({.tile = {.m = m}, .schedule = schedule}).empty()) << x;
      }
      if (const int n = nearest({.tile = {.m = 128, .n = x}, .schedule = schedule})) {
        const int again = nearest({.tile = {.m = 128, .n = n}, .schedule = schedule});  // columns first, then registers
        EXPECT_TRUE(problems({.tile = {.m = 128, .n = again == 0 ? n : again}, .schedule = schedule}).empty());
      }
    }
  }
}

TEST(GemmOptions, AreNamedInShort) {
  EXPECT_EQ(to_text(GemmOptions{.tile = {128, 192, 64}, .cluster = {2, 1}, .schedule = GemmSchedule::pingpong}),
            "128x192x64 pingpong 2x1 bf16");
  EXPECT_EQ(to_text(GemmOptions{.a = ElementType::e4m3,
                                .b = ElementType::e5m2,
                                .c = ElementType::bf16,
                                .d = ElementType::f32,
                                .tile = {128, 128, 128},
                                .cluster = {1, 2},
                                .schedule = GemmSchedule::cooperative,
                                .promote = true}),
            "128x128x128 cooperative 1x2 e4m3 e5m2 bf16 f32 promoted");
  EXPECT_EQ(to_text(GemmOptions{.major_a = Major::MN, .tile = {64, 64, 64}, .cluster = {1, 1}}),
            "64x64x64 automatic 1x1 bf16 M-major A");
  GemmOptions staged{.c = ElementType::bf16, .stages = 4, .epilogue = {64, 2, 3, Choice::yes}};
  EXPECT_EQ(staging_text(staged), "s4 E64 C2 D3 reuse");
  staged.c = ElementType::void_;
  staged.epilogue.reuse = Choice::no;
  EXPECT_EQ(staging_text(staged), "s4 E64 D3");
  staged.epilogue.epi_m = 128;
  EXPECT_EQ(staging_text(staged), "s4 E128x64 D3");
  EXPECT_EQ(staging_text(GemmOptions{.stages = 5}), "s5");
}

TEST(GemmDesign, KeepsWhatIsSetAndLeavesNothingOpen) {
  const ElementType elements[] = {ElementType::bf16, ElementType::tf32, ElementType::e4m3, ElementType::s8};
  for (const ElementType element : elements) {
    for (const int m : {0, 64, 128, 256}) {
      for (const int n : {0, 64, 120, 192, 256}) {
        for (const fusion::Graph& graph : {kPlain, kBias}) {
          const GemmOptions asked{.a = element, .b = element, .tile = {.m = m, .n = n}, .cluster = {.n = 2}};
          const GemmDesign design = make_gemm_design(asked, graph);
          if (!design.ok()) continue;
          const GemmOptions& o = design.options;
          SCOPED_TRACE(to_text(o).c_str());
          EXPECT_TRUE(problems(o).empty());
          EXPECT_NE(o.schedule, GemmSchedule::automatic);
          EXPECT_TRUE(o.tile.m == m || (m == 0 && o.tile.m > 0));
          EXPECT_TRUE(o.tile.n == n || (n == 0 && o.tile.n > 0));
          EXPECT_EQ(o.tile.k * element_bits(element), 1024);
          EXPECT_EQ(o.cluster, (GemmCluster{1, 2}));
          EXPECT_GE(o.stages, 2);
          const Subtiles part = design.subtiles();
          EXPECT_EQ(part.m % part.epi_m, 0);
          EXPECT_EQ(part.n % part.epi_n, 0);
        }
      }
    }
  }
}

std::string name(const GemmOptions& asked, const fusion::Graph& graph) {
  return to_text(make_gemm_design(asked, graph).options).c_str();
}

TEST(GemmDesign, HasTilesThatItsWarpgroupsHold) {
  EXPECT_EQ(name({.warpgroups = 3}, kPlain), "128x128x64 pingpong3 2x1 bf16");
  EXPECT_EQ(make_gemm_design({.tile = {64, 64}, .schedule = GemmSchedule::cooperative}, kBias).roles.math_warpgroups,
            1);
  EXPECT_EQ(make_gemm_design({}, kPlain).roles.tile_warpgroups, 2);
}

TEST(GemmDesign, SharesTilesOfPlainGemmsAndAlternatesOthers) {
  EXPECT_EQ(name({}, kPlain), "128x256x64 cooperative 2x1 bf16");
  EXPECT_EQ(name({}, kBias), "128x192x64 pingpong 2x1 bf16");
}

// With one more stage the block would be too large; 8 is where more no longer help.
TEST(GemmDesign, HasAsManyStagesAsFit) {
  for (const int n : {64, 128, 192, 256}) {
    for (const fusion::Graph& graph : {kPlain, kBias}) {
      const GemmDesign d = make_gemm_design({.tile = {.m = 128, .n = n}}, graph);
      ASSERT_TRUE(d.ok());
      EXPECT_LE(d.shared.bytes, kSm90.shared_bytes_per_block);
      EXPECT_TRUE(d.options.stages == 8 || d.shared.bytes + d.stage_bytes() > kSm90.shared_bytes_per_block) << n;
    }
  }
}

// Nothing in shared memory or in the parameters lies in anything else, and everything is aligned as TMA and mbarriers
// ask.
TEST(GemmDesign, LaysOutSharedMemoryAndParametersWithoutOverlap) {
  const fusion::Graph everything =
      fusion::graph("aux:bf16 = alpha * acc + beta * c + row(bias); d = gelu(aux) + load(x:bf16)");
  for (const GemmSchedule schedule : {GemmSchedule::cooperative, GemmSchedule::pingpong}) {
    for (const fusion::Graph& graph : {kPlain, kBias, everything}) {
      const GemmDesign d = make_gemm_design({.tile = {128, 128}, .schedule = schedule}, graph);
      ASSERT_TRUE(d.ok());
      const GemmSharedMap& s = d.shared;
      EXPECT_EQ(s.a, 0);
      EXPECT_EQ(s.b, d.options.stages * 128 * 128);
      EXPECT_EQ(s.pipeline, d.options.stages * d.stage_bytes());
      EXPECT_GE(s.epilogue, s.pipeline + 16 * d.options.stages);
      EXPECT_EQ(s.epilogue % 1024, 0);
      EXPECT_EQ(s.epilogue_pipelines, s.epilogue + d.roles.math_warpgroups * s.epilogue_part);
      EXPECT_GE(s.order, s.epilogue + s.epilogue_bytes);
      EXPECT_EQ(s.order % 8, 0);
      EXPECT_GE(s.bytes, s.order);
      const GemmParameterMap& p = d.params;
      for (const int map : {p.a, p.b, p.d}) EXPECT_EQ(map % 128, 0);
      EXPECT_EQ(p.b, p.a + 128);
      EXPECT_GE(p.schedule, p.d + 128);
      EXPECT_GE(p.workspace, p.schedule + static_cast<int>(sizeof(TileSchedule)));
      EXPECT_GE(p.bytes, p.workspace + 8);
    }
  }
}

// A design is a fixed point: asked for again as it is, nothing changes.
TEST(GemmDesign, OfItsOwnOptionsIsTheSame) {
  for (const GemmSchedule schedule : {GemmSchedule::automatic, GemmSchedule::cooperative, GemmSchedule::pingpong}) {
    for (const fusion::Graph& graph : {kPlain, kBias}) {
      for (const int n : {0, 96, 128, 256}) {
        const GemmDesign once = make_gemm_design({.tile = {.n = n}, .schedule = schedule}, graph);
        if (!once.ok()) continue;
        const GemmDesign again = make_gemm_design(once.options, graph);
        EXPECT_EQ(again.options, once.options);
        EXPECT_EQ(again.store, once.store);
        EXPECT_EQ(again.shared, once.shared);
        EXPECT_EQ(again.params, once.params);
        EXPECT_TRUE(again.a == once.a && again.b == once.b && again.d == once.d);
      }
    }
  }
}

// What a policy refuses, a design refuses: before this a kernel failed to compile.
TEST(GemmDesign, RefusesWhatItsEpilogueCannotBe) {
  const GemmDesign d = make_gemm_design(
      {.tile = {128, 256}, .schedule = GemmSchedule::cooperative, .epilogue = {.epi_n = 64, .epi_m = 128}}, kBias);
  EXPECT_FALSE(d.ok());
  const GemmDesign odd = make_gemm_design({.d = ElementType::e2m3, .tile = {128, 128}}, kBias);
  ASSERT_TRUE(odd.reasons.has(GemmRule::epilogue));
  EXPECT_EQ(odd.reasons[0].epilogue.operand, EpilogueSide::d);
}

TEST(GemmDesign, TypesAnUntypedCAsD) {
  const fusion::Graph graph = fusion::graph("d = acc + c");
  EXPECT_EQ(make_gemm_design({.d = ElementType::f16}, graph).options.c, ElementType::f16);
  EXPECT_EQ(make_gemm_design({.c = ElementType::f32, .d = ElementType::f16}, graph).options.c, ElementType::f32);
  EXPECT_EQ(make_gemm_design({}, kPlain).options.c, ElementType::void_);
}

TEST(GemmOptions, FollowFromABuilderOfEpilogues) {
  constexpr CollectiveBuilder kBuilder{.schedule = EpilogueSchedule::tma_warp_specialized,
                                       .tile = {64, 128, 64},
                                       .epi_tile = {64, 32},
                                       .c = ElementType::f32,
                                       .d = ElementType::f32,
                                       .layout_d = kColumnMajor,
                                       .stages_c = 3,
                                       .stages_d = 1,
                                       .reuse_smem_c = Choice::yes};
  EXPECT_EQ(options_from(kBuilder), (GemmOptions{.c = ElementType::f32,
                                                 .d = ElementType::f32,
                                                 .layout_d = kColumnMajor,
                                                 .tile = {64, 128, 64},
                                                 .schedule = GemmSchedule::pingpong,
                                                 .epilogue = {32, 3, 1, Choice::yes, 64}}));
  EXPECT_EQ(options_from({.schedule = EpilogueSchedule::tma_warp_specialized_cooperative}).schedule,
            GemmSchedule::cooperative);
}

// A builder's epilogue tile is that of all warpgroups that share a CTA tile, a product's subtile that of one.
TEST(ResolvedOptions, HaveTheRowsOfABuildersEpilogueTile) {
  constexpr EpilogueSchedule kShared = EpilogueSchedule::tma_warp_specialized_cooperative;
  const GemmOptions shared =
      options_from({.schedule = kShared, .tile = {128, 128, 64}, .epi_tile = {128, 32}, .d = ElementType::bf16});
  EXPECT_EQ(shared.epilogue.epi_m, 64);
  EXPECT_TRUE(problems(shared).empty());
  const GemmOptions alone = options_from({.schedule = EpilogueSchedule::tma_warp_specialized,
                                          .tile = {128, 128, 64},
                                          .epi_tile = {32, 32},
                                          .d = ElementType::bf16});
  ASSERT_EQ(problems(alone).size(), 1);
  EXPECT_EQ(problems(alone)[0].rule, GemmRule::subtile_rows);
}

// CUTLASS's schedules for pointer arrays, by their names.
TEST(ResolvedOptions, OfAPointerArrayAreThoseOfItsSchedule) {
  const auto of = [](EpilogueSchedule schedule) {
    return options_from({.schedule = schedule,
                         .tile = {128, 128, 64},
                         .c = ElementType::bf16,
                         .d = ElementType::bf16,
                         .layout_c = per_group(kRowMajor),
                         .layout_d = per_group(kColumnMajor)});
  };
  for (const auto& [schedule, kernel] :
       {std::pair(EpilogueSchedule::ptr_array_tma_warp_specialized_cooperative, GemmSchedule::cooperative),
        std::pair(EpilogueSchedule::ptr_array_tma_warp_specialized_pingpong, GemmSchedule::pingpong),
        std::pair(EpilogueSchedule::ptr_array_tma_warp_specialized, GemmSchedule::pingpong)}) {
    const GemmOptions o = of(schedule);
    EXPECT_TRUE(problems(o).empty()) << to_text(schedule);
    EXPECT_EQ(o.groups, GemmGrouping::pointer_array) << to_text(schedule);
    EXPECT_EQ(o.schedule, kernel) << to_text(schedule);
    EXPECT_TRUE(make_gemm_design(o, fusion::graph("d = acc + c")).ok()) << to_text(schedule);
  }
  for (const EpilogueSchedule refused : {EpilogueSchedule::ptr_array_no_smem_warp_specialized,
                                         EpilogueSchedule::ptr_array_no_smem_warp_specialized_transposed}) {
    EXPECT_TRUE(problems(of(refused)).has(GemmRule::builder)) << to_text(refused);
  }
}

// CUTLASS's schedules of kernels, by their names.
TEST(ResolvedOptions, OfAKernelScheduleAreWhatItsNameSays) {
  const auto of = [](const std::string& name, ElementType a = ElementType::e4m3) {
    const int found = find_kernel_schedule(name.c_str());
    EXPECT_LT(found, kKernelScheduleCount) << name;
    return with_kernel_schedule({.a = a, .b = a}, kKernelSchedules[found < kKernelScheduleCount ? found : 0]);
  };
  for (const bool array : {false, true}) {
    for (const auto& [word, schedule] :
         {std::pair("Cooperative", GemmSchedule::cooperative), std::pair("Pingpong", GemmSchedule::pingpong)}) {
      const std::string name = std::string(array ? "KernelPtrArrayTma" : "KernelTma") + "WarpSpecialized" + word;
      const GemmGrouping groups = array ? GemmGrouping::pointer_array : GemmGrouping::none;
      EXPECT_EQ(of(name).schedule, schedule) << name;
      EXPECT_EQ(of(name).groups, groups) << name;
      EXPECT_TRUE(of(name).promote) << name;
      EXPECT_FALSE(of(name, ElementType::bf16).promote) << name;
      EXPECT_FALSE(of(name + "FP8FastAccum").promote) << name;
      EXPECT_EQ(of(name + "FP8FastAccum").groups, groups) << name;
      EXPECT_TRUE(make_gemm_design(of(name), fusion::graph("d = acc")).ok()) << name;
    }
  }
  EXPECT_EQ(of("KernelTmaWarpSpecialized").tile.m, 64);
  EXPECT_EQ(of("KernelScheduleAuto").schedule, GemmSchedule::automatic);
  EXPECT_EQ(find_kernel_schedule("KernelCpAsyncWarpSpecialized"), kKernelScheduleCount);
}
TEST(ResolvedOptions, OfAKernelAndOfAnotherEpilogueAreRefused) {
  const auto refused = [](const char* kernel, EpilogueSchedule schedule) {
    const CollectiveBuilder builder{.schedule = schedule, .tile = {128, 128, 64}, .d = ElementType::bf16};
    const GemmReasons reasons = problems(options_from(builder, kKernelSchedules[find_kernel_schedule(kernel)]));
    return reasons.size() == 1 && reasons[0].first == static_cast<int>(BuilderField::kernel);
  };
  using enum EpilogueSchedule;
  constexpr const char *kArrays = "KernelPtrArrayTmaWarpSpecializedCooperative",
                       *kPingpong = "KernelTmaWarpSpecializedPingpong";
  EXPECT_FALSE(refused(kArrays, ptr_array_tma_warp_specialized_cooperative));
  EXPECT_FALSE(refused(kPingpong, tma_warp_specialized));
  EXPECT_FALSE(refused(kArrays, automatic));
  EXPECT_TRUE(refused(kArrays, tma_warp_specialized_cooperative));
  EXPECT_TRUE(refused(kArrays, ptr_array_tma_warp_specialized_pingpong));
  EXPECT_TRUE(refused(kPingpong, ptr_array_tma_warp_specialized_pingpong));
}

// Threads read C and write D, at any alignment. CUTLASS's Auto means that too.
TEST(ResolvedOptions, WithoutSharedMemoryLeaveCAndDToThreads) {
  CollectiveBuilder builder{.schedule = EpilogueSchedule::no_smem_warp_specialized,
                            .tile = {128, 128, 64},
                            .c = ElementType::bf16,
                            .d = ElementType::bf16};
  const auto check = [&] {
    const GemmOptions o = options_from(builder);
    EXPECT_TRUE(problems(o).empty());
    EXPECT_TRUE(direct_c(o) && direct_d(o));
    EXPECT_TRUE(make_gemm_design(o, fusion::graph("d = acc + c")).ok());
  };
  check();
  builder.schedule = EpilogueSchedule::automatic;
  EXPECT_FALSE(direct_d(options_from(builder)));
  builder.flavour = PolicyFlavour::cutlass_compatible;
  check();
}

// Four subtiles of 128 x 32: CUTLASS has as many buffers of C, and two of D in their place.
TEST(ResolvedOptions, TakeTheBuffersOfCutlass) {
  CollectiveBuilder builder{.flavour = PolicyFlavour::cutlass_compatible,
                            .schedule = EpilogueSchedule::tma_warp_specialized_cooperative,
                            .tile = {128, 128, 64},
                            .c = ElementType::bf16,
                            .d = ElementType::bf16};
  const GemmOptions o = options_from(builder);
  EXPECT_TRUE(problems(o).empty());
  EXPECT_EQ(o.epilogue, (GemmEpilogueOptions{32, 4, 2, Choice::yes, 64, Choice::no}));
  const GemmDesign design = make_gemm_design(o, fusion::graph("d = acc + c"));
  ASSERT_TRUE(design.ok()) << describe(design.reasons[0]).c_str();
  EXPECT_EQ(design.part.stages_c, 4);
  EXPECT_EQ(design.part.stages_d, 2);
  builder.epi_tile = {128, 8};  // CUTLASS's have 16 columns, 32, ...
  EXPECT_TRUE(problems(options_from(builder)).has(GemmRule::builder));
}

TEST(ResolvedOptions, RefuseWhatABuilderSetsAndAProductDoesNotHave) {
  const CollectiveBuilder plain{.tile = {128, 128, 64}, .c = ElementType::bf16, .d = ElementType::bf16};
  EXPECT_TRUE(problems(options_from(plain)).empty());
  const auto with = [&](auto member, auto value) {
    CollectiveBuilder builder = plain;
    builder.*member = value;
    return builder;
  };
  using Builder = CollectiveBuilder;
  const struct {
    CollectiveBuilder builder;
    BuilderField field;
  } cases[] = {
      {with(&Builder::schedule, EpilogueSchedule::ptr_array_no_smem_warp_specialized), BuilderField::schedule},
      {with(&Builder::acc, ElementType::f16), BuilderField::acc},
      {with(&Builder::compute, ElementType::f16), BuilderField::compute},
      {with(&Builder::rounding, Rounding::toward_zero), BuilderField::rounding},
      {with(&Builder::aux, ElementType::f32), BuilderField::aux},
      {with(&Builder::warpgroups, 4), BuilderField::warpgroups},
      {with(&Builder::fragment_size, 2), BuilderField::fragment_size},
      {with(&Builder::epi_tile, EpiTile(make_tile(_64, make_layout(make_shape(_16, _2), make_stride(_1, _32))))),
       BuilderField::epi_tile},
      {with(&Builder::deadlock, DeadlockCheck::bypassed_for_demonstration), BuilderField::deadlock},
      {with(&Builder::fusion, StorageNeed{64, 16}), BuilderField::fusion},
  };
  for (const auto& c : cases) {
    const GemmReasons reasons = problems(options_from(c.builder));
    ASSERT_EQ(reasons.size(), 1) << text_of(c.field);
    EXPECT_EQ(reasons[0].rule, GemmRule::builder);
    EXPECT_EQ(static_cast<BuilderField>(reasons[0].first), c.field);
  }
  EXPECT_EQ(options_from(with(&Builder::delay_tma_store, Choice::yes)).epilogue.delay_tma_store, Choice::yes);
  CollectiveBuilder several = with(&Builder::fragment_size, 2);
  several.acc = ElementType::f16;
  EXPECT_EQ(problems(options_from(several)).size(), 2);
  EXPECT_TRUE(direct_c(options_from(with(&Builder::align_c, 1))));
  EXPECT_FALSE(direct_d(options_from(with(&Builder::align_d, 8)))) << "16 bytes";
}

}  // namespace
}  // namespace gantry

// The kernel of a design is what the design says, and what has no room is refused before anything is compiled.
#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/bind.hpp>
#include <gantry/gemm/configurations.hpp>
#include <gantry/gemm/types.hpp>

namespace gantry {
namespace {

struct Plain {};
struct PlainOfOneWarpgroup {
  static constexpr GemmOptions options{.tile = {.m = 64, .n = 64}, .schedule = GemmSchedule::cooperative};
};
struct Added {
  static constexpr GemmOptions options{.a = ElementType::s8,
                                       .b = ElementType::s8,
                                       .d = ElementType::s32,
                                       .tile = {.n = 176},
                                       .schedule = GemmSchedule::cooperative,
                                       .split = SplitMode::reduce_add};
};
struct Biased {
  static constexpr GemmOptions options{.schedule = GemmSchedule::cooperative};
  static constexpr fusion::Graph graph = fusion::graph("d = gelu_tanh(acc + row(bias))");
};
struct InPlaceOfC {
  static constexpr GemmOptions options{.c = ElementType::bf16,
                                       .tile = {.m = 128, .n = 128},
                                       .epilogue = {.epi_n = 64, .stages_c = 3, .stages_d = 2, .reuse = Choice::yes}};
  static constexpr fusion::Graph graph = fusion::graph("d = acc + c");
};
struct WithAux {
  static constexpr GemmOptions options{.c = ElementType::f32,
                                       .d = ElementType::f32,
                                       .tile = {.m = 128, .n = 128},
                                       .epilogue = {.epi_n = 32, .stages_c = 3, .stages_d = 2}};
  static constexpr fusion::Graph graph = fusion::graph("x:bf16 = acc + c; d = relu(x)");
};
struct Reduced {
  static constexpr GemmOptions options{.schedule = GemmSchedule::pingpong,
                                       .epilogue = {.epi_n = 64, .stages_c = 2, .stages_d = 2}};
  static constexpr fusion::Graph graph = fusion::graph("y = reduce_row_add(acc); d = acc + load(z:bf16)");
};
// The whole tile of each of three warpgroups at once.
struct WholeTiles {
  static constexpr GemmOptions options{.schedule = GemmSchedule::pingpong,
                                       .warpgroups = 3,
                                       .epilogue = {.epi_n = 128, .stages_c = 2, .stages_d = 1, .epi_m = 128}};
  static constexpr fusion::Graph graph = fusion::graph("d = gelu_tanh(acc + row(bias))");
};

struct GroupsOfRows {
  static constexpr GemmOptions options{.groups = GemmGrouping::along_m};
  static constexpr fusion::Graph graph = fusion::graph("d = gelu_tanh(acc + row(bias))");
};
struct GroupsOfK {
  static constexpr GemmOptions options{.major_a = Major::MN, .major_b = Major::MN, .groups = GemmGrouping::along_k};
};
struct ScaledGroups {
  static constexpr GemmOptions options{.a = ElementType::e4m3,
                                       .b = ElementType::e4m3,
                                       .scale_a = ScaleMode::row_block,
                                       .scale_b = ScaleMode::block,
                                       .groups = GemmGrouping::along_m};
  static constexpr fusion::Graph graph = fusion::graph("d = acc + row(bias)");
};
struct ScaledColumns {
  static constexpr GemmOptions options{.a = ElementType::e4m3,
                                       .b = ElementType::e4m3,
                                       .tile = {.m = 64, .n = 64},
                                       .scale_a = ScaleMode::block,
                                       .scale_b = ScaleMode::row_block};
};
struct PointerArray {
  static constexpr GemmOptions options{.groups = GemmGrouping::pointer_array};
};
struct PointerArrayWithAux {
  static constexpr GemmOptions options{.c = ElementType::bf16, .groups = GemmGrouping::pointer_array};
  static constexpr fusion::Graph graph = fusion::graph("x:f32 = acc + c + row(bias); d = relu(x)");
};

template <class Spec>
class CompiledEpilogue : public testing::Test {};
using Specs = testing::Types<Plain, PlainOfOneWarpgroup, Added, Biased, InPlaceOfC, WithAux, Reduced, WholeTiles,
                             GroupsOfRows, GroupsOfK, ScaledGroups, ScaledColumns, PointerArray, PointerArrayWithAux>;
TYPED_TEST_SUITE(CompiledEpilogue, Specs);

TYPED_TEST(CompiledEpilogue, HasTheParametersThatTheDesignSays) {
  using Types = GemmTypes<TypeParam>;
  using Params = typename Types::Kernel::Params;
  constexpr GemmParameterMap at = Types::design.params;
  const auto offset = [](const Params& p, const auto& member) {
    return static_cast<int>(reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&p));
  };
  static const Params p{};
  EXPECT_EQ(offset(p, p.loop.a), at.a);
  EXPECT_EQ(offset(p, p.loop.b), at.b);
  if constexpr (Types::design.has_edges()) {
    EXPECT_EQ(offset(p, p.loop.edges), at.edge_a) << "written as one value";
    EXPECT_EQ(offset(p, p.loop.edges.map_b), at.edge_b);
  }
  if constexpr (Types::design.group_boxes > 0) {
    EXPECT_EQ(offset(p, p.loop.group_boxes), at.group_boxes);
    EXPECT_EQ(static_cast<int>(sizeof p.loop.group_boxes), Types::design.group_boxes * 128);
  }
  if constexpr (Types::design.options.scaled()) {
    EXPECT_EQ(offset(p, p.loop.scales), at.scales);
  }
  EXPECT_EQ(offset(p, p.epilogue), at.epilogue);
  EXPECT_EQ(offset(p, p.epilogue.d), at.d);
  EXPECT_EQ(offset(p, p.schedule), at.schedule);
  EXPECT_EQ(offset(p, p.workspace), at.workspace);
  EXPECT_EQ(static_cast<int>(sizeof p), at.bytes);
  // What the planner writes at that offset.
  constexpr GemmGrouping groups = Types::design.options.groups;
  constexpr std::size_t kSchedule = groups == GemmGrouping::none            ? sizeof(TileSchedule)
                                    : groups == GemmGrouping::pointer_array ? sizeof(PointerSchedule)
                                                                            : sizeof(GroupSchedule);
  EXPECT_EQ(sizeof p.schedule, kSchedule);
  if constexpr (Types::kFused) {
    EXPECT_EQ(offset(p, p.epilogue.c), at.c);
    EXPECT_EQ(offset(p, p.epilogue.fusion.maps), at.aux);
    EXPECT_EQ(offset(p, p.epilogue.fusion.operands), at.operands);
    EXPECT_EQ(offset(p, p.epilogue.m), at.extents);
  }
}

// What options and epilogue accept, TMA takes: tiles of A and B are boxes, and so is D where the design stores it
// itself.
TEST(Copies, OfEveryTileThatIsAcceptedAreBoxesThatTmaTakes) {
  const fusion::Graph plain = fusion::graph("d = acc");
  const GemmProblem problem{
      .a = {nullptr, 4096}, .b = {nullptr, 4096}, .d = {nullptr, 4096}, .m = 512, .n = 512, .k = 512};
  int accepted = 0;
  const auto check = [&](const GemmOptions& asked) {
    const GemmDesign d = make_gemm_design(asked, plain);
    if (!d.ok()) return;
    ++accepted;
    for (const TmaDescriptorParams& map : {bind_a(d, problem), bind_b(d, problem), bind_d(d, problem)}) {
      for (const TmaViolation& v : validate(map)) {
        EXPECT_EQ(verdict_of(v), TmaVerdict::legal) << to_text(asked).c_str() << ": " << describe(v).c_str();
      }
    }
  };
  for (const ElementType element : {ElementType::bf16, ElementType::tf32, ElementType::e4m3, ElementType::s8}) {
    for (const ElementType d : {ElementType::bf16, ElementType::f32, ElementType::e4m3}) {
      for (int n = 8; n <= 256; n += 8) {
        for (const int m : {64, 128, 192, 256}) {
          for (const int majors : {0, 1, 2, 3}) {
            const Major a = majors % 2 == 0 ? Major::K : Major::MN, b = majors < 2 ? Major::K : Major::MN;
            for (const LayoutTag layout : {kRowMajor, kColumnMajor}) {
              check(
                  {.a = element, .b = element, .d = d, .major_a = a, .major_b = b, .layout_d = layout, .tile = {m, n}});
            }
            check({.a = element, .b = element, .d = d, .tile = {m, n}, .split = SplitMode::reduce_add});
          }
        }
      }
    }
  }
  EXPECT_GT(accepted, 1000);
}

TEST(Limits, OfTheRequestAreThoseThatEveryRuleReads) {
  Sm90Limits narrow;
  narrow.wgmma_columns = 128;
  const fusion::Graph graph = fusion::graph("d = acc");
  const GemmDesign refused = make_gemm_design({.tile = {.m = 128, .n = 192}}, graph, narrow);
  ASSERT_TRUE(refused.reasons.has(GemmRule::tile_columns));
  EXPECT_EQ(refused.reasons[0].nearest, 128);
  EXPECT_EQ(make_gemm_design({.schedule = GemmSchedule::cooperative}, graph, narrow).options.tile.n, 128);
  Sm90Limits shallow;
  shallow.swizzle_bytes = 64;
  EXPECT_TRUE(make_gemm_design({.tile = {.k = 64}}, graph, shallow).reasons.has(GemmRule::tile_depth));
  EXPECT_EQ(make_gemm_design({}, graph, shallow).options.tile.k, 32);
}

TEST(SharedMemory, OfTooManyStagesIsRefusedWithTheNumberThatFits) {
  constexpr fusion::Graph graph = fusion::graph("d = gelu(acc + row(bias))");
  GemmOptions o{.tile = {.m = 128, .n = 256}, .stages = 7};
  ASSERT_TRUE(problems(o).empty());
  const GemmReasons reasons = make_gemm_design(o, graph).reasons;
  ASSERT_EQ(reasons.size(), 1);
  EXPECT_EQ(reasons[0].rule, GemmRule::shared_memory);
  o.stages = static_cast<int>(reasons[0].nearest);
  EXPECT_TRUE(make_gemm_design(o, graph).ok());
  ++o.stages;
  EXPECT_FALSE(make_gemm_design(o, graph).ok());
}

TEST(SharedMemory, ThatAnEpilogueLeavesNoRoomInIsRefused) {
  constexpr fusion::Graph graph = fusion::graph("d = acc + c");
  const GemmOptions o{.c = ElementType::f32,
                      .d = ElementType::f32,
                      .tile = {.m = 128, .n = 256},
                      .epilogue = {.epi_n = 64, .stages_c = 4, .stages_d = 4}};
  ASSERT_TRUE(problems(o).empty());
  const GemmReasons reasons = make_gemm_design(o, graph).reasons;
  ASSERT_EQ(reasons.size(), 1);
  EXPECT_EQ(reasons[0].rule, GemmRule::no_room);
  EXPECT_EQ(reasons[0].first, 49152);
}

// Of a specification that leaves its tile open nvcc compiles several configurations: none that the rules refuse, which
// would not compile here either.
struct Promoted {
  static constexpr GemmOptions options{.a = ElementType::e4m3, .b = ElementType::e4m3, .promote = true};
};
struct Scaled {
  static constexpr GemmOptions options{
      .a = ElementType::e4m3, .b = ElementType::e4m3, .scale_a = ScaleMode::row_block, .scale_b = ScaleMode::block};
};
struct Gated {
  static constexpr fusion::Graph graph = fusion::graph("d = silu(gate(acc)) * up(acc)");
};
struct OfFewRows {
  static constexpr GemmOptions options{.swapped = true};
};

template <class Spec>
class OpenTile : public testing::Test {};
using OpenTiles = testing::Types<Promoted, Scaled, Gated, OfFewRows>;
TYPED_TEST_SUITE(OpenTile, OpenTiles);

template <class Spec, int... i>
void expect_designs(Sequence<i...>) {
  EXPECT_GE(sizeof...(i), 4U);
  EXPECT_TRUE((GemmDesignOf<detail::Configured<Spec, i>>::design.ok() && ...));
}

TYPED_TEST(OpenTile, IsCompiledForTilesThatTheRulesTake) {
  EXPECT_TRUE(detail::leaves_tile_open<TypeParam>());
  expect_designs<TypeParam>(detail::configurations_of<TypeParam>());
}

// Few rows have kernels of their own in the set, with swapped operands; a gated epilogue has no such kernels, and
// nothing takes their place.
template <class Spec, int... i>
constexpr int swapped_of(Sequence<i...>) {
  return (int{detail::configured(detail::options_of<Spec>(), i).swapped} + ... + 0);
}
struct LeftOpen {};

TEST(OpenTile, HasSwappedOperandsForFewRows) {
  EXPECT_EQ(swapped_of<LeftOpen>(detail::configurations_of<LeftOpen>()), 3);
  EXPECT_EQ(swapped_of<Gated>(detail::configurations_of<Gated>()), 0);
}

}  // namespace
}  // namespace gantry

// Each rule of a GEMM's options: a request that breaks it, with what the reason names, and a neighbour that keeps it.
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/design.hpp>
#include <gantry/gemm/from_builder.hpp>

namespace gantry {
namespace {

constexpr GemmSchedule kTogether = GemmSchedule::cooperative, kInTurn = GemmSchedule::pingpong;
constexpr GemmGrouping kAlongM = GemmGrouping::along_m, kAlongK = GemmGrouping::along_k,
                       kArray = GemmGrouping::pointer_array;
constexpr ElementType kF8 = ElementType::e4m3, kF32 = ElementType::f32, kBf16 = ElementType::bf16;

constexpr const char* kGated = "d = silu(gate(acc)) * up(acc)";
constexpr const char* kRotated = "d = rotate(acc, 2)";

struct Case {
  GemmRule rule;
  GemmOptions broken, kept;
  GemmReason says{};  // operand, element, actual and nearest of the reason
  const char* graph = "d = acc";
  GemmCallbackNeeds needs{}, kept_needs{};
};

constexpr GemmOptions three(int m, int n) { return {.tile = {m, n}, .schedule = kInTurn, .warpgroups = 3}; }

std::vector<Case> cases() {
  return {
      {GemmRule::element,
       {.a = ElementType::f64, .b = ElementType::tf32},
       {.a = ElementType::tf32, .b = ElementType::tf32},
       {.element = ElementType::f64, .other = ElementType::tf32}},
      {GemmRule::element, {.b = ElementType::s32}, {}, {.operand = 'B', .element = ElementType::s32, .other = kBf16}},
      {GemmRule::element_pair,
       {.a = ElementType::f16, .b = kBf16},
       {.a = ElementType::f16, .b = ElementType::f16},
       {.element = ElementType::f16, .other = kBf16}},
      {GemmRule::element_pair,
       {.a = kF8, .b = ElementType::s8},
       {.a = kF8, .b = ElementType::e5m2},
       {.element = kF8, .other = ElementType::s8}},
      {GemmRule::element_pair,
       {.a = ElementType::u8, .b = kF8},
       {.a = ElementType::u8, .b = ElementType::s8},
       {.element = ElementType::u8, .other = kF8}},
      {GemmRule::major,
       {.a = kF8, .b = kF8, .major_b = Major::MN},
       {.major_a = Major::MN, .major_b = Major::MN},
       {.operand = 'B', .element = kF8}},
      {GemmRule::no_d, {.d = ElementType::void_}, {.d = kBf16}},
      {GemmRule::layout, {.layout_d = kTensorNHWC}, {.layout_d = kRowMajor}, {.operand = 'D'}},
      {GemmRule::tile_rows, {.tile = {.m = 200}}, {.tile = {.m = 256}}, {.actual = 200, .nearest = 256}},
      {GemmRule::few_rows, {.tile = {.m = 16}}, {.tile = {.m = 64}}, {.actual = 16, .nearest = 64}},
      {GemmRule::pingpong_rows,
       {.tile = {.m = 256}, .schedule = kInTurn},
       {.tile = {.m = 192}, .schedule = kInTurn},
       {.actual = 256, .nearest = 192}},
      {GemmRule::tile_columns, {.tile = {.n = 100}}, {.tile = {.n = 104}}, {.actual = 100, .nearest = 104}},
      {GemmRule::tile_columns, {.tile = {.n = 264}}, {.tile = {.n = 256}}, {.actual = 264, .nearest = 256}},
      {GemmRule::accumulators,
       {.tile = {128, 256}, .schedule = kInTurn},
       {.tile = {128, 192}, .schedule = kInTurn},
       {.actual = 256, .nearest = 192}},
      {GemmRule::accumulators,
       {.a = kF8, .b = kF8, .tile = {128, 256}, .promote = true},
       {.a = kF8, .b = kF8, .tile = {128, 160}, .promote = true},
       {.actual = 256, .nearest = 160}},
      {GemmRule::tile_depth,
       {.a = ElementType::s8, .b = ElementType::s8, .tile = {.k = 64}},
       {.a = ElementType::s8, .b = ElementType::s8, .tile = {.k = 128}},
       {.element = ElementType::s8, .actual = 64, .nearest = 128}},
      {GemmRule::warpgroups, three(128, 192), three(128, 128), {.actual = 3, .nearest = 2}},
      {GemmRule::warpgroups, three(64, 256), three(64, 192), {.actual = 3, .nearest = 2}},
      {GemmRule::warpgroups, {.schedule = kTogether, .warpgroups = 3}, {.warpgroups = 2}, {.actual = 3, .nearest = 2}},
      {GemmRule::warpgroups,
       {.schedule = kInTurn, .warpgroups = 4},
       {.schedule = kInTurn, .warpgroups = 3},
       {.actual = 4, .nearest = 3}},
      {GemmRule::warpgroups,
       {.tile = {.m = 64}, .schedule = kTogether, .warpgroups = 2},
       {.tile = {.m = 64}, .schedule = kTogether, .warpgroups = 1},
       {.actual = 2, .nearest = 1}},
      {GemmRule::cluster, {.cluster = {.m = 3}}, {.cluster = {.m = 4}}, {.operand = 'M', .actual = 3, .nearest = 2}},
      {GemmRule::cluster, {.cluster = {.m = 16}}, {.cluster = {.m = 8}}, {.operand = 'M', .actual = 16, .nearest = 8}},
      {GemmRule::cluster_size, {.cluster = {4, 4}}, {.cluster = {2, 4}}, {.actual = 16, .nearest = 2, .first = 8}},
      {GemmRule::cluster, {.cluster = {.n = -1}}, {.cluster = {.n = 1}}, {.operand = 'N', .actual = -1, .nearest = 1}},
      {GemmRule::cluster_k, {.cluster = {.k = 6}}, {.cluster = {.k = 4}}, {.actual = 6, .nearest = 4}},
      {GemmRule::cluster_k_alone, {.cluster = {2, 1, 2}}, {.cluster = {1, 1, 2}}, {.actual = 2}},
      {GemmRule::stages, {.stages = 1}, {.stages = 2}, {.actual = 1, .nearest = 2}},
      {GemmRule::stages,
       {.tile = {64, 64}, .stages = 33},
       {.tile = {64, 64}, .stages = 12},
       {.actual = 33, .nearest = 12}},
      {GemmRule::subtile,
       {.tile = {.n = 192}, .epilogue = {.epi_n = 88}},
       {.tile = {.n = 192}, .epilogue = {.epi_n = 96}},
       {.actual = 88, .nearest = 96},
       "d = relu(acc)"},
      {GemmRule::subtile_rows,
       {.tile = {.m = 128}, .schedule = kTogether, .epilogue = {.epi_m = 128}},
       {.tile = {.m = 128}, .schedule = kTogether, .epilogue = {.epi_m = 64}},
       {.actual = 128, .nearest = 64},
       "d = relu(acc)"},
      {GemmRule::buffers,
       {.c = kBf16, .epilogue = {.stages_c = -2}},
       {.c = kBf16, .epilogue = {.stages_c = 1}},
       {.operand = 'C', .actual = -2, .nearest = 1},
       "d = acc + c"},
      {GemmRule::buffers,
       {.tile = {64, 64}, .epilogue = {.stages_d = 9}},
       {.tile = {64, 64}, .epilogue = {.stages_d = 8}},
       {.operand = 'D', .actual = 9, .nearest = 8},
       "d = relu(acc)"},
      {GemmRule::reuse,
       {.c = kF32, .epilogue = {.reuse = Choice::yes}},
       {.c = kBf16, .epilogue = {.reuse = Choice::yes}},
       {.element = kF32, .other = kBf16},
       "d = acc + c"},
      {GemmRule::align, {.align_d = -2}, {.align_d = 1}, {.operand = 'D', .actual = -2, .nearest = 1}},
      {GemmRule::reuse_direct,
       {.c = kBf16, .align_c = 4, .epilogue = {.reuse = Choice::yes}},
       {.c = kBf16, .align_c = 8, .epilogue = {.reuse = Choice::yes}},
       {.operand = 'C'},
       "d = acc + c"},
      {GemmRule::reduce_add_aligned,
       {.d = kF32, .align_d = 2, .split = SplitMode::reduce_add},
       {.d = kF32, .align_d = 4, .split = SplitMode::reduce_add},
       {.actual = 2, .nearest = 4}},
      {GemmRule::own_aligned,
       {.align_aux = 1, .tile = {64, 64}},
       {.tile = {64, 64}},
       {},
       "d = relu(acc)",
       {.shared_bytes = 64, .shared_alignment = 16, .parameter_bytes = 400},
       {.shared_bytes = 64, .shared_alignment = 16, .parameter_bytes = 400}},
      {GemmRule::promote, {.promote = true}, {.a = kF8, .b = kF8, .promote = true}, {.element = kBf16, .other = kBf16}},
      {GemmRule::scale,
       {.scale_a = ScaleMode::row_block},
       {.a = kF8, .b = kF8, .scale_a = ScaleMode::row_block},
       {.element = kBf16, .other = kBf16}},
      {GemmRule::scale_columns,
       {.a = kF8, .b = kF8, .tile = {.n = 152}, .scale_b = ScaleMode::block},
       {.a = kF8, .b = kF8, .tile = {.n = 144}, .scale_b = ScaleMode::block},
       {.actual = 152, .nearest = 144}},
      {GemmRule::reduce_add,
       {.d = kF8, .split = SplitMode::reduce_add},
       {.d = kF32, .split = SplitMode::reduce_add},
       {.element = kF8, .other = kF32}},
      {GemmRule::reduce_add,
       {.a = ElementType::s8, .b = ElementType::s8, .d = kF32, .split = SplitMode::reduce_add},
       {.a = ElementType::s8, .b = ElementType::s8, .d = ElementType::s32, .split = SplitMode::reduce_add},
       {.element = kF32, .other = ElementType::s32}},
      {GemmRule::reduce_add_plain,
       {.schedule = kInTurn, .split = SplitMode::reduce_add},
       {.schedule = kTogether, .split = SplitMode::reduce_add}},
      {GemmRule::reduce_add_plain, {.split = SplitMode::reduce_add}, {}, {}, "d = relu(acc)"},
      {GemmRule::reduce_add_plain,
       {.d = kF32, .tile = {128, 64}, .split = SplitMode::reduce_add},
       {.d = kF32, .tile = {128, 64}},
       {},
       "d = acc",
       {.shared_bytes = 64, .shared_alignment = 16, .parameter_bytes = 400},
       {.shared_bytes = 64, .shared_alignment = 16, .parameter_bytes = 400}},
      {GemmRule::reduce_add_plain,
       {.d = kF32, .tile = {128, 64}, .split = SplitMode::reduce_add},
       {.d = kF32, .tile = {128, 64}},
       {},
       "d = acc",
       {.copies = true},
       {.copies = true}},
      {GemmRule::groups_contiguous_m,
       {.major_a = Major::MN, .groups = kAlongM},
       {.major_b = Major::MN, .groups = kAlongM},
       {.operand = 'A'}},
      {GemmRule::groups_contiguous_m,
       {.layout_d = kColumnMajor, .groups = kAlongM},
       {.layout_d = kRowMajor, .groups = kAlongM},
       {.operand = 'D'}},
      {GemmRule::groups_contiguous_k,
       {.major_a = Major::MN, .groups = kAlongK},
       {.major_a = Major::MN, .major_b = Major::MN, .layout_d = kColumnMajor, .groups = kAlongK},
       {.operand = 'B'}},
      {GemmRule::groups_element,
       {.a = kF8, .b = kF8, .major_a = Major::MN, .major_b = Major::MN, .groups = kAlongK},
       {.a = kBf16, .b = kBf16, .major_a = Major::MN, .major_b = Major::MN, .groups = kAlongK},
       {.operand = 'A', .element = kF8, .other = kBf16}},
      {GemmRule::groups_warpgroups,
       {.tile = {128, 128}, .schedule = kInTurn, .warpgroups = 3, .groups = kAlongM},
       {.tile = {128, 128}, .schedule = kInTurn, .warpgroups = 2, .groups = kAlongM}},
      {GemmRule::groups_split,
       {.d = kF32, .split = SplitMode::reduce_add, .groups = kAlongM},
       {.d = kF32, .split = SplitMode::none, .groups = kAlongM}},
      {GemmRule::groups_scaled,
       {.a = kF8, .b = kF8, .scale_a = ScaleMode::block, .groups = kAlongM},
       {.a = kF8, .b = kF8, .scale_a = ScaleMode::row_block, .scale_b = ScaleMode::block, .groups = kAlongM}},
      {GemmRule::groups_scaled,
       {.a = kF8, .b = kF8, .scale_a = ScaleMode::row_block, .groups = kArray},
       {.a = kF8, .b = kF8, .promote = true, .groups = kArray}},
      {GemmRule::groups_swapped,
       {.tile = {64, 64}, .cluster = {1, 1, 2}, .groups = kAlongM},
       {.tile = {64, 64}, .cluster = {1, 1}, .groups = kAlongM}},
      {GemmRule::groups_swapped,
       {.major_a = Major::MN, .major_b = Major::MN, .tile = {8, 64}, .swapped = true, .groups = kAlongK},
       {.tile = {8, 64}, .swapped = true, .groups = kAlongM}},
      {GemmRule::groups_swapped,
       {.tile = {8, 64}, .swapped = true, .constant = ConstantOperand::b, .groups = kAlongM},
       {.tile = {8, 64}, .swapped = true, .groups = kAlongM}},
      {GemmRule::groups_along_n, {.groups = GemmGrouping::along_n}, {.groups = kAlongM}},
      {GemmRule::groups_along_n,
       {.tile = {8, 64}, .swapped = true, .groups = GemmGrouping::along_n},
       {.tile = {8, 64}, .swapped = true, .groups = kAlongM}},
      {GemmRule::groups_contiguous_m,
       {.layout_d = kColumnMajor, .tile = {8, 64}, .swapped = true, .groups = kAlongM},
       {.tile = {8, 64}, .swapped = true, .groups = kAlongM},
       {.operand = 'D'}},
      {GemmRule::groups_argument,
       {.tile = {8, 64}, .swapped = true, .groups = kAlongM},
       {.tile = {8, 64}, .swapped = true},
       {},
       "d = acc; x:bf16 col = acc"},
      {GemmRule::groups_swapped, {.tile = {8, 64}, .swapped = true, .groups = kArray}, {.groups = kArray}},
      {GemmRule::groups_aligned,
       {.align_d = 1, .groups = kArray},
       {.align_c = 1, .align_d = 1, .align_aux = 1, .groups = kAlongM}},
      {GemmRule::groups_argument, {.groups = kAlongM}, {}, {}, "d = acc; s deterministic = reduce_row_add(acc)"},
      {GemmRule::groups_argument, {.groups = kAlongM}, {}, {}, "d = acc; x:bf16 col = acc"},
      {GemmRule::pointers_reduction, {.groups = kArray}, {}, {}, "d = acc; s = reduce_row_add(acc)"},
      {GemmRule::pointers_reduction, {.groups = kArray}, {}, {}, "d = acc; s deterministic = reduce_add(acc)"},
      {GemmRule::pointers_reduction, {.groups = kArray}, {}, {}, "d = acc; s:bf16 = reduce_max(acc)"},
      {GemmRule::pointers_own,
       {.tile = {64, 64}, .groups = kArray},
       {.tile = {64, 64}},
       {},
       "d = relu(acc)",
       {.shared_bytes = 64, .shared_alignment = 16, .parameter_bytes = 400},
       {.shared_bytes = 64, .shared_alignment = 16, .parameter_bytes = 400}},
      {GemmRule::spans_alone, {.swapped = true}, {}, {}, kRotated},
      {GemmRule::spans_alone, {.swapped = true}, {}, {}, "s = block_scale(acc:e4m3, 128); d = quantize(acc, rcp(s))"},
      {GemmRule::spans_alone, {.groups = kArray}, {.groups = kAlongM}, {}, "d = softmax(acc)"},
      {GemmRule::spans_alone, {.groups = GemmGrouping::pointer_array}, {.groups = kAlongM}, {}, kRotated},
      {GemmRule::gate_unused, {.gate = GemmGate::interleaved}, {.gate = GemmGate::halves}},
      {GemmRule::gated_major, {.major_b = Major::MN}, {.major_a = Major::MN}, {}, kGated},
      {GemmRule::gated_columns,
       {.tile = {128, 56}, .cluster = {1, 1}},
       {.tile = {128, 48}, .cluster = {1, 1}},
       {.actual = 56, .nearest = 64},
       kGated},
      {GemmRule::gated_columns,
       {.tile = {128, 48}, .cluster = {2, 1}},
       {.tile = {128, 48}, .cluster = {1, 2}},
       {.actual = 48, .nearest = 64},
       kGated},
      {GemmRule::gated_alone, {.groups = GemmGrouping::pointer_array}, {.groups = kAlongM}, {}, kGated},
      {GemmRule::gated_alone, {.swapped = true}, {}, {}, kGated},
      {GemmRule::gated_alone,
       {.a = kF8, .b = kF8, .d = kBf16, .scale_b = ScaleMode::block},
       {.a = kF8, .b = kF8, .d = kBf16, .scale_a = ScaleMode::row_block},
       {},
       kGated},
      {GemmRule::gather_major, {.major_a = Major::MN, .gather_a = true}, {.gather_a = true}},
      {GemmRule::gather_element,
       {.a = ElementType::tf32, .b = ElementType::tf32, .gather_a = true},
       {.a = ElementType::tf32, .b = ElementType::tf32},
       {.element = ElementType::tf32}},
      {GemmRule::gather_cluster,
       {.cluster = {1, 2}, .gather_a = true},
       {.cluster = {2, 1}, .gather_a = true},
       {.actual = 2, .nearest = 1}},
      {GemmRule::gather_warpgroups,
       {.tile = {128, 128}, .warpgroups = 3, .gather_a = true},
       {.tile = {128, 128}, .warpgroups = 2, .gather_a = true},
       {.actual = 3, .nearest = 2}},
      {GemmRule::gather_groups,
       {.groups = GemmGrouping::pointer_array, .gather_a = true},
       {.groups = GemmGrouping::along_m, .gather_a = true}},
      {GemmRule::gather_alone, {.tile = {8, 64}, .swapped = true, .gather_a = true}, {.gather_a = true}},
      {GemmRule::gather_alone, {.constant = ConstantOperand::b, .gather_a = true}, {.gather_a = true}},
      {GemmRule::scatter_major,
       {.layout_d = kColumnMajor, .scatter_d = RowScatter::store},
       {.scatter_d = RowScatter::store}},
      {GemmRule::scatter_element,
       {.scatter_d = RowScatter::add},
       {.d = kF32, .scatter_d = RowScatter::add},
       {.element = kBf16, .other = kF32}},
      {GemmRule::scatter_groups,
       {.groups = GemmGrouping::pointer_array, .scatter_d = RowScatter::store},
       {.groups = GemmGrouping::along_m, .scatter_d = RowScatter::store}},
      {GemmRule::scatter_alone,
       {.tile = {8, 64}, .swapped = true, .scatter_d = RowScatter::store},
       {.scatter_d = RowScatter::store}},
      {GemmRule::scatter_void, {.scatter_d = RowScatter::store}, {}, {}, "top = reduce_max(acc)"},
      {GemmRule::shared_memory,
       {.tile = {128, 256}, .stages = 5},
       {.tile = {128, 256}, .stages = 4},
       {.actual = 0, .nearest = 4, .second = kSm90.shared_bytes_per_block}},
      {GemmRule::no_room,
       {.c = kF32, .d = kF32, .tile = {128, 256}, .epilogue = {.epi_n = 64, .stages_c = 4, .stages_d = 4}},
       {.c = kF32, .d = kF32, .tile = {128, 256}, .epilogue = {.epi_n = 32, .stages_c = 2, .stages_d = 2}},
       {.first = 128 * (128 + 256)},
       "d = acc + c"},
      {GemmRule::no_room_shared_k,
       {.tile = {128, 256}, .cluster = {1, 1, 8}},
       {.tile = {128, 256}, .cluster = {1, 1, 1}},
       {.actual = 7 * 128 * 256 * 4 + 40, .nearest = 1, .first = 8}},
      {GemmRule::no_room_shared_k,
       {.tile = {64, 128}, .cluster = {1, 1, 8}},
       {.tile = {64, 128}, .cluster = {1, 1, 4}},
       {.nearest = 4, .first = 8}},
      {GemmRule::epilogue,
       {.d = kF8, .tile = {64, 24}},
       {.d = kF8, .tile = {64, 32}},
       {.epilogue = {.rule = EpilogueRule::smem_row, .actual = 24, .nearest = 32}}},
      {GemmRule::parameters,
       {.tile = {64, 64}},
       {.tile = {64, 64}},
       {.nearest = kSm90.parameter_bytes},
       "d = relu(acc)",
       {.shared_bytes = 64, .shared_alignment = 16, .parameter_bytes = 40000},
       {.shared_bytes = 64, .shared_alignment = 16, .parameter_bytes = 30000}},
      {GemmRule::builder,
       options_from({.tile = {128, 128, 64}, .d = kBf16, .fragment_size = 2}),
       options_from({.tile = {128, 128, 64}, .d = kBf16}),
       {.first = static_cast<std::int64_t>(BuilderField::fragment_size)}},
  };
}

TEST(EachRuleOfOptions, IsBrokenByOneRequestAndKeptByItsNeighbour) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(entry_of(c.rule).name);
    const fusion::Graph graph = fusion::graph(c.graph);
    const GemmDesign broken = make_gemm_design(c.broken, graph, kSm90, c.needs);
    ASSERT_EQ(broken.reasons.size(), 1) << describe(broken.reasons[1]).c_str();
    const GemmReason& reason = broken.reasons[0];
    EXPECT_EQ(reason.rule, c.rule) << describe(reason).c_str();
    EXPECT_EQ(reason.operand, c.says.operand);
    EXPECT_EQ(reason.element, c.says.element);
    EXPECT_EQ(reason.other, c.says.other);
    EXPECT_EQ(reason.nearest, c.says.nearest);
    EXPECT_EQ(reason.epilogue.rule, c.says.epilogue.rule);
    EXPECT_EQ(reason.epilogue.nearest, c.says.epilogue.nearest);
    EXPECT_TRUE(c.says.actual == 0 || reason.actual == c.says.actual) << reason.actual;
    EXPECT_TRUE(c.says.first == 0 || reason.first == c.says.first) << reason.first;
    const GemmDesign kept = make_gemm_design(c.kept, graph, kSm90, c.kept_needs);
    EXPECT_TRUE(kept.ok()) << describe(kept.reasons[0]).c_str();
  }
}

TEST(EachRuleOfOptions, HasSuchARequest) {
  std::set<GemmRule> broken;
  for (const Case& c : cases()) broken.insert(c.rule);
#define GANTRY_X(id, ...) EXPECT_EQ(broken.count(GemmRule::id), 1u) << #id;
#include <gantry/gemm/detail/rule_table.hpp>
}

// A warpgroup has 192 rows to itself, which is the pingpong schedule; what does not go with that says so.
TEST(ATileOf192Rows, IsOfThePingpongScheduleWhereNobodySaysAnother) {
  const GemmOptions open{.tile = {.m = 192, .n = 96}};
  EXPECT_TRUE(problems(open).empty());
  const GemmDesign design = make_gemm_design(open, fusion::graph("d = acc"));
  ASSERT_TRUE(design.ok());
  EXPECT_EQ(design.options.schedule, GemmSchedule::pingpong);
  EXPECT_EQ(design.options.tile.m, 192);
  EXPECT_TRUE(problems({.tile = {.m = 192}, .schedule = kTogether}).has(GemmRule::tile_rows));
  const GemmOptions adds{.d = ElementType::f32, .tile = {.m = 192}, .split = SplitMode::reduce_add};
  GemmOptions named = adds;
  named.schedule = kInTurn;
  const GemmReasons refused = problems(adds);
  ASSERT_FALSE(refused.empty());
  EXPECT_STREQ(describe(refused[0]).c_str(), describe(problems(named)[0]).c_str());
}

TEST(ATileOfFewRows, IsRefusedWithTheOptionThatHasThem) {
  for (const int rows : {8, 16, 56}) {
    const GemmReasons refused = problems({.tile = {.m = rows, .n = 64}});
    ASSERT_EQ(refused.size(), 1);
    EXPECT_EQ(refused[0].rule, GemmRule::few_rows);
    EXPECT_TRUE(problems({.tile = {.m = rows, .n = 64}, .swapped = true}).empty()) << rows;
  }
  EXPECT_STREQ(
      describe(problems({.tile = {.m = 8}})[0]).c_str(),
      "the tile has 8 rows: fewer than 64 rows are those of swapped operands, the option swapped (--swap); the "
      "nearest value that works without it is 64");
}

// Each refusal offers a value, and they work together.
TEST(RefusedRowsAndColumns, OfferATileThatWorks) {
  for (const GemmSchedule schedule : {GemmSchedule::automatic, GemmSchedule::cooperative, kInTurn}) {
    for (const int m : {1, 64, 96, 128, 161, 192, 193, 320, 500, 100000}) {
      for (const int n : {8, 48, 100, 256, 257, 100000}) {
        GemmOptions o{.tile = {m, n}, .schedule = schedule};
        for (const GemmReason& reason : problems(o)) {
          (reason.rule == GemmRule::tile_rows || reason.rule == GemmRule::pingpong_rows ? o.tile.m : o.tile.n) =
              static_cast<int>(reason.nearest);
        }
        const GemmReasons left = problems(o);
        EXPECT_TRUE(left.empty()) << m << " x " << n << ": " << describe(left[0]).c_str();
      }
    }
  }
}

// The rule of GEMMs about it names a builder, of which those who write options know nothing.
TEST(RefusedEpilogues, AreDescribedInTheWordsOfTheEpilogueAlone) {
  const GemmDesign design = make_gemm_design({.d = ElementType::s4}, fusion::graph("d = acc"));
  ASSERT_EQ(design.reasons.size(), 1);
  ASSERT_EQ(design.reasons[0].rule, GemmRule::epilogue);
  EXPECT_STREQ(describe(design.reasons[0]).c_str(), describe(design.reasons[0].epilogue).c_str());
}

// Every element type in every matrix: a design, or the rule that refuses it.
TEST(EachElementType, IsTakenOrRefusedByARuleInEveryMatrix) {
  const fusion::Graph plain = fusion::graph("d = acc"), residual = fusion::graph("d = acc + c");
  for (const ElementInfo& e : kElementTypes) {
    if (e.kind == ElementKind::none) continue;
    SCOPED_TRACE(e.name);
    const bool multiplied = mma_kind(e.type) != MmaKind::none;
    EXPECT_EQ(make_gemm_design({.a = e.type, .b = e.type}, plain).ok(), multiplied);
    for (const bool is_a : {true, false}) {
      const GemmReasons reasons = is_a ? problems({.a = e.type}) : problems({.b = e.type});
      if (!multiplied) {
        ASSERT_EQ(reasons.size(), 1);
        EXPECT_EQ(reasons[0].rule, GemmRule::element);
        EXPECT_EQ(reasons[0].operand, is_a ? 'A' : 'B');
      }
    }
    const bool stored = e.bits >= 8 && e.bits <= 64, read = stored && e.kind != ElementKind::complex;
    for (const int align : {0, 1}) {
      const GemmDesign d = make_gemm_design({.d = e.type, .align_d = align}, plain);
      const GemmDesign c = make_gemm_design({.c = e.type, .align_c = align}, residual);
      EXPECT_EQ(d.ok(), stored) << (d.ok() ? "" : describe(d.reasons[0]).c_str());
      EXPECT_EQ(c.ok(), read) << (c.ok() ? "" : describe(c.reasons[0]).c_str());
      EXPECT_TRUE(d.ok() || d.reasons.has(GemmRule::epilogue));
      EXPECT_TRUE(c.ok() || c.reasons.has(GemmRule::epilogue));
    }
  }
}

TEST(EachRuleOfOptions, IsReportedBesideTheOthersThatARequestBreaks) {
  const GemmReasons reasons =
      problems({.a = ElementType::f64, .tile = {.m = 100, .n = 100}, .cluster = {3, 1}, .stages = 1});
  ASSERT_EQ(reasons.size(), 5);
  for (const GemmRule rule :
       {GemmRule::element, GemmRule::tile_rows, GemmRule::tile_columns, GemmRule::cluster, GemmRule::stages}) {
    EXPECT_TRUE(reasons.has(rule)) << entry_of(rule).name;
  }
}

}  // namespace
}  // namespace gantry

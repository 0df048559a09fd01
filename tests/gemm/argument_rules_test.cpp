// Each rule of arguments: what breaks it alone, and a neighbour that keeps it.
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/epilogue/detail/graph_host.hpp>
#include <gantry/epilogue/fusion/loop_callbacks.hpp>
#include <gantry/gemm.hpp>

#include "../rules/rule_names.hpp"

namespace gantry {
namespace {

using test::names_of;
using test::sentences_of;

struct Plain {
  static constexpr GemmOptions options{.tile = {.m = 128, .n = 128}, .cluster = {1, 1}};
};
struct Small {
  static constexpr GemmOptions options{.tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
};
// A factor, C, a vector, a tensor that is read, one that is written, a mask and sums of each column.
struct Everything {
  static constexpr GemmOptions options{.c = ElementType::bf16, .tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
  static constexpr fusion::Graph graph = fusion::graph(
      "let z = acc + beta * c + row(bias) + load(x:f16); d = z; y:f16 = z; mask:u1 = z;"
      "sums deterministic = reduce_row_add(z)");
};

struct Gated {
  static constexpr fusion::Graph graph = fusion::graph("d = silu(gate(acc)) * up(acc)");
};
struct OfWholeRows {
  static constexpr fusion::Graph graph = fusion::graph("d = softmax(acc)");
};
struct OfRows {
  static constexpr GemmOptions options{.tile = {64, 64}, .cluster = {1, 1}, .groups = GemmGrouping::along_m};
};
struct OfK {
  static constexpr GemmOptions options{
      .major_a = Major::MN, .major_b = Major::MN, .tile = {64, 64}, .cluster = {1, 1}, .groups = GemmGrouping::along_k};
};

template <class T>
T* far(int i) {
  return reinterpret_cast<T*>(std::uintptr_t{1} << (56 + i));  // NOLINT(performance-no-int-to-ptr)
}

constexpr GemmExtents kSize{.m = 64, .n = 96, .k = 64, .batch = 2};

GemmArguments<Plain> plain(const GemmExtents& extents = kSize) {
  GemmArguments<Plain> args(extents);
  args.a = far<const bf16>(0);
  args.b = far<const bf16>(1);
  args.d = far<bf16>(2);
  return args;
}
GemmArguments<Everything> everything() {
  GemmArguments<Everything> args(kSize);
  args.a = far<const bf16>(0);
  args.b = far<const bf16>(1);
  args.c = far<const bf16>(2);
  args.d = far<bf16>(3);
  args.fusion["beta"] = 1.0f;
  args.fusion["bias"] = far<const float>(4);
  args.fusion["x"] = far<const f16>(5);
  args.fusion["y"] = far<f16>(6);
  args.fusion["mask"] = far<std::uint8_t>(7);
  args.fusion["sums"].batched(reinterpret_cast<float*>(std::uintptr_t{3} << 60), 96);  // NOLINT
  return args;
}

// 64 rows, or rows of K, of two groups.
template <class Spec>
ArgumentReasons grouped(const GemmGroups& groups, std::int64_t m = 64) {
  GemmArguments<Spec> args({.m = m, .n = 96, .k = 64, .batch = 2});
  args.a = far<const bf16>(0);
  args.b = far<const bf16>(1);
  args.d = far<bf16>(2);
  args.groups = groups;
  return can_implement(args);
}

template <class Change>
ArgumentReasons with(const Change& change) {
  GemmArguments<Plain> args = plain();
  change(args);
  return can_implement(args);
}
template <class Change>
ArgumentReasons with_fusion(const Change& change) {
  GemmArguments<Everything> args = everything();
  change(args);
  return can_implement(args);
}
struct Scaled {
  static constexpr GemmOptions options{.a = ElementType::e4m3, .b = ElementType::e4m3, .scale_a = ScaleMode::row_block};
};
constexpr float one_scale = 1;
ArgumentReasons with_scales(const GemmScale& scales) {
  GemmArguments<Scaled> args({.m = 64, .n = 64, .k = 64});
  args.a = far<const e4m3>(0);
  args.b = far<const e4m3>(1);
  args.d = far<bf16>(2);
  args.scale_a = scales;
  return can_implement(args);
}
// Of an epilogue that has C, has D, and reads this text.
ArgumentReasons of_epilogue(const char* text, bool has_c, bool has_d) {
  const fusion::Graph graph = fusion::graph(text);
  ArgumentReasons out;
  detail::check_values({.has_c = has_c, .has_d = has_d}, {64, 64, 64}, fusion::FusionArguments(graph), out);
  return out;
}
// Of rows of n columns that are combined, in a tile of 64.
ArgumentReasons of_row(int n) {
  constexpr Subtiles kTile{.m = 64, .n = 64, .epi_m = 64, .epi_n = 64, .warpgroups = 1};
  const fusion::Graph graph = fusion::graph("d = softmax(acc)");
  ArgumentReasons out;
  detail::check_values({.tile = kTile}, {64, n, 64}, fusion::FusionArguments(graph), out);
  return out;
}
ArgumentReasons of_seed(float seed) {
  const fusion::Graph graph = fusion::graph("d = dropout(acc, 0.5, seed)");
  fusion::FusionArguments arguments(graph);
  arguments["seed"] = seed;
  ArgumentReasons out;
  detail::check_values({.has_c = false, .has_d = true}, {64, 64, 64}, arguments, out);
  return out;
}
ArgumentReasons of_workspace(const GemmWorkspace& given, const void* memory) {
  ArgumentReasons out;
  detail::check_workspace(given, memory, 64, out);
  return out;
}
ArgumentReasons of_graph(bool dangling) {
  fusion::Graph graph = fusion::graph("d = acc");
  if (dangling) graph.compute(fusion::Function::relu, 0);
  ArgumentReasons out;
  detail::check_form({}, graph, out);
  return out;
}
ArgumentReasons of_map(std::uint32_t box) {
  ArgumentReasons out;
  TmaDescriptorParams params{.dims = {4096}, .box = {box}};
  params.address = 4096;
  (void)detail::MapEncoder(true, out)(params);
  return out;
}
// Of a graph at run time whose loop has this much shared memory.
struct LoopConfig {
  using Value = float;
  static constexpr Subtiles tile{.m = 64, .n = 64, .epi_m = 64, .epi_n = 32, .warpgroups = 1};
  static constexpr fusion::Rings rings{.loads = 2, .stores = 2};
  static constexpr int fragment = 16;
};
template <int bytes>
ArgumentReasons in_loop(const char* text) {
  return fusion::LoopCallbacks<LoopConfig, bytes>::problems(fusion::graph(text));
}
template <class Made>
ArgumentReasons why(const Made& made) {
  return made ? ArgumentReasons() : made.error();
}

struct Case {
  ArgumentRule rule;
  ArgumentReasons broken, kept;
};

std::vector<Case> sizes_and_addresses() {
  return {
      {ArgumentRule::size_negative, can_implement(plain({-1, 8, 8})), can_implement(plain({0, 8, 8}))},
      {ArgumentRule::size_too_large, can_implement(plain({8, 8, 0x7fffff01})),
       can_implement(plain({8, 8, 0x7fff0000}))},
      {ArgumentRule::too_many_tiles, can_implement(plain({1 << 20, 1 << 20, 1 << 20})),
       can_implement(plain({896, 1 << 20, 1 << 20}))},
      {ArgumentRule::too_many_tiles_for_any_m, can_implement(plain({1 << 20, 1 << 30, 1 << 30})),
       can_implement(plain({1, 1 << 20, 1 << 20}))},
      {ArgumentRule::matrix_missing, with([](auto& args) { args.a = nullptr; }), with([](auto&) {})},
      {ArgumentRule::scale_missing, with_scales(nullptr), with_scales(&one_scale)},
      {ArgumentRule::scale_unused, with([](auto& args) { args.scale_a = &one_scale; }), with([](auto&) {})},
      {ArgumentRule::scales_too_large, with_scales({&one_scale, 17043522}),
       with_scales({&one_scale, 17043521})},  // 63 rows
      {ArgumentRule::source_missing, with_fusion([](auto& args) { args.c = nullptr; }), with_fusion([](auto& args) {
         args.c = nullptr;
         args.fusion["beta"] = 0.0f;
       })},
      {ArgumentRule::address_misaligned, with([](auto& args) { args.d.data += 1; }),
       with([](auto& args) { args.d.data += 8; })},
      {ArgumentRule::element_misaligned, with_fusion([](auto& args) {
         args.fusion["bias"] = reinterpret_cast<const float*>((std::uintptr_t{1} << 60) + 2);  // NOLINT
       }),
       with_fusion([](auto&) {})},
      {ArgumentRule::stride_too_long, with([](auto& args) { args.a.stride = std::int64_t{1} << 39; }),
       with([](auto& args) {
         args.a.stride = (std::int64_t{1} << 39) - 8;
         args.a.batch_stride = 64;
       })},
      {ArgumentRule::stride_too_short, with([](auto& args) { args.a.stride = 63; }),
       with([](auto& args) { args.a.stride = 65; })},
      {ArgumentRule::stride_misaligned, with([](auto& args) { args.d.stride = 100; }),
       with([](auto& args) { args.d.stride = 104; })},
      {ArgumentRule::batch_stride_negative, with([](auto& args) { args.a.batch_stride = -8; }),
       with([](auto& args) { args.a.batch_stride = 0; })},
      {ArgumentRule::batch_stride_misaligned, with([](auto& args) { args.d.batch_stride = 4; }),
       with([](auto& args) { args.d.batch_stride = 64 * 96; })},
      {ArgumentRule::batches_overlap, with([](auto& args) { args.d.batch_stride = 8; }),
       with([](auto& args) { args.d.batch_stride = 64 * 96 + 8; })},
      {ArgumentRule::results_overlap, with_fusion([](auto& args) {
         args.fusion["sums"].batched(reinterpret_cast<float*>(std::uintptr_t{3} << 60), 95);  // NOLINT
       }),
       with_fusion([](auto& args) {
         args.fusion["sums"].batched(reinterpret_cast<float*>(std::uintptr_t{3} << 60), 96);  // NOLINT
       })},
      {ArgumentRule::mask_stride,
       with_fusion([](auto& args) { args.fusion["mask"].tensor(far<std::uint8_t>(7), 100, 6400); }),
       with_fusion([](auto& args) { args.fusion["mask"].tensor(far<std::uint8_t>(7), 104, 6656); })},
      {ArgumentRule::ends_inside_chunk, with([](auto& args) { args.extents.n = 100; }),
       with([](auto& args) { args.extents.n = 104; })},
      {ArgumentRule::read_while_written, with([](auto& args) { args.d = far<bf16>(0); }), with([](auto&) {})},
      {ArgumentRule::written_twice, with_fusion([](auto& args) { args.fusion["y"] = far<f16>(3); }),
       with_fusion([](auto&) {})},
      {ArgumentRule::in_place_of_another, with_fusion([](auto& args) { args.d = far<bf16>(2) + 8; }),
       with_fusion([](auto& args) { args.d = far<bf16>(2); })},
  };
}

std::vector<Case> fusion_and_device() {
  static std::uint64_t memory[9];
  char* const bytes = reinterpret_cast<char*>(memory);
  char* const aligned = bytes + (16 - reinterpret_cast<std::uintptr_t>(bytes) % 16) % 16;
  const auto fused = [](const auto& change) { return with_fusion(change); };
  const ArgumentReasons sound = fused([](auto&) {});
  const GemmDevice here = device_of(Simulator()), nowhere{.simulated = false, .present = false};
  using Set = GemmSet<Plain, Small>;
  return {
      {ArgumentRule::unknown_name, fused([](auto& args) { args.fusion["bais"] = 1.0f; }), sound},
      {ArgumentRule::argument_missing, of_epilogue("d = acc + row(bias)", true, true),
       of_epilogue("d = acc + scalar(bias = 1)", true, true)},
      {ArgumentRule::argument_null, fused([](auto& args) { args.fusion["bias"] = nullptr; }),
       fused([](auto& args) { args.fusion["beta"] = static_cast<const float*>(nullptr); })},
      {ArgumentRule::number_for_address, fused([](auto& args) { args.fusion["y"] = 1.0f; }),
       fused([](auto& args) { args.fusion["bias"] = 1.0f; })},
      {ArgumentRule::scalars_by_address,
       fused([](auto& args) { args.fusion["beta"].by_gemm(far<const float* const>(4)); }),
       fused([](auto& args) { args.fusion["beta"].batched(far<const float>(4), 1); })},
      {ArgumentRule::row_in_one_tile, of_row(72), of_row(64)},
      {ArgumentRule::seed_by_value, of_seed(0.5f), of_seed(5)},
      {ArgumentRule::element_differs, fused([](auto& args) { args.fusion["bias"] = far<const f16>(4); }), sound},
      {ArgumentRule::output_is_const, fused([](auto& args) { args.fusion["y"] = far<const f16>(6); }), sound},
      {ArgumentRule::source_without_element, of_epilogue("d = acc + c", false, true),
       of_epilogue("d = acc + c", true, true)},
      {ArgumentRule::gate_differs, of_epilogue("d = gate(acc)", false, true), of_epilogue("d = acc", false, true)},
      {ArgumentRule::d_not_stored, of_epilogue("d = acc", false, false), of_epilogue("d = acc", false, true)},
      {ArgumentRule::d_not_given, of_epilogue("s optional = reduce_add(acc)", false, true),
       of_epilogue("s optional = reduce_add(acc)", false, false)},
      {ArgumentRule::graph, of_graph(true), of_graph(false)},
      {ArgumentRule::loop_element, in_loop<65536>("d = acc + load(x:s16)"), in_loop<65536>("d = acc + load(x:f16)")},
      {ArgumentRule::loop_heads, in_loop<1024>("d = rotate(acc, 64)"), in_loop<1024>("d = rotate(acc, 32)")},
      {ArgumentRule::rotated_columns, of_epilogue("d = rotate(acc, 48)", false, true),
       of_epilogue("d = rotate(acc, 32)", false, true)},
      {ArgumentRule::loop_columns, in_loop<1024>("d = across_add(acc, 64)"), in_loop<1024>("d = across_add(acc, 32)")},
      {ArgumentRule::loop_row_blocks, in_loop<1024>("d = acc; s optional = reduce_row_add(acc, 8)"),
       in_loop<1024>("d = acc; s optional = reduce_row_add(acc, 64)")},
      {ArgumentRule::loop_column_blocks, in_loop<1024>("d = acc; s optional = reduce_col_add(acc, 48)"),
       in_loop<1024>("d = acc; s optional = reduce_col_add(acc, 32)")},
      {ArgumentRule::loop_shared_memory, in_loop<1024>("d = acc + load(x:f16)"), in_loop<1024>("d = acc")},
      {ArgumentRule::no_device, why(Gemm<Plain>::plan(plain(), nowhere)), why(Gemm<Plain>::plan(plain(), here))},
      {ArgumentRule::no_configuration, why(Set::plan(plain(), here, {.asked = "64x64"})),
       why(Set::plan(plain(), here, {.asked = "64x64x64 pingpong 1x1 bf16"}))},
      {ArgumentRule::out_of_memory, of_workspace({}, nullptr), of_workspace({}, aligned)},
      {ArgumentRule::workspace_too_small, of_workspace({aligned, 63}, aligned), of_workspace({aligned, 64}, aligned)},
      {ArgumentRule::workspace_misaligned, of_workspace({aligned + 4, 64}, aligned + 4),
       of_workspace({aligned, 64}, aligned)},
      {ArgumentRule::map_not_encoded, of_map(257), of_map(256)},
  };
}

struct OfArray {
  static constexpr GemmOptions options{.groups = GemmGrouping::pointer_array};
};

// A pointer array of two GEMMs.
ArgumentReasons in_array(const GemmGroups& groups, std::int64_t n = 96, const bf16* a = nullptr) {
  GemmArguments<OfArray> args({.m = 64, .n = n, .k = 64, .batch = 2});
  args.a = a;
  args.groups = groups;
  return can_implement(args);
}

std::vector<Case> groups() {
  const auto* const array = far<const std::int32_t>(4);
  const GemmGroups gemms{.gemms = far<const GemmGroup>(5)};
  const ArgumentReasons sound = grouped<OfRows>({.offsets = array});
  return {
      {ArgumentRule::groups_missing, grouped<OfRows>({}), sound},
      {ArgumentRule::group_lines, grouped<OfRows>({.offsets = array}, (1 << 30) + 1),
       grouped<OfRows>({.offsets = array}, 1 << 30)},
      {ArgumentRule::groups_not_asked, with([&](auto& args) { args.groups.offsets = array; }), with([](auto&) {})},
      {ArgumentRule::groups_twice, grouped<OfRows>({array, array}), sound},
      {ArgumentRule::groups_masked_k, grouped<OfK>({.counts = array}), grouped<OfK>({.offsets = array})},
      {ArgumentRule::groups_capacity, grouped<OfRows>({.counts = array}, 63), grouped<OfRows>({.counts = array})},
      {ArgumentRule::groups_missing, in_array({}), in_array(gemms)},
      {ArgumentRule::pointers_missing, in_array({.offsets = array}), in_array(gemms)},
      {ArgumentRule::pointers_not_asked, grouped<OfRows>(gemms), sound},
      {ArgumentRule::pointers_extent, in_array(gemms, 0), in_array(gemms, 1)},
      {ArgumentRule::pointers_matrix, in_array(gemms, 96, far<const bf16>(0)), in_array(gemms)},
      {ArgumentRule::element_misaligned,
       in_array({.gemms = reinterpret_cast<const GemmGroup*>(far<const char>(5) + 8)}), in_array(gemms)},
  };
}

struct OfIndex {
  static constexpr GemmOptions options{.tile = {64, 64}, .cluster = {1, 1}, .gather_a = true};
};
ArgumentReasons gathered(const GemmGather& gather, const GemmMatrix<const bf16>& a = far<const bf16>(0)) {
  GemmArguments<OfIndex> args({.m = 64, .n = 96, .k = 64});
  args.a = a;
  args.b = far<const bf16>(1);
  args.d = far<bf16>(2);
  args.gather = gather;
  return can_implement(args);
}

std::vector<Case> gather() {
  const auto* const index = far<const std::int32_t>(4);
  const ArgumentReasons sound = gathered({index, 1000});
  const auto far_apart = [&](std::int64_t rows) {
    return gathered({index, rows}, {far<const bf16>(6), std::int64_t{1} << 30});
  };
  return {
      {ArgumentRule::gather_missing, gathered({}), sound},
      {ArgumentRule::gather_not_asked, with([&](auto& args) {
         args.gather = {index, 8};
       }),
       with([](auto&) {})},
      {ArgumentRule::gather_too_large, far_apart(32), far_apart(31)},
      {ArgumentRule::size_negative, gathered({index, -1}), gathered({index, 0}, nullptr)},
      {ArgumentRule::element_misaligned, gathered({reinterpret_cast<const std::int32_t*>(far<const char>(4) + 2), 8}),
       sound},
  };
}

struct ToIndex {
  static constexpr GemmOptions options{.tile = {64, 64}, .cluster = {1, 1}, .scatter_d = RowScatter::store};
};
ArgumentReasons scattered(const GemmScatter& scatter) {
  GemmArguments<ToIndex> args({.m = 64, .n = 96, .k = 64});
  args.a = far<const bf16>(0);
  args.b = far<const bf16>(1);
  args.d = far<bf16>(2);
  args.scatter = scatter;
  return can_implement(args);
}

std::vector<Case> scatter() {
  const auto* const index = far<const std::int32_t>(4);
  const ArgumentReasons sound = scattered({index, 1000});
  return {
      {ArgumentRule::scatter_missing, scattered({}), sound},
      {ArgumentRule::scatter_not_asked, with([&](auto& args) {
         args.scatter = {index, 8};
       }),
       with([](auto&) {})},
      {ArgumentRule::size_negative, scattered({index, -1}), scattered({index, 0})},
  };
}

template <class Spec>
ArgumentReasons with_columns(std::int64_t n) {
  GemmArguments<Spec> args({.m = 64, .n = n, .k = 64});
  args.a = far<const bf16>(0);
  args.b = far<const bf16>(1);
  args.d = far<bf16>(2);
  return can_implement(args);
}

std::vector<Case> cases() {
  std::vector<Case> out = sizes_and_addresses();
  out.push_back({ArgumentRule::gate_columns, with_columns<Gated>(88), with_columns<Gated>(96)});
  out.push_back({ArgumentRule::row_in_one_tile, with_columns<OfWholeRows>(264), with_columns<OfWholeRows>(256)});
  for (const Case& c : fusion_and_device()) out.push_back(c);
  for (const Case& c : groups()) out.push_back(c);
  for (const Case& c : gather()) out.push_back(c);
  for (const Case& c : scatter()) out.push_back(c);
  return out;
}

TEST(EachRuleOfArguments, IsBrokenByOneCallAndKeptByItsNeighbour) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(entry_of(c.rule).name);
    ASSERT_EQ(c.broken.size(), 1) << sentences_of(c.broken);
    EXPECT_EQ(c.broken[0].rule, c.rule) << sentences_of(c.broken);
    EXPECT_TRUE(c.kept.ok()) << sentences_of(c.kept);
  }
}

// Those that other tests break: the epilogue by itself, tensors of convolutions, and callbacks (tests/epilogue). Memory
// that CUDA does not clear is a GPU's.
TEST(EachRuleOfArguments, HasSuchACall) {
  std::set<ArgumentRule> broken = {ArgumentRule::size_zero,
                                   ArgumentRule::tensor_map,
                                   ArgumentRule::images_and_batches,
                                   ArgumentRule::pixels_differ,
                                   ArgumentRule::callbacks,
                                   ArgumentRule::workspace_missing,
                                   ArgumentRule::workspace_not_cleared};
  for (const Case& c : cases()) broken.insert(c.rule);
#define GANTRY_X(id, ...) EXPECT_EQ(broken.count(ArgumentRule::id), 1u) << #id;
#include <gantry/epilogue/detail/argument_rule_table.hpp>
}

}  // namespace
}  // namespace gantry

// Every synchronising call is needed in what reads or writes other tiles than the plain GEMM: groups along M and along
// K, gated epilogues, D that threads store straight from registers, and operands on exchanged sides.
#include "gemm_sweep.hpp"

namespace gantry {
namespace {

using sweep::expect_every_change_detected;

template <GemmGrouping kGroups, GemmSchedule kSchedule>
struct Groups {
  static constexpr Major kMajor = kGroups == GemmGrouping::along_k ? Major::MN : Major::K;
  static constexpr GemmOptions options{.major_a = kMajor,
                                       .major_b = kMajor,
                                       .tile = {64, 64},
                                       .cluster = {2, 1},
                                       .stages = 2,
                                       .schedule = kSchedule,
                                       .groups = kGroups};
  static constexpr fusion::Graph graph = fusion::graph("d = acc");
};
template <GemmSchedule kSchedule>
struct Gated {
  static constexpr GemmOptions options{.tile = {kSchedule == GemmSchedule::pingpong ? 64 : 128, 64},
                                       .cluster = {2, 1},
                                       .stages = 2,
                                       .schedule = kSchedule};
  static constexpr fusion::Graph graph = fusion::graph("d = silu(gate(acc)) * up(acc)");
};
struct Direct {
  static constexpr GemmOptions options{
      .align_d = 1, .tile = {128, 64}, .cluster = {2, 1}, .stages = 2, .schedule = GemmSchedule::cooperative};
  static constexpr fusion::Graph graph = fusion::graph("d = acc");
};
// Nothing leaves by TMA: vectors, C and an auxiliary tensor read and written by threads, reductions.
struct DirectFused {
  static constexpr GemmOptions options{.c = ElementType::bf16,
                                       .align_c = 1,
                                       .align_d = 1,
                                       .align_aux = 1,
                                       .tile = {128, 64},
                                       .cluster = {1, 1},
                                       .stages = 2,
                                       .schedule = GemmSchedule::cooperative};
  static constexpr fusion::Graph graph = fusion::graph(
      "let z = acc + c + row(bias) + col(shift); d = z; y:bf16 = z; s deterministic = reduce_row_add(z);"
      "t deterministic = reduce_add(z); u deterministic = reduce_col_max(z)");
};
struct OnlyReduced {
  static constexpr GemmOptions options{
      .tile = {128, 64}, .cluster = {1, 1}, .stages = 2, .schedule = GemmSchedule::cooperative};
  static constexpr fusion::Graph graph = fusion::graph("t = reduce_add(acc); u = reduce_col_max(acc)");
};
template <GemmGrouping kGroups, GemmSchedule kSchedule, int kStages>
struct Gathered {
  static constexpr GemmOptions options{.tile = {64, 64},
                                       .cluster = {2, 1},
                                       .stages = kStages,
                                       .schedule = kSchedule,
                                       .groups = kGroups,
                                       .gather_a = true};
  static constexpr fusion::Graph graph = fusion::graph("d = relu(acc)");
};
template <RowScatter kScatter, GemmSchedule kSchedule>
struct Scattered {
  static constexpr GemmOptions options{.d = ElementType::f32,
                                       .tile = {64, 64},
                                       .cluster = {2, 1},
                                       .stages = 2,
                                       .schedule = kSchedule,
                                       .groups = GemmGrouping::along_m,
                                       .scatter_d = kScatter};
  static constexpr fusion::Graph graph = fusion::graph("d = acc");
};
// Rows that two CTAs have together. Three exchanges for each tile, so that one set of slots is used twice in the same
// tile: from tile to tile, the stages that CTAs share order them too.
template <GemmSchedule kSchedule>
struct RowsOfACluster {
  static constexpr GemmOptions options{.tile = {kSchedule == GemmSchedule::pingpong ? 64 : 128, 64},
                                       .cluster = {1, 2},
                                       .stages = 2,
                                       .schedule = kSchedule};
  static constexpr fusion::Graph graph = fusion::graph("d = softmax(acc - 0.01 * across_add(acc))");
};
struct Swapped {
  static constexpr GemmOptions options{.tile = {.m = 16, .n = 128}, .cluster = {1, 2}, .stages = 2, .swapped = true};
  static constexpr fusion::Graph graph = fusion::graph("d = gelu(acc)");
};

template <GemmSchedule kSchedule>
struct SwappedGroups {
  static constexpr GemmOptions options{.tile = {.m = 16, .n = 64},
                                       .cluster = {1, 2},
                                       .stages = 2,
                                       .schedule = kSchedule,
                                       .swapped = true,
                                       .groups = GemmGrouping::along_m};
  static constexpr fusion::Graph graph = fusion::graph("d = relu(acc)");
};

using enum GemmSchedule;
using enum GemmGrouping;

TEST(GemmSweep, EveryCallOfGroupsOfRowsInAClusterIsNeeded) {
  expect_every_change_detected<Groups<along_m, cooperative>>(
      {.extents = {.m = 330, .n = 128, .k = 192, .batch = 4}, .sms = 2, .offsets = {0, 130, 130, 131, 330}});
}
TEST(GemmSweep, EveryCallOfGroupsOfRowsInThePingpongKernelIsNeeded) {
  expect_every_change_detected<Groups<along_m, pingpong>>(
      {.extents = {.m = 330, .n = 128, .k = 192, .batch = 4}, .sms = 2, .offsets = {0, 130, 130, 131, 330}});
}
TEST(GemmSweep, EveryCallOfGroupsAlongKIsNeeded) {
  expect_every_change_detected<Groups<along_k, cooperative>>(
      {.extents = {.m = 128, .n = 128, .k = 328, .batch = 3}, .sms = 2, .offsets = {0, 200, 200, 328}});
}
TEST(GemmSweep, EveryCallOfGroupsWithSwappedOperandsIsNeeded) {
  const sweep::Size size{
      .extents = {.m = 60, .n = 256, .k = 192, .batch = 4}, .sms = 2, .offsets = {0, 20, 20, 21, 60}};
  expect_every_change_detected<SwappedGroups<cooperative>>(size);
  expect_every_change_detected<SwappedGroups<pingpong>>(size);
}
std::vector<std::int32_t> gather_index() {
  std::vector<std::int32_t> index(330);
  for (std::size_t i = 0; i < index.size(); ++i) index[i] = static_cast<std::int32_t>(i * 7 % 340);  // 10 name no row
  return index;
}
TEST(GemmSweep, EveryCallIsNeededWhereThreadsGatherRowsOfA) {
  expect_every_change_detected<Gathered<none, cooperative, 4>>(
      {.extents = {.m = 330, .n = 128, .k = 384}, .sms = 2, .index = gather_index()});
  expect_every_change_detected<Gathered<none, pingpong, 4>>(
      {.extents = {.m = 330, .n = 128, .k = 384}, .sms = 2, .index = gather_index()});
}
// Threads fill few stages more slowly than a warpgroup multiplies them, so that none is ready when it is tested ahead
// of time: the calls of the source are judged.
TEST(GemmSweep, EveryCallIsNeededWhereThreadsGatherIntoFewStages) {
  expect_every_change_detected<Gathered<none, cooperative, 3>>(
      {.extents = {.m = 330, .n = 128, .k = 256}, .sms = 2, .only = "arch::", .index = gather_index()});
  expect_every_change_detected<Gathered<none, cooperative, 2>>(
      {.extents = {.m = 330, .n = 128, .k = 192}, .sms = 2, .only = "arch::", .index = gather_index()});
}
TEST(GemmSweep, EveryCallIsNeededWhereThreadsGatherRowsOfGroups) {
  expect_every_change_detected<Gathered<along_m, cooperative, 4>>(
      {.extents = {.m = 330, .n = 128, .k = 192, .batch = 4},
       .sms = 2,
       .offsets = {0, 130, 130, 131, 330},
       .index = gather_index()});
}
TEST(GemmSweep, EveryCallIsNeededWhereThreadsScatterRowsOfD) {
  const sweep::Size size{.extents = {.m = 330, .n = 128, .k = 192, .batch = 4},
                         .sms = 2,
                         .offsets = {0, 130, 130, 131, 330},
                         .scatter = gather_index()};
  expect_every_change_detected<Scattered<RowScatter::store, cooperative>>(size);
  expect_every_change_detected<Scattered<RowScatter::add, pingpong>>(size);
}
TEST(GemmSweep, EveryCallOfAGatedEpilogueIsNeeded) {
  expect_every_change_detected<Gated<cooperative>>({.extents = {.m = 256, .n = 256, .k = 192}, .sms = 2});
  expect_every_change_detected<Gated<pingpong>>({.extents = {.m = 256, .n = 256, .k = 192}, .sms = 2});
}
TEST(GemmSweep, EveryCallOfRowsThatAClusterHasIsNeeded) {
  expect_every_change_detected<RowsOfACluster<cooperative>>({.extents = {.m = 512, .n = 128, .k = 192}, .sms = 2});
  expect_every_change_detected<RowsOfACluster<pingpong>>({.extents = {.m = 512, .n = 128, .k = 192}, .sms = 2});
}
TEST(GemmSweep, EveryCallIsNeededWhereThreadsStoreD) {
  expect_every_change_detected<Direct>({.extents = {.m = 256, .n = 192, .k = 192}, .sms = 2});
}
TEST(GemmSweep, EveryCallIsNeededWhereThreadsLoadAndStoreAllTensors) {
  expect_every_change_detected<DirectFused>(
      {.extents = {.m = 256, .n = 128, .k = 192}, .sms = 2, .reduces_rows = true});
}
TEST(GemmSweep, EveryCallIsNeededWhereThereIsNoD) {
  expect_every_change_detected<OnlyReduced>({.extents = {.m = 256, .n = 128, .k = 192}, .sms = 2, .only = "pipeline"});
  // One K tile: no stage that is used again orders a tile after the reductions of the one before.
  expect_every_change_detected<OnlyReduced>({.extents = {.m = 512, .n = 128, .k = 64}, .sms = 2, .only = "!kStages"});
}
TEST(GemmSweep, EveryCallIsNeededWhereOperandsAreSwappedAndShared) {
  expect_every_change_detected<Swapped>({.extents = {.m = 16, .n = 768, .k = 192}, .sms = 2});
}

}  // namespace
}  // namespace gantry

// What the host hands over: every reason why an epilogue cannot run, workspace, problem shapes.
#include <gmock/gmock.h>

#include "../../rules/rule_names.hpp"
#include "harness.hpp"

namespace gantry::test {
namespace {

using E = ElementType;
using testing::ElementsAre;
using testing::IsEmpty;

struct Everything : Plain {
  static constexpr EpiloguePolicy policy = CollectiveBuilder{.schedule = EpilogueSchedule::tma_warp_specialized,
                                                             .tile = {64, 64, 64},
                                                             .epi_tile = {64, 32},
                                                             .c = E::bf16,
                                                             .d = E::bf16,
                                                             .layout_d = kColumnMajor}
                                               .policy();
  static constexpr fusion::Graph graph = fusion::graph(
      "let z = alpha * acc + beta * c + row(bias) + load(x:f16); d = z; y:f32 = z; m:u1 = z;"
      "s deterministic = reduce_row_add(z); t = reduce_amax(z)");
};

ProblemOptions options() { return options_for<Everything>({.shape = {.m = 80, .n = 96, .batch = 2}}); }

TEST(EpilogueArguments, WhatFitsHasNoReasons) {
  Problem problem(Everything::graph, options());
  EXPECT_THAT(names_of(KernelRun<Everything>(problem, 1).reasons()), IsEmpty());
}

TEST(EpilogueArguments, EveryReasonIsToldAtOnce) {
  Problem problem(Everything::graph, options());
  KernelRun<Everything> run(problem, 1);
  run.arguments().c.stride = 100;
  run.arguments().d.pointer = static_cast<std::uint8_t*>(problem.d().data()) + 8;
  run.arguments().fusion["m"].tensor(static_cast<std::uint8_t*>(problem.argument("m").data()), 100, 100 * 80);
  run.arguments().fusion["x"].tensor(static_cast<f16*>(problem.argument("x").data()), 90, 104 * 80);
  run.arguments().fusion["biass"] = 1.0f;
  const ArgumentReasons reasons = run.reasons();
  ASSERT_THAT(names_of(reasons), ElementsAre("unknown_name biass", "stride_too_short x", "stride_misaligned C",
                                             "tensor_map D", "mask_stride m"));
  EXPECT_EQ(reasons[0].other, "bias");
  EXPECT_EQ(reasons[1].actual, 90);
  EXPECT_EQ(reasons[1].nearest, 96);
  EXPECT_EQ(reasons[2].nearest, 104);
  EXPECT_EQ(reasons[3].tma.field, TmaField::address);
  EXPECT_EQ(reasons[4].actual, 100);
  EXPECT_EQ(reasons[4].nearest, 104);
}

TEST(EpilogueArguments, WhatIsMissingIsNamed) {
  EpilogueArguments<Everything> arguments;
  arguments.fusion["alpha"] = 1.0f;
  arguments.fusion["beta"] = 1.0f;
  EXPECT_THAT(names_of(can_implement<Everything>({80, 96, 64}, arguments)),
              ElementsAre("argument_missing bias", "argument_missing x", "argument_missing y", "argument_missing m",
                          "argument_missing s", "argument_missing t", "source_missing C", "matrix_missing D",
                          "workspace_missing"));
}

TEST(EpilogueArguments, RowsThatEndInsideSixteenBytesAreNotStored) {
  Problem problem(Everything::graph, options_for<Everything>({.shape = {.m = 77, .n = 96}}));
  const ArgumentReasons reasons = KernelRun<Everything>(problem, 1).reasons();
  ASSERT_THAT(names_of(reasons), ElementsAre("ends_inside_chunk D"));
  EXPECT_TRUE(reasons[0].columns);
  EXPECT_EQ(reasons[0].actual, 77);
  EXPECT_EQ(reasons[0].first, 10);
}

TEST(EpilogueArguments, BatchesOfDHaveTheirOwnPlaces) {
  Problem problem(Everything::graph, options());
  KernelRun<Everything> run(problem, 1);
  run.arguments().d.batch_stride = 0;
  const ArgumentReasons reasons = run.reasons();
  ASSERT_THAT(names_of(reasons), ElementsAre("batches_overlap D"));
  EXPECT_EQ(reasons[0].first, 1);
  EXPECT_EQ(reasons[0].actual, 0);
}

TEST(EpilogueArguments, AProblemHasExtents) {
  EpilogueArguments<Everything> arguments;
  EXPECT_THAT(names_of(can_implement<Everything>({0, -1, 64, 0}, arguments)),
              ElementsAre("size_zero M", "size_zero N", "size_zero batch"));
}

// Two tiles along M of one subtile each, 96 sums, one counter for each of two tiles along N.
TEST(EpilogueArguments, WorkspaceHoldsCountersAndPartialResults) {
  const EpilogueArguments<Everything> arguments;
  EXPECT_EQ(get_workspace_size<Everything>({80, 96, 64}, arguments), 16u + 2 * 96 * 4);
  EXPECT_EQ(get_workspace_size<Everything>({80, 96, 64, 3}, arguments), 32u + 3 * 2 * 96 * 4);
}

TEST(EpilogueArguments, AnAuxiliaryOutputOfTheWrongTypeIsRefused) {
  Problem problem(Everything::graph, options());
  KernelRun<Everything> run(problem, 1);
  float wrong = 0;
  run.arguments().fusion["x"] = &wrong;
  const ArgumentReasons reasons = run.reasons();
  ASSERT_THAT(names_of(reasons), ElementsAre("element_differs x"));
  EXPECT_EQ(reasons[0].element, E::f16);
  EXPECT_EQ(reasons[0].given, E::f32);
}

}  // namespace
}  // namespace gantry::test

// What the host hands over: every reason why an epilogue cannot run, workspace, problem shapes.
#include <gmock/gmock.h>

#include "harness.hpp"

namespace gantry::test {
namespace {

using E = ElementType;
using testing::ElementsAre;
using testing::HasSubstr;
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
  EXPECT_THAT(KernelRun<Everything>(problem, 1).reasons(), IsEmpty());
}

TEST(EpilogueArguments, EveryReasonIsToldAtOnce) {
  Problem problem(Everything::graph, options());
  KernelRun<Everything> run(problem, 1);
  run.arguments().c.stride = 100;
  run.arguments().d.pointer = static_cast<std::uint8_t*>(problem.d().data()) + 8;
  run.arguments().fusion["m"].tensor(static_cast<std::uint8_t*>(problem.argument("m").data()), 100, 100 * 80);
  run.arguments().fusion["x"].tensor(static_cast<f16*>(problem.argument("x").data()), 90, 104 * 80);
  run.arguments().fusion["biass"] = 1.0f;
  EXPECT_THAT(run.reasons(), ElementsAre(HasSubstr("there is no argument biass; did you mean bias?"),
                                         HasSubstr("x has a stride of 90"),
                                         HasSubstr("the nearest stride that works is 104"), HasSubstr("D: address is"),
                                         HasSubstr("m: the stride of a 1-bit tensor is whole bytes, a multiple of 8, "
                                                   "and 100 bits were given; the next that works is 104")));
}

TEST(EpilogueArguments, WhatIsMissingIsNamed) {
  EpilogueArguments<Everything> arguments;
  arguments.fusion["alpha"] = 1.0f;
  arguments.fusion["beta"] = 1.0f;
  EXPECT_THAT(can_implement<Everything>({80, 96, 64}, arguments),
              ElementsAre(HasSubstr("bias was not given"), HasSubstr("x was not given"), HasSubstr("y was not given"),
                          HasSubstr("m was not given"), HasSubstr("s was not given"), HasSubstr("t was not given"),
                          "C was not given: the expression uses it, and no factor is 0", "D was not given",
                          HasSubstr("bytes of workspace, and none was given")));
}

TEST(EpilogueArguments, RowsThatEndInsideSixteenBytesAreNotStored) {
  Problem problem(Everything::graph, options_for<Everything>({.shape = {.m = 77, .n = 96}}));
  EXPECT_THAT(KernelRun<Everything>(problem, 1).reasons(),
              ElementsAre(HasSubstr("M is 77: columns of D would end 10 bytes into a chunk of 16")));
}

TEST(EpilogueArguments, BatchesOfDHaveTheirOwnPlaces) {
  Problem problem(Everything::graph, options());
  KernelRun<Everything> run(problem, 1);
  run.arguments().d.batch_stride = 0;
  EXPECT_THAT(run.reasons(),
              ElementsAre(HasSubstr("D: batches 0 and 1 are written to the same place; they lie 0 elements apart")));
}

TEST(EpilogueArguments, AProblemHasExtents) {
  EpilogueArguments<Everything> arguments;
  EXPECT_THAT(can_implement<Everything>({0, -1, 64, 0}, arguments),
              ElementsAre("the problem has M = 0; an epilogue needs 1 or more",
                          "the problem has N = -1; an epilogue needs 1 or more",
                          "the problem has L = 0; an epilogue needs 1 or more"));
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
  EXPECT_THAT(run.reasons(), ElementsAre("x is an input tensor of f16, and was given the address of f32"));
}

}  // namespace
}  // namespace gantry::test

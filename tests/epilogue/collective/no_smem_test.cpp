// The epilogue without TMA: any alignment, any stride, the same results.
#include <gmock/gmock.h>

#include "../../rules/rule_names.hpp"
#include "harness.hpp"

namespace gantry::test {
namespace {

using E = ElementType;

struct Geometry {
  int m = 64, n = 64, warpgroups = 1;
};

template <E c, E d, bool c_rows, bool d_rows, Geometry g = Geometry{}>
struct Direct : Plain {
  static constexpr EpiloguePolicy policy = CollectiveBuilder{.schedule = EpilogueSchedule::no_smem_warp_specialized,
                                                             .tile = {g.m, g.n, 64},
                                                             .c = c,
                                                             .d = d,
                                                             .layout_c = c_rows ? kRowMajor : kColumnMajor,
                                                             .layout_d = d_rows ? kRowMajor : kColumnMajor,
                                                             .align_c = 1,
                                                             .align_d = 1,
                                                             .warpgroups = g.warpgroups}
                                               .policy();
  static_assert(policy.ok() && !policy.uses_tma());
  static constexpr fusion::Graph graph = fusion::graph(
      "let z = alpha * acc + beta * c + row(r) + col(k); d = gelu(z); m:u1 = z; s = reduce_row_add(z);"
      "t deterministic = reduce_col_max(z); u deterministic = reduce_amax(z)");
};

TEST(EpilogueWithoutTma, AgreesOnExtentsThatNothingDivides) {
  expect_agreement<Direct<E::bf16, E::bf16, true, true>>({.shape = {.m = 131, .n = 77}});
  expect_agreement<Direct<E::f32, E::e4m3, false, true>>({.shape = {.m = 67, .n = 129, .batch = 2}, .seed = 1});
  expect_agreement<Direct<E::s8, E::f32, true, false>>({.shape = {.m = 1, .n = 1}, .seed = 2});
  expect_agreement<Direct<E::f16, E::bf16, false, false, Geometry{256, 40, 2}>>(
      {.shape = {.m = 300, .n = 95, .batch = 2}, .seed = 3, .by_batch = true, .scalar_by_value = false});
}

// Pointers one element beyond 16 bytes, strides that are odd.
TEST(EpilogueWithoutTma, TakesAnyPointerAndStride) {
  using Config = Direct<E::bf16, E::bf16, true, true>;
  Problem problem(Config::graph, options_for<Config>({.shape = {.m = 70, .n = 65}, .seed = 4}));
  for (Buffer* buffer : {&problem.c(), &problem.d()}) {
    buffer->stride = 67;
    buffer->batch_stride = 0;
  }
  const auto expected = fusion::reference(problem.graph(), problem.reference(), problem.fusion());
  expect_agreement<Config>(problem, expected);
}

TEST(EpilogueWithoutTma, DoesNotReadCWhereBetaIsZero) {
  using Config = Direct<E::bf16, E::bf16, true, true>;
  Problem problem(Config::graph, options_for<Config>({.shape = {.m = 70, .n = 65}, .seed = 5}));
  problem.fusion()["beta"] = 0.0f;
  fusion::ReferenceProblem reference = problem.reference();
  reference.source.data = nullptr;
  const auto expected = fusion::reference(problem.graph(), reference, problem.fusion());
  problem.c().bytes.clear();
  expect_agreement<Config>(problem, expected);
}

TEST(EpilogueWithoutTma, SaysWhatIsMisaligned) {
  using Config = Direct<E::bf16, E::bf16, true, true>;
  Problem problem(Config::graph, options_for<Config>({.shape = {.m = 70, .n = 65}, .seed = 6}));
  KernelRun<Config> run(problem, 1);
  run.arguments().d.pointer = static_cast<std::uint8_t*>(problem.d().data()) + 1;
  run.arguments().c.stride = 64;
  const ArgumentReasons reasons = run.reasons();
  ASSERT_THAT(names_of(reasons), testing::ElementsAre("stride_too_short C", "element_misaligned D"));
  EXPECT_EQ(reasons[0].actual, 64);
  EXPECT_EQ(reasons[0].nearest, 65);
  EXPECT_EQ(reasons[1].actual, 1);
  EXPECT_EQ(reasons[1].nearest, 1);
}

}  // namespace
}  // namespace gantry::test

// Sums of integers, stored as they are.
#include <vector>

#include <gtest/gtest.h>

#include <gantry/arch/launch.hpp>
#include <gantry/epilogue/arguments.hpp>
#include <gantry/epilogue/fusion/loop_callbacks.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm.hpp>
#include <gantry/gemm/cooperative.hpp>
#include <gantry/gemm/fused_epilogue.hpp>

#include "kernel_params.hpp"

namespace gantry {
namespace {

struct AsTheyAre {
  static constexpr fusion::Graph graph = fusion::graph("d = acc");
  using Functions = fusion::UserFunctions<>;
  static constexpr GemmDesign design = make_gemm_design({.a = ElementType::s8,
                                                         .b = ElementType::s8,
                                                         .d = ElementType::s32,
                                                         .tile = {128, 32},
                                                         .cluster = {1, 1},
                                                         .stages = 2,
                                                         .schedule = GemmSchedule::cooperative,
                                                         .epilogue = {.epi_n = 32, .stages_c = 2, .stages_d = 2}},
                                                        graph);
};

// An f32 has no odd numbers beyond 2^24.
TEST(AccumulatorsOfIntegers, AreStoredWithEveryBit) {
  using Epilogue = FusedEpilogue<AsTheyAre>;
  using Kernel = CooperativeGemm<AsTheyAre, Epilogue>;
  constexpr int m = 3, n = 8, k = 2048;
  const std::vector<std::int8_t> a(m * k, 127);
  std::vector<std::int8_t> b(n * k, 127);
  b[0] = 0;  // 2047 products for the first column
  std::vector<std::int32_t> d(m * n);
  const auto encode = [](const TmaDescriptorParams& params) { return pack(params); };
  Epilogue::Arguments arguments;
  arguments.d = {d.data(), n, 0};
  const EpilogueProblem shape{m, n, k, 1};
  const auto epilogue = to_underlying_arguments<Epilogue::Part>(shape, arguments, encode);
  const GemmProblem problem{.a = a.data(), .b = b.data(), .m = m, .n = n, .k = k};
  const auto params = gantry_test::kernel_params<Kernel>(problem, epilogue, 1);
  const LaunchResult ran = launch(Simulator({.seed = 2}), gantry_test::config_of<Kernel>(params), Kernel{}, params);
  ASSERT_TRUE(ran) << describe(ran);
  for (int i = 0; i < m * n; ++i) EXPECT_EQ(d[static_cast<std::size_t>(i)], 127 * 127 * (i % n == 0 ? 2047 : 2048));
}

// Beside a reduction, which is of floats.
struct WithTop {
  static constexpr GemmOptions options{.a = ElementType::s8,
                                       .b = ElementType::s8,
                                       .d = ElementType::s32,
                                       .tile = {64, 32},
                                       .cluster = {1, 1},
                                       .stages = 2};
  static constexpr fusion::Graph graph = fusion::graph("d = acc; top = reduce_max(acc)");
};
TEST(AccumulatorsOfIntegers, AreStoredWithEveryBitBesideAReduction) {
  constexpr int m = 3, n = 8, k = 2048;
  const std::vector<std::int8_t> a(m * k, 127);
  std::vector<std::int8_t> b(n * k, 127);
  b[0] = 0;
  std::vector<std::int32_t> d(m * n);
  float top = 0;
  GemmArguments<WithTop> args({.m = m, .n = n, .k = k});
  args.a = a.data();
  args.b = b.data();
  args.d = d.data();
  args.fusion["top"] = &top;
  const auto plan = Gemm<WithTop>::plan(args, device_of(Simulator(), 1));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  ASSERT_TRUE(plan->run(Simulator({.seed = 2})));
  for (int i = 0; i < m * n; ++i) EXPECT_EQ(d[static_cast<std::size_t>(i)], 127 * 127 * (i % n == 0 ? 2047 : 2048));
  EXPECT_EQ(top, 127.0f * 127 * 2048);
}

// A graph at run time may give accumulators as they are, or values.
struct AnyOfIntegers : fusion::GraphAtRunTime<false, true, 4096, fusion::element_set(ElementType::f32)> {
  static constexpr GemmOptions options = WithTop::options;
};
TEST(AccumulatorsOfIntegers, AreStoredWithEveryBitByAGraphAtRunTime) {
  constexpr int m = 3, n = 8, k = 2048;
  const std::vector<std::int8_t> a(m * k, 127);
  std::vector<std::int8_t> b(n * k, 127);
  b[0] = 0;
  for (const char* text : {"d = acc; top = reduce_max(acc)", "d = acc / 127; top = reduce_max(acc)"}) {
    const int factor = text[7] == ';' ? 127 : 1;
    std::vector<std::int32_t> d(m * n);
    float top = 0;
    GemmArguments<AnyOfIntegers> args({.m = m, .n = n, .k = k}, fusion::graph(text));
    args.a = a.data();
    args.b = b.data();
    args.d = d.data();
    args.fusion["top"] = &top;
    const auto plan = Gemm<AnyOfIntegers>::plan(args, device_of(Simulator(), 1));
    ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
    ASSERT_TRUE(plan->run(Simulator({.seed = 2})));
    for (int i = 0; i < m * n; ++i) {
      EXPECT_EQ(d[static_cast<std::size_t>(i)], factor * 127 * (i % n == 0 ? 2047 : 2048)) << text;
    }
    EXPECT_EQ(top, 127.0f * 127 * 2048);
  }
}

}  // namespace
}  // namespace gantry

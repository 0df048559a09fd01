// Sums of integers, stored as they are.
#include <vector>

#include <gtest/gtest.h>

#include <gantry/arch/launch.hpp>
#include <gantry/epilogue/arguments.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/cooperative.hpp>
#include <gantry/gemm/fused_epilogue.hpp>
#include <gantry/tma/encode.hpp>

namespace gantry {
namespace {

struct Bytes : CooperativeConfig {
  static constexpr ElementType kA = ElementType::s8, kB = ElementType::s8;
  static constexpr int kTileN = 32, kStages = 2, kClusterM = 1;
};
struct AsTheyAre : FusedElements {
  static constexpr ElementType kD = ElementType::s32, kCompute = ElementType::s32;
  static constexpr int kEpiN = 32;
  static constexpr fusion::Graph graph = fusion::graph("d = acc");
  using Functions = fusion::UserFunctions<>;
};

// An f32 has no odd numbers beyond 2^24.
TEST(SumsOfIntegers, AreStoredWithEveryBit) {
  using Epilogue = FusedEpilogue<Bytes, AsTheyAre>;
  using Kernel = CooperativeGemm<Bytes, Epilogue>;
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
  const auto params = Kernel::make_params({.a = a.data(), .b = b.data(), .m = m, .n = n, .k = k}, epilogue, 1, encode);
  const LaunchResult ran = launch(Simulator({.seed = 2}), Kernel::launch_config(params), Kernel{}, params);
  ASSERT_TRUE(ran) << ran.problem;
  for (int i = 0; i < m * n; ++i) EXPECT_EQ(d[static_cast<std::size_t>(i)], 127 * 127 * (i % n == 0 ? 2047 : 2048));
}

}  // namespace
}  // namespace gantry

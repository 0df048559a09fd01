// GEMMs whose sizes, strides and addresses TMA cannot take, with every kind of operand and without D.
// any_size_kinds_sweep.cpp has more element types.
#include <vector>

#include <gmock/gmock.h>

#include <gantry/gemm.hpp>

#include "odd_sizes.hpp"

namespace gantry {
namespace {

using testing::HasSubstr;

struct Plain {
  static constexpr GemmOptions options{.align_d = 1, .tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
};
struct Everything {
  static constexpr GemmOptions options{.c = ElementType::bf16,
                                       .layout_c = kColumnMajor,
                                       .align_c = 1,
                                       .align_d = 1,
                                       .align_aux = 1,
                                       .tile = {.m = 64, .n = 64},
                                       .cluster = {1, 2}};
  static constexpr fusion::Graph graph = fusion::graph("aux:f16 = alpha * acc + c + load(x:e4m3 col); d = relu(aux)");
};
// C and D go by TMA, the auxiliary tensors by threads.
struct OddAuxiliaries {
  static constexpr GemmOptions options{
      .c = ElementType::bf16, .align_aux = 1, .tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
  static constexpr fusion::Graph graph = fusion::graph("y:f32 col = acc + load(x); d = acc + c");
};
struct Transposed {
  static constexpr GemmOptions options{.a = ElementType::f16,
                                       .b = ElementType::f16,
                                       .d = ElementType::f16,
                                       .major_a = Major::MN,
                                       .major_b = Major::MN,
                                       .layout_d = kColumnMajor,
                                       .align_d = 1,
                                       .tile = {.m = 64, .n = 64},
                                       .cluster = {1, 1}};
};
struct Bytes {
  static constexpr GemmOptions options{.a = ElementType::e4m3,
                                       .b = ElementType::e5m2,
                                       .d = ElementType::e4m3,
                                       .align_d = 1,
                                       .tile = {.m = 64, .n = 64},
                                       .cluster = {1, 1}};
};
struct EverythingGiven {
  Odd<bf16> c;
  Odd<f16> aux;
  Odd<e4m3> x;
  bool unchanged_between_lines() const { return aux.unchanged_between_lines(); }
};

TEST(GemmOfAnySize, IsRightForAPlainD) { expect_random_sizes_right<Plain>(kNothing); }
TEST(GemmOfAnySize, IsRightWithOddCAndAuxiliaryTensors) {
  const auto give = [](auto& args, Random& random) {
    const GemmExtents& e = args.extents;
    EverythingGiven out{{{e.m, e.n, e.batch}, random}, {{e.n, e.m, e.batch}, random}, {{e.m, e.n, e.batch}, random}};
    const auto aux = out.aux.template matrix<f16>();
    const auto x = out.x.template matrix<const e4m3>();
    args.c = out.c.template matrix<const bf16>();
    args.fusion["alpha"] = 0.5f;
    args.fusion["aux"].tensor(aux.data, aux.stride, aux.batch_stride);
    args.fusion["x"].tensor(x.data, x.stride, x.batch_stride);
    return out;
  };
  expect_random_sizes_right<Everything>(give);
  expect_right<Everything>({.m = 70, .n = 71, .k = 0, .batch = 2}, 2, give);  // accumulators are 0, the rest is not
}
TEST(GemmOfAnySize, IsRightForTransposedMatrices) { expect_random_sizes_right<Transposed>(kNothing); }
TEST(GemmOfAnySize, IsRightForBytes) { expect_random_sizes_right<Bytes>(kNothing); }

TEST(GemmOfAnySize, MayHaveAnAlignedCAndDBesideOddAuxiliaryTensors) {
  struct Given {
    std::vector<bf16> c, d;
    Odd<float> x, y;
    bool unchanged_between_lines() const { return y.unchanged_between_lines(); }
  };
  expect_right<OddAuxiliaries>({.m = 67, .n = 72, .k = 33}, 4, [](auto& args, Random& random) {
    const GemmExtents& e = args.extents;
    const auto count = static_cast<std::size_t>(e.m * e.n);
    Given out{std::vector<bf16>(count + 8, bf16(0.5f)),
              std::vector<bf16>(count + 8),
              {{e.n, e.m, 1}, random},
              {{e.m, e.n, 1}, random}};
    const auto aligned = [](std::vector<bf16>& v) {
      return v.data() + (16 - reinterpret_cast<std::uintptr_t>(v.data()) % 16) % 16 / 2;
    };
    const auto x = out.x.template matrix<const float>();
    const auto y = out.y.template matrix<float>();
    args.c = {aligned(out.c), e.n};
    args.d = {aligned(out.d), e.n};
    args.fusion["x"].tensor(x.data, x.stride, x.batch_stride);
    args.fusion["y"].tensor(y.data, y.stride, y.batch_stride);
    return out;
  });
}

// No D: reductions alone, and with an auxiliary output.
struct SumsAlone {
  static constexpr GemmOptions options{.tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
  static constexpr fusion::Graph graph =
      fusion::graph("sums = reduce_row_add(acc); most deterministic = reduce_col_amax(relu(acc))");
};
struct OutputsAlone {
  static constexpr GemmOptions options{
      .c = ElementType::bf16, .d = ElementType::void_, .tile = {.m = 128, .n = 64}, .cluster = {2, 1}};
  static constexpr fusion::Graph graph = fusion::graph("y:bf16 = acc + c; total = reduce_add(y)");
};

TEST(GemmWithoutD, GivesReductionsAlone) {
  Random random(7);
  const GemmExtents e{.m = 90, .n = 71, .k = 65};
  const Odd<bf16> a({e.k, e.m, 1}, random), b({e.k, e.n, 1}, random);
  std::vector<float> sums(static_cast<std::size_t>(e.n)), most(static_cast<std::size_t>(e.m));
  GemmArguments<SumsAlone> args(e);
  args.a = a.matrix<const bf16>();
  args.b = b.matrix<const bf16>();
  args.fusion["sums"] = sums.data();
  args.fusion["most"] = most.data();
  const auto plan = Gemm<SumsAlone>::plan(args, device_of(Simulator(), 3));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  for (int i = 0; i < 2; ++i) {
    const LaunchResult result = plan->run(Simulator({.seed = 11}));
    ASSERT_TRUE(result) << describe(result);
    ASSERT_EQ(first_mismatch(args), "");
  }
  EXPECT_NE(sums[70], 0.0f);
}

// Reductions that need no shared memory of the epilogue's.
struct LargestAlone {
  static constexpr fusion::Graph graph = fusion::graph("most = reduce_col_max(acc)");
};

TEST(GemmWithoutD, TakesNoSharedMemoryForAnEpilogueThatNeedsNone) {
  static_assert(GemmTypes<LargestAlone>::design.shared.epilogue_bytes == 0);
  Random random(9);
  const GemmExtents e{.m = 90, .n = 71, .k = 65};
  const Odd<bf16> a({e.k, e.m, 1}, random), b({e.k, e.n, 1}, random);
  std::vector<float> most(static_cast<std::size_t>(e.m));
  GemmArguments<LargestAlone> args(e);
  args.a = a.matrix<const bf16>();
  args.b = b.matrix<const bf16>();
  args.fusion["most"] = most.data();
  const auto plan = Gemm<LargestAlone>::plan(args, device_of(Simulator(), 3));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  const LaunchResult result = plan->run(Simulator({.seed = 12}));
  ASSERT_TRUE(result) << describe(result);
  EXPECT_EQ(first_mismatch(args), "");
}

TEST(GemmWithoutD, GivesAuxiliaryOutputsAlone) {
  Random random(8);
  const GemmExtents e{.m = 150, .n = 72, .k = 64, .batch = 2};
  const Odd<bf16> a({e.k, e.m, e.batch}, random), b({e.k, e.n, e.batch}, random);
  alignas(16) static bf16 c[2 * 150 * 72], y[2 * 150 * 72];
  float total[2] = {};
  for (bf16& x : c) x = bf16(0.25f);
  GemmArguments<OutputsAlone> args(e);
  args.a = a.matrix<const bf16>();
  args.b = b.matrix<const bf16>();
  args.c = c;
  args.fusion["y"] = y;
  args.fusion["total"].batched(total, 1);
  const auto plan = Gemm<OutputsAlone>::plan(args, device_of(Simulator(), 3));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  const LaunchResult result = plan->run(Simulator({.seed = 12}));
  ASSERT_TRUE(result) << describe(result);
  EXPECT_EQ(first_mismatch(args), "");
  EXPECT_NE(static_cast<float>(y[0]), 0.0f);
}

TEST(GemmOfAnySize, SaysWhatIsPackedAndWhatThreadsWrite) {
  alignas(128) static bf16 a[64 * 65], b[65 * 65], d[64 * 65];
  Gemm<Plain>::Arguments args({.m = 64, .n = 65, .k = 65});
  args.a = a;
  args.b = b;
  args.d = d;
  const auto plan = Gemm<Plain>::plan(args, device_of(Simulator()));
  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->explain(), HasSubstr("Packing: TMA cannot address A and B, so they are copied"));
  EXPECT_THAT(plan->explain(), HasSubstr("TMA cannot address D; threads read and write it"));
  EXPECT_GE(plan->workspace_bytes(), (64u + 65u) * 65u * 2u);
}

}  // namespace
}  // namespace gantry

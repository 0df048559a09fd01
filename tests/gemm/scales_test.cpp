// 8-bit GEMMs whose blocks have scales, on the simulated SM, against the reference; and what is refused.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm.hpp>
#include <gantry/gemm/reference.hpp>

namespace gantry {
namespace {

struct Blocks {
  static constexpr GemmOptions options{.a = ElementType::e4m3,
                                       .b = ElementType::e4m3,
                                       .d = ElementType::f32,
                                       .tile = {.m = 128, .n = 128},
                                       .cluster = {1, 1},
                                       .scale_a = ScaleMode::row_block,
                                       .scale_b = ScaleMode::block};
};
struct Stored {  // D is stored behind the next tile's wgmmas
  static constexpr GemmOptions options{.a = ElementType::e4m3,
                                       .b = ElementType::e4m3,
                                       .tile = {.m = 128, .n = 128},
                                       .cluster = {1, 1},
                                       .scale_a = ScaleMode::row_block,
                                       .scale_b = ScaleMode::block};
};
struct Turns {  // one warpgroup to a tile, and two blocks of 64 rows
  static constexpr GemmOptions options{.a = ElementType::e4m3,
                                       .b = ElementType::e4m3,
                                       .tile = {.m = 128, .n = 64},
                                       .cluster = {1, 1},
                                       .schedule = GemmSchedule::pingpong,
                                       .scale_a = ScaleMode::row_block,
                                       .scale_b = ScaleMode::block};
};
struct Gradients {  // rows of B have scales of their own, and the tile is not as wide as a block
  static constexpr GemmOptions options{.a = ElementType::e4m3,
                                       .b = ElementType::e5m2,
                                       .tile = {.m = 64, .n = 64},
                                       .cluster = {2, 1},
                                       .schedule = GemmSchedule::pingpong,
                                       .scale_a = ScaleMode::row_block,
                                       .scale_b = ScaleMode::row_block};
  static constexpr fusion::Graph graph = fusion::graph("d = relu(acc + row(bias))");
};
struct Wide {  // tiles begin anywhere in a block of B, and lie in one or two
  static constexpr GemmOptions options{.a = ElementType::e4m3,
                                       .b = ElementType::e4m3,
                                       .tile = {.m = 128, .n = 160},
                                       .cluster = {2, 1},
                                       .scale_a = ScaleMode::row_block,
                                       .scale_b = ScaleMode::block};
};
struct FewRows {  // the weights take the M side, and two CTAs of a cluster share K tiles
  static constexpr GemmOptions options{.a = ElementType::e4m3,
                                       .b = ElementType::e4m3,
                                       .tile = {.m = 16, .n = 64},
                                       .cluster = {1, 1, 2},
                                       .scale_a = ScaleMode::row_block,
                                       .scale_b = ScaleMode::block,
                                       .swapped = true};
};
struct OnlyB {
  static constexpr GemmOptions options{.a = ElementType::e5m2,
                                       .b = ElementType::e4m3,
                                       .d = ElementType::f32,
                                       .tile = {.m = 128, .n = 64},
                                       .cluster = {1, 2},
                                       .scale_b = ScaleMode::block};
};

// Strides as somebody else's tensors have them.
enum class Scales { packed, k_contiguous, padded };

template <class Spec>
struct Problem {
  static constexpr GemmOptions kOptions = GemmDesignOf<Spec>::design.options;
  using Args = GemmArguments<Spec>;

  std::vector<typename Args::A> a;
  std::vector<typename Args::B> b;
  std::vector<typename Args::D> d;
  std::vector<float> scale_a, scale_b, bias;
  Args args;

  Problem(const GemmExtents& e, Scales how, unsigned seed) : args(e) {
    std::mt19937 random(seed);
    const std::int64_t k = (e.k + 15) / 16 * 16, n = (e.n + 15) / 16 * 16;
    const auto fill = [&](auto& values, std::int64_t count) {
      values.resize(static_cast<std::size_t>(count));
      for (auto& v : values) {
        v = std::decay_t<decltype(v)>(static_cast<float>(static_cast<int>(random() % 17) - 8) / 4);
      }
    };
    const auto scales = [&](std::vector<float>& values, ScaleMode mode, std::int64_t rows) {
      if (mode == ScaleMode::none) return GemmScale{};
      const std::int64_t lines = scale_rows(mode, rows), blocks = scale_blocks(e.k), room = (lines + 3) * (blocks + 4);
      values.resize(static_cast<std::size_t>(room * e.batch));
      for (float& v : values) v = std::ldexp(1 + static_cast<float>(random() % 1024) / 1024, int(random() % 5) - 2);
      if (how == Scales::packed) return GemmScale(values.data());
      if (how == Scales::k_contiguous) return GemmScale(values.data(), blocks, 1, lines * blocks);
      return GemmScale(values.data(), 1, lines + 3, room);
    };
    fill(a, e.m * k * e.batch);
    fill(b, e.n * k * e.batch);
    d.resize(static_cast<std::size_t>(e.m * n * e.batch));
    args.a = {a.data(), k, e.m * k};
    args.b = {b.data(), k, e.n * k};
    args.d = {d.data(), n, e.m * n};
    args.scale_a = scales(scale_a, kOptions.scale_a, e.m);
    args.scale_b = scales(scale_b, kOptions.scale_b, e.n);
    if constexpr (GemmDesignOf<Spec>::graph.argument_count > 0) {
      fill(bias, e.n);
      args.fusion["bias"] = bias.data();
    }
  }
};

template <class Spec>
void expect_right(const GemmExtents& e, Scales how, unsigned seed, int sms = 8) {
  Problem<Spec> p(e, how, seed);
  const auto plan = GemmPlan<Spec>::make(p.args, device_of(Simulator(), sms));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  const LaunchResult ran = plan->run(Simulator({.seed = seed}));
  ASSERT_TRUE(ran) << ran.report().text();
  EXPECT_EQ(first_mismatch(p.args), "") << e.m << " x " << e.n << " x " << e.k;
}

TEST(Scales, OfBlocksMultiplyPartialAccumulators) {
  expect_right<Blocks>({.m = 128, .n = 128, .k = 128}, Scales::packed, 1);
  expect_right<Blocks>({.m = 128, .n = 256, .k = 384}, Scales::packed, 2);
}

TEST(Scales, NeedNoWholeBlocks) {
  // 5 blocks of K are no multiple of 4, and the last of each is a part.
  expect_right<Blocks>({.m = 200, .n = 144, .k = 528}, Scales::packed, 3);
  expect_right<Blocks>({.m = 72, .n = 304, .k = 48}, Scales::k_contiguous, 4);
}

// Of few and of many blocks, odd and even numbers of them, where each CTA has several tiles: every second one runs
// backwards through K.
TEST(Scales, FollowTheDirectionOfEachTile) {
  for (const int blocks : {1, 2, 3, 4, 9, 10}) {
    SCOPED_TRACE(testing::Message() << blocks << " blocks");
    expect_right<Stored>({.m = 200, .n = 400, .k = blocks * 128 - 16}, Scales::packed, 13, 2);
    expect_right<Turns>({.m = 200, .n = 272, .k = blocks * 128}, Scales::padded, 14, 2);
  }
}

// Parts of tiles begin amid K, and go on around its end.
TEST(Scales, FollowTilesThatAreSplitAlongK) {
  expect_right<Stored>({.m = 128, .n = 128, .k = 40 * 128}, Scales::packed, 15);
  expect_right<Stored>({.m = 128, .n = 384, .k = 100 * 128}, Scales::k_contiguous, 16, 2);
}

TEST(Scales, LieInMemoryAsOthersHaveThem) {
  expect_right<Blocks>({.m = 136, .n = 272, .k = 400}, Scales::k_contiguous, 5);
  expect_right<Blocks>({.m = 136, .n = 272, .k = 400}, Scales::padded, 6);
}

TEST(Scales, OfRowsOfBothAreForGradients) {
  expect_right<Gradients>({.m = 150, .n = 144, .k = 400}, Scales::packed, 7);
  expect_right<Gradients>({.m = 70, .n = 200, .k = 256, .batch = 2}, Scales::padded, 8);
}

TEST(Scales, OfTwoBlocksMeetInOneTile) { expect_right<Wide>({.m = 200, .n = 704, .k = 272}, Scales::packed, 10); }

TEST(Scales, FollowSwappedOperands) {
  expect_right<FewRows>({.m = 9, .n = 272, .k = 656}, Scales::packed, 11);
  expect_right<FewRows>({.m = 20, .n = 144, .k = 400, .batch = 2}, Scales::padded, 12);
}

TEST(Scales, OfOneOperandAreEnough) { expect_right<OnlyB>({.m = 260, .n = 272, .k = 300}, Scales::packed, 9); }

TEST(Scales, ThatAreMissingAreRefused) {
  Problem<Blocks> p({.m = 128, .n = 128, .k = 256}, Scales::packed, 1);
  p.args.scale_b = {};
  const ArgumentReasons reasons = can_implement(p.args);
  ASSERT_EQ(reasons.size(), 1);
  EXPECT_EQ(reasons[0].rule, ArgumentRule::scale_missing);
  EXPECT_EQ(reasons[0].operand, "scale_b");
}

TEST(Scales, ThatNobodyAskedForAreRefused) {
  Problem<OnlyB> p({.m = 128, .n = 128, .k = 256}, Scales::packed, 1);
  p.args.scale_a = p.args.scale_b;
  EXPECT_TRUE(can_implement(p.args).has(ArgumentRule::scale_unused));
}

TEST(Scales, AreNotWrittenOver) {
  Problem<Blocks> p({.m = 128, .n = 128, .k = 256}, Scales::packed, 1);
  p.args.scale_a = reinterpret_cast<const float*>(p.d.data());
  EXPECT_TRUE(can_implement(p.args).has(ArgumentRule::read_while_written));
}

TEST(Scales, AreForEightBitFloats) {
  const GemmReasons reasons = problems(GemmOptions{.scale_a = ScaleMode::row_block});
  ASSERT_EQ(reasons.size(), 1);
  EXPECT_EQ(reasons[0].rule, GemmRule::scale);
}

TEST(Scales, OfBlocksTakeTilesThatLieInTwoOfThem) {
  const GemmReasons reasons = problems(GemmOptions{
      .a = ElementType::e4m3, .b = ElementType::e4m3, .tile = {.m = 128, .n = 152}, .scale_b = ScaleMode::block});
  ASSERT_EQ(reasons.size(), 1);
  EXPECT_EQ(reasons[0].rule, GemmRule::scale_columns);
  EXPECT_EQ(reasons[0].nearest, 144);
}

}  // namespace
}  // namespace gantry

// C and D as the tensors of convolutions: rows are pixels of images, copied in im2col mode.
#include <gmock/gmock.h>

#include "../../rules/rule_names.hpp"
#include "harness.hpp"

namespace gantry::test {
namespace {

using E = ElementType;
using S = EpilogueSchedule;
using testing::ElementsAre;

struct Operands {
  E c, d;
  LayoutTag layout_c, layout_d;
  int epi_n = 32;
  Choice reuse = Choice::automatic, delay = Choice::automatic;
  int m = 64;  // of the tile; subtiles have 64 rows
};

template <Operands o>
struct Convolved : Plain {
  static constexpr EpiloguePolicy policy = CollectiveBuilder{.schedule = S::tma_warp_specialized,
                                                             .tile = {o.m, 64, 64},
                                                             .epi_tile = {64, o.epi_n},
                                                             .c = o.c,
                                                             .d = o.d,
                                                             .layout_c = o.layout_c,
                                                             .layout_d = o.layout_d,
                                                             .reuse_smem_c = o.reuse,
                                                             .delay_tma_store = o.delay}
                                               .policy();
  static_assert(policy.ok());
  static constexpr fusion::Graph graph =
      o.c == E::void_ ? fusion::graph("d = acc + row(r)")
                      : fusion::graph("let z = acc + beta * c + row(r); d = z; pre:f16 = z; s = reduce_col_add(z)");
};

// Images of 5, 5 x 4 and 5 x 4 x 2 pixels (config.hpp): neither tiles nor channels come out even.
TEST(EpilogueIm2col, OneTwoAndThreeDimensions) {
  expect_agreement<Convolved<Operands{E::bf16, E::bf16, kTensorNWC, kTensorNWC}>>({.shape = {.m = 145, .n = 88}});
  expect_agreement<Convolved<Operands{E::f32, E::bf16, kTensorNHWC, kTensorNHWC}>>(
      {.shape = {.m = 140, .n = 72}, .seed = 1});
  expect_agreement<Convolved<Operands{E::f16, E::f32, kTensorNDHWC, kTensorNDHWC}>>(
      {.shape = {.m = 200, .n = 72}, .seed = 2});
}
TEST(EpilogueIm2col, OneOfThemAMatrix) {
  expect_agreement<Convolved<Operands{E::bf16, E::bf16, kColumnMajor, kTensorNHWC}>>(
      {.shape = {.m = 120, .n = 104}, .seed = 3});
  expect_agreement<Convolved<Operands{E::bf16, E::f16, kTensorNDHWC, kRowMajor}>>(
      {.shape = {.m = 80, .n = 104}, .seed = 4});
  expect_agreement<Convolved<Operands{E::void_, E::e4m3, kRowMajor, kTensorNWC}>>(
      {.shape = {.m = 65, .n = 112}, .seed = 5});
}
TEST(EpilogueIm2col, SeveralInstructionsForASubtile) {
  expect_agreement<Convolved<Operands{E::f32, E::f32, kTensorNHWC, kTensorNHWC, 64}>>(
      {.shape = {.m = 140, .n = 72}, .seed = 6});
  expect_agreement<Convolved<Operands{E::bf16, E::f32, kTensorNHWC, kTensorNHWC, 8}>>(
      {.shape = {.m = 140, .n = 72}, .seed = 7});
}
TEST(EpilogueIm2col, DTakesThePlaceOfCAndStoresAreDelayed) {
  expect_agreement<Convolved<Operands{E::bf16, E::bf16, kTensorNHWC, kTensorNHWC, 16, Choice::yes, Choice::yes}>>(
      {.shape = {.m = 140, .n = 72}, .seed = 8});
}

TEST(EpilogueIm2col, SubtilesThatBeginPastTheLastPixel) {
  expect_agreement<
      Convolved<Operands{.c = E::bf16, .d = E::f32, .layout_c = kTensorNHWC, .layout_d = kTensorNHWC, .m = 128}>>(
      {.shape = {.m = 140, .n = 72}, .seed = 11});
}

// The gradient of a strided convolution: some pixels of a tensor whose rows, planes and images have gaps.
struct Gradient {
  EpilogueTensor tensor{.images = 3,
                        .extent = {9, 7, 5},
                        .first = {1, 0, 1},
                        .step = {2, 3, 2},
                        .strides = {88, 88 * 10, 88 * 10 * 8, 88 * 10 * 8 * 5 + 16}};
  std::vector<bf16> elements = std::vector<bf16>(88 * 10 * 8 * 5 * 3 + 48, bf16{});
  static constexpr int kPixels = 3 * 4 * 3 * 2;

  // Where element (m, n) of the matrix lies, by the definition.
  std::size_t at(std::int64_t m, std::int64_t n) const {
    const std::int64_t counts[] = {4, 3, 2};
    std::int64_t out = n;
    for (int i = 0; i < 3; ++i) {
      out += (tensor.first[i] + m % counts[i] * tensor.step[i]) * tensor.strides[i];
      m /= counts[i];
    }
    return static_cast<std::size_t>(out + m * tensor.strides[3]);
  }
};

TEST(EpilogueIm2col, VisitsTheChosenPixelsOfATensorWithGaps) {
  using Config = Convolved<Operands{E::bf16, E::bf16, kTensorNDHWC, kTensorNDHWC}>;
  constexpr int kN = 72;
  Problem problem(Config::graph, options_for<Config>({.shape = {.m = Gradient::kPixels, .n = kN}, .seed = 9}));
  const auto expected = problem.expected();
  Gradient c, d;
  c.tensor.pointer = c.elements.data();
  d.tensor.pointer = d.elements.data();
  ASSERT_EQ(c.tensor.pixels(3), Gradient::kPixels);
  auto* from = static_cast<bf16*>(problem.c().data());
  for (int m = 0; m < Gradient::kPixels; ++m) {
    for (int n = 0; n < kN; ++n) c.elements[c.at(m, n)] = from[m * problem.c().stride + n];
  }
  KernelRun<Config> run(problem, 2);
  run.arguments().c = c.tensor;
  run.arguments().d = d.tensor;
  for (const ArgumentReason& reason : run.reasons()) FAIL() << describe(reason).c_str();
  for (const SimulatorOptions& options : schedules(9)) {
    const bf16 untouched(-77.0f);
    std::fill(d.elements.begin(), d.elements.end(), untouched);
    const Report report = run(options);
    ASSERT_TRUE(report.clean()) << report.text();
    auto* to = static_cast<bf16*>(problem.d().data());
    for (int m = 0; m < Gradient::kPixels; ++m) {
      for (int n = 0; n < kN; ++n) {
        to[m * problem.d().stride + n] = d.elements[d.at(m, n)];
        d.elements[d.at(m, n)] = untouched;
      }
    }
    EXPECT_EQ(problem.wrong(expected), "");
    for (const bf16 x : d.elements) ASSERT_EQ(static_cast<float>(x), -77.0f) << "a pixel that was not asked for";
  }
}

TEST(EpilogueIm2col, SaysWhatDoesNotFit) {
  using Config = Convolved<Operands{E::bf16, E::bf16, kTensorNHWC, kTensorNHWC}>;
  Problem problem(Config::graph, options_for<Config>({.shape = {.m = 140, .n = 72, .batch = 2}, .seed = 10}));
  KernelRun<Config> run(problem, 1);
  run.arguments().c.extent[1] = 3;
  run.arguments().d.strides[0] = 100;
  const ArgumentReasons reasons = run.reasons();
  ASSERT_THAT(names_of(reasons),
              ElementsAre("images_and_batches C", "pixels_differ C", "tensor_map D", "images_and_batches D"));
  EXPECT_EQ(reasons[1].actual, 105);
  EXPECT_EQ(reasons[1].first, 140);
  EXPECT_EQ(reasons[1].words, "7 x 3 x 5");
  EXPECT_EQ(reasons[2].tma.rule, TmaRule::stride_not_multiple);
  EXPECT_EQ(reasons[2].tma.actual, 200u);
}

}  // namespace
}  // namespace gantry::test

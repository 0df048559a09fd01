// What C and D hold and how they lie: 8, 16, 32 and 64 bits, both majors, and none of them.
#include <cstring>

#include "element_configs.hpp"

namespace gantry::test {
namespace {

TEST(EpilogueElements, EightBits) { expect_agreement_of<Operands{E::e5m2, E::s8, false, false}>(1); }
TEST(EpilogueElements, SixteenBits) {
  expect_agreement_of<Operands{E::f16, E::f16, false, false}>(3);
  expect_agreement_of<Operands{E::bf16, E::bf16, false, true, Choice::yes}>(5);
}
TEST(EpilogueElements, ThirtyTwoBits) { expect_agreement_of<Operands{E::f32, E::f32, false, false, Choice::yes}>(7); }
TEST(EpilogueElements, CAndDOfDifferentWidths) { expect_agreement_of<Operands{E::e4m3, E::f32, true, false}>(11); }
TEST(EpilogueElements, RowsOfCThatEndInsideSixteenBytes) {
  expect_agreement<Elements<Operands{E::bf16, E::f32, true, false}>>({.shape = {.m = 80, .n = 77}, .seed = 11});
}
TEST(EpilogueElements, NoC) { expect_agreement_of<Operands{E::void_, E::bf16}>(12); }
TEST(EpilogueElements, IntegerAccumulators) {
  expect_agreement_of<Operands{.c = E::s8, .d = E::s8, .acc = E::s32}>(14);
}

// Alpha and beta are such that every product and sum is exact.
TEST(EpilogueElements, ComplexNumbers) {
  using Config = Elements<Operands{E::cf32, E::cf32, true, false, Choice::automatic, E::cf32, E::cf32}>;
  static_assert(__is_same(CollectiveEpilogue<Config>::Value, cf32));
  using Kernel = EpilogueKernel<Config>;
  constexpr int kM = 90, kN = 80;
  std::vector<cf32> acc(kM * kN), c(kM * kN), d(kM * kN);
  for (int i = 0; i < kM * kN; ++i) {
    acc[static_cast<std::size_t>(i)] = {static_cast<float>(i % 31), static_cast<float>(i % 7) - 3};
    c[static_cast<std::size_t>(i)] = {static_cast<float>(i % 5) - 2, static_cast<float>(i % 13)};
  }
  EpilogueArguments<Config> arguments;
  arguments.c = {.pointer = c.data(), .stride = kN};
  arguments.d = {.pointer = d.data(), .stride = kM};
  arguments.fusion["alpha"] = 2.0f;
  arguments.fusion["beta"] = -0.5f;
  const EpilogueProblem problem{kM, kN, 64};
  for (const ArgumentReason& reason : can_implement<Config>(problem, arguments)) FAIL() << describe(reason).c_str();
  const Kernel::Params params{to_underlying_arguments<Config>(problem, arguments, pack_map), acc.data()};
  const Report report = Simulator().run<Kernel>(
      {.grid = {2}, .block = {Kernel::kThreads}, .shared_bytes = sizeof(Kernel::Storage)}, params);
  ASSERT_TRUE(report.clean()) << report.text();
  for (int m = 0; m < kM; ++m) {
    for (int n = 0; n < kN; ++n) {
      const auto i = static_cast<std::size_t>(m * kN + n);
      const cf32 expected = 2.0f * acc[i] + -0.5f * c[i];
      ASSERT_TRUE(d[static_cast<std::size_t>(n * kM + m)] == expected) << m << ", " << n;
    }
  }
}

// C is not read where its factor is 0: here it is NaN, or nowhere.
template <Choice reuse>
struct ZeroBeta : Plain {
  static constexpr EpiloguePolicy policy = Elements<Operands{E::bf16, E::bf16, true, true, reuse}>::policy;
  static constexpr fusion::Graph graph = fusion::graph("d = alpha * acc + beta * c");
};

template <class Config>
void expect_c_unread(bool by_value, bool null) {
  Problem problem(Config::graph, options_for<Config>({.shape = kResidue, .scalar_by_value = by_value}));
  if (by_value) problem.fusion()["beta"] = 0.0f;
  if (!by_value) std::memset(problem.argument("beta").data(), 0, 4);
  fusion::ReferenceProblem reference = problem.reference();
  reference.source.data = nullptr;
  const auto expected = fusion::reference(problem.graph(), reference, problem.fusion());
  std::fill(problem.c().bytes.begin(), problem.c().bytes.end(), std::uint8_t{0xFF});
  if (null) problem.c().bytes.clear();
  expect_agreement<Config>(problem, expected);
}

TEST(EpilogueElements, CIsNotReadWhereBetaIsZero) {
  expect_c_unread<ZeroBeta<Choice::no>>(true, false);
  expect_c_unread<ZeroBeta<Choice::no>>(true, true);
  expect_c_unread<ZeroBeta<Choice::no>>(false, true);
  expect_c_unread<ZeroBeta<Choice::yes>>(true, true);
  expect_c_unread<ZeroBeta<Choice::yes>>(false, true);
}

// Any factor will do: one of several, or a vector that is left out.
struct OneOfTwoFactors : Plain {
  static constexpr EpiloguePolicy policy = ZeroBeta<Choice::yes>::policy;
  static constexpr fusion::Graph graph = fusion::graph("d = acc + scalar(s) * beta * c");
};
struct VectorLeftOut : Plain {
  static constexpr EpiloguePolicy policy = ZeroBeta<Choice::no>::policy;
  static constexpr fusion::Graph graph = fusion::graph("d = acc + row(b = 0) * c");
};
TEST(EpilogueElements, CIsNotReadWhereAnyFactorIsZero) {
  Problem two(OneOfTwoFactors::graph, options_for<OneOfTwoFactors>({.shape = kResidue}));
  two.fusion()["s"] = 0.0f;
  const auto expected = two.expected();
  two.c().bytes.clear();
  expect_agreement<OneOfTwoFactors>(two, expected);
  Problem vector(VectorLeftOut::graph, options_for<VectorLeftOut>({.shape = kResidue, .leave_out = true}));
  const auto without = vector.expected();
  vector.c().bytes.clear();
  expect_agreement<VectorLeftOut>(vector, without);
}

// One batch reads C, the next does not, and the buffers keep step.
template <class Config>
void expect_c_read_by_batch() {
  Problem problem(
      Config::graph,
      options_for<Config>({.shape = {.m = 80, .n = 72, .batch = 4}, .by_batch = true, .scalar_by_value = false}));
  Buffer& beta = problem.argument("beta");
  for (const int batch : {0, 2}) {
    std::memset(static_cast<std::uint8_t*>(beta.data()) + batch * beta.batch_stride * 4, 0, 4);
    // C of this batch as 0 for the reference, NaN for the kernel.
    std::memset(static_cast<std::uint8_t*>(problem.c().data()) + batch * problem.c().batch_stride * 2, 0,
                static_cast<std::size_t>(problem.c().batch_stride * 2));
  }
  const auto expected = fusion::reference(problem.graph(), problem.reference(), problem.fusion());
  for (const int batch : {0, 2}) {
    std::memset(static_cast<std::uint8_t*>(problem.c().data()) + batch * problem.c().batch_stride * 2, 0xFF,
                static_cast<std::size_t>(problem.c().batch_stride * 2));
  }
  expect_agreement<Config>(problem, expected, 2);
}

TEST(EpilogueElements, BatchesDecideForThemselvesWhetherTheyReadC) {
  expect_c_read_by_batch<ZeroBeta<Choice::no>>();
  expect_c_read_by_batch<ZeroBeta<Choice::yes>>();
}

}  // namespace
}  // namespace gantry::test

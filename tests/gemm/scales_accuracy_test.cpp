// How much of a sum of 8-bit floats is lost on the way to D, against f64: the tensor core keeps some 14 bits of each
// partial accumulator, and promotion to f32 every 128 elements of K keeps what is lost from growing with K. The
// simulated SM loses the same bits as the hardware (src/sim/dot.cpp). With GANTRY_PRINT_ERRORS set, prints the
// table of docs/measurements/scales.md.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include <gantry/gemm.hpp>

namespace gantry {
namespace {

template <bool promotes>
struct Bytes {
  static constexpr GemmOptions options{.a = ElementType::e4m3,
                                       .b = ElementType::e4m3,
                                       .d = ElementType::f32,
                                       .tile = {.m = 64, .n = 64},
                                       .cluster = {1, 1},
                                       .promote = promotes};
};

constexpr std::int64_t kSide = 64;

// positive: uniform in [0, 1), so that accumulators grow as K does. both_signs: normal, so that they grow as its root.
enum class Numbers { positive, both_signs };

struct Operands {
  std::vector<e4m3> a, b;
  std::vector<double> exact;

  Operands(Numbers numbers, std::int64_t k)
      : a(static_cast<std::size_t>(kSide * k)), b(a.size()), exact(kSide * kSide) {
    std::mt19937 random(static_cast<unsigned>(k));
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<float> unit;
    for (auto* operand : {&a, &b}) {
      for (e4m3& x : *operand) x = e4m3(numbers == Numbers::positive ? unit(random) : normal(random));
    }
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const std::size_t row = i / kSide * static_cast<std::size_t>(k), column = i % kSide * static_cast<std::size_t>(k);
      for (std::size_t x = 0; x < static_cast<std::size_t>(k); ++x) {
        exact[i] += static_cast<double>(float(a[row + x])) * static_cast<double>(float(b[column + x]));
      }
    }
  }
};

// The norm of what is wrong, over that of D.
template <bool promotes>
double relative_error(const Operands& x, std::int64_t k) {
  using Gemm = gantry::Gemm<Bytes<promotes>>;
  std::vector<float> d(x.exact.size());
  typename Gemm::Arguments args({.m = kSide, .n = kSide, .k = k});
  args.a = x.a.data();
  args.b = x.b.data();
  args.d = d.data();
  const auto plan = Gemm::plan(args, device_of(Simulator(), 1));
  EXPECT_TRUE(plan);
  EXPECT_TRUE(plan->run(Simulator({.checker = false})));
  double wrong = 0, all = 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    wrong += (static_cast<double>(d[i]) - x.exact[i]) * (static_cast<double>(d[i]) - x.exact[i]);
    all += x.exact[i] * x.exact[i];
  }
  return std::sqrt(wrong / all);
}

struct Errors {
  double promoted = 0, plain = 0;
};

Errors errors(Numbers numbers, std::int64_t k) {
  const Operands x(numbers, k);
  const Errors out{relative_error<true>(x, k), relative_error<false>(x, k)};
  if (std::getenv("GANTRY_PRINT_ERRORS") != nullptr) {
    std::printf("| %s | %lld | %.2g | %.2g | %.1f |\n", numbers == Numbers::positive ? "uniform in [0, 1)" : "normal",
                static_cast<long long>(k), out.promoted, out.plain, out.plain / out.promoted);
  }
  return out;
}

TEST(Fp8Accuracy, DoesNotFallWithKWherePartialSumsArePromoted) {
  // Of a block of 128 products, each of which loses 2^-14 of the largest partial sum at most (gemm/reference.hpp).
  constexpr double kOfABlock = 160 * 0x1p-14;
  const std::int64_t longest = std::getenv("GANTRY_LONG_TESTS") != nullptr ? 16384 : 4096;
  for (const Numbers numbers : {Numbers::positive, Numbers::both_signs}) {
    std::vector<Errors> all;
    for (std::int64_t k = 1024; k <= longest; k *= 2) all.push_back(errors(numbers, k));
    for (const Errors& e : all) {
      EXPECT_LT(e.promoted, kOfABlock);
      EXPECT_LT(e.promoted, 1.25 * all.front().promoted);
      EXPECT_GT(e.plain, e.promoted);
    }
    // Without promotion each product loses a part of all that were added before: in proportion to K, or to its root.
    const double longer = static_cast<double>(longest) / 1024;
    EXPECT_GT(all.back().plain,
              (numbers == Numbers::positive ? longer / 2 : 0.75 * std::sqrt(longer)) * all.front().plain);
    EXPECT_GT(all.back().plain, 10 * all.back().promoted);
  }
}

}  // namespace
}  // namespace gantry

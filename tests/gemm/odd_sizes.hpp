// GEMMs on the simulated SM whose sizes, strides and addresses TMA cannot take: the reference's values, nothing read
// beyond the end of an operand, nothing written beside an output, and no findings.
#pragma once

#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/gemm.hpp>

#include "../guarded.hpp"

namespace gantry {
namespace {

using test::Guarded;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::int64_t below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(engine_); }

 private:
  std::mt19937 engine_;
};

// A batch of matrices with strides of any number of elements, whose last element is the last before unreadable memory.
template <class T>
class Odd {
 public:
  struct Shape {
    std::int64_t contiguous, lines, batch;
  };

  Odd(const Shape& shape, Random& random)
      : shape_(shape),
        stride_(shape.contiguous + random.below(4)),
        batch_stride_(stride_ * (shape.lines - 1) + shape.contiguous + random.below(4)),
        memory_(bytes()) {
    for (std::int64_t i = 0; i < elements(); ++i) {
      const T value = static_cast<T>(static_cast<float>(random.below(16)) / (sizeof(T) == 1 ? 1.0f : 8.0f));
      std::memcpy(memory_.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
    }
    before_.assign(memory_.data(), memory_.data() + memory_.size());
  }

  template <class Element>
  GemmMatrix<Element> matrix() const {
    return {reinterpret_cast<T*>(memory_.data()), stride_, batch_stride_};
  }
  bool unchanged_between_lines() const {
    for (std::int64_t i = 0; i < elements(); ++i) {
      const std::int64_t in_batch = i % batch_stride_;
      if (in_batch % stride_ < shape_.contiguous && in_batch / stride_ < shape_.lines) continue;
      const std::size_t at = static_cast<std::size_t>(i) * sizeof(T);
      if (std::memcmp(memory_.data() + at, before_.data() + at, sizeof(T)) != 0) return false;
    }
    return true;
  }

 private:
  std::int64_t elements() const {
    return batch_stride_ * (shape_.batch - 1) + stride_ * (shape_.lines - 1) + shape_.contiguous;
  }
  std::size_t bytes() const { return static_cast<std::size_t>(elements()) * sizeof(T); }

  Shape shape_;
  std::int64_t stride_, batch_stride_;
  Guarded memory_;
  std::vector<std::uint8_t> before_;
};

template <class T>
typename Odd<T>::Shape shape_of(bool first_contiguous, std::int64_t first, std::int64_t second, std::int64_t batch) {
  return {first_contiguous ? first : second, first_contiguous ? second : first, batch};
}

// `give` gives the fusion its arguments and returns what they point to.
template <class Spec, class Give>
void expect_right(const GemmExtents& e, unsigned seed, const Give& give) {
  using Args = GemmArguments<Spec>;
  constexpr GemmOptions o = Gemm<Spec>::kDesign.options;
  SCOPED_TRACE(testing::Message() << e.m << " x " << e.n << " x " << e.k << ", " << e.batch << " of them, seed "
                                  << seed);
  Random random(seed);
  Args args(e);
  const std::int64_t k = e.k > 0 ? e.k : 1;
  const Odd<typename Args::A> a(shape_of<typename Args::A>(o.major_a == Major::MN, e.m, k, e.batch), random);
  const Odd<typename Args::B> b(shape_of<typename Args::B>(o.major_b == Major::MN, e.n, k, e.batch), random);
  const Odd<typename Args::D> d(shape_of<typename Args::D>(o.layout_d == kColumnMajor, e.m, e.n, e.batch), random);
  args.a = a.template matrix<const typename Args::A>();
  args.b = b.template matrix<const typename Args::B>();
  args.d = d.template matrix<typename Args::D>();
  const auto kept = give(args, random);
  const auto plan = Gemm<Spec>::plan(args, device_of(Simulator(), static_cast<int>(1 + random.below(8))));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  const LaunchResult result = plan->run(Simulator({.seed = seed}));
  ASSERT_TRUE(result) << describe(result);
  ASSERT_EQ(first_mismatch(args), "") << plan->explain();
  ASSERT_TRUE(d.unchanged_between_lines());
  ASSERT_TRUE(kept.unchanged_between_lines());
}

template <class Spec, class Give>
void expect_random_sizes_right(const Give& give) {
  const unsigned count = std::getenv("GANTRY_LONG_TESTS") != nullptr ? 100 : 8;
  for (unsigned seed = 0; seed < count && !testing::Test::HasFatalFailure(); ++seed) {
    Random random(seed + 500);
    const GemmExtents e{.m = 1 + random.below(150),
                        .n = 1 + random.below(150),
                        .k = 1 + random.below(150),
                        .batch = 1 + random.below(3)};
    expect_right<Spec>(e, seed, give);
  }
}

struct Nothing {
  bool unchanged_between_lines() const { return true; }
};
constexpr auto kNothing = [](auto&, Random&) { return Nothing(); };

}  // namespace
}  // namespace gantry

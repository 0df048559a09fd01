// GEMMs whose sizes, strides and addresses TMA cannot take: the reference's values, nothing read beyond the end of an
// operand, nothing written beside an output, and no findings.
#include <cstring>
#include <random>
#include <vector>

#include <gmock/gmock.h>

#include <gantry/gemm.hpp>

#include "../guarded.hpp"

namespace gantry {
namespace {

using test::Guarded;
using testing::HasSubstr;

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

struct Plain {
  static constexpr GemmOptions options{.align_d = 1, .tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
};
struct PlainTogether {
  static constexpr GemmOptions options{
      .d = ElementType::f32, .align_d = 1, .tile = {.m = 128, .n = 64}, .cluster = {2, 1}};
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
struct Tensor32 {
  static constexpr GemmOptions options{.a = ElementType::tf32,
                                       .b = ElementType::tf32,
                                       .d = ElementType::f32,
                                       .align_d = 1,
                                       .tile = {.m = 64, .n = 48},
                                       .cluster = {1, 1}};
};
struct Integers {
  static constexpr GemmOptions options{.a = ElementType::s8,
                                       .b = ElementType::u8,
                                       .d = ElementType::s32,
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

TEST(GemmOfAnySize, IsRightForAPlainD) {
  expect_random_sizes_right<Plain>(kNothing);
  expect_random_sizes_right<PlainTogether>(kNothing);
}
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
TEST(GemmOfAnySize, IsRightForTf32) { expect_random_sizes_right<Tensor32>(kNothing); }
TEST(GemmOfAnySize, IsRightForIntegers) { expect_random_sizes_right<Integers>(kNothing); }

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

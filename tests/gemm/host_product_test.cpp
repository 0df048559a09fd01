// GEMMs on the simulated SM through Gemm, of every element type, with random sizes, strides and batches: the
// reference's values, nothing written beside them, and no findings.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gantry/gemm.hpp>

namespace gantry {
namespace {

// With C, a row and a column vector and a further output, in batches; warpgroups take turns.
struct Everything {
  static constexpr GemmOptions options{.c = ElementType::bf16, .tile = {.m = 64, .n = 64}, .cluster = {1, 2}};
  static constexpr fusion::Graph graph =
      fusion::graph("aux:f16 = alpha * acc + c + row(bias) + col(shift); d = gelu(aux)");
};
// The simplest, from a builder of epilogues.
struct Built {
  static constexpr GemmOptions options = options_from(
      {.schedule = EpilogueSchedule::tma_warp_specialized_cooperative, .tile = {128, 128, 64}, .d = ElementType::bf16});
};
struct HalfTransposed {
  static constexpr GemmOptions options{.a = ElementType::f16,
                                       .b = ElementType::f16,
                                       .d = ElementType::f16,
                                       .major_a = Major::MN,
                                       .major_b = Major::MN,
                                       .layout_d = kColumnMajor,
                                       .tile = {.m = 64, .n = 64},
                                       .cluster = {1, 1}};
};
struct Promoted {
  static constexpr GemmOptions options{.a = ElementType::e4m3,
                                       .b = ElementType::e5m2,
                                       .d = ElementType::f32,
                                       .tile = {.m = 128, .n = 64},
                                       .cluster = {2, 1},
                                       .promote = true};
};
// With one buffer of D, as wide as the tile.
struct Tensor32 {
  static constexpr GemmOptions options{.a = ElementType::tf32,
                                       .b = ElementType::tf32,
                                       .d = ElementType::bf16,
                                       .tile = {.m = 64, .n = 96},
                                       .cluster = {1, 1}};
  static constexpr fusion::Graph graph = fusion::graph("d = silu(acc)");
};
static_assert(Gemm<Tensor32>::kDesign.options.epilogue.epi_n == 96 &&
              Gemm<Tensor32>::kDesign.options.epilogue.stages_d == 1);
// One warpgroup has a tile to itself.
struct Integers {
  static constexpr GemmOptions options{.a = ElementType::s8,
                                       .b = ElementType::u8,
                                       .d = ElementType::f32,
                                       .tile = {.m = 64, .n = 64},
                                       .cluster = {1, 1},
                                       .schedule = GemmSchedule::cooperative};
  static constexpr fusion::Graph graph = fusion::graph("d = scalar(scale) * acc");
};
struct Added {
  static constexpr GemmOptions options{
      .d = ElementType::f32, .tile = {.m = 128, .n = 64}, .cluster = {1, 1}, .split = SplitMode::reduce_add};
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed), special_(seed % 3 == 2) {}
  std::int64_t below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(engine_); }
  // In [-1, 1); from every third seed, here and there, a number that is none or at the end of its range.
  double uniform() {
    constexpr float kSpecial[] = {NAN, HUGE_VALF, -HUGE_VALF, -0.0f, 1e-40f, -1e-6f, 60000.0f};
    if (special_ && below(3000) == 0) return static_cast<double>(kSpecial[below(7)]);
    return std::uniform_real_distribution<double>(-1, 1)(engine_);
  }

 private:
  std::mt19937 engine_;
  bool special_;
};

// A batch of matrices with room between rows and between matrices, which no kernel writes to.
template <class T>
class Matrix {
 public:
  Matrix(std::int64_t contiguous, std::int64_t lines, std::int64_t batch, Random& random) {
    constexpr std::int64_t chunk = 16 / sizeof(T);
    extent_ = contiguous;
    lines_ = lines;
    stride_ = (contiguous + chunk - 1) / chunk * chunk + chunk * random.below(3);
    batch_stride_ = stride_ * lines + chunk * random.below(3);
    values_.assign(static_cast<std::size_t>(batch_stride_ * batch), T(1));
    if constexpr (std::is_integral_v<T>) {
      for (T& x : values_) x = static_cast<T>(random.below(16) - (std::is_signed_v<T> ? 8 : 0));
    } else {
      for (T& x : values_) x = T(static_cast<float>(random.uniform()));
    }
    before_ = values_;
  }

  template <class Void>
  GemmMatrix<Void> matrix() {
    return {values_.data(), stride_, batch_stride_};
  }
  bool unchanged_between_lines() const {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const std::int64_t in_matrix = static_cast<std::int64_t>(i) % batch_stride_;
      const bool inside = in_matrix < stride_ * lines_ && in_matrix % stride_ < extent_;
      if (!inside && bits(values_[i]) != bits(before_[i])) return false;
    }
    return true;
  }
  void clear() {
    std::fill(values_.begin(), values_.end(), T(0.0f));
    before_ = values_;
  }

 private:
  static std::array<unsigned char, sizeof(T)> bits(const T& x) {
    std::array<unsigned char, sizeof(T)> out;
    std::memcpy(out.data(), &x, sizeof(T));
    return out;
  }

  std::int64_t extent_ = 0, lines_ = 0, stride_ = 0, batch_stride_ = 0;
  std::vector<T> values_, before_;
};

// A vector that ends where readable memory does: what reads on ends the program.
class AtTheEdge {
 public:
  AtTheEdge(std::int64_t count, Random& random) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(float), readable = (bytes / page + 1) * page;
    size_ = readable + page;
    memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char* const edge = static_cast<char*>(memory_) + readable;
    EXPECT_EQ(mprotect(edge, page, PROT_NONE), 0);
    data_ = reinterpret_cast<float*>(edge) - count;
    for (std::int64_t i = 0; i < count; ++i) data_[i] = static_cast<float>(random.uniform());
  }
  AtTheEdge(AtTheEdge&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), size_(other.size_), data_(other.data_) {}
  AtTheEdge& operator=(AtTheEdge&&) = delete;
  ~AtTheEdge() {
    if (memory_ != nullptr) munmap(memory_, size_);
  }

  const float* data() const { return data_; }

 private:
  void* memory_ = nullptr;
  std::size_t size_ = 0;
  float* data_ = nullptr;
};

// What a fusion may be given besides A, B and D.
struct Nothing {
  bool unchanged_between_lines() const { return true; }
};
struct Operands {
  Matrix<bf16> c;
  Matrix<f16> aux;
  AtTheEdge bias, shift;

  bool unchanged_between_lines() const { return c.unchanged_between_lines() && aux.unchanged_between_lines(); }
};

// `give` gives the fusion its arguments and returns what they point to.
template <class Spec, class Give>
void expect_right(GemmExtents e, unsigned seed, const Give& give) {
  using Args = GemmArguments<Spec>;
  constexpr GemmOptions o = Gemm<Spec>::kDesign.options;
  SCOPED_TRACE(testing::Message() << e.m << " x " << e.n << " x " << e.k << ", " << e.batch << " of them, seed "
                                  << seed);
  Random random(seed);
  constexpr bool a_along_k = o.major_a == Major::K, b_along_k = o.major_b == Major::K, rows = o.layout_d == kRowMajor;
  Matrix<typename Args::A> a(a_along_k ? e.k : e.m, a_along_k ? e.m : e.k, e.batch, random);
  Matrix<typename Args::B> b(b_along_k ? e.k : e.n, b_along_k ? e.n : e.k, e.batch, random);
  Matrix<typename Args::D> d(rows ? e.n : e.m, rows ? e.m : e.n, e.batch, random);
  if (o.split == SplitMode::reduce_add) d.clear();
  Args args(e);
  args.a = a.template matrix<const typename Args::A>();
  args.b = b.template matrix<const typename Args::B>();
  args.d = d.template matrix<typename Args::D>();
  const auto keep = give(args, random);
  const auto plan = Gemm<Spec>::plan(args, device_of(Simulator(), static_cast<int>(1 + random.below(8))));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  const LaunchResult result =
      plan->run(Simulator({.seed = seed, .schedule = seed % 2 == 0 ? Schedule::random : Schedule::pct}));
  ASSERT_TRUE(result) << describe(result);
  ASSERT_EQ(first_mismatch(args), "") << plan->explain();
  ASSERT_TRUE(d.unchanged_between_lines());
  ASSERT_TRUE(keep.unchanged_between_lines());
}

constexpr auto kNothing = [](auto&, Random&) { return Nothing(); };

// Sizes that overhang tiles by anything that alignment allows, and now and then nothing at all.
template <class Spec, class Give>
void expect_random_sizes_right(const Give& give) {
  const unsigned count = std::getenv("GANTRY_LONG_TESTS") ? 60 : 3;
  constexpr GemmOptions o = Gemm<Spec>::kDesign.options;
  constexpr int chunk_m = o.layout_d == kColumnMajor ? 8 : 1, chunk_n = o.layout_d == kColumnMajor ? 1 : 8;
  for (unsigned seed = 0; seed < count && !testing::Test::HasFatalFailure(); ++seed) {
    Random random(seed + 100);
    const GemmExtents e{.m = (1 + random.below(200 / chunk_m)) * chunk_m,
                        .n = (1 + random.below(200 / chunk_n)) * chunk_n,
                        .k = random.below(300),
                        .batch = 1 + random.below(3)};
    expect_right<Spec>(e, seed, give);
  }
}

TEST(GemmOfAnyKind, IsRightWithEveryKindOfOperand) {
  const auto give = [](auto& args, Random& random) {
    const GemmExtents& e = args.extents;
    Operands out{{e.n, e.m, e.batch, random}, {e.n, e.m, e.batch, random}, {e.n * e.batch, random}, {e.m, random}};
    const auto aux = out.aux.template matrix<f16>();
    args.c = out.c.template matrix<const bf16>();
    args.fusion["alpha"] = 0.5f;
    args.fusion["bias"].batched(out.bias.data(), e.n);
    args.fusion["shift"] = out.shift.data();
    args.fusion["aux"].tensor(aux.data, aux.stride, aux.batch_stride);
    return out;
  };
  expect_random_sizes_right<Everything>(give);
  expect_right<Everything>({.m = 70, .n = 72, .k = 0, .batch = 2}, 2, give);  // no sums, but all else
}
TEST(GemmOfAnyKind, IsRightWhereABuilderOfEpiloguesDescribesIt) { expect_random_sizes_right<Built>(kNothing); }
TEST(GemmOfAnyKind, IsRightForTransposedMatricesOfF16) { expect_random_sizes_right<HalfTransposed>(kNothing); }
TEST(GemmOfAnyKind, IsRightForPromotedAccumulatorsOfFp8) { expect_random_sizes_right<Promoted>(kNothing); }
TEST(GemmOfAnyKind, IsRightForTf32) { expect_random_sizes_right<Tensor32>(kNothing); }
TEST(GemmOfAnyKind, IsRightForIntegers) {
  expect_random_sizes_right<Integers>([](auto& args, Random&) {
    args.fusion["scale"] = 0.25f;
    return Nothing();
  });
}
TEST(GemmOfAnyKind, IsRightWherePartsAreAddedToD) {
  expect_random_sizes_right<Added>(kNothing);
  expect_right<Added>({.m = 100, .n = 64, .k = 2048}, 1, kNothing);  // one tile, shared by all
}

// A smaller reference, in another way: the intervals are where they should be and as narrow.
TEST(GemmReference, IsExactForSmallIntegersAndNarrowOtherwise) {
  const std::size_t m = 5, n = 3, k = 40;
  std::vector<bf16> a(m * k), b(n * k);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = bf16(static_cast<float>(i % 11) - 5);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = bf16((static_cast<float>(i % 13) - 6) / 8);
  GemmReferenceProblem p{.shape = {.m = 5, .n = 3, .batch = 1}, .k = 40};
  p.a = {ElementType::bf16, a.data(), 40, 1};
  p.b = {ElementType::bf16, b.data(), 40, 1};
  const auto sum = [&](std::size_t i, std::size_t j) {
    double x = 0;
    for (std::size_t l = 0; l < k; ++l) x += static_cast<double>(a[i * k + l]) * static_cast<double>(b[j * k + l]);
    return x;
  };
  for (const bool integers : {true, false}) {
    if (!integers) a[0] = bf16(0x1p-30f);
    const std::vector<fusion::Range> ranges = sum_ranges(p);
    ASSERT_EQ(ranges.size(), m * n);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const fusion::Range& r = ranges[i * n + j];
        EXPECT_NEAR(r.value, sum(i, j), 1e-12);
        EXPECT_EQ(r.is_point(), integers || i > 0) << i << ", " << j;  // the small element is in row 0
        EXPECT_TRUE(r.holds(sum(i, j)));
        EXPECT_LT(r.upper - r.lower, 0.01);
      }
    }
  }
  a[0] = bf16(std::nanf(""));
  EXPECT_TRUE(sum_ranges(p)[0].is_nan());
  a[0] = bf16(HUGE_VALF);
  b[0] = bf16(-1.0f);
  EXPECT_TRUE(sum_ranges(p)[0].is_point() && sum_ranges(p)[0].holds(-HUGE_VAL));
  a[0] = a[1] = bf16(3e38f);
  EXPECT_TRUE(sum_ranges(p)[0].unbounded()) << "a part of the sum may be infinite";
}

}  // namespace
}  // namespace gantry

// Pointer arrays on the simulated SM: GEMMs of any sizes in one launch, in any cluster, with epilogues, under several
// seeds.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm.hpp>

namespace gantry {
namespace {

constexpr float kUntouched = -77;

std::size_t count(int x, int y) { return static_cast<std::size_t>(x) * static_cast<std::size_t>(y); }

// Small integers: accumulators are exact.
template <class T>
std::vector<T> numbers(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> out(size);
  for (T& x : out) x = T(static_cast<float>(static_cast<int>(random() % 7) - 3));
  return out;
}

// Lines of contiguous elements with some between them that nobody touches.
template <class T>
struct Matrix {
  bool rows = true;
  std::int64_t stride = 8;
  std::vector<T> data;

  Matrix(int first, int second, bool row_lines, unsigned seed, bool random = true) : rows(row_lines) {
    const int contiguous = rows ? second : first, lines = rows ? first : second;
    constexpr int kChunk = 16 / static_cast<int>(sizeof(T));
    stride = (contiguous + kChunk - 1) / kChunk * kChunk + (seed % 3 == 0 ? 0 : kChunk);
    const std::size_t size = count(static_cast<int>(stride), lines) + 1;
    data = random ? numbers<T>(size, seed) : std::vector<T>(size, T(kUntouched));
  }
  T at(int i, int j) const {
    const std::int64_t index = rows ? i * stride + j : j * stride + i;
    return data[static_cast<std::size_t>(index)];
  }
  // Elements between lines.
  bool untouched(int first, int second) const {
    const int contiguous = rows ? second : first, lines = rows ? first : second;
    for (int line = 0; line < lines; ++line) {
      for (std::int64_t i = contiguous; i < stride; ++i) {
        if (float(data[static_cast<std::size_t>(line * stride + i)]) != kUntouched) return false;
      }
    }
    return true;
  }
};

struct Extents {
  int m, n, k;
};

// Sizes of 0, 1, a tile and one more or less, and others; N is of whole 16 bytes.
std::vector<Extents> random_gemms(std::mt19937& random, int gemms, int tile, int most) {
  const auto size = [&](int step) {
    const int edges[] = {0, 1, tile - 1, tile, tile + 1, 2 * tile};
    const int x = random() % 2 == 0 ? edges[random() % 6] : static_cast<int>(random() % static_cast<unsigned>(most));
    return (x + step - 1) / step * step;
  };
  std::vector<Extents> out;
  for (int i = 0; i < gemms; ++i) out.push_back({size(1), size(16), size(1)});
  return out;
}

template <class A_, class D_>
struct Operands {
  Matrix<A_> a, b;
  Matrix<D_> c, d;
};

template <class Spec>
class Array {
 public:
  using Gemm = gantry::Gemm<Spec>;
  using A = typename Gemm::Arguments::A;
  using D = typename Gemm::Arguments::D;

  explicit Array(const std::vector<Extents>& sizes) : sizes_(sizes) {
    constexpr GemmOptions o = Spec::options;
    unsigned seed = 1;
    for (const Extents& e : sizes) {
      operands_.push_back({Matrix<A>(e.m, e.k, o.major_a == Major::K, seed),
                           Matrix<A>(e.n, e.k, o.major_b == Major::K, seed + 1),
                           Matrix<D>(e.m, e.n, !is_m_major(o.layout_c), seed + 2),
                           Matrix<D>(e.m, e.n, !is_m_major(o.layout_d), seed + 3, false)});
      seed += 4;
    }
    for (std::size_t g = 0; g < sizes.size(); ++g) {
      Operands<A, D>& x = operands_[g];
      const Extents& e = sizes[g];
      GemmGroup gemm{.m = e.m, .n = e.n, .k = e.k, .a = x.a.data.data(), .b = x.b.data.data(), .d = x.d.data.data()};
      gemm.stride_a = x.a.stride;
      gemm.stride_b = x.b.stride;
      gemm.stride_d = x.d.stride;
      if (detail::graph_of<Spec>().uses_source()) {
        gemm.c = x.c.data.data();
        gemm.stride_c = x.c.stride;
      }
      gemms.push_back(gemm);
    }
  }

  typename Gemm::Arguments arguments() const {
    typename Gemm::Arguments args({.m = 128, .n = 128, .k = 512, .batch = static_cast<std::int64_t>(gemms.size())});
    args.groups.gemms = gemms.data();
    return args;
  }

  // `epilogue(accumulator, gemm, row, column)` gives D.
  template <class Epilogue>
  void expect(const Epilogue& epilogue, const std::vector<bool>& left_out = {}) const {
    for (std::size_t g = 0; g < sizes_.size(); ++g) {
      const Extents& e = sizes_[g];
      const Operands<A, D>& x = operands_[g];
      const bool skipped = !left_out.empty() && left_out[g];
      for (int i = 0; i < e.m; ++i) {
        for (int j = 0; j < e.n; ++j) {
          float sum = 0;
          for (int k = 0; k < e.k; ++k) sum += float(x.a.at(i, k)) * float(x.b.at(j, k));
          const float expected = skipped ? kUntouched : float(D(epilogue(sum, static_cast<int>(g), i, j)));
          ASSERT_EQ(float(x.d.at(i, j)), expected) << "GEMM " << g << ", row " << i << ", column " << j;
        }
      }
      ASSERT_TRUE(x.d.untouched(e.m, e.n)) << "GEMM " << g;
    }
  }
  void expect() const {
    expect([](float x, int, int, int) { return x; });
  }
  float c(int g, int i, int j) const { return float(operands_[static_cast<std::size_t>(g)].c.at(i, j)); }

  std::vector<GemmGroup> gemms;

 private:
  std::vector<Extents> sizes_;
  std::vector<Operands<A, D>> operands_;
};

template <class Spec>
void expect_right(const std::vector<Extents>& sizes, std::uint64_t seed, int sms = 6) {
  const Array<Spec> array(sizes);
  const auto plan = Gemm<Spec>::plan(array.arguments(), device_of(Simulator(), sms));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  const LaunchResult result = plan->run(Simulator({.seed = seed}));
  ASSERT_TRUE(result) << describe(result);
  array.expect();
}

template <ElementType a, GemmSchedule schedule, int tile_m, int cluster_m, int cluster_n, Major major_a = Major::K,
          Major major_b = Major::K>
struct Plain {
  static constexpr GemmOptions options{.a = a,
                                       .b = a,
                                       .major_a = major_a,
                                       .major_b = major_b,
                                       .tile = {tile_m, 128},
                                       .cluster = {cluster_m, cluster_n},
                                       .stages = 2,
                                       .schedule = schedule,
                                       .groups = GemmGrouping::pointer_array};
};

TEST(PointerArrays, MultiplyGemmsOfDifferentSizes) {
  using Spec = Plain<ElementType::bf16, GemmSchedule::cooperative, 128, 1, 1>;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    expect_right<Spec>({{128, 136, 72}, {0, 128, 64}, {77, 264, 200}, {130, 8, 0}, {1, 128, 1}, {5, 0, 64}}, seed);
  }
}

// Twenty GEMMs for one CTA or cluster: slots of maps come round, and K tiles run backwards.
TEST(PointerArrays, OfManyGemmsReuseTheSlotsOfTheirMaps) {
  std::vector<Extents> sizes;
  for (int i = 0; i < 20; ++i) sizes.push_back({1 + 37 * i % 150, 8 + 40 * (i % 5), i % 7 == 3 ? 0 : 64 * (1 + i % 9)});
  expect_right<Plain<ElementType::bf16, GemmSchedule::cooperative, 64, 1, 1>>(sizes, 1, 1);
  expect_right<Plain<ElementType::bf16, GemmSchedule::pingpong, 64, 2, 1>>(sizes, 2, 2);
}

TEST(PointerArrays, OfRandomSizesInClustersOfEveryShape) {
  constexpr Major k = Major::K, mn = Major::MN;
  std::mt19937 random(7);
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    const auto sizes = random_gemms(random, 12, 64, 200);
    expect_right<Plain<ElementType::bf16, GemmSchedule::cooperative, 64, 2, 1, mn, k>>(sizes, seed);
    expect_right<Plain<ElementType::bf16, GemmSchedule::pingpong, 64, 1, 2, k, mn>>(sizes, seed);
    expect_right<Plain<ElementType::bf16, GemmSchedule::pingpong, 64, 2, 2, mn, mn>>(sizes, seed);
    expect_right<Plain<ElementType::e4m3, GemmSchedule::cooperative, 64, 1, 1>>(sizes, seed);
  }
}

// More GEMMs than a warp looks at at once, most of them empty.
TEST(PointerArrays, OfManyGemmsAreFoundByTheWarp) {
  std::vector<Extents> sizes(100, {0, 64, 64});
  for (const std::size_t g : {0u, 31u, 32u, 33u, 70u, 99u}) sizes[g] = {65, 136, 72};
  expect_right<Plain<ElementType::bf16, GemmSchedule::cooperative, 64, 1, 1>>(sizes, 3, 2);
}

// ---- What the device finds wrong

TEST(PointerArrays, LeaveOutWhatTmaCannotAddress) {
  using Spec = Plain<ElementType::bf16, GemmSchedule::cooperative, 64, 1, 1>;
  const std::vector<Extents> sizes(10, {70, 72, 64});
  Array<Spec> array(sizes);
  std::vector<bool> left_out(sizes.size(), true);
  left_out[0] = left_out[9] = false;
  std::vector<GemmGroup>& gemms = array.gemms;
  gemms[1].m = -1;
  gemms[2].k = -8;
  gemms[3].a = static_cast<const char*>(gemms[3].a) + 2;
  gemms[4].b = nullptr;
  gemms[5].stride_b = 68;
  gemms[6].stride_a = 32;
  gemms[7].n = 70;
  gemms[8].m = gemms[8].n = 0x7fffff00;
  const auto plan = Gemm<Spec>::plan(array.arguments(), device_of(Simulator(), 2));
  ASSERT_TRUE(plan);
  const LaunchResult result = plan->run(Simulator({.seed = 1}));
  ASSERT_TRUE(result) << describe(result);
  array.expect([](float x, int, int, int) { return x; }, left_out);
}

// A plan is made once and is right for other sizes and addresses.
TEST(PointerArrays, MayChangeBetweenRunsOfOnePlan) {
  using Spec = Plain<ElementType::bf16, GemmSchedule::cooperative, 64, 1, 1>;
  const Array<Spec> first({{70, 72, 64}, {0, 8, 8}, {1, 136, 200}}), second({{64, 64, 0}, {129, 8, 72}, {65, 72, 64}});
  std::vector<GemmGroup> gemms = first.gemms;
  auto args = first.arguments();
  args.groups.gemms = gemms.data();
  const auto plan = Gemm<Spec>::plan(args, device_of(Simulator(), 4));
  ASSERT_TRUE(plan);
  ASSERT_TRUE(plan->run(Simulator({.seed = 5})));
  first.expect();
  gemms = second.gemms;
  ASSERT_TRUE(plan->run(Simulator({.seed = 6})));
  second.expect();
}

// ---- Epilogues

template <GemmSchedule schedule, int cluster_m>
struct Everything {
  static constexpr GemmOptions options{.c = ElementType::f32,
                                       .d = ElementType::f32,
                                       .layout_d = kColumnMajor,
                                       .tile = {64, 64},
                                       .cluster = {cluster_m, 1},
                                       .stages = 3,
                                       .schedule = schedule,
                                       .groups = GemmGrouping::pointer_array};
  static constexpr fusion::Graph graph = fusion::graph(
      "let z = alpha * acc + beta * c + row(bias) + col(shift) + load(given:f32); d = relu(z); positive:u1 = z > 0; "
      "copy:f32 = z; top = reduce_max(z)");
};

template <class Spec>
void expect_everything(const std::vector<Extents>& sizes, std::uint64_t seed) {
  Array<Spec> array(sizes);
  const auto gemms = static_cast<int>(sizes.size());
  std::vector<float> alpha, beta, top(sizes.size());
  std::vector<std::vector<float>> bias, shift;
  std::vector<Matrix<float>> given, copy;
  std::vector<std::vector<std::uint8_t>> positive;
  for (int g = 0; g < gemms; ++g) {
    const auto [m, n, k] = sizes[static_cast<std::size_t>(g)];
    const auto number = static_cast<unsigned>(g);
    alpha.push_back(static_cast<float>(1 + g % 3));
    beta.push_back(static_cast<float>(g % 2));
    bias.push_back(numbers<float>(static_cast<std::size_t>(n), 100 + number));
    shift.push_back(numbers<float>(static_cast<std::size_t>(m), 200 + number));
    given.emplace_back(m, n, true, 300 + number);
    copy.emplace_back(m, n, true, 400 + number, false);
    positive.emplace_back(count(m, n / 8), 0xa5);
  }
  array.gemms[0].c = nullptr;  // a C of 0
  std::vector<const void*> biases;
  std::vector<const float*> shifts, alphas;
  alpha.back() = 1;  // its default
  std::vector<GemmGroupTensor> givens, copies, masks;
  for (std::size_t g = 0; g < sizes.size(); ++g) {
    biases.push_back(g == 1 ? nullptr : bias[g].data());  // its default, 0
    shifts.push_back(shift[g].data());
    alphas.push_back(g + 1 < sizes.size() ? &alpha[g] : nullptr);
    givens.push_back({given[g].data.data(), given[g].stride});
    copies.push_back({copy[g].data.data(), copy[g].stride});
    masks.push_back({positive[g].data(), 0});
  }
  auto args = array.arguments();
  args.fusion["alpha"].by_gemm(alphas.data());
  args.fusion["beta"].batched(beta.data(), 1);
  args.fusion["bias"] = static_cast<void*>(biases.data());
  args.fusion["shift"].by_gemm(shifts.data());
  args.fusion["given"] = static_cast<void*>(givens.data());
  args.fusion["copy"] = static_cast<void*>(copies.data());
  args.fusion["positive"] = static_cast<void*>(masks.data());
  args.fusion["top"].batched(top.data(), 1);
  const auto plan = Gemm<Spec>::plan(args, device_of(Simulator(), 4));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  const LaunchResult result = plan->run(Simulator({.seed = seed}));
  ASSERT_TRUE(result) << describe(result);
  std::vector<float> expected_top(sizes.size(), -INFINITY);
  array.expect([&](float sum, int g, int i, int j) {
    const auto group = static_cast<std::size_t>(g);
    const float c = g == 0 ? 0 : array.c(g, i, j);
    const float row = g == 1 ? 0 : bias[group][static_cast<std::size_t>(j)];
    const float z =
        alpha[group] * sum + beta[group] * c + row + shift[group][static_cast<std::size_t>(i)] + given[group].at(i, j);
    EXPECT_EQ(copy[group].at(i, j), z) << "GEMM " << g << ", row " << i << ", column " << j;
    const std::size_t bit = count(i, sizes[group].n) + static_cast<std::size_t>(j);
    EXPECT_EQ(positive[group][bit / 8] >> bit % 8 & 1, z > 0 ? 1 : 0) << "GEMM " << g;
    expected_top[group] = std::max(expected_top[group], z);
    return std::max(z, 0.0f);
  });
  EXPECT_EQ(top, expected_top);
}

TEST(PointerArrays, HaveVectorsScalarsAndTensorsOfTheirOwn) {
  const std::vector<Extents> sizes{{72, 72, 64}, {128, 64, 200}, {0, 64, 64}, {4, 16, 0}, {132, 136, 130}, {64, 64, 8}};
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    expect_everything<Everything<GemmSchedule::cooperative, 2>>(sizes, seed);
    expect_everything<Everything<GemmSchedule::pingpong, 1>>(sizes, seed);
  }
}

}  // namespace
}  // namespace gantry

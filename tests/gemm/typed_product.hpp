// A GEMM of a Kind on the simulated SM, with its operands and what it must give.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/arch/launch.hpp>

#include "kernel_params.hpp"
#include "operands.hpp"
#include "sums_of_types.hpp"

namespace gantry_test {

inline bool long_form() { return std::getenv("GANTRY_LONG_TESTS") != nullptr; }

template <Kind kind>
class TypedProduct {
 public:
  using Gemm = SumsOf<kind>;
  using Sum = element_t<Gemm::kAccumulator>;

  explicit TypedProduct(const Extents& extents)
      : a(kind.major_a, extents.m, extents.k, extents.batch, extents.padded),
        b(kind.major_b, extents.n, extents.k, extents.shared_b ? 1 : extents.batch, extents.padded),
        e_(extents),
        d_(static_cast<std::size_t>(extents.batch * extents.m * extents.n)) {}

  // Integers whose products add up exactly in 14 bits.
  TypedProduct& fill(unsigned seed) {
    std::mt19937 random(seed);
    constexpr int kLeast = kind.a == ElementType::u8 || kind.b == ElementType::u8 ? 0 : -3;
    std::uniform_int_distribution<int> value(kLeast, 3);
    each([&](auto& x, int row, int k, int batch) { x.set(row, k, batch, value(random)); });
    return *this;
  }
  // f(operand, row, k, batch) for every element.
  template <class F>
  void each(F f) {
    for (int batch = 0; batch < e_.batch; ++batch) {
      for (int k = 0; k < e_.k; ++k) {
        for (int i = 0; i < e_.m; ++i) f(a, i, k, batch);
        for (int j = 0; j < e_.n && batch < batches_of_b(); ++j) f(b, j, k, batch);
      }
    }
  }

  LaunchResult run(std::uint64_t seed) {
    constexpr Latency kLatencies[] = {Latency::mixed, Latency::late, Latency::random, Latency::eager};
    std::fill(d_.begin(), d_.end(), static_cast<Sum>(-1234567));
    GemmProblem problem;
    problem.a = a.matrix(false);
    problem.b = b.matrix(e_.shared_b);
    problem.m = e_.m;
    problem.n = e_.n;
    problem.k = e_.k;
    problem.batch = e_.batch;
    auto params =
        kernel_params<Gemm>(problem, typename StoreSums<DesignOf<kind>>::Params{d_.data(), e_.m, e_.n}, e_.ctas);
    if constexpr (kind.kernel == Kernel::cooperative) {
      workspace_.assign(split_workspace_bytes(Gemm::design(), e_.ctas) / sizeof(Vector), {});
      params.workspace = reinterpret_cast<unsigned char*>(workspace_.data());
      if (e_.split) params.schedule = with_split_tiles(params.schedule, e_.ctas / Gemm::kCluster);
    }
    const LaunchConfig config = config_of<Gemm>(params);
    SimulatorOptions options;
    options.seed = seed;
    options.schedule = seed % 2 == 0 ? Schedule::random : Schedule::pct;
    options.latency = kLatencies[seed % 4];
    options.resident_clusters = static_cast<int>(config.grid.x) / Gemm::kCluster;
    return launch(Simulator(options), config, Gemm{}, params);
  }

  Sum result(int i, int j, int batch = 0) const { return d_[static_cast<std::size_t>((batch * e_.m + i) * e_.n + j)]; }

  // Of exact products, added up exactly.
  Sum expected(int i, int j, int batch = 0) const {
    double sum = 0;
    for (int k = 0; k < e_.k; ++k) sum += a.get(i, k, batch) * b.get(j, k, e_.shared_b ? 0 : batch);
    return static_cast<Sum>(sum);
  }

  // Runs under a few schedules, and compares bits; a NaN is like any other.
  void expect_exact(std::uint64_t first_seed = 0, std::uint64_t seeds = long_form() ? 4 : 1) {
    for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
      const LaunchResult ran = run(seed);
      ASSERT_TRUE(ran) << describe(ran);
      for (int batch = 0; batch < e_.batch; ++batch) {
        for (int i = 0; i < e_.m; ++i) {
          for (int j = 0; j < e_.n; ++j) {
            const Sum x = result(i, j, batch), y = expected(i, j, batch);
            const bool same = bit_cast<std::uint32_t>(x) == bit_cast<std::uint32_t>(y) || (x != x && y != y);
            ASSERT_TRUE(same) << "D(" << i << ", " << j << ") of batch " << batch << " is " << x << ", not " << y
                              << "; M " << e_.m << ", N " << e_.n << ", K " << e_.k << ", seed " << seed;
          }
        }
      }
    }
  }

  Operand<kind.a> a;
  Operand<kind.b> b;

 private:
  struct alignas(16) Vector {
    float values[4];
  };
  int batches_of_b() const { return e_.shared_b ? 1 : e_.batch; }

  Extents e_;
  std::vector<Sum> d_;
  std::vector<Vector> workspace_;
};

// Every residue of M, N and K that is different: less than a tile, a tile and a bit, whole tiles and K steps; batches,
// with and without room between them; tiles that several clusters share. In the long form with four seeds each, counted
// from `first_seed`.
template <Kind kind>
void expect_exact_for_all_residues(unsigned first_seed = 0) {
  using Shape = GemmShape<DesignOf<kind>>;
  constexpr int M = Shape::kTileM * Shape::kClusterM, N = Shape::kTileN * Shape::kClusterN, K = Shape::kTileK;
  constexpr int ctas = 2 * Shape::kCluster;
  const Extents all[] = {
      {.m = M + 1, .n = N, .k = 2 * K + 1, .batch = 2, .ctas = ctas, .padded = true, .shared_b = true},
      {.m = 3, .n = 2 * N - 5, .k = K - 1, .ctas = ctas},
      {.m = M - 8, .n = N + 8, .k = 5 * K, .ctas = ctas, .split = kind.kernel == Kernel::cooperative},
      {.m = M, .n = 1, .k = 1, .batch = 3, .ctas = ctas, .padded = true},
      {.m = 2 * M + 17, .n = 9, .k = 3 * K - 8, .ctas = ctas},
  };
  unsigned done = 0;
  for (const Extents& extents : all) {
    if (done == 2 && !long_form()) break;
    const unsigned seed = long_form() ? first_seed + 4 * done : done;
    TypedProduct<kind>(extents).fill(seed).expect_exact(seed);
    ++done;
  }
}

}  // namespace gantry_test

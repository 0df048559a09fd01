// The example GEMM of hardware operations on the simulated SM: right for every seed, and without findings.
#include <cmath>
#include <random>
#include <vector>

#include <examples/tile_product.hpp>
#include <gtest/gtest.h>

#include <gantry/arch/simulator.hpp>
#include <gantry/numeric/float_types.hpp>

#include "schedules.hpp"

namespace gantry {
namespace {

struct SmallConfig {
  static constexpr int kTileN = 64;
  static constexpr int kStages = 2;
  static constexpr int kCluster = 1;
};
struct ClusterConfig {
  static constexpr int kTileN = 128;
  static constexpr int kStages = 3;
  static constexpr int kCluster = 2;
};

TmaDescriptor map_of(const std::vector<bf16>& matrix, int rows, int columns, int box_rows) {
  return pack({.data_type = TmaDataType::bf16,
               .rank = 2,
               .address = reinterpret_cast<std::uint64_t>(matrix.data()),
               .dims = {static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(rows)},
               .strides = {static_cast<std::uint64_t>(columns) * 2},
               .box = {64, static_cast<std::uint32_t>(box_rows)},
               .swizzle = TmaSwizzle::bytes_128});
}

template <class Config>
class Problem {
 public:
  using Kernel = examples::TileProduct<Config>;

  Problem(int m, int n, int k)
      : m_(m),
        n_(n),
        k_(k),
        a_(static_cast<std::size_t>(m * k)),
        b_(static_cast<std::size_t>(n * k)),
        d_(static_cast<std::size_t>(m * n)) {
    std::mt19937 random(1);
    std::uniform_int_distribution<int> value(-8, 8);
    for (bf16& x : a_) x = bf16(value(random));
    for (bf16& x : b_) x = bf16(value(random));
    const auto tiles = [](int extent, int tile) { return (extent + tile - 1) / tile; };
    params_.a = map_of(a_, m, k, Kernel::kTileM);
    params_.b = map_of(b_, n, k, Kernel::kLoadedRowsB);
    params_.d = map_of(d_, m, n, 64);
    params_.m_tiles = tiles(tiles(m, Kernel::kTileM), Kernel::kCluster) * Kernel::kCluster;
    params_.n_tiles = tiles(n, Kernel::kTileN);
    params_.k_tiles = tiles(k, Kernel::kTileK);
  }

  Report run(SimulatorOptions options, std::uint32_t ctas) {
    for (bf16& x : d_) x = bf16(-1e30f);
    return Simulator(std::move(options))
        .run<Kernel>({.grid = {ctas},
                      .cluster = {Kernel::kCluster},
                      .block = {Kernel::kThreads},
                      .shared_bytes = sizeof(typename Kernel::Storage),
                      .name = "tile_product"},
                     params_);
  }

  // Accumulation of small integers is exact; only the last rounding to bf16 is not.
  int wrong() const {
    int count = 0;
    for (int i = 0; i < m_; ++i) {
      for (int j = 0; j < n_; ++j) {
        float sum = 0;
        for (int k = 0; k < k_; ++k) {
          sum += float(a_[static_cast<std::size_t>(i * k_ + k)]) * float(b_[static_cast<std::size_t>(j * k_ + k)]);
        }
        count += d_[static_cast<std::size_t>(i * n_ + j)].bits != bf16(sum).bits;
      }
    }
    return count;
  }

 private:
  int m_, n_, k_;
  std::vector<bf16> a_, b_, d_;
  typename Kernel::Params params_{};
};

template <class Config>
void expect_exact(Problem<Config>& problem, std::uint32_t ctas) {
  test::under_many_schedules([&](const SimulatorOptions& options) {
    const Report report = problem.run(options, ctas);
    ASSERT_TRUE(report.clean()) << report.text();
    ASSERT_EQ(problem.wrong(), 0);
  });
}

TEST(TileProduct, IsExactWhereTilesOverhangTheMatrix) {
  Problem<SmallConfig> problem(136, 72, 136);
  expect_exact(problem, 1);
}

TEST(TileProduct, IsExactInAClusterThatMulticasts) {
  Problem<ClusterConfig> problem(256, 128, 192);
  expect_exact(problem, 2);
}

}  // namespace
}  // namespace gantry

// The tiled example GEMM on the simulated SM: right for every seed, and without findings.
#include "examples/tiled_product.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "gantry/arch/simulator.hpp"
#include "tests/kernels/schedules.hpp"

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

template <class Config>
class Problem {
 public:
  using Kernel = examples::TiledProduct<Config>;

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
    params_ = Kernel::make_params(a_.data(), b_.data(), d_.data(), m, n, k,
                                  [](const TmaDescriptorParams& params) { return pack(params); });
  }

  Report run(SimulatorOptions options, std::uint32_t ctas) {
    for (bf16& x : d_) x = bf16(-1e30f);
    return Simulator(std::move(options))
        .run<Kernel>({.grid = {ctas},
                      .cluster = {Kernel::kCluster},
                      .block = {Kernel::kThreads},
                      .shared_bytes = sizeof(typename Kernel::Storage),
                      .name = "tiled_product"},
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

TEST(TiledProduct, IsExactOnOneTile) {
  Problem<SmallConfig> problem(128, 64, 128);
  const Report report = problem.run({.schedule = Schedule::round_robin}, 1);
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(problem.wrong(), 0);
}

TEST(TiledProduct, IsExactWhereTilesOverhangTheMatrix) {
  Problem<SmallConfig> problem(200, 136, 200);
  const Report report = problem.run({.seed = 3}, 2);
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(problem.wrong(), 0);
}

TEST(TiledProduct, IsExactInAClusterThatMulticasts) {
  Problem<ClusterConfig> problem(256, 256, 256);
  const Report report = problem.run({.seed = 3}, 2);
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(problem.wrong(), 0);
}

TEST(TiledProduct, IsExactUnderManySchedules) {
  Problem<SmallConfig> problem(128, 64, 192);
  test::under_many_schedules([&](const SimulatorOptions& options) {
    const Report report = problem.run(options, 1);
    ASSERT_TRUE(report.clean()) << report.text();
    ASSERT_EQ(problem.wrong(), 0);
  });
}

}  // namespace
}  // namespace gantry

// Every synchronising call of the tiled example GEMM, left out or changed one at a time, is found out.
#include <vector>

#include <gtest/gtest.h>

#include <gantry/arch/mutation_sweep.hpp>

#include "examples/tiled_product.hpp"

namespace gantry {
namespace {

struct Config {
  static constexpr int kTileN = 64, kStages = 2, kCluster = 2;
};
using Kernel = examples::TiledProduct<Config>;

TEST(TiledProductSweep, EveryCallIsNeeded) {
  constexpr int kM = 256, kN = 256, kK = 192;  // four tiles of a cluster, more K tiles than stages
  std::vector<bf16> a(kM * kK), b(kN * kK), d(kM * kN);
  const auto run = [&](const SimulatorOptions& options) {
    const auto params =
        Kernel::make_params(a.data(), b.data(), d.data(), kM, kN, kK, [](const auto& map) { return pack(map); });
    return Simulator(options).run<Kernel>({.grid = {2},
                                           .cluster = {2},
                                           .block = {Kernel::kThreads},
                                           .shared_bytes = sizeof(Kernel::Storage),
                                           .name = "tiled_product"},
                                          params);
  };
  const SweepReport report = mutation_sweep({.max_steps = 500'000}, 8, run);
  EXPECT_TRUE(report.original_clean);
  EXPECT_GE(report.entries.size(), 15u);
  EXPECT_EQ(report.detected(), static_cast<int>(report.entries.size())) << report.text();
}

}  // namespace
}  // namespace gantry

// The architecture value against published figures, and that everything that has a limit reads it there.
#include <gtest/gtest.h>

#include <gantry/arch/launch_check.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/choice.hpp>
#include <gantry/gemm/design.hpp>
#include <gantry/hardware/architecture.hpp>
#include <gantry/tma/rules.hpp>

namespace gantry {
namespace {

// CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability", column 9.0.
TEST(Architecture, HasTheLimitsOfComputeCapability90) {
  EXPECT_EQ(kSm90.shared_bytes_per_block, 227 * 1024);
  EXPECT_EQ(kSm90.shared_bytes_per_sm, 228 * 1024);
  EXPECT_EQ(kSm90.registers_per_block, 64 * 1024);
  EXPECT_EQ(kSm90.threads_per_block, 1024);
  EXPECT_EQ(kSm90.named_barriers, 16);
  EXPECT_EQ(kSm90.parameter_bytes, 32764);
}

// Data sheets of the H200, H100 SXM5 and H100 PCIe.
TEST(Architecture, HasTheDataSheetsOfItsChips) {
  EXPECT_EQ(kH200.sms, 132);
  EXPECT_EQ(kH200.dram_peak, 4.8e12);
  EXPECT_EQ(kH100Sxm.sms, 132);
  EXPECT_EQ(kH100Sxm.dram_peak, 3.35e12);
  EXPECT_EQ(kH100Pcie.sms, 114);
  EXPECT_EQ(kH100Pcie.power_limit, 350);
  EXPECT_TRUE(kH200.measured);
  EXPECT_FALSE(kH100Sxm.measured);
  EXPECT_FALSE(kH100Pcie.measured);
  for (const Architecture& arch : {kH200, kH100Sxm, kH100Pcie}) {
    // Tensor cores: 1024 dense FMA of 16-bit elements per cycle and SM are 4096 operations; the clock of the data
    // sheet's figure is below the highest.
    EXPECT_LE(arch.mma_peak, 2 * arch.mma_rate * arch.sms * arch.clock) << arch.name;
    EXPECT_LT(arch.dram_rate, arch.dram_peak) << arch.name;
  }
}

TEST(Architecture, IsFoundByTheNameThatTheDriverGives) {
  EXPECT_STREQ(architecture_named("NVIDIA H200").name, "H200");
  EXPECT_STREQ(architecture_named("NVIDIA H100 80GB HBM3").name, "H100 SXM");
  EXPECT_STREQ(architecture_named("NVIDIA H100 PCIe").name, "H100 PCIe");
  EXPECT_STREQ(architecture_named("").name, "H200");
}

// cudaOccupancyMaxActiveClusters on an H200: 132 CTAs alone and in pairs, 120 in clusters of four.
TEST(Architecture, HoldsAsManyClustersAsWereCountedOnAnH200) {
  EXPECT_EQ(kH200.resident_clusters(1), 132);
  EXPECT_EQ(kH200.resident_clusters(2), 66);
  EXPECT_EQ(kH200.resident_clusters(4), 30);
}

TEST(Architecture, IsWhereRulesFindTheirLimits) {
  EXPECT_EQ(kSharedBytesPerBlock, static_cast<std::uint64_t>(kSm90.shared_bytes_per_block));
  EXPECT_EQ(kMaxSharedBytesPerBlock, static_cast<std::uint32_t>(kSm90.shared_bytes_per_block));
}

// The schedule's costs and the model's are one set of numbers: a slower split-K reduction makes both avoid it.
TEST(Architecture, DecidesWhetherTilesAreSplit) {
  const TileSchedule few{.m = 1, .n = 16, .k_steps = 64};
  Architecture slow = kH200;
  slow.latency.split_handover = 1e6;
  EXPECT_GT(make_tile_schedule(with_costs_of(few, 128, 128), 66).parts, 1);
  EXPECT_EQ(make_tile_schedule(with_costs_of(few, 128, 128, slow), 66, true, slow).parts, 1);
  GemmWorkload w;
  w.m = 128;
  w.n = 2048;
  w.k = 4096;
  const GemmDesign o = make_gemm_design({.tile = {128, 128}, .cluster = {1, 1}, .schedule = GemmSchedule::cooperative},
                                        fusion::graph("d = acc"));
  EXPECT_GT(estimate(w, o, {}, kH200).schedule.parts, 1);
  EXPECT_EQ(estimate(w, o, {}, slow).schedule.parts, 1);
}

TEST(Architecture, MakesASlowerChipSlower) {
  GemmWorkload w;
  w.m = w.n = w.k = 8192;
  const GemmDesign o = make_gemm_design({.tile = {128, 256}, .cluster = {2, 1}}, fusion::graph("d = acc"));
  EXPECT_GT(estimate(w, o, {}, kH100Pcie).milliseconds, estimate(w, o, {}, kH200).milliseconds);
  w.k = 64;
  EXPECT_GT(estimate(w, o, {}, kH100Sxm).milliseconds, estimate(w, o, {}, kH200).milliseconds);
}

}  // namespace
}  // namespace gantry

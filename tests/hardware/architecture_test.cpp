// The architecture value against published figures, and that everything that has a limit reads it there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/arch/launch_check.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/choice_text.hpp>
#include <gantry/gemm/design.hpp>
#include <gantry/gemm/explain.hpp>
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
  EXPECT_EQ(kSm90.threads_per_sm, 2048);
  EXPECT_EQ(kSm90.blocks_per_sm, 32);
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

// The occupancy calculator of CUDA, compute capability 9.0: each block takes a KiB of shared memory more.
TEST(Architecture, HoldsBlocksAsThreadsAndSharedMemoryAllow) {
  EXPECT_EQ(kSm90.resident_blocks(384, 200 * 1024), 1);
  EXPECT_EQ(kSm90.resident_blocks(128, 113 * 1024), 2);
  EXPECT_EQ(kSm90.resident_blocks(128, 114 * 1024), 1);
  EXPECT_EQ(kSm90.resident_blocks(1024, 0), 2);
  EXPECT_EQ(kSm90.resident_blocks(33, 0), 32);
  EXPECT_EQ(kH200.resident_clusters(4, 2), 60);
}

TEST(Architecture, OfSimulatedSmsLetsClustersFillThem) {
  EXPECT_EQ(simulated_architecture(8).resident_clusters(4), 2);
  EXPECT_EQ(simulated_architecture(132).resident_clusters(4), 33);
}

TEST(Architecture, HasWhatTheDriverReports) {
  const Architecture arch = architecture_of({.name = "NVIDIA H100 PCIe", .sms = 100, .clock_khz = 1'000'000});
  EXPECT_STREQ(arch.name, "H100 PCIe");
  EXPECT_EQ(arch.sms, 100);
  EXPECT_EQ(arch.clock, 1e9);
  EXPECT_EQ(arch.dram_rate, kH100Pcie.dram_rate);
}

// An H100 PCIe of 80 GB: 1,593 MHz, 5,120 bits, two transfers a cycle, 2.04 TB/s on its data sheet.
TEST(Architecture, HasTheDriversMemoryWhereNothingWasMeasured) {
  ReportedDevice device{
      .name = "NVIDIA H100 PCIe", .memory_clock_khz = 1'593'000, .memory_bits = 5120, .l2_bytes = 4e7};
  EXPECT_NEAR(architecture_of(device).dram_peak, 2.04e12, 0.01e12);
  EXPECT_EQ(architecture_of(device).l2_bytes, 4e7);
  device.memory_bits /= 2;
  EXPECT_NEAR(architecture_of(device).dram_peak, 1.02e12, 0.01e12);
  EXPECT_NEAR(architecture_of(device).dram_rate / kH100Pcie.dram_rate, 0.5, 0.01);
  device.name = "NVIDIA H200";
  EXPECT_EQ(architecture_of(device).dram_rate, kH200.dram_rate);
}

// The cost model divides by both.
TEST(Architecture, KeepsItsValuesWhereTheDriverReportsNothing) {
  const Architecture arch = architecture_of({.name = "NVIDIA H100 PCIe"});
  EXPECT_EQ(arch.sms, kH100Pcie.sms);
  EXPECT_EQ(arch.clock, kH100Pcie.clock);
}

TEST(Architecture, IsWhatExplanationsSpeakOf) {
  using testing::HasSubstr;
  const fusion::Graph graph = fusion::graph("d = acc");
  detail::GemmFacts facts;
  facts.design = make_gemm_design({}, graph);
  facts.m = facts.n = facts.k = 4096;
  facts.graph = &graph;
  facts.packed_a = true;
  facts.packed_bytes = 1'020'000;  // 1 us at 2.04 TB/s, read and written
  facts.arch = kH100Pcie;
  facts.arch.dram_rate = facts.arch.dram_peak;
  const std::string said = detail::explain_gemm(facts);
  EXPECT_THAT(said, HasSubstr("1 us of an H100 PCIe's DRAM"));
  EXPECT_THAT(said, HasSubstr("an H100 PCIe is compute-bound above 371 FLOP/B"));  // 756 TFLOP/s by 2.04 TB/s
}

TEST(Architecture, ThatWasNotMeasuredIsSaidToBeSo) {
  GemmQuestion q;
  q.workload.m = q.workload.n = q.workload.k = 4096;
  const std::vector<GemmDesign> one = {make_gemm_design({}, fusion::graph("d = acc"))};
  EXPECT_THAT(explanation(q, one, choose(q, one)), testing::Not(testing::HasSubstr("measured")));
  q.device = kH100Sxm;
  EXPECT_THAT(explanation(q, one, choose(q, one)), testing::HasSubstr("Nothing was measured on an H100 SXM"));
}

// Two chips may gain by dependent launches up to different times.
TEST(Architecture, DecidesWhatGainsAsADependentLaunch) {
  Architecture other = kH200;
  other.threshold.dependent_milliseconds = 0.01;
  GemmCost cost;
  cost.milliseconds = 0.1;
  EXPECT_TRUE(gains_as_dependent(cost, kH200));
  EXPECT_FALSE(gains_as_dependent(cost, other));
}

TEST(Architecture, IsWhereRulesFindTheirLimits) {
  EXPECT_EQ(kSharedBytesPerBlock, static_cast<std::uint64_t>(kSm90.shared_bytes_per_block));
  EXPECT_EQ(kMaxSharedBytesPerBlock, static_cast<std::uint32_t>(kSm90.shared_bytes_per_block));
}

// The schedule's costs and the model's are one set of numbers: a slower split-K reduction makes both avoid it.
TEST(Architecture, DecidesWhetherTilesAreSplit) {
  const TileSchedule few{.m = 1, .n = 16, .k_steps = 64};
  Architecture slow = kH200;
  slow.latency.split_latency = 1e6;
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

// PipelineAsync on the simulated SM: right results and clean reports; each misuse is named.
#include <gtest/gtest.h>

#include "async_kernel.hpp"
#include "runs.hpp"

namespace gantry::test {
namespace {

constexpr int kTiles = 29;

std::vector<std::uint32_t> numbered_tiles() {
  std::vector<std::uint32_t> expected = Memory(kTiles).from;
  for (std::uint32_t i = 0; i < expected.size(); ++i) expected[i] += i / kWords;
  return expected;
}

TEST(PipelineAsync, WhatProducersWroteConsumersRead) {
  expect_clean<AsyncKernel<1>>(kTiles, numbered_tiles());
  expect_clean<AsyncKernel<2>>(kTiles, numbered_tiles());
  expect_clean<AsyncKernel<3>>(kTiles, numbered_tiles());
  expect_clean<AsyncKernel<4>>(kTiles, numbered_tiles());
}

TEST(PipelineAsync, AStageCommittedBeforeItIsWrittenRaces) {
  const std::string text = finding<AsyncKernel<2, FillFlaw::commits_unwritten>>("shared-race", kTiles);
  EXPECT_NE(text.find("tile"), std::string::npos) << text;
}

TEST(PipelineAsync, AStageReleasedBeforeItIsReadRaces) {
  const std::string text = finding<AsyncKernel<2, FillFlaw::releases_unread>>("shared-race", kTiles);
  EXPECT_NE(text.find("consumer"), std::string::npos) << text;
}

// But for the fence after mbarrier.init, which is for copies and other CTAs.
TEST(PipelineAsync, EveryCallIsNeeded) {
  expect_every_change_detected<AsyncKernel<2>>(
      kTiles, [](const SweepEntry& entry) { return entry.site.operation == "fence.mbarrier_init"; });
}

}  // namespace
}  // namespace gantry::test

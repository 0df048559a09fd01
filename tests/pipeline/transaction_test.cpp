// PipelineTransactionAsync on the simulated SM: right results and clean reports; each misuse is named.
#include <gtest/gtest.h>

#include "runs.hpp"
#include "transaction_kernel.hpp"

namespace gantry::test {
namespace {

constexpr int kTiles = 29;  // the last lap of two, three and four stages is not whole

std::vector<std::uint32_t> numbered_tiles() {
  std::vector<std::uint32_t> expected = Memory(kTiles).from;
  for (std::uint32_t i = 0; i < expected.size(); ++i) {
    const std::uint32_t tile = i / kWords;
    expected[i] = tile + (tile % 3 == 2 ? 0 : expected[i]);
  }
  return expected;
}

TEST(PipelineTransactionAsync, StagesOfOneTwoOrNoCopiesArriveWhole) {
  expect_clean<TransactionKernel<1>>(kTiles, numbered_tiles());
  expect_clean<TransactionKernel<2>>(kTiles, numbered_tiles());
  expect_clean<TransactionKernel<3>>(kTiles, numbered_tiles());
  expect_clean<TransactionKernel<4>>(kTiles, numbered_tiles());
}

TEST(PipelineTransactionAsync, EveryLaneOfTheLoadWarpMayCommitAndOneOfAWarpRelease) {
  constexpr Signals kSignals = Signals::all_producers_one_consumer_a_warp;
  expect_clean<TransactionKernel<1, LoadFlaw::none, kSignals>>(kTiles, numbered_tiles());
  expect_clean<TransactionKernel<3, LoadFlaw::none, kSignals>>(kTiles, numbered_tiles());
}

TEST(PipelineTransactionAsync, BytesThatNeverArriveAreReportedWithTheBarriersName) {
  const std::string text = finding<TransactionKernel<3, LoadFlaw::bytes_too_many>>("mbarrier-byte-count", kTiles);
  EXPECT_NE(text.find("epilogue load.full[0]"), std::string::npos) << text;
  EXPECT_NE(text.find("272"), std::string::npos) << text;  // expected, where 256 come
}

TEST(PipelineTransactionAsync, BytesThatNobodyExpectsAreReported) {
  const std::string text = finding<TransactionKernel<3, LoadFlaw::bytes_too_few>>("mbarrier-byte-count", kTiles);
  EXPECT_NE(text.find("epilogue load.full[0]"), std::string::npos) << text;
}

TEST(PipelineTransactionAsync, AConsumerThatNeverReleasesIsADeadlockThatNamesTheEmptyBarrier) {
  const std::string text = finding<TransactionKernel<3, LoadFlaw::never_releases>>("deadlock", kTiles);
  EXPECT_NE(text.find("epilogue load.empty[0]"), std::string::npos) << text;
  EXPECT_NE(text.find("producer"), std::string::npos) << text;
}

TEST(PipelineTransactionAsync, AStageReleasedBeforeItIsReadIsReloadedEarly) {
  const std::string text = finding<TransactionKernel<2, LoadFlaw::releases_unread>>("slot-reloaded-early", kTiles);
  EXPECT_NE(text.find("tile"), std::string::npos) << text;
}

TEST(PipelineTransactionAsync, ACountOfFewerReleasesThanThereAreLetsTheStageBeReloadedEarly) {
  const std::string text = finding<TransactionKernel<2, LoadFlaw::counts_too_few>>("slot-reloaded-early", kTiles);
  EXPECT_NE(text.find("(consumer)"), std::string::npos) << text;
}

// But for the tail: consumers signal their own CTA alone, and it does not end before they do. The checker asks for the
// fence after mbarrier.init where tensor copies or other CTAs use the barrier, not for plain bulk copies.
TEST(PipelineTransactionAsync, EveryCallIsNeeded) {
  const auto harmless = [](const SweepEntry& entry) { return entry.site.operation == "fence.mbarrier_init"; };
  expect_every_change_detected<TransactionKernel<2, LoadFlaw::no_tail>>(kTiles, harmless);
  expect_every_change_detected<TransactionKernel<2, LoadFlaw::no_tail, Signals::all_producers_one_consumer_a_warp>>(
      kTiles, harmless);
}

}  // namespace
}  // namespace gantry::test

// PipelineTmaStore on the simulated SM: right results and clean reports; each misuse is named.
#include <gtest/gtest.h>

#include "runs.hpp"
#include "store_kernel.hpp"

namespace gantry::test {
namespace {

constexpr int kTiles = 29;

std::vector<std::uint32_t> numbered_copies() {
  const std::vector<std::uint32_t> from = Memory(kTiles).from;
  std::vector<std::uint32_t> expected(from.size());
  for (std::uint32_t i = 0; i < expected.size(); ++i) expected[i] = from[i % kWords] + i / kWords;
  return expected;
}

TEST(PipelineTmaStore, EveryTileIsStoredBeforeItsBufferIsWrittenAgain) {
  expect_clean<StoreKernel<1>>(kTiles, numbered_copies());
  expect_clean<StoreKernel<2>>(kTiles, numbered_copies());
  expect_clean<StoreKernel<3>>(kTiles, numbered_copies());
  expect_clean<StoreKernel<4>>(kTiles, numbered_copies());
}

TEST(PipelineTmaStore, FewerGroupsMayBeLeftUnreadThanThereAreBuffers) {
  expect_clean<StoreKernel<4, 0>>(kTiles, numbered_copies());
  expect_clean<StoreKernel<4, 1>>(kTiles, numbered_copies());
}

TEST(PipelineTmaStore, AsManyStagesAreHeldAsGroupsMayBeUnread) {
  using Pipeline = PipelineTmaStore<4, 2>;
  static_assert(Pipeline::unread_groups(0) == 0 && Pipeline::unread_groups(1) == 1);
  static_assert(Pipeline::unread_groups(2) == 2 && Pipeline::unread_groups(9) == 2);
  static_assert(PipelineTmaStore<1>::unread_groups(5) == 0);
}

TEST(PipelineTmaStore, ABufferWrittenWithoutAcquireIsReported) {
  const std::string text = finding<StoreKernel<2, 1, StoreFlaw::no_acquire>>("store-source-reused", kTiles);
  EXPECT_NE(text.find("buffer"), std::string::npos) << text;
}

TEST(PipelineTmaStore, ATailLeftOutIsReported) {
  const std::string text = finding<StoreKernel<2, 1, StoreFlaw::no_tail>>("exit-with-copies-in-flight", kTiles);
  EXPECT_NE(text.find("Thread 32 of CTA 0"), std::string::npos) << text;  // the one that issues
}

TEST(PipelineTmaStore, EveryCallIsNeeded) {
  expect_every_change_detected<StoreKernel<2>>(kTiles, [](const SweepEntry&) { return false; });
}

}  // namespace
}  // namespace gantry::test

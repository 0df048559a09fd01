// OrderedSequenceBarrier on the simulated SM: the groups run in order in every part; a group that does not is
// reported.
#include <gtest/gtest.h>

#include "ordered_kernel.hpp"
#include "runs.hpp"

namespace gantry::test {
namespace {

constexpr int kRounds = 9;

template <int Depth, int Groups>
void expect_turns() {
  using Kernel = OrderedKernel<Depth, Groups>;
  std::vector<std::uint32_t> expected(Memory(kRounds).to.size(), 0xDEAD);
  std::size_t at = 0;
  for (int d = 0; d < Depth; ++d) {
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      for (std::uint32_t group = 0; group < Groups; ++group) expected.at(at++) = Kernel::entry(group, round);
    }
  }
  expect_clean<Kernel>(kRounds, expected);
}

TEST(OrderedSequenceBarrier, GroupsTakeTheirTurnsInEveryPart) {
  expect_turns<1, 2>();
  expect_turns<2, 2>();
  expect_turns<3, 2>();
  expect_turns<1, 3>();
  expect_turns<2, 4>();
}

TEST(OrderedSequenceBarrier, AGroupThatDoesNotWaitForItsTurnRaces) {
  const std::string text = finding<OrderedKernel<2, 2, TurnFlaw::does_not_wait>>("shared-race", kRounds);
  EXPECT_NE(text.find("entries"), std::string::npos) << text;
}

TEST(OrderedSequenceBarrier, AGroupThatHandsOnBeforeItsTurnRaces) {
  const std::string text = finding<OrderedKernel<2, 2, TurnFlaw::arrives_first>>("shared-race", kRounds);
  EXPECT_NE(text.find("entries"), std::string::npos) << text;
}

TEST(OrderedSequenceBarrier, AGroupThatKeepsItsTurnIsADeadlockThatNamesTheNext) {
  const std::string text = finding<OrderedKernel<2, 2, TurnFlaw::does_not_arrive>>("deadlock", kRounds);
  EXPECT_NE(text.find("math order.group0[0]"), std::string::npos) << text;
}

TEST(OrderedSequenceBarrier, AGroupThatSkipsAPartAloneIsADeadlock) {
  const std::string text = finding<OrderedKernel<2, 2, TurnFlaw::skips_a_part>>("deadlock", kRounds);
  EXPECT_NE(text.find("math order.group0[0]"), std::string::npos) << text;
}

// But for the fence after mbarrier.init, which is for copies and other CTAs. With every parity flipped the second group
// begins: another order, and just as safe.
TEST(OrderedSequenceBarrier, EveryCallIsNeeded) {
  expect_every_change_detected<OrderedKernel<2, 2>>(kRounds, [](const SweepEntry& entry) {
    return entry.site.operation == "fence.mbarrier_init" || entry.kind == MutationKind::flip_parity;
  });
}

}  // namespace
}  // namespace gantry::test

// The mistakes that one makes in a ring of TMA stages, each under every seed.
#include "ring.hpp"

namespace gantry::test {
namespace {

TEST(RingOfStages, ExpectsTheBytesOfBothLoads) {
  expect_ring_misuse("mbarrier-byte-count", {.expected_bytes = kRowBytes});
}
TEST(RingOfStages, ExpectsNoMoreThanComes) {
  expect_ring_misuse("mbarrier-byte-count", {.expected_bytes = 3 * kRowBytes});
}
TEST(RingOfStages, PublishesItsBarriersToTheCopyEngine) {
  expect_ring_misuse("mbarrier-init-unfenced", {.fence_init = false});
}
TEST(RingOfStages, MeetsAfterItsBarriersAreInitialised) {
  expect_ring_misuse("mbarrier-init-race", {.sync_init = false});
}
TEST(RingOfStages, IsFilledByOneThread) { expect_ring_misuse("mbarrier-over-arrival", {.elect = false}); }
TEST(RingOfStages, IsEmptyAtTheStart) { expect_ring_misuse("deadlock", {.producer_parity = 0}); }
TEST(RingOfStages, FlipsTheProducersParityWithEachLap) {
  expect_ring_misuse({"tma-data-early", "deadlock"}, {.producer_flips_at = 100});
}
TEST(RingOfStages, FlipsTheProducersParityAtTheEndOfALap) {
  expect_ring_misuse({"tma-data-early", "deadlock"}, {.producer_flips_at = kStages + 1});
}
TEST(RingOfStages, FlipsTheConsumersParityWithEachLap) {
  expect_ring_misuse({"tma-data-early", "mbarrier-phase-overrun", "deadlock"}, {.consumer_flips = false});
}
TEST(RingOfStages, IsReadAfterItIsFull) { expect_ring_misuse("tma-data-early", {.wait_full = false}); }
TEST(RingOfStages, FencesReadsBeforeTheNextLoad) {
  expect_ring_misuse("proxy-fence-missing-after-read", {.fence_before_release = false});
}
TEST(RingOfStages, IsReleasedByAWarpThatHasRead) {
  expect_ring_misuse("slot-reloaded-early", {.sync_before_release = false});
}
TEST(RingOfStages, IsReleasedAfterItWasRead) { expect_ring_misuse("slot-reloaded-early", {.release_first = true}); }
TEST(RingOfStages, CountsThreadsWhereEachReleases) {
  expect_ring_misuse({"slot-reloaded-early", "mbarrier-phase-overrun", "deadlock"}, {.every_thread_releases = true},
                     {.empty_count = kConsumers, .every_thread_releases = true});
}
TEST(RingOfStages, CountsWarpsWhereOneLaneReleases) { expect_ring_misuse("deadlock", {.empty_count = kConsumers}); }
TEST(RingOfStages, DoesNotCountOneWarpTooFew) {
  expect_ring_misuse("slot-reloaded-early", {.empty_count = kConsumers / 32 - 1});
}
TEST(RingOfStages, DoesNotCountOneWarpTooMany) { expect_ring_misuse("deadlock", {.empty_count = kConsumers / 32 + 1}); }
TEST(RingOfStages, CountsOneArrivalForTheProducer) { expect_ring_misuse("deadlock", {.full_count = 2}); }
TEST(RingOfStages, MayLeaveTheLastStagesUnreleased) {
  expect_clean_in_every_seed(kRing, [](SharedMemory shared) { run_ring(shared.as<Ring>(), {.releases_last = false}); });
}

}  // namespace
}  // namespace gantry::test

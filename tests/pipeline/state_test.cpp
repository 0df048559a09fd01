// Properties of PipelineState.
#include <gtest/gtest.h>

#include <gantry/pipeline.hpp>

namespace gantry {
namespace {

template <int Stages>
void expect_advance_is_repeated_step() {
  for (const PipelineState<Stages>& start : {make_consumer_start_state<Stages>(), make_producer_start_state<Stages>(),
                                             PipelineState<Stages>(Stages - 1, 1, 7)}) {
    PipelineState<Stages> stepped = start;
    for (int n = 0; n <= 5 * Stages + 3; ++n, ++stepped) {
      PipelineState<Stages> advanced = start;
      EXPECT_EQ(advanced.advance(n), stepped) << Stages << " stages, " << n << " steps";
    }
  }
}

TEST(PipelineState, AdvancingEqualsSteppingAsOften) {
  expect_advance_is_repeated_step<1>();
  expect_advance_is_repeated_step<2>();
  expect_advance_is_repeated_step<3>();
  expect_advance_is_repeated_step<4>();
  expect_advance_is_repeated_step<7>();
}

// Step n is at stage n mod Stages of lap n / Stages, and the phase is the lap's parity.
TEST(PipelineState, FollowsTheStepsOfARing) {
  PipelineState<3> read = make_consumer_start_state<3>();
  PipelineState<3> write = make_producer_start_state<3>();
  for (std::uint32_t n = 0; n < 20; ++n, ++read, ++write) {
    EXPECT_EQ(read.index(), static_cast<int>(n % 3));
    EXPECT_EQ(read.phase(), n / 3 % 2);
    EXPECT_EQ(read.count(), n);
    EXPECT_EQ(write.index(), read.index());
    EXPECT_NE(write.phase(), read.phase());
  }
}

TEST(PipelineState, StartsWhereAPipelineOfItsStagesDoes) {
  static_assert(make_producer_start_state<PipelineTmaAsync<4>>() == make_producer_start_state<4>());
  static_assert(make_consumer_start_state<PipelineTransactionAsync<3>>() == make_consumer_start_state<3>());
  static_assert(make_producer_start_state<PipelineTmaStore<2>>() == make_producer_start_state<2>());
  static_assert(make_consumer_start_state<PipelineAsync<1>>() == make_consumer_start_state<1>());
}

}  // namespace
}  // namespace gantry

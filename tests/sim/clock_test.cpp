// Happens-before: joining, fencing, sharing.
#include "src/sim/clock.hpp"

#include <gtest/gtest.h>

namespace gantry::sim {
namespace {

ClockRef clock_of(Actor actor, Entry entry) {
  ClockBuilder builder;
  builder.raise(actor, entry);
  return builder.freeze();
}

TEST(Clock, AJoinKnowsWhatEitherSideKnew) {
  const Actor a{3, 1}, b{3, 2}, c{7, 0};
  const ClockRef joint = joined(joined(clock_of(a, {.seen = 5}), clock_of(b, {.seen = 2})), clock_of(c, {.seen = 9}));
  EXPECT_EQ(joint->at(a).seen, 5u);
  EXPECT_EQ(joint->at(b).seen, 2u);
  EXPECT_EQ(joint->at(c).seen, 9u);
  EXPECT_EQ(joint->at({7, 1}).seen, 0u);
  EXPECT_EQ(joined(joint, clock_of(a, {.seen = 4})), joint);  // nothing new: the same clock
  EXPECT_EQ(joined(nullptr, joint), joint);
  EXPECT_EQ(joined(joint, nullptr), joint);
}

TEST(Clock, AFenceCoversWhatHasBeenSeenInItsSpace) {
  const Actor a{0, 4};
  const ClockRef before = clock_of(a, {.seen = 6, .fenced_shared = 2});
  const ClockRef shared = fenced(before, true, false);
  EXPECT_EQ(shared->at(a).fenced_shared, 6u);
  EXPECT_EQ(shared->at(a).fenced_global, 0u);
  EXPECT_EQ(fenced(shared, true, false), shared);  // nothing new: the same clock
  EXPECT_EQ(before->at(a).fenced_shared, 2u);
}

TEST(Clock, ABuilderGathersViews) {
  View x{.base = clock_of({0, 9}, {.seen = 3}), .self = {0, 1}, .own = {.seen = 4}};
  View y{.base = x.base, .self = {0, 2}, .own = {.seen = 8}};
  ClockBuilder builder;
  builder.join(x);
  builder.join(y);
  const ClockRef clock = builder.freeze();
  EXPECT_EQ(clock->at({0, 1}).seen, 4u);
  EXPECT_EQ(clock->at({0, 2}).seen, 8u);
  EXPECT_EQ(clock->at({0, 9}).seen, 3u);
  EXPECT_EQ(builder.freeze(), nullptr);  // it starts anew
}

TEST(Clock, ThreadsThatAcquireTheSameWithTheSameKnowledgeShareTheResult) {
  const ClockRef base = clock_of({0, 0}, {.seen = 1});
  View x{.base = base, .self = {0, 1}}, y{.base = base, .self = {0, 2}};
  Published published(clock_of({1, 0}, {.seen = 7}));
  published.acquire(x);
  published.acquire(y);
  EXPECT_EQ(x.base, y.base);
  EXPECT_EQ(x.at({1, 0}).seen, 7u);
  EXPECT_EQ(x.at({0, 0}).seen, 1u);
}

TEST(Clock, AThreadKnowsItself) {
  const View view{.base = clock_of({0, 1}, {.seen = 2}), .self = {0, 1}, .own = {.seen = 5}};
  EXPECT_EQ(view.at({0, 1}).seen, 5u);
}

}  // namespace
}  // namespace gantry::sim

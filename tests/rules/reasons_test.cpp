// The kit itself, with a table of its own: sentences, lists, and what refuses.
#include <gtest/gtest.h>

#include <gantry/rules.hpp>

namespace gantry::test {
namespace {

enum class PumpRule : std::uint8_t { speed, color, noise, riddle };
enum class PumpWeight : std::uint8_t { broken, ugly };

constexpr bool refuses(PumpWeight weight) { return weight == PumpWeight::broken; }

constexpr RuleEntry<PumpWeight> entry_of(PumpRule rule) {
  switch (rule) {
    case PumpRule::speed:
      return {"speed", PumpWeight::broken, "the {part} makes {actual} turn{s} of {first} and {second}",
              "it makes 2 to 5", "the nearest value that works is {nearest}"};
    case PumpRule::color:
      return {"color", PumpWeight::ugly, "it is number {wanted}", "pumps are green", ""};
    case PumpRule::noise:
      return {"noise", PumpWeight::broken, "", "pumps are silent", "buy a new one"};
    case PumpRule::riddle:
      return {"riddle", PumpWeight::broken, "it has a {thing}", "a test finds this", ""};
  }
  return {};
}

struct PumpReason {
  PumpRule rule = PumpRule::speed;
  const char* part = "wheel";
  std::int64_t actual = 0, nearest = 0, first = 0, second = 0, wanted = 0;
};

constexpr bool append_word(Sentence& out, Placeholder word, const PumpReason& r) {
  if (!(word == "part")) return false;
  out.append(r.part);
  return true;
}

using PumpReasons = Reasons<PumpReason, 3>;

TEST(Describe, FillsInNumbersAndTheWordsOfTheLayer) {
  EXPECT_STREQ(describe(PumpReason{.actual = 7, .nearest = 5, .first = 8, .second = -9}).c_str(),
               "the wheel makes 7 turns of 8 and -9: it makes 2 to 5; the nearest value that works is 5");
  EXPECT_STREQ(describe(PumpReason{.part = "rotor", .actual = 1, .nearest = 2}).c_str(),
               "the rotor makes 1 turn of 0 and 0: it makes 2 to 5; the nearest value that works is 2");
}

TEST(Describe, LeavesOutColumnsThatAreEmpty) {
  EXPECT_STREQ(describe(PumpReason{.rule = PumpRule::color, .wanted = 3}).c_str(), "it is number 3: pumps are green");
  EXPECT_STREQ(describe(PumpReason{.rule = PumpRule::noise}).c_str(), "pumps are silent; buy a new one");
}

TEST(Describe, SaysOfANumberThatCouldNotBeCarriedThatItIsLarge) {
  EXPECT_STREQ(describe(PumpReason{.rule = PumpRule::color, .wanted = kNumberTooLarge}).c_str(),
               "it is number a number beyond 2^47: pumps are green");
}

TEST(Describe, KeepsAPlaceholderThatNobodyKnows) {
  EXPECT_STREQ(describe(PumpReason{.rule = PumpRule::riddle}).c_str(), "it has a {thing}: a test finds this");
}

TEST(Placeholder, IsComparedAsAWhole) {
  EXPECT_TRUE(Placeholder("nearest element} of") == "nearest element");
  EXPECT_FALSE(Placeholder("nearest element}") == "nearest");
  EXPECT_FALSE(Placeholder("near}") == "nearest");
  EXPECT_FALSE(Placeholder("nearest") == "nearest");  // it is not closed
}

TEST(Reasons, AreOkUnlessOneRefuses) {
  PumpReasons found;
  EXPECT_TRUE(found.ok() && found.empty());
  found.add({.rule = PumpRule::color});
  EXPECT_TRUE(found.ok());
  EXPECT_FALSE(found.empty());
  EXPECT_TRUE(found.has(PumpRule::color) && found.has(PumpWeight::ugly));
  EXPECT_FALSE(found.has(PumpRule::speed) || found.has(PumpWeight::broken));
  found.add({.rule = PumpRule::noise});
  EXPECT_FALSE(found.ok());
  EXPECT_EQ(found.size(), 2);
  EXPECT_EQ(found[1].rule, PumpRule::noise);
}

TEST(Reasons, BeyondTheCapacityAreCountedAndKeepAListFromBeingOk) {
  PumpReasons some, more;
  for (int i = 0; i < 5; ++i) some.add({.rule = PumpRule::color, .actual = i});
  EXPECT_EQ(some.size(), 3);
  EXPECT_EQ(some.left_out(), 2);
  EXPECT_EQ(some[2].actual, 2);
  EXPECT_FALSE(some.ok()) << "one of those that were left out may refuse";
  more.add({.rule = PumpRule::color});
  EXPECT_TRUE(describe_left_out(more).empty());
  more.add(some);
  EXPECT_EQ(more.left_out(), 3);
  EXPECT_STREQ(describe_left_out(more).c_str(),
               "there are 3 reasons more than the 3 that are kept: change what these name, and the others are shown");
  more.truncate(1);
  EXPECT_EQ(more.left_out(), 0);
  EXPECT_EQ(more.size(), 1);
}

}  // namespace
}  // namespace gantry::test

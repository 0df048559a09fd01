#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/rules/expected.hpp>

namespace gantry {
namespace {

// Counts how many of it are alive.
struct Counted {
  static inline int alive = 0;
  int number;

  explicit Counted(int n = 0) : number(n) { ++alive; }
  Counted(const Counted& other) : number(other.number) { ++alive; }
  Counted(Counted&& other) noexcept : number(std::exchange(other.number, -1)) { ++alive; }
  Counted& operator=(const Counted&) = default;
  Counted& operator=(Counted&&) = default;
  ~Counted() { --alive; }
};

using Text = std::string;

Expected<int, Text> half(int x) {
  if (x % 2 != 0) return unexpected(Text("the number is odd"));
  return x / 2;
}

TEST(Expected, IsAValueOrAnError) {
  const Expected<int, Text> three = half(6), none = half(7);
  ASSERT_TRUE(three.has_value());
  EXPECT_TRUE(three);
  EXPECT_EQ(*three, 3);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error(), "the number is odd");
  EXPECT_EQ(none.value_or(5), 5);
  EXPECT_EQ(three.value_or(5), 3);
}

TEST(Expected, ConvertsValuesAndErrors) {
  const auto text = [](bool good) -> Expected<Text, Text> {
    if (good) return "literal";
    return unexpected("a literal too");
  };
  EXPECT_EQ(*text(true), "literal");
  EXPECT_EQ(text(false).error(), "a literal too");
}

TEST(Expected, ReachesMembers) {
  Expected<std::vector<int>, Text> numbers(std::vector<int>{1, 2});
  numbers->push_back(3);
  const Expected<std::vector<int>, Text>& seen = numbers;
  EXPECT_EQ(seen->size(), 3u);
}

TEST(Expected, MovesWhatCannotBeCopied) {
  const auto make = [](bool good) -> Expected<std::unique_ptr<int>, Text> {
    if (!good) return unexpected(Text("none"));
    return std::make_unique<int>(7);
  };
  Expected<std::unique_ptr<int>, Text> made = make(true);
  const std::unique_ptr<int> taken = *std::move(made);
  ASSERT_NE(taken, nullptr);
  EXPECT_EQ(*taken, 7);
  made = make(false);
  EXPECT_EQ(made.error(), "none");
  made = make(true);
  ASSERT_TRUE(made);
  EXPECT_EQ(**made, 7);
}

// Every change between value and error ends the life of the one before.
TEST(Expected, EndsTheLifeOfWhatItReplaces) {
  using Either = Expected<Counted, std::pair<Counted, Text>>;
  {
    Either x{Counted(1)};
    EXPECT_EQ(Counted::alive, 1);
    x = Either(unexpected(std::make_pair(Counted(2), Text("why"))));
    EXPECT_EQ(Counted::alive, 1);
    EXPECT_EQ(x.error().first.number, 2);
    const Either copy = x;
    EXPECT_EQ(Counted::alive, 2);
    x = Counted(3);
    EXPECT_EQ(x->number, 3);
    x = copy;
    EXPECT_EQ(x.error().second, "why");
    Either& same = x;
    x = same;
    EXPECT_EQ(x.error().first.number, 2);
    EXPECT_EQ(Counted::alive, 2);
  }
  EXPECT_EQ(Counted::alive, 0);
}

}  // namespace
}  // namespace gantry

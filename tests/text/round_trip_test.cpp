// What is printed is read back as the same value, for random values of every kind.
#include <string>

#include <gtest/gtest.h>

#include <gantry/layout/format.hpp>
#include <gantry/layout/parse.hpp>

#include "random_values.hpp"

namespace gantry {
namespace {

constexpr int kCases = 20'000;

TEST(RoundTrip, GivesTheSameTuple) {
  test::RandomValues random(1);
  for (int i = 0; i < kCases; ++i) {
    const IntTuple t = random.tuple();
    ASSERT_TRUE(t.ok());
    const auto back = parse_int_tuple(to_text(t));
    ASSERT_TRUE(back.ok()) << t << ": " << back.error;
    ASSERT_EQ(back.value, t);
  }
}

TEST(RoundTrip, GivesTheSameLayout) {
  test::RandomValues random(2);
  int valid = 0;
  for (int i = 0; i < kCases; ++i) {
    const Layout l = random.layout();
    if (!l.ok()) continue;
    ++valid;
    const auto back = parse_layout(to_text(l));
    ASSERT_TRUE(back.ok()) << l << ": " << back.error;
    ASSERT_EQ(back.value, l);
  }
  EXPECT_GT(valid, kCases / 2);
}

TEST(RoundTrip, GivesTheSameComposedLayout) {
  test::RandomValues random(3);
  for (int i = 0; i < kCases; ++i) {
    const ComposedLayout l = random.composed_layout();
    if (!l.ok()) continue;
    const auto back = parse_composed_layout(to_text(l));
    ASSERT_TRUE(back.ok()) << l << ": " << back.error;
    ASSERT_EQ(back.value, l);
  }
}

TEST(RoundTrip, ThroughPythonsNotationLosesOnlyTheMarks) {
  test::RandomValues random(4);
  for (int i = 0; i < kCases; ++i) {
    const IntTuple t = random.tuple();
    const auto back = parse_int_tuple(to_text(t, kPythonText), {.all_fixed = true});
    ASSERT_TRUE(back.ok()) << t << ": " << back.error;
    ASSERT_EQ(back.value, as_fixed(t));
  }
}

TEST(RoundTrip, DoesNotMindSpaces) {
  test::RandomValues random(5);
  for (int i = 0; i < kCases / 10; ++i) {
    const ComposedLayout l = random.composed_layout();
    if (!l.ok()) continue;
    std::string spaced;
    for (const char c : to_text(l)) {
      if (c == '(' || c == ')' || c == ',' || c == ':' || c == '<' || c == '>' || c == '@') spaced += ' ';
      spaced += c;
      if (c == '(' || c == ')' || c == ',' || c == ':' || c == '<' || c == '>' || c == '@') spaced += '\t';
    }
    ASSERT_EQ(parse_composed_layout(spaced).value, l) << spaced;
  }
}

// After any deletion from a text or insertion into it, an error points into the text and names what it found.
TEST(RoundTrip, OfAChangedTextGivesAValueOrAPlaceInTheText) {
  test::RandomValues random(6);
  constexpr std::string_view kChars = "()(),,::__--@?o<>S/ 0123456789x";
  for (int i = 0; i < kCases; ++i) {
    std::string text = to_text(random.composed_layout()).c_str();
    const auto at = static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(text.size())));
    const char c = kChars[static_cast<std::size_t>(random.between(0, kChars.size() - 1))];
    if (random.one_in(2)) {
      text.insert(at, 1, c);
    } else {
      text.erase(at, 1);
    }
    const auto parsed = parse_composed_layout(text);
    if (parsed.ok()) {
      ASSERT_EQ(parse_composed_layout(to_text(parsed.value)).value, parsed.value) << text;
      continue;
    }
    const ParseError& e = parsed.error;
    ASSERT_LE(e.position, static_cast<int>(text.size())) << text;
    if (e.expected == nullptr) {
      ASSERT_NE(e.fault.rule, Rule::none) << text;
    } else if (e.position == static_cast<int>(text.size())) {
      ASSERT_EQ(e.found, ParseError::kEnd) << text;
    } else {
      ASSERT_EQ(e.found, text[static_cast<std::size_t>(e.position)]) << text;
    }
  }
}

}  // namespace
}  // namespace gantry

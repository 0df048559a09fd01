#include <string>

#include <gtest/gtest.h>

#include <gantry/layout/format.hpp>
#include <gantry/layout/parse.hpp>

namespace gantry {
namespace {

std::string layout_error(std::string_view text) { return describe(parse_layout(text).error).c_str(); }
std::string composed_error(std::string_view text) { return describe(parse_composed_layout(text).error).c_str(); }

TEST(ParseError, NamesWhatWasExpectedWhatWasFoundAndTheColumn) {
  EXPECT_EQ(layout_error(""), "expected an integer, '_', '?' or '(', found the end at column 1");
  EXPECT_EQ(layout_error("(4,8) )"), "expected ':' or the end, found ')' at column 7");
  EXPECT_EQ(layout_error("(4,8):(1,4)4"), "expected the end, found '4' at column 12");
  EXPECT_EQ(layout_error("(4 8)"), "expected ',' or ')', found '8' at column 4");
  EXPECT_EQ(layout_error("(4,"), "expected an integer, '_', '?' or '(', found the end at column 4");
  EXPECT_EQ(layout_error("(,)"), "expected an integer, '_', '?' or '(', found ',' at column 2");
  EXPECT_EQ(layout_error("4:1@"), "expected the index of a mode, found the end at column 5");
  EXPECT_EQ(layout_error("- 4"), "expected an integer, '_', '?' or '(', found '-' at column 1");
}

TEST(ParseError, NamesBytesThatDoNotPrintByTheirNumber) {
  EXPECT_EQ(layout_error(std::string_view("4\0", 2)), "expected ':' or the end, found the byte 0 at column 2");
  EXPECT_EQ(layout_error("4\xC3\xA9"), "expected ':' or the end, found the byte 195 at column 2");
}

TEST(ParseError, PointsAtTheIntegerThatDoesNotFit) {
  EXPECT_EQ(layout_error("(4,9223372036854775808)"),
            "a number does not fit in 64 bits: the largest is 9223372036854775807, at column 4");
  EXPECT_EQ(layout_error("4:-9223372036854775808"),
            "a number does not fit in 64 bits: the largest is 9223372036854775807, at column 3");
}

TEST(ParseError, PointsAtTheExtentThatIsNone) {
  EXPECT_EQ(layout_error("(4,(2,0)):(1,(4,8))"), "an extent is 0: extents must be at least 1, at column 7");
  EXPECT_EQ(layout_error("(4,_-2)"), "an extent is -2: extents must be at least 1, at column 4");
  EXPECT_EQ(parse_layout("(4,(_,2)):(1,(4,8))").error.position, 4);
  EXPECT_EQ(parse_layout("(4,(2,1@0)):(1,(4,8))").error.position, 6);
}

TEST(ParseError, PointsAtTheStrideThatDoesNotMatchItsShape) {
  const ParseError e = parse_layout("(4,2):(1,2,3)").error;
  EXPECT_EQ(e.fault.rule, Rule::not_congruent);
  EXPECT_EQ(e.position, 6);
  EXPECT_EQ(parse_layout("(4,2):(1,(2))").error.position, 6);
  EXPECT_EQ(parse_layout("(4,2):(1,_)").error.position, 9);
}

TEST(ParseError, PointsWhereTheCapacityEnds) {
  const std::string deep(100'000, '(');
  const ParseError e = parse_layout(deep).error;
  EXPECT_EQ(e.fault.rule, Rule::capacity);
  EXPECT_EQ(e.position, IntTuple::kCapacity);
}

TEST(ParseError, KnowsTheLimitsOfABasisElement) {
  EXPECT_EQ(layout_error("4:1@32"), "a basis element names mode 32: mode indices go from 0 to 31, at column 5");
  EXPECT_EQ(layout_error("4:1@-1"), "a basis element names mode -1: mode indices go from 0 to 31, at column 5");
  EXPECT_EQ(layout_error("4:1@1@1@1@1@1@1"),
            "a basis element names 6 nested modes, and at most 5 are possible: modes are nested a fixed number of "
            "levels deep, at column 14");
}

TEST(ParseError, RefusesADenominatorThatIsNone) {
  EXPECT_EQ(parse_layout("4:_1/_0@0").error.fault.rule, Rule::denominator_range);
  EXPECT_EQ(layout_error("4:_1/_-2@0"), "a denominator is -2: denominators go from 1 to 65535, at column 7");
  EXPECT_EQ(layout_error("4:_1/_65536@0"), "a denominator is 65536: denominators go from 1 to 65535, at column 7");
  EXPECT_EQ(layout_error("4:_1/half"), "expected the denominator of a rational coefficient, found 'half' at column 6");
  EXPECT_EQ(layout_error("4:_1/x"), "expected the denominator of a rational coefficient, found 'x' at column 6");
}

TEST(ParseError, TakesRationalsOnlyAsCoefficients) {
  EXPECT_EQ(layout_error("(4,2):(1,_1/_2)"),
            "expected an integer, or a rational with its mode such as '_1/_2@0', found '_' at column 10");
  EXPECT_EQ(parse_layout("(4,_1/_2):(1,2)").error.position, 3);
  EXPECT_EQ(parse_layout("(4,_1/_2)").error.position, 3);
  EXPECT_TRUE(parse_layout("(4,2):(_1@1,_1/_2@0)").ok());
}

TEST(ParseError, KnowsTheSizeOfALayout) {
  EXPECT_EQ(parse_layout("(4,2):(9223372036854775807,1)").error.fault.rule, Rule::layout_overflow);
  EXPECT_NE(layout_error("(9223372036854775807,2):(1,0)").find("the size or the span of a layout does not fit in 64"),
            std::string::npos);
}

TEST(ParseError, TellsWhatASwizzleNeeds) {
  EXPECT_EQ(composed_error("Sw<3,4> o 4"), "expected ',', found '>' at column 7");
  EXPECT_EQ(composed_error("Sw<3,4,3>"), "expected 'o', found the end at column 10");
  EXPECT_EQ(composed_error("Sw<3,4,3> o smem_ptr[b]"),
            "expected the width of an element, from 1 to 1024 bits, found 'b' at column 22");
  EXPECT_EQ(composed_error("Sw<3,99,3> o 4"), "expected the base of a swizzle, from 0 to 62, found '99' at column 6");
  EXPECT_EQ(composed_error("Sw<3,4,1> o 4"),
            "a swizzle of 3 bits has shift 1, which overlaps its own bits: the magnitude of a shift must be at least "
            "the number of bits, at column 1");
  EXPECT_EQ(composed_error("Sw<3,4,3> o (4,4) o 8"),
            "an integer was expected where a tuple or '_' stands, at column 13");
}

TEST(Explain, PutsACaretUnderTheCharacter) {
  const char* text = "(4,8):(1 4)";
  EXPECT_EQ(explain(text, parse_layout(text).error),
            "(4,8):(1 4)\n"
            "         ^\n"
            "expected ',' or ')', found '4' at column 10");
}

TEST(Explain, PutsTheCaretBehindATextThatEndsTooEarly) {
  EXPECT_EQ(explain("(4", parse_layout("(4").error),
            "(4\n"
            "  ^\n"
            "expected ',' or ')', found the end at column 3");
}

TEST(Explain, ShowsALongTextAroundTheCharacter) {
  std::string text(60, ' ');
  text += "(4!";
  text.append(60, ' ');
  EXPECT_EQ(std::string(explain(text, parse_layout(text).error).c_str()),
            "..." + std::string(46, ' ') + "(4!" + std::string(47, ' ') + "...\n" +  //
                std::string(51, ' ') + "^\n" +                                       //
                "expected ',' or ')', found '!' at column 63");
}

TEST(Explain, KeepsTheCaretInItsColumnBehindBytesThatDoNotPrint) {
  const char* text = "(\t\x01\xC3";
  EXPECT_EQ(explain(text, parse_layout(text).error),
            "( ??\n"
            "  ^\n"
            "expected an integer, '_', '?' or '(', found the byte 1 at column 3");
}

}  // namespace
}  // namespace gantry

#include <string>

#include <gtest/gtest.h>

#include <gantry/layout/format.hpp>
#include <gantry/layout/tiler_text.hpp>

#include "random_values.hpp"

namespace gantry {
namespace {

bool same(const Tiler& a, const Tiler& b) {
  return a.shape() == b.shape() && a.stride() == b.stride() && a.layouts() == b.layouts();
}
std::string error_of(std::string_view text) { return describe(parse_tiler(text).error).c_str(); }

static_assert(tiler("8:2").is_layout());

TEST(ParseTiler, TellsALayoutFromATupleOfExtents) {
  EXPECT_TRUE(same(tiler("(2,4):(1,2)"), Tiler(layout("(2,4):(1,2)"))));
  EXPECT_TRUE(same(tiler("(2,4)"), make_tile(2, 4)));
  EXPECT_TRUE(same(tiler("8"), Tiler(8)));
  EXPECT_TRUE(same(tiler("_"), Tiler(_)));
}

TEST(ParseTiler, ReadsTuplesOfAnything) {
  EXPECT_TRUE(same(tiler("(2,_,4:1)"), make_tile(2, _, layout("4:1"))));
  EXPECT_TRUE(same(tiler("(4:1,)"), make_tile(layout("4:1"))));
  EXPECT_TRUE(same(tiler("((4,2):(1,8),(3:2,_))"), make_tile(layout("(4,2):(1,8)"), make_tile(layout("3:2"), _))));
}

TEST(ParseTiler, PointsAtWhatIsWrong) {
  EXPECT_EQ(error_of("(2,4:1"), "expected ',' or ')', found the end at column 7");
  EXPECT_EQ(error_of("(2,4"), "expected ':', ',' or ')', found the end at column 5");
  EXPECT_EQ(error_of("(4:1,,)"), "expected an integer, '_', '?' or '(', found ',' at column 6");
  EXPECT_EQ(error_of("(2,4:1):2"), "expected the end, found ':' at column 8");
  EXPECT_EQ(error_of("(2:1,0:3)"), "an extent is 0: extents must be at least 1, at column 6");
  EXPECT_EQ(parse_tiler("(2:1,4:(1))").error.position, 7);
  EXPECT_EQ(parse_tiler(std::string(100'000, '(')).error.fault.rule, Rule::capacity);
  EXPECT_EQ(tiler(std::string("(2,4:1")).fault().rule, Rule::parse);
}

TEST(ParseTiler, ReadsBackWhatIsPrinted) {
  test::RandomValues random(7);
  for (int i = 0; i < 5'000; ++i) {
    Tiler want = Tiler::tuple();
    for (auto modes = random.between(0, 4); modes > 0; --modes) {
      const Layout l(random.extent(), random.stride());
      if (!l.ok()) continue;
      want.push_back(random.one_in(3) ? Tiler(random.extent()) : random.one_in(3) ? make_tile(l, _) : Tiler(l));
    }
    ASSERT_TRUE(want.ok());
    const auto back = parse_tiler(to_text(want));
    ASSERT_TRUE(back.ok()) << to_text(want) << ": " << back.error;
    ASSERT_TRUE(same(back.value, want)) << to_text(want);
  }
}

}  // namespace
}  // namespace gantry

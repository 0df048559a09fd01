#include <sstream>

#include <gtest/gtest.h>

#include <gantry/layout/format.hpp>

namespace gantry {
namespace {

TEST(Format, WritesToStreams) {
  std::ostringstream out;
  out << make_layout(make_shape(_4, 8)) << ' ' << make_coord(_, 2) << ' ' << _8 << ' ' << Swizzle(3, 4, 3) << ' '
      << composition(Swizzle(3, 4, 3), make_layout(_8));
  EXPECT_EQ(out.str(), "(_4,8):(_1,_4) (_,2) _8 Sw<3,4,3> Sw<3,4,3> o _0 o _8:_1");
}

TEST(Format, WritesThroughFmtAsCuTeDoesAndAsPythonDoes) {
  const Layout l = make_layout(make_shape(_4));
  EXPECT_EQ(fmt::format("{} {:p} {} {}", l, l, make_coord(1, _), Swizzle(3, 4, 3)),
            "(_4):(_1) (4,):(1,) (1,_) Sw<3,4,3>");
  EXPECT_EQ(fmt::format("{:>4}", Text<8>("ab")), "  ab");
}

}  // namespace
}  // namespace gantry

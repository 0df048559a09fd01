#include <string>

#include <gtest/gtest.h>

#include <gantry/layout/format.hpp>
#include <gantry/layout/parse.hpp>

namespace gantry {
namespace {

TEST(Table, HasARowForEachElementOfModeZero) {
  EXPECT_EQ(as_table(layout("(3,4):(4,1)")),
            "        0   1   2   3\n"
            "    +----------------\n"
            "  0 |   0   1   2   3\n"
            "  1 |   4   5   6   7\n"
            "  2 |   8   9  10  11\n");
}

TEST(Table, OfRankOneIsOneRow) {
  EXPECT_EQ(as_table(layout("3:5")),
            "        0   1   2\n"
            "    +------------\n"
            "  0 |   0   5  10\n");
}

TEST(Table, PutsFurtherModesSideBySide) {
  EXPECT_EQ(as_table(layout("(2,2,2):(1,2,4)")),
            "       0  1    2  3\n"
            "    +-------+------\n"
            "  0 |  0  2 |  4  6\n"
            "  1 |  1  3 |  5  7\n");
}

TEST(Table, DrawsLinesBetweenTheBlocksOfNestedModes) {
  EXPECT_EQ(as_table(layout("((2,2),(2,2)):((1,8),(2,4))")),
            "        0   1     2   3\n"
            "    +---------+--------\n"
            "  0 |   0   2 |   4   6\n"
            "  1 |   1   3 |   5   7\n"
            "    +---------+--------\n"
            "  2 |   8  10 |  12  14\n"
            "  3 |   9  11 |  13  15\n");
}

TEST(Table, ShowsSwizzledOffsets) {
  EXPECT_EQ(as_table(composed_layout("Sw<1,0,1> o (2,2):(2,1)")),
            "       0  1\n"
            "    +------\n"
            "  0 |  0  1\n"
            "  1 |  3  2\n");
}

TEST(Table, ShowsCoordinates) {
  EXPECT_EQ(as_table(make_identity_layout(make_shape(2, 2))),
            "           0      1\n"
            "    +--------------\n"
            "  0 |  (0,0)  (0,1)\n"
            "  1 |  (1,0)  (1,1)\n");
}

TEST(Table, ShowsEveryOffsetWhereItBelongs) {
  const Layout l = layout("((2,3),(4,2)):((40,1),(3,16))");
  const std::string table = as_table(l);
  for (int j = 0; j < 8; ++j) {
    for (int i = 0; i < 6; ++i) {
      const std::string row = table.substr(table.find("\n  " + std::to_string(i) + " |"));
      const std::size_t column = 6 + static_cast<std::size_t>(j) * 4 + (j >= 4 ? 2 : 0);
      EXPECT_EQ(std::stoll(row.substr(1 + column, 4)), l(i, j)) << i << ',' << j;
    }
  }
}

TEST(Table, SaysHowMuchItLeavesOut) {
  EXPECT_EQ(as_table(layout("(3,400)"), {.max_rows = 2, .max_columns = 3}),
            "       0  1  2\n"
            "    +---------\n"
            "  0 |  0  3  6\n"
            "  1 |  1  4  7\n"
            "(2 of 3 rows and 3 of 400 columns are shown)\n");
}

TEST(Table, SaysWhyThereIsNone) {
  StringSink out;
  EXPECT_EQ(print_table(out, layout("(?,4):(1,2)")).rule, Rule::value_unknown);
  EXPECT_EQ(out.str(), "<a run-time value is needed that is not known at compile time: bind it first>\n");
  EXPECT_EQ(as_table(make_layout(make_shape(0))), "<an extent is 0: extents must be at least 1>\n");
}

TEST(Table, ShowsUnknownStridesAsQuestions) {
  EXPECT_EQ(as_table(layout("2:?")),
            "       0  1\n"
            "    +------\n"
            "  0 |  ?  ?\n");
}

}  // namespace
}  // namespace gantry

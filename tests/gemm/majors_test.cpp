// GEMMs with operands of either major, and of tiles of many sizes, on the simulated SM. types_sweep.cpp has more.
#include "kinds.hpp"
#include "typed_product.hpp"

namespace gantry_test {
namespace {

using E = ElementType;

TEST(Majors, MayBeMForA) { expect_exact_for_all_residues<in_cluster(of_majors(E::f16, Major::MN, Major::K), 1, 2)>(); }
TEST(Majors, MayBeNForB) { expect_exact_for_all_residues<in_cluster(of_majors(E::bf16, Major::K, Major::MN), 2, 1)>(); }
TEST(Majors, MayBeMAndN) {
  expect_exact_for_all_residues<in_cluster(in_turn(of_majors(E::bf16, Major::MN, Major::MN), 64), 2, 1)>();
}

// Rows of less than 128 bytes along N are swizzled by their own length, or not at all.
TEST(Tiles, OfNarrowColumnsHaveNarrowSwizzles) {
  expect_exact_for_all_residues<with_tile(of_majors(E::bf16, Major::K, Major::MN), 128, 96)>();
  expect_exact_for_all_residues<with_tile(in_turn(of_majors(E::f16, Major::MN, Major::MN), 64), 64, 8)>();
}
TEST(Tiles, MayHaveAnyMultipleOf8Columns) {
  expect_exact_for_all_residues<with_tile(in_turn(Kind{.a = E::s8, .b = E::s8}, 64), 64, 40)>();  // 5 products of 8
  expect_exact_for_all_residues<in_cluster(with_tile(in_turn(Kind{}, 64), 64, 8), 2, 1)>();  // 4 rows of B from each
}
TEST(Tiles, MayHave128RowsForEachOfTwoWarpgroups) {
  expect_exact_for_all_residues<with_tile(of_majors(E::bf16, Major::MN, Major::K), 256, 64)>();
}

}  // namespace
}  // namespace gantry_test

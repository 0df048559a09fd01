// GEMMs of more pairs of 8-bit types than in types_test.cpp, and of more majors than in majors_test.cpp.
#include "kinds.hpp"
#include "typed_product.hpp"

namespace gantry_test {
namespace {

using E = ElementType;

TEST(AccumulatorsOfTypes, AreExactForE5m2TimesE4m3) {
  expect_exact_for_all_residues<Kind{.a = E::e5m2, .b = E::e4m3, .kernel = Kernel::pingpong, .cluster_m = 2}>();
}
TEST(AccumulatorsOfTypes, AreExactForS8) {
  expect_exact_for_all_residues<Kind{
      .a = E::s8, .b = E::s8, .kernel = Kernel::pingpong, .cluster_m = 2, .cluster_n = 2}>();
}
TEST(AccumulatorsOfTypes, AreExactForU8) {
  expect_exact_for_all_residues<Kind{.a = E::u8, .b = E::u8, .cluster_m = 2}>();
}

TEST(Majors, MayBeMForAWhereWarpgroupsAlternate) {
  expect_exact_for_all_residues<in_turn(of_majors(E::bf16, Major::MN, Major::K), 128)>();
}
TEST(Majors, MayBeNForBWhereWarpgroupsAlternate) {
  expect_exact_for_all_residues<in_turn(of_majors(E::f16, Major::K, Major::MN), 64)>();
}
TEST(Majors, MayBeMAndNInSquareClusters) {
  expect_exact_for_all_residues<in_cluster(of_majors(E::f16, Major::MN, Major::MN), 2, 2)>();
}
TEST(Tiles, OfNarrowColumnsHaveNarrowSwizzles) {
  expect_exact_for_all_residues<with_tile(of_majors(E::bf16, Major::MN, Major::MN), 128, 48)>();
}

}  // namespace
}  // namespace gantry_test

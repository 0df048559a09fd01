// Products of every element type on the simulated machine: exact where sums are, and without findings; what the tensor
// core does to sums of 8-bit floats, and what promotion does about it; NaN, infinities, zeros and subnormals.
#include "typed_product.hpp"

namespace gantry_test {
namespace {

using E = ElementType;

// ---- Every type, over kernels and clusters

TEST(SumsOfTypes, AreExactForF16) { expect_exact_for_all_residues<Kind{.a = E::f16, .b = E::f16, .cluster_m = 2}>(); }
TEST(SumsOfTypes, AreExactForTf32) {
  expect_exact_for_all_residues<Kind{.a = E::tf32, .b = E::tf32, .kernel = Kernel::pingpong, .cluster_n = 2}>();
}
TEST(SumsOfTypes, AreExactForE4m3) {
  expect_exact_for_all_residues<Kind{.a = E::e4m3, .b = E::e4m3, .cluster_m = 2, .cluster_n = 2}>();
}
TEST(SumsOfTypes, AreExactForE5m2) {
  expect_exact_for_all_residues<Kind{.a = E::e5m2, .b = E::e5m2, .kernel = Kernel::pingpong, .tile_m = 64}>();
}
TEST(SumsOfTypes, AreExactForE4m3TimesE5m2) {
  expect_exact_for_all_residues<Kind{.a = E::e4m3, .b = E::e5m2, .cluster_n = 2}>();
}
TEST(SumsOfTypes, AreExactForE5m2TimesE4m3) {
  expect_exact_for_all_residues<Kind{.a = E::e5m2, .b = E::e4m3, .kernel = Kernel::pingpong, .cluster_m = 2}>();
}
TEST(SumsOfTypes, AreExactForS8) {
  expect_exact_for_all_residues<Kind{
      .a = E::s8, .b = E::s8, .kernel = Kernel::pingpong, .cluster_m = 2, .cluster_n = 2}>();
}
TEST(SumsOfTypes, AreExactForU8) { expect_exact_for_all_residues<Kind{.a = E::u8, .b = E::u8, .cluster_m = 2}>(); }
TEST(SumsOfTypes, AreExactForS8TimesU8) { expect_exact_for_all_residues<Kind{.a = E::s8, .b = E::u8}>(); }
TEST(SumsOfTypes, AreExactForU8TimesS8) {
  expect_exact_for_all_residues<Kind{.a = E::u8, .b = E::s8, .kernel = Kernel::pingpong}>();
}

TEST(SumsOfTypes, UseTheWholeRangeOfIntegers) {
  TypedProduct<Kind{.a = E::s8, .b = E::u8}> product({.m = 2, .n = 3, .k = 300});
  for (int k = 0; k < 300; ++k) {
    product.a.set(0, k, 0, -128);
    product.a.set(1, k, 0, k % 2 == 0 ? 127 : -128);
    for (int j = 0; j < 3; ++j) product.b.set(j, k, 0, j == 0 ? 255 : k % 256);
  }
  product.expect_exact();
  EXPECT_EQ(product.result(0, 0), -128 * 255 * 300);
}

}  // namespace
}  // namespace gantry_test

// GEMMs of every element type on the simulated SM: exact where accumulation is, and without findings; what the tensor
// core does to sums of 8-bit floats, and what promotion does about it; NaN, infinities, zeros and subnormals.
// types_sweep.cpp has the other pairs of 8-bit types.
#include "typed_product.hpp"

namespace gantry_test {
namespace {

using E = ElementType;

// ---- Every type, over kernels and clusters

TEST(AccumulatorsOfTypes, AreExactForF16) {
  expect_exact_for_all_residues<Kind{.a = E::f16, .b = E::f16, .cluster_m = 2}>();
}
TEST(AccumulatorsOfTypes, AreExactForTf32) {
  expect_exact_for_all_residues<Kind{.a = E::tf32, .b = E::tf32, .kernel = Kernel::pingpong, .cluster_n = 2}>();
}
TEST(AccumulatorsOfTypes, AreExactForE4m3) {
  expect_exact_for_all_residues<Kind{.a = E::e4m3, .b = E::e4m3, .cluster_m = 2, .cluster_n = 2}>();
}
TEST(AccumulatorsOfTypes, AreExactForE5m2) {
  expect_exact_for_all_residues<Kind{.a = E::e5m2, .b = E::e5m2, .kernel = Kernel::pingpong, .tile_m = 64}>();
}
TEST(AccumulatorsOfTypes, AreExactForE4m3TimesE5m2) {
  expect_exact_for_all_residues<Kind{.a = E::e4m3, .b = E::e5m2, .cluster_n = 2}>();
}
TEST(AccumulatorsOfTypes, AreExactForS8TimesU8) {
  expect_exact_for_all_residues<Kind{.a = E::s8, .b = E::u8, .kernel = Kernel::pingpong, .in_turn = 3}>();
}
TEST(AccumulatorsOfTypes, AreExactForU8TimesS8) {
  expect_exact_for_all_residues<Kind{.a = E::u8, .b = E::s8, .kernel = Kernel::pingpong}>();
}

TEST(AccumulatorsOfTypes, UseTheWholeRangeOfIntegers) {
  TypedProduct<Kind{.a = E::s8, .b = E::u8, .kernel = Kernel::pingpong, .in_turn = 3}> product(
      {.m = 2, .n = 3, .k = 300});
  for (int k = 0; k < 300; ++k) {
    product.a.set(0, k, 0, -128);
    product.a.set(1, k, 0, k % 2 == 0 ? 127 : -128);
    for (int j = 0; j < 3; ++j) product.b.set(j, k, 0, j == 0 ? 255 : k % 256);
  }
  product.expect_exact();
  EXPECT_EQ(product.result(0, 0), -128 * 255 * 300);
}

// ---- 8-bit floats

// The tensor core aligns products and sum to the largest and keeps 13 bits below it (docs/measurements/hardware.md):
// beside 2^16, ones are lost. Promoted, only those of the same 128 of K are.
template <Kind kind>
float sum_of_large_and_ones() {
  TypedProduct<kind> product({.m = 1, .n = 1, .k = 384});
  product.each([](auto& x, int row, int k, int batch) { x.set(row, k, batch, k == 0 ? 256 : 1); });
  const LaunchResult ran = product.run(3);
  EXPECT_TRUE(ran) << describe(ran);
  EXPECT_EQ(product.expected(0, 0), 65536 + 383);
  return product.result(0, 0);
}

TEST(AccumulatorsOfFp8, LoseSmallTermsBesideLargeOnes) {
  EXPECT_EQ((sum_of_large_and_ones<Kind{.a = E::e4m3, .b = E::e5m2, .cluster_n = 2}>()), 65536);
}
TEST(AccumulatorsOfFp8, LoseThemOnlyWithinAKTileWhenPromoted) {
  EXPECT_EQ((sum_of_large_and_ones<Kind{.a = E::e4m3, .b = E::e5m2, .promote = true, .cluster_m = 2}>()), 65536 + 256);
  EXPECT_EQ((sum_of_large_and_ones<Kind{.a = E::e4m3, .b = E::e5m2, .promote = true, .kernel = Kernel::pingpong}>()),
            65536 + 256);
}
TEST(AccumulatorsOfFp8, AreExactWhenPromoted) {
  expect_exact_for_all_residues<Kind{.a = E::e4m3, .b = E::e5m2, .promote = true, .cluster_m = 2}>();
  expect_exact_for_all_residues<Kind{.a = E::e4m3, .b = E::e5m2, .promote = true, .kernel = Kernel::pingpong}>();
}

// ---- Special values

template <Kind kind>
void expect_special_values() {
  constexpr int k = 3 * GemmShape<DesignOf<kind>>::kTileK - 2;
  TypedProduct<kind> product({.m = 16, .n = 4, .k = k});
  fill_with_special_values(product, k);
  product.expect_exact();
  EXPECT_TRUE(std::isnan(product.result(0, 0)) && std::isnan(product.result(0, 3)) && std::isnan(product.result(7, 2)));
}

TEST(SpecialValues, PassThroughF16) { expect_special_values<Kind{.a = E::f16, .b = E::f16, .cluster_m = 2}>(); }
TEST(SpecialValues, PassThroughTf32) {
  expect_special_values<Kind{.a = E::tf32, .b = E::tf32, .kernel = Kernel::pingpong, .cluster_n = 2}>();
}
TEST(SpecialValues, PassThroughE4m3) {
  expect_special_values<Kind{.a = E::e4m3, .b = E::e4m3, .cluster_m = 2, .cluster_n = 2}>();
}
TEST(SpecialValues, PassThroughE5m2) {
  expect_special_values<Kind{.a = E::e5m2, .b = E::e5m2, .kernel = Kernel::pingpong, .tile_m = 64}>();
}

// f32 in memory; TMA rounds to nearest, ties to even, on the way to shared memory.
TEST(Tf32, IsRoundedToNearestWhenItIsLoaded) {
  TypedProduct<Kind{.a = E::tf32, .b = E::tf32, .kernel = Kernel::pingpong, .cluster_n = 2}> product(
      {.m = 4, .n = 1, .k = 4});
  product.each([](auto& x, int row, int k, int batch) { x.set(row, k, batch, k == 0 ? 1 : 0); });
  constexpr float kUnit = 0x1p-10f;
  const float given[] = {1 + kUnit / 2, 1 + 1.5f * kUnit, 1 + 0.75f * kUnit, 1 + 0.25f * kUnit};
  const float rounded[] = {1, 1 + 2 * kUnit, 1 + kUnit, 1};
  for (int i = 0; i < 4; ++i) product.a.raw(i, 0) = bit_cast<tf32>(given[i]);
  const LaunchResult ran = product.run(0);
  ASSERT_TRUE(ran) << describe(ran);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(product.result(i, 0), rounded[i]) << i;
}

// ---- No K

TEST(AccumulatorsOverNothing, AreZero) {
  TypedProduct<Kind{.a = E::f16, .b = E::f16, .cluster_m = 2}>({.m = 300, .n = 70, .k = 0, .batch = 2}).expect_exact();
  TypedProduct<Kind{.a = E::u8, .b = E::s8, .kernel = Kernel::pingpong}>({.m = 300, .n = 70, .k = 0}).expect_exact();
  TypedProduct<Kind{.a = E::e4m3, .b = E::e5m2, .promote = true, .kernel = Kernel::pingpong}>(
      {.m = 300, .n = 70, .k = 0})
      .expect_exact();
}

}  // namespace
}  // namespace gantry_test

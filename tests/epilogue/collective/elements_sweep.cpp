// What C and D hold and how they lie, in more combinations than elements_test.cpp.
#include "element_configs.hpp"

namespace gantry::test {
namespace {

TEST(EpilogueElements, EightBits) {
  expect_agreement_of<Operands{E::e4m3, E::e4m3}>(0);
  expect_agreement_of<Operands{E::u8, E::e5m2, false, true}>(2);
}
TEST(EpilogueElements, SixteenBits) { expect_agreement_of<Operands{E::f16, E::bf16, true, false, Choice::yes}>(4); }
TEST(EpilogueElements, ThirtyTwoBits) {
  expect_agreement_of<Operands{E::f32, E::f32}>(6);
  expect_agreement_of<Operands{E::s32, E::f32, true, false}>(8);
}
TEST(EpilogueElements, CAndDOfDifferentWidths) {
  expect_agreement_of<Operands{E::bf16, E::e4m3, false, true}>(9);
  expect_agreement_of<Operands{E::f32, E::bf16, false, true}>(10);
}
TEST(EpilogueElements, ColumnsOfCThatEndInsideSixteenBytes) {
  expect_agreement<Elements<Operands{E::f16, E::bf16, false, true}>>({.shape = {.m = 131, .n = 80}, .seed = 11});
}
TEST(EpilogueElements, NoC) { expect_agreement_of<Operands{E::void_, E::f32, true, false}>(13); }

}  // namespace
}  // namespace gantry::test

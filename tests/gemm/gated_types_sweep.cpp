// Gated GEMMs of more element types than in gated_types_test.cpp, and in one more cluster.
#include <gtest/gtest.h>

#include "gated_sizes.hpp"

namespace gantry_test {
namespace {

using Of = ElementType;
TEST(GatedGemm, IsRightForF16) { expect_random_gated_right<GatedOfTypes<Of::f16, Of::f16, Of::f16>>(); }
TEST(GatedGemm, IsRightForTf32) { expect_random_gated_right<GatedOfTypes<Of::tf32, Of::tf32, Of::f32>>(); }
TEST(GatedGemm, IsRightForIntegers) { expect_random_gated_right<GatedOfTypes<Of::s8, Of::s8, Of::bf16>>(); }

TEST(GatedGemm, IsRightWithEveryKindOfOperandWhereTwoCtasShareB) {
  expect_random_gated_right<GatedEverything<GemmSchedule::cooperative, GemmGate::interleaved, 2, 1>>();
}

}  // namespace
}  // namespace gantry_test

// GEMMs whose sizes, strides and addresses TMA cannot take, in clusters and of more element types than in
// any_size_test.cpp.
#include <gtest/gtest.h>

#include "odd_sizes.hpp"

namespace gantry {
namespace {

struct PlainTogether {
  static constexpr GemmOptions options{
      .d = ElementType::f32, .align_d = 1, .tile = {.m = 128, .n = 64}, .cluster = {2, 1}};
};
struct Tensor32 {
  static constexpr GemmOptions options{.a = ElementType::tf32,
                                       .b = ElementType::tf32,
                                       .d = ElementType::f32,
                                       .align_d = 1,
                                       .tile = {.m = 64, .n = 48},
                                       .cluster = {1, 1}};
};
struct Integers {
  static constexpr GemmOptions options{.a = ElementType::s8,
                                       .b = ElementType::u8,
                                       .d = ElementType::s32,
                                       .align_d = 1,
                                       .tile = {.m = 64, .n = 64},
                                       .cluster = {1, 1}};
};

TEST(GemmOfAnySize, IsRightForAPlainDInAClusterOfTwo) { expect_random_sizes_right<PlainTogether>(kNothing); }
TEST(GemmOfAnySize, IsRightForTf32) { expect_random_sizes_right<Tensor32>(kNothing); }
TEST(GemmOfAnySize, IsRightForIntegers) { expect_random_sizes_right<Integers>(kNothing); }

}  // namespace
}  // namespace gantry

// Random graphs with other buffers, in columns, without C and without D, walked in a loop, agree with the reference.
#include "loop_configs.hpp"

namespace gantry::test {
namespace {

using E = ElementType;

TEST(RandomGraphs, WhereDHasBuffersOfItsOwn) { expect_random_graphs_agree<LoopSpec{.c = E::bf16, .d = E::bf16}>(5000); }
TEST(RandomGraphs, InColumns) {
  expect_random_graphs_agree<LoopSpec{.c = E::f16, .d = E::f32, .c_rows = false, .d_rows = false}>(1000);
}
TEST(RandomGraphs, WithoutC) { expect_random_graphs_agree<LoopSpec{.d = E::e4m3, .delay = true}>(2000); }
TEST(RandomGraphs, WithoutD) { expect_random_graphs_agree<LoopSpec{.c = E::bf16, .c_rows = false}>(3000); }

}  // namespace
}  // namespace gantry::test

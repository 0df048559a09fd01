// Random graphs, walked in a loop, agree with the reference.
#include "loop_configs.hpp"

namespace gantry::test {
namespace {

using E = ElementType;

TEST(RandomGraphs, WhereDTakesThePlaceOfCAndStoresAreDelayed) {
  expect_random_graphs_agree<LoopSpec{.c = E::bf16, .d = E::bf16, .reuse = true, .delay = true}>(0);
}
TEST(RandomGraphs, InColumns) {
  expect_random_graphs_agree<LoopSpec{.c = E::f16, .d = E::f32, .c_rows = false, .d_rows = false}>(1000);
}

}  // namespace
}  // namespace gantry::test

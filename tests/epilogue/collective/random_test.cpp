// Random graphs, with and without D, walked in a loop, agree with the reference.
#include "loop_configs.hpp"

namespace gantry::test {
namespace {

using E = ElementType;

TEST(RandomGraphs, WhereDTakesThePlaceOfCAndStoresAreDelayed) {
  expect_random_graphs_agree<LoopSpec{.c = E::bf16, .d = E::bf16, .reuse = true, .delay = true}>(0);
}
TEST(RandomGraphs, WithoutD) { expect_random_graphs_agree<LoopSpec{.c = E::bf16, .c_rows = false}>(3000); }

}  // namespace
}  // namespace gantry::test

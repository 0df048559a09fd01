// Random graphs, walked in a loop, agree with the reference.
#include "compiled_graphs.hpp"

namespace gantry::test {

Report run_in_loop(Problem& problem, std::uint64_t seed) {
  return KernelRun<Loop<kCompiledSpec>>(problem, 2)({.seed = seed});
}

namespace {

TEST(RandomGraphs, WhereDTakesThePlaceOfCAndStoresAreDelayed) { expect_random_graphs_agree<kCompiledSpec>(0); }

}  // namespace
}  // namespace gantry::test

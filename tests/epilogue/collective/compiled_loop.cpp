#include "compiled_graphs.hpp"

namespace gantry::test {

Report run_in_loop(Problem& problem, std::uint64_t seed) {
  return KernelRun<Loop<kCompiledSpec>>(problem, 2)({.seed = seed});
}

}  // namespace gantry::test

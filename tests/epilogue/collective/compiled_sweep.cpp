#include "compiled_graphs.hpp"

namespace gantry::test {
namespace {

TEST(CompiledGraphs, 20To39AgreeWithTheLoopBitForBit) {
  expect_compiled_agree_with_loop<20>(std::make_integer_sequence<int, 20>{});
}

}  // namespace
}  // namespace gantry::test

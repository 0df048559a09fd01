#include "compiled_graphs.hpp"

namespace gantry::test {
namespace {

TEST(CompiledGraphs, 8To39AgreeWithTheLoopBitForBit) {
  expect_compiled_agree_with_loop<8>(std::make_integer_sequence<int, 32>{});
}

}  // namespace
}  // namespace gantry::test

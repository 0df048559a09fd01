#include "compiled_graphs.hpp"

namespace gantry::test {
namespace {

TEST(CompiledGraphs, 0To7AgreeWithTheLoopBitForBit) {
  expect_compiled_agree_with_loop<0>(std::make_integer_sequence<int, 8>{});
}

TEST(CompiledGraphs, AreWhatTheGeneratorMakes) {
  for (std::uint64_t k = 0; k < std::size(kGraphTexts); ++k) {
    EXPECT_STREQ(kGraphTexts[k], fusion::print(random_graph_for(kCompiledSpec, kFirstCompiledSeed + k)).c_str());
  }
}

}  // namespace
}  // namespace gantry::test

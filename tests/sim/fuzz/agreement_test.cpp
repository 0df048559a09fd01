// The checker against an oracle without clocks, over random programs: 600 of them, 10,000 with GANTRY_LONG_TESTS.
#include "agreement.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

namespace gantry::fuzz {
namespace {

TEST(CheckerFuzz, AgreesWithAnOracleThatBuildsTheTransitiveClosure) {
  const int programs = std::getenv("GANTRY_LONG_TESTS") != nullptr ? 10'000 : 600;
  const Agreement result = compare(1, programs);
  EXPECT_TRUE(result.disagreement.empty()) << result.disagreement;
  // What is left out matters in most programs: otherwise this test would say little.
  EXPECT_GE(result.racing * 4, result.with_omission * 3) << result.runs << " runs, " << result.derailed << " derailed";
  EXPECT_LE(result.derailed * 5, result.with_omission);
}

}  // namespace
}  // namespace gantry::fuzz

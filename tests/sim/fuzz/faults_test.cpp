// Faults seeded into the checker, one at a time: random programs find each of them.
#include <iterator>

#include <gtest/gtest.h>

#include "agreement.hpp"

namespace gantry::sim {

int seeded_fault = 0;  // 0: none; seed_faults.py numbers them

}  // namespace gantry::sim

namespace gantry::fuzz {
namespace {

constexpr const char* kFaults[] = {
#include "fault_names.inc"
};

class SeededFault : public testing::TestWithParam<int> {};

TEST_P(SeededFault, IsFound) {
  sim::seeded_fault = GetParam();
  const Agreement result = compare(1, 10'000);
  sim::seeded_fault = 0;
  EXPECT_FALSE(result.disagreement.empty()) << kFaults[GetParam() - 1] << ": not found in " << result.runs << " runs";
}
INSTANTIATE_TEST_SUITE_P(CheckerFuzz, SeededFault, testing::Range(1, static_cast<int>(std::size(kFaults)) + 1));

TEST(CheckerFuzz, AgreesWithoutAFaultInTheSameBuild) {
  EXPECT_GE(std::size(kFaults), 20u);
  const Agreement result = compare(1, 100);
  EXPECT_TRUE(result.disagreement.empty()) << result.disagreement;
}

}  // namespace
}  // namespace gantry::fuzz

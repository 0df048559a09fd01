// Clocks of the simulated SM go on and never back.
#include <vector>

#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

TEST(Clocks, EachReadIsLaterThanTheOneBefore) {
  std::vector<std::uint64_t> read;
  const Report report = simulate({.block = {1}}, [&](SharedMemory) {
    for (int i = 0; i < 4; ++i) {
      read.push_back(get_sreg_clock64());
      read.push_back(get_sreg_globaltimer());
      read.push_back(get_sreg_clock());
    }
  });
  EXPECT_TRUE(report.clean()) << report.text();
  for (std::size_t i = 1; i < read.size(); ++i) EXPECT_GT(read[i], read[i - 1]);
}

TEST(Clocks, ALoopThatWaitsForATimeEndsThoughNobodyElseRuns) {
  const Report report = simulate({.block = {32}}, [&](SharedMemory) {
    const std::uint64_t start = get_sreg_clock64();
    while (get_sreg_clock64() - start < 500) continue;
  });
  EXPECT_TRUE(report.clean()) << report.text();
}

TEST(Clocks, AWaitWithATimeLimitGivesUp) {
  bool gave_up = false;
  const Report report = simulate({.block = {1}, .shared_bytes = 8}, [&](SharedMemory shared) {
    auto& barrier = shared.as<std::uint64_t>();
    mbarrier_init(&barrier, 1);
    const std::uint64_t start = get_sreg_globaltimer();
    while (!gave_up && !mbarrier_try_wait_parity(&barrier, 0)) gave_up = get_sreg_globaltimer() - start > 1000;
  });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_TRUE(gave_up);
}

}  // namespace
}  // namespace gantry

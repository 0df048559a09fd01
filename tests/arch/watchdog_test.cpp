// What the watchdog reads out of the word of an mbarrier, wherever the word counts bytes and in either direction.
#include "gantry/arch/watchdog.hpp"

#include <gtest/gtest.h>

namespace gantry::arch::watchdog {
namespace {

constexpr std::uint64_t kMask = (1u << 21) - 1;

std::uint64_t word(std::int64_t bytes, int shift, bool negated) {
  const std::uint64_t rest = 0xA5C3'0F1E'9687'B4D2u & ~(kMask << shift);
  return rest | (static_cast<std::uint64_t>(negated ? -bytes : bytes) & kMask) << shift;
}

TEST(Watchdog, FindsTheBytesThatAPhaseStillWaitsFor) {
  for (const int shift : {0, 1, 21, 42}) {
    for (const bool negated : {false, true}) {
      for (const std::int32_t bytes : {0, 1, 4096, 1048574, -1, -16, -1048575}) {
        EXPECT_EQ(pending_bytes(word(bytes, shift, negated), word(bytes + 1, shift, negated)), bytes)
            << "field at bit " << shift << (negated ? ", counting down" : "");
      }
    }
  }
}

}  // namespace
}  // namespace gantry::arch::watchdog

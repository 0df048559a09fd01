// What the watchdog reads in a barrier's word: words that an H200 wrote, and the counts that had been given to it.
#include <gtest/gtest.h>

#include <gantry/arch/watchdog.hpp>

namespace gantry::arch::watchdog {
namespace {

struct Seen {
  const char* what;
  std::uint64_t word;
  std::uint32_t parity;
  std::int32_t arrivals, bytes;
};

// A barrier of 3 arrivals, step by step, each time invalidated and read.
constexpr Seen kSeen[] = {
    {"initialised", 0x7fffe800001ffffa, 0, 3, 0},      {"100 bytes expected", 0x7fffebfff39ffffa, 0, 3, 100},
    {"4096 more", 0x7fffebfdf39ffffa, 0, 3, 4196},     {"96 have come", 0x7fffebfdff9ffffa, 0, 3, 4100},
    {"an arrival", 0x7ffff3fdff9ffffa, 0, 2, 4100},    {"all bytes have come", 0x7ffff000001ffffa, 0, 2, 0},
    {"50 too many", 0x7ffff000065ffffa, 0, 2, -50},    {"the last arrival but one", 0x7ffff800001ffffa, 0, 1, 0},
    {"the next phase", 0xffffe800001ffffa, 1, 3, 0},   {"1000000 bytes expected", 0xffffea17b81ffffa, 1, 3, 1000000},
    {"an arrival", 0xfffff217b81ffffa, 1, 2, 1000000},
};

TEST(Watchdog, ReadsPhaseArrivalsAndBytesAsAnH200WroteThem) {
  for (const Seen& seen : kSeen) {
    const BarrierWord word(seen.word);
    EXPECT_EQ(word.parity(), seen.parity) << seen.what;
    EXPECT_EQ(word.arrivals(), seen.arrivals) << seen.what;
    EXPECT_EQ(word.bytes(), seen.bytes) << seen.what;
  }
}

}  // namespace
}  // namespace gantry::arch::watchdog

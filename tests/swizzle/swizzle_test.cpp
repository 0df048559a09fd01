// Swizzles against their definition, and against CuTe's on recorded cases.
#include <cstdint>
#include <fstream>
#include <random>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <gantry/layout/swizzle.hpp>

namespace {

using namespace gantry;

// Bit by bit, from the definition.
std::int64_t by_definition(int bits, int base, int shift, std::int64_t x) {
  std::int64_t out = x;
  for (int i = 0; i < bits; ++i) {
    const int from = base + i + (shift > 0 ? shift : 0);
    const int to = from - shift;
    out ^= ((x >> from) & 1) << to;
  }
  return out;
}

Swizzle random_swizzle(std::mt19937_64& random) {
  const int bits = static_cast<int>(random() % 5);
  const int base = static_cast<int>(random() % 7);
  const int reach = bits + static_cast<int>(random() % 4);
  return Swizzle(bits, base, random() % 2 == 0 ? reach : -reach);
}

TEST(Swizzle, AgreesWithRecordedCases) {
  std::ifstream file(std::string(GANTRY_SOURCE_DIR) + "/tests/data/layout_algebra.jsonl");
  int cases = 0;
  for (std::string line; std::getline(file, line);) {
    const auto c = nlohmann::json::parse(line);
    if (c["op"] != "swizzle") continue;
    const Swizzle sw(c["bits"].get<int>(), c["base"].get<int>(), c["shift"].get<int>());
    ASSERT_TRUE(sw.ok()) << line;
    for (std::size_t i = 0; i < c["in"].size(); ++i) {
      EXPECT_EQ(sw(c["in"][i].get<std::int64_t>()), c["out"][i].get<std::int64_t>()) << line;
    }
    ++cases;
  }
  EXPECT_GE(cases, 100);
}

TEST(Swizzle, IsItsDefinitionItsOwnInverseAndLinearOverXor) {
  std::mt19937_64 random(1);
  for (int n = 0; n < 20000; ++n) {
    const Swizzle sw = random_swizzle(random);
    ASSERT_TRUE(sw.ok());
    const auto x = static_cast<std::int64_t>(random() >> 34);
    const auto y = static_cast<std::int64_t>(random() >> 34);
    EXPECT_EQ(sw(x), by_definition(sw.bits(), sw.base(), sw.shift(), x));
    EXPECT_EQ(sw(sw(x)), x);
    EXPECT_EQ(sw(x ^ y), sw(x) ^ sw(y));
    EXPECT_EQ(sw(x + 3 * sw.period()), sw(x) + 3 * sw.period());
  }
}

TEST(Swizzle, SaysWhyItIsRefused) {
  EXPECT_EQ(Swizzle(-1, 4, 3).fault().rule, Rule::swizzle_bits);
  EXPECT_EQ(Swizzle(3, -2, 3).fault().rule, Rule::swizzle_base);
  EXPECT_EQ(Swizzle(40, 4, 40).fault().rule, Rule::swizzle_bits);
  EXPECT_EQ(Swizzle(1, 2147483647, 2147483647).fault().rule, Rule::swizzle_reach);
  const Swizzle overlapping(3, 4, -2);
  EXPECT_FALSE(overlapping.ok());
  EXPECT_EQ(overlapping.fault(), (Fault{Rule::swizzle_shift, -2, 3}));
  EXPECT_THROW(overlapping(5), LayoutError);
  EXPECT_EQ(upcast(overlapping, 2).fault().rule, Rule::swizzle_shift);
  EXPECT_EQ(composition(overlapping, Swizzle()).fault().rule, Rule::swizzle_shift);
}

TEST(Swizzle, OfALeafKeepsWhatIsKnown) {
  constexpr Swizzle sw(2, 0, 2);
  static_assert(sw(Int::fixed(4)).is_fixed(5));
  static_assert(sw(Int(4)) == Int(5));
  static_assert(sw(Int::unknown()).kind() == Int::Kind::unknown);
  static_assert(sw(Int::basis(1)).rule() == Rule::basis_in_offset);
  static_assert(sw(Int::all()).rule() == Rule::not_an_integer);
  static_assert(Swizzle()(Int::basis(1)) == Int::basis(1));
}

TEST(Swizzle, RecastMovesTheSameBytes) {
  std::mt19937_64 random(2);
  int expressible = 0;
  for (int n = 0; n < 5000; ++n) {
    const Swizzle bytes = random_swizzle(random);
    for (int width : {4, 8, 16, 32, 64, 128}) {
      const Swizzle sw = recast(bytes, 8, width);
      const bool whole = bytes.is_identity() || (8 << bytes.base()) >= width;
      ASSERT_EQ(sw.ok(), whole) << bytes.base() << " to " << width;
      if (!sw.ok()) continue;
      ++expressible;
      const auto x = static_cast<std::int64_t>(random() % 100000) * 16;  // a byte address that every width divides
      EXPECT_EQ(sw(x * 8 / width) * width, bytes(x) * 8);
      EXPECT_EQ(recast(sw, width, 8)(x), bytes(x));
    }
  }
  EXPECT_GT(expressible, 10000);
}

TEST(Swizzle, RecastIsRefusedWhereItWouldSplitElements) {
  EXPECT_EQ(recast(Swizzle(2, 1, 3), 8, 32).fault(), (Fault{Rule::swizzle_recast, 1, 4}));
  EXPECT_EQ(recast(Swizzle(2, 1, 3), 8, 12).fault().rule, Rule::recast_width);
  EXPECT_EQ(upcast(Swizzle(2, 4, 3), 3).fault().rule, Rule::swizzle_recast);
  EXPECT_EQ(downcast(Swizzle(2, 4, 3), 3).fault().rule, Rule::swizzle_recast);
}

TEST(Swizzle, ComposesToASwizzleOrIsRefused) {
  std::mt19937_64 random(3);
  int composed = 0;
  for (int n = 0; n < 50000; ++n) {
    const Swizzle a = random_swizzle(random);
    const Swizzle b = random_swizzle(random);
    const Swizzle ab = composition(a, b);
    if (!ab.ok()) {
      EXPECT_EQ(ab.fault().rule, Rule::swizzle_product);
      continue;
    }
    composed += !a.is_identity() && !b.is_identity();
    for (int i = 0; i < 8; ++i) {
      const auto x = static_cast<std::int64_t>(random() >> 40);
      ASSERT_EQ(ab(x), a(b(x)));
    }
  }
  EXPECT_GT(composed, 100);
  static_assert(composition(Swizzle(3, 4, 3), Swizzle(3, 4, 3)).is_identity());
  static_assert(composition(Swizzle(3, 4, 3), Swizzle(2, 4, 3)) == Swizzle(1, 6, 3));
}

TEST(Swizzle, ModesAreNamedByTheirRows) {
  static_assert(make_swizzle(SwizzleMode::none) == Swizzle(0, 4, 3));
  static_assert(make_swizzle(SwizzleMode::b32) == Swizzle(1, 4, 3));
  static_assert(make_swizzle(SwizzleMode::b64) == Swizzle(2, 4, 3));
  static_assert(make_swizzle(SwizzleMode::b128) == Swizzle(3, 4, 3));
  static_assert(swizzle_row_bytes(SwizzleMode::b64) == 64);
}

}  // namespace

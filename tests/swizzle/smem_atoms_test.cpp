// Shared-memory atoms, and tiles made of them, against recorded layouts of CuTe's; and the property they exist for.
#include <cstdint>
#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <gantry/layout/parse.hpp>
#include <gantry/layout/print.hpp>
#include <gantry/layout/smem_atoms.hpp>

namespace {

using namespace gantry;

IntTuple fixed_tuple(const nlohmann::json& numbers) {
  IntTuple out;
  for (const auto& n : numbers) out.push_back(Int::fixed(n.get<std::int64_t>()));
  return out;
}

SwizzleMode mode_of_row(int bytes) {
  for (SwizzleMode mode : {SwizzleMode::none, SwizzleMode::b32, SwizzleMode::b64}) {
    if (swizzle_row_bytes(mode) == bytes) return mode;
  }
  return SwizzleMode::b128;
}

TEST(SmemAtoms, TileToTheRecordedLayouts) {
  std::ifstream file(std::string(GANTRY_SOURCE_DIR) + "/tests/data/smem_layouts.jsonl");
  int cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    const auto c = nlohmann::json::parse(line);
    const Major major = c["major"] == "K" ? Major::K : Major::MN;
    const ComposedLayout atom = smem_atom(major, mode_of_row(c["row_bytes"].get<int>()), c["element_bits"].get<int>());
    const ComposedLayout tile = tile_to_shape(atom, fixed_tuple(c["shape"]), fixed_tuple(c["order"]));
    EXPECT_EQ(std::string(to_text(tile).c_str()), c["layout"].get<std::string>());
    EXPECT_TRUE(parse_composed_layout(c["layout"].get<std::string>().c_str()).value == tile) << line;
  }
  EXPECT_GE(cases, 100);
}

TEST(SmemAtoms, ExistForEveryWidthThatDividesAChunk) {
  for (int bits : {1, 2, 4, 8, 16, 32, 64, 128}) {
    for (SwizzleMode mode : {SwizzleMode::none, SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128}) {
      const ComposedLayout k = smem_atom(Major::K, mode, bits);
      const ComposedLayout mn = smem_atom(Major::MN, mode, bits);
      ASSERT_TRUE(k.ok() && mn.ok());
      const std::int64_t row = 8 * swizzle_row_bytes(mode) / bits;
      EXPECT_TRUE(k.layout() == make_layout(make_shape(_8, Int::fixed(row)), make_stride(Int::fixed(row), _1)));
      for (std::int64_t i = 0; i < row; ++i) EXPECT_EQ(mn(i, 5), k(5, i));
    }
  }
  EXPECT_EQ(smem_atom(Major::K, SwizzleMode::b64, 6).fault(), (Fault{Rule::smem_atom_width, 6, 128}));
}

// A warp that reads one 16-byte chunk from each of eight rows must find them in eight different bank groups.
TEST(SmemAtoms, OfFullLengthPutAColumnOfChunksIntoDifferentBanks) {
  const ComposedLayout atom = smem_atom(Major::K, SwizzleMode::b128, 8);
  for (std::int64_t chunk = 0; chunk < 8; ++chunk) {
    std::set<std::int64_t> bank_groups;
    for (std::int64_t row = 0; row < 8; ++row) bank_groups.insert(atom(row, chunk * 16) % 128 / 16);
    EXPECT_EQ(bank_groups.size(), 8u);
  }
}

TEST(SmemAtoms, AskForTheAlignmentOfTheirSwizzle) {
  static_assert(smem_alignment(smem_atom(Major::K, SwizzleMode::none, 16)) == 128);
  static_assert(smem_alignment(smem_atom(Major::K, SwizzleMode::b32, 16)) == 256);
  static_assert(smem_alignment(smem_atom(Major::MN, SwizzleMode::b64, 32)) == 512);
  static_assert(smem_alignment(smem_atom(Major::MN, SwizzleMode::b128, 8)) == 1024);
}

}  // namespace

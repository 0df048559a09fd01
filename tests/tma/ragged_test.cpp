// Ragged tensor maps: what their coordinates address, by the arithmetic of addresses of 64 bits.
#include <random>

#include <gtest/gtest.h>

#include <gantry/tma/encode.hpp>
#include <gantry/tma/ragged.hpp>

namespace gantry {
namespace {

struct Lines {
  std::uint64_t address;
  bool inside;
};

// Of the first element of line `line` of a group, as TMA finds it.
Lines addressed(const TmaDescriptorParams& map, const GroupLines& group, int line) {
  const std::int64_t at[] = {0, std::int64_t{group.origin} + line, group.end, kRaggedLines};
  Lines out{map.address, true};
  for (std::uint32_t i = 1; i < map.rank; ++i) {
    out.address += static_cast<std::uint64_t>(at[i]) * map.strides[i - 1];
    out.inside = out.inside && at[i] >= 0 && static_cast<std::uint64_t>(at[i]) < map.dims[i];
  }
  return out;
}

TEST(Ragged, ALineOfAGroupIsWhereItLiesAndTheOneAfterItsLastIsOutside) {
  std::mt19937_64 random(std::random_device{}());
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t pitch = 16u << draw(0, 30), address = 128u * static_cast<std::uint64_t>(draw(1, 1 << 30));
    const int lines = static_cast<int>(draw(1, std::int64_t{1} << draw(0, 30)));
    const int begin = static_cast<int>(draw(0, lines)), end = static_cast<int>(draw(begin, lines));
    const TmaDescriptorParams plain{.rank = 3,
                                    .address = address,
                                    .dims = {64, static_cast<std::uint64_t>(lines), 1},
                                    .strides = {pitch, pitch * static_cast<std::uint64_t>(lines)}};
    const TmaDescriptorParams map = ragged(plain);
    const GroupLines group = group_lines(lines, begin, end);
    ASSERT_EQ(group.first(), end > begin ? begin : end);
    const int line = static_cast<int>(draw(0, group.size + 300));
    const Lines at = addressed(map, group, line);
    ASSERT_EQ(at.inside, line < group.size) << lines << " " << begin << " " << end << " " << line;
    if (at.inside) {
      ASSERT_EQ(at.address, address + static_cast<std::uint64_t>(begin + line) * pitch);
    }
  }
}

// TMA reads it where a box lies wholly beyond the extents (docs/measurements/hardware.md).
TEST(Ragged, AMapBeginsAtItsMatrix) {
  const TmaDescriptorParams plain{.rank = 3, .address = 4096, .dims = {64, 100, 1}, .strides = {128, 12800}};
  EXPECT_EQ(ragged(plain).address, plain.address);
}

TEST(Ragged, AMapBreaksNoRuleOfTma) {
  for (const std::uint64_t pitch : {std::uint64_t{128}, std::uint64_t{14336}, (std::uint64_t{1} << 39) - 16}) {
    TmaDescriptorParams plain{
        .data_type = TmaDataType::bf16, .rank = 3, .address = 4096, .dims = {64, 100, 1}, .strides = {pitch, pitch}};
    plain.box[0] = 64;
    plain.box[1] = 128;
    EXPECT_TRUE(encode_packed(ragged(plain)).ok()) << describe(encode_packed(ragged(plain))).c_str();
  }
}

}  // namespace
}  // namespace gantry

// Bank conflicts against a model of 32 banks of 4 bytes, word by word.
#include <map>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/layout/print.hpp>
#include <gantry/tma/explain_banks.hpp>

namespace gantry {
namespace {

ComposedLayout tile(const Layout& layout, int swizzle_bits, int element_bits) {
  return ComposedLayout(Swizzle(swizzle_bits, 4, 3), _0, layout, element_bits);
}

Layout rows_of(std::int64_t rows, std::int64_t elements) {
  return make_layout(make_shape(Int::fixed(rows), Int::fixed(elements)), LayoutRight{});
}

SharedReads reads_of(const ComposedLayout& smem) { return shared_reads(make_shared_tile(smem, smem.shape())); }

// Passes of lanes that read `width` bytes each: the most words that one bank must give.
int passes(const std::vector<std::int64_t>& addresses, std::int64_t width) {
  std::map<std::int64_t, std::set<std::int64_t>> banks;
  for (const std::int64_t address : addresses) {
    for (std::int64_t byte = 0; byte < width; byte += 4) banks[(address + byte) / 4 % 32].insert((address + byte) / 4);
  }
  std::size_t most = 0;
  for (const auto& [bank, words] : banks) most = std::max(most, words.size());
  return static_cast<int>(most);
}

// The byte of element (r, k), by the definition of the swizzle.
std::int64_t address_of(const ComposedLayout& smem, std::int64_t r, std::int64_t k) {
  const std::int64_t byte = smem.layout()(r, k) * smem.element_bits() / 8;
  const std::int64_t mask = (std::int64_t{1} << smem.swizzle().bits()) - 1;
  return byte ^ ((byte >> 7 & mask) << 4);
}

struct Modelled {
  int row = 0, column = 0, element = 0;
};

Modelled model(const ComposedLayout& smem, std::int64_t rows, std::int64_t row_elements) {
  const std::int64_t bytes = smem.element_bits() / 8;
  const std::int64_t chunk = 16 / bytes;
  Modelled out;
  std::vector<std::int64_t> phase;
  const auto flush = [&phase](int& worst, std::int64_t width) {
    if (!phase.empty()) worst = std::max(worst, passes(phase, width));
    phase.clear();
  };
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t k = 0; k < row_elements; k += chunk) {
      phase.push_back(address_of(smem, r, k));
      if (phase.size() == 8) flush(out.row, 16);
    }
  }
  flush(out.row, 16);
  for (std::int64_t k = 0; k < row_elements; k += chunk) {
    for (std::int64_t r = 0; r < rows; ++r) {
      phase.push_back(address_of(smem, r, k));
      if (phase.size() == 8) flush(out.column, 16);
    }
    flush(out.column, 16);
  }
  const std::size_t lanes = static_cast<std::size_t>(bytes <= 4 ? 32 : 128 / bytes);
  for (std::int64_t k = 0; k < row_elements; ++k) {
    for (std::int64_t r = 0; r < rows; ++r) {
      phase.push_back(address_of(smem, r, k) / 4 * 4);
      if (phase.size() == lanes) flush(out.element, std::max<std::int64_t>(bytes, 4));
    }
    flush(out.element, std::max<std::int64_t>(bytes, 4));
  }
  return out;
}

TEST(Banks, ASwizzleAsWideAsTheRowLeavesNoConflict) {
  for (int bits = 0; bits <= 3; ++bits) {
    const SharedReads r = reads_of(tile(rows_of(64, 8 << bits), bits, 16));
    EXPECT_EQ(r.row.worst, 1) << bits;
    EXPECT_EQ(r.column.worst, 1) << bits;
  }
}

TEST(Banks, RowsWithoutASwizzleMeetAsOftenAsTheyFitIntoTheBanks) {
  EXPECT_EQ(reads_of(tile(rows_of(64, 16), 0, 16)).column.worst, 2);   // 32 bytes: every fourth row
  EXPECT_EQ(reads_of(tile(rows_of(64, 32), 0, 16)).column.worst, 4);   // 64 bytes: every second
  EXPECT_EQ(reads_of(tile(rows_of(64, 64), 0, 16)).column.worst, 8);   // 128 bytes: all
  EXPECT_EQ(reads_of(tile(rows_of(64, 128), 0, 16)).column.worst, 8);  // 256 bytes: all
  EXPECT_EQ(reads_of(tile(rows_of(4, 64), 0, 16)).column.worst, 4);    // and no more than there are
}

TEST(Banks, ATooNarrowSwizzleHelpsInPart) {
  EXPECT_EQ(reads_of(tile(rows_of(64, 64), 1, 16)).column.worst, 4);
  EXPECT_EQ(reads_of(tile(rows_of(64, 64), 2, 16)).column.worst, 2);
}

TEST(Banks, EveryWidthAndSwizzleAgreesWithTheModel) {
  std::mt19937 random(7);
  const auto pick = [&random](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int i = 0; i < 300; ++i) {
    const int element_bits = 8 << pick(0, 3);
    const std::int64_t chunk = 128 / element_bits;
    const std::int64_t rows = pick(2, 40);
    const std::int64_t row_elements = chunk * pick(1, 12);
    // Slabs one after the other, or rows with a pitch of their own.
    const std::int64_t pitch = row_elements + (pick(0, 2) == 0 ? chunk * pick(0, 3) : 0);
    const Layout layout =
        make_layout(make_shape(Int::fixed(rows), Int::fixed(row_elements)), make_stride(Int::fixed(pitch), _1));
    const ComposedLayout smem = tile(layout, pick(0, 3), element_bits);
    const SharedReads found = reads_of(smem);
    const Modelled expected = model(smem, rows, row_elements);
    SCOPED_TRACE(to_text(smem).c_str());
    EXPECT_EQ(found.row.worst, expected.row);
    EXPECT_EQ(found.column.worst, expected.column);
    EXPECT_EQ(found.element.worst, expected.element);
    EXPECT_GE(found.row.passes, found.row.phases);
    EXPECT_LE(found.row.passes, found.row.phases * found.row.worst);
  }
}

TEST(Banks, ColumnMajorTilesAreReadAlongTheirFirstMode) {
  const Layout layout = make_layout(make_shape(_64, _32));
  const SharedTile t = make_shared_tile(tile(layout, 3, 16), layout.shape());
  EXPECT_EQ(t.row_mode, 0);
  EXPECT_EQ(t.column_mode, 1);
  EXPECT_EQ(t.row_elements, 64);
  EXPECT_EQ(shared_reads(t).column.worst, 1);
}

TEST(Banks, LanesThatWantTheSameWordShareIt) {
  const Layout layout = make_layout(make_shape(_8, _64), make_stride(_0, _1));  // one row, seen eight times
  EXPECT_EQ(reads_of(tile(layout, 0, 16)).column.worst, 1);
  EXPECT_EQ(reads_of(tile(layout, 0, 16)).element.worst, 1);
}

TEST(Banks, ATileWithoutContiguousElementsHasNoRows) {
  const Layout layout = make_layout(make_shape(_8, _8), make_stride(_16, _2));
  EXPECT_EQ(make_shared_tile(tile(layout, 0, 16), layout.shape()).row_mode, -1);
  EXPECT_EQ(reads_of(tile(layout, 0, 16)).row.worst, 0);
}

TEST(Banks, RowsThatAreNotCutAtSixteenBytesHaveNoWideReads) {
  const Layout layout = make_layout(make_shape(_8, _12), make_stride(_12, _1));  // 24-byte rows
  EXPECT_EQ(reads_of(tile(layout, 0, 16)).column.worst, 0);
}

TEST(Banks, UnknownAndBasisStridesAreNotLookedAt) {
  const Layout unknown = make_layout(make_shape(_8, _64), make_stride(Int::unknown(), _1));
  const Layout basis = make_identity_layout(make_shape(_8, _64));
  EXPECT_EQ(make_shared_tile(tile(unknown, 0, 16), unknown.shape()).row_mode, -1);
  EXPECT_EQ(make_shared_tile(tile(basis, 0, 16), basis.shape()).row_mode, -1);
}

}  // namespace
}  // namespace gantry

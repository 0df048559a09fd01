// Matrix descriptors: the strides that are found describe the layout under the address rule of the hardware, and what
// the hardware cannot read is refused by its rule.
#include <vector>

#include <gtest/gtest.h>

#include <gantry/atom/matrix_descriptor.hpp>
#include <gantry/layout/compose.hpp>

namespace gantry {
namespace {

// The byte, before the swizzle, at which the hardware looks for element (i, k).
std::int64_t hardware_address(const MatrixArrangement& a, Major major, int bytes, std::int64_t i, std::int64_t k) {
  const std::int64_t row = a.swizzle_bytes;
  if (major == Major::K) {
    if (row != 0) return i / 8 * a.stride_bytes + i % 8 * row + k * bytes;
    return i / 8 * a.stride_bytes + i % 8 * 16 + k * bytes / 16 * a.leading_bytes + k * bytes % 16;
  }
  if (row != 0) return i * bytes / row * a.leading_bytes + i * bytes % row + k / 8 * a.stride_bytes + k % 8 * row;
  return i * bytes / 16 * a.stride_bytes + i * bytes % 16 + k / 8 * a.leading_bytes + k % 8 * 16;
}

struct Case {
  Major major;
  SwizzleMode mode;
  int bits, rows, depth;  // the tile in shared memory: rows x depth
  bool k_first;           // which way atoms follow one another
};

class Descriptors : public testing::TestWithParam<Case> {};

TEST_P(Descriptors, DescribeTheLayoutUnderTheHardwaresRule) {
  const Case c = GetParam();
  const IntTuple shape = make_shape(Int::fixed(c.rows), Int::fixed(c.depth));
  const ComposedLayout atom = smem_atom(c.major, c.mode, c.bits);
  const ComposedLayout tile =
      c.k_first ? tile_to_shape(atom, shape, make_int_tuple(_1, _0)) : tile_to_shape(atom, shape);
  ASSERT_TRUE(tile.ok());
  const Int k = Int::fixed(256 / c.bits);
  for (int rows = 64; rows <= c.rows; rows += 64) {
    const Layout block = composition(tile.layout(), make_tile(Int::fixed(rows), k));
    const MatrixArrangement a = describe_matrix(block, tile.swizzle(), c.major, c.bits);
    ASSERT_TRUE(a.ok()) << static_cast<int>(a.rule) << " " << a.actual;
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < k.value(); ++j) {
        ASSERT_EQ(block(i, j) * c.bits / 8, hardware_address(a, c.major, c.bits / 8, i, j)) << i << " " << j;
      }
    }
  }
}

std::vector<Case> every_case() {
  std::vector<Case> out;
  for (const SwizzleMode mode : {SwizzleMode::none, SwizzleMode::b32, SwizzleMode::b64, SwizzleMode::b128}) {
    for (const bool k_first : {false, true}) {
      for (const int bits : {8, 16, 32}) out.push_back({Major::K, mode, bits, 256, 2048 / bits, k_first});
      out.push_back({Major::MN, mode, 16, 256, 64, k_first});
    }
  }
  return out;
}
INSTANTIATE_TEST_SUITE_P(EveryArrangement, Descriptors, testing::ValuesIn(every_case()));

TEST(Descriptors, OfTheWorkedExamplesHaveTheirStrides) {
  const auto block = [](const ComposedLayout& tile, int rows, int k) {
    return composition(tile.layout(), make_tile(Int::fixed(rows), Int::fixed(k)));
  };
  const auto tile = [](Major major, SwizzleMode mode, int rows, int k) {
    return tile_to_shape(smem_atom(major, mode, 16), make_shape(Int::fixed(rows), Int::fixed(k)));
  };
  const ComposedLayout k128 = tile(Major::K, SwizzleMode::b128, 128, 64);
  EXPECT_EQ(describe_matrix(block(k128, 64, 16), k128.swizzle(), Major::K, 16).stride_bytes, 1024);
  const ComposedLayout k64 = tile(Major::K, SwizzleMode::b64, 128, 64);
  EXPECT_EQ(describe_matrix(block(k64, 64, 16), k64.swizzle(), Major::K, 16).stride_bytes, 512);
  const ComposedLayout plain = tile(Major::K, SwizzleMode::none, 128, 64);  // core matrices, M first
  const MatrixArrangement p = describe_matrix(block(plain, 64, 16), plain.swizzle(), Major::K, 16);
  EXPECT_EQ(p.leading_bytes, 2048);
  EXPECT_EQ(p.stride_bytes, 128);
  const ComposedLayout mn = tile(Major::MN, SwizzleMode::b128, 128, 64);  // atoms along MN first
  const MatrixArrangement m = describe_matrix(block(mn, 128, 16), mn.swizzle(), Major::MN, 16);
  EXPECT_EQ(m.leading_bytes, 1024);
  EXPECT_EQ(m.stride_bytes, 2048);
}

TEST(Descriptors, ThatCannotBeAreRefusedByTheirRule) {
  const Swizzle none(0, 4, 3), b128(3, 4, 3);
  const Layout rows = make_layout(make_shape(_64, _16), make_stride(_64, _1));
  EXPECT_EQ(describe_matrix(rows, b128, Major::K, 16).rule, MatrixRule::none);
  EXPECT_EQ(describe_matrix(rows, none, Major::K, 16).rule, MatrixRule::not_canonical);
  EXPECT_EQ(describe_matrix(rows, Swizzle(2, 4, 3), Major::K, 16).rule, MatrixRule::not_canonical);
  EXPECT_EQ(describe_matrix(rows, b128, Major::MN, 16).rule, MatrixRule::not_mn_contiguous);
  EXPECT_EQ(describe_matrix(rows, b128, Major::MN, 16).actual, 64);
  EXPECT_EQ(describe_matrix(rows, Swizzle(3, 3, 3), Major::K, 16).rule, MatrixRule::swizzle);
  const Layout columns = make_layout(make_shape(_64, _16), make_stride(_1, _64));
  EXPECT_EQ(describe_matrix(columns, b128, Major::K, 16).rule, MatrixRule::not_k_contiguous);
  EXPECT_EQ(describe_matrix(columns, b128, Major::MN, 16).rule, MatrixRule::none);
  const Layout padded =
      make_layout(make_shape(make_shape(_8, _8), _16), make_stride(make_stride(_64, Int::fixed(516)), _1));
  EXPECT_EQ(describe_matrix(padded, b128, Major::K, 16).rule, MatrixRule::stride_alignment);
  EXPECT_EQ(describe_matrix(padded, b128, Major::K, 16).actual, 1032);
}

}  // namespace
}  // namespace gantry

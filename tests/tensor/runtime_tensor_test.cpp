// Tensors whose layouts are run-time values.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/layout/smem_atoms.hpp>
#include <gantry/tensor/runtime_tensor.hpp>

namespace {

using namespace gantry;

std::vector<std::int32_t> counting(int n) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) out[static_cast<std::size_t>(i)] = i;
  return out;
}

TEST(RuntimeTensor, IndexesAndSlicesAsItsLayoutDoes) {
  std::vector<std::int32_t> memory = counting(1000);
  const Layout l = make_layout(make_shape(4, make_shape(2, 3)), make_stride(1, make_stride(50, 200)));
  const auto t = make_tensor(make_gmem_ptr(memory.data()), l);
  EXPECT_EQ(rank(t), 2);
  EXPECT_EQ(size(t), 24);
  EXPECT_EQ(size(t, 1), 6);
  for (int i = 0; i < 24; ++i) EXPECT_EQ(t(i), l(i));
  EXPECT_EQ(t(3, make_coord(1, 2)), 453);
  EXPECT_EQ(t(_, 3)(2), 252);
  EXPECT_EQ(slice(make_coord(2, make_coord(_, 1)), t)(1), 252);
  EXPECT_EQ(domain_offset(make_coord(1, 1), t)(0, 0), 51);
  t(3, 5) = -1;
  EXPECT_EQ(memory[453], -1);
}

TEST(RuntimeTensor, TilesCoverIt) {
  std::vector<std::int32_t> memory = counting(24 * 40);
  const auto t = make_tensor(make_gmem_ptr(memory.data()), make_shape(24, 40), make_stride(40, 1));
  std::vector<int> seen(memory.size());
  for (int m = 0; m < 3; ++m) {
    for (int n = 0; n < 10; ++n) {
      const auto tile = local_tile(t, make_tile(_8, _4), make_coord(m, n));
      ASSERT_EQ(rank(tile), 2);
      for (int i = 0; i < 32; ++i) ++seen[static_cast<std::size_t>(std::int32_t(tile(i)))];
    }
  }
  for (int n : seen) EXPECT_EQ(n, 1);
  EXPECT_EQ(local_tile(t, make_tile(_8, _4), make_coord(2))(1, 2, 7), 17 * 40 + 30);
  EXPECT_EQ(local_tile(t, make_tile(_8, _4), _)(1, 2, 2, 7), 17 * 40 + 30);
  EXPECT_EQ(flat_divide(t, make_tile(_8, _4))(1, 2, 2, 7), 17 * 40 + 30);
  EXPECT_EQ(zipped_divide(t, make_tile(_8, _4))(make_coord(1, 2), make_coord(2, 7)), 17 * 40 + 30);
  EXPECT_EQ(compose(t, make_tile(_8, _4))(1, 2), 42);
}

TEST(RuntimeTensor, SwizzlesOffsets) {
  std::vector<std::int32_t> memory = counting(1024);
  const ComposedLayout l = tile_to_shape(smem_atom(Major::K, SwizzleMode::b128, 32), make_shape(_32, _32));
  const auto t = make_tensor(make_smem_ptr(memory.data()), l);
  for (int i = 0; i < 1024; ++i) EXPECT_EQ(t(i), l(i));
  EXPECT_EQ(t(9, _)(20), l(9, 20));
  EXPECT_EQ(local_tile(t, make_tile(_8, _16), make_coord(2, 1))(3, 5), l(19, 21));
  const std::int64_t origin = l.layout()(3, 4);
  EXPECT_EQ(domain_offset(make_coord(3, 4), t)(2, 1), l.element_swizzle()(origin + l.layout()(2, 1)));
}

TEST(RuntimeTensor, CountsCoordinatesOfAnyProfile) {
  const auto t = make_identity_tensor(make_shape(6, make_shape(4, 2)));
  EXPECT_TRUE(t(3, make_coord(2, 1)) == make_coord(3, make_coord(2, 1)));
  EXPECT_TRUE(t(_, 7)(3) == make_coord(3, make_coord(3, 1)));
  const auto moved = make_coord_tensor(make_identity_layout(make_shape(6, 4)), make_coord(10, 20));
  EXPECT_TRUE(local_tile(moved, make_tile(_3, _2), make_coord(1, 1))(1, 1) == make_coord(14, 23));
}

TEST(RuntimeTensor, CarriesTheFaultOfItsLayout) {
  std::vector<std::int32_t> memory = counting(8);
  const auto t = make_tensor(make_gmem_ptr(memory.data()), make_layout(make_shape(0, 4)));
  EXPECT_FALSE(t.ok());
  EXPECT_EQ(local_tile(t, make_tile(_2, _2), make_coord(0, 0)).fault().rule, Rule::extent_below_one);
  EXPECT_THROW(t(0), LayoutError);
}

TEST(RuntimeTensor, RecastsToOtherElements) {
  std::vector<std::int32_t> memory = counting(64);
  const auto t = make_tensor(make_gmem_ptr(memory.data()), make_layout(make_shape(_8, _8)));
  const auto wide = recast<std::uint64_t>(t);
  EXPECT_EQ(size(wide), 32);
  EXPECT_EQ(wide(1, 3), (std::uint64_t{27} << 32 | 26));
}

}  // namespace

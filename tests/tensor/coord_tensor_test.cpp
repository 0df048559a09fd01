// Coordinate tensors: identity, tiles and partitions of it, and coordinates along chosen modes.
#include <gtest/gtest.h>

#include <gantry/tensor/coord_tensor.hpp>

namespace {

using namespace gantry;

TEST(CoordTensor, IdentityGivesEveryCoordinateBack) {
  constexpr auto t = make_identity_tensor([] { return make_shape(_4, make_shape(_2, _3)); });
  static_assert(t(3, coord(1, 2)) == Coordinate<3>{{3, 1, 2}});
  for (int i = 0; i < 24; ++i) EXPECT_EQ(t(i), (Coordinate<3>{{i % 4, i / 4 % 2, i / 8}}));
  for (int k = 0; k < 3; ++k) EXPECT_EQ(t(2, coord(1, _))(k), (Coordinate<3>{{2, 1, k}}));
}

TEST(CoordTensor, OfOneModeHasOneAxis) {
  const auto t = make_identity_tensor(Tile<16>{});
  EXPECT_EQ(t(5)[0], 5);
}

TEST(CoordTensor, TilesSayWhereTheirElementsAre) {
  const auto whole = make_identity_tensor([] { return make_shape(Int::unknown(), Int::unknown(), _2); }, 100, 50);
  EXPECT_EQ(size<0>(whole), 100);
  const auto tiles = local_tile(whole, Tile<32, 16>{}, coord(_, _, 1));
  EXPECT_EQ(size<2>(tiles), 4);
  EXPECT_EQ(size<3>(tiles), 4);
  int inside = 0;
  for (int m = 0; m < 4; ++m) {
    for (int n = 0; n < 4; ++n) {
      for (int i = 0; i < 32; ++i) {
        for (int j = 0; j < 16; ++j) {
          const Coordinate<3> c = tiles(i, j, m, n);
          ASSERT_EQ(c, (Coordinate<3>{{32 * m + i, 16 * n + j, 1}}));
          inside += elem_less(c, Coordinate<3>{{100, 50, 2}});
        }
      }
    }
  }
  EXPECT_EQ(inside, 100 * 50);
}

TEST(CoordTensor, StartsAtItsOrigin) {
  struct Transposed {
    GANTRY_HD constexpr Layout operator()() const {
      return make_layout(make_shape(_8, _4), make_stride(Int::basis(1), _16 * Int::basis(0)));
    }
  };
  const auto t = make_coord_tensor(Transposed{}, Coordinate<3>{{1, 2, 3}});
  EXPECT_EQ(t(5, 3), (Coordinate<3>{{1 + 48, 2 + 5, 3}}));
  EXPECT_EQ(make_coord_tensor(Transposed{})(5, 3), (Coordinate<2>{{48, 5}}));
  EXPECT_EQ(domain_offset(coord(1, 1), t)(0, 0), (Coordinate<3>{{17, 3, 3}}));
  EXPECT_EQ(t(_, 2).data().origin(), (Coordinate<3>{{33, 2, 3}}));
}

// A tensor map groups global modes into one coordinate; their strides along it may be known only at run time.
TEST(CoordTensor, CoefficientsMayBeRunTimeValues) {
  struct Grouped {
    GANTRY_HD constexpr Layout operator()() const {
      const Int unknown = Int::unknown();
      return make_layout(make_shape(_4, unknown, _8),
                         make_stride(Int::basis(0), unknown.with_path(BasisPath().then(1)), _2 * Int::basis(1)));
    }
  };
  const auto t = make_coord_tensor(Grouped{}, Coordinate<3>{{100, 200, 300}}, 5, 16);
  EXPECT_EQ(size<1>(t), 5);
  EXPECT_EQ(t(3, 4, 7), (Coordinate<3>{{103, 200 + 64 + 14, 300}}));
  EXPECT_EQ(t(_, 2, _)(1, 1), (Coordinate<3>{{101, 200 + 32 + 2, 300}}));
}

TEST(CoordTensor, CoefficientsMayBeRational) {
  struct Recast {
    GANTRY_HD constexpr Layout operator()() const {
      return make_layout(make_shape(_64, _4),
                         make_stride(Int::fixed(1).over(8).with_path(BasisPath().then(0)), Int::basis(1)));
    }
  };
  const auto t = make_coord_tensor(Recast{});
  EXPECT_EQ(t(40, 3), (Coordinate<2>{{5, 3}}));
  EXPECT_EQ(local_tile(t, Tile<16, 2>{}, coord(3, 1))(8, 1), (Coordinate<2>{{7, 3}}));
}

}  // namespace

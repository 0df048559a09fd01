// ldmatrix and stmatrix against the table of which lane holds which element.
#include <vector>

#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

struct Storage {
  alignas(128) std::uint16_t matrix[4][8][8];  // four matrices; element (j, r, c) holds 100 j + 10 r + c
};
constexpr LaunchConfig kOneWarp{.block = {32}, .shared_bytes = sizeof(Storage)};

std::uint16_t element(std::uint32_t j, std::uint32_t r, std::uint32_t c) {
  return static_cast<std::uint16_t>(100 * j + 10 * r + c);
}

template <int Count>
void expect_loads(bool transposed) {
  std::vector<std::uint32_t> got(32 * Count);
  const Report report = simulate(kOneWarp, [&](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    const std::uint32_t lane = lane_rank();
    for (std::uint32_t i = 0; i < 8; ++i)
      st(space_shared, &s.matrix[lane / 8][lane % 8][i], element(lane / 8, lane % 8, i));
    syncwarp();
    std::uint32_t r[Count];
    const void* row = &s.matrix[lane / 8][lane % 8][0];
    if (transposed) {
      ldmatrix(r, row, trans);
    } else {
      ldmatrix(r, row);
    }
    for (int j = 0; j < Count; ++j) got[lane * Count + static_cast<std::uint32_t>(j)] = r[j];
  });
  EXPECT_TRUE(report.clean()) << report.text();
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    for (std::uint32_t j = 0; j < Count; ++j) {
      const std::uint32_t a = 2 * (lane % 4), b = lane / 4;
      const std::uint32_t low = transposed ? element(j, a, b) : element(j, b, a);
      const std::uint32_t high = transposed ? element(j, a + 1, b) : element(j, b, a + 1);
      EXPECT_EQ(got[lane * Count + j], low | high << 16) << "lane " << lane << " register " << j;
    }
  }
}

TEST(Matrix, LoadsGiveEachLaneItsPairs) {
  expect_loads<1>(false), expect_loads<2>(false), expect_loads<4>(false);
  expect_loads<1>(true), expect_loads<2>(true), expect_loads<4>(true);
}

TEST(Matrix, AStoreIsUndoneByTheLoadOfTheSameKind) {
  for (const bool transposed : {false, true}) {
    std::vector<std::uint32_t> put(128), got(128);
    const Report report = simulate(kOneWarp, [&](SharedMemory shared) {
      Storage& s = shared.as<Storage>();
      const std::uint32_t lane = lane_rank();
      void* row = &s.matrix[lane / 8][lane % 8][0];
      std::uint32_t r[4], back[4];
      for (std::uint32_t j = 0; j < 4; ++j) put[4 * lane + j] = r[j] = lane * 0x01020304u + j * 0x10001u;
      transposed ? stmatrix(row, r, trans) : stmatrix(row, r);
      syncwarp();
      transposed ? ldmatrix(back, row, trans) : ldmatrix(back, row);
      for (std::uint32_t j = 0; j < 4; ++j) got[4 * lane + j] = back[j];
    });
    EXPECT_TRUE(report.clean()) << report.text();
    EXPECT_EQ(put, got);
  }
}

TEST(Matrix, ARowOffSixteenBytesIsReported) {
  const Report report = simulate(kOneWarp, [&](SharedMemory shared) {
    const std::uint32_t r[1] = {0};
    stmatrix(&shared.as<Storage>().matrix[0][0][1], r);
  });
  EXPECT_TRUE(report.has("misaligned-access")) << report.text();
}

}  // namespace
}  // namespace gantry

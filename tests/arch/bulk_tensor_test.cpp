// Tensor copies against the definition of a box, written out element by element.
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "gantry/numeric/float_types.hpp"
#include "gantry/tma/descriptor.hpp"
#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

constexpr std::uint32_t kTileBytes = 32768;
struct Storage {
  alignas(1024) std::byte tile[kTileBytes];
  std::uint64_t barrier;
};
constexpr LaunchConfig kOneWarp{.block = {32}, .shared_bytes = sizeof(Storage)};

// What one thread does to load a box and give the image of shared memory back.
template <int Rank>
Report load_box(const TmaDescriptorParams& map, const std::int32_t (&at)[Rank], std::vector<std::byte>& image,
                SimulatorOptions options = {}) {
  const TmaDescriptor descriptor = pack(map);
  const auto bytes = static_cast<std::uint32_t>(transaction_bytes(map));
  image.assign(kTileBytes, std::byte{0xEE});
  return simulate(
      kOneWarp,
      [&](SharedMemory shared) {
        Storage& s = shared.as<Storage>();
        if (thread_rank() != 0) return;
        mbarrier_init(&s.barrier, 1);
        fence_mbarrier_init(sem_release, scope_cluster);
        for (std::uint32_t i = 0; i < kTileBytes; i += 16) {
          struct alignas(16) Chunk {
            std::byte b[16];
          };
          Chunk chunk;
          std::memset(&chunk, 0xEE, 16);
          st(space_shared, reinterpret_cast<Chunk*>(s.tile + i), chunk);
        }
        fence_proxy_async(space_shared);
        mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.barrier, bytes);
        cp_async_bulk_tensor(space_cluster, space_global, s.tile, &descriptor, at, &s.barrier);
        wait(&s.barrier, 0);
        for (std::uint32_t i = 0; i < kTileBytes; ++i) image[i] = ld(space_shared, s.tile + i);
      },
      options);
}

std::uint32_t swizzle(std::uint32_t address, TmaSwizzle mode) {
  switch (mode) {
    case TmaSwizzle::bytes_32:
      return address ^ ((address >> 7 & 1) << 4);
    case TmaSwizzle::bytes_64:
      return address ^ ((address >> 7 & 3) << 4);
    case TmaSwizzle::bytes_128:
      return address ^ ((address >> 7 & 7) << 4);
    default:
      return address;
  }
}

// The image that the definition gives: every element of the box in turn, dimension 0 fastest.
std::vector<std::byte> expected_image(const TmaDescriptorParams& map, const std::int32_t* at) {
  std::vector<std::byte> image(kTileBytes, std::byte{0xEE});
  const auto rank = static_cast<int>(map.rank);
  auto size = static_cast<std::uint32_t>(element_bytes(map.data_type));
  std::uint32_t n[5] = {1, 1, 1, 1, 1}, total = 1;
  // Positions of an interleaved map are slices, one after another, and of the dimension before the last it has one.
  // Elsewhere dimension 0 is not stepped, and rows narrower than the span are spaced by it.
  const bool interleaved = map.interleave != TmaInterleave::none;
  if (interleaved) size = map.interleave == TmaInterleave::bytes_16 ? 16 : 32;
  std::uint32_t step[5] = {1, 1, 1, 1, 1};
  for (int i = 0; i < rank; ++i) {
    if (i > 0 || interleaved) step[i] = map.element_strides[i];
    n[i] = interleaved && i == rank - 2 ? 1 : (map.box[i] + step[i] - 1) / step[i];
    total *= n[i];
  }
  const std::uint32_t span = static_cast<std::uint32_t>(swizzle_span_bytes(map.swizzle));
  const std::uint32_t pitch = interleaved ? n[0] * size : std::max(n[0] * size, span);
  for (std::uint32_t e = 0; e < total; ++e) {
    std::uint32_t rest = e;
    bool inside = true;
    std::int64_t address = 0;
    for (int i = 0; i < rank; ++i) {
      const auto b = static_cast<std::int64_t>(rest % n[i]);
      rest /= n[i];
      const std::int64_t g = at[i] + b * step[i];
      inside = inside && g >= 0 && g < static_cast<std::int64_t>(map.dims[i]);
      address += g * static_cast<std::int64_t>(i == 0 ? size : map.strides[i - 1]);
    }
    const std::uint32_t linear = e / n[0] * pitch + e % n[0] * size;
    for (std::uint32_t i = 0; i < size; ++i) {
      std::byte& to = image[swizzle(linear + i, map.swizzle)];  // the tile lies on a multiple of 1024
      to = inside ? reinterpret_cast<const std::byte*>(map.address)[address + i]
                  : static_cast<std::byte>(map.fill == TmaFill::nan ? (i % 2 ? 0x7F : 0xF7) : 0);
    }
  }
  return image;
}

struct Case {
  const char* name;
  TmaDescriptorParams map;
  std::int32_t at[5];
};

const Case kCases[] = {
    {"rank 1", {.data_type = TmaDataType::u8, .rank = 1, .dims = {1000}, .box = {256}}, {48}},
    {"rank 2, 128-byte swizzle",
     {.data_type = TmaDataType::bf16,
      .rank = 2,
      .dims = {128, 100},
      .strides = {256},
      .box = {64, 64},
      .swizzle = TmaSwizzle::bytes_128},
     {64, 20}},
    {"rank 2, 64-byte swizzle, overhanging",
     {.data_type = TmaDataType::f16,
      .rank = 2,
      .dims = {100, 50},
      .strides = {208},
      .box = {32, 40},
      .swizzle = TmaSwizzle::bytes_64},
     {80, 30}},
    {"rank 2, 32-byte swizzle, before the start",
     {.data_type = TmaDataType::f32,
      .rank = 2,
      .dims = {64, 40},
      .strides = {256},
      .box = {8, 16},
      .swizzle = TmaSwizzle::bytes_32},
     {-4, -3}},
    {"rows narrower than the swizzle's span",
     {.data_type = TmaDataType::bf16,
      .rank = 2,
      .dims = {64, 64},
      .strides = {128},
      .box = {16, 24},
      .swizzle = TmaSwizzle::bytes_128},
     {32, 8}},
    {"rank 3, NaN fill",
     {.data_type = TmaDataType::f32,
      .rank = 3,
      .dims = {20, 10, 6},
      .strides = {80, 800},
      .box = {8, 4, 4},
      .fill = TmaFill::nan},
     {16, 8, 4}},
    {"rank 3, every second row",
     {.data_type = TmaDataType::u16,
      .rank = 3,
      .dims = {64, 30, 5},
      .strides = {128, 3840},
      .box = {16, 9, 3},
      .element_strides = {1, 2, 1}},
     {8, 3, 1}},
    {"rank 4",
     {.data_type = TmaDataType::u8, .rank = 4, .dims = {32, 7, 5, 4}, .strides = {32, 224, 1120}, .box = {16, 4, 3, 2}},
     {16, 5, -1, 3}},
    {"rank 5",
     {.data_type = TmaDataType::u64,
      .rank = 5,
      .dims = {4, 5, 3, 3, 3},
      .strides = {32, 160, 480, 1440},
      .box = {2, 3, 2, 2, 2}},
     {2, 1, 1, 1, 2}},
    {"slices of 16 bytes, rows wider than the swizzle's span",
     {.data_type = TmaDataType::f16,
      .rank = 3,
      .dims = {40, 6, 5},
      .strides = {640, 3840},
      .box = {24, 4, 2},
      .interleave = TmaInterleave::bytes_16,
      .swizzle = TmaSwizzle::bytes_64},
     {20, 3, 3}},
    {"slices of 32 bytes, every second pixel",
     {.data_type = TmaDataType::bf16,
      .rank = 4,
      .dims = {9, 4, 3, 2},
      .strides = {288, 1152, 3456},
      .box = {16, 3, 16, 2},
      .element_strides = {2, 1, 1, 1},
      .interleave = TmaInterleave::bytes_32,
      .swizzle = TmaSwizzle::bytes_32,
      .fill = TmaFill::nan},
     {-2, 2, 1, 1}},
    {"slices of 16 bytes of a volume",
     {.data_type = TmaDataType::u16,
      .rank = 5,
      .dims = {6, 4, 3, 2, 2},
      .strides = {96, 384, 1152, 2304},
      .box = {8, 2, 2, 8, 2},
      .element_strides = {3, 1, 1, 2, 1},
      .interleave = TmaInterleave::bytes_16,
      .swizzle = TmaSwizzle::bytes_128},
     {1, -1, 1, 1, 0}},
    {"a slice that is not there",
     {.data_type = TmaDataType::u8,
      .rank = 3,
      .dims = {16, 2, 2},
      .strides = {256, 512},
      .box = {16, 1, 1},
      .interleave = TmaInterleave::bytes_16},
     {0, 2, 0}},
    {"overlapping rows",
     {.data_type = TmaDataType::u8, .rank = 2, .dims = {64, 20}, .strides = {16}, .box = {32, 8}},
     {16, 4}},
    {"a box beyond the tensor",
     {.data_type = TmaDataType::u8, .rank = 2, .dims = {64, 20}, .strides = {64}, .box = {32, 8}},
     {64, 40}},
};

class TensorLoad : public testing::TestWithParam<Case> {};

TEST_P(TensorLoad, DeliversTheBoxOfTheDefinition) {
  std::vector<std::byte> memory(1 << 16);
  std::mt19937 random(7);
  for (auto& b : memory) b = static_cast<std::byte>(random());
  Case c = GetParam();
  c.map.address = (reinterpret_cast<std::uint64_t>(memory.data()) + 127) / 128 * 128;
  std::vector<std::byte> image;
  Report report;
  const auto at = [&]<int Rank>() {
    std::int32_t coordinates[Rank];
    std::copy_n(c.at, Rank, coordinates);
    report = load_box(c.map, coordinates, image);
  };
  switch (c.map.rank) {
    case 1:
      at.operator()<1>();
      break;
    case 2:
      at.operator()<2>();
      break;
    case 3:
      at.operator()<3>();
      break;
    case 4:
      at.operator()<4>();
      break;
    default:
      at.operator()<5>();
      break;
  }
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(image, expected_image(c.map, c.at));
}
INSTANTIATE_TEST_SUITE_P(Boxes, TensorLoad, testing::ValuesIn(kCases));

TEST(TensorLoadTypes, Tf32RoundsToNearestEven) {
  // As seen on an H200.
  const std::uint32_t in[4] = {0x3f801fff, 0x3f801000, 0x807fffff, 0x7f800001};
  const std::uint32_t out[4] = {0x3f802000, 0x3f800000, 0x80800000, 0x7fffe000};
  alignas(16) std::uint32_t memory[4];
  std::copy_n(in, 4, memory);
  std::vector<std::byte> image;
  const std::int32_t at[1] = {0};
  load_box({.data_type = TmaDataType::tf32,
            .rank = 1,
            .address = reinterpret_cast<std::uint64_t>(memory),
            .dims = {4},
            .box = {4}},
           at, image);
  EXPECT_EQ(std::memcmp(image.data(), out, sizeof out), 0);
}

// Stores `tile` (values of T, one after another) at `at`, by `op` or plainly.
template <class T, int Rank, class Store>
Report store_box(const TmaDescriptorParams& map, const std::vector<T>& tile, const std::int32_t (&at)[Rank],
                 Store store) {
  const TmaDescriptor descriptor = pack(map);
  return simulate(kOneWarp, [&](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    if (thread_rank() != 0) return;
    T* to = reinterpret_cast<T*>(s.tile);
    for (std::size_t i = 0; i < tile.size(); ++i) st(space_shared, to + i, tile[i]);
    fence_proxy_async(space_shared);
    store(descriptor, at, s.tile);
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group(n32<0>);
  });
}

TEST(TensorStore, WritesTheBoxAndDropsWhatLiesBeyondTheTensor) {
  alignas(16) std::uint32_t memory[6][8];
  std::fill_n(&memory[0][0], 48, 7u);
  std::vector<std::uint32_t> tile(4 * 8);
  std::iota(tile.begin(), tile.end(), 100u);
  // 5 rows of 3 columns, 8 apart; the box is 8 wide and 4 high at (0, 2). Column 3 shares a chunk of 16 bytes with the
  // last column: an H200 was seen to write it too.
  const TmaDescriptorParams map{.data_type = TmaDataType::u32,
                                .rank = 2,
                                .address = reinterpret_cast<std::uint64_t>(memory),
                                .dims = {3, 5},
                                .strides = {32},
                                .box = {8, 4}};
  const Report report = store_box(map, tile, {0, 2}, [](const TmaDescriptor& d, const auto& at, const void* from) {
    cp_async_bulk_tensor(space_global, space_shared, &d, at, from);
  });
  EXPECT_TRUE(report.clean()) << report.text();
  for (std::uint32_t r = 0; r < 6; ++r) {
    for (std::uint32_t c = 0; c < 8; ++c) {
      const bool written = r >= 2 && r < 5 && c < 4;
      EXPECT_EQ(memory[r][c], written ? 100 + (r - 2) * 8 + c : 7u) << r << " " << c;
    }
  }
}

template <class T, class Op>
std::vector<T> reduced(TmaDataType type, std::vector<T> old, const std::vector<T>& values, Op op) {
  alignas(16) T memory[16];
  std::copy(old.begin(), old.end(), memory);
  const auto n = static_cast<std::uint32_t>(old.size());
  const TmaDescriptorParams map{
      .data_type = type, .rank = 1, .address = reinterpret_cast<std::uint64_t>(memory), .dims = {n}, .box = {n}};
  const Report report = store_box(map, values, {0}, [op](const TmaDescriptor& d, const auto& at, const void* from) {
    cp_reduce_async_bulk_tensor(space_global, space_shared, op, &d, at, from);
  });
  EXPECT_TRUE(report.clean()) << report.text();
  return {memory, memory + n};
}

TEST(TensorReduce, ComputesInTheArithmeticOfTheMap) {
  using U = std::vector<std::uint32_t>;
  using S = std::vector<std::int32_t>;
  const U old{1, 0xFFFFFFFF, 5, 12}, value{2, 3, 9, 10};
  EXPECT_EQ(reduced(TmaDataType::u32, old, value, op_add), (U{3, 2, 14, 22}));
  EXPECT_EQ(reduced(TmaDataType::u32, old, value, op_min), (U{1, 3, 5, 10}));
  EXPECT_EQ(reduced(TmaDataType::u32, old, value, op_max), (U{2, 0xFFFFFFFF, 9, 12}));
  EXPECT_EQ(reduced(TmaDataType::u32, old, value, op_inc), (U{2, 0, 6, 0}));
  EXPECT_EQ(reduced(TmaDataType::u32, old, value, op_dec), (U{0, 3, 4, 10}));
  EXPECT_EQ(reduced(TmaDataType::u32, old, value, op_and_op), (U{0, 3, 1, 8}));
  EXPECT_EQ(reduced(TmaDataType::u32, old, value, op_or_op), (U{3, 0xFFFFFFFF, 13, 14}));
  EXPECT_EQ(reduced(TmaDataType::u32, old, value, op_xor_op), (U{3, 0xFFFFFFFC, 12, 6}));
  EXPECT_EQ(reduced(TmaDataType::s32, S{-5, 7, 0, 1}, S{3, -9, 2, 1}, op_min), (S{-5, -9, 0, 1}));
  EXPECT_EQ(reduced<float>(TmaDataType::f32, {1.5f, 1e8f, -1, 0}, {2.25f, 1, 1, 3}, op_add),
            (std::vector<float>{3.75f, 1e8f, 0, 3}));
  std::vector<bf16> a(8, bf16(256)), b(8, bf16(1));
  EXPECT_EQ(reduced(TmaDataType::bf16, a, b, op_add)[0].bits, bf16(256).bits);  // 257 is a tie: to even
  EXPECT_EQ(reduced(TmaDataType::bf16, a, b, op_min)[0].bits, bf16(1).bits);
}

// As seen on an H200.
TEST(TensorReduce, OrdersMinusZeroBelowZeroAndPrefersNumbersToNaN) {
  const auto halves = [](std::uint16_t bits) { return std::vector<f16>(8, f16::from_bits(bits)); };
  EXPECT_EQ(reduced(TmaDataType::f16, halves(0x0000), halves(0x8000), op_min)[0].bits, 0x8000);
  EXPECT_EQ(reduced(TmaDataType::f16, halves(0x8000), halves(0x0000), op_max)[0].bits, 0x0000);
  EXPECT_EQ(reduced(TmaDataType::f16, halves(0x7E00), halves(0x3C00), op_min)[0].bits, 0x3C00);
  EXPECT_EQ(reduced(TmaDataType::f16, halves(0x3C00), halves(0x7E00), op_max)[0].bits, 0x3C00);
  const float sum =
      reduced<float>(TmaDataType::f32, std::vector<float>(4, __builtin_nanf("")), std::vector<float>(4, 1), op_add)[0];
  EXPECT_EQ(__builtin_bit_cast(std::uint32_t, sum), 0x7FFFFFFFu);
}

TEST(TensorReduce, ATypeWithoutTheOperationIsReported) {
  const TmaDescriptorParams map{.data_type = TmaDataType::f32, .rank = 1, .address = 1 << 20, .dims = {4}, .box = {4}};
  const Report report =
      store_box(map, std::vector<float>(4), {0}, [](const TmaDescriptor& d, const auto& at, const void* from) {
        cp_reduce_async_bulk_tensor(space_global, space_shared, op_max, &d, at, from);
      });
  EXPECT_TRUE(report.has("tensor-reduce-type")) << report.text();
}

TEST(TensorMulticast, ReachesEveryCtaOfTheMaskAtTheSameOffset) {
  std::vector<std::uint16_t> memory(64 * 64);
  std::iota(memory.begin(), memory.end(), std::uint16_t{0});
  const TmaDescriptor map = pack({.data_type = TmaDataType::u16,
                                  .rank = 2,
                                  .address = reinterpret_cast<std::uint64_t>(memory.data()),
                                  .dims = {64, 64},
                                  .strides = {128},
                                  .box = {64, 8},
                                  .swizzle = TmaSwizzle::bytes_128});
  std::vector<int> right(4);
  const Report report = simulate(
      {.grid = {4}, .cluster = {4}, .block = {32}, .shared_bytes = sizeof(Storage)},
      [&](SharedMemory shared) {
        Storage& s = shared.as<Storage>();
        const std::uint32_t rank = cluster_block_rank();
        const bool receives = rank != 2;
        if (thread_rank() == 0) {
          mbarrier_init(&s.barrier, 1);
          fence_mbarrier_init(sem_release, scope_cluster);
          if (receives) mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.barrier, 1024);
        }
        barrier_cluster_arrive(), barrier_cluster_wait();
        if (rank == 1 && thread_rank() == 0) {
          const std::int32_t at[2] = {0, 16};
          cp_async_bulk_tensor(space_cluster, space_global, s.tile + 2048, &map, at, &s.barrier, std::uint16_t{0b1011});
        }
        if (receives) {
          wait(&s.barrier, 0);
          // Row 3 of the box, chunk 5: bytes 16 (5 ^ 3) of the row.
          const auto* row = reinterpret_cast<std::uint16_t*>(s.tile + 2048 + 3 * 128);
          if (ld(space_shared, row + 8 * (5 ^ 3) + 1) == (16 + 3) * 64 + 5 * 8 + 1 && thread_rank() == 0)
            right[rank] = 1;
        }
        barrier_cluster_arrive(), barrier_cluster_wait();
      },
      {.seed = 2});
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(right, (std::vector<int>{1, 1, 0, 1}));
}

// What an H200 answers with an error, as a sentence.
TEST(TensorFaults, AreNamed) {
  alignas(128) static std::uint32_t memory[4096];
  const TmaDescriptorParams good{.data_type = TmaDataType::u32,
                                 .rank = 2,
                                 .address = reinterpret_cast<std::uint64_t>(memory),
                                 .dims = {64, 64},
                                 .strides = {256},
                                 .box = {8, 8}};
  const auto issue = [](const void* map, std::int32_t x, std::int32_t y, std::uint32_t offset, bool store) {
    return simulate(kOneWarp, [=](SharedMemory shared) {
      Storage& s = shared.as<Storage>();
      if (thread_rank() != 0) return;
      mbarrier_init(&s.barrier, 1);
      fence_mbarrier_init(sem_release, scope_cluster);
      const std::int32_t at[2] = {x, y};
      // Past the end of the tile for some: an address, not an element.
      auto* tile = reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(s.tile) + offset);
      if (store) {
        cp_async_bulk_tensor(space_global, space_shared, map, at, tile);
      } else {
        cp_async_bulk_tensor(space_cluster, space_global, tile, map, at, &s.barrier);
      }
    });
  };
  const TmaDescriptor map = pack(good);
  TmaDescriptorParams other = good;
  other.rank = 3;
  other.dims[2] = other.box[2] = 1;
  other.strides[1] = 16384;
  const TmaDescriptor nothing{}, deeper = pack(other);
  alignas(128) std::byte bytes[256];
  std::memcpy(bytes + 32, &map, sizeof map);
  EXPECT_TRUE(issue(bytes + 32, 0, 0, 0, false).has("tensor-map-alignment"));
  EXPECT_TRUE(issue(&map, 1, 0, 0, false).has("tensor-coordinate-alignment"));
  EXPECT_TRUE(issue(&map, 0, -1, 0, true).has("tensor-store-negative"));
  EXPECT_TRUE(issue(&map, 0, 0, 64, false).has("tensor-shared-alignment"));
  EXPECT_TRUE(issue(&map, 0, 0, sizeof(Storage) - 128, false).has("shared-out-of-range"));
  EXPECT_TRUE(issue(&nothing, 0, 0, 0, false).has("tensor-map-invalid"));
  EXPECT_TRUE(issue(&deeper, 0, 0, 0, false).has("tensor-map-mismatch"));
}

TEST(TensorFaults, TheSharedSideIsInSharedMemory) {
  alignas(128) static std::uint32_t memory[4096], elsewhere[1024];
  const TmaDescriptor map = pack({.data_type = TmaDataType::u32,
                                  .rank = 1,
                                  .address = reinterpret_cast<std::uint64_t>(memory),
                                  .dims = {64, 1, 1, 1, 1},
                                  .box = {64, 1, 1, 1, 1}});
  const std::int32_t at[1] = {0};
  const Report report = simulate(kOneWarp, [&](SharedMemory) {
    if (thread_rank() == 0) cp_async_bulk_tensor(space_global, space_shared, &map, at, elsewhere);
  });
  EXPECT_TRUE(report.has("tensor-shared-address")) << report.text();
}

}  // namespace
}  // namespace gantry

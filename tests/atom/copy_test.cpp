// Copies in the simulator: every element arrives, in the widest accesses that the layouts allow, and the machine has
// nothing to object to.
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/atom/mma_copy.hpp>
#include <gantry/layout/smem_atoms.hpp>

#include "simulate.hpp"

namespace gantry {
namespace {

using test::simulate;

template <class Op>
struct Whole {  // one instruction: the block that it moves
  using Atom = Copy_Atom<Op, std::uint16_t>;
  static constexpr TiledCopyLayout value =
      make_tiled_copy_impl(Atom::value, Atom::value.reference, make_tile(Int::fixed(64 * Op::count)));
};

template <int count>
struct Block {
  alignas(128) std::uint16_t elements[64 * count];
};

template <class Op>
class Loads : public testing::Test {};
template <class Op>
class Stores : public testing::Test {};
using LoadOperations = testing::Types<SM75_U32x1_LDSM_N, SM75_U32x2_LDSM_N, SM75_U32x4_LDSM_N, SM75_U16x2_LDSM_T,
                                      SM75_U16x4_LDSM_T, SM75_U16x8_LDSM_T>;
using StoreOperations = testing::Types<SM90_U32x1_STSM_N, SM90_U32x2_STSM_N, SM90_U32x4_STSM_N, SM90_U16x2_STSM_T,
                                       SM90_U16x4_STSM_T, SM90_U16x8_STSM_T>;
TYPED_TEST_SUITE(Loads, LoadOperations);
TYPED_TEST_SUITE(Stores, StoreOperations);

TYPED_TEST(Loads, GiveEveryLaneTheElementsOfItsLayout) {
  constexpr int n = 64 * TypeParam::count;
  int wrong = 0;
  const Report report =
      simulate({.block = {32}, .shared_bytes = sizeof(Block<TypeParam::count>)}, [&](SharedMemory shared) {
        const int lane = static_cast<int>(arch::lane_rank());
        const auto block = make_tensor(make_smem_ptr(shared.as<Block<TypeParam::count>>().elements), Tile<n>{});
        for (int i = lane; i < n; i += 32) block(i) = static_cast<std::uint16_t>(i);
        arch::syncwarp();
        const TiledCopy<Whole<TypeParam>> tiled;
        const auto mine = tiled.get_slice(lane);
        const auto wanted = mine.partition_D(make_identity_tensor(Tile<n>{}));
        auto registers = make_fragment_like<std::uint16_t>(wanted);
        copy(tiled, mine.partition_S(block), registers);
        for_each_element(registers, [&](auto i) { wrong += registers(i) != wanted(i)[0]; });
      });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(wrong, 0);
}

TYPED_TEST(Stores, PutEveryElementInItsPlace) {
  constexpr int n = 64 * TypeParam::count;
  int wrong = 0;
  const Report report =
      simulate({.block = {32}, .shared_bytes = sizeof(Block<TypeParam::count>)}, [&](SharedMemory shared) {
        const int lane = static_cast<int>(arch::lane_rank());
        const auto block = make_tensor(make_smem_ptr(shared.as<Block<TypeParam::count>>().elements), Tile<n>{});
        const TiledCopy<Whole<TypeParam>> tiled;
        const auto mine = tiled.get_slice(lane);
        const auto source = mine.partition_S(make_identity_tensor(Tile<n>{}));
        auto registers = make_fragment_like<std::uint16_t>(source);
        for_each_element(registers, [&](auto i) { registers(i) = static_cast<std::uint16_t>(source(i)[0]); });
        copy(tiled, registers, mine.partition_D(block));
        arch::syncwarp();
        for (int i = lane; i < n; i += 32) wrong += block(i) != i;
      });
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(wrong, 0);
}

// ---- Accumulators to swizzled shared memory, row-major with stmatrix and column-major with its transposing form

struct Mma {
  using Operation = SM90_GMMA<64, float, bf16, bf16>;
  static constexpr TiledMmaLayout value = make_tiled_mma(MMA_Atom<Operation>::value);
};

template <Major major>
struct Buffer {
  static constexpr ComposedLayout value = tile_to_shape(smem_atom(major, SwizzleMode::b128, 16), make_shape(_64, _64));
};

template <class Op, Major major, bool independent>
void expect_a_fragment_to_reach(int* wrong) {
  struct Storage {
    alignas(1024) bf16 tile[64 * 64];
  };
  const Report report = simulate({.block = {128}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
    const int thread = static_cast<int>(arch::thread_rank());
    const TiledMma<Mma> mma;
    const auto place = mma.get_slice(thread).partition_C(make_identity_tensor(Tile<64, 64>{}));
    auto acc = partition_fragment_C(mma, Tile<64, 64>{});
    for_each_element(acc, [&](auto i) { acc(i) = static_cast<float>(place(i)[0] + 64 * (place(i)[1] % 4)); });

    const auto tile = make_tensor(make_smem_ptr(shared.as<Storage>().tile), Buffer<major>{});
    const auto target = [&] {
      if constexpr (independent) {
        return as_position_independent_swizzle_tensor(tile);
      } else {
        return tile;
      }
    }();
    const auto store = make_tiled_copy_C_atom(Copy_Atom<Op, bf16>{}, mma);
    const auto mine = store.get_slice(thread);
    const auto parts = mine.partition_D(target);
    auto converted = make_tensor<bf16>([] { return make_layout(make_shape(Int::fixed(32))); });
    convert(coalesce(mine.retile_S(acc)), converted);
    const auto values = with_layout(converted, [](const Layout&) {
      constexpr int v = Copy_Atom<Op, bf16>::source_values;
      return make_layout(make_shape(Int::fixed(v), Int::fixed(32 / v)));
    });
    copy(store, values, parts);
    arch::syncthreads();
    for (int i = thread; i < 64 * 64; i += 128) {
      *wrong += float(static_cast<bf16>(tile(i % 64, i / 64))) != static_cast<float>(i % 64 + 64 * (i / 64 % 4));
    }
  });
  EXPECT_TRUE(report.clean()) << report.text();
}

TEST(MatrixStores, PutAccumulatorsIntoSwizzledTilesOfEitherMajor) {
  int wrong = 0;
  expect_a_fragment_to_reach<SM90_U32x4_STSM_N, Major::K, true>(&wrong);
  expect_a_fragment_to_reach<SM90_U32x2_STSM_N, Major::K, false>(&wrong);
  expect_a_fragment_to_reach<SM90_U16x8_STSM_T, Major::MN, true>(&wrong);
  expect_a_fragment_to_reach<SM90_U16x4_STSM_T, Major::MN, false>(&wrong);
  EXPECT_EQ(wrong, 0);
}

// ---- Vectors

struct Rows {
  static constexpr Layout value = make_layout(make_shape(_64, _64), make_stride(Int::unknown(), _1));
};
struct Threads {
  static constexpr Layout value = make_layout(make_shape(_16, _8), LayoutRight{});
};

template <class From, class To>
constexpr int width(const From&, const To&) {
  return detail::VectorPlanOf<From, To, 128>::value.elements;
}

TEST(VectorCopies, AreAsWideAsBothLayoutsAllow) {
  alignas(16) float memory[1024] = {};
  const auto rows = make_tensor(make_gmem_ptr(memory), [] { return make_layout(make_shape(_8, _32), LayoutRight{}); });
  const auto columns = make_tensor(make_gmem_ptr(memory), Tile<8, 32>{});
  const auto pairs = make_tensor(make_gmem_ptr(memory), [] {
    return make_layout(make_shape(make_shape(_2, _4), _32), make_stride(make_stride(_1, _64), _2));
  });
  const auto odd = make_tensor(make_gmem_ptr(memory),
                               [] { return make_layout(make_shape(_8, _32), make_stride(Int::fixed(33), _1)); });
  EXPECT_EQ(width(rows, rows), 4);
  EXPECT_EQ(width(rows, columns), 1);
  EXPECT_EQ(width(columns, pairs), 2);
  EXPECT_EQ(width(odd, odd), 1);  // rows start at odd addresses
  const auto some = make_tensor(
      make_gmem_ptr(memory), [] { return make_layout(make_shape(_8, _32), make_stride(Int::unknown(), _1)); }, 100);
  auto registers = make_tensor_like(rows);
  EXPECT_EQ(width(registers, some), 4);
  const auto swizzled = make_tensor(make_smem_ptr(memory), [] {
    return tile_to_shape(smem_atom(Major::K, SwizzleMode::b128, 32), make_shape(_8, _32));
  });
  EXPECT_EQ(width(registers, swizzled), 4);
}

TEST(VectorCopies, MoveEveryElementBetweenMemories) {
  struct Storage {
    alignas(1024) bf16 tile[64 * 64];
  };
  std::vector<bf16> from(64 * 72), to(64 * 72, bf16(-1));
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = bf16::from_bits(static_cast<std::uint16_t>(i));
  const Report report = simulate({.block = {128}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
    const int thread = static_cast<int>(arch::thread_rank());
    const auto tiled = make_tiled_copy(Copy_Atom<UniversalCopy<uint128>, bf16>{}, Threads{}, Tile<1, 8>{});
    const auto mine = tiled.get_slice(thread);
    const auto source = mine.partition_S(make_tensor(make_gmem_ptr(from.data()), Rows{}, 72));
    const auto tile = make_tensor(make_smem_ptr(shared.as<Storage>().tile), Buffer<Major::K>{});
    copy(tiled, source, mine.partition_D(tile));  // global to shared
    arch::syncthreads();
    const auto columns = make_tiled_copy(Copy_Atom<AutoVectorizingCopy, bf16>{}, Tile<8, 16>{}, Tile<4, 1>{});
    const auto strided = columns.get_slice(thread).partition_S(tile);
    auto registers = make_fragment_like(strided);
    copy(columns, strided, registers);
    copy(registers, columns.get_slice(thread).partition_D(make_tensor(make_gmem_ptr(to.data()), Rows{}, 72)));
  });
  EXPECT_TRUE(report.clean()) << report.text();
  for (std::size_t i = 0; i < from.size(); ++i) {
    ASSERT_EQ(to[i].bits, i % 72 < 64 ? from[i].bits : bf16(-1).bits) << i;
  }
}

TEST(VectorCopies, SkipElementsWhosePredicateIsFalse) {
  std::vector<float> from(128), to(128, -1);
  std::iota(from.begin(), from.end(), 0.0f);
  const Report report = simulate({.block = {32}}, [&](SharedMemory) {
    const int thread = static_cast<int>(arch::thread_rank());
    const auto tiled = make_tiled_copy(Copy_Atom<UniversalCopy<std::uint64_t>, float>{}, Tile<32>{}, Tile<2>{});
    const auto mine = tiled.get_slice(thread);
    const auto place = mine.partition_S(make_identity_tensor(Tile<128>{}));  // ((2, 1), 2)
    copy_if(
        tiled, [&](auto i) { return place(2 * i)[0] < 100; },
        mine.partition_S(make_tensor(make_gmem_ptr(from.data()), Tile<128>{})),
        mine.partition_D(make_tensor(make_gmem_ptr(to.data()), Tile<128>{})));
  });
  EXPECT_TRUE(report.clean()) << report.text();
  for (int i = 0; i < 128; ++i)
    ASSERT_EQ(to[static_cast<std::size_t>(i)], i < 100 ? static_cast<float>(i) : -1.0f) << i;
}

TEST(VectorCopies, ConvertWhereTypesDiffer) {
  auto sums = make_tensor<float>(Tile<8>{});
  auto halves = make_tensor<f16>(Tile<8>{});
  auto bytes = make_tensor<e4m3>(Tile<8>{});
  auto integers = make_tensor<std::int8_t>(Tile<8>{});
  for_each_element(sums, [&](auto i) { sums(i) = static_cast<float>(i) * 1.37f - 3; });
  copy(sums, halves);
  convert(sums, bytes);
  copy(sums, integers);
  for_each_element(sums, [&](auto i) {
    EXPECT_EQ(halves(i).bits, f16(sums(i)).bits);
    EXPECT_EQ(bytes(i).bits, convert<e4m3>(sums(i)).bits);
    EXPECT_EQ(integers(i), convert<std::int8_t>(sums(i)));
  });
}

}  // namespace
}  // namespace gantry

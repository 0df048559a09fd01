// Tensors over memory and registers: elements, slices, run-time extents and strides, packed elements, and who sees
// them.
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/tensor/fragment.hpp>

namespace {

using namespace gantry;

struct Column {
  static constexpr Layout value = make_layout(make_shape(_4, make_shape(_2, _3)));
};
struct Padded {
  static constexpr Layout value =
      make_layout(make_shape(_4, make_shape(_2, _3)), make_stride(_1, make_stride(Int::fixed(20), _5)));
};

std::vector<float> counting(int n) {
  std::vector<float> out(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) out[static_cast<std::size_t>(i)] = static_cast<float>(i);
  return out;
}

template <class L>
class EveryLayout : public testing::Test {};
using Layouts = testing::Types<Column, Padded>;
TYPED_TEST_SUITE(EveryLayout, Layouts);

TYPED_TEST(EveryLayout, PutsElementsWhereTheLayoutSays) {
  std::vector<float> memory = counting(64);
  const auto t = make_tensor(make_gmem_ptr(memory.data()), TypeParam{});
  static_assert(size_v<decltype(t)> == 24);
  static_assert(size_v<decltype(t), 0> * size_v<decltype(t), 1> == 24);
  for (int i = 0; i < 24; ++i) EXPECT_EQ(t(i), static_cast<float>(TypeParam::value(i)));
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 2; ++j) {
      for (int k = 0; k < 3; ++k) {
        const auto expected = static_cast<float>(TypeParam::value(i, make_coord(j, k)));
        EXPECT_EQ(t(i, coord(j, k)), expected);
        EXPECT_EQ(t(i, j + 2 * k), expected);
        EXPECT_EQ(t(_, coord(j, k))(i), expected);
        EXPECT_EQ(t(i, _)(j + 2 * k), expected);
        EXPECT_EQ(t(i, coord(j, _))(k), expected);
        EXPECT_EQ(t(_, coord(j, _))(i, k), expected);
        EXPECT_EQ(t(_, _)(i, coord(j, k)), expected);
        EXPECT_EQ(*raw_pointer_cast(t.address(i, coord(j, k))), expected);
      }
    }
  }
}

TEST(Tensor, IsAViewOfItsMemory) {
  std::vector<float> memory = counting(24);
  auto t = make_tensor(make_smem_ptr(memory.data()), Column{});
  const auto row = t(1, _);
  row(5) = 100;
  row(0) = row(5);
  EXPECT_EQ(memory[21], 100);
  EXPECT_EQ(memory[1], 100);
  const float* constant = memory.data();
  EXPECT_EQ(make_tensor(make_gmem_ptr(constant), Column{})(1, 5), 100);
}

TEST(Tensor, InRegistersOwnsItsElements) {
  auto t = make_tensor<int>(Padded{});
  static_assert(sizeof(t) == sizeof(int) * 34);
  for_each_element(t, [&](auto i) { t(i) = 10 * i; });
  auto copy = t;
  t(2, _)(3) = -1;
  EXPECT_EQ(t(2, 3), -1);
  EXPECT_EQ(copy(2, 3), 10 * (2 + 4 * 3));
  fill(copy, 7);
  EXPECT_EQ(copy(23), 7);
  clear(copy);
  EXPECT_EQ(copy(0), 0);
}

constexpr int sum_at_compile_time() {
  auto t = make_tensor<int>(Tile<3, 5>{});
  for_each_element(t, [&](auto i) { t(i) = i; });
  int sum = 0;
  for (int i = 0; i < 5; ++i) sum += t(2, i);
  return sum;
}
static_assert(sum_at_compile_time() == 2 + 5 + 8 + 11 + 14);

struct Batched {
  static constexpr Layout value = make_layout(make_shape(Int::unknown(), Int::unknown(), Int::unknown()),
                                              make_stride(Int::unknown(), _1, Int::unknown()));
};

TEST(Tensor, TakesRunTimeExtentsAndStridesInReadingOrder) {
  std::vector<float> memory = counting(1000);
  const int m = 5;
  const int n = 7;
  const int batches = 3;
  const auto t = make_tensor(make_gmem_ptr(memory.data()), Batched{}, m, n, batches, 10, 100);
  EXPECT_EQ(size<0>(t), 5);
  EXPECT_EQ(size<1>(t), 7);
  EXPECT_EQ(size<2>(t), 3);
  EXPECT_EQ(size(t), 105);
  EXPECT_EQ(t(4, 6, 2), 246);
  const auto batch = t(_, _, 1);
  EXPECT_EQ(size(batch), 35);
  EXPECT_EQ(batch(3, 2), 132);
  const auto across = t(1, _, _);
  EXPECT_EQ(size<0>(across), 7);
  EXPECT_EQ(size<1>(across), 3);
  EXPECT_EQ(across(2, 2), 212);
}

TEST(Tensor, StrideZeroRepeatsAnElement) {
  float bias[6] = {0, 1, 2, 3, 4, 5};
  const auto t = make_tensor(make_gmem_ptr(bias), [] { return make_layout(make_shape(_8, _6), make_stride(_0, _1)); });
  for (int i = 0; i < 48; ++i) EXPECT_EQ(t(i), bias[i / 8]);
}

template <class T>
class Packed : public testing::Test {};
using PackedTypes = testing::Types<s4, u4, u1, e2m1, e3m2>;
TYPED_TEST_SUITE(Packed, PackedTypes);

TYPED_TEST(Packed, ElementsShareBytesAndNothingElse) {
  constexpr int n = 40;
  constexpr int width = sizeof_bits_v<TypeParam>;
  std::uint8_t memory[n] = {};
  std::uint8_t expected[n] = {};
  auto t = make_tensor(make_smem_ptr<TypeParam>(static_cast<void*>(memory)), Tile<8, 5>{});
  auto registers = make_tensor<TypeParam>(Tile<8, 5>{});
  static_assert(sizeof(registers) == (8 * 5 * width + 7) / 8);
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 5; ++j) {
      TypeParam x;
      x.bits = static_cast<std::uint8_t>((3 * i + 5 * j) & ((1 << width) - 1));
      t(_, j)(i) = x;
      registers(i, j) = x;
      store_packed(expected, i + 8 * j, x);
    }
  }
  EXPECT_EQ(0, std::memcmp(memory, expected, n));
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(TypeParam(t(i)).bits, load_packed<TypeParam>(expected, i).bits);
    EXPECT_EQ(TypeParam(registers(i)).bits, load_packed<TypeParam>(expected, i).bits);
  }
  t(3, 1) = t(2, 4);
  EXPECT_EQ(TypeParam(t(11)).bits, load_packed<TypeParam>(expected, 34).bits);
}

std::vector<std::pair<const void*, Memory>> loads;
std::vector<std::pair<const void*, Memory>> stores;

TEST(Tensor, AccessesToSharedAndGlobalMemoryAreSeenByTheHooks) {
  loads.clear();
  stores.clear();
  memory_hooks = {.load =
                      [](Memory memory, void* to, const void* from, std::uint32_t bytes) {
                        loads.emplace_back(from, memory);
                        std::memcpy(to, from, bytes);
                      },
                  .store =
                      [](Memory memory, void* to, const void* from, std::uint32_t bytes) {
                        stores.emplace_back(to, memory);
                        std::memcpy(to, from, bytes);
                      }};
  float global[24] = {};
  float shared[24] = {};
  auto g = make_tensor(make_gmem_ptr(global), Column{});
  auto s = make_tensor(make_smem_ptr(shared), Column{});
  auto r = make_fragment_like(g);
  r(3) = g(1, 2);
  s(3, coord(1, _))(2) = r(3);
  memory_hooks = {};
  using Seen = std::vector<std::pair<const void*, Memory>>;
  EXPECT_EQ(loads, (Seen{{&global[9], Memory::global}}));
  EXPECT_EQ(stores, (Seen{{&shared[23], Memory::shared}}));
}

TEST(Tensor, FragmentsKeepTheOrderOfWhatTheyAreLike) {
  float memory[64] = {};
  const auto rows =
      make_tensor(make_gmem_ptr(memory), [] { return make_layout(make_shape(_2, _4, _8), make_stride(_1, _16, _2)); });
  static_assert(decltype(make_fragment_like(rows))::LayoutType::value ==
                make_layout(make_shape(_2, _4, _8), make_stride(_1, _16, _2)));
  const auto strided = make_tensor(
      make_gmem_ptr(memory), [] { return make_layout(make_shape(_4, _8), make_stride(Int::unknown(), _1)); }, 100);
  static_assert(size_v<decltype(make_fragment_like<double>(strided))> == 32);
  static_assert(cosize(decltype(make_tensor_like(strided))::LayoutType::value) == 32);
}

}  // namespace

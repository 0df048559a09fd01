#include <random>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/numeric.hpp>

#include "mismatch.hpp"
#include "types_of.hpp"

namespace gantry::test {
namespace {

template <class T>
T from_pattern(unsigned pattern) {
  T x;
  x.bits = static_cast<std::uint8_t>(pattern & ((1u << sizeof_bits_v<T>)-1));
  return x;
}

template <class T>
struct PackedElements : testing::Test {};
using SubByteTypes = TypesOf<s4, u4, s2, u2, u1, e2m1, e2m3, e3m2>;
TYPED_TEST_SUITE(PackedElements, SubByteTypes);

// The model: a string of single bits, element i in bits [i * width, (i + 1) * width), bit k of memory in byte k / 8.
TYPED_TEST(PackedElements, LieWithoutGapsFromTheLowestBit) {
  constexpr int width = sizeof_bits_v<TypeParam>;
  constexpr int count = 43;
  std::mt19937 random(40);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(bytes_for_bits(width, count)), 0xff);
  std::vector<bool> model(bytes.size() * 8, true);
  Mismatch mismatch;
  for (int step = 0; step < 2000; ++step) {
    const std::size_t index = random() % count;
    const auto x = from_pattern<TypeParam>(static_cast<unsigned>(random()));
    store_packed(bytes.data(), static_cast<std::int64_t>(index), x);
    for (std::size_t k = 0; k < width; ++k) model[index * width + k] = (x.bits >> k & 1) != 0;
    for (std::size_t k = 0; k < model.size(); ++k) mismatch.expect(((bytes[k / 8] >> (k % 8) & 1) != 0) == model[k], k);
    mismatch.compare(load_packed<TypeParam>(bytes.data(), static_cast<std::int64_t>(index)).bits, x.bits, index);
  }
  EXPECT_FALSE(mismatch.found()) << mismatch;
}

TYPED_TEST(PackedElements, AreReadAndWrittenThroughAnArray) {
  PackedArray<TypeParam, 16> a{};
  static_assert(sizeof(a) == 2 * sizeof_bits_v<TypeParam> && a.size() == 16 && std::is_trivial_v<decltype(a)>);
  for (int i = 0; i < 16; ++i) a[i] = from_pattern<TypeParam>(static_cast<unsigned>(i));
  const auto& constant = a;
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(constant[i].bits, from_pattern<TypeParam>(static_cast<unsigned>(i)).bits);
  }
  a[3] = a[5];
  EXPECT_EQ(constant[3].bits, constant[5].bits) << "assignment between places moves the element";
}

TEST(Packed, TheFirstElementOfAByteIsInItsLowBits) {
  PackedArray<s4, 8> a{};
  a[0] = s4(1);
  a[1] = s4(-2);
  a[7] = s4(7);
  EXPECT_EQ(a.bytes[0], 0xe1);
  EXPECT_EQ(a.bytes[3], 0x70);
}

TEST(Packed, WorksInConstantExpressions) {
  constexpr auto a = [] {
    PackedArray<u1, 12> bits{};
    bits[9] = u1(1);
    return bits;
  }();
  static_assert(sizeof(a) == 2 && a.bytes[0] == 0 && a.bytes[1] == 2 && a[9] == 1 && a[8] == 0);
}

TEST(Packed, ArraysAreAlignedForVectorAccess) {
  static_assert(alignof(PackedArray<s4, 8>) == 4 && alignof(PackedArray<s4, 32>) == 16);
  static_assert(alignof(PackedArray<s4, 64>) == 16 && alignof(PackedArray<e2m3, 4>) == 1);
  static_assert(sizeof(PackedArray<e2m3, 16>) == 12 && alignof(PackedArray<e2m3, 16>) == 4);
}

TEST(SizeofBits, IsTheWidthInMemory) {
  static_assert(sizeof_bits_v<u1> == 1 && sizeof_bits_v<s4> == 4 && sizeof_bits_v<e2m1> == 4);
  static_assert(sizeof_bits_v<e3m2> == 6 && sizeof_bits_v<e4m3> == 8 && sizeof_bits_v<f16> == 16);
  static_assert(sizeof_bits_v<tf32> == 32 && sizeof_bits_v<double> == 64 && sizeof_bits_v<cf64> == 128);
  static_assert(sizeof_bits_v<const s4> == 4 && sizeof_bits<void>::value == 0);
  static_assert(!SubByte<e4m3> && SubByte<s4> && SubByte<e2m3>);
}

}  // namespace
}  // namespace gantry::test

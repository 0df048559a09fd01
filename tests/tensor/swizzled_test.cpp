// Swizzled shared memory: both kinds of pointer put elements where TMA would, through every kind of slice.
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/layout/smem_atoms.hpp>
#include <gantry/tensor/recast.hpp>

namespace {

using namespace gantry;

template <class T, Major kMajor, SwizzleMode kMode>
struct Case {
  using Element = T;
  static constexpr Major major = kMajor;
  static constexpr ComposedLayout value =
      tile_to_shape(smem_atom(kMajor, kMode, sizeof_bits_v<T>),
                    kMajor == Major::K ? make_shape(_32, _128, _3) : make_shape(_128, _32, _3));
};

template <class C>
class Swizzled : public testing::Test {
 protected:
  using T = typename C::Element;
  static constexpr int kBytes = static_cast<int>(cosize(C::value) * sizeof_bits_v<T> / 8);

  // The byte of an element by the definition: the swizzle of the address that the plain layout gives.
  static std::int64_t byte_of(int m, int n, int stage) {
    return C::value.swizzle()(C::value.layout()(m, n, stage) * sizeof_bits_v<T> / 8);
  }
  // A buffer in which neighbours can be told apart.
  Swizzled() : memory(kBytes / 1024 + 1) {
    for (int i = 0; i < kBytes; ++i) bytes()[i] = static_cast<unsigned char>(i * 37 + i / 256);
  }
  unsigned char* bytes() { return memory.data()->bytes; }
  T element_at(std::int64_t byte) {
    T out;
    std::memcpy(&out, bytes() + byte, sizeof(T));
    return out;
  }
  T expected(int m, int n, int stage) { return element_at(byte_of(m, n, stage)); }
  auto by_address() { return make_tensor(make_smem_ptr<T>(static_cast<void*>(memory.data())), C{}); }
  auto by_offset() { return as_position_independent_swizzle_tensor(by_address()); }

  struct alignas(1024) Line {
    unsigned char bytes[1024];
  };
  std::vector<Line> memory;
};

using Cases =
    testing::Types<Case<std::uint8_t, Major::K, SwizzleMode::b128>, Case<std::uint16_t, Major::MN, SwizzleMode::b128>,
                   Case<std::uint16_t, Major::K, SwizzleMode::b64>, Case<std::uint32_t, Major::MN, SwizzleMode::b32>,
                   Case<std::uint64_t, Major::K, SwizzleMode::b128>, Case<std::uint16_t, Major::K, SwizzleMode::none>>;
TYPED_TEST_SUITE(Swizzled, Cases);

template <class F>
void for_some(const F& f) {
  for (int stage = 0; stage < 3; ++stage) {
    for (int m = 0; m < 32; ++m) {
      for (int n = 0; n < 32; ++n) f(m, n, stage);
    }
  }
}

TYPED_TEST(Swizzled, ElementsLieWhereTheSwizzledAddressSays) {
  const auto a = this->by_address();
  const auto o = this->by_offset();
  for_some([&](int m, int n, int stage) {
    ASSERT_EQ(a(m, n, stage), this->expected(m, n, stage));
    ASSERT_EQ(o(m, n, stage), this->expected(m, n, stage));
    ASSERT_EQ(reinterpret_cast<unsigned char*>(raw_pointer_cast(o.address(m, n, stage))) - this->bytes(),
              this->byte_of(m, n, stage));
    ASSERT_EQ(raw_pointer_cast(a.address(m, n, stage)), raw_pointer_cast(o.address(m, n, stage)));
  });
}

TYPED_TEST(Swizzled, SlicesFindTheSameElements) {
  const auto a = this->by_address();
  const auto o = this->by_offset();
  for_some([&](int m, int n, int stage) {
    const auto e = this->expected(m, n, stage);
    ASSERT_EQ(a(_, _, stage)(m, n), e);
    ASSERT_EQ(o(_, _, stage)(m, n), e);
    ASSERT_EQ(o(m, _, stage)(n), e);
    ASSERT_EQ(o(_, n, stage)(m), e);
    ASSERT_EQ(o(m, n, _)(stage), e);
    ASSERT_EQ(o(_, _, stage)(m, _)(n), e);
    ASSERT_EQ(o(_, n, _)(_, stage)(m), e);
  });
}

TYPED_TEST(Swizzled, ConstantCoordinatesFindTheSameElements) {
  const auto o = this->by_offset();
  for (int m = 0; m < 32; ++m) {
    const auto row = o(m, _, Constant<1>{});
    for_each_index<8>([&](auto n) { EXPECT_EQ(row(Constant<3 * n>{}), this->expected(m, 3 * n, 1)); });
  }
}

TYPED_TEST(Swizzled, NestedCoordinatesFindTheSameElements) {
  const auto o = this->by_offset();
  constexpr int rows = static_cast<int>(size(TypeParam::value.layout()[0][0]));
  constexpr int columns = static_cast<int>(size(TypeParam::value.layout()[1][0]));
  for_some([&](int m, int n, int stage) {
    const auto inside = o(coord(m % rows, _), coord(_, n / columns), stage);
    ASSERT_EQ(inside(m / rows, n % columns), this->expected(m, n, stage));
  });
}

TYPED_TEST(Swizzled, ADomainOffsetMayCarryAcrossSwizzledBits) {
  constexpr int width = sizeof(typename TypeParam::Element);
  constexpr Layout l = TypeParam::value.layout();
  const auto o = domain_offset(coord(3, 5, 1), this->by_offset());
  const auto a = domain_offset(coord(3, 5, 1), this->by_address());
  for (int m = 0; m < 16; ++m) {
    for (int n = 0; n < 16; ++n) {
      const auto expected = this->element_at(TypeParam::value.swizzle()((l(3, 5, 1) + l(m, n, 0)) * width));
      ASSERT_EQ(a(m, n, 0), expected) << m << " " << n;
      ASSERT_EQ(o(m, n, 0), expected) << m << " " << n;
      ASSERT_EQ(o(m, _, 0)(n), expected) << m << " " << n;
    }
  }
}

TYPED_TEST(Swizzled, TilesFindTheSameElements) {
  const auto o = this->by_offset();
  const auto tile = local_tile(o, Tile<16, 16>{}, coord(1, 1, 2));
  for (int m = 0; m < 16; ++m) {
    for (int n = 0; n < 16; ++n) ASSERT_EQ(tile(m, n), this->expected(16 + m, 16 + n, 2));
  }
}

TYPED_TEST(Swizzled, WritesGoToTheSamePlaces) {
  const auto o = this->by_offset();
  const auto a = this->by_address();
  o(7, _, 2)(9) = 5;
  a(_, 11, 1)(13) = 6;
  EXPECT_EQ(this->element_at(this->byte_of(7, 9, 2)), 5);
  EXPECT_EQ(this->element_at(this->byte_of(13, 11, 1)), 6);
}

TYPED_TEST(Swizzled, RecastToVectorsReadsWholeChunks) {
  using E = typename TypeParam::Element;
  constexpr int n = 16 / sizeof(E);
  const auto vectors = recast<uint128>(this->by_offset());
  const auto vectors_by_address = recast<uint128>(this->by_address());
  for (int slow = 0; slow < 32; ++slow) {
    for (int chunk = 0; chunk < 32 / n; ++chunk) {
      constexpr bool k_major = TypeParam::major == Major::K;
      const uint128 v = k_major ? vectors(slow, chunk, 1) : vectors(chunk, slow, 1);
      const uint128 w = k_major ? vectors_by_address(slow, chunk, 1) : vectors_by_address(chunk, slow, 1);
      E values[n];
      std::memcpy(values, &v, 16);
      EXPECT_EQ(0, std::memcmp(&v, &w, 16));
      for (int i = 0; i < n; ++i) {
        const int fast = chunk * n + i;
        EXPECT_EQ(values[i], k_major ? this->expected(slow, fast, 1) : this->expected(fast, slow, 1));
      }
    }
  }
}

struct Halves {
  static constexpr ComposedLayout value = smem_atom(Major::K, SwizzleMode::b128, 16);
};

TEST(SwizzledTensor, FromAStartThatIsNotAlignedIsRefused) {
  alignas(1024) std::uint16_t memory[1024] = {};
  const auto t = make_tensor(make_smem_ptr(memory + 8), Halves{});
  EXPECT_THROW(as_position_independent_swizzle_tensor(t), LayoutError);
  try {
    as_position_independent_swizzle_tensor(t);
  } catch (const LayoutError& e) {
    EXPECT_STREQ(
        e.what(),
        "a swizzled buffer starts 16 bytes past a multiple of 1024: it starts at a multiple of its swizzle's period");
  }
}

TEST(SwizzledTensor, ByAddressIsRightWhereverItStarts) {
  alignas(1024) std::uint16_t memory[2048] = {};
  for (int i = 0; i < 2048; ++i) memory[i] = static_cast<std::uint16_t>(i);
  const auto t = make_tensor(make_smem_ptr(memory + 128), Halves{});
  for (int i = 0; i < 512; ++i) EXPECT_EQ(t(i) * 2, Swizzle(3, 4, 3)((Halves::value.layout()(i) + 128) * 2));
}

TEST(SwizzledTensor, OfPackedElementsSwizzlesTheirBytes) {
  struct alignas(1024) Buffer {
    std::uint8_t bytes[1024];
  } memory = {};
  const auto t = make_tensor(make_smem_ptr<u4>(static_cast<void*>(memory.bytes)),
                             [] { return smem_atom(Major::K, SwizzleMode::b128, 4); });
  const auto o = as_position_independent_swizzle_tensor(t);
  t(3, 65) = u4(9);
  EXPECT_EQ(memory.bytes[3 * 128 + ((2 ^ 3) * 16)], 0x90);
  EXPECT_EQ(u4(o(3, _)(65)).bits, 9);
}

TEST(SwizzledTensor, OfAnOffsetStartsThere) {
  alignas(1024) std::uint16_t memory[1024] = {};
  for (int i = 0; i < 1024; ++i) memory[i] = static_cast<std::uint16_t>(i);
  struct Shifted {
    GANTRY_HD constexpr ComposedLayout operator()() const {
      return ComposedLayout(Swizzle(3, 3, 3), Int::fixed(64 + 8), make_layout(_8));
    }
  };
  const auto t = make_tensor(make_smem_ptr(memory), Shifted{});
  for (int i = 0; i < 8; ++i) EXPECT_EQ(t(i), Shifted{}()(i));
}

}  // namespace

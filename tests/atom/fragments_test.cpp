// Who holds what: the layouts of atoms against the tables of the instruction set, register by register.
#include <gtest/gtest.h>

#include <gantry/atom/copy_atom.hpp>
#include <gantry/atom/mma_atom.hpp>
#include <gantry/tensor/recast.hpp>

namespace gantry {
namespace {

struct Thread {
  int warp, lane;
  explicit Thread(int t) : warp(t / 32), lane(t % 32) {}
};

TEST(MmaFragments, AccumulatorRegistersAreWhereTheInstructionPutsThem) {
  for (int n = 8; n <= 256; n += 8) {
    const Layout c = gmma_c_layout(n);
    ASSERT_EQ(size(c, 0), 128);
    ASSERT_EQ(size(c, 1), n / 2);
    for (int t = 0; t < 128; ++t) {
      const Thread at(t);
      for (int i = 0; i < n / 2; ++i) {
        const int j = i / 4, h = i / 2 % 2, b = i % 2;
        const int row = 16 * at.warp + at.lane / 4 + 8 * h;
        const int column = 8 * j + 2 * (at.lane % 4) + b;
        ASSERT_EQ(c(t, i), row + 64 * column) << "N " << n << " thread " << t << " register " << i;
      }
    }
  }
}

// The register and the element inside it of value v, for operands of `bits`.
TEST(MmaFragments, RegistersOfOperandAAreWhereTheInstructionReadsThem) {
  for (const int bits : {8, 16, 32}) {
    const int k = 256 / bits;
    const int per_register = 32 / bits;
    const Layout a = gmma_a_layout(k);
    ASSERT_EQ(size(a, 0), 128);
    ASSERT_EQ(size(a, 1), 4 * per_register);
    for (int t = 0; t < 128; ++t) {
      const Thread at(t);
      for (int v = 0; v < 4 * per_register; ++v) {
        const int r = v / per_register, b = v % per_register;
        const int row = 16 * at.warp + at.lane / 4 + 8 * (r & 1);
        const int column = per_register * (4 * (r >> 1) + at.lane % 4) + b;
        ASSERT_EQ(a(t, v), row + 64 * column) << bits << " bits, thread " << t << " value " << v;
      }
    }
  }
}

TEST(MmaFragments, EveryThreadSeesAWholeOperandInSharedMemory) {
  const Layout b = gmma_shared_layout(96, 16);
  for (const int t : {0, 77, 127}) {
    for (int i = 0; i < 96 * 16; ++i) ASSERT_EQ(b(t, i), i);
  }
}

TEST(MmaFragments, AnOperationKnowsItsShapeAndTypes) {
  using Op = rs_op_selector<e4m3, e5m2, f16, Tile<128, 192, 64>>;
  static_assert(__is_same(Op, SM90_GMMA<192, f16, e4m3, e5m2, Major::K, Major::K, MmaSource::registers>));
  static_assert(MMA_Atom<Op>::value.k == 32 && size(MMA_Atom<Op>::value.a, 1) == 16);
  // 8-bit integers have no N of 40: the widest that divides 120 is 24.
  static_assert(ss_op_selector<std::int8_t, std::uint8_t, std::int32_t, Tile<64, 120, 32>>::kN == 24);
  static_assert(ss_op_selector<bf16, bf16, float, Tile<64, 120, 64>>::kN == 120);
  static_assert(ss_op_selector<f16, f16, float, Tile<64, 512, 64>, Major::MN, Major::MN>::kMajorB == arch::Major::mn);
}

template <class Op>
class MatrixOperations : public testing::Test {};
using Operations = testing::Types<SM75_U32x1_LDSM_N, SM75_U32x2_LDSM_N, SM75_U32x4_LDSM_N, SM75_U16x2_LDSM_T,
                                  SM75_U16x4_LDSM_T, SM75_U16x8_LDSM_T, SM90_U32x1_STSM_N, SM90_U32x2_STSM_N,
                                  SM90_U32x4_STSM_N, SM90_U16x2_STSM_T, SM90_U16x4_STSM_T, SM90_U16x8_STSM_T>;
TYPED_TEST_SUITE(MatrixOperations, Operations);

// Element c of row r of matrix j is number 64 j + 8 r + c.
TYPED_TEST(MatrixOperations, RegistersAndRowsAreThoseOfTheInstruction) {
  using Op = TypeParam;
  constexpr CopyAtomLayout atom = Copy_Atom<Op, f16>::value;
  constexpr bool loads = requires {
    static_cast<detail::MatrixLoad<Op::count, Op::transposed>*>(static_cast<Op*>(nullptr));
  };
  const Layout registers = loads ? atom.destination : atom.source;
  const Layout rows = loads ? atom.source : atom.destination;
  EXPECT_EQ(atom.reference, registers);
  ASSERT_EQ(size(registers, 0), 32);
  ASSERT_EQ(size(registers, 1), 2 * Op::count);
  ASSERT_EQ(size(rows, 0), 32);
  ASSERT_EQ(size(rows, 1), 8);
  for (int lane = 0; lane < 32; ++lane) {
    for (int v = 0; v < 2 * Op::count; ++v) {
      const int matrix = v / 2, half = v % 2;
      const int row = Op::transposed ? 2 * (lane % 4) + half : lane / 4;
      const int column = Op::transposed ? lane / 4 : 2 * (lane % 4) + half;
      ASSERT_EQ(registers(lane, v), 64 * matrix + 8 * row + column) << "lane " << lane << " value " << v;
    }
    if (lane >= 8 * Op::count) continue;
    for (int c = 0; c < 8; ++c) ASSERT_EQ(rows(lane, c), 8 * lane + c);
  }
}

TEST(CopyAtoms, CountInTheElementsOfTheirType) {
  using Bytes = Copy_Atom<SM90_U32x4_STSM_N, e4m3>;
  static_assert(Bytes::source_values == 16 && Bytes::destination_values == 16);
  static_assert(Bytes::value.source(5, 6) == 128 + 16 + 4 + 2);  // register 1 of lane 5: row 1 of matrix 1
  using Words = Copy_Atom<SM75_U32x2_LDSM_N, float>;
  static_assert(Words::source_values == 4 && Words::destination_values == 2);
  static_assert(Copy_Atom<UniversalCopy<uint128>, float>::source_values == 4);
  static_assert(Copy_Atom<AutoVectorizingCopy, bf16>::source_values == 1);
}

}  // namespace
}  // namespace gantry

// Tiled MMAs in the simulator: every type, both majors, every swizzle, A from shared memory and from
// registers. The operands are small integers, so that accumulation is exact and the result has one right value.
#include <vector>

#include <gtest/gtest.h>

#include <gantry/atom.hpp>

#include "simulate.hpp"

namespace gantry {
namespace {

using test::simulate;

template <class Element>
int small(int i, int j) {
  const int v = (i * 7 + j * 3 + i * j) % 5;
  return __is_same(Element, std::uint8_t) ? v : v - 2;
}

template <class Operation_, int kM, int kN, int kK, SwizzleMode mode, int kAtomsM = 1, int kAtomsN = 1>
struct Problem {
  using Operation = Operation_;
  using A = typename Operation::ElementA;
  using B = typename Operation::ElementB;
  using D = typename Operation::ElementD;
  static constexpr Major major_a = Operation::kMajorA == arch::Major::k ? Major::K : Major::MN;
  static constexpr Major major_b = Operation::kMajorB == arch::Major::k ? Major::K : Major::MN;

  struct Mma {
    using Operation = Operation_;
    static constexpr TiledMmaLayout value = make_tiled_mma(
        MMA_Atom<Operation>::value, make_layout(make_shape(Int::fixed(kAtomsM), Int::fixed(kAtomsN), _1)));
  };
  struct SharedA {
    static constexpr ComposedLayout value =
        tile_to_shape(smem_atom(major_a, mode, sizeof_bits_v<A>), make_shape(Int::fixed(kM), Int::fixed(kK)));
  };
  struct SharedB {
    static constexpr ComposedLayout value =
        tile_to_shape(smem_atom(major_b, mode, sizeof_bits_v<B>), make_shape(Int::fixed(kN), Int::fixed(kK)));
  };
  struct Storage {
    alignas(1024) A a[kM * kK];
    alignas(1024) B b[kN * kK];
  };

  // A's fragment: descriptors, or registers filled by ldmatrix.
  template <class Slice, class T>
  static auto fragment_a(const Slice& slice, const T& a, int thread) {
    auto fragment = slice.partition_fragment_A(a);
    if constexpr (Operation::kSourceA == MmaSource::registers) {
      const auto load = make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N, A>{}, TiledMma<Mma>{});
      const auto mine = load.get_slice(thread);
      copy(load, mine.partition_S(a), mine.retile_D(fragment));
    }
    return fragment;
  }

  static void run() {
    std::vector<D> out(kM * kN, D(-77));
    constexpr int kThreads = 128 * kAtomsM * kAtomsN;
    const Report report = simulate({.block = {kThreads}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
      Storage& s = shared.as<Storage>();
      const int thread = static_cast<int>(arch::thread_rank());
      const auto a = make_tensor(make_smem_ptr(s.a), SharedA{});
      const auto b = make_tensor(make_smem_ptr(s.b), SharedB{});
      for (int i = thread; i < kM * kK; i += kThreads) a(i % kM, i / kM) = A(small<A>(i % kM, i / kM));
      for (int i = thread; i < kN * kK; i += kThreads) b(i % kN, i / kN) = B(small<B>(i % kN, i / kN + 1));
      arch::fence_proxy_async(arch::space_shared);
      arch::syncthreads();
      const TiledMma<Mma> mma;
      const auto slice = mma.get_slice(thread);
      const auto fa = fragment_a(slice, a, thread);
      const auto fb = slice.partition_fragment_B(b);
      auto acc = partition_fragment_C(mma, Tile<kM, kN>{});
      warpgroup_fence_operand(acc);
      arch::wgmma_fence();
      gemm(mma, fa, fb, acc, false);
      gemm(mma, fa(_, _, 0), fb(_, _, 0), acc);  // the first block along K once more
      arch::wgmma_commit_group();
      arch::wgmma_wait_group(arch::n32<0>);
      warpgroup_fence_operand(acc);
      copy(acc, slice.partition_C(make_tensor(make_gmem_ptr(out.data()), Tile<kM, kN>{})));
    });
    EXPECT_TRUE(report.clean()) << report.text();
    int wrong = 0;
    for (int i = 0; i < kM; ++i) {
      for (int j = 0; j < kN; ++j) {
        int sum = 0;
        for (int k = 0; k < kK; ++k) {
          const int term = small<A>(i, k) * small<B>(j, k + 1);
          sum += k < Operation::kK ? 2 * term : term;
        }
        wrong += static_cast<float>(out[static_cast<std::size_t>(i + kM * j)]) != static_cast<float>(sum);
      }
    }
    EXPECT_EQ(wrong, 0);
  }
};

template <int n, class D, class A, class B = A, Major a = Major::K, Major b = Major::K>
using SS = SM90_GMMA<n, D, A, B, a, b>;
template <int n, class D, class A, class B = A, Major b = Major::K>
using RS = SM90_GMMA<n, D, A, B, Major::K, b, MmaSource::registers>;

TEST(Gemms, OfSixteenBitTypesAreExactAtEverySwizzle) {
  Problem<SS<64, float, bf16>, 64, 64, 64, SwizzleMode::b128>::run();
  Problem<SS<64, float, f16>, 64, 64, 64, SwizzleMode::b64>::run();
  Problem<SS<32, float, bf16>, 64, 32, 32, SwizzleMode::b32>::run();
  Problem<SS<64, f16, f16>, 64, 64, 32, SwizzleMode::none>::run();
}

TEST(Gemms, OfMnMajorOperandsAreExactAtEverySwizzle) {
  Problem<SS<128, float, bf16, bf16, Major::MN, Major::MN>, 64, 128, 32, SwizzleMode::b128>::run();
  Problem<SS<64, float, f16, f16, Major::MN, Major::K>, 64, 64, 32, SwizzleMode::b64>::run();
  Problem<SS<64, float, bf16, bf16, Major::K, Major::MN>, 64, 64, 32, SwizzleMode::b32>::run();
  Problem<SS<32, float, f16, f16, Major::MN, Major::MN>, 64, 32, 32, SwizzleMode::none>::run();
}

TEST(Gemms, OfTheOtherTypesAreExact) {
  Problem<SS<32, float, tf32>, 64, 32, 32, SwizzleMode::b128>::run();
  Problem<SS<32, float, e4m3, e5m2>, 64, 32, 128, SwizzleMode::b128>::run();
  Problem<SS<40, f16, e5m2, e4m3>, 64, 40, 64, SwizzleMode::b64>::run();
  Problem<SS<48, std::int32_t, std::int8_t, std::uint8_t>, 64, 48, 64, SwizzleMode::b32>::run();
}

TEST(Gemms, TakeAFromRegistersThatLdmatrixFilled) {
  Problem<RS<64, float, bf16>, 64, 64, 64, SwizzleMode::b128>::run();
  Problem<RS<64, float, f16, f16, Major::MN>, 128, 64, 64, SwizzleMode::b128>::run();
  Problem<RS<32, float, e4m3>, 64, 32, 64, SwizzleMode::b64>::run();
  Problem<RS<32, float, tf32>, 64, 32, 32, SwizzleMode::b128>::run();
}

TEST(Gemms, OfSeveralInstructionsAndWarpgroupsAreOneGemm) {
  Problem<SS<64, float, bf16>, 128, 128, 64, SwizzleMode::b128>::run();       // one warpgroup, 2 x 2 instructions
  Problem<SS<64, float, bf16>, 128, 64, 64, SwizzleMode::b128, 2, 1>::run();  // two warpgroups along M
  Problem<SS<32, float, bf16>, 64, 128, 64, SwizzleMode::b128, 1, 2>::run();  // two along N, twice
  Problem<SS<64, float, bf16, bf16, Major::MN, Major::MN>, 256, 64, 32, SwizzleMode::b128, 2, 1>::run();
}

}  // namespace
}  // namespace gantry

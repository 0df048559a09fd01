// Tiled MMAs: descriptors, A from registers, several instructions to a thread, f16 and integer accumulators. No
// stack, no spills, and ptxas keeps the wgmmas asynchronous.
#include <gantry/arch.hpp>
#include <gantry/atom.hpp>
#include <gantry/layout/smem_atoms.hpp>

namespace {

using namespace gantry;

extern __shared__ __align__(1024) unsigned char memory[];

template <class Operation_, int kM, int kN, int kK, int kAtomsM>
struct Problem {
  using Operation = Operation_;
  using A = typename Operation::ElementA;
  using B = typename Operation::ElementB;
  using D = typename Operation::ElementD;
  struct Mma {
    using Operation = Operation_;
    static constexpr TiledMmaLayout value =
        make_tiled_mma(MMA_Atom<Operation>::value, make_layout(make_shape(Int::fixed(kAtomsM), _1, _1)));
  };
  static constexpr Major major_a = Operation::kMajorA == arch::Major::k ? Major::K : Major::MN;
  static constexpr Major major_b = Operation::kMajorB == arch::Major::k ? Major::K : Major::MN;
  struct SharedA {
    static constexpr ComposedLayout value = tile_to_shape(smem_atom(major_a, SwizzleMode::b128, sizeof_bits_v<A>),
                                                          make_shape(Int::fixed(kM), Int::fixed(kK), _4));
  };
  struct SharedB {
    static constexpr ComposedLayout value = tile_to_shape(smem_atom(major_b, SwizzleMode::b128, sizeof_bits_v<B>),
                                                          make_shape(Int::fixed(kN), Int::fixed(kK), _4));
  };

  GANTRY_HD static void run(D* out, int stages) {
    const int thread = static_cast<int>(arch::thread_rank());
    const TiledMma<Mma> mma;
    const auto uniform = mma.get_slice(static_cast<int>(arch::warpgroup_rank()) * 128);
    const auto a = make_tensor(make_smem_ptr<A>(static_cast<void*>(memory)), SharedA{});
    const auto b = make_tensor(make_smem_ptr<B>(static_cast<void*>(memory + 65536)), SharedB{});
    const auto fb = uniform.partition_fragment_B(b);
    auto acc = partition_fragment_C(mma, Tile<kM, kN>{});
    GANTRY_NO_UNROLL
    for (int stage = 0; stage < stages; ++stage) {
      if constexpr (Operation::kSourceA == MmaSource::registers) {
        const auto load = make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N, A>{}, mma);
        const auto mine = load.get_slice(thread);
        auto fa = mma.get_slice(thread).partition_fragment_A(a(_, _, stage));
        copy(load, mine.partition_S(a)(_, _, _, stage), mine.retile_D(fa));
        warpgroup_fence_operand(acc);
        arch::wgmma_fence();
        gemm(mma, fa, fb(_, _, _, stage), acc, stage > 0);
      } else {
        const auto fa = uniform.partition_fragment_A(a);
        warpgroup_fence_operand(acc);
        arch::wgmma_fence();
        gemm(mma, fa(_, _, _, stage), fb(_, _, _, stage), acc, stage > 0);
      }
      arch::wgmma_commit_group();
      warpgroup_fence_operand(acc);
      arch::wgmma_wait_group(arch::n32<0>);
      warpgroup_fence_operand(acc);
    }
    copy(acc, mma.get_slice(thread).partition_C(make_tensor(make_gmem_ptr(out), Tile<kM, kN>{})));
  }
};

}  // namespace

__global__ void __launch_bounds__(256, 1) two_warpgroups(float* out, int stages) {
  Problem<SM90_GMMA<256, float, bf16, bf16>, 128, 256, 64, 2>::run(out, stages);
}
__global__ void __launch_bounds__(128, 1) two_instructions_mn_major(float* out, int stages) {
  Problem<SM90_GMMA<128, float, f16, f16, Major::MN, Major::MN>, 128, 128, 64, 1>::run(out, stages);
}
__global__ void __launch_bounds__(128, 1) from_registers(float* out, int stages) {
  Problem<SM90_GMMA<128, float, bf16, bf16, Major::K, Major::K, MmaSource::registers>, 64, 128, 64, 1>::run(out,
                                                                                                            stages);
}
__global__ void __launch_bounds__(128, 1) half_sums(f16* out, int stages) {
  Problem<SM90_GMMA<128, f16, e4m3, e5m2>, 64, 128, 128, 1>::run(out, stages);
}
__global__ void __launch_bounds__(128, 1) integers(std::int32_t* out, int stages) {
  Problem<SM90_GMMA<64, std::int32_t, std::int8_t, std::uint8_t>, 64, 64, 128, 1>::run(out, stages);
}

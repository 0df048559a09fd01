// GEMMs of every element type and major, as raw accumulators: an epilogue that writes accumulators as they are,
// and configurations made from a description. For the simulated SM and a GPU.
#pragma once

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/cooperative.hpp>
#include <gantry/gemm/pingpong.hpp>

namespace gantry_test {

using namespace gantry;

enum class Kernel : std::uint8_t { cooperative, pingpong };

// A GEMM to be compiled.
struct Kind {
  ElementType a = ElementType::bf16, b = ElementType::bf16;
  Major major_a = Major::K, major_b = Major::K;
  bool promote = false;
  Kernel kernel = Kernel::cooperative;
  int cluster_m = 1, cluster_n = 1;
  int tile_m = 128, tile_n = 64, stages = 2;
  int in_turn = 2;  // warpgroups of the pingpong kernel
};

// The accumulators are stored by an epilogue of the test's own; the design's epilogue is not used.
template <Kind kind>
struct DesignOf {
  static constexpr GemmDesign design = [] {
    const bool integers = kind.a == ElementType::s8 || kind.a == ElementType::u8;
    const bool cooperative = kind.kernel == Kernel::cooperative;
    return make_gemm_design({.a = kind.a,
                             .b = kind.b,
                             .d = integers ? ElementType::s32 : ElementType::f32,
                             .major_a = kind.major_a,
                             .major_b = kind.major_b,
                             .tile = {kind.tile_m, kind.tile_n},
                             .cluster = {kind.cluster_m, kind.cluster_n},
                             .stages = kind.stages,
                             .schedule = cooperative ? GemmSchedule::cooperative : GemmSchedule::pingpong,
                             .warpgroups = cooperative ? 0 : kind.in_turn,
                             .promote = kind.promote},
                            fusion::graph("d = acc"));
  }();
  static_assert(design.ok());
};

// Both kernels in clusters of 1 x 1, 2 x 1, 1 x 2 and 2 x 2, and three warpgroups in turn, of the elements, majors and
// promotion of `like`.
struct EveryKernel {
  static constexpr int kCount = 9;
  Kind kinds[kCount];

  GANTRY_HD static constexpr EveryKernel of(const Kind& like) {
    EveryKernel out{};
    for (int i = 0; i < kCount; ++i) {
      Kind& kind = out.kinds[i] = like;
      kind.kernel = i < 4 ? Kernel::cooperative : Kernel::pingpong;
      kind.cluster_m = 1 + i % 2;
      kind.cluster_n = 1 + i / 2 % 2;
      if (i == 6 || i == 7) kind.tile_m = 64;
      if (i == 8) kind.in_turn = 3;
    }
    return out;
  }
};

// Row-major, packed.
template <class Design>
struct StoreSums {
  using Shape = GemmShape<Design>;
  using Loop = Mainloop<Design>;
  using Sum = element_t<Shape::kAccumulator>;
  static constexpr bool kLoads = false;
  static constexpr int kSteps = 0;

  struct Params {
    Sum* d;
    int m, n;
  };
  class Consumer {
   public:
    GANTRY_INLINE Consumer(const Params& params, SharedMemory) : p_(params) {}

    GANTRY_INLINE void prepare(const Work&) {}
    template <class Acc>
    GANTRY_INLINE void take(Acc& acc, const Work& work) {
      constexpr int kWide = Loop::Mma::Operation::kN;  // columns of an instruction
      constexpr int kHigh = Shape::kWarpgroupM / 64;
      const int thread = static_cast<int>(arch::thread_rank()) - 128;
      const auto place = Loop::Place::mine();
      const int part = Shape::kTileWarpgroups == 1 ? 0 : thread / 128;
      const int row = (work.m * Shape::kClusterM + place.m) * Shape::kTileM + part * Shape::kWarpgroupM +
                      thread / 32 % 4 * 16 + thread % 32 / 4;
      const int column = (work.n * Shape::kClusterN + place.n) * Shape::kTileN + thread % 4 * 2;
      for_each_index<Shape::kWarpgroupM * Shape::kTileN / 128>([&](auto i) {
        constexpr int value = i % (kWide / 2), block = i / (kWide / 2);
        const int r = row + block % kHigh * 64 + value / 2 % 2 * 8;
        const int c = column + block / kHigh * kWide + value / 4 * 8 + value % 2;
        if (r >= p_.m || c >= p_.n) return;
        arch::st(arch::space_global, p_.d + (static_cast<std::int64_t>(work.batch) * p_.m + r) * p_.n + c, Sum{acc(i)});
      });
    }
    template <int i>
    GANTRY_INLINE void step(Constant<i>) {}
    GANTRY_INLINE void tail() {}

   private:
    const Params& p_;
  };
};

template <class Design, Kernel kernel>
struct KernelOf {
  using type = CooperativeGemm<Design, StoreSums<Design>>;
};
template <class Design>
struct KernelOf<Design, Kernel::pingpong> {
  using type = PingpongGemm<Design, StoreSums<Design>>;
};
template <Kind kind>
using SumsOf = typename KernelOf<DesignOf<kind>, kind.kernel>::type;

}  // namespace gantry_test

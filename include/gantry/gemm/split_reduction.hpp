// The split-K and stream-K reduction: partial accumulators of a tile that several clusters share, through global
// memory.
//
// A peer CTA stores its accumulators in its own slot and raises the slot's flag. The CTA of the same rank in the
// cluster that owns the tile waits for the flag, adds the accumulators and lowers the flag, so that the next launch
// finds it as this one did. The owner adds its peers in the order of their clusters: the order of additions is fixed
// by the schedule, and results are the same bits on every run.
//
// Invariant: a slot is written at most once in a launch. The workspace starts as zeros and is used by one launch at a
// time.
//
// Example at namespace scope:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     struct Plain {
//       static constexpr gantry::GemmDesign design = gantry::make_gemm_design({}, gantry::fusion::graph("d = acc"));
//     };
//     using Sums = gantry::SplitReduction<Plain>;
//     inline std::size_t workspace_of(int ctas) { return gantry::split_workspace_bytes(Plain::design, ctas); }
#pragma once

#include <cstddef>

#include <gantry/arch.hpp>
#include <gantry/atom/accumulator.hpp>
#include <gantry/gemm/shape.hpp>

namespace gantry {

template <class Design>
struct SplitReduction : GemmShape<Design> {
  using Shape = GemmShape<Design>;
  using Shape::kTileWarpgroups;
  static constexpr int kVectors = Shape::kWarpgroupM * Shape::kTileN / 512;  // of four accumulators, in a thread

  struct alignas(16) Vector {
    element_t<Shape::kAccumulator> x, y, z, w;
  };

  // A math warpgroup's slot in CTA `cta`.
  class Slot {
   public:
    GANTRY_INLINE Slot(unsigned char* workspace, int cta) {
      const int slot = cta * kTileWarpgroups + warpgroup();
      flag_ = reinterpret_cast<std::uint32_t*>(workspace) + slot;
      sums_ = reinterpret_cast<Vector*>(workspace + kSplitFlagBytes) + slot * kVectors * 128 + thread();
    }

    template <class Acc>
    GANTRY_INLINE void leave(const Acc& acc) {
      const auto sum = acc.data();
      GANTRY_UNROLL
      for (int i = 0; i < kVectors; ++i) {
        const Vector sums{sum[4 * i], sum[4 * i + 1], sum[4 * i + 2], sum[4 * i + 3]};
        arch::st(arch::space_global, sums_ + i * 128, sums, arch::cache_global, arch::passed_on);
      }
      sync();
      if (thread() == 0) arch::st(arch::sem_release, arch::scope_gpu, arch::space_global, flag_, 1u);
    }

    // By one thread; those who load wait for it at a barrier afterwards.
    GANTRY_INLINE void wait() {
      while (arch::ld(arch::sem_acquire, arch::scope_gpu, arch::space_global, flag_) == 0) arch::pause();
      arch::st(arch::sem_relaxed, arch::scope_gpu, arch::space_global, flag_, 0u);
    }
    GANTRY_INLINE Vector load(int i) const { return arch::ld(arch::space_global, sums_ + i * 128, arch::cache_global); }

   private:
    std::uint32_t* flag_;
    Vector* sums_;
  };

  // Adds the partial accumulators of `peers` CTAs: `first` and those after it, `stride` apart. All flags are polled
  // at once, each by a thread of its own.
  template <class Acc>
  GANTRY_INLINE static void add(unsigned char* workspace, int first, int stride, int peers, Acc& acc) {
    for (int i = thread(); i < peers; i += 128) Slot(workspace, first + i * stride).wait();
    sync();
    int i = 0;
    GANTRY_NO_UNROLL
    for (; i + kAtOnce <= peers; i += kAtOnce) add_some<kAtOnce>(workspace, first + i * stride, stride, acc);
    if constexpr (kAtOnce > 1) {
      GANTRY_NO_UNROLL
      for (; i < peers; ++i) add_some<1>(workspace, first + i * stride, stride, acc);
    }
  }

 private:
  // Slots that are loaded at the same time, and vectors of each: as registers allow.
  static constexpr int kAtOnce = kVectors <= 8 ? 4 : kVectors <= 16 ? 2 : 1;
  static constexpr int kRun = kVectors <= 16 ? kVectors : 8;

  template <int count, class Acc>
  GANTRY_INLINE static void add_some(unsigned char* workspace, int first, int stride, Acc& acc) {
    for_each_index<(kVectors + kRun - 1) / kRun>([&](auto run) {
      constexpr int begin = run * kRun, size = kVectors - begin < kRun ? kVectors - begin : kRun;
      warpgroup_fence_operand(acc);  // or the loads of every run come first, and registers run out
      const auto sum = acc.data();
      Vector sums[count][size];
      GANTRY_UNROLL
      for (int c = 0; c < count; ++c) {
        const Slot slot(workspace, first + c * stride);
        GANTRY_UNROLL
        for (int i = 0; i < size; ++i) sums[c][i] = slot.load(begin + i);
      }
      GANTRY_UNROLL
      for (int c = 0; c < count; ++c) {
        GANTRY_UNROLL
        for (int i = 0; i < size; ++i) {
          sum[4 * (begin + i)] += sums[c][i].x;
          sum[4 * (begin + i) + 1] += sums[c][i].y;
          sum[4 * (begin + i) + 2] += sums[c][i].z;
          sum[4 * (begin + i) + 3] += sums[c][i].w;
        }
      }
    });
  }

  // The same values as MathWarpgroup's, computed another way on purpose: where both are computed alike, the compiler
  // keeps them in registers from tile to tile, and epilogues that need every register spill.
  GANTRY_INLINE static int warpgroup() { return static_cast<int>(arch::thread_rank()) / 128 - 1; }
  GANTRY_INLINE static int thread() { return static_cast<int>(arch::thread_rank()) % 128; }
  GANTRY_INLINE static void sync(Site site = Site::here()) {
    arch::barrier_sync(static_cast<std::uint32_t>(1 + warpgroup()), 128, site);
  }
};

}  // namespace gantry

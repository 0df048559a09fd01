// Sums of a tile that several clusters share, handed over through global memory.
//
// A CTA that helps with a tile leaves its accumulators in its own slot and raises the slot's flag; the CTA in the same
// place of the cluster that owns the tile waits for the flag, adds the sums and lowers the flag, so that the next
// launch finds it as this one did. The owner takes the slots of its helpers in the order of their clusters: which sums
// are added in which order is fixed by the schedule, and results repeat.
//
// Invariant: a slot is written at most once in a launch. The workspace starts as zeros and is used by one launch at a
// time.
//
// Example at namespace scope:
//     using Sums = gantry::Handover<gantry::CooperativeConfig>;
//     inline std::size_t workspace_of(int ctas) { return Sums::workspace_bytes(ctas); }
#pragma once

#include <cstddef>

#include <gantry/arch.hpp>
#include <gantry/atom/accumulator.hpp>
#include <gantry/gemm/config.hpp>

namespace gantry {

template <class Config>
struct Handover : GemmShape<Config> {
  using Shape = GemmShape<Config>;
  static constexpr int kMathWarpgroups = Shape::kMathWarpgroups;
  static constexpr int kVectors = Shape::kWarpgroupM * Shape::kTileN / 512;  // of four sums, in a thread

  struct alignas(16) Vector {
    element_t<Shape::kAccumulator> x, y, z, w;
  };

  // Flags first, then the sums of slot after slot.
  static constexpr std::size_t kFlagBytes = 8192;
  GANTRY_HD static constexpr std::size_t workspace_bytes(int ctas) {
    return kFlagBytes + static_cast<std::size_t>(ctas) * kMathWarpgroups * kVectors * 128 * sizeof(Vector);
  }

  // A math warpgroup's slot in CTA `cta`.
  class Slot {
   public:
    GANTRY_INLINE Slot(unsigned char* workspace, int cta) {
      const int slot = cta * kMathWarpgroups + warpgroup();
      flag_ = reinterpret_cast<std::uint32_t*>(workspace) + slot;
      sums_ = reinterpret_cast<Vector*>(workspace + kFlagBytes) + slot * kVectors * 128 + thread();
    }

    template <class Acc>
    GANTRY_INLINE void leave(const Acc& acc) {
      for_each_index<kVectors>([&](auto i) {
        const Vector sums{acc(Constant<4 * i>{}), acc(Constant<4 * i + 1>{}), acc(Constant<4 * i + 2>{}),
                          acc(Constant<4 * i + 3>{})};
        arch::st(arch::space_global, sums_ + i * 128, sums, arch::cache_global);
      });
      meet();
      if (thread() == 0) arch::st(arch::sem_release, arch::scope_gpu, arch::space_global, flag_, 1u);
    }

    template <class Acc>
    GANTRY_INLINE void add_to(Acc& acc) {
      if (thread() == 0) {
        while (arch::ld(arch::sem_acquire, arch::scope_gpu, arch::space_global, flag_) == 0) arch::pause();
        arch::st(arch::sem_relaxed, arch::scope_gpu, arch::space_global, flag_, 0u);
      }
      meet();
      for_each_index<kVectors>([&](auto i) {
        if constexpr (i % 8 == 0) warpgroup_fence_operand(acc);  // or all are loaded at once, and registers run out
        const Vector sums = arch::ld(arch::space_global, sums_ + i * 128, arch::cache_global);
        acc(Constant<4 * i>{}) += sums.x;
        acc(Constant<4 * i + 1>{}) += sums.y;
        acc(Constant<4 * i + 2>{}) += sums.z;
        acc(Constant<4 * i + 3>{}) += sums.w;
      });
    }

   private:
    GANTRY_INLINE static int warpgroup() { return static_cast<int>(arch::thread_rank()) / 128 - 1; }
    GANTRY_INLINE static int thread() { return static_cast<int>(arch::thread_rank()) % 128; }
    GANTRY_INLINE static void meet(Site site = Site::here()) {
      arch::barrier_sync(static_cast<std::uint32_t>(1 + warpgroup()), 128, site);
    }

    std::uint32_t* flag_;
    Vector* sums_;
  };
};

}  // namespace gantry

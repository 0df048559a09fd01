// Sums of a tile that two clusters share, handed over through global memory.
//
// The CTA that computes the tail of a tile leaves its accumulators in its own slot and raises the slot's flag; the CTA
// of the cluster before it, which computes the head, waits for the flag, adds the sums and lowers the flag, so that the
// next launch finds it as this one did. Which sums are added in which order is fixed by the schedule: results repeat.
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
#include <gantry/gemm/config.hpp>
#include <gantry/tensor/fragment.hpp>

namespace gantry {

template <class Config>
struct Handover : GemmShape<Config> {
  using Shape = GemmShape<Config>;
  static constexpr int kMathWarpgroups = Shape::kMathWarpgroups;
  static constexpr int kVectors = Shape::kTileN / 8;  // of four sums, in a thread

  // Flags first, then the sums of slot after slot.
  GANTRY_HD static constexpr std::size_t flag_bytes(int ctas) {
    return (static_cast<std::size_t>(ctas) * kMathWarpgroups * sizeof(std::uint32_t) + 127) / 128 * 128;
  }
  GANTRY_HD static constexpr std::size_t workspace_bytes(int ctas) {
    return flag_bytes(ctas) + static_cast<std::size_t>(ctas) * kMathWarpgroups * kVectors * 128 * sizeof(arch::f32x4);
  }

  // A warpgroup of CTA `cta`.
  class Slot {
   public:
    GANTRY_INLINE Slot(unsigned char* workspace, int ctas, int cta, int warpgroup)
        : barrier_(static_cast<std::uint32_t>(1 + warpgroup)), thread_(static_cast<int>(arch::thread_rank()) % 128) {
      const int slot = cta * kMathWarpgroups + warpgroup;
      flag_ = reinterpret_cast<std::uint32_t*>(workspace) + slot;
      sums_ = reinterpret_cast<arch::f32x4*>(workspace + flag_bytes(ctas)) + slot * kVectors * 128 + thread_;
    }

    template <class Acc>
    GANTRY_INLINE void leave(const Acc& acc) {
      for_each_index<kVectors>([&](auto i) {
        const arch::f32x4 sums{acc(Constant<4 * i>{}), acc(Constant<4 * i + 1>{}), acc(Constant<4 * i + 2>{}),
                               acc(Constant<4 * i + 3>{})};
        arch::st(arch::space_global, sums_ + i * 128, sums, arch::cache_global);
      });
      arch::barrier_sync(barrier_, 128);
      if (thread_ == 0) arch::st(arch::sem_release, arch::scope_gpu, arch::space_global, flag_, 1u);
    }

    template <class Acc>
    GANTRY_INLINE void add_to(Acc& acc) {
      if (thread_ == 0) {
        while (arch::ld(arch::sem_acquire, arch::scope_gpu, arch::space_global, flag_) == 0) arch::pause();
        arch::st(arch::sem_relaxed, arch::scope_gpu, arch::space_global, flag_, 0u);
      }
      arch::barrier_sync(barrier_, 128);
      for_each_index<kVectors>([&](auto i) {
        const arch::f32x4 sums = arch::ld(arch::space_global, sums_ + i * 128, arch::cache_global);
        acc(Constant<4 * i>{}) += sums.x;
        acc(Constant<4 * i + 1>{}) += sums.y;
        acc(Constant<4 * i + 2>{}) += sums.z;
        acc(Constant<4 * i + 3>{}) += sums.w;
      });
    }

   private:
    std::uint32_t barrier_;
    int thread_;
    std::uint32_t* flag_;
    arch::f32x4* sums_;
  };
};

}  // namespace gantry

// The split-K reduction of a cluster: CTAs that share the K tiles of a tile add their accumulators through distributed
// shared memory. No workspace, and no round trip to L2.
//
// Rank 0 leads. Every other CTA of the cluster pushes its accumulators into a slot of the leader's shared memory
// (st.async: values and their credit travel together); the leader waits for all of them, adds them in the order of
// ranks, and stores the tile. The order of additions is fixed, so results are the same bits on every run.
//
//   barrier      in              counts                                    who waits
//   full         the leader      bytes of all slots of a warpgroup         the leader's math warpgroup
//   free         a peer          one arrival of the leader                 the peer's math warpgroup, before it pushes
//
// Invariant: a slot is written after the leader has read what was in it. A peer leaves after the leader's last arrival
// has reached it.
//
// Example at namespace scope:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     struct Decode {
//       static constexpr gantry::GemmDesign design = gantry::swapped(gantry::make_gemm_design(
//           {.tile = {.m = 16, .n = 64}, .cluster = {1, 1, 2}, .swapped = true}, gantry::fusion::graph("d = acc")));
//     };
//     static_assert(gantry::ClusterReduction<Decode>::kSlotBytes == 64 * 16 * 4);
#pragma once

#include <gantry/arch.hpp>
#include <gantry/atom/accumulator.hpp>
#include <gantry/gemm/shape.hpp>

namespace gantry {

template <class Design>
struct ClusterReduction : GemmShape<Design> {
  using Shape = GemmShape<Design>;
  using Shape::kClusterK, Shape::kTileWarpgroups;
  static constexpr int kPeers = kClusterK - 1;
  static constexpr int kVectors = Shape::kWarpgroupM * Shape::kTileN / 512;  // of four accumulators, in a thread
  static constexpr int kSlotBytes = kVectors * 128 * 16;                     // of one warpgroup of one peer

  using Value = element_t<Shape::kAccumulator>;
  struct alignas(16) Vector {
    Value values[4];
  };

  // Of math warpgroup `warpgroup`. Slots of a warpgroup lie side by side.
  GANTRY_INLINE static Vector* slot(SharedMemory s, int warpgroup, int peer) {
    return s.template at<Vector>(Design::design.shared.partials + (warpgroup * kPeers + peer) * kSlotBytes);
  }
  GANTRY_INLINE static std::uint64_t* full(SharedMemory s, int warpgroup) {
    return s.template at<std::uint64_t>(Design::design.shared.partial_barriers) + warpgroup;
  }
  GANTRY_INLINE static std::uint64_t* free(SharedMemory s, int warpgroup) {
    return full(s, kTileWarpgroups) + warpgroup;
  }

  // One thread of the CTA, before the fence and the cluster's barrier.
  GANTRY_INLINE static void init(SharedMemory s) {
    for (int g = 0; g < kTileWarpgroups; ++g) {
      arch::mbarrier_init(full(s, g), 1);
      arch::mbarrier_init(free(s, g), 1);
    }
  }

  GANTRY_INLINE static bool leads() { return arch::cluster_block_rank() == 0; }

  // A math warpgroup's side.
  class Consumer {
   public:
    GANTRY_INLINE Consumer(SharedMemory shared, int warpgroup) : s_(shared), warpgroup_(warpgroup) {}

    // A peer: hands its accumulators to the leader.
    template <class Acc>
    GANTRY_INLINE void push(const Acc& acc) {
      arch::wait(free(s_, warpgroup_), phase_ ^ 1);
      const int peer = static_cast<int>(arch::cluster_block_rank()) - 1;
      Vector* const there = arch::mapa(arch::space_cluster, slot(s_, warpgroup_, peer) + thread(), 0);
      std::uint64_t* const credited = arch::mapa(arch::space_cluster, full(s_, warpgroup_), 0);
      const auto sum = acc.data();
      GANTRY_UNROLL
      for (int i = 0; i < kVectors; ++i) {
        const Value values[4] = {sum[4 * i], sum[4 * i + 1], sum[4 * i + 2], sum[4 * i + 3]};
        arch::st_async(there[i * 128].values, values, credited);
      }
      phase_ ^= 1;
    }

    // The leader: adds those of all peers, in the order of their ranks. Integers wrap around, as wgmma's do.
    template <class Acc>
    GANTRY_WRAPS GANTRY_INLINE void add(Acc& acc) {
      if (thread() == 0) {
        arch::mbarrier_arrive_expect_tx(arch::sem_release, arch::scope_cta, arch::space_shared, full(s_, warpgroup_),
                                        kPeers * kSlotBytes);
      }
      arch::wait(full(s_, warpgroup_), phase_);
      const auto sum = acc.data();
      GANTRY_UNROLL
      for (int peer = 0; peer < kPeers; ++peer) {
        const Vector* const from = slot(s_, warpgroup_, peer) + thread();
        GANTRY_UNROLL
        for (int i = 0; i < kVectors; ++i) {
          const Vector part = arch::ld(arch::space_shared, from + i * 128);
          GANTRY_UNROLL
          for (int j = 0; j < 4; ++j) sum[4 * i + j] += part.values[j];
        }
      }
      sync();
      // The reads are complete: a release of CTA scope is enough, and has no fence of the whole GPU.
      if (thread() < kPeers) {
        const auto peer = static_cast<std::uint32_t>(1 + thread());
        arch::mbarrier_arrive(arch::sem_release, arch::scope_cta, arch::space_cluster,
                              arch::mapa(arch::space_cluster, free(s_, warpgroup_), peer));
      }
      phase_ ^= 1;
    }

    // A peer waits for the leader's last arrival.
    GANTRY_INLINE void tail() {
      if (!leads()) arch::wait(free(s_, warpgroup_), phase_ ^ 1);
    }

   private:
    GANTRY_INLINE static int thread() { return static_cast<int>(arch::thread_rank()) % 128; }
    GANTRY_INLINE void sync(Site site = Site::here()) const {
      arch::barrier_sync(static_cast<std::uint32_t>(1 + warpgroup_), 128, site);
    }

    SharedMemory s_;
    int warpgroup_;
    std::uint32_t phase_ = 0;  // the leader's of `full`; a peer's next one of `free`
  };
};

}  // namespace gantry

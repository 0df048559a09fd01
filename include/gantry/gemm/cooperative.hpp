// The cooperative kernel: two warpgroups on the two halves of a tile (or one on a tile of 64 rows), a further one loads
// for them. Persistent.
//
// Read run() first. The producer goes through the cluster's work and loads; a math warpgroup goes through the same work
// and multiplies, and hands its accumulators to the epilogue, which stores them while the next tile is multiplied.
//
// An epilogue is a type with Params, Storage and Consumer: take(accumulators, work) frees the accumulators, step(i) for
// i < kSteps is called behind the products of the next tile, tail() finishes. One that does all its work in take() has
// kSteps = 0. One that adds to D (kAdds) gets the parts of shared tiles one by one. One that reads tensors has kLoads,
// init(storage) for its barriers, and Loader, which a further thread of the producer's warpgroup runs.
//
// Example at namespace scope:
//     using Gemm = gantry::CooperativeGemm<gantry::CooperativeConfig>;
//     template <class Encode>
//     Gemm::Params product(const gantry::bf16* a, const gantry::bf16* b, gantry::bf16* d, Encode encode) {
//       return Gemm::make_params({.a = a, .b = b, .d = d, .m = 512, .n = 512, .k = 256}, 8, encode);
//     }
#pragma once

#include <gantry/gemm/deferred_store.hpp>
#include <gantry/gemm/handover.hpp>
#include <gantry/gemm/mainloop.hpp>
#include <gantry/gemm/problem.hpp>
#include <gantry/gemm/scheduler.hpp>

namespace gantry {

// What both kernels ask of an epilogue, as far as it can be told without accumulators.
template <class Epilogue>
concept GemmEpilogue = requires(typename Epilogue::Consumer& consumer) {
  typename Epilogue::Params;
  typename Epilogue::Storage;
  requires Epilogue::kSteps >= 0;
  consumer.tail();
};

template <class Config, class Epilogue = DeferredStore<Config>>
struct CooperativeGemm : GemmShape<Config> {
  static_assert(
      GemmEpilogue<Epilogue>,
      "gantry: an epilogue of a product has Params, Storage, kSteps, and a Consumer with take, step and tail");
  using Shape = GemmShape<Config>;
  using Loop = Mainloop<Config>;
  using Sums = Handover<Config>;
  using Shape::kCluster, Shape::kThreads;
  // The epilogue reads tensors.
  static constexpr bool kEpilogueLoads = requires { requires Epilogue::kLoads; };

  // The epilogue adds every part of a tile to D, so that no sums are handed over.
  static constexpr bool kAdds = requires { requires Epilogue::kAdds; };

  // The epilogue reads something while the products of a tile run.
  static constexpr bool kPrepares = requires(typename Epilogue::Consumer & epilogue, const Work& work) {
    epilogue.prepare(work);
  };

  // From the warpgroup that loads to those that multiply: where there is one of each, both have all that they can use.
  static constexpr bool kMovesRegisters = Shape::kTileWarpgroups > 1;

  struct Params {
    typename Loop::Params loop;
    typename Epilogue::Params epilogue;
    TileSchedule schedule;
    unsigned char* workspace;
  };
  struct Storage {
    typename Loop::Storage loop;
    typename Epilogue::Storage epilogue;
  };

  // For a GPU that holds `ctas` CTAs at once, a multiple of the cluster's. `encode` makes a tensor map from
  // TmaDescriptorParams.
  template <class Encode>
  static Params make_params(const GemmProblem& p, int ctas, Encode encode) {
    return make_params(p, Epilogue::make_params(p, encode), ctas, encode);
  }
  template <class Encode>
  static Params make_params(const GemmProblem& p, const typename Epilogue::Params& epilogue, int ctas, Encode encode) {
    const TileSchedule tiles{
        .m = Shape::clusters_along_m(p.m), .n = Shape::clusters_along_n(p.n), .k_steps = Shape::k_steps(p.k), .l = p.l};
    const TileSchedule schedule = make_tile_schedule(with_costs_of(tiles, Shape::kTileM, Shape::kTileN),
                                                     ctas / kCluster, kAdds || p.workspace != nullptr);
    return {.loop = Loop::make_params(p, encode), .epilogue = epilogue, .schedule = schedule, .workspace = p.workspace};
  }

  static LaunchConfig launch_config(const Params& params) {
    return {.grid = {static_cast<std::uint32_t>(params.schedule.clusters * kCluster)},
            .cluster = {kCluster},
            .block = {kThreads},
            .shared_bytes = sizeof(Storage),
            .name = "cooperative_gemm"};
  }

  GANTRY_INLINE static void run(const Params& params, SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    const int warpgroup = static_cast<int>(arch::warpgroup_rank());
    const int warp = static_cast<int>(arch::warp_rank());
    if (arch::thread_rank() == 0) {
      if constexpr (kEpilogueLoads) Epilogue::init(s.epilogue);
      Loop::init(params.loop, s.loop);
    }
    if constexpr (kCluster > 1) {
      arch::barrier_cluster_arrive(arch::sem_relaxed);  // the fence of init() has released the barriers
      arch::barrier_cluster_wait();
    } else {
      arch::syncthreads();
    }
    if (warpgroup == 0) {
      if constexpr (kMovesRegisters) arch::setmaxnreg_dec<Shape::Registers::kLoad>();
      arch::name_role("producer");
      if (warp == 0 && arch::elect_sync()) produce(params, s);
      if constexpr (kEpilogueLoads) {
        if (warp >= 1 && warp <= Shape::kTileWarpgroups && arch::elect_sync()) load_epilogue(params, s, warp - 1);
      }
    } else {
      if constexpr (kMovesRegisters) arch::setmaxnreg_inc<Shape::Registers::kMath>();
      arch::name_role("math");
      consume(params, s, warpgroup - 1);
    }
  }

 private:
  GANTRY_INLINE static int cta() { return static_cast<int>(arch::block_index().x); }

  GANTRY_INLINE static void produce(const Params& p, Storage& s) {
    typename Loop::Producer producer(p.loop, s.loop);
    PersistentScheduler scheduler(p.schedule, cta() / kCluster);
    arch::griddepcontrol_wait();
    arch::griddepcontrol_launch_dependents();
    for (Work work; scheduler.next(work);) {
      scheduler.place(work);
      producer.load(work);
    }
    producer.tail();
  }

  GANTRY_INLINE static void load_epilogue(const Params& p, Storage& s, int warpgroup) {
    typename Epilogue::Loader loader(p.epilogue, s.epilogue, warpgroup);
    PersistentScheduler scheduler(p.schedule, cta() / kCluster);
    arch::griddepcontrol_wait();
    for (Work work; scheduler.next(work);) {
      if (work.part == Work::Part::first) continue;
      scheduler.place(work);
      loader.load(work);
    }
    loader.tail();
  }

  GANTRY_INLINE static void consume(const Params& p, Storage& s, int warpgroup) {
    typename Loop::Consumer loop(s.loop, warpgroup);
    typename Epilogue::Consumer epilogue(p.epilogue, s.epilogue);
    PersistentScheduler scheduler(p.schedule, cta() / kCluster);
    auto acc = Loop::Consumer::make_accumulators();
    for (Work work; scheduler.next(work);) {
      loop.template multiply<Epilogue::kSteps>(
          work, acc, [&](auto i) { epilogue.step(i); },
          [&] {
            scheduler.place(work);
            if constexpr (kPrepares) epilogue.prepare(work);
          });
      if constexpr (!kAdds) {
        if (work.part == Work::Part::first) {
          typename Sums::Slot(p.workspace, cta()).leave(acc);
          continue;
        }
        if (work.part == Work::Part::last) add_sums_of_helpers(p, scheduler, work, acc);
      }
      epilogue.take(acc, work);
    }
    epilogue.tail();
  }

  template <class Acc>
  GANTRY_INLINE static void add_sums_of_helpers(const Params& p, const PersistentScheduler& scheduler, const Work& work,
                                                Acc& acc) {
    const int mine = cta() / kCluster;
    int helpers = 0;  // counted first: with both in one loop registers run out
    GANTRY_NO_UNROLL
    while (scheduler.helps(mine + helpers + 1, work)) ++helpers;
    Sums::add(p.workspace, cta() + kCluster, kCluster, helpers, acc);
  }
};

}  // namespace gantry

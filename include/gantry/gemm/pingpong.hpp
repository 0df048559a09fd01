// The pingpong kernel: two warpgroups, or three, take tiles in turn; one multiplies while the others compute and store
// their epilogues; a further one loads for all. Persistent.
//
// Read run() first. A warpgroup holds all accumulators of its tile: 128 rows and up to 192 columns, or 64 rows and up
// to 256; of three, 128 x 128 or 64 x 192. Stages pass in the order of the tiles: a warpgroup waits for its turn before
// it looks at them, and hands the turn on when it has issued its last product. (A barrier's phase is one bit: who
// looked earlier could take another tile's stage for its own.)
//
// The epilogue is that of cooperative.hpp, with all of its work in take().
//
// Example at namespace scope:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     #include <gantry/gemm/fused_epilogue.hpp>
//     struct BiasGelu : gantry::FusedElements {
//       static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = gelu_tanh(acc + row(bias))");
//       using Functions = gantry::fusion::UserFunctions<>;
//     };
//     using Epilogue = gantry::FusedEpilogue<gantry::PingpongConfig, BiasGelu>;
//     using Gemm = gantry::PingpongGemm<gantry::PingpongConfig, Epilogue>;
//     static_assert(sizeof(Gemm::Storage) <= 232448);
#pragma once

#include <gantry/gemm/cooperative.hpp>
#include <gantry/pipeline/ordered_sequence.hpp>

namespace gantry {

// Two CTAs along M share a tile of B. (Four of them were measured at half the speed: docs/performance.md.)
struct PingpongConfig : GemmElements {
  static constexpr int kTileM = 128, kTileN = 192;
  static constexpr int kTileWarpgroups = 1;
  static constexpr int kAlternating = 2;  // or 3, where epilogues take longer than products
  static constexpr int kStages = 4;
  static constexpr int kClusterM = 2, kClusterN = 1;
};

template <class Config, class Epilogue>
struct PingpongGemm : GemmShape<Config> {
  using Shape = GemmShape<Config>;
  using Loop = Mainloop<Config>;
  using Shape::kCluster, Shape::kThreads, Shape::kWarpgroups;
  using Order = OrderedSequenceBarrier<1, kWarpgroups>;
  static_assert(Shape::kTileWarpgroups == 1, "gantry: a tile of the pingpong kernel belongs to one warpgroup");
  static_assert(GemmEpilogue<Epilogue> && Epilogue::kSteps == 0,
                "gantry: in the pingpong kernel an epilogue does all of its work in take(), as FusedEpilogue does");

  struct Params {
    typename Loop::Params loop;
    typename Epilogue::Params epilogue;
    TileSchedule schedule;
  };
  struct Storage {
    typename Loop::Storage loop;
    typename Epilogue::Storage epilogue;
    typename Order::SharedStorage order;
  };

  // For a launch of `ctas` CTAs, a multiple of the cluster's. `encode` makes a tensor map from TmaDescriptorParams.
  template <class Encode>
  static Params make_params(const GemmProblem& p, const typename Epilogue::Params& epilogue, int ctas, Encode encode) {
    const TileSchedule schedule = make_tile_schedule({.m = Shape::clusters_along_m(p.m),
                                                      .n = Shape::clusters_along_n(p.n),
                                                      .k_steps = Shape::k_steps(p.k),
                                                      .l = p.l},
                                                     ctas / kCluster, false);
    return {Loop::make_params(p, encode), epilogue, schedule};
  }

  static LaunchConfig launch_config(const Params& params) {
    return {.grid = {static_cast<std::uint32_t>(params.schedule.clusters * kCluster)},
            .cluster = {kCluster},
            .block = {kThreads},
            .shared_bytes = sizeof(Storage),
            .name = "pingpong_gemm"};
  }

  GANTRY_INLINE static void run(const Params& params, SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    const int warpgroup = static_cast<int>(arch::warpgroup_rank());
    const int warp = static_cast<int>(arch::warp_rank());
    if (arch::thread_rank() == 0) {
      if constexpr (Epilogue::kLoads) Epilogue::init(s.epilogue);
      Order::init(s.order, {}, "turn");
      Loop::init(params.loop, s.loop);
    }
    if constexpr (kCluster > 1) {
      arch::barrier_cluster_arrive(arch::sem_relaxed);  // the fence of init() has released the barriers
      arch::barrier_cluster_wait();
    } else {
      arch::syncthreads();
    }
    if (warpgroup == 0) {
      arch::setmaxnreg_dec<Shape::Registers::kLoad>();
      arch::name_role("producer");
      if (warp == 0 && arch::elect_sync()) produce(params, s);
      if constexpr (Epilogue::kLoads) {
        if (warp >= 1 && warp <= kWarpgroups && arch::elect_sync()) load_epilogue(params, s, warp - 1);
      }
    } else {
      arch::setmaxnreg_inc<Shape::Registers::kMath>();
      arch::name_role(warpgroup == 1 ? "math, first" : warpgroup == 2 ? "math, second" : "math, third");
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

  // For one of the warpgroups: its loads do not wait for another to make room.
  GANTRY_INLINE static void load_epilogue(const Params& p, Storage& s, int warpgroup) {
    typename Epilogue::Loader loader(p.epilogue, s.epilogue, warpgroup);
    PersistentScheduler scheduler(p.schedule, cta() / kCluster);
    arch::griddepcontrol_wait();
    scheduler.skip(warpgroup);
    for (Work work; scheduler.next(work); scheduler.skip(kWarpgroups - 1)) {
      scheduler.place(work);
      loader.load(work);
    }
    loader.tail();
  }

  GANTRY_INLINE static void consume(const Params& p, Storage& s, int warpgroup) {
    typename Loop::Consumer loop(s.loop, 0);
    typename Epilogue::Consumer epilogue(p.epilogue, s.epilogue);
    PersistentScheduler scheduler(p.schedule, cta() / kCluster);
    Order order(s.order, {.group = static_cast<std::uint32_t>(warpgroup)});
    auto acc = Loop::Consumer::make_accumulators();
    const auto leave_to_others = [&](int tiles) {
      scheduler.skip(tiles);
      loop.skip(tiles * p.schedule.k_steps);
    };
    leave_to_others(warpgroup);
    for (Work work; scheduler.next(work); leave_to_others(kWarpgroups - 1)) {
      order.wait();
      loop.template multiply<0>(
          work, acc, [](auto) {},
          [&] {
            order.arrive();
            scheduler.place(work);
            epilogue.prepare(work);
          });
      epilogue.take(acc, work);
    }
    epilogue.tail();
  }
};

}  // namespace gantry

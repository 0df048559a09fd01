// The pingpong kernel: two consumer warpgroups, or three, alternate; one runs the main loop of its tile while the
// others run their epilogues; a producer warpgroup loads for all. Persistent.
//
// The frame (frame.hpp) starts roles and loads; consume() is what a math warpgroup does. A warpgroup holds all
// accumulators of its tile: 128 rows and up to 192 columns, or 64 rows and up to 256; of three, 128 x 128 or 64 x 192.
// Stages pass in the order of the tiles: a warpgroup waits for its turn before it looks at them, and hands the turn on
// when it has issued its last wgmma. (A barrier's phase is one bit: who looked earlier could take another tile's stage
// for its own.)
//
// An epilogue does all of its work in take().
//
// Example at namespace scope:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     #include <gantry/gemm/fused_epilogue.hpp>
//     struct BiasGelu {
//       static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = gelu_tanh(acc + row(bias))");
//       using Functions = gantry::fusion::UserFunctions<>;
//       static constexpr gantry::GemmDesign design = gantry::make_gemm_design({}, graph);
//     };
//     using Kernel = gantry::PingpongGemm<BiasGelu, gantry::FusedEpilogue<BiasGelu>>;
//     static_assert(BiasGelu::design.pingpong() && Kernel::kSharedBytes <= gantry::kSm90.shared_bytes_per_block);
#pragma once

#include <gantry/gemm/frame.hpp>
#include <gantry/pipeline/ordered_sequence.hpp>

namespace gantry {

template <class Design, class Epilogue, class Scheduler = PersistentScheduler, class Source = TmaOperands<Design>>
struct PingpongGemm
    : GemmFrame<PingpongGemm<Design, Epilogue, Scheduler, Source>, Design, Source, Epilogue, Scheduler> {
  using Frame = GemmFrame<PingpongGemm, Design, Source, Epilogue, Scheduler>;
  using Frame::kWarpgroups, Frame::kPrepares;
  using typename Frame::Params, typename Frame::Loop;
  using Order = OrderedSequenceBarrier<1, kWarpgroups>;
  static constexpr const char* kName = "pingpong_gemm";
  static_assert(Design::design.roles.tile_warpgroups == 1,
                "gantry: a tile of the pingpong kernel belongs to one warpgroup");
  static_assert(Epilogue::kSteps == 0,
                "gantry: in the pingpong kernel an epilogue does all of its work in take(), as FusedEpilogue does");
  static_assert(
      requires(Scheduler & scheduler) { scheduler.skip(1) + 0; },
      "gantry: warpgroups of the pingpong kernel leave tiles to each other: its scheduler has skip(tiles), which "
      "returns the K tiles of those");
  GANTRY_INLINE static const char* math_role(int warpgroup) {
    return warpgroup == 1 ? "math, first" : warpgroup == 2 ? "math, second" : "math, third";
  }

  GANTRY_INLINE static auto& turns(SharedMemory s) {
    return *s.template at<typename Order::SharedStorage>(Design::design.shared.order);
  }
  GANTRY_INLINE static void init(SharedMemory s) { Order::init(turns(s), {}, "turn"); }

  // Every kWarpgroups-th tile is this warpgroup's: its loads do not wait for another warpgroup to release a stage.
  template <class F>
  GANTRY_INLINE static void for_epilogues(Scheduler& scheduler, int warpgroup, const F& f) {
    scheduler.skip(warpgroup);
    for (Work work; scheduler.next(work); scheduler.skip(kWarpgroups - 1)) f(work);
  }

  GANTRY_INLINE static void consume(const Params& p, SharedMemory s, int warpgroup) {
    typename Loop::Consumer loop(s, 0);
    typename Epilogue::Consumer epilogue(p.epilogue, s);
    Scheduler scheduler = Frame::work_of_cluster(p, s);
    Order order(turns(s), {.group = static_cast<std::uint32_t>(warpgroup)});
    auto acc = Loop::Consumer::make_accumulators();
    const auto leave_to_others = [&](int tiles) { loop.skip(scheduler.skip(tiles)); };
    leave_to_others(warpgroup);
    for (Work work; scheduler.next(work); leave_to_others(kWarpgroups - 1)) {
      Frame::aim(p, scheduler, work, loop)();
      order.wait();
      loop.template multiply<0>(
          work, acc, [] {}, [](auto) {},
          [&] {
            order.arrive();
            scheduler.place(work);
            if constexpr (kPrepares) epilogue.prepare(work);
          });
      epilogue.take(acc, work);
    }
    epilogue.tail();
  }
};

}  // namespace gantry

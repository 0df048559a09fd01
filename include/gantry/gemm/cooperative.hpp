// The cooperative kernel: two warpgroups on the two halves of a tile (or one on a tile of 64 rows), a producer
// warpgroup loads for them. Persistent.
//
// The frame (frame.hpp) starts roles and loads; consume() is what a math warpgroup does. It hands its accumulators to
// the epilogue, which may store them while the next tile is multiplied. A tile that several clusters share (split-K,
// stream-K) is finished by the cluster that owns its last part, which adds the others' partial accumulators in a fixed
// order.
//
// Example at namespace scope:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     struct Plain {
//       static constexpr gantry::GemmDesign design = gantry::make_gemm_design({}, gantry::fusion::graph("d = acc"));
//     };
//     using Kernel = gantry::CooperativeGemm<Plain, gantry::OverlappedStore<Plain>>;
//     static_assert(sizeof(Kernel::Params) == Plain::design.params.bytes && Kernel::kThreads == 384);
#pragma once

#include <gantry/gemm/frame.hpp>
#include <gantry/gemm/overlapped_store.hpp>
#include <gantry/gemm/split_reduction.hpp>

namespace gantry {

template <class Design, class Epilogue, class Scheduler = PersistentScheduler, class Source = TmaOperands<Design>>
struct CooperativeGemm
    : GemmFrame<CooperativeGemm<Design, Epilogue, Scheduler, Source>, Design, Source, Epilogue, Scheduler> {
  using Frame = GemmFrame<CooperativeGemm, Design, Source, Epilogue, Scheduler>;
  using Frame::kAdds, Frame::kPrepares, Frame::kCluster, Frame::cta;
  using typename Frame::Params, typename Frame::Loop;
  using Sums = SplitReduction<Design>;
  static constexpr const char* kName = "cooperative_gemm";
  GANTRY_INLINE static const char* math_role(int) { return "math"; }

  GANTRY_INLINE static void init(SharedMemory) {}

  // Both warpgroups have a part of every tile. The first part of a split tile has no epilogue.
  template <class F>
  GANTRY_INLINE static void for_epilogues(Scheduler& scheduler, int /*warpgroup*/, const F& f) {
    for (Work work; scheduler.next(work);) {
      if (work.part != Work::Part::first) f(work);
    }
  }

  GANTRY_INLINE static void consume(const Params& p, SharedMemory s, int warpgroup) {
    typename Loop::Consumer loop(s, warpgroup);
    typename Epilogue::Consumer epilogue(p.epilogue, s);
    Scheduler scheduler = Frame::work_of_cluster(p, s);
    auto acc = Loop::Consumer::make_accumulators();
    for (Work work; scheduler.next(work);) {
      Frame::aim(p, scheduler, work, loop);
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
        if (work.part == Work::Part::last) add_partial_sums(p, scheduler, work, acc);
      }
      epilogue.take(acc, work);
    }
    epilogue.tail();
  }

 private:
  template <class Acc>
  GANTRY_INLINE static void add_partial_sums(const Params& p, const Scheduler& scheduler, const Work& work, Acc& acc) {
    const int mine = cta() / kCluster;
    int peers = 0;  // counted first: with both in one loop registers run out
    GANTRY_NO_UNROLL
    while (scheduler.is_peer(mine + peers + 1, work)) ++peers;
    Sums::add(p.workspace, cta() + kCluster, kCluster, peers, acc);
  }
};

}  // namespace gantry

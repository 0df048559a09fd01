// The cooperative kernel: two warpgroups on the two halves of a tile (or one on a tile of 64 rows), a producer
// warpgroup loads for them. Persistent.
//
// The frame (frame.hpp) starts roles and loads; consume() is what a math warpgroup does. It hands its accumulators to
// the epilogue, which may store them while the next tile is multiplied. A tile that several clusters share (split-K,
// stream-K) is finished by the cluster that owns its last part, which adds the others' partial accumulators in a fixed
// order. CTAs of a cluster that share the K tiles of a tile do the same through distributed shared memory; one of them
// has the epilogue.
//
// Example at namespace scope:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     struct Plain {
//       static constexpr gantry::GemmDesign design = gantry::make_gemm_design({}, gantry::fusion::graph("d = acc"));
//     };
//     using Kernel = gantry::CooperativeGemm<Plain, gantry::OverlappedStore<Plain>>;
//     static_assert(sizeof(Kernel::Params) == Plain::design.params.bytes && Kernel::kThreads == 384);
#pragma once

#include <gantry/gemm/cluster_reduction.hpp>
#include <gantry/gemm/frame.hpp>
#include <gantry/gemm/overlapped_store.hpp>
#include <gantry/gemm/split_reduction.hpp>

namespace gantry {

template <class Design, class Epilogue, class Scheduler = PersistentScheduler, class Source = TmaOperands<Design>>
struct CooperativeGemm
    : GemmFrame<CooperativeGemm<Design, Epilogue, Scheduler, Source>, Design, Source, Epilogue, Scheduler> {
  using Frame = GemmFrame<CooperativeGemm, Design, Source, Epilogue, Scheduler>;
  using Frame::kAdds, Frame::kPrepares, Frame::kCluster, Frame::kClusterK, Frame::cta;
  using typename Frame::Params, typename Frame::Loop;
  using Sums = SplitReduction<Design>;
  using Partials = ClusterReduction<Design>;
  static constexpr const char* kName = "cooperative_gemm";
  GANTRY_INLINE static const char* math_role(int) { return "math"; }

  GANTRY_INLINE static void init([[maybe_unused]] SharedMemory s) {
    if constexpr (kClusterK > 1) Partials::init(s);
  }

  // Of CTAs that share the K tiles of a tile, one has the epilogue.
  GANTRY_INLINE static bool has_epilogue() {
    if constexpr (kClusterK > 1) return Partials::leads();
    return true;
  }

  // Both warpgroups have a part of every tile. The first part of a split tile has no epilogue.
  template <class F>
  GANTRY_INLINE static void for_epilogues(Scheduler& scheduler, int /*warpgroup*/, const F& f) {
    if (!has_epilogue()) return;
    for (Work work; scheduler.next(work);) {
      if (work.part != Work::Part::first) f(work);
    }
  }

  GANTRY_INLINE static void consume(const Params& p, SharedMemory s, int warpgroup) {
    if constexpr (kClusterK > 1) {
      consume_shared(p, s, warpgroup);
    } else {
      consume_alone(p, s, warpgroup);
    }
  }

 private:
  // Where rows of D are scattered, and in groups of rows or columns with a fused epilogue, accumulators begin anew with
  // each tile, at the cost of setting them to 0: ptxas 13.0 would move those that live on to other registers amid
  // wgmmas, and serialise wgmma (C7518).
  static constexpr bool kBeginsAnew =
      Design::design.options.scatter_d != RowScatter::none ||
      (groups_tiles(Design::design.options.groups) && Design::design.store == GemmStore::collective);

  // Registers of an overlapped store are free while accumulators are promoted: ptxas has to see that no path leads from
  // the main loop to a store without accumulators having been taken.
  static constexpr bool kForgets = Frame::Shape::kPromote && requires(typename Epilogue::Consumer & epilogue) {
    epilogue.forget();
  };

  GANTRY_INLINE static void consume_alone(const Params& p, SharedMemory s, int warpgroup) {
    typename Loop::Consumer loop(s, warpgroup);
    typename Epilogue::Consumer epilogue(p.epilogue, s);
    Scheduler scheduler = Frame::work_of_cluster(p, s);
    auto acc = Loop::Consumer::make_accumulators();
    for (Work work; scheduler.next(work);) {
      if constexpr (kBeginsAnew) Loop::Consumer::clear(acc);
      loop.template multiply<Epilogue::kSteps>(
          work, acc, Frame::aim(p, scheduler, work, loop), [&](auto i) { epilogue.step(i); },
          [&] {
            scheduler.place(work);
            if constexpr (kPrepares) epilogue.prepare(work);
          });
      if constexpr (!kAdds) {
        if (work.part == Work::Part::first) {
          typename Sums::Slot(p.workspace, cta()).leave(acc);
          if constexpr (kForgets) epilogue.forget();
          continue;
        }
        if (work.part == Work::Part::last) add_partial_sums(p, scheduler, work, acc);
      }
      epilogue.take(acc, work);
    }
    epilogue.tail();
  }

  // With other CTAs of the cluster.
  GANTRY_INLINE static void consume_shared(const Params& p, SharedMemory s, int warpgroup) {
    static_assert(Epilogue::kSteps == 0, "gantry: CTAs that share K tiles have an epilogue that works in take()");
    typename Loop::Consumer loop(s, warpgroup);
    typename Epilogue::Consumer epilogue(p.epilogue, s);
    typename Partials::Consumer partials(s, warpgroup);
    Scheduler scheduler = Frame::work_of_cluster(p, s);
    auto acc = Loop::Consumer::make_accumulators();
    for (Work work; scheduler.next(work);) {
      Loop::take_share(work);
      loop.template multiply<0>(
          work, acc, Frame::aim(p, scheduler, work, loop), [](auto) {},
          [&] {
            scheduler.place(work);
            if constexpr (kPrepares) {
              if (has_epilogue()) epilogue.prepare(work);
            }
          });
      if (has_epilogue()) {
        partials.add(acc);
        epilogue.take(acc, work);
      } else {
        partials.push(acc);
      }
    }
    partials.tail();
    epilogue.tail();
  }

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

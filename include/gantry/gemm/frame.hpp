// The frame of a warp-specialised GEMM kernel: roles of warps by name, prologue, register moves, cluster barrier, and
// the parts of a kernel: a tile scheduler, an operand source, an epilogue.
//
// Warpgroup 0 produces; the others are math warpgroups. A kernel derives from the frame and has, for its own order of
// things, consume(params, shared, warpgroup): what a math warpgroup does from its first piece of work to its last. The
// rest it may replace: which pieces a warpgroup's epilogue loads (skips), what is initialised besides.
//
//   role            who                                  does
//   load_operands   warp 0 of the producer warpgroup,    Source::Producer: A and B of every piece of work
//                   one thread or all; for a source of
//                   several warps also those left over
//   load_epilogue   warps 1 and up, an elected thread    Epilogue::Loader of one math warpgroup: C, auxiliary inputs
//   find_work       the next warp, one thread or all     Scheduler::find, where work is published in shared memory
//   math            warpgroups 1 and up                  wgmma and the epilogue
//
// Who waits for a dependent launch: whoever reads global memory first, the operand source and the epilogue's loader.
// An operand that is said to be constant is loaded before the wait, as far as there are stages.
// The math warpgroups wait for those.
//
// CooperativeGemm (cooperative.hpp) and PingpongGemm (pingpong.hpp) are two such kernels; tests/gemm/list_test.cpp has
// one whose tiles come from a list in memory.
//
// Example:
//     using namespace gantry;
//     static_assert(TileScheduler<PersistentScheduler>);
#pragma once

#include <gantry/arch/barrier.hpp>
#include <gantry/arch/control.hpp>
#include <gantry/arch/kernel.hpp>
#include <gantry/arch/thread.hpp>
#include <gantry/arch/warp.hpp>
#include <gantry/gemm/mainloop.hpp>
#include <gantry/gemm/scheduler.hpp>

namespace gantry {

enum class WarpRole : std::uint8_t { load_operands, load_epilogue, find_work, idle, math };

// ---- What a kernel is made of

// Assigns work to a cluster. Every role that needs work makes one of its own from the same parameters, and gets the
// same pieces in the same order. `k_steps(work)` is the number of K tiles of a piece's tile, `uniform_k_steps` that of
// every tile, 0 where they differ; both refer to the kernel's parameters where they can, since copies take registers.
template <class S>
concept TileScheduler = requires(S& scheduler, const typename S::Params& params, Work& work, SharedMemory shared) {
  S(params, shared, 0);
  scheduler.next(work) ? 1 : 0;
  scheduler.place(work);
  S::uniform_k_steps(params);
  scheduler.k_steps(work);
  static_cast<const S&>(scheduler).is_peer(0, work) ? 1 : 0;  // that cluster has another part of this tile
  requires S::kSharedBytes >= 0;                              // of a ring that it publishes work in
};

// Brings A and B of a piece of work into the stages of the main loop. kThreads threads run it, one or whole warps;
// where warps are several, a Producer is told which it belongs to. kArrivals is how often they arrive at a stage's full
// barrier, besides the bytes that TMA brings.
template <class S>
concept OperandSource = requires(typename S::Producer& producer, const Work& work, const int& k_steps) {
  typename S::Params;
  producer.load(work, k_steps);
  producer.tail();
  requires S::kThreads == 1 || (S::kThreads % 32 == 0 && S::kThreads <= 128);
  requires S::kArrivals >= 1;
  requires S::kRegisters >
  0;
};

// Takes accumulators; those outside of D are undefined. take(accumulators, work) frees them, step(i) for i < kSteps is
// called between K tiles of the next tile, tail() finishes. One that does all of its work in take() has kSteps = 0. One
// that adds to D (kAdds) gets the parts of split tiles one by one. One that keeps registers between take() and the last
// step has forget() for kernels that promote, instead of take(). One that reads tensors has kLoads, init(shared) for
// its barriers, and a Loader.
template <class E, class Accumulators>
concept GemmEpilogue = requires(typename E::Consumer& consumer, Accumulators& accumulators, const Work& work) {
  typename E::Params;
  requires E::kSteps == 0 || (E::kSteps > 0 && requires { consumer.step(Constant<0>{}); });
  consumer.take(accumulators, work);
  consumer.tail();
};

// A and B by TMA, each CTA of a cluster a part of what it shares.
template <class Design>
struct TmaOperands {
  using Params = typename Mainloop<Design>::Params;
  using Producer = typename Mainloop<Design>::Producer;
  static constexpr int kThreads = 1;   // one thread issues
  static constexpr int kArrivals = 1;  // and announces the bytes
  static constexpr int kRegisters = Design::design.roles.producer_registers;
};

// ---- The frame

// `Kernel` is the kernel that derives from this.
template <class Kernel, class Design, class Source, class Epilogue, class Scheduler>
struct GemmFrame : GemmShape<Design> {
  static_assert(
      GemmEpilogue<Epilogue, decltype(Mainloop<Design>::Consumer::make_accumulators())>,
      "gantry: an epilogue of a GEMM has Params, kSteps, and a Consumer with take, tail, and step where kSteps "
      "is not 0");
  static_assert(
      OperandSource<Source>,
      "gantry: an operand source has Params, kThreads, kArrivals, kRegisters, and a Producer with load and tail");
  static_assert(TileScheduler<Scheduler>,
                "gantry: a tile scheduler has Params, kSharedBytes, uniform_k_steps, k_steps, next, place and is_peer");
  using Shape = GemmShape<Design>;
  using Loop = Mainloop<Design>;
  using Shape::kCluster, Shape::kThreads, Shape::kWarpgroups;
  static constexpr const GemmDesign& design() { return Design::design; }

  // The epilogue reads tensors.
  static constexpr bool kEpilogueLoads = requires { requires Epilogue::kLoads; };
  // The epilogue adds every part of a tile to D: no split-K reduction.
  static constexpr bool kAdds = requires { requires Epilogue::kAdds; };
  // The epilogue reads something while a tile is multiplied.
  static constexpr bool kPrepares = requires(typename Epilogue::Consumer & epilogue, const Work& work) {
    epilogue.prepare(work);
  };

  // An operand is constant, and the source loads it before the wait for the kernel before.
  static constexpr bool kLoadsEarly =
      Shape::kConstant != ConstantOperand::none && Scheduler::kSharedBytes == 0 &&
      requires(typename Source::Producer & producer, const Work& work, const int& k_steps) {
    producer.load_early(work, k_steps);
  };

  // The scheduler publishes work: one warp finds it, everybody else reads it in shared memory.
  static constexpr bool kPublishes = Scheduler::kSharedBytes > 0;
  static constexpr int kFinderWarp = GemmRoles::first_free_warp(kEpilogueLoads ? kWarpgroups : 0, false);
  static_assert(!kPublishes || kFinderWarp < GemmRoles::kProducerWarps,
                "gantry: no warp of the producer warpgroup is left to find work");
  // Warps from here on have no role of their own, and load operands where the source has several warps.
  static constexpr int kFirstFreeWarp = GemmRoles::first_free_warp(kFinderWarp - 1, kPublishes);
  static constexpr int kLoadingWarps = Source::kThreads > 1 ? Source::kThreads / 32 : 1;
  static_assert(kLoadingWarps - 1 <= GemmRoles::kProducerWarps - kFirstFreeWarp,
                "gantry: the producer warpgroup has not as many warps left as the operand source needs");
  static_assert(
      Design::design.shared.scheduler + Scheduler::kSharedBytes <= Design::design.shared.bytes,
      "gantry: the design has no room for what the scheduler publishes: give GemmCallbackNeeds::scheduler_bytes");
  static constexpr int kReaders = Source::kThreads + (kEpilogueLoads ? kWarpgroups : 0) + 128 * kWarpgroups;

  // Tensor maps first. The design says where everything is, so that a host fills the bytes without this type.
  struct Params {
    typename Source::Params loop;
    typename Epilogue::Params epilogue;
    alignas(128) typename Scheduler::Params schedule;
    unsigned char* workspace;  // of split tiles
  };
  static constexpr int kSharedBytes = Design::design.shared.bytes;

  GANTRY_INLINE static void run(const Params& params, SharedMemory shared) {
    // Both before the prologue: ptxas then makes one shuffle of two.
    const int warpgroup = static_cast<int>(arch::warpgroup_rank());
    const int warp = static_cast<int>(arch::warp_rank());
    prologue(params, shared);
    if (warpgroup == 0) {
      if constexpr (Design::design.roles.moves_registers) arch::setmaxnreg_dec<Source::kRegisters>();
      arch::name_role("producer");
      produce(params, shared, warp);
    } else {
      if constexpr (Design::design.roles.moves_registers) arch::setmaxnreg_inc<Design::design.roles.math_registers>();
      arch::name_role(Kernel::math_role(warpgroup));
      Kernel::consume(params, shared, warpgroup - 1);
    }
  }

  GANTRY_HD static constexpr WarpRole role_of_producer_warp(int warp) {
    if (warp == 0) return WarpRole::load_operands;
    if (kEpilogueLoads && warp <= kWarpgroups) return WarpRole::load_epilogue;
    if (kPublishes && warp == kFinderWarp) return WarpRole::find_work;
    return rank_of_loading_warp(warp) < kLoadingWarps ? WarpRole::load_operands : WarpRole::idle;
  }

  // Of a warp that loads operands, or is idle.
  GANTRY_HD static constexpr int rank_of_loading_warp(int warp) { return warp == 0 ? 0 : warp - kFirstFreeWarp + 1; }

  GANTRY_INLINE static int cta() { return static_cast<int>(arch::block_index().x); }
  GANTRY_INLINE static Scheduler work_of_cluster(const Params& params, SharedMemory shared) {
    return Scheduler(params.schedule, published(shared), cta() / kCluster);
  }
  // Where blocks are scaled: a call that finds the scales of a math warpgroup's tile. Others hold no references, which
  // would change their code.
  GANTRY_INLINE static auto aim([[maybe_unused]] const Params& params, [[maybe_unused]] const Scheduler& scheduler,
                                [[maybe_unused]] Work& work, [[maybe_unused]] typename Loop::Consumer& loop) {
    if constexpr (Shape::kScaled) {
      return [&] {
        scheduler.place(work);
        // Groups of rows have one K, which the parameters hold: it takes no register.
        const int uniform = Scheduler::uniform_k_steps(params.schedule);
        loop.aim(params.loop, work, groups_tiles(Design::design.options.groups) ? uniform : scheduler.k_steps(work));
      };
    } else {
      return [] {};
    }
  }
  GANTRY_INLINE static SharedMemory published(SharedMemory shared) {
    return SharedMemory(shared.template at<void>(Design::design.shared.scheduler));
  }

 private:
  // One thread initialises every barrier; nobody uses one before the whole cluster has seen them.
  GANTRY_INLINE static void prologue(const Params& params, SharedMemory shared) {
    if (arch::thread_rank() == 0) {
      if constexpr (requires { Epilogue::init(shared); }) Epilogue::init(shared);
      Kernel::init(shared);
      if constexpr (kPublishes) Scheduler::init(published(shared), kReaders);
      Loop::template init<Source::kArrivals>(params.loop, shared, Scheduler::uniform_k_steps(params.schedule));
    }
    if constexpr (kCluster > 1) {
      arch::barrier_cluster_arrive(arch::sem_relaxed);  // the fence of Loop::init has released the barriers
      arch::barrier_cluster_wait();
    } else {
      arch::syncthreads();
    }
  }

  GANTRY_INLINE static void produce(const Params& params, SharedMemory shared, int warp) {
    if (role_of_producer_warp(warp) == WarpRole::load_operands && (Source::kThreads > 1 || arch::elect_sync())) {
      load_operands(params, shared, rank_of_loading_warp(warp));
    }
    if constexpr (kEpilogueLoads) {
      if (role_of_producer_warp(warp) == WarpRole::load_epilogue && arch::elect_sync()) {
        load_epilogue(params, shared, warp - 1);
      }
    }
    if constexpr (kPublishes) {
      if (role_of_producer_warp(warp) == WarpRole::find_work && (Scheduler::kFinders > 1 || arch::elect_sync())) {
        arch::griddepcontrol_wait();  // work may be read from memory
        Scheduler::find(params, published(shared), cta() / kCluster);
      }
    }
  }

  GANTRY_INLINE static auto make_producer(const Params& params, SharedMemory shared, [[maybe_unused]] int rank) {
    const int& k_steps = Scheduler::uniform_k_steps(params.schedule);
    if constexpr (Source::kThreads > 1) {
      return typename Source::Producer(params.loop, shared, k_steps, rank);
    } else {
      return typename Source::Producer(params.loop, shared, k_steps);
    }
  }

  GANTRY_INLINE static void load_operands(const Params& params, SharedMemory shared, int rank) {
    auto producer = make_producer(params, shared, rank);
    Scheduler scheduler = work_of_cluster(params, shared);
    if constexpr (kLoadsEarly) {
      Scheduler ahead = scheduler;
      if (Work work; ahead.next(work)) {
        ahead.place(work);
        Loop::take_share(work);
        producer.load_early(work, ahead.k_steps(work));
      }
    }
    arch::griddepcontrol_wait();
    arch::griddepcontrol_launch_dependents();
    for (Work work; scheduler.next(work);) {
      scheduler.place(work);
      Loop::take_share(work);
      producer.load(work, scheduler.k_steps(work));
    }
    producer.tail();
  }

  GANTRY_INLINE static void load_epilogue(const Params& params, SharedMemory shared, int warpgroup) {
    typename Epilogue::Loader loader(params.epilogue, shared, warpgroup);
    Scheduler scheduler = work_of_cluster(params, shared);
    arch::griddepcontrol_wait();
    Kernel::for_epilogues(scheduler, warpgroup, [&](Work& work) {
      scheduler.place(work);
      loader.load(work);
    });
    loader.tail();
  }
};

}  // namespace gantry

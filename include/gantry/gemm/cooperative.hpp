// The cooperative kernel: two warpgroups on the two halves of a tile, a third loads for them. Persistent.
//
// Read run() first. The producer goes through the cluster's work and loads; a math warpgroup goes through the same work
// and multiplies, and hands its accumulators to the epilogue, which stores them while the next tile is multiplied.
//
// An epilogue is a type with Params, Storage and Consumer: take(accumulators, work) frees the accumulators, step(i) for
// i < kSteps is called behind the products of the next tile, tail() finishes. One that does all its work in take() has
// kSteps = 0.
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
#include <gantry/gemm/scheduler.hpp>

namespace gantry {

// D = A B^T, all row-major.
struct GemmProblem {
  const bf16* a = nullptr;  // M x K
  const bf16* b = nullptr;  // N x K
  bf16* d = nullptr;        // M x N
  int m = 0, n = 0, k = 0;
  unsigned char* workspace = nullptr;  // zeros, workspace_bytes of them; without it no tile is split
  int group = 8;
  Raster raster = Raster::along_m;
};

template <class Config, class Epilogue = DeferredStore<Config>>
struct CooperativeGemm : GemmShape<Config> {
  using Shape = GemmShape<Config>;
  using Loop = Mainloop<Config>;
  using Sums = Handover<Config>;
  using Shape::kCluster, Shape::kThreads;

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

  // For a launch of `ctas` CTAs, a multiple of the cluster's. `encode` makes a tensor map from TmaDescriptorParams.
  template <class Encode>
  static Params make_params(const GemmProblem& p, int ctas, Encode encode) {
    const auto map = [&encode](const TmaPlan& plan, const bf16* data, int rows, int columns) {
      GlobalTensor matrix{.address = reinterpret_cast<std::uint64_t>(data), .element = ElementType::bf16, .layout = {}};
      matrix.layout = make_layout(make_shape(rows, columns), make_stride(columns, _1));
      return encode(bind(plan, matrix).descriptor);
    };
    TileSchedule schedule{.m = Shape::clusters_along_m(p.m),
                          .n = Shape::clusters_along_n(p.n),
                          .k_steps = Shape::k_steps(p.k),
                          .group = p.group,
                          .raster = p.raster};
    if (p.workspace) schedule = make_tile_schedule(schedule, ctas / kCluster);
    return {.loop = {map(Loop::LoadA::value, p.a, p.m, p.k), map(Loop::LoadB::value, p.b, p.n, p.k), p.m, p.n, p.k},
            .epilogue = {map(Epilogue::StoreD::value, p.d, p.m, p.n), p.m, p.n},
            .schedule = schedule,
            .workspace = p.workspace};
  }

  GANTRY_HD static void run(const Params& params, SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    const int warpgroup = static_cast<int>(arch::warpgroup_rank());
    const int warp = static_cast<int>(arch::warp_rank());
    if (arch::thread_rank() == 0) Loop::init(s.loop);
    if constexpr (kCluster > 1) {
      arch::barrier_cluster_arrive();
      arch::barrier_cluster_wait();
    } else {
      arch::syncthreads();
    }
    if (warpgroup == 0) {
      arch::setmaxnreg_dec<40>();
      arch::name_role("producer");
      if (warp == 0 && arch::elect_sync()) produce(params, s);
    } else {
      arch::setmaxnreg_inc<232>();
      arch::name_role("math");
      consume(params, s, warpgroup - 1);
    }
  }

 private:
  GANTRY_INLINE static int cta() { return static_cast<int>(arch::block_index().x); }
  GANTRY_INLINE static int ctas() { return static_cast<int>(arch::grid_dim().x); }

  GANTRY_INLINE static void produce(const Params& p, Storage& s) {
    typename Loop::Producer producer(p.loop, s.loop);
    PersistentScheduler scheduler(p.schedule, cta() / kCluster, ctas() / kCluster);
    arch::griddepcontrol_wait();
    arch::griddepcontrol_launch_dependents();
    for (Work work; scheduler.next(work);) producer.load(work);
    producer.tail();
  }

  GANTRY_INLINE static void consume(const Params& p, Storage& s, int warpgroup) {
    typename Loop::Consumer loop(s.loop, warpgroup);
    typename Epilogue::Consumer epilogue(p.epilogue, s.epilogue, warpgroup);
    PersistentScheduler scheduler(p.schedule, cta() / kCluster, ctas() / kCluster);
    auto acc = Loop::Consumer::make_accumulators();
    for (Work work; scheduler.next(work);) {
      loop.template multiply<Epilogue::kSteps>(work, acc, [&](auto i) { epilogue.step(i); });
      if (work.is_tail()) {
        typename Sums::Slot(p.workspace, ctas(), cta(), warpgroup).leave(acc);
        continue;
      }
      if (work.is_head()) typename Sums::Slot(p.workspace, ctas(), cta() + kCluster, warpgroup).add_to(acc);
      epilogue.take(acc, work);
    }
    epilogue.tail();
  }
};

}  // namespace gantry

// EpilogueKernel: the whole load and store path of an epilogue without a main loop, persistent over tiles. Accumulators
// come from a cheap function of (m, n, batch), or from a row-major matrix in global memory.
//
// `Config` is the collective's; it may have `Accumulators`, a type whose static `at(m, n, batch)` gives them. (A type
// of its own: where device code calls a function of a class template, nvcc wants that class's constants on the device
// too.)
//
// Example at namespace scope:
//     #include <gantry/epilogue/builder.hpp>
//     #include <gantry/epilogue/fusion/parse.hpp>
//     struct Bias {
//       static constexpr gantry::EpiloguePolicy policy =
//           gantry::CollectiveBuilder{.schedule = gantry::EpilogueSchedule::tma_warp_specialized,
//                                     .tile = {64, 128, 64},
//                                     .d = gantry::ElementType::bf16}
//               .policy();
//       static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = acc + row(bias)");
//       using Functions = gantry::fusion::UserFunctions<>;
//     };
//     using Kernel = gantry::EpilogueKernel<Bias>;  // accumulators come from memory
//     static_assert(Kernel::kThreads == 256);
#pragma once

#include <gantry/arch/control.hpp>
#include <gantry/arch/fence.hpp>
#include <gantry/arch/kernel.hpp>
#include <gantry/arch/thread.hpp>
#include <gantry/epilogue/no_smem.hpp>

namespace gantry {

template <class Config>
struct EpilogueKernel {
  using Collective = EpilogueOf<Config>;
  static constexpr ElementType kAccumulator = Config::policy.element_acc;
  using Accumulator = element_t<kAccumulator>;
  static constexpr Subtiles kTile = Collective::kTile;
  static constexpr int kThreads = 128 + Collective::kMathThreads;
  static constexpr std::uint32_t kBarrier = 1;

  struct Params {
    typename Collective::Params epilogue;
    const Accumulator* accumulators;  // (M, N, L), N fastest; null: Config::Accumulators
  };

  using Storage = typename Collective::SharedStorage;
  static_assert(sizeof(Storage) <= kSm90.shared_bytes_per_block,
                "gantry: the epilogue's buffers and what its graph keeps take more shared memory than a block may ask "
                "for; fewer stages or a smaller epilogue tile take less");

  GANTRY_HD static constexpr int tiles(const Params& p) { return tiles_m(p) * tiles_n(p) * p.epilogue.batch; }

  GANTRY_HD static void run(const Params& params, SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    const auto thread = static_cast<int>(arch::thread_rank());
    if (thread == 0) {
      Collective::init(s.pipeline);
      arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster);
      Collective::prefetch_tma_descriptors(params.epilogue);
    }
    arch::syncthreads();
    if (thread < 128) {
      arch::name_role("load");
      if (arch::warp_rank() == 0 && arch::elect_sync()) load(params, s);
    } else {
      arch::name_role("math");
      store(params, s, thread - 128);
    }
  }

 private:
  GANTRY_HD static constexpr int tiles_m(const Params& p) { return (p.epilogue.m + kTile.m - 1) / kTile.m; }
  GANTRY_HD static constexpr int tiles_n(const Params& p) { return (p.epilogue.n + kTile.n - 1) / kTile.n; }

  // Neighbouring CTAs take neighbouring columns of tiles.
  GANTRY_INLINE static TileCoordinate tile_at(const Params& p, int i) {
    return {i / tiles_n(p) % tiles_m(p), i % tiles_n(p), i / tiles_n(p) / tiles_m(p)};
  }

  GANTRY_INLINE static void load(const Params& params, Storage& s) {
    typename Collective::LoadPipeline pipeline(s.pipeline, Collective::pipeline_params(PipelineRole::producer));
    auto state = make_producer_start_state<Collective::kStagesC>();
    bool used = false;
    for (int i = static_cast<int>(arch::block_index().x); i < tiles(params);
         i += static_cast<int>(arch::grid_dim().x)) {
      state = Collective::load(params.epilogue, s.tensors, pipeline, state, tile_at(params, i));
      used = true;
    }
    if (used && Collective::is_producer_load_needed(params.epilogue)) Collective::load_tail(pipeline, state);
  }

  GANTRY_INLINE static void store(const Params& params, Storage& s, int thread) {
    typename Collective::LoadPipeline pipeline(s.pipeline, Collective::pipeline_params(PipelineRole::consumer));
    typename Collective::StoreStates states;
    for (int i = static_cast<int>(arch::block_index().x); i < tiles(params);
         i += static_cast<int>(arch::grid_dim().x)) {
      const TileCoordinate at = tile_at(params, i);
      RegisterArray<Accumulator, kTile.m / kTile.mma_m() * kTile.n / 2> accumulators;
      fill(params, at, thread, accumulators);
      Collective::store(params.epilogue, s.tensors, pipeline, states, at, accumulators, thread, kBarrier);
    }
    Collective::store_tail(params.epilogue, pipeline, states, thread);
  }

  template <class Accumulators>
  GANTRY_INLINE static void fill(const Params& params, const TileCoordinate& at, int thread,
                                 Accumulators& accumulators) {
    GANTRY_UNROLL
    for (int i = 0; i < kTile.m / kTile.mma_m() * kTile.n / 2; ++i) {
      const int m =
          at.m * kTile.m + i / (kTile.n / 2) * kTile.mma_m() + i / 2 % 2 * 8 + Subtiles::row_of_thread(thread);
      const int n = at.n * kTile.n + i % (kTile.n / 2) / 4 * 8 + i % 2 + Subtiles::column_of_thread(thread);
      if constexpr (requires { Config::Accumulators::at(m, n, at.batch); }) {
        accumulators.data()[i] = Config::Accumulators::at(m, n, at.batch);
      } else {
        accumulators.data()[i] = Accumulator{};
        if (m < params.epilogue.m && n < params.epilogue.n) {
          const std::int64_t row = static_cast<std::int64_t>(at.batch) * params.epilogue.m + m;
          accumulators.data()[i] = arch::ld(arch::space_global, params.accumulators + row * params.epilogue.n + n);
        }
      }
    }
  }
};

}  // namespace gantry

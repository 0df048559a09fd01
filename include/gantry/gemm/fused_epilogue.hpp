// The fused epilogue of a GEMM: every math warpgroup runs the collective on its own rows (of a tile that they share, or
// of a tile of its own), with buffers, barriers and bulk groups of its own, so that warpgroups need not wait for each
// other; a thread of the producer warpgroup loads C and auxiliary inputs for each.
//
// `Design` has `design`, and what is fused as fusion::CallbacksBuilder takes it (a graph, or ready callbacks).
//
// Example at namespace scope:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     struct BiasGelu {
//       static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = gelu_tanh(acc + row(bias))");
//       using Functions = gantry::fusion::UserFunctions<>;
//       static constexpr gantry::GemmDesign design = gantry::make_gemm_design({.tile = {128, 256}}, graph);
//     };
//     using Epilogue = gantry::FusedEpilogue<BiasGelu>;
//     static_assert(!Epilogue::kLoads && BiasGelu::design.shared.epilogue_bytes <= 96 * 1024);
#pragma once

#include <gantry/epilogue/builder.hpp>
#include <gantry/epilogue/collective.hpp>
#include <gantry/gemm/math_warpgroup.hpp>

namespace gantry {

template <class Config>
struct EpilogueArguments;  // epilogue/arguments.hpp: for the host, and not to be read with every kernel

template <class Design>
struct FusedEpilogue {
  using Mine = MathWarpgroup<Design>;
  static constexpr int kWarpgroups = Design::design.roles.math_warpgroups;

  // A warpgroup's part of the tile.
  struct Part : Design {
    static constexpr EpiloguePolicy policy = Design::design.part;
  };
  using Collective = CollectiveEpilogue<Part>;
  using Params = typename Collective::Params;
  using Arguments = EpilogueArguments<Part>;

  static constexpr bool kLoads = Collective::kMayLoad;
  static constexpr int kSteps = 0;  // all work is done while the accumulators are held
  static_assert(kLoads == Design::design.epilogue_loads && Collective::kStorage == Design::design.part.storage &&
                    Collective::kStorage.tensor_bytes == Design::design.shared.epilogue_part,
                "gantry: the design and the collective disagree about shared memory");

  GANTRY_INLINE static auto& tensors(SharedMemory s, int warpgroup) {
    constexpr int first = Design::design.shared.epilogue, part = Design::design.shared.epilogue_part;
    return *s.template at<typename Collective::TensorStorage>(first + warpgroup * part);
  }
  GANTRY_INLINE static auto& barriers(SharedMemory s, int warpgroup) {
    using Barriers = typename Collective::PipelineStorage;
    constexpr int first = Design::design.shared.epilogue_pipelines;
    return *s.template at<Barriers>(first + warpgroup * static_cast<int>(sizeof(Barriers)));
  }

  GANTRY_INLINE static auto pipeline(SharedMemory s, int warpgroup, PipelineRole role) {
    if constexpr (kLoads) {
      return typename Collective::LoadPipeline(barriers(s, warpgroup), Collective::pipeline_params(role));
    } else {
      return typename Collective::NoLoads{};
    }
  }

  // One thread of the CTA, before a barrier.
  GANTRY_INLINE static void init(SharedMemory s) {
    for (int g = 0; g < kWarpgroups; ++g) {
      if constexpr (kLoads) Collective::init(barriers(s, g));
      if constexpr (requires { Collective::Fusion::init_exchange(nullptr); }) {
        Collective::Fusion::init_exchange(tensors(s, g).fusion());
      }
    }
  }

  // A cluster at the edge may have tiles that lie outside altogether: nothing is loaded for them, and nothing stored or
  // reduced.
  GANTRY_INLINE static bool is_inside(const Params& p, const TileCoordinate& at) {
    return at.m * Collective::kTile.m < (at.rows < p.m ? at.rows : p.m) &&
           at.n * Collective::kTile.n < (at.columns < p.n ? at.columns : p.n);
  }

  // One thread for each warpgroup: C and auxiliary inputs, as soon as a buffer is free.
  class Loader {
   public:
    GANTRY_INLINE Loader(const Params& params, SharedMemory shared, int warpgroup)
        : p_(params), s_(shared), warpgroup_(warpgroup) {}

    GANTRY_INLINE void load(const Work& work) {
      const TileCoordinate at = Mine::part_of(work, warpgroup_);
      if constexpr (Collective::kOwnMaps) enter(at, work.one.slot);
      if (!is_inside(p_, at)) return;
      auto loads = pipeline(s_, warpgroup_, PipelineRole::producer);
      state_ = Collective::load(p_, tensors(s_, warpgroup_), loads, state_, at);
    }
    GANTRY_INLINE void tail() {
      if (!Collective::is_producer_load_needed(p_)) return;
      auto loads = pipeline(s_, warpgroup_, PipelineRole::producer);
      Collective::load_tail(loads, state_);
    }

   private:
    // Before the first load by the maps of another GEMM of a pointer array. Nothing is waited for: the math warps do,
    // for every load, before they read another tile.
    GANTRY_INLINE void enter(const TileCoordinate& at, int slot) {
      if (slot == slot_) return;
      slot_ = slot;
      Collective::for_load_maps(p_, at, [](const TmaDescriptor* map) { acquire_map(map); });
    }

    const Params& p_;
    SharedMemory s_;
    int warpgroup_;
    int slot_ = -1;  // of a pointer array: of the GEMM of the last tile
    typename Collective::LoadState state_ = make_producer_start_state<Collective::kStagesC>();
  };

  // A math warpgroup.
  class Consumer {
   public:
    GANTRY_INLINE Consumer(const Params& params, SharedMemory shared) : p_(params), s_(shared) {}

    // While the wgmmas of `work`, which has been placed, run.
    GANTRY_INLINE void prepare(const Work& work) {
      if constexpr (Collective::kOwnMaps) {
        if (Mine::thread() == 0) enter(Mine::part_of(work), work.one.slot);
      }
      Collective::prepare(p_, tensors(s_, Mine::number()), Mine::part_of(work), Mine::thread());
    }

    // After prepare().
    template <class Acc>
    GANTRY_INLINE void take(Acc& acc, const Work& work) {
      const int g = Mine::number();
      const TileCoordinate at = Mine::part_of(work, g);
      if (!is_inside(p_, at)) return;
      auto loads = pipeline(s_, g, PipelineRole::consumer);
      Collective::template store<true>(p_, tensors(s_, g), loads, states_, at, acc, Mine::thread(), Mine::barrier());
    }

    template <int i>
    GANTRY_INLINE void step(Constant<i>) {}

    GANTRY_INLINE void tail() {
      auto loads = pipeline(s_, Mine::number(), PipelineRole::consumer);
      Collective::store_tail(p_, loads, states_, Mine::thread());
      if constexpr (requires { Collective::Fusion::end_exchange(nullptr, 0, 0); }) {
        constexpr int columns = Collective::kTile.n;
        Collective::Fusion::end_exchange(tensors(s_, Mine::number()).fusion(), states_.tiles,
                                         (p_.n + columns - 1) / columns);
      }
    }

   private:
    // The thread that stores, before the first store by the maps of another GEMM of a pointer array: stores before have
    // read theirs.
    GANTRY_INLINE void enter(const TileCoordinate& at, int slot) {
      if (slot == slot_) return;
      slot_ = slot;
      arch::cp_async_bulk_wait_group_read(arch::n32<0>);
      Collective::for_store_maps(p_, at, [](const TmaDescriptor* map) { acquire_map(map); });
    }

    const Params& p_;
    SharedMemory s_;
    int slot_ = -1;  // of a pointer array: of the GEMM of the last tile
    typename Collective::StoreStates states_;
  };
};

}  // namespace gantry

// The fused epilogue of a product: every math warpgroup runs the collective on its own rows (of a tile that they share,
// or of a tile of its own), with buffers, barriers and bulk groups of its own, so that warpgroups need not wait
// for each other; a thread for each loads C and auxiliary inputs.
//
// A fusion is a type with `graph`, `Functions`, and the elements and majors of C and D (FusedElements); what it leaves
// open is Gantry's policy.
//
// Example at namespace scope:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     struct BiasGelu : gantry::FusedElements {
//       static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = gelu_tanh(acc + row(bias))");
//       using Functions = gantry::fusion::UserFunctions<>;
//     };
//     using Epilogue = gantry::FusedEpilogue<gantry::CooperativeConfig, BiasGelu>;
//     static_assert(sizeof(Epilogue::Storage) <= 48 * 1024);
#pragma once

#include <gantry/epilogue/builder.hpp>
#include <gantry/epilogue/collective.hpp>
#include <gantry/gemm/math_warpgroup.hpp>

namespace gantry {

template <class Config>
struct EpilogueArguments;  // epilogue/arguments.hpp: for the host, and not to be read with every kernel

// What a fusion says about C and D besides its graph.
struct FusedElements {
  static constexpr ElementType kC = ElementType::void_;
  static constexpr ElementType kD = ElementType::bf16;
  static constexpr LayoutTag kLayoutC = kRowMajor, kLayoutD = kRowMajor;
  static constexpr ElementType kCompute = ElementType::f32;  // what the graph computes in; s32 keeps sums of integers
  static constexpr int kEpiM = 64, kEpiN = 64;               // rows and columns of a subtile
  static constexpr int kStagesC = 2, kStagesD = 2;           // buffers of a warpgroup
  static constexpr bool kReuse = false;                      // D takes the place of C
};

namespace detail {

// What the collective reads of a fusion; on the simulated machine its graph may come at run time.
template <class F>
struct FusedGraph {
  static constexpr fusion::Graph graph = F::graph;
  using Functions = typename F::Functions;
};
template <class F>
requires(F::kGraphAtRunTime) struct FusedGraph<F> {
  static constexpr bool kGraphAtRunTime = true;
  static constexpr fusion::Graph graph = F::graph;
  using Functions = typename F::Functions;
  template <class FusionConfig>
  using Callbacks = typename F::template Callbacks<FusionConfig>;
};

}  // namespace detail

template <class Config, class Fusion>
struct FusedEpilogue {
  using Shape = GemmShape<Config>;
  using Mine = MathWarpgroup<Config>;
  static constexpr int kWarpgroups = Shape::kWarpgroups;

  // A warpgroup's part of the tile.
  struct Part : detail::FusedGraph<Fusion> {
    static constexpr EpiloguePolicy policy =
        CollectiveBuilder{.schedule = EpilogueSchedule::tma_warp_specialized,
                          .tile = {Shape::kWarpgroupM, Shape::kTileN, Shape::kTileK},
                          .epi_tile = {Fusion::kEpiM, Fusion::kEpiN},
                          .c = Fusion::kC,
                          .d = Fusion::kD,
                          .layout_c = Fusion::kLayoutC,
                          .layout_d = Fusion::kLayoutD,
                          .acc = Shape::kAccumulator,
                          .compute = Fusion::kCompute,
                          .stages_c = Fusion::kStagesC,
                          .stages_d = Fusion::kStagesD,
                          .reuse_smem_c = Fusion::kReuse ? Choice::yes : Choice::no,
                          .delay_tma_store = Choice::no}
            .policy();
    static_assert(policy.ok(), "gantry: there is no epilogue of these elements and this tile");
  };
  using Collective = CollectiveEpilogue<Part>;
  using Params = typename Collective::Params;
  using Arguments = EpilogueArguments<Part>;

  static constexpr bool kLoads = Collective::kMayLoad;
  static constexpr int kSteps = 0;  // all work is done while the accumulators are held

  // Barriers where there is something to load; tiles take whole multiples of 1024 bytes, and room is scarce.
  struct Tensors {
    typename Collective::TensorStorage tensors[kWarpgroups];
  };
  struct TensorsAndBarriers {
    typename Collective::TensorStorage tensors[kWarpgroups];
    typename Collective::PipelineStorage pipelines[kWarpgroups];
  };
  using Storage = typename detail::ChosenType<kLoads, TensorsAndBarriers, Tensors>::type;

  GANTRY_INLINE static auto pipeline(Storage& s, int warpgroup, PipelineRole role) {
    if constexpr (kLoads) {
      return typename Collective::LoadPipeline(s.pipelines[warpgroup], Collective::pipeline_params(role));
    } else {
      return typename Collective::NoLoads{};
    }
  }

  // One thread of the CTA, before a barrier.
  GANTRY_INLINE static void init(Storage& s) {
    if constexpr (kLoads) {
      for (int g = 0; g < kWarpgroups; ++g) Collective::init(s.pipelines[g]);
    }
  }

  // A cluster at the edge may have tiles that lie outside altogether: nothing is loaded for them, and nothing stored or
  // reduced.
  GANTRY_INLINE static bool is_inside(const Params& p, const TileCoordinate& at) {
    return at.m * Collective::kTile.m < p.m && at.n * Collective::kTile.n < p.n;
  }

  // One thread for each warpgroup: C and auxiliary inputs, as soon as there is room.
  class Loader {
   public:
    GANTRY_INLINE Loader(const Params& params, Storage& storage, int warpgroup)
        : p_(params), s_(storage), warpgroup_(warpgroup) {}

    GANTRY_INLINE void load(const Work& work) {
      const TileCoordinate at = Mine::part_of(work, warpgroup_);
      if (!is_inside(p_, at)) return;
      auto loads = pipeline(s_, warpgroup_, PipelineRole::producer);
      state_ = Collective::load(p_, s_.tensors[warpgroup_], loads, state_, at);
    }
    GANTRY_INLINE void tail() {
      if (!Collective::is_producer_load_needed(p_)) return;
      auto loads = pipeline(s_, warpgroup_, PipelineRole::producer);
      Collective::load_tail(loads, state_);
    }

   private:
    const Params& p_;
    Storage& s_;
    int warpgroup_;
    typename Collective::LoadState state_ = make_producer_start_state<Collective::kStagesC>();
  };

  // A math warpgroup.
  class Consumer {
   public:
    GANTRY_INLINE Consumer(const Params& params, Storage& storage) : p_(params), s_(storage) {}

    // While the products of `work` run, which has its place.
    GANTRY_INLINE void prepare(const Work& work) {
      Collective::prepare(p_, s_.tensors[Mine::number()], Mine::part_of(work), Mine::thread());
    }

    // After prepare().
    template <class Acc>
    GANTRY_INLINE void take(Acc& acc, const Work& work) {
      const int g = Mine::number();
      const TileCoordinate at = Mine::part_of(work, g);
      if (!is_inside(p_, at)) return;
      auto loads = pipeline(s_, g, PipelineRole::consumer);
      Collective::template store<true>(p_, s_.tensors[g], loads, states_, at, acc, Mine::thread(), Mine::barrier());
    }

    template <int i>
    GANTRY_INLINE void step(Constant<i>) {}

    GANTRY_INLINE void tail() {
      auto loads = pipeline(s_, Mine::number(), PipelineRole::consumer);
      Collective::store_tail(p_, loads, states_, Mine::thread());
    }

   private:
    const Params& p_;
    Storage& s_;
    typename Collective::StoreStates states_;
  };
};

}  // namespace gantry

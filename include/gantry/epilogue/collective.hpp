// The warp-specialised TMA epilogue: one thread loads C and auxiliary inputs subtile by subtile, the math warps combine
// them with accumulators as the graph says and write D and auxiliary outputs to shared memory, one of their threads
// stores those.
//
// `Config` has `policy` (EpiloguePolicy) and what is fused, as fusion::CallbacksBuilder takes it: a graph, an operation
// by name, or ready callbacks. It may have `CopyOpR2R`, whose static copy(values, thread) rearranges a subtile's values
// in registers before they are converted to D. A kernel calls load and load_tail from its load thread, store and
// store_tail from all math threads, and carries the states from tile to tile. Comments at each step say
// what is ordered before what, and why.
//
// Invariant: a buffer is written only after its old contents have been read, and read only after its writers have
// fenced and synchronised. Loads wait for releases, stores for bulk groups.
//
// Example at namespace scope:
//     #include <gantry/epilogue/fusion/parse.hpp>
//     struct Residual {  // D = relu(A B^T + C)
//       static constexpr gantry::EpiloguePolicy policy =
//           gantry::CollectiveBuilder{.schedule = gantry::EpilogueSchedule::tma_warp_specialized_cooperative,
//                                     .tile = {128, 128, 64},
//                                     .c = gantry::ElementType::bf16,
//                                     .d = gantry::ElementType::bf16}
//               .policy();
//       static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = relu(acc + c)");
//       using Functions = gantry::fusion::UserFunctions<>;
//     };
//     using Epilogue = gantry::CollectiveEpilogue<Residual>;
//     static_assert(Epilogue::kHasC && Epilogue::get_load_pipe_increment() == 2);
#pragma once

#include <gantry/arch/fence.hpp>
#include <gantry/epilogue/detail/collective_parts.hpp>
#include <gantry/epilogue/detail/collective_results.hpp>
#include <gantry/epilogue/fusion/callbacks_builder.hpp>
#include <gantry/epilogue/policy_static_check.hpp>
#include <gantry/pipeline/tma_store.hpp>
#include <gantry/pipeline/transaction_async.hpp>

namespace gantry {

template <class Config>
class CollectiveEpilogue {
 public:
  GANTRY_EPILOGUE_STATIC_CHECK(Config::policy);
  static constexpr bool kUsesTma = true;
  static constexpr bool kHasC = Config::policy.c.exists();
  static constexpr bool kHasD = Config::policy.d.exists();
  // TMA cannot address them: threads read C and write D.
  static constexpr bool kDirectC = kHasC && Config::policy.c.direct;
  static constexpr bool kDirectD = kHasD && Config::policy.d.direct;
  static constexpr bool kGated = Config::policy.gated;
  // Of a pointer array of GEMMs, each of which has its maps beside each other.
  static constexpr bool kOwnMaps = Config::policy.own_maps;
  static constexpr bool kReuse = Config::policy.reuse_smem_c;
  static constexpr bool kDelay = Config::policy.delay_tma_store;
  static constexpr int kStagesC = Config::policy.stages_c;
  static constexpr int kStoreStages = Config::policy.store_stages();
  static constexpr int kUnacquired = Config::policy.store_unacquired_stages();
  static constexpr Subtiles kTile = Config::policy.cut();
  static constexpr int kMathThreads = kTile.threads();

  struct FusionConfig {
    static constexpr fusion::Graph graph = fusion::CallbacksBuilder<Config>::graph;
    using Functions = typename fusion::CallbacksBuilder<Config>::Functions;
    static constexpr Subtiles tile = CollectiveEpilogue::kTile;
    static constexpr fusion::Rings rings = {.loads = kStagesC, .stores = kStoreStages};
    static constexpr int fragment = Config::policy.fragment_size;
    static constexpr bool pointer_array = kOwnMaps;
    static constexpr int first_own_map = GroupMapIndex::kAux;
    static constexpr ElementType d_element = Config::policy.d.element;
    using Value = element_t<fusion::value_element(Config::policy.element_compute)>;
  };
  using Fusion = typename fusion::CallbacksBuilder<Config>::template For<FusionConfig>::Callbacks;
  using Value = typename Fusion::Value;
  static_assert(FusionConfig::graph.gated() == kGated,
                "gantry: gate(acc) and up(acc) are for the epilogue of a GEMM, which orders B for them");
  static_assert(!kReuse || (!kDirectC && !kDirectD),
                "gantry: D reuses the buffers of C, and TMA cannot address one of them");
  static_assert(kHasC || !Fusion::kUsesSource,
                "gantry: the expression uses C, and the policy has none: give its element type");
  static_assert(kHasD || !Fusion::kGivesD, "gantry: the expression gives D, and the policy has none");
  static_assert(!kHasD || Fusion::kGivesD, "gantry: the policy has D, and the expression gives none");

  struct ShapeC {
    static constexpr Subtiles tile = CollectiveEpilogue::kTile;
    static constexpr ElementType element = Config::policy.c.smem_element;
    static constexpr bool row_major = !Config::policy.c.m_major();
    static constexpr int stages = Config::policy.c.stages;
    static constexpr bool direct = kDirectC;
    static constexpr int spatial_rank = Config::policy.c.spatial_rank();
  };
  struct ShapeD {
    static constexpr Subtiles tile = CollectiveEpilogue::kTile;
    static constexpr ElementType element = Config::policy.d.smem_element;
    static constexpr bool row_major = !Config::policy.d.m_major();
    static constexpr int stages = Config::policy.d.stages;
    static constexpr bool direct = kDirectD;
    static constexpr RowScatter scatter = Config::policy.d.scatter;
    static constexpr int spatial_rank = Config::policy.d.spatial_rank();
  };
  using TileC = typename detail::TileOf<ShapeC>::type;
  using TileD = typename detail::TileOf<ShapeD>::type;

  // Whether a load thread is needed at all, as far as can be known before the kernel runs.
  static constexpr bool kMayLoad = (Fusion::kUsesSource && !kDirectC) || Fusion::kMayLoad;
  static constexpr bool kMayStore = (kHasD && !kDirectD) || Fusion::kMayStore;  // by TMA
  // Threads write to a ring of buffers that others read: TMA, or of a direct D the threads themselves.
  static constexpr bool kStages = kHasD || Fusion::kMayStore;

  using LoadPipeline = PipelineTransactionAsync<kStagesC>;
  using StorePipeline = PipelineTmaStore<kStoreStages, kUnacquired>;
  using LoadState = typename LoadPipeline::State;
  using StoreState = typename StorePipeline::State;

  // What the store side waits for where nothing is loaded.
  struct NoLoads {
    GANTRY_INLINE void consumer_wait(const LoadState&) const {}
    GANTRY_INLINE void consumer_release(const LoadState&) const {}
  };

  // ---- Storage

  // Bytes at the offsets of the policy's storage: compilers lay out empty members differently.
  static constexpr EpilogueStorage kStorage =
      epilogue_storage(Config::policy, {Fusion::kSharedBytes, Fusion::kSharedAlignment});

  struct TensorStorage {
    alignas(kStorage.tensor_alignment) unsigned char bytes[kStorage.tensor_bytes == 0 ? 1 : kStorage.tensor_bytes];

    GANTRY_INLINE auto* buffers_c() { return reinterpret_cast<typename TileC::Element*>(bytes + kStorage.c_offset); }
    GANTRY_INLINE auto* buffers_d() { return reinterpret_cast<typename TileD::Element*>(bytes + kStorage.d_offset); }
    GANTRY_INLINE unsigned char* buffer_d(int stage) { return bytes + kStorage.d_offset + stage * TileD::kStageBytes; }
    GANTRY_INLINE unsigned char* fusion() { return bytes + kStorage.fusion_offset; }
  };
  using PipelineStorage = typename LoadPipeline::SharedStorage;
  struct SharedStorage {
    TensorStorage tensors;
    PipelineStorage pipeline;
  };

  struct Params {
    typename TileC::Map c;
    typename TileD::Map d;
    typename Fusion::Params fusion;
    int m, n, batch;
  };

  // Bytes that a full load stage has brought.
  GANTRY_INLINE static std::uint32_t transaction_bytes(const Params& params, bool c_needed) {
    return static_cast<std::uint32_t>((c_needed && !kDirectC ? TileC::kStageBytes : 0) +
                                      Fusion::load_bytes(params.fusion));
  }
  GANTRY_HD static constexpr int get_load_pipe_increment() { return kTile.count(); }
  GANTRY_HD static constexpr int get_store_pipe_increment() { return kTile.count(); }

  // One thread commits a stage; one lane of each math warp releases it.
  GANTRY_HD static constexpr typename LoadPipeline::Params pipeline_params(PipelineRole role = PipelineRole::both) {
    return {.role = role, .producer_arrivals = 1, .consumer_arrivals = kMathThreads / 32};
  }
  GANTRY_INLINE static void init(PipelineStorage& storage, const char* name = "epilogue load") {
    LoadPipeline::init(storage, pipeline_params(), name);
  }

  GANTRY_INLINE static void prefetch_tma_descriptors(const Params& params) {
    if constexpr (kHasC && !kDirectC) arch::prefetch_tensormap(TileC::descriptor(params.c));
    if constexpr (kHasD && !kDirectD) arch::prefetch_tensormap(TileD::descriptor(params.d));
    Fusion::prefetch_descriptors(params.fusion);
  }

  // The maps of the tile's C and D.
  GANTRY_INLINE static const typename TileC::Map* map_of_c(const Params& params, const TileCoordinate& at) {
    if constexpr (kOwnMaps) return at.maps + GroupMapIndex::kC;
    if constexpr (!kOwnMaps) return &params.c;
  }
  GANTRY_INLINE static const typename TileD::Map* map_of_d(const Params& params, const TileCoordinate& at) {
    if constexpr (kOwnMaps) return at.maps + GroupMapIndex::kD;
    if constexpr (!kOwnMaps) return &params.d;
  }

  // Calls f(map) for what the load thread, and the thread that stores, copy by, where each GEMM has its own maps.
  template <class F>
  GANTRY_INLINE static void for_load_maps(const Params& params, const TileCoordinate& at, const F& f) {
    if constexpr (kHasC) f(map_of_c(params, at));
    Fusion::for_maps(typename Fusion::IsLoaded{}, params.fusion, at, f);
  }
  template <class F>
  GANTRY_INLINE static void for_store_maps(const Params& params, const TileCoordinate& at, const F& f) {
    if constexpr (kHasD) f(map_of_d(params, at));
    Fusion::for_maps(typename Fusion::IsStored{}, params.fusion, at, f);
  }

  GANTRY_INLINE static bool is_source_needed(const Params& params, const TileCoordinate& at) {
    return (!kOwnMaps || at.has_c) && is_source_needed(params, at.batch);
  }
  GANTRY_INLINE static bool is_source_needed(const Params& params, int batch) {
    if constexpr (kHasC) {
      return Fusion::is_C_load_needed(params.fusion, batch);
    } else {
      return false;
    }
  }
  // For every batch alike: where one needs C and another does not, the other's stages bring nothing, so that the
  // buffers of C and D keep step.
  GANTRY_INLINE static bool is_producer_load_needed(const Params& params) {
    return loads(params, is_source_needed(params, 0));
  }

  // ---- Load side, by one thread

  template <class Which = AllSubtiles>
  GANTRY_INLINE static LoadState load(const Params& params, TensorStorage& storage, LoadPipeline& pipeline,
                                      LoadState state, const TileCoordinate& at, Which which = {}) {
    const bool c_needed = is_source_needed(params, at);
    if (!loads(params, c_needed)) return state;
    const std::uint32_t bytes = transaction_bytes(params, c_needed);
    typename Fusion::Load fusion(params.fusion, storage.fusion(), at);
    fusion.begin();
    GANTRY_NO_UNROLL
    for (int en = 0; en < kTile.along_n(); ++en) {
      GANTRY_NO_UNROLL
      for (int em = 0; em < kTile.along_m(); ++em) {
        if (!detail::SubtileChoice::takes(which, en * kTile.along_m() + em)) continue;
        std::uint64_t* full = pipeline.producer_get_barrier(state);
        pipeline.producer_acquire(state);
        pipeline.producer_commit(state, bytes);
        fusion.step(state.index(), full, em, en);
        if constexpr (kHasC && !kDirectC) {
          if (c_needed) TileC::load(map_of_c(params, at), storage.buffers_c(), state.index(), full, at, em, en);
        }
        ++state;
      }
    }
    fusion.end();
    return state;
  }

  // Waits for every release, so that no CTA leaves while its barriers may still be signalled.
  GANTRY_INLINE static void load_tail(LoadPipeline& pipeline, const LoadState& state) { pipeline.producer_tail(state); }

  // ---- Store side, by all math threads

  // Callbacks whose reduce gets the values of a subtile and D's buffer (callback_contract.hpp).
  static constexpr bool kReducesValues = fusion::kReducesValues<typename Fusion::Store, Value, kTile.values()>;
  static_assert(!kReducesValues || kHasD, "gantry: reduce gets values and the buffer of D, and the policy has no D");

  // What is carried from tile to tile.
  struct StoreStates {
    LoadState load{};                                              // the next stage to wait for and release
    StoreState store = make_producer_start_state<kStoreStages>();  // the next buffer to write
    int issued = 0;                                                // stores since the last tail
    std::uint32_t tiles = 0;                                       // tiles before this one
  };

  // What the fusion reads once for a tile can be read ahead of its store: prepare(), and then store<true>().
  static constexpr bool kPrepares = requires(typename Fusion::Store & fusion) {
    fusion.begin_shared();
    fusion.begin_registers();
  };

  // While the wgmmas of a tile run. Requires that the store of the previous tile has returned.
  GANTRY_INLINE static void prepare(const Params& params, TensorStorage& storage, const TileCoordinate& at,
                                    int thread) {
    if constexpr (kPrepares) {
      typename Fusion::Store fusion(params.fusion, storage.fusion(), context(params, at, thread));
      fusion.begin_shared();
    }
  }

  // `accumulators` are in the order of wgmma's registers, of a gated epilogue twice as many columns. `thread` counts
  // the math threads of the tile, `barrier` is a named barrier that is theirs. `Loads` is LoadPipeline; where nothing
  // is loaded (kMayLoad), NoLoads will do.
  template <bool kPrepared = false, class Loads, class Accumulators, class Which = AllSubtiles>
  // NOLINTNEXTLINE(readability-function-cognitive-complexity): the steps of the contract, in their order
  GANTRY_INLINE static void store(const Params& params, TensorStorage& storage, Loads& load_pipeline,
                                  StoreStates& states, const TileCoordinate& at, const Accumulators& accumulators,
                                  int thread, std::uint32_t barrier, Which which = {}) {
    static_assert(
        !Fusion::kWholeTiles || __is_same(Which, AllSubtiles),
        "gantry: one subtile is stored by itself, and a reduction that is deterministic or has results of blocks takes "
        "whole tiles: store all subtiles in one call, or leave out `deterministic` and blocks");
    constexpr detail::SubtileChoice choice{kTile.count()};
    const bool c_needed = is_source_needed(params, at);
    const bool loaded = loads(params, c_needed);
    const detail::MathSync sync{barrier, kMathThreads};
    StorePipeline store_pipeline({.issues = thread == 0});
    typename Fusion::Store fusion(params.fusion, storage.fusion(), context(params, at, thread, states.tiles++));
    // With reuse, buffers are released later than they are read: what is waited for runs ahead of what is released.
    LoadState wait = states.load;
    if constexpr (kReuse) wait = LoadState(states.store.index(), states.store.phase() ^ 1, states.store.count());

    const auto release = [&] {
      if constexpr (!kReuse) arch::syncwarp();  // with reuse, all threads have synchronised since they read
      if (thread % 32 == 0) load_pipeline.consumer_release(states.load);
      ++states.load;
    };
    const auto issue_store = [&](int em, int en) {
      if constexpr (kMayStore) arch::fence_proxy_async(arch::space_shared);
      if constexpr (kStages) sync();
      // The next to write this buffer wait for the threads that read it when they acquire it.
      if constexpr (kDirectD) {
        TileD::store_global(params.d, place(params, at, em, en, thread), storage.buffers_d(), states.store.index());
      }
      if (store_pipeline.issues()) {
        if constexpr (kHasD && !kDirectD)
          TileD::store(map_of_d(params, at), storage.buffers_d(), states.store.index(), at, em, en);
        fusion.tma_store(states.store.index(), em, en);
      }
      if constexpr (kMayStore) store_pipeline.producer_commit(states.store);
      ++states.store;
      ++states.issued;
      if constexpr (kReuse) {
        store_pipeline.producer_acquire(states.store);
        // The oldest store that is not among the unread has left its buffer. Where C is loaded, the next that write
        // there wait for the load, and that waits for this release of the issuing thread; where a buffer is left over,
        // they have synchronised since the issuing thread waited for it.
        if (kUnacquired == kStoreStages - 1 && !loaded) sync();
        if (loaded && states.issued > kUnacquired) release();
      }
    };

    if constexpr (kPrepared && kPrepares) {
      fusion.begin_registers();
    } else {
      fusion.begin();
    }
    if constexpr (Fusion::Store::begin_sync_needed()) sync();
    int previous_m = -1, previous_n = 0;
    GANTRY_UNROLL
    for (int en = 0; en < kTile.along_n(); ++en) {
      GANTRY_UNROLL
      for (int em = 0; em < kTile.along_m(); ++em) {
        const int subtile = en * kTile.along_m() + em;
        if (!choice.takes(which, subtile)) continue;
        fusion.begin_loop(em, en);
        auto c = TileC::make_registers();
        if constexpr (kDirectC) {
          if (c_needed) TileC::read_global(params.c, place(params, at, em, en, thread), c);
        }
        if (loaded) {
          load_pipeline.consumer_wait(wait);
          if constexpr (kHasC && !kDirectC) {
            if (c_needed) TileC::read(storage.buffers_c(), wait.index(), thread, c);
          }
          // D reuses the buffer of C: no thread may overwrite what another has yet to read.
          if constexpr (kReuse && TileC::row_major != TileD::row_major) sync();
        }
        fusion.previsit(wait.index(), em, en);
        if constexpr (!kReuse) {
          if (loaded) {
            arch::fence_proxy_async(arch::space_shared);  // TMA will write where these threads have read
            release();
          }
        }
        if (loaded || kReuse) ++wait;

        Results d;
        visit(fusion, accumulators, c, c_needed, d, em, en);

        // The latest moment for the previous subtile's store: its buffer's turn is over.
        if constexpr (kDelay) {
          if (previous_m >= 0) issue_store(previous_m, previous_n);
        }
        // As late as this, so that the visit overlaps the stores in flight. Where threads read the buffers, and there
        // are two or more, all have synchronised since they read the one that is written next.
        if constexpr (!kReuse && kMayStore) store_pipeline.producer_acquire(states.store);
        if constexpr (!kReuse && kStages && (kMayStore || kStoreStages == 1)) sync();
        if constexpr (kReducesValues) {
          // Callbacks write anywhere in the buffer: where D reuses that of C, no thread may still read it.
          if constexpr (kReuse) sync();
          fusion.reduce(d.values, storage.buffer_d(states.store.index()), em, en, choice.is_last(which, subtile), sync);
        } else {
          fusion.reduce(em, en, choice.is_last(which, subtile), sync);
        }
        if constexpr (kHasD) d.write(storage.buffers_d(), states.store.index(), thread);
        fusion.postreduce(states.store.index(), em, en);
        if constexpr (kDelay) {
          previous_m = em;
          previous_n = en;
        } else {
          issue_store(em, en);
        }
        fusion.end_loop(em, en);
      }
    }
    if constexpr (kDelay) {
      if (previous_m >= 0) issue_store(previous_m, previous_n);
    }
    fusion.end(sync);
    // The next tile, or its prepare(), writes where this one's rows and partial results lie. Where there are buffers,
    // all have synchronised since they read those.
    if constexpr (!kStages && Fusion::kSharedBytes > 0) sync();
  }

  // Waits until every store has been read out of shared memory, and releases what is still held.
  template <class Loads>
  GANTRY_INLINE static void store_tail(const Params& params, Loads& load_pipeline, StoreStates& states, int thread) {
    StorePipeline store_pipeline({.issues = thread == 0});
    if constexpr (kMayStore) store_pipeline.producer_tail(states.store);
    if constexpr (kReuse) {
      if (is_producer_load_needed(params)) {
        for (int i = 0; i < StorePipeline::unread_groups(states.issued); ++i) {
          if (thread % 32 == 0) load_pipeline.consumer_release(states.load);
          ++states.load;
        }
      }
    }
    states.issued = 0;
  }

 private:
  GANTRY_INLINE static fusion::TileContext context(const Params& params, const TileCoordinate& at, int thread,
                                                   std::uint32_t tiles = 0) {
    return {.at = at,
            .m = at.rows < params.m ? at.rows : params.m,
            .n = at.columns < params.n ? at.columns : params.n,
            .batch = params.batch,
            .tiles_m = (params.m + kTile.m - 1) / kTile.m,
            .tiles_n = (params.n + kTile.n - 1) / kTile.n,
            .thread = thread,
            .tiles = tiles};
  }

  GANTRY_INLINE static DirectPlace place(const Params& params, const TileCoordinate& at, int em, int en, int thread) {
    constexpr Subtiles tile = kTile;
    return {.m = at.rows < params.m ? at.rows : params.m,
            .n = at.columns < params.n ? at.columns : params.n,
            .row = at.m * kTile.m + tile.first_row(em),
            .column = at.n * kTile.n + tile.first_column(en),
            .batch = at.d_batch,
            .thread = thread,
            .first_row = at.first_row,
            .first_column = at.first_column};
  }

  GANTRY_INLINE static bool loads(const Params& params, bool c_needed) {
    if constexpr (!kMayLoad) {
      return false;
    } else if constexpr (kDirectC) {
      return Fusion::is_producer_load_needed(params.fusion);
    } else {
      const bool by_batch = kOwnMaps ? Fusion::kUsesSource : Fusion::is_C_load_by_batch(params.fusion);
      return c_needed || by_batch || Fusion::is_producer_load_needed(params.fusion);
    }
  }

  static constexpr int kFragment = Config::policy.fragment_size;

  static constexpr bool kCopies = requires { typename Config::CopyOpR2R; };
  static constexpr Rounding kRounding = FusionConfig::graph.rounding;
  using Results = typename detail::ChosenType<kCopies || kReducesValues,
                                              detail::ValueResults<Config, TileD, kRounding, Value, kTile.values()>,
                                              detail::ElementResults<TileD, kRounding>>::type;

  template <class Accumulators, class C>
  GANTRY_INLINE static void visit(typename Fusion::Store& fusion, const Accumulators& accumulators, const C& c,
                                  bool c_needed, Results& d, int em, int en) {
    constexpr Subtiles tile = kTile;
    GANTRY_UNROLL
    for (int first = 0; first < kTile.values(); first += kFragment) {
      Value acc[kGated ? 2 * kFragment : kFragment], source[kFragment], result[kFragment];
      GANTRY_UNROLL
      for (int k = 0; k < kFragment; ++k) {
        if constexpr (kGated) {
          const int gate = tile.gate_register_of(em, en, first + k);
          acc[k] = convert<Value>(accumulators.data()[gate]);
          acc[kFragment + k] = convert<Value>(accumulators.data()[gate + 4]);
        } else {
          acc[k] = convert<Value>(accumulators.data()[tile.register_of(em, en, first + k)]);
        }
        source[k] = Value{};
        if constexpr (kHasC) {
          if (c_needed) source[k] = convert_read<Value>(static_cast<typename TileC::Element>(c.data()[first + k]));
        }
      }
      fusion.visit(acc, source, result, first, em, en);
      if constexpr (fusion::kStoresIntegers<Config> || fusion::kMayStoreIntegers<Config>) {
        std::int32_t whole[kFragment];
        GANTRY_UNROLL
        for (int k = 0; k < kFragment; ++k) {
          whole[k] = static_cast<std::int32_t>(accumulators.data()[tile.register_of(em, en, first + k)]);
        }
        if constexpr (fusion::kMayStoreIntegers<Config>) {
          for (int k = 0; k < kFragment && !fusion.gives_accumulators(); ++k)
            whole[k] = convert<std::int32_t>(result[k]);
        }
        d.take(first, whole);
      } else if constexpr (kHasD) {
        d.take(first, result);
      }
    }
  }
};

}  // namespace gantry

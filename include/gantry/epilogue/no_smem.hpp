// The epilogue that needs no TMA: each thread combines its accumulators with C, read from global memory, and writes D
// there, element by element. The fallback for pointers and strides that TMA cannot
// align.
//
// Called as CollectiveEpilogue is; nothing is loaded ahead, so load does nothing and no load thread is needed. Graphs
// may have everything but auxiliary tensors that travel through shared memory: scalars, vectors, 1-bit masks,
// reductions. EpilogueOf<Config> is whichever of the two a policy asks for.
//
// Example at namespace scope:
//     #include <gantry/epilogue/builder.hpp>
//     #include <gantry/epilogue/fusion/parse.hpp>
//     struct Odd {  // rows that begin anywhere
//       static constexpr gantry::EpiloguePolicy policy =
//           gantry::CollectiveBuilder{.tile = {64, 64, 64}, .d = gantry::ElementType::bf16, .align_d = 1}.policy();
//       static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = relu(acc + row(bias))");
//       using Functions = gantry::fusion::UserFunctions<>;
//     };
//     static_assert(!gantry::EpilogueOf<Odd>::kUsesTma);
#pragma once

#include <gantry/epilogue/collective.hpp>

namespace gantry {

template <class Config>
class NoSmemEpilogue {
 public:
  GANTRY_EPILOGUE_STATIC_CHECK(Config::policy);
  static constexpr bool kUsesTma = false;
  static constexpr bool kHasC = Config::policy.c.exists();
  static constexpr bool kHasD = Config::policy.d.exists();
  static constexpr Subtiles kTile = Config::policy.cut();
  static constexpr int kMathThreads = kTile.threads();
  static constexpr int kFragment = 4;

  struct FusionConfig {
    static constexpr fusion::Graph graph = fusion::CallbacksBuilder<Config>::graph;
    using Functions = typename fusion::CallbacksBuilder<Config>::Functions;
    static constexpr Subtiles tile = NoSmemEpilogue::kTile;
    static constexpr fusion::Rings rings = {.loads = 0, .stores = 0};
    static constexpr int fragment = kFragment;
    static constexpr ElementType d_element = Config::policy.d.element;
    using Value = element_t<fusion::value_element(Config::policy.element_compute)>;
  };
  using Fusion = typename fusion::CallbacksBuilder<Config>::template For<FusionConfig>::Callbacks;
  using Value = typename Fusion::Value;
  static_assert(
      !requires { typename Config::CopyOpR2R; },
      "gantry: an epilogue without shared memory writes values where their threads are, and CopyOpR2R moves "
      "them; a TMA schedule has that step");
  static_assert(kHasC || !Fusion::kUsesSource,
                "gantry: the expression uses C, and the policy has none: give its element type");
  static_assert(kHasD && Fusion::kGivesD, "gantry: an epilogue without shared memory stores D");
  static_assert(!fusion::CallbacksBuilder<Config>::graph.gated(),
                "gantry: gate(acc) and up(acc) are for the epilogue of a GEMM, which orders B for them");
  static_assert(!fusion::kReducesValues<typename Fusion::Store, Value, kTile.values()>,
                "gantry: reduce gets values and the buffer of D, and an epilogue without shared memory has neither: it "
                "stores values as they are visited; a TMA schedule has both");
  static_assert(!Fusion::kMayLoad, "gantry: an epilogue without shared memory has nobody who loads ahead");
  static_assert(!fusion::has_staged(fusion::CallbacksBuilder<Config>::graph),
                "gantry: an epilogue without shared memory has no auxiliary tensors but masks of one bit; "
                "a TMA schedule has them");

  using ElementC = element_t<Config::policy.c.smem_element>;
  using ElementD = element_t<Config::policy.d.smem_element>;
  static constexpr bool kRowsC = !Config::policy.c.m_major();
  static constexpr bool kRowsD = !Config::policy.d.m_major();

  template <class Element>
  struct Matrix {
    Element* data;
    std::int64_t stride;  // from one row (column) to the next
    std::int64_t batch_stride;

    template <bool rows>
    GANTRY_INLINE Element* at(int m, int n) const {
      return data + (rows ? m * stride + n : n * stride + m);
    }
  };
  struct Params {
    Matrix<const ElementC> c;
    Matrix<ElementD> d;
    typename Fusion::Params fusion;
    int m, n, batch;
  };

  // ---- What a kernel keeps for the collective

  static constexpr int kStagesC = 1;
  using LoadState = PipelineState<1>;
  struct LoadPipeline {
    struct SharedStorage {};
    struct Params {};
    GANTRY_INLINE LoadPipeline(SharedStorage&, const Params&) {}
  };
  using PipelineStorage = typename LoadPipeline::SharedStorage;
  static constexpr EpilogueStorage kStorage =
      epilogue_storage(Config::policy, {Fusion::kSharedBytes, Fusion::kSharedAlignment});
  struct TensorStorage {
    alignas(kStorage.tensor_alignment) unsigned char bytes[kStorage.tensor_bytes == 0 ? 1 : kStorage.tensor_bytes];
  };
  struct SharedStorage {
    TensorStorage tensors;
    PipelineStorage pipeline;
  };
  struct StoreStates {};

  GANTRY_HD static constexpr typename LoadPipeline::Params pipeline_params(PipelineRole = PipelineRole::both) {
    return {};
  }
  GANTRY_INLINE static void init(PipelineStorage&, const char* = "") {}
  GANTRY_INLINE static void prefetch_tma_descriptors(const Params&) {}
  GANTRY_HD static constexpr int get_load_pipe_increment() { return 1; }
  GANTRY_HD static constexpr int get_store_pipe_increment() { return 1; }
  GANTRY_INLINE static bool is_producer_load_needed(const Params&) { return false; }

  // ---- Load side: there is nothing to do

  template <class Which = AllSubtiles>
  GANTRY_INLINE static LoadState load(const Params&, TensorStorage&, LoadPipeline&, const LoadState& state,
                                      const TileCoordinate&, Which = {}) {
    return state;
  }
  GANTRY_INLINE static void load_tail(LoadPipeline&, const LoadState&) {}

  // ---- Store side, by all math threads

  template <class Accumulators, class Which = AllSubtiles>
  GANTRY_INLINE static void store(const Params& params, TensorStorage& storage, LoadPipeline&, StoreStates&,
                                  const TileCoordinate& at, const Accumulators& accumulators, int thread,
                                  std::uint32_t barrier, Which which = {}) {
    static_assert(
        !Fusion::kWholeTiles || __is_same(Which, AllSubtiles),
        "gantry: one subtile is stored by itself, and a reduction that is deterministic or has results of blocks takes "
        "whole tiles: store all subtiles in one call, or leave out `deterministic` and blocks");
    constexpr detail::SubtileChoice choice{kTile.count()};
    const detail::MathSync sync{barrier, kMathThreads};
    typename Fusion::Store fusion(params.fusion, storage.bytes,
                                  {.at = at,
                                   .m = params.m,
                                   .n = params.n,
                                   .batch = params.batch,
                                   .tiles_m = (params.m + kTile.m - 1) / kTile.m,
                                   .tiles_n = (params.n + kTile.n - 1) / kTile.n,
                                   .thread = thread});
    const Corner corner = corner_of(params, at, thread);
    fusion.begin();
    if constexpr (Fusion::Store::begin_sync_needed()) sync();
    GANTRY_UNROLL
    for (int en = 0; en < kTile.along_n(); ++en) {
      GANTRY_UNROLL
      for (int em = 0; em < kTile.along_m(); ++em) {
        const int subtile = en * kTile.along_m() + em;
        if (!choice.takes(which, subtile)) continue;
        fusion.begin_loop(em, en);
        fusion.previsit(0, em, en);
        visit(params, corner, fusion, accumulators, em, en);
        fusion.reduce(em, en, choice.is_last(which, subtile), sync);
        fusion.postreduce(0, em, en);
        fusion.end_loop(em, en);
      }
    }
    fusion.end(sync);
    // The next tile writes where this one's rows and partial results lie.
    if constexpr (Fusion::kSharedBytes > 0) sync();
  }
  GANTRY_INLINE static void store_tail(const Params&, LoadPipeline&, StoreStates&, int) {}

 private:
  // The thread's first element of a tile, and what it needs to reach the others.
  struct Corner {
    Matrix<const ElementC> c;
    Matrix<ElementD> d;
    int row, column;
    bool c_needed;
  };

  GANTRY_INLINE static Corner corner_of(const Params& params, const TileCoordinate& at, int thread) {
    Corner out{params.c, params.d, at.m * kTile.m + Subtiles::row_of_thread(thread),
               at.n * kTile.n + Subtiles::column_of_thread(thread), false};
    out.d.data += at.batch * params.d.batch_stride;
    if constexpr (kHasC) {
      out.c_needed = Fusion::is_C_load_needed(params.fusion, at.batch);
      if (out.c_needed) out.c.data += at.batch * params.c.batch_stride;
    }
    return out;
  }

  template <class Accumulators>
  GANTRY_INLINE static void visit(const Params& params, const Corner& corner, typename Fusion::Store& fusion,
                                  const Accumulators& accumulators, int em, int en) {
    constexpr Subtiles tile = kTile;
    GANTRY_UNROLL
    for (int first = 0; first < kTile.values(); first += kFragment) {
      Value acc[kFragment], source[kFragment], result[kFragment];
      bool inside[kFragment];
      GANTRY_UNROLL
      for (int k = 0; k < kFragment; ++k) {
        const int m = corner.row + em * kTile.epi_m + tile.row_of_value(first + k);
        const int n = corner.column + en * kTile.epi_n + tile.column_of_value(first + k);
        inside[k] = m < params.m && n < params.n;
        acc[k] = convert<Value>(accumulators.data()[tile.register_of(em, en, first + k)]);
        source[k] = Value{};
        if constexpr (kHasC) {
          if (corner.c_needed && inside[k]) {
            source[k] = convert_read<Value>(arch::ld(arch::space_global, corner.c.template at<kRowsC>(m, n)));
          }
        }
      }
      fusion.visit(acc, source, result, first, em, en);
      auto converted = make_tensor<ElementD>(FragmentLayout{});
      if constexpr (fusion::kStoresIntegers<Config>) {
        std::int32_t whole[kFragment];
        GANTRY_UNROLL
        for (int k = 0; k < kFragment; ++k) {
          whole[k] = static_cast<std::int32_t>(accumulators.data()[tile.register_of(em, en, first + k)]);
        }
        fusion::store_values<ElementD, FusionConfig::graph.rounding>(converted, 0, whole);
      } else {
        fusion::store_values<ElementD, FusionConfig::graph.rounding>(converted, 0, result);
      }
      GANTRY_UNROLL
      for (int k = 0; k < kFragment; ++k) {
        if (!inside[k]) continue;
        const int m = corner.row + em * kTile.epi_m + tile.row_of_value(first + k);
        const int n = corner.column + en * kTile.epi_n + tile.column_of_value(first + k);
        arch::st(arch::space_global, corner.d.template at<kRowsD>(m, n), static_cast<ElementD>(converted.data()[k]));
      }
    }
  }

  struct FragmentLayout {
    static constexpr Layout value = make_layout(make_shape(Int::fixed(kFragment)));
  };
};

namespace detail {

template <class Config, bool tma = Config::policy.uses_tma()>
struct ChooseEpilogue {
  using type = CollectiveEpilogue<Config>;
};
template <class Config>
struct ChooseEpilogue<Config, false> {
  using type = NoSmemEpilogue<Config>;
};

}  // namespace detail

// The collective that the policy asks for.
template <class Config>
using EpilogueOf = typename detail::ChooseEpilogue<Config>::type;

}  // namespace gantry

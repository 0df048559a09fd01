// The callbacks of a graph: what it does at each point of the contract (callback_contract.hpp), with constant indices
// so that every value stays in a register.
//
// `Config` has the graph, the user functions that it names, the tile (Subtiles), the rings of buffers, and Value, the
// type that is computed in. Nothing outside M x N is read or written.
//
// Example at namespace scope:
//     struct BiasConfig {
//       static constexpr gantry::fusion::Graph graph = [] {
//         using namespace gantry::fusion;
//         Graph g;
//         g.add_argument({.name = "bias", .kind = ArgumentKind::row});
//         const int acc = g.add({.kind = NodeKind::accumulator});
//         g.d = g.compute(Function::add, acc, g.add({.kind = NodeKind::row, .argument = 0}));
//         return g;
//       }();
//       using Functions = gantry::fusion::UserFunctions<>;
//       static constexpr gantry::Subtiles tile{.m = 64, .n = 64, .epi_m = 64, .epi_n = 32, .warpgroups = 1};
//       static constexpr gantry::fusion::Rings rings{.loads = 2, .stores = 2};
//       using Value = float;
//     };
//     using Callbacks = gantry::fusion::FusionCallbacks<BiasConfig>;
//     static_assert(Callbacks::kSlots.bytes == 64 * 4 && Callbacks::Store::begin_sync_needed());
#pragma once

#include <gantry/arch/barrier.hpp>
#include <gantry/arch/tensormap.hpp>
#include <gantry/epilogue/fusion/check.hpp>
#include <gantry/epilogue/fusion/detail/node_visits.hpp>
#include <gantry/epilogue/fusion/source.hpp>
#include <gantry/rules/static_check.hpp>

#define GANTRY_X(id, weight, asked, rule, remedy) GANTRY_RULE_REFUSAL(::gantry::fusion::GraphRule, id, rule)
#include <gantry/epilogue/fusion/detail/rule_table.hpp>

namespace gantry::fusion {

namespace detail {

// A template: see docs/design/decisions/004.
template <class AnyGraph>
GANTRY_HD constexpr bool takes_whole_tiles(const AnyGraph& graph) {
  for (int i = 0; i < graph.argument_count; ++i) {
    if (combined_in_order(graph.arguments[i]) || is_partial(graph.arguments[i])) return true;
  }
  return false;
}

}  // namespace detail

template <class Config>
struct FusionCallbacks {
  static constexpr Graph graph = Config::graph;
  GANTRY_REASONS_STATIC_CHECK(check_elements(Config::graph,
                                             Complex<typename Config::Value> ? Values::complex : Values::real));
  static constexpr Subtiles kTile = Config::tile;
  using Value = typename Config::Value;
  using Params = detail::ParamsOf<Config>;
  static constexpr Slots kSlots = detail::GraphSlots<Config>::kSlots;
  static constexpr int kArguments = graph.argument_count;
  static constexpr int kSharedBytes = kSlots.bytes;
  static constexpr int kSharedAlignment = kSlots.alignment;
  // Tiles are counted as they arrive, and blocks of results are of several subtiles.
  static constexpr bool kWholeTiles = detail::takes_whole_tiles(Config::graph);

  // Calls f(Constant<i>) for every argument for which `chosen` holds.
  template <class Chosen, class F>
  GANTRY_INLINE static void for_arguments(const Chosen&, const F& f) {
    for_each_index<kArguments>([&](auto i) {
      constexpr int argument = decltype(i)::value;
      if constexpr (Chosen{}(Config::graph.arguments[argument])) f(Constant<argument>{});
    });
  }
  // Calls f(Constant<i>) for every argument that multiplies C wherever it is used.
  template <class F>
  GANTRY_INLINE static void for_factors(const F& f) {
    for_each_index<kArguments>([&](auto i) {
      constexpr int argument = decltype(i)::value;
      if constexpr ((source_factors(Config::graph) >> argument & 1) != 0) f(Constant<argument>{});
    });
  }
  struct IsLoaded {
    GANTRY_HD constexpr bool operator()(const Argument& a) const {
      return is_staged(a) && a.kind == ArgumentKind::aux_in;
    }
  };
  struct IsStored {
    GANTRY_HD constexpr bool operator()(const Argument& a) const {
      return is_staged(a) && a.kind == ArgumentKind::aux_out;
    }
  };

  // Calls f(i, map, StagedTile<...>{}) for every argument i that travels by TMA; `map` is the number of its tensor map.
  template <class F>
  static void for_staged(const Graph& /*the same as the compiled one*/, const F& f) {
    for_each_index<kArguments>([&](auto i) {
      constexpr int argument = decltype(i)::value;
      if constexpr (is_staged(Config::graph.arguments[argument])) {
        f(argument, kSlots.map[argument], detail::Auxiliary<Config, argument>{});
      }
    });
  }

  // Whether there is an auxiliary tensor to load; those that have a default may be left out.
  static constexpr bool kMayLoad = kSlots.load_bytes > 0;
  static constexpr bool kMayStore = kSlots.stores;
  static constexpr bool kUsesSource = graph.uses_source();
  static constexpr bool kGivesD = graph.d >= 0;

  // What the auxiliary inputs of one subtile bring.
  GANTRY_INLINE static int load_bytes(const Params& params) {
    int bytes = 0;
    for_arguments(IsLoaded{}, [&](auto i) {
      constexpr int argument = decltype(i)::value;
      if (detail::is_given<Config, argument>(params)) bytes += detail::Auxiliary<Config, argument>::kStageBytes;
    });
    return bytes;
  }

  GANTRY_INLINE static bool is_producer_load_needed(const Params& params) { return load_bytes(params) > 0; }

  // True if C must be loaded: the graph uses it, and not only multiplied by a factor that is 0.
  GANTRY_INLINE static bool is_C_load_needed(const Params& params, int batch) {
    bool needed = kUsesSource;
    for_factors([&](auto i) {
      constexpr int argument = decltype(i)::value;
      if constexpr (Config::graph.arguments[argument].kind == ArgumentKind::scalar) {
        needed = needed && !(detail::read_scalar<Config, argument>(params, batch) == Value{});
      } else {
        needed = needed && (params.operands[argument].pointer != nullptr || !(params.operands[argument].value == 0));
      }
    });
    return needed;
  }
  // Whether one batch may need C and another not.
  GANTRY_INLINE static bool is_C_load_by_batch(const Params& params) {
    bool by_batch = false;
    for_factors([&](auto i) {
      constexpr int argument = decltype(i)::value;
      if constexpr (Config::graph.arguments[argument].kind == ArgumentKind::scalar) {
        const Operand& operand = params.operands[argument];
        by_batch = by_batch || (operand.pointer != nullptr && operand.batch_stride != 0);
      }
    });
    return by_batch;
  }

  template <int argument>
  GANTRY_INLINE static auto* buffers(unsigned char* shared) {
    using Element = typename detail::Auxiliary<Config, argument>::Element;
    return reinterpret_cast<Element*>(shared + Constant<kSlots.offset[argument]>::value);
  }

  template <int argument>
  GANTRY_INLINE static const TmaDescriptor* map(const Params& params, const TileCoordinate& at) {
    constexpr int number = kSlots.map[argument];
    if constexpr (is_pointer_array<Config>()) {
      return at.maps + Config::first_own_map + number;
    } else {
      return &params.maps[number];
    }
  }
  // Calls f(map) for every map of a pointer array that is loaded by, or stored by.
  template <class Chosen, class F>
  GANTRY_INLINE static void for_maps(const Chosen& chosen, const Params& params, const TileCoordinate& at, const F& f) {
    for_arguments(chosen, [&](auto i) {
      constexpr int argument = decltype(i)::value;
      if (detail::is_given<Config, argument>(params)) f(map<argument>(params, at));
    });
  }

  GANTRY_INLINE static void prefetch_descriptors(const Params& params) {
    for_each_index<kSlots.maps>([&](auto i) { arch::prefetch_tensormap(&params.maps[i]); });
  }

  // One thread, before the cluster's first barrier: what rows of several CTAs are exchanged by.
  GANTRY_INLINE static void init_exchange(unsigned char* shared) {
    if constexpr (kSlots.exchange >= 0) RowExchange<Config>::init(shared + Constant<kSlots.exchange>::value);
  }
  // The math threads, after their last tile: `tiles` have been stored, of a problem that has `tiles_n` along N.
  GANTRY_INLINE static void end_exchange(unsigned char* shared, std::uint32_t tiles, int tiles_n) {
    if constexpr (kSlots.exchange >= 0) {
      constexpr Subtiles kSubtiles = Config::tile;
      constexpr auto kOfTile = static_cast<std::uint32_t>(
          kSubtiles.along_m() * (kSubtiles.values() / Config::fragment) * RowExchange<Config>::kNodes);
      if (tiles_n > 1) RowExchange<Config>::tail(shared + Constant<kSlots.exchange>::value, tiles * kOfTile);
    }
  }

  // ---- Load side

  class Load {
   public:
    GANTRY_INLINE Load(const Params& params, unsigned char* shared, const TileCoordinate& at)
        : params_(params), shared_(shared), at_(at) {}

    GANTRY_INLINE void begin() {}
    GANTRY_INLINE void step(int stage, std::uint64_t* full, int em, int en) {
      for_arguments(IsLoaded{}, [&](auto i) {
        constexpr int argument = decltype(i)::value;
        if (!detail::is_given<Config, argument>(params_)) return;
        detail::Auxiliary<Config, argument>::load(map<argument>(params_, at_), buffers<argument>(shared_), stage, full,
                                                  at_, em, en);
      });
    }
    GANTRY_INLINE void end() {}

   private:
    const Params& params_;
    unsigned char* shared_;
    TileCoordinate at_;
  };

  // ---- Store side

  class Store {
    using Visits = detail::NodeVisits<Config>;

   public:
    GANTRY_INLINE Store(const Params& params, unsigned char* shared, const TileContext& context)
        : v_(params, shared, context) {}

    GANTRY_HD static constexpr bool begin_sync_needed() { return Config::graph.count(ArgumentKind::row) > 0; }

    // Reads what a tile needs once. Requires that all threads have synchronised since the last visit and the last
    // reduction of the previous tile, whose rows and partial results lay in the same place.
    GANTRY_INLINE void begin() {
      begin_shared();
      begin_registers();
    }
    // The two parts of begin(): what goes to shared memory may be read while the wgmmas of the tile run.
    GANTRY_INLINE void begin_shared() {
      for_each_index<kArguments>([&](auto i) {
        constexpr int argument = decltype(i)::value;
        if constexpr (Config::graph.arguments[argument].kind == ArgumentKind::row) v_.template begin_row<argument>();
      });
    }
    GANTRY_INLINE void begin_registers() {
      for_each_index<kArguments>([&](auto i) {
        constexpr int argument = decltype(i)::value;
        constexpr Argument a = Config::graph.arguments[argument];
        if constexpr (a.kind == ArgumentKind::scalar) {
          detail::get<argument>(v_.kept) = detail::read_scalar<Config, argument>(v_.params, v_.context.at.batch);
          if constexpr (Config::graph.is_seed(argument)) {
            detail::key_of<argument>(v_.kept) = detail::read_key<Config, argument>(v_.params, v_.context.at);
          }
        } else if constexpr (a.kind == ArgumentKind::column) {
          v_.template begin_column<argument>();
        } else if constexpr (a.kind == ArgumentKind::reduction) {
          auto& kept = detail::get<argument>(v_.kept);
          Visits::template Reducer<argument>::begin(kept, sizeof(kept) / sizeof(float));
        }
      });
    }

    GANTRY_INLINE void begin_loop(int /*em*/, int /*en*/) {}

    // Auxiliary inputs of a subtile from shared memory (stage) and from global memory (masks, and what TMA cannot
    // address) into registers.
    GANTRY_INLINE void previsit(int stage, int em, int en) {
      for_each_index<kArguments>([&](auto i) {
        constexpr int argument = decltype(i)::value;
        constexpr Argument a = Config::graph.arguments[argument];
        if constexpr (a.kind == ArgumentKind::aux_in) {
          if (!detail::is_given<Config, argument>(v_.params)) return;
          if constexpr (is_mask(a)) {
            detail::get<argument>(v_.kept) = read_mask<Config, a.row_major>(mask<argument>(em, en), v_.context.thread);
          } else if constexpr (is_direct(a)) {
            detail::DirectAuxiliary<Config, argument>::read_global(matrix<argument>(), place(em, en),
                                                                   detail::get<argument>(v_.kept));
          } else {
            detail::Auxiliary<Config, argument>::read(buffers<argument>(v_.shared), stage, v_.context.thread,
                                                      detail::get<argument>(v_.kept));
          }
        } else if constexpr (a.kind == ArgumentKind::aux_out && is_mask(a)) {
          detail::get<argument>(v_.kept) = {};
        }
      });
    }

    // Values first, first + 1, ... of subtile (em, en): `acc` and `c` of each, the value of D into `d`.
    template <int A, int F>
    GANTRY_INLINE void visit(const Value (&acc)[A], const Value (&c)[F], Value (&d)[F], int first, int em, int en) {
      v_.visit(acc, c, d, first, em, en);
    }

    // Combines what the threads have of a subtile, where that must not wait for the end of the tile.
    template <class Sync>
    GANTRY_INLINE void reduce(int em, int en, bool /*is_last*/, const Sync& sync) {
      for_each_index<kArguments>([&](auto i) {
        constexpr int argument = decltype(i)::value;
        constexpr Argument a = Config::graph.arguments[argument];
        constexpr ResultForm kForm = result_form(Config::graph, argument);
        if constexpr (a.kind == ArgumentKind::reduction && a.extent == Extent::row) {
          if (!detail::is_given<Config, argument>(v_.params)) return;
          Visits::template Reducer<argument>::reduce_rows(v_.context, v_.params.operands[argument], kForm,
                                                          detail::get<argument>(v_.kept), v_.template parts<argument>(),
                                                          em, en, sync);
        } else if constexpr (is_partial(a)) {
          if (!detail::is_given<Config, argument>(v_.params)) return;
          Visits::template Reducer<argument>::reduce_columns(v_.context, v_.params.operands[argument], kForm,
                                                             detail::get<argument>(v_.kept), em, en);
        }
      });
    }

    // Auxiliary outputs of a subtile into shared memory, masks and what TMA cannot address into global memory.
    GANTRY_INLINE void postreduce(int stage, int em, int en) {
      for_each_index<kArguments>([&](auto i) {
        constexpr int argument = decltype(i)::value;
        constexpr Argument a = Config::graph.arguments[argument];
        if constexpr (a.kind == ArgumentKind::aux_out && !is_by_block(a)) {
          if (!detail::is_given<Config, argument>(v_.params)) return;
          if constexpr (is_mask(a)) {
            write_mask<Config, a.row_major>(mask<argument>(em, en), v_.context.thread, detail::get<argument>(v_.kept));
          } else if constexpr (is_direct(a)) {
            detail::DirectAuxiliary<Config, argument>::write_global(matrix<argument>(), place(em, en),
                                                                    detail::get<argument>(v_.kept));
          } else {
            detail::Auxiliary<Config, argument>::write(detail::get<argument>(v_.kept), buffers<argument>(v_.shared),
                                                       stage, v_.context.thread);
          }
        }
      });
    }

    // By the issuing thread: auxiliary outputs join the bulk group of D.
    GANTRY_INLINE void tma_store(int stage, int em, int en) {
      for_arguments(IsStored{}, [&](auto i) {
        constexpr int argument = decltype(i)::value;
        if (!detail::is_given<Config, argument>(v_.params)) return;
        detail::Auxiliary<Config, argument>::store(map<argument>(v_.params, v_.context.at),
                                                   buffers<argument>(v_.shared), stage, v_.context.at, em, en);
      });
    }

    GANTRY_INLINE void end_loop(int /*em*/, int /*en*/) {}

    // Reductions that span the tile.
    template <class Sync>
    GANTRY_INLINE void end(const Sync& sync) {
      for_each_index<kArguments>([&](auto i) {
        constexpr int argument = decltype(i)::value;
        constexpr Argument a = Config::graph.arguments[argument];
        if constexpr (a.kind == ArgumentKind::reduction && !is_partial(a)) {
          if (detail::is_given<Config, argument>(v_.params)) end_reduction<argument>(sync);
        }
      });
    }

   private:
    struct MaskBytes {
      std::uint8_t* data;
      std::int64_t stride;
    };
    template <int argument>
    GANTRY_INLINE MaskBytes bytes_of() const {
      const Operand& operand = v_.params.operands[argument];
      if constexpr (is_pointer_array<Config>()) {
        const GroupTensor mine = group_tensor(operand, v_.context.at.batch);
        constexpr bool rows = Config::graph.arguments[argument].row_major;
        return {static_cast<std::uint8_t*>(mine.data),
                mine.stride != 0 ? mine.stride : std::int64_t{rows ? v_.context.n : v_.context.m}};
      } else {
        constexpr bool rows = Config::graph.arguments[argument].row_major;
        const int first_line = rows ? v_.context.at.first_row : v_.context.at.first_column;
        return {static_cast<std::uint8_t*>(operand.pointer) + v_.context.at.batch * (operand.batch_stride / 8) +
                    first_line * (operand.stride / 8),
                operand.stride};
      }
    }

    template <int argument>
    GANTRY_INLINE Mask mask(int em, int en) const {
      const MaskBytes bytes = bytes_of<argument>();
      return {bytes.data,
              bytes.stride,
              v_.row_of_tile() + v_.tile().first_row(em),
              v_.column_of_tile() + v_.tile().first_column(en),
              v_.context.m,
              v_.context.n};
    }

    template <int argument>
    GANTRY_INLINE DirectMatrix matrix() const {
      const Operand& operand = v_.params.operands[argument];
      return {operand.pointer, operand.stride, operand.batch_stride};
    }
    GANTRY_INLINE DirectPlace place(int em, int en) const {
      return {.m = v_.context.m,
              .n = v_.context.n,
              .row = v_.row_of_tile() + v_.tile().first_row(em),
              .column = v_.column_of_tile() + v_.tile().first_column(en),
              .batch = v_.context.at.d_batch,
              .thread = v_.context.thread,
              .first_row = v_.context.at.first_row,
              .first_column = v_.context.at.first_column};
    }

    template <int argument, class Sync>
    GANTRY_INLINE void end_reduction(const Sync& sync) {
      constexpr Argument a = Config::graph.arguments[argument];
      using Of = typename Visits::template Reducer<argument>;
      constexpr ResultForm kForm = result_form(Config::graph, argument);
      const Operand& operand = v_.params.operands[argument];
      auto& kept = detail::get<argument>(v_.kept);
      if constexpr (a.extent == Extent::column) {
        Of::template end_column<combined_in_order(a)>(v_.context, operand, kForm, kept, sync);
      } else if constexpr (a.extent == Extent::scalar) {
        Of::template end_scalar<combined_in_order(a)>(v_.context, operand, kForm, kept, v_.template parts<argument>(),
                                                      sync);
      } else if constexpr (combined_in_order(a)) {
        Of::end_row(v_.context, operand, kForm, sync);
      }
    }

    Visits v_;
  };
};

}  // namespace gantry::fusion

// What a graph does at each point of the epilogue's load side and store side: the callback contract, walked with
// constant indices so that every value stays in a register.
//
// `Config` has the graph, the user functions that it names, the tile (Subtiles), the rings of buffers, and Value, the
// type that is computed in. Load side: step. Store side, in this order for a tile: begin, then for each subtile
// previsit, visit (fragment by fragment), reduce, write, tma_store, then end. A tile's rows are read where its problem
// ends: nothing outside M x N is read or written.
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
//     static_assert(Callbacks::kSlots.bytes == 64 * 4 && Callbacks::Store::kBeginSyncNeeded);
#pragma once

#include <gantry/arch/barrier.hpp>
#include <gantry/arch/tensormap.hpp>
#include <gantry/atom/convert.hpp>
#include <gantry/epilogue/fusion/detail/kept_values.hpp>
#include <gantry/epilogue/fusion/functions.hpp>
#include <gantry/epilogue/fusion/tile_reductions.hpp>

namespace gantry::fusion {

namespace detail {

template <class Value, class Element>
GANTRY_INLINE Value load_value(const void* pointer, std::int64_t i) {
  return convert<Value>(
      arch::ld(arch::space_global, static_cast<const Element*>(pointer) + i, arch::cache_no_allocate));
}

}  // namespace detail

// Values as elements of a register tensor, from element `first` on; two at a time where the hardware converts pairs.
template <class Element, class Registers, class Value, int F>
GANTRY_INLINE void store_values(Registers& registers, int first, const Value (&values)[F]) {
  if constexpr (gantry::detail::kConvertsPairs<Value, Element>) {
    GANTRY_UNROLL
    for (int k = 0; k < F; k += 2) {
      const auto pair = gantry::detail::PairOf<Element>::from(values[k], values[k + 1]);
      __builtin_memcpy(static_cast<void*>((registers.data() + (first + k)).get()), &pair, sizeof(pair));
    }
  } else {
    GANTRY_UNROLL
    for (int k = 0; k < F; ++k) registers.data()[first + k] = convert<Element>(values[k]);
  }
}

namespace detail {

GANTRY_HD constexpr bool has_rows(const Graph& graph) { return graph.count(ArgumentKind::row) > 0; }

// The scalar that C is multiplied by wherever it is used, or -1.
GANTRY_HD constexpr int scale_of_source(const Graph& graph) {
  int scale = -1;
  for (int i = 0; i < graph.node_count; ++i) {
    const Node& node = graph.nodes[i];
    for (int k = 0; k < 3; ++k) {
      const int input = node.inputs[k];
      if (input < 0 || graph.nodes[input].kind != NodeKind::source) continue;
      const bool product = node.kind == NodeKind::compute && k < 2 &&
                           (node.function == Function::multiply || node.function == Function::multiply_add);
      const int other = product ? node.inputs[1 - k] : -1;
      if (other < 0 || graph.nodes[other].kind != NodeKind::scalar) return -1;
      const int argument = graph.nodes[other].argument;
      if (scale >= 0 && scale != argument) return -1;
      scale = argument;
    }
  }
  return graph.d >= 0 && graph.nodes[graph.d].kind == NodeKind::source ? -1 : scale;
}

}  // namespace detail

template <class Config>
struct FusionCallbacks {
  static constexpr Graph graph = Config::graph;
  static constexpr Subtiles kTile = Config::tile;
  using Value = typename Config::Value;
  static constexpr Slots kSlots = make_slots(Config::graph, Config::tile, Config::rings, sizeof(Value));
  static constexpr int kSharedBytes = kSlots.bytes;
  static constexpr int kSharedAlignment = kSlots.alignment;
  static constexpr int kArguments = graph.argument_count;
  using Params = fusion::Params<kArguments, kSlots.maps>;

  // Calls f(Constant<i>) for every argument for which `chosen` holds.
  template <class Chosen, class F>
  GANTRY_INLINE static void for_arguments(const Chosen&, const F& f) {
    for_each_index<kArguments>([&](auto i) {
      constexpr int argument = decltype(i)::value;
      if constexpr (Chosen{}(Config::graph.arguments[argument])) f(Constant<argument>{});
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

  // The tile where its functions are called with run-time values.
  GANTRY_HD static constexpr Subtiles tile() { return Config::tile; }

  // Whether there is an auxiliary tensor to load; those that have a default may be left out.
  static constexpr bool kMayLoad = kSlots.load_bytes > 0;
  static constexpr bool kUsesSource = graph.uses_source();
  static constexpr bool kGivesD = graph.d >= 0;

  // Whether an argument was handed over.
  template <int argument>
  GANTRY_INLINE static bool is_given(const Params& params) {
    if constexpr (Config::graph.arguments[argument].has_default) {
      return params.operands[argument].pointer != nullptr;
    } else {
      return true;
    }
  }

  // What the auxiliary inputs of one subtile bring.
  GANTRY_INLINE static int load_bytes(const Params& params) {
    int bytes = 0;
    for_arguments(IsLoaded{}, [&](auto i) {
      constexpr int argument = decltype(i)::value;
      if (is_given<argument>(params)) bytes += detail::Auxiliary<Config, argument>::kStageBytes;
    });
    return bytes;
  }

  // Whether C has to be there: the graph uses it, and not only in a product with a scalar that is 0.
  GANTRY_INLINE static bool is_C_load_needed(const Params& params, int batch) {
    constexpr int scale = detail::scale_of_source(Config::graph);
    if constexpr (!Config::graph.uses_source()) {
      return false;
    } else if constexpr (scale < 0) {
      return true;
    } else {
      return !(read_scalar<scale>(params, batch) == Value{});
    }
  }
  // Whether one batch may need C and another not.
  GANTRY_INLINE static bool is_C_load_by_batch(const Params& params) {
    constexpr int scale = detail::scale_of_source(Config::graph);
    if constexpr (scale < 0) {
      return false;
    } else {
      return params.operands[scale].pointer != nullptr && params.operands[scale].batch_stride != 0;
    }
  }

  template <int argument>
  GANTRY_INLINE static Value read_scalar(const Params& params, int batch) {
    using Element = element_t<Config::graph.arguments[argument].element>;
    const Operand& operand = params.operands[argument];
    if (operand.pointer == nullptr) return convert<Value>(operand.value);
    return detail::load_value<Value, Element>(operand.pointer, batch * operand.batch_stride);
  }

  template <int argument>
  GANTRY_INLINE static auto* buffers(unsigned char* shared) {
    using Element = typename detail::Auxiliary<Config, argument>::Element;
    return reinterpret_cast<Element*>(shared + Constant<kSlots.offset[argument]>::value);
  }

  template <int argument>
  GANTRY_INLINE static const TmaDescriptor* map(const Params& params) {
    return &params.maps[Constant<kSlots.map[argument]>::value];
  }

  GANTRY_INLINE static void prefetch_descriptors(const Params& params) {
    for_each_index<kSlots.maps>([&](auto i) { arch::prefetch_tensormap(&params.maps[i]); });
  }

  // ---- Load side

  // Issues the auxiliary inputs of subtile (em, en) into `stage`; load_bytes(params) arrive on `full`.
  GANTRY_INLINE static void step(const Params& params, unsigned char* shared, int stage, std::uint64_t* full,
                                 const TileCoordinate& at, int em, int en) {
    for_arguments(IsLoaded{}, [&](auto i) {
      constexpr int argument = decltype(i)::value;
      if (!is_given<argument>(params)) return;
      detail::Auxiliary<Config, argument>::load(map<argument>(params), buffers<argument>(shared), stage, full, at, em,
                                                en);
    });
  }

  // ---- Store side

  class Store {
   public:
    static constexpr bool kBeginSyncNeeded = detail::has_rows(Config::graph);

    GANTRY_INLINE Store(const Params& params, unsigned char* shared, const TileContext& context)
        : params_(params), shared_(shared), context_(context) {}

    // Reads what a tile needs once. `sync` waits for all math threads. Requires that they have met since the last visit
    // and the last reduction of the previous tile, whose rows and partial results lay in the same place.
    template <class Sync>
    GANTRY_INLINE void begin(const Sync& sync) {
      for_each_index<kArguments>([&](auto i) {
        constexpr int argument = decltype(i)::value;
        constexpr Argument a = Config::graph.arguments[argument];
        if constexpr (a.kind == ArgumentKind::scalar) {
          detail::get<argument>(kept_) = read_scalar<argument>(params_, context_.at.l);
        } else if constexpr (a.kind == ArgumentKind::row) {
          begin_row<argument>();
        } else if constexpr (a.kind == ArgumentKind::column) {
          begin_column<argument>();
        } else if constexpr (a.kind == ArgumentKind::reduction) {
          for (float& x : detail::get<argument>(kept_)) x = identity<detail::reduction_of(Config::graph, argument)>();
        }
      });
      if constexpr (kBeginSyncNeeded) sync();
    }

    // Auxiliary inputs of a subtile from shared memory (stage) and from global memory (masks) into registers.
    GANTRY_INLINE void previsit(int stage, int em, int en) {
      for_each_index<kArguments>([&](auto i) {
        constexpr int argument = decltype(i)::value;
        constexpr Argument a = Config::graph.arguments[argument];
        if constexpr (a.kind == ArgumentKind::aux_in) {
          if (!is_given<argument>(params_)) return;
          if constexpr (is_mask(a)) {
            detail::get<argument>(kept_) = read_mask<Config, a.row_major>(mask<argument>(em, en), context_.thread);
          } else {
            detail::Auxiliary<Config, argument>::read(buffers<argument>(shared_), stage, context_.thread,
                                                      detail::get<argument>(kept_));
          }
        } else if constexpr (a.kind == ArgumentKind::aux_out && is_mask(a)) {
          detail::get<argument>(kept_) = {};
        }
      });
    }

    // Values first, first + 1, ... of subtile (em, en): `acc` and `c` of each, the value of D into `d`.
    template <int F>
    GANTRY_INLINE void visit(const Value (&acc)[F], const Value (&c)[F], Value (&d)[F], int first, int em, int en) {
      static_assert(F % 4 == 0, "gantry: a fragment holds whole runs of four accumulators");
      constexpr int kNodes = graph.node_count == 0 ? 1 : graph.node_count;
      Value values[kNodes][F];
      for_each_index<graph.node_count>([&](auto i) {
        constexpr int number = decltype(i)::value;
        visit_node<number, F>(values, acc, c, first, em, en);
      });
      if constexpr (graph.d >= 0) {
        GANTRY_UNROLL
        for (int k = 0; k < F; ++k) d[k] = values[graph.d][k];
      }
    }

    // Combines what the threads have of a subtile, where that must not wait for the end of the tile.
    template <class Sync>
    GANTRY_INLINE void reduce(int em, int en, const Sync& sync) {
      for_each_index<kArguments>([&](auto i) {
        constexpr int argument = decltype(i)::value;
        constexpr Argument a = Config::graph.arguments[argument];
        if constexpr (a.kind == ArgumentKind::reduction && a.extent == Extent::row) {
          if (!is_given<argument>(params_)) return;
          Reducer<argument>::reduce_rows(context_, params_.operands[argument], detail::get<argument>(kept_),
                                         parts<argument>(), em, en, sync);
        }
      });
    }

    // Auxiliary outputs of a subtile into shared memory, masks into global memory.
    GANTRY_INLINE void write(int stage, int em, int en) {
      for_each_index<kArguments>([&](auto i) {
        constexpr int argument = decltype(i)::value;
        constexpr Argument a = Config::graph.arguments[argument];
        if constexpr (a.kind == ArgumentKind::aux_out) {
          if (!is_given<argument>(params_)) return;
          if constexpr (is_mask(a)) {
            write_mask<Config, a.row_major>(mask<argument>(em, en), context_.thread, detail::get<argument>(kept_));
          } else {
            detail::Auxiliary<Config, argument>::write(detail::get<argument>(kept_), buffers<argument>(shared_), stage,
                                                       context_.thread);
          }
        }
      });
    }

    // By the issuing thread: auxiliary outputs join the bulk group of D.
    GANTRY_INLINE void tma_store(int stage, int em, int en) {
      for_arguments(IsStored{}, [&](auto i) {
        constexpr int argument = decltype(i)::value;
        if (!is_given<argument>(params_)) return;
        detail::Auxiliary<Config, argument>::store(map<argument>(params_), buffers<argument>(shared_), stage,
                                                   context_.at, em, en);
      });
    }

    // Reductions that span the tile.
    template <class Sync>
    GANTRY_INLINE void end(const Sync& sync) {
      for_each_index<kArguments>([&](auto i) {
        constexpr int argument = decltype(i)::value;
        constexpr Argument a = Config::graph.arguments[argument];
        if constexpr (a.kind == ArgumentKind::reduction) {
          if (is_given<argument>(params_)) end_reduction<argument>(sync);
        }
      });
    }

   private:
    GANTRY_INLINE int row_of_tile() const { return context_.at.m * kTile.m; }
    GANTRY_INLINE int column_of_tile() const { return context_.at.n * kTile.n; }

    template <int argument>
    GANTRY_INLINE Mask mask(int em, int en) const {
      const Operand& operand = params_.operands[argument];
      return {static_cast<std::uint8_t*>(operand.pointer) + context_.at.l * (operand.batch_stride / 8),
              operand.stride,
              row_of_tile() + em * kTile.epi_m,
              column_of_tile() + en * kTile.epi_n,
              context_.m,
              context_.n};
    }

    // ---- Broadcasts

    template <int argument>
    GANTRY_INLINE Value* row_buffer() const {
      return reinterpret_cast<Value*>(shared_ + Constant<kSlots.offset[argument]>::value);
    }

    template <int argument>
    GANTRY_INLINE void begin_row() {
      using Element = element_t<Config::graph.arguments[argument].element>;
      const Operand& operand = params_.operands[argument];
      for (int i = context_.thread; i < kTile.n; i += kTile.threads()) {
        const int n = column_of_tile() + i;
        Value x = convert<Value>(operand.value);
        if (operand.pointer != nullptr && n < context_.n) {
          x = detail::load_value<Value, Element>(operand.pointer, context_.at.l * operand.batch_stride + n);
        }
        arch::st(arch::space_shared, row_buffer<argument>() + i, x);
      }
    }

    template <int argument>
    GANTRY_INLINE void begin_column() {
      using Element = element_t<Config::graph.arguments[argument].element>;
      const Operand& operand = params_.operands[argument];
      auto& values = detail::get<argument>(kept_);
      GANTRY_UNROLL
      for (int i = 0; i < kTile.m / kTile.mma_m() * 2; ++i) {
        const int m = row_of_tile() + i / 2 * kTile.mma_m() + i % 2 * 8 + Subtiles::row_of_thread(context_.thread);
        values[i] = convert<Value>(operand.value);
        if (operand.pointer != nullptr && m < context_.m) {
          values[i] = detail::load_value<Value, Element>(operand.pointer, context_.at.l * operand.batch_stride + m);
        }
      }
    }

    // ---- Nodes

    template <int number, int F, int N>
    GANTRY_INLINE void visit_node(Value (&values)[N][F], const Value (&acc)[F], const Value (&c)[F], int first, int em,
                                  int en) {
      constexpr Node node = Config::graph.nodes[number];
      constexpr int argument = node.argument;
      Value(&out)[F] = values[number];
      if constexpr (node.kind == NodeKind::accumulator) {
        GANTRY_UNROLL
        for (int k = 0; k < F; ++k) out[k] = acc[k];
      } else if constexpr (node.kind == NodeKind::source) {
        GANTRY_UNROLL
        for (int k = 0; k < F; ++k) out[k] = c[k];
      } else if constexpr (node.kind == NodeKind::constant) {
        GANTRY_UNROLL
        for (int k = 0; k < F; ++k) out[k] = convert<Value>(node.constant);
      } else if constexpr (node.kind == NodeKind::scalar) {
        GANTRY_UNROLL
        for (int k = 0; k < F; ++k) out[k] = detail::get<argument>(kept_);
      } else if constexpr (node.kind == NodeKind::row) {
        visit_row<argument>(out, first, en);
      } else if constexpr (node.kind == NodeKind::column) {
        GANTRY_UNROLL
        for (int k = 0; k < F; ++k) out[k] = detail::get<argument>(kept_)[row_slot(tile(), em, first + k)];
      } else if constexpr (node.kind == NodeKind::aux_load) {
        visit_auxiliary<argument>(out, first);
      } else if constexpr (node.kind == NodeKind::compute) {
        visit_compute<number>(values);
      } else if constexpr (node.kind == NodeKind::aux_store) {
        visit_store<argument>(values[node.inputs[0]], first);
        GANTRY_UNROLL
        for (int k = 0; k < F; ++k) out[k] = values[node.inputs[0]][k];
      } else {
        visit_reduction<argument>(values[node.inputs[0]], first, em, en);
        GANTRY_UNROLL
        for (int k = 0; k < F; ++k) out[k] = values[node.inputs[0]][k];
      }
    }

    // Neighbouring columns lie side by side; rows of one run share them.
    template <int argument, int F>
    GANTRY_INLINE void visit_row(Value (&out)[F], int first, int en) const {
      struct alignas(2 * sizeof(Value)) Pair {
        Value x, y;
      };
      const Value* at = row_buffer<argument>() + en * kTile.epi_n + Subtiles::column_of_thread(context_.thread);
      GANTRY_UNROLL
      for (int k = 0; k < F; k += 4) {
        const Pair pair =
            arch::ld(arch::space_shared, reinterpret_cast<const Pair*>(at + tile().column_of_value(first + k)));
        out[k] = out[k + 2] = pair.x;
        out[k + 1] = out[k + 3] = pair.y;
      }
    }

    template <int argument, int F>
    GANTRY_INLINE void visit_auxiliary(Value (&out)[F], int first) {
      constexpr Argument a = Config::graph.arguments[argument];
      auto& kept = detail::get<argument>(kept_);
      if (!is_given<argument>(params_)) {
        GANTRY_UNROLL
        for (int k = 0; k < F; ++k) out[k] = convert<Value>(params_.operands[argument].value);
        return;
      }
      GANTRY_UNROLL
      for (int k = 0; k < F; ++k) {
        if constexpr (is_mask(a)) {
          out[k] = convert<Value>(kept[first + k] ? 1.0f : 0.0f);
        } else {
          out[k] = convert<Value>(static_cast<element_t<a.element>>(kept.data()[first + k]));
        }
      }
    }

    template <int number, int F, int N>
    GANTRY_INLINE static void visit_compute(Value (&values)[N][F]) {
      constexpr Node node = Config::graph.nodes[number];
      constexpr int a = node.inputs[0] < 0 ? number : node.inputs[0];
      constexpr int b = node.inputs[1] < 0 ? number : node.inputs[1];
      constexpr int c = node.inputs[2] < 0 ? number : node.inputs[2];
      GANTRY_UNROLL
      for (int k = 0; k < F; ++k) {
        const Value x = values[a][k];
        const Value y = b == number ? Value{} : values[b][k];
        const Value z = c == number ? Value{} : values[c][k];
        if constexpr (node.function == Function::user) {
          values[number][k] = apply_user<node.user, typename Config::Functions>(x, y, z);
        } else if constexpr (node.function == Function::round) {
          values[number][k] = round_to<node.element>(x);
        } else {
          values[number][k] = apply<node.function>(x, y, z);
        }
      }
    }

    template <int argument, int F>
    GANTRY_INLINE void visit_store(const Value (&in)[F], int first) {
      constexpr Argument a = Config::graph.arguments[argument];
      auto& kept = detail::get<argument>(kept_);
      if constexpr (is_mask(a)) {
        GANTRY_UNROLL
        for (int k = 0; k < F; ++k) kept.set(first + k, !(in[k] == Value{}));
      } else {
        store_values<element_t<a.element>>(kept, first, in);
      }
    }

    // ---- Reductions

    template <int argument>
    using Reducer = TileReduction<Config, detail::reduction_of(Config::graph, argument)>;
    template <int argument>
    GANTRY_INLINE float* parts() const {
      return reinterpret_cast<float*>(shared_ + Constant<kSlots.offset[argument]>::value);
    }

    template <int argument, int F>
    GANTRY_INLINE void visit_reduction(const Value (&in)[F], int first, int em, int en) {
      static_assert(__is_same(Value, float),
                    "gantry: a reduction needs real values, and this epilogue has complex ones");
      constexpr Extent extent = Config::graph.arguments[argument].extent;
      Reducer<argument>::template add<extent>(context_, detail::get<argument>(kept_), in, first, em, en);
    }

    template <int argument, class Sync>
    GANTRY_INLINE void end_reduction(const Sync& sync) {
      constexpr Argument a = Config::graph.arguments[argument];
      using Of = Reducer<argument>;
      const Operand& operand = params_.operands[argument];
      auto& kept = detail::get<argument>(kept_);
      if constexpr (a.extent == Extent::column) {
        Of::template end_column<a.deterministic>(context_, operand, kept, sync);
      } else if constexpr (a.extent == Extent::scalar) {
        Of::template end_scalar<a.deterministic>(context_, operand, kept[0], parts<argument>(), sync);
      } else if constexpr (a.deterministic) {
        Of::end_row(context_, operand, sync);
      }
    }

    const Params& params_;
    unsigned char* shared_;
    TileContext context_;
    detail::KeptValues<Config, decltype(make_sequence<kArguments>{})> kept_;
  };
};

}  // namespace gantry::fusion

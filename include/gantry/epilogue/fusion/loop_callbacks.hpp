// The callbacks of an epilogue for a graph that is known only at run time, walked in a loop: for the simulated SM,
// where a thousand graphs then need no thousand instantiations. Results are those of FusionCallbacks, bit for bit.
//
// A configuration inherits GraphAtRunTime<...>, which says whether its graphs may use C and give D;
// EpilogueArguments takes the graph. Host only. Every value of a thread is read before a subtile is visited, row
// vectors straight from global memory; auxiliary tensors travel by TMA as ever.
//
// Example at namespace scope:
//     #include <gantry/epilogue/builder.hpp>
//     struct AnyGraph : gantry::fusion::GraphAtRunTime<false, true> {
//       static constexpr gantry::EpiloguePolicy policy =
//           gantry::CollectiveBuilder{.tile = {64, 64, 64}, .d = gantry::ElementType::bf16}.policy();
//     };
#pragma once

#include <vector>

#include <gantry/epilogue/fusion/callbacks.hpp>
#include <gantry/epilogue/fusion/canonical.hpp>
#include <gantry/epilogue/fusion/detail/loop_check.hpp>
#include <gantry/epilogue/fusion/detail/loop_parts.hpp>
#include <gantry/epilogue/fusion/evaluate.hpp>

namespace gantry::fusion {

// Element types as a set.
template <class... Types>
constexpr std::uint32_t element_set(Types... types) {
  return (0u | ... | (1u << static_cast<int>(types)));
}
// Those that the loop has code for.
inline constexpr std::uint32_t kLoopElements = element_set(ElementType::f32, ElementType::f16, ElementType::bf16,
                                                           ElementType::e4m3, ElementType::e5m2, ElementType::s8);

// A graph with its operands, as the loop takes them.
struct LoopOperands : fusion::Params<kMaxArguments, kMaxArguments> {
  Graph graph;
  Slots slots;
  std::uint32_t factors;
};

template <class Config, int kBytes = 128 * 1024, std::uint32_t kElements = kLoopElements>
struct LoopCallbacks {
  using Value = typename Config::Value;
  static_assert(__is_same(Value, float), "gantry: graphs at run time have real values");
  static constexpr Subtiles kTile = Config::tile;
  static constexpr int kSharedBytes = kBytes;
  static constexpr int kSharedAlignment = 1024;
  static constexpr bool kMayLoad = true;
  static constexpr bool kMayStore = true;
  static constexpr bool kWholeTiles = true;  // a graph may have deterministic reductions
  static constexpr bool kUsesSource = Config::graph.uses_source();
  static constexpr bool kGivesD = Config::graph.d >= 0;

  struct Params : LoopOperands {
    void bind(const Graph& g) {
      this->graph = g;
      this->slots = make_slots(g, Config::tile, Config::rings);
      this->factors = source_factors(g);
    }
    bool is_given(int i) const { return this->operands[i].pointer != nullptr; }
  };

  static ArgumentReasons problems(const Graph& graph) {
    return detail::loop_problems<Config, kElements>(graph, kSharedBytes);
  }

  template <class F>
  static void for_staged(const Graph& graph, const F& f) {
    const Slots slots = make_slots(graph, Config::tile, Config::rings);
    for (int i = 0; i < graph.argument_count; ++i) {
      if (!is_staged(graph.arguments[i])) continue;
      detail::with_staged_tile<Config, kElements>(graph.arguments[i], [&](auto tile) { f(i, slots.map[i], tile); });
    }
  }

  static int load_bytes(const Params& params) {
    int bytes = 0;
    for_loaded(params, [&](int, auto tile) { bytes += decltype(tile)::kStageBytes; });
    return bytes;
  }
  static bool is_C_load_needed(const Params& params, int batch) {
    bool needed = params.graph.uses_source();
    for_factors(params, [&](int i) {
      const bool vector = params.graph.arguments[i].kind != ArgumentKind::scalar && params.is_given(i);
      needed = needed && (vector || !(read_scalar(params, i, batch) == 0));
    });
    return needed;
  }
  static bool is_C_load_by_batch(const Params& params) {
    bool by_batch = false;
    for_factors(params, [&](int i) {
      by_batch = by_batch || (params.graph.arguments[i].kind == ArgumentKind::scalar && params.is_given(i) &&
                              params.operands[i].batch_stride != 0);
    });
    return by_batch;
  }
  static bool is_producer_load_needed(const Params& params) { return load_bytes(params) > 0; }
  static void prefetch_descriptors(const Params& params) {
    for (int i = 0; i < params.slots.maps; ++i) arch::prefetch_tensormap(&params.maps[i]);
  }

  class Load {
   public:
    Load(const Params& params, unsigned char* shared, const TileCoordinate& at)
        : params_(params), shared_(shared), at_(at) {}

    void begin() {}
    void step(int stage, std::uint64_t* full, int em, int en) {
      for_loaded(params_, [&](int i, auto tile) {
        using Tile = decltype(tile);
        Tile::load(&params_.maps[params_.slots.map[i]], buffers<Tile>(params_, shared_, i), stage, full, at_, em, en);
      });
    }
    void end() {}

   private:
    const Params& params_;
    unsigned char* shared_;
    TileCoordinate at_;
  };

  class Store {
   public:
    Store(const Params& params, unsigned char* shared, const TileContext& context)
        : params_(params), shared_(shared), context_(context) {}

    static constexpr bool begin_sync_needed() { return false; }
    bool gives_accumulators() const { return fusion::gives_accumulators(params_.graph); }

    void begin() {
      for (int i = 0; i < params_.graph.argument_count; ++i) {
        if (params_.graph.is_seed(i)) keys_[i] = read_key(i);
      }
      for_reductions([&](int i, auto reduction) { decltype(reduction)::begin(so_far_[i], kKept); });
    }

    void begin_loop(int /*em*/, int /*en*/) {}

    void previsit(int stage, int em, int en) {
      for (int i = 0; i < params_.graph.argument_count; ++i) {
        const Argument& a = params_.graph.arguments[i];
        if (is_output(a.kind)) continue;
        if (!params_.is_given(i)) {
          for (Value& x : values_[i]) x = params_.operands[i].value;
        } else if (is_mask(a)) {
          const Bits<Config> bits = a.row_major ? read_mask<Config, true>(mask(i, em, en), context_.thread)
                                                : read_mask<Config, false>(mask(i, em, en), context_.thread);
          for (int k = 0; k < kTile.values(); ++k) values_[i][k] = bits[k] ? 1.0f : 0.0f;
        } else if (is_staged(a)) {
          read_staged(i, stage);
        } else {
          read_broadcast(i, em, en);
        }
      }
    }

    template <int A, int F>
    void visit(const Value (&acc)[A], const Value (&c)[F], Value (&d)[F], int first, int em, int en) {
      const Graph& graph = params_.graph;
      std::vector<ElementInputs<Value>> inputs(F);
      for (int k = 0; k < F; ++k) {
        ElementInputs<Value>& in = inputs[static_cast<std::size_t>(k)];
        in = {.accumulator = acc[k], .source = c[k]};
        in.m = context_.at.first_row + context_.at.m * kTile.m + kTile.first_row(em) +
               kTile.row(context_.thread, first + k);
        in.n = context_.at.first_column + context_.at.n * kTile.n + kTile.first_column(en) +
               kTile.column(context_.thread, first + k);
        if constexpr (A > F) in.up = acc[F + k];
        for (int i = 0; i < graph.argument_count; ++i) {
          in.arguments[i] = values_[i][first + k];
          in.keys[i] = keys_[i];
        }
      }
      Value results[kMaxNodes][F];
      for (int i = 0; i < graph.node_count; ++i) {
        if (is_across(graph.nodes[i])) {
          combine(graph.nodes[i], results[graph.nodes[i].inputs[0]], results[i], en);
        } else {
          for (int k = 0; k < F; ++k) {
            results[i][k] = node_of(graph, i, inputs[static_cast<std::size_t>(k)], results, first, k);
          }
        }
        for (int k = 0; k < F && is_rounded(graph, i); ++k)
          results[i][k] = round_to(graph.compute_element, results[i][k]);
      }
      if constexpr (kGivesD) {
        for (int k = 0; k < F; ++k) d[k] = results[graph.d][k];
        if constexpr (Config::d_element != ElementType::void_) round_outputs<element_t<Config::d_element>>(d);
      }
      for (int i = 0; i < graph.node_count; ++i) {
        const Node& node = graph.nodes[i];
        if (node.kind == NodeKind::aux_store && is_by_block(graph.arguments[node.argument])) {
          store_blocks(node.argument, results[i], em, en);
        } else if (node.kind == NodeKind::aux_store) {
          for (int k = 0; k < F; ++k) values_[node.argument][first + k] = results[i][k];
        } else if (node.kind == NodeKind::reduce) {
          add(node, results[i], first, em, en);
        }
      }
    }

    template <class Sync>
    void reduce(int em, int en, bool /*is_last*/, const Sync& sync) {
      for_reductions([&](int i, auto reduction) {
        const Argument& a = params_.graph.arguments[i];
        if (!params_.is_given(i)) return;
        if (a.extent == Extent::row) {
          decltype(reduction)::reduce_rows(context_, params_.operands[i], result_form(params_.graph, i), so_far_[i],
                                           parts(i), em, en, sync);
        } else if (is_partial(a)) {
          decltype(reduction)::reduce_columns(context_, params_.operands[i], result_form(params_.graph, i), so_far_[i],
                                              em, en);
        }
      });
    }

    void postreduce(int stage, int em, int en) {
      for (int i = 0; i < params_.graph.argument_count; ++i) {
        const Argument& a = params_.graph.arguments[i];
        if (a.kind != ArgumentKind::aux_out || is_by_block(a) || !params_.is_given(i)) continue;
        if (is_mask(a)) {
          Bits<Config> bits;
          for (int k = 0; k < kTile.values(); ++k) bits.set(k, !(values_[i][k] == 0));
          a.row_major ? write_mask<Config, true>(mask(i, em, en), context_.thread, bits)
                      : write_mask<Config, false>(mask(i, em, en), context_.thread, bits);
        } else {
          write_staged(i, stage);
        }
      }
    }

    void tma_store(int stage, int em, int en) {
      for (int i = 0; i < params_.graph.argument_count; ++i) {
        const Argument& a = params_.graph.arguments[i];
        if (a.kind != ArgumentKind::aux_out || !is_staged(a) || !params_.is_given(i)) continue;
        detail::with_staged_tile<Config, kElements>(a, [&](auto tile) {
          using Tile = decltype(tile);
          Tile::store(&params_.maps[params_.slots.map[i]], buffers<Tile>(params_, shared_, i), stage, context_.at, em,
                      en);
        });
      }
    }

    void end_loop(int /*em*/, int /*en*/) {}

    template <class Sync>
    void end(const Sync& sync) {
      for_reductions([&](int i, auto reduction) {
        using Of = decltype(reduction);
        const Argument& a = params_.graph.arguments[i];
        const Operand& operand = params_.operands[i];
        const ResultForm form = result_form(params_.graph, i);
        if (!params_.is_given(i) || is_partial(a)) return;
        if (a.extent == Extent::column) {
          combined_in_order(a) ? Of::template end_column<true>(context_, operand, form, so_far_[i], sync)
                               : Of::template end_column<false>(context_, operand, form, so_far_[i], sync);
        } else if (a.extent == Extent::scalar) {
          combined_in_order(a) ? Of::template end_scalar<true>(context_, operand, form, so_far_[i], parts(i), sync)
                               : Of::template end_scalar<false>(context_, operand, form, so_far_[i], parts(i), sync);
        } else if (combined_in_order(a)) {
          Of::end_row(context_, operand, form, sync);
        }
      });
    }

   private:
    // Node i of value first + k; what is rotated comes from another of the values.
    template <int F>
    static Value node_of(const Graph& graph, int i, const ElementInputs<Value>& in,
                         const Value (&results)[kMaxNodes][F], int first, int k) {
      const Node& node = graph.nodes[i];
      if (node.kind == NodeKind::compute && node.function == Function::rotate) {
        const Partner partner = partner_of(kTile, node.head, first + k);
        const Value other = results[node.inputs[0]][partner.value - first];
        return partner.first_half ? -other : other;
      }
      Value x[3] = {};
      for (int j = 0; j < 3; ++j) {
        if (node.inputs[j] >= 0) x[j] = results[node.inputs[j]][k];
      }
      return evaluate_node<typename Config::Functions>(graph, i, in, x);
    }

    AcrossColumns across_columns(int span, int en) const {
      return {
          kTile, span,
          context_.n - context_.at.n * kTile.n - kTile.first_column(en) - Subtiles::column_of_thread(context_.thread)};
    }

    // Where there are other fragments, the graph was refused.
    template <int F>
    void combine(const Node& node, Value (&in)[F], Value (&out)[F], int en) {
      if constexpr (F % kTile.values_of_block() == 0) {
        const AcrossColumns of = across_columns(node.head, en);
        switch (node.function) {
          case Function::across_add:
            return across<Function::across_add>(of, in, out);
          case Function::across_max:
            return across<Function::across_max>(of, in, out);
          case Function::across_amax:
            return across<Function::across_amax>(of, in, out);
          default:
            return top_of(of, node.most, in, out);
        }
      }
    }

    template <int F>
    void store_blocks(int i, const Value (&in)[F], int em, int en) {
      if constexpr (F % kTile.values_of_block() == 0) {
        const Argument& a = params_.graph.arguments[i];
        if (!params_.is_given(i)) return;
        const BlockOutput out{params_.operands[i], context_, a.row_major, params_.graph.rounding};
        const int row0 = context_.at.m * kTile.m + kTile.first_row(em);
        const int block0 = (context_.at.n * kTile.n + kTile.first_column(en)) / a.block;
        visit_element_type(a.element, [&](auto tag) {
          using Element = typename decltype(tag)::type;
          if constexpr (!__is_same(Element, void) && !Complex<Element> && !SubByte<Element>) {
            for_blocks(across_columns(a.block, en), context_.thread, in,
                       [&](int row, int block, Value x) { out.template put<Element>(row0 + row, block0 + block, x); });
          }
        });
      }
    }

    template <class F>
    void for_reductions(const F& f) {
      for (int i = 0; i < params_.graph.node_count; ++i) {
        const Node& node = params_.graph.nodes[i];
        if (node.kind != NodeKind::reduce) continue;
        detail::with_reduction<Config>(node.reduction, [&](auto reduction) { f(node.argument, reduction); });
      }
    }

    template <int F>
    void add(const Node& node, const Value (&in)[F], int first, int em, int en) {
      detail::with_reduction<Config>(node.reduction, [&](auto reduction) {
        using Of = decltype(reduction);
        float* so_far = so_far_[node.argument];
        switch (params_.graph.arguments[node.argument].extent) {
          case Extent::scalar:
            return Of::template add<Extent::scalar>(context_, so_far, in, first, em, en);
          case Extent::row:
            return Of::template add<Extent::row>(context_, so_far, in, first, em, en);
          case Extent::column:
            return Of::template add<Extent::column>(context_, so_far, in, first, em, en);
        }
      });
    }

    // The key of dropout in the tile's D.
    std::uint32_t read_key(int i) const {
      const Operand& operand = params_.operands[i];
      const int words = element_bits(params_.graph.arguments[i].element) / 32;
      auto seed = static_cast<std::uint32_t>(operand.value);
      if (operand.pointer != nullptr) {
        const std::int64_t word = context_.at.batch * operand.batch_stride * words;
        seed = arch::ld(arch::space_global, static_cast<const std::uint32_t*>(operand.pointer) + word);
      }
      return dropout_key(seed, context_.at.d_batch);
    }

    // A scalar, or a vector's value for each of the thread's.
    void read_broadcast(int i, int em, int en) {
      const Argument& a = params_.graph.arguments[i];
      const Operand& operand = params_.operands[i];
      for (int k = 0; k < kTile.values(); ++k) {
        const int m = context_.at.m * kTile.m + kTile.first_row(em) + kTile.row(context_.thread, k);
        const int n = context_.at.n * kTile.n + kTile.first_column(en) + kTile.column(context_.thread, k);
        const int at = a.kind == ArgumentKind::row      ? context_.at.first_column + n
                       : a.kind == ArgumentKind::column ? context_.at.first_row + m
                                                        : 0;
        const bool inside =
            a.kind == ArgumentKind::row ? n < context_.n : a.kind != ArgumentKind::column || m < context_.m;
        values_[i][k] = operand.value;
        if (inside) {
          values_[i][k] =
              detail::load_value<Value>(a.element, operand.pointer, context_.at.batch * operand.batch_stride + at);
        }
      }
    }

    void read_staged(int i, int stage) {
      detail::with_staged_tile<Config, kElements>(params_.graph.arguments[i], [&](auto tile) {
        using Tile = decltype(tile);
        auto registers = Tile::make_registers();
        Tile::read(buffers<Tile>(params_, shared_, i), stage, context_.thread, registers);
        for (int k = 0; k < kTile.values(); ++k) {
          values_[i][k] = convert<Value>(static_cast<typename Tile::Element>(registers.data()[k]));
        }
      });
    }
    void write_staged(int i, int stage) {
      detail::with_staged_tile<Config, kElements>(params_.graph.arguments[i], [&](auto tile) {
        using Tile = decltype(tile);
        auto registers = Tile::make_registers();
        round_outputs<typename Tile::Element>(values_[i]);
        store_values<typename Tile::Element, Rounding::nearest_even>(registers, 0, values_[i]);
        Tile::write(registers, buffers<Tile>(params_, shared_, i), stage, context_.thread);
      });
    }

    // What an element holds, where the graph asks for another rounding than conversions have: they then change nothing.
    template <class Element, int F>
    void round_outputs(Value (&values)[F]) const {
      if (params_.graph.rounding == Rounding::nearest_even) return;
      if constexpr (!Complex<Element>) {
        for (Value& x : values) x = convert<Value>(as_output<Element>(x, params_.graph.rounding));
      }
    }

    Mask mask(int i, int em, int en) const {
      const Operand& operand = params_.operands[i];
      const int first_line = params_.graph.arguments[i].row_major ? context_.at.first_row : context_.at.first_column;
      return {static_cast<std::uint8_t*>(operand.pointer) + context_.at.batch * (operand.batch_stride / 8) +
                  first_line * (operand.stride / 8),
              operand.stride,
              context_.at.m * kTile.m + kTile.first_row(em),
              context_.at.n * kTile.n + kTile.first_column(en),
              context_.m,
              context_.n};
    }
    float* parts(int i) const { return reinterpret_cast<float*>(shared_ + params_.slots.offset[i]); }

    static constexpr int most(int a, int b) { return a > b ? a : b; }
    static constexpr int kKept = floats_of(Reduction::sumexp) * most(row_slots(Config::tile), Config::tile.epi_n / 4);

    const Params& params_;
    unsigned char* shared_;
    TileContext context_;
    std::uint32_t keys_[kMaxArguments] = {};
    Value values_[kMaxArguments][Config::tile.values()] = {};
    float so_far_[kMaxArguments][kKept] = {};
  };

 private:
  template <class F>
  static void for_loaded(const Params& params, const F& f) {
    for (int i = 0; i < params.graph.argument_count; ++i) {
      const Argument& a = params.graph.arguments[i];
      if (a.kind != ArgumentKind::aux_in || is_mask(a) || !params.is_given(i)) continue;
      detail::with_staged_tile<Config, kElements>(a, [&](auto tile) { f(i, tile); });
    }
  }
  template <class F>
  static void for_factors(const Params& params, const F& f) {
    for (int i = 0; i < params.graph.argument_count; ++i) {
      if ((params.factors >> i & 1) != 0) f(i);
    }
  }
  static Value read_scalar(const Params& params, int i, int batch) {
    const Operand& operand = params.operands[i];
    if (operand.pointer == nullptr) return operand.value;
    return detail::load_value<Value>(params.graph.arguments[i].element, operand.pointer, batch * operand.batch_stride);
  }
  template <class Tile>
  static auto* buffers(const Params& params, unsigned char* shared, int i) {
    return reinterpret_cast<typename Tile::Element*>(shared + params.slots.offset[i]);
  }
};

// What a configuration has in the place of a graph. Auxiliary tensors and vectors share kBytes of shared memory; the
// elements of tensors are of kElements, fewer of which compile faster.
template <bool kUsesC, bool kGivesD, int kBytes = 128 * 1024, std::uint32_t kElements = kLoopElements>
struct GraphAtRunTime {
  static constexpr bool kGraphAtRunTime = true;
  // For each math warpgroup, and of parameters.
  static constexpr int kCallbackBytes = kBytes, kCallbackAlignment = 1024,
                       kCallbackParameterBytes = sizeof(LoopOperands);
  static constexpr Graph graph = [] {
    Graph g;
    if (kUsesC) g.add({.kind = NodeKind::source});
    if (kGivesD) g.d = g.add({.kind = NodeKind::accumulator});
    return g;
  }();
  using Functions = UserFunctions<>;
  template <class FusionConfig>
  using Callbacks = LoopCallbacks<FusionConfig, kBytes, kElements>;
};

// The same for gated graphs.
template <bool kUsesC, int kBytes = 128 * 1024, std::uint32_t kElements = kLoopElements>
struct GatedGraphAtRunTime : GraphAtRunTime<kUsesC, true, kBytes, kElements> {
  static constexpr Graph graph = [] {
    Graph g;
    if (kUsesC) g.add({.kind = NodeKind::source});
    g.d = g.add({.kind = NodeKind::gate});
    return g;
  }();
};

}  // namespace gantry::fusion

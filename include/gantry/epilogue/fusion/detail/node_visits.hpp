// One fragment of a subtile through a graph: every node's values, in topological order, with constant indices so that
// they stay in registers. What the nodes need of a tile is read first (broadcasts) or before the subtile (auxiliary
// tensors); what outputs and reductions take is kept until the subtile, or the tile, is done.
#pragma once

#include <gantry/epilogue/fusion/across.hpp>
#include <gantry/epilogue/fusion/detail/halved_sums.hpp>
#include <gantry/epilogue/fusion/detail/kept_values.hpp>
#include <gantry/epilogue/fusion/detail/outputs.hpp>
#include <gantry/epilogue/fusion/dropout.hpp>
#include <gantry/epilogue/fusion/functions.hpp>
#include <gantry/epilogue/fusion/group_operand.hpp>
#include <gantry/epilogue/fusion/rotation.hpp>
#include <gantry/epilogue/fusion/tile_reductions.hpp>

namespace gantry::fusion::detail {

// Element i of a vector. Elements of fewer than 8 bits lie packed, the first in the lowest bits (numeric/packed.hpp).
template <class Value, class Element>
GANTRY_INLINE Value load_value(const void* pointer, std::int64_t i) {
  if constexpr (SubByte<Element>) {
    constexpr int kBits = sizeof_bits_v<Element>;
    const auto* at = static_cast<const std::uint8_t*>(pointer) + i * kBits / 8;
    const int shift = static_cast<int>(i * kBits % 8);
    unsigned window = arch::ld(arch::space_global, at);
    if constexpr (8 % kBits != 0) {
      if (shift + kBits > 8) window |= static_cast<unsigned>(arch::ld(arch::space_global, at + 1)) << 8;
    }
    Element x;
    x.bits = static_cast<std::uint8_t>(window >> shift & ((1u << kBits) - 1));
    return convert<Value>(x);
  } else {
    return convert<Value>(arch::ld(arch::space_global, static_cast<const Element*>(pointer) + i));
  }
}

// Where a graph's arguments live.
template <class Config>
struct GraphSlots {
  static constexpr Slots kSlots =
      make_slots(Config::graph, Config::tile, Config::rings, sizeof(typename Config::Value));
  static constexpr int kArguments = Config::graph.argument_count;
  using Params = fusion::Params<kArguments, kSlots.maps>;
};
template <class Config>
using ParamsOf = typename GraphSlots<Config>::Params;

// Whether an argument was handed over.
template <class Config, int argument>
GANTRY_INLINE bool is_given(const ParamsOf<Config>& params) {
  if constexpr (Config::graph.arguments[argument].has_default) {
    return params.operands[argument].pointer != nullptr;
  } else {
    return true;
  }
}

// Where the scalar of a batch is, and which of the elements there; null: its value.
struct ScalarPlace {
  const void* pointer;
  std::int64_t element;
};
template <class Config>
GANTRY_INLINE ScalarPlace scalar_place(const Operand& operand, int batch) {
  if constexpr (is_pointer_array<Config>()) {
    if (operand.batch_stride == kByAddress) return {group_vector(operand, batch), 0};
  }
  return {operand.pointer, batch * operand.batch_stride};
}

template <class Config, int argument>
GANTRY_INLINE typename Config::Value read_scalar(const ParamsOf<Config>& params, int batch) {
  using Value = typename Config::Value;
  using Element = element_t<Config::graph.arguments[argument].element>;
  const Operand& operand = params.operands[argument];
  const ScalarPlace at = scalar_place<Config>(operand, batch);
  if (at.pointer == nullptr) return convert<Value>(operand.value);
  return load_value<Value, Element>(at.pointer, at.element);
}

// The key of dropout in the tile's D.
template <class Config, int argument>
GANTRY_INLINE std::uint32_t read_key(const ParamsOf<Config>& params, const TileCoordinate& at) {
  using Element = element_t<Config::graph.arguments[argument].element>;
  const Operand& operand = params.operands[argument];
  auto seed = static_cast<std::uint32_t>(operand.value);
  const ScalarPlace place = scalar_place<Config>(operand, at.batch);
  if (place.pointer != nullptr) {
    const Element* given = static_cast<const Element*>(place.pointer) + place.element;
    seed = static_cast<std::uint32_t>(arch::ld(arch::space_global, given));
  }
  return dropout_key(seed, at.d_batch);
}

template <class Config>
struct NodeVisits {
  static constexpr Subtiles kTile = Config::tile;
  using Value = typename Config::Value;
  using Params = ParamsOf<Config>;
  static constexpr Slots kSlots = GraphSlots<Config>::kSlots;

  const Params& params;
  unsigned char* shared;
  TileContext context;
  KeptValues<Config, decltype(make_sequence<Config::graph.argument_count>{})> kept;

  GANTRY_INLINE NodeVisits(const Params& p, unsigned char* s, const TileContext& c)
      : params(p), shared(s), context(c) {}

  // Values first, first + 1, ... of subtile (em, en): `acc` and `c` of each, the value of D into `d`. Of a gated graph
  // `acc` has the accumulators of the gate, and then those of up.
  template <int A, int F>
  GANTRY_INLINE void visit(const Value (&acc)[A], const Value (&c)[F], Value (&d)[F], int first, int em, int en) {
    static_assert(F % 4 == 0, "gantry: a fragment holds whole runs of four accumulators");
    static_assert(A == (Config::graph.gated() ? 2 * F : F), "gantry: a gated value has two accumulators, another one");
    constexpr int kNodes = Config::graph.node_count == 0 ? 1 : Config::graph.node_count;
    Value values[kNodes][F];
    for_each_index<Config::graph.node_count>([&](auto i) {
      constexpr int number = decltype(i)::value;
      visit_node<number, F>(values, acc, c, first, em, en);
      if constexpr (is_rounded(Config::graph, number)) {
        GANTRY_UNROLL
        for (int k = 0; k < F; ++k) values[number][k] = round_to<Config::graph.compute_element>(values[number][k]);
      }
    });
    if constexpr (Config::graph.d >= 0) {
      constexpr int kD = Config::graph.d;
      GANTRY_UNROLL
      for (int k = 0; k < F; ++k) d[k] = values[kD][k];
    }
  }

  // The tile where its functions are called with run-time values.
  GANTRY_HD static constexpr Subtiles tile() { return Config::tile; }
  GANTRY_INLINE int row_of_tile() const { return context.at.m * kTile.m; }
  GANTRY_INLINE int column_of_tile() const { return context.at.n * kTile.n; }

  // Nodes whose value is half of what the graph says, for functions that take half.
  template <int number>
  GANTRY_HD static constexpr bool is_halved() {
    constexpr Node node = Config::graph.nodes[number];
    if constexpr (!__is_same(Value, float)) {
      return false;
    } else if constexpr (node.kind == NodeKind::row) {
      return is_halved_row(Config::graph, node.argument);
    } else {
      return is_halved_sum(Config::graph, number);
    }
  }

  // ---- Broadcasts

  // A vector of the tile's batch, from element `first` on; of a pointer array, of its GEMM.
  struct Vector {
    const void* pointer;
    std::int64_t first;
  };
  template <int argument>
  GANTRY_INLINE Vector vector_of() const {
    const Operand& operand = params.operands[argument];
    if constexpr (is_pointer_array<Config>()) {
      return {group_vector(operand, context.at.batch), 0};
    } else {
      return {operand.pointer, context.at.batch * operand.batch_stride};
    }
  }

  template <int argument>
  GANTRY_INLINE Value* row_buffer() const {
    return reinterpret_cast<Value*>(shared + Constant<kSlots.offset[argument]>::value);
  }

  template <int argument>
  GANTRY_INLINE void begin_row() {
    using Element = element_t<Config::graph.arguments[argument].element>;
    const Operand& operand = params.operands[argument];
    const Vector vector = vector_of<argument>();
    constexpr int kEach = (kTile.n + kTile.threads() - 1) / kTile.threads();
    Value values[kEach];  // all are on their way before the first is waited for
    GANTRY_UNROLL
    for (int k = 0; k < kEach; ++k) {
      const int i = context.thread + k * kTile.threads();
      const int n = column_of_tile() + i;
      values[k] = convert<Value>(operand.value);
      if (vector.pointer != nullptr && i < kTile.n && n < context.n) {
        values[k] = load_value<Value, Element>(vector.pointer, vector.first + context.at.first_column + n);
      }
    }
    if constexpr (__is_same(Value, float) && is_halved_row(Config::graph, argument)) {
      GANTRY_UNROLL
      for (int k = 0; k < kEach; ++k) values[k] *= 0.5f;
    }
    GANTRY_UNROLL
    for (int k = 0; k < kEach; ++k) {
      const int i = context.thread + k * kTile.threads();
      if (i < kTile.n) arch::st(arch::space_shared, row_buffer<argument>() + i, values[k]);
    }
  }

  template <int argument>
  GANTRY_INLINE void begin_column() {
    using Element = element_t<Config::graph.arguments[argument].element>;
    const Operand& operand = params.operands[argument];
    const Vector vector = vector_of<argument>();
    auto& values = get<argument>(kept);
    GANTRY_UNROLL
    for (int i = 0; i < kTile.m / kTile.mma_m() * 2; ++i) {
      const int m = row_of_tile() + i / 2 * kTile.mma_m() + i % 2 * 8 + Subtiles::row_of_thread(context.thread);
      values[i] = convert<Value>(operand.value);
      if (vector.pointer != nullptr && m < context.m) {
        values[i] = load_value<Value, Element>(vector.pointer, vector.first + context.at.first_row + m);
      }
    }
  }

  // ---- Nodes

  template <int number, int F, int A, int N>
  GANTRY_INLINE void visit_node(Value (&values)[N][F], const Value (&acc)[A], const Value (&c)[F], int first, int em,
                                int en) {
    constexpr Node node = Config::graph.nodes[number];
    constexpr int argument = node.argument;
    Value(&out)[F] = values[number];
    if constexpr (node.kind == NodeKind::accumulator || node.kind == NodeKind::gate) {
      GANTRY_UNROLL
      for (int k = 0; k < F; ++k) out[k] = acc[k];
    } else if constexpr (node.kind == NodeKind::up) {
      GANTRY_UNROLL
      for (int k = 0; k < F; ++k) out[k] = acc[F + k];
    } else if constexpr (node.kind == NodeKind::source) {
      GANTRY_UNROLL
      for (int k = 0; k < F; ++k) out[k] = c[k];
    } else if constexpr (node.kind == NodeKind::constant) {
      GANTRY_UNROLL
      for (int k = 0; k < F; ++k) out[k] = convert<Value>(node.constant);
    } else if constexpr (node.kind == NodeKind::scalar) {
      GANTRY_UNROLL
      for (int k = 0; k < F; ++k) out[k] = get<argument>(kept);
    } else if constexpr (node.kind == NodeKind::row) {
      visit_row<argument>(out, first, en);
    } else if constexpr (node.kind == NodeKind::column) {
      GANTRY_UNROLL
      for (int k = 0; k < F; ++k) out[k] = get<argument>(kept)[row_slot(tile(), em, first + k)];
    } else if constexpr (node.kind == NodeKind::aux_load) {
      visit_auxiliary<argument>(out, first);
    } else if constexpr (node.kind == NodeKind::keep) {
      visit_keep<number>(out, first, em, en);
    } else if constexpr (node.kind == NodeKind::compute && node.function == Function::rotate) {
      visit_rotation<number>(values);
    } else if constexpr (is_across(node)) {
      visit_across<number>(values, first, em, en);
    } else if constexpr (node.kind == NodeKind::compute) {
      visit_compute<number>(values);
    } else if constexpr (node.kind == NodeKind::aux_store) {
      if constexpr (is_by_block(Config::graph.arguments[argument])) {
        visit_block_store<argument>(values[node.inputs[0]], em, en);
      } else {
        visit_store<argument>(values[node.inputs[0]], first);
      }
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
    const Value* at = row_buffer<argument>() + tile().first_column(en) + Subtiles::column_of_thread(context.thread);
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
    auto& mine = get<argument>(kept);
    if (!is_given<Config, argument>(params)) {
      GANTRY_UNROLL
      for (int k = 0; k < F; ++k) out[k] = convert<Value>(params.operands[argument].value);
      return;
    }
    GANTRY_UNROLL
    for (int k = 0; k < F; ++k) {
      if constexpr (is_mask(a)) {
        out[k] = convert<Value>(mine[first + k] ? 1.0f : 0.0f);
      } else {
        out[k] = convert<Value>(static_cast<element_t<a.element>>(mine.data()[first + k]));
      }
    }
  }

  // Neighbouring columns of D share their words; where the kernel computes D^T, its neighbours are rows of D.
  template <int number, int F>
  GANTRY_INLINE void visit_keep(Value (&out)[F], int first, int em, int en) {
    constexpr Node node = Config::graph.nodes[number];
    constexpr std::uint32_t kThreshold = drop_threshold(node.constant);
    const std::uint32_t key = key_of<node.argument>(kept);
    const int row0 =
        context.at.first_row + row_of_tile() + tile().first_row(em) + Subtiles::row_of_thread(context.thread);
    const int column0 = context.at.first_column + column_of_tile() + tile().first_column(en) +
                        Subtiles::column_of_thread(context.thread);
    GANTRY_UNROLL
    for (int k = 0; k < F; k += 2) {
      const int row = row0 + tile().row_of_value(first + k);
      const int column = column0 + tile().column_of_value(first + k);
      bool kept_first, kept_second;
      if constexpr (node.swapped) {
        kept_first = keeps({kThreshold, key}, column, row);
        kept_second = keeps({kThreshold, key}, column + 1, row);
      } else {
        const PhiloxWords words = dropout_words(key, row, column / 2);
        kept_first = words.x >= kThreshold;
        kept_second = words.y >= kThreshold;
      }
      out[k] = convert<Value>(kept_first ? 1.0f : 0.0f);
      out[k + 1] = convert<Value>(kept_second ? 1.0f : 0.0f);
    }
  }

  template <int number, int F, int N>
  GANTRY_INLINE static void visit_rotation(Value (&values)[N][F]) {
    constexpr Node node = Config::graph.nodes[number];
    constexpr Subtiles kSubtiles = Config::tile;
    constexpr int kHead = node.head;
    static_assert(has_whole_spans(kSubtiles, F, kHead), "gantry: a fragment has both columns of every pair");
    GANTRY_UNROLL
    for (int k = 0; k < F; ++k) {  // fragments of whole heads begin where heads do
      const Partner partner = partner_of(kSubtiles, kHead, k);
      const Value other = values[node.inputs[0]][partner.value];
      values[number][k] = partner.first_half ? -other : other;
    }
  }

  // `columns` as the problem has them from the thread's first one of the subtile on.
  GANTRY_INLINE AcrossColumns across_columns(int span, int en) const {
    return {Config::tile, span,
            context.n - column_of_tile() - tile().first_column(en) - Subtiles::column_of_thread(context.thread)};
  }

  template <int number, int F, int N>
  GANTRY_INLINE void visit_across(Value (&values)[N][F], int first, int em, int en) {
    constexpr Node node = Config::graph.nodes[number];
    constexpr Subtiles kSubtiles = Config::tile;
    static_assert(has_whole_spans(kSubtiles, F, node.head), "gantry: a fragment has all columns of every span");
    const AcrossColumns of = across_columns(node.head, en);
    if constexpr (node.head == kWholeRow && kSubtiles.row_ctas.count > 1) {
      if (context.tiles_n > 1) {
        using Exchange = RowExchange<Config>;
        constexpr int kFragments = kSubtiles.values() / F, kBefore = exchanges_of(Config::graph, number);
        const std::uint32_t fragment =
            (context.tiles * static_cast<std::uint32_t>(kSubtiles.along_m()) + static_cast<std::uint32_t>(em)) *
                kFragments +
            static_cast<std::uint32_t>(first / F);
        return combine_columns<number>(of, values,
                                       Exchange{shared + Constant<kSlots.exchange>::value, context.thread,
                                                context.tiles_n, fragment * Exchange::kNodes + kBefore});
      }
    }
    combine_columns<number>(of, values, NoExchange{});
  }

  template <int number, int F, int N, class Exchange>
  GANTRY_INLINE static void combine_columns(const AcrossColumns& of, Value (&values)[N][F], const Exchange& exchange) {
    constexpr Node node = Config::graph.nodes[number];
    if constexpr (node.function == Function::top_k) {
      top_of(of, node.most, values[node.inputs[0]], values[number], exchange);
    } else {
      across<node.function>(of, values[node.inputs[0]], values[number], exchange);
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
      } else if constexpr (is_halved<number>()) {
        values[number][k] = (is_halved<a>() ? x : x * 0.5f) + (is_halved<b>() ? y : y * 0.5f);
      } else if constexpr (takes_half(node.function) && is_halved<a>()) {
        values[number][k] = FunctionEntry<node.function>::of_half(x);
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
    auto& mine = get<argument>(kept);
    if constexpr (is_mask(a)) {
      GANTRY_UNROLL
      for (int k = 0; k < F; ++k) mine.set(first + k, !(in[k] == Value{}));
    } else {
      store_values<element_t<a.element>, Config::graph.rounding>(mine, first, in);
    }
  }

  // One element for each block of columns, straight to global memory.
  template <int argument, int F>
  GANTRY_INLINE void visit_block_store(const Value (&in)[F], int em, int en) {
    constexpr Argument a = Config::graph.arguments[argument];
    if (!is_given<Config, argument>(params)) return;
    if (a.block == kWholeRow && column_of_tile() > 0) return;  // the row's first CTA stores what all of them have
    const AcrossColumns of = across_columns(a.block, en);
    const BlockOutput out{params.operands[argument], context, a.row_major, Config::graph.rounding};
    const int row0 = row_of_tile() + tile().first_row(em),
              block0 = (column_of_tile() + tile().first_column(en)) / a.block;
    for_blocks(of, context.thread, in, [&](int row, int block, Value x) {
      out.template put<element_t<a.element>>(row0 + row, block0 + block, x);
    });
  }

  // ---- Reductions

  template <int argument>
  using Reducer = TileReduction<Config, reduction_of(Config::graph, argument)>;
  template <int argument>
  GANTRY_INLINE float* parts() const {
    return reinterpret_cast<float*>(shared + Constant<kSlots.offset[argument]>::value);
  }

  template <int argument, int F>
  GANTRY_INLINE void visit_reduction(const Value (&in)[F], int first, int em, int en) {
    static_assert(__is_same(Value, float), "gantry: a reduction needs real values, and this epilogue has complex ones");
    constexpr Extent extent = Config::graph.arguments[argument].extent;
    Reducer<argument>::template add<extent>(context, get<argument>(kept), in, first, em, en);
  }
};

}  // namespace gantry::fusion::detail

// Random fusion graphs, and random problems to run them on, from a seed.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gantry/epilogue/fusion/reference.hpp>

namespace gantry::fusion::testing {

struct RandomGraphOptions {
  int most_functions = 16;
  bool source = true;
  bool scalars = true;
  bool vectors = true;
  bool aux_loads = true;
  bool aux_stores = true;
  bool masks = true;  // auxiliary tensors of one bit
  bool reductions = true;
  bool void_d = true;      // sometimes no D
  int user_functions = 0;  // of one input each
  int longest_head = 0;    // of what is rotated; 0: nothing is
  bool dropout = false;    // sometimes the mask of dropout
  int block = 0;           // columns of a row that are combined; 0: none are
};

class RandomGraph {
 public:
  RandomGraph(std::uint64_t seed, const RandomGraphOptions& options) : random_(seed), options_(options) {}

  // In canonical form, and such that `check` accepts it.
  Graph make() {
    values_.push_back(add({.kind = NodeKind::accumulator}));
    if (options_.source && chance(60)) values_.push_back(add({.kind = NodeKind::source}));
    const int functions = 1 + below(options_.most_functions);
    for (int i = 0; i < functions && graph_.node_count < kMaxNodes - 12; ++i) {
      if (chance(50)) leaf();
      function();
    }
    outputs();
    return canonical(graph_);
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }

  int add(const Node& node) { return intern(graph_, node); }
  int any() { return values_[static_cast<std::size_t>(below(static_cast<int>(values_.size())))]; }
  // The last values more often, so that graphs grow deep.
  int recent() { return chance(60) ? values_.back() : any(); }
  // Another one, where there is another one.
  int other_than(int x) {
    int y = any();
    for (int tries = 0; tries < 4 && y == x; ++tries) y = any();
    return y;
  }
  // A leaf is there to be read, and is not what the next function goes on from.
  void offer(int leaf) { values_.insert(values_.begin(), leaf); }
  int constant(float x) { return add({.kind = NodeKind::constant, .constant = x}); }
  int compute(Function f, int a, int b = -1, int c = -1) {
    Node node{.kind = NodeKind::compute, .function = f};
    node.inputs[0] = static_cast<std::int8_t>(a);
    node.inputs[1] = static_cast<std::int8_t>(b);
    node.inputs[2] = static_cast<std::int8_t>(c);
    return add(node);
  }
  ElementType element() {
    constexpr ElementType kElements[] = {ElementType::f32,  ElementType::f32,  ElementType::f16, ElementType::bf16,
                                         ElementType::e4m3, ElementType::e5m2, ElementType::s8};
    return kElements[below(7)];
  }
  std::string name(const char* stem) { return stem + std::to_string(graph_.argument_count); }

  int argument(const char* stem, ArgumentKind kind) {
    Argument out{.name = name(stem).c_str(), .kind = kind, .element = element()};
    out.has_default = chance(40);
    if (out.has_default && !is_output(kind)) out.value = static_cast<float>(below(9) - 4) * 0.5f;
    if (is_tensor(kind)) out.row_major = chance(60);
    if (is_tensor(kind) && options_.masks && chance(20)) out.element = ElementType::u1;
    if (kind == ArgumentKind::reduction) {
      constexpr ElementType kResults[] = {ElementType::bf16, ElementType::f16, ElementType::s32};
      out.element = chance(25) ? kResults[below(3)] : ElementType::f32;
      out.extent = static_cast<Extent>(below(3));
      out.deterministic = chance(30);
    }
    return graph_.add_argument(out);
  }

  void leaf() {
    const int kind = below(options_.dropout ? 6 : 5);
    if (graph_.argument_count >= kMaxArguments - 6) return;
    if (kind == 0) {
      constexpr float kConstants[] = {0, 1, -1, 0.5f, 2, -0.0f, 0.1f, 1e-3f, 3};
      offer(constant(kConstants[below(9)]));
    } else if (kind == 1 && options_.scalars) {
      load("s", NodeKind::scalar, ArgumentKind::scalar);
    } else if (kind == 2 && options_.vectors) {
      load("r", NodeKind::row, ArgumentKind::row);
    } else if (kind == 3 && options_.vectors) {
      load("k", NodeKind::column, ArgumentKind::column);
    } else if (kind == 4 && options_.aux_loads && graph_.count(ArgumentKind::aux_in) < 2) {
      load("x", NodeKind::aux_load, ArgumentKind::aux_in);
    } else if (kind == 5) {
      Argument seed{.name = name("q").c_str(), .element = chance(50) ? ElementType::u32 : ElementType::s64};
      seed.has_default = chance(40);
      if (seed.has_default) seed.value = static_cast<float>(below(1000));
      const auto index = static_cast<std::int8_t>(graph_.add_argument(seed));
      offer(add({.kind = NodeKind::keep, .argument = index, .constant = static_cast<float>(below(4)) * 0.25f}));
    }
  }
  void load(const char* stem, NodeKind node, ArgumentKind kind) {
    offer(add({.kind = node, .argument = static_cast<std::int8_t>(argument(stem, kind))}));
  }

  // A function of values that are there, kept inside its domain.
  void function() {
    const auto f = static_cast<Function>(below(kFunctionCount));
    const int x = recent();
    int out = -1;
    switch (f) {
      case Function::divide:
      case Function::snake:
        out = compute(f, x, compute(Function::max, compute(Function::abs, any()), constant(0.5f)));
        break;
      case Function::rcp:
        out = compute(f, compute(Function::add, compute(Function::abs, x), constant(1)));
        break;
      case Function::sqrt:
        out = compute(f, compute(Function::abs, x));
        break;
      case Function::log:
        out = compute(f, compute(Function::add, compute(Function::abs, x), constant(0.5f)));
        break;
      case Function::exp:
        out = compute(f, compute(Function::clamp, x, constant(-8), constant(4)));
        break;
      case Function::square:
        out = compute(f, compute(Function::min, x, constant(64)));
        break;
      case Function::round: {
        Node node{.kind = NodeKind::compute, .function = f, .element = element()};
        node.inputs[0] = static_cast<std::int8_t>(x);
        out = add(node);
        break;
      }
      case Function::rotate: {
        if (options_.longest_head == 0) return;
        Node node{.kind = NodeKind::compute, .function = f};
        node.inputs[0] = static_cast<std::int8_t>(x);
        node.head = static_cast<std::int16_t>(chance(50) ? 2 : options_.longest_head);
        out = add(node);
        break;
      }
      case Function::across_add:
      case Function::across_max:
      case Function::across_amax: {
        if (options_.block == 0) return;
        Node node{.kind = NodeKind::compute, .function = f, .head = static_cast<std::int16_t>(options_.block)};
        node.inputs[0] = static_cast<std::int8_t>(x);
        out = add(node);
        break;
      }
      case Function::top_k:  // of whole rows, which the tiles of few tests have
        return;
      case Function::user: {
        if (options_.user_functions == 0) return;
        Node node{.kind = NodeKind::compute, .function = f};
        node.inputs[0] = static_cast<std::int8_t>(x);
        node.user = static_cast<std::int8_t>(below(options_.user_functions));
        out = add(node);
        break;
      }
      default: {
        const int y = arity(f) > 1 ? other_than(x) : -1;
        out = compute(f, x, y, arity(f) > 2 ? other_than(y) : -1);
      }
    }
    values_.push_back(out);
  }

  void outputs() {
    const bool has_d = !options_.void_d || chance(85);
    if (has_d) graph_.d = recent();
    const int stores = options_.aux_stores ? below(3) : 0;
    for (int i = 0; i < stores || (!has_d && i < 1); ++i) {
      sink({.kind = NodeKind::aux_store}, argument("y", ArgumentKind::aux_out));
    }
    const int sums = options_.reductions ? below(3) : 0;
    for (int i = 0; i < sums; ++i) {
      const int index = argument("sum", ArgumentKind::reduction);  // drawn first by every compiler
      sink({.kind = NodeKind::reduce, .reduction = static_cast<Reduction>(below(6))}, index);
    }
  }
  void sink(Node node, int index) {
    node.inputs[0] = static_cast<std::int8_t>(recent());
    node.argument = static_cast<std::int8_t>(index);
    // A bit for each block would be refused.
    Argument& argument = graph_.arguments[index];
    if (argument.element == ElementType::u1 && block_of(graph_, node.inputs[0]) > 0)
      argument.element = ElementType::f32;
    // What follows may read it, and then reads the value that it was given.
    values_.push_back(graph_.add(node));
  }

  std::mt19937_64 random_;
  RandomGraphOptions options_;
  Graph graph_;
  std::vector<int> values_;
};

inline Graph random_graph(std::uint64_t seed, const RandomGraphOptions& options = {}) {
  return RandomGraph(seed, options).make();
}

// A problem for a graph: accumulators, C, and every argument in host memory, with padded strides and batches.
struct RandomProblem {
  Graph graph;
  ReferenceProblem problem;
  std::vector<std::uint8_t> accumulators;
  std::vector<std::uint8_t> source;
  std::vector<std::vector<std::uint8_t>> buffers;  // of each argument; empty where it was left out
  std::unique_ptr<FusionArguments> arguments;
};

inline std::vector<std::uint8_t> random_elements(std::mt19937_64& random, ElementType element, std::int64_t count) {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(bytes_for(element, count) + 16));
  const bool whole = random() % 3 == 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    double x = (unit - 0.5) * 12;
    if (whole) x = static_cast<double>(static_cast<std::int64_t>(x));
    if (element == ElementType::u1) x = unit < 0.5 ? 0 : 1;
    store_from_double(element, out.data(), i, x);
  }
  return out;
}

inline RandomProblem random_problem(std::uint64_t seed, const Graph& graph, const ProblemShape& shape) {
  std::mt19937_64 random(seed);
  RandomProblem out;
  out.graph = graph;
  out.problem.shape = shape;
  constexpr ElementType kAccumulators[] = {ElementType::f32, ElementType::f32, ElementType::s32};
  const ElementType accumulator = kAccumulators[random() % 3];
  const std::int64_t elements = shape.m * shape.n * shape.batch;
  out.accumulators = random_elements(random, accumulator, elements);
  out.problem.accumulators = {accumulator, out.accumulators.data(), shape.n, 1, shape.m * shape.n};
  out.source = random_elements(random, ElementType::bf16, elements);
  out.problem.source = {ElementType::bf16, out.source.data(), 1, shape.m, shape.m * shape.n};
  constexpr ElementType kD[] = {ElementType::f32, ElementType::bf16, ElementType::f16, ElementType::e4m3};
  out.problem.d_element = kD[random() % 4];
  out.arguments = std::make_unique<FusionArguments>(graph);
  out.buffers.resize(static_cast<std::size_t>(graph.argument_count));
  for (int i = 0; i < graph.argument_count; ++i) {
    const Argument& argument = graph.arguments[i];
    if (argument.has_default && !is_output(argument.kind) && random() % 2 == 0) continue;
    auto& buffer = out.buffers[static_cast<std::size_t>(i)];
    auto slot = (*out.arguments)[argument.name.text];
    if (is_tensor(argument.kind)) {
      // Whole units of 16 bytes, as TMA needs them, and sometimes one more.
      const std::int64_t unit = 128 / info(argument.element).bits;
      const std::int64_t columns = columns_of(argument, shape.n), extent = argument.row_major ? columns : shape.m;
      const std::int64_t stride = (extent + unit - 1 + static_cast<std::int64_t>(random() % 2) * unit) / unit * unit;
      const std::int64_t batch_stride = stride * (argument.row_major ? shape.m : columns);
      buffer = random_elements(random, argument.element, batch_stride * shape.batch);
      slot.tensor(static_cast<void*>(buffer.data()), stride, batch_stride);
      continue;
    }
    const Extent extent = argument.kind == ArgumentKind::row      ? Extent::row
                          : argument.kind == ArgumentKind::column ? Extent::column
                                                                  : argument.extent;
    const std::int64_t count = extent == Extent::row ? shape.n : extent == Extent::column ? shape.m : 1;
    buffer = random_elements(random, argument.element, count * shape.batch);
    slot.batched(static_cast<void*>(buffer.data()), random() % 2 == 0 ? count : 0);
  }
  return out;
}

}  // namespace gantry::fusion::testing

// What the host hands to an epilogue, and the kernel parameters made of it: tensor maps over the actual pointers and
// strides of C, D and auxiliary tensors, and the operands of the graph.
//
// can_implement checks them all and returns every reason why the kernel cannot run, as sentences. get_workspace_size,
// initialize_workspace (before every run: atomics start from identities, counters from zero) and
// to_underlying_arguments require that it returned none.
//
// Example at namespace scope:
//     #include <gantry/epilogue/builder.hpp>
//     #include <gantry/epilogue/fusion/parse.hpp>
//     struct BiasRelu {
//       static constexpr gantry::EpiloguePolicy policy =
//           gantry::CollectiveBuilder{.tile = {128, 128, 64}, .d = gantry::ElementType::bf16}.policy();
//       static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = relu(acc + row(bias))");
//       using Functions = gantry::fusion::UserFunctions<>;
//     };
//     inline std::vector<std::string> reasons(gantry::bf16* d, const float* bias) {
//       gantry::EpilogueArguments<BiasRelu> arguments;
//       arguments.d = {.pointer = d, .stride = 100};  // 200 bytes: not a multiple of 16, and the answer says so
//       arguments.fusion["bias"] = bias;
//       return gantry::can_implement<BiasRelu>({.m = 256, .n = 100, .k = 64}, arguments);
//     }
#pragma once

#include <string>
#include <vector>

#include <gantry/arch/launch.hpp>
#include <gantry/epilogue/fusion/arguments.hpp>
#include <gantry/epilogue/no_smem.hpp>
#include <gantry/epilogue/workspace.hpp>

namespace gantry {

// A batch of matrices in global memory, row- or column-major as the policy says.
struct EpilogueMatrix {
  void* pointer = nullptr;
  std::int64_t stride = 0;        // elements from one row (column) to the next
  std::int64_t batch_stride = 0;  // elements from one matrix to the next
};

template <class Config>
struct EpilogueArguments {
  // Written out: nvcc takes a defaulted constructor for device code too, and would want the graph on the device.
  EpilogueArguments() {}  // NOLINT(modernize-use-equals-default)

  EpilogueMatrix c{};
  EpilogueMatrix d{};
  fusion::ArgumentsFor<Config> fusion{};
};
// Of callbacks that take their graph at run time (fusion/loop_callbacks.hpp).
template <class Config>
requires(Config::kGraphAtRunTime) struct EpilogueArguments<Config> {
  explicit EpilogueArguments(const fusion::Graph& graph) : fusion(graph) {}

  EpilogueMatrix c{};
  EpilogueMatrix d{};
  fusion::FusionArguments fusion;
};

namespace detail {

template <TmaOp op>
struct TmaOpTag {
  static constexpr TmaOp value = op;
};

inline fusion::ProblemShape shape_of(const EpilogueProblem& p) { return {.m = p.m, .n = p.n, .l = p.l}; }

// The TMA plan of one operand of an epilogue, over the actual tensor.
template <class Tile, TmaOp op>
TmaPlan bind_matrix(const EpilogueMatrix& matrix, const EpilogueProblem& p) {
  GlobalTensor tensor{.address = reinterpret_cast<std::uint64_t>(matrix.pointer),
                      .element = element_type_v<typename Tile::Element>,
                      .layout = {}};
  const Int stride(matrix.stride);
  const Int batch(p.l > 1 ? matrix.batch_stride : matrix.stride * (Tile::row_major ? p.m : p.n));
  tensor.layout = make_layout(make_shape(p.m, p.n, p.l),
                              Tile::row_major ? make_stride(stride, _1, batch) : make_stride(_1, stride, batch));
  return bind(Tile::template Plan<op>::value, tensor);
}

// Every reason why a matrix cannot be copied, each after `name`.
class MatrixReasons {
 public:
  MatrixReasons(std::vector<std::string>& out, const EpilogueProblem& p) : out_(out), problem_(p) {}

  // What TMA moves.
  template <class Tile, TmaOp op>
  void check(const std::string& name, const EpilogueMatrix& matrix) const {
    if (!check_strides(name, matrix, Tile::row_major, op == TmaOp::store)) return;
    const TmaPlan plan = bind_matrix<Tile, op>(matrix, problem_);
    for (const TmaReason& r : plan.reasons) {
      if (verdict_of(r) != TmaVerdict::legal) out_.push_back(name + ": " + describe(r).c_str());
    }
    for (const TmaViolation& v : check_map(plan)) {
      // What lies behind a row may be somebody else's.
      const bool writes_beyond = v.rule == TmaRule::store_ends_inside_chunk;
      if (writes_beyond || verdict_of(v) != TmaVerdict::legal) out_.push_back(name + ": " + describe(v).c_str());
    }
  }

  // What threads read and write element by element.
  template <class Element>
  void check_elements(const std::string& name, const EpilogueMatrix& matrix, bool row_major, bool written) const {
    check_strides(name, matrix, row_major, written);
    const auto past = reinterpret_cast<std::uintptr_t>(matrix.pointer) % alignof(Element);
    if (past != 0) {
      out_.push_back(name + ": it begins " + std::to_string(past) + " bytes beyond a multiple of " +
                     std::to_string(alignof(Element)) + ", the size of its elements");
    }
  }

 private:
  bool check_strides(const std::string& name, const EpilogueMatrix& matrix, bool row_major, bool written) const {
    const int extent = row_major ? problem_.n : problem_.m;
    if (matrix.stride < extent) {
      out_.push_back(name + ": its " + (row_major ? "rows" : "columns") + " have " + std::to_string(extent) +
                     " elements and lie " + std::to_string(matrix.stride) + " apart; the stride is " +
                     std::to_string(extent) + " or more");
      return false;
    }
    if (written && problem_.l > 1 && matrix.batch_stride == 0) {
      out_.push_back(name + ": " + std::to_string(problem_.l) +
                     " batches are written to the same place; the batch stride is not 0");
      return false;
    }
    return true;
  }

  std::vector<std::string>& out_;
  EpilogueProblem problem_;
};

inline void check_problem(const EpilogueProblem& p, std::vector<std::string>& out) {
  const auto check = [&](const char* name, int extent) {
    if (extent >= 1) return;
    out.push_back(std::string("the problem has ") + name + " = " + std::to_string(extent) +
                  "; an epilogue needs 1 or more");
  };
  check("M", p.m);
  check("N", p.n);
  check("L", p.l);
}

// Bytes hold whole bits of one row.
inline void check_mask(const fusion::Argument& a, const fusion::ArgumentValue& v, int batches,
                       std::vector<std::string>& out) {
  const auto check = [&](const char* what, std::int64_t bits) {
    if (bits % 8 == 0) return;
    out.push_back(std::string(a.name.text) + ": " + what + " of a 1-bit tensor is whole bytes, a multiple of 8, and " +
                  std::to_string(bits) + " bits were given; the next that works is " +
                  std::to_string(bits / 8 * 8 + 8));
  };
  check("the stride", v.stride);
  if (batches > 1) check("the batch stride", v.batch_stride);
}

}  // namespace detail

// Bytes of workspace, 0 where no reduction is deterministic. The memory begins at a multiple of 16.
template <class Config>
std::size_t get_workspace_size(const EpilogueProblem& problem, const EpilogueArguments<Config>& arguments) {
  return static_cast<std::size_t>(workspace_layout(arguments.fusion.graph(), EpilogueOf<Config>::kTile, problem).bytes);
}

namespace detail {

// What the graph and the policy say of each other.
template <class Config>
void check_graph(const fusion::Graph& graph, std::vector<std::string>& out) {
  using Collective = EpilogueOf<Config>;
  if (graph.uses_source() && !Collective::kHasC) out.emplace_back("the expression uses C, and the policy has none");
  if ((graph.d >= 0) != Collective::kHasD) {
    out.emplace_back(graph.d >= 0 ? "the expression gives D, and the policy has none"
                                  : "the policy has D, and the expression gives none");
  }
  if constexpr (requires { Collective::Fusion::problems(graph); }) {
    for (const std::string& p : Collective::Fusion::problems(graph)) out.push_back(p);
  }
}

template <class Config>
void check_source(const EpilogueMatrix& c, const fusion::Graph& graph, const fusion::ResolvedArguments& values,
                  const MatrixReasons& matrices, std::vector<std::string>& out) {
  using Collective = EpilogueOf<Config>;
  if constexpr (Collective::kHasC) {
    const int scale = fusion::detail::scale_of_source(graph);
    const bool surely = graph.uses_source() &&
                        (scale < 0 || (values.values[scale].pointer == nullptr && values.values[scale].value != 0));
    if (c.pointer == nullptr) {
      if (surely) out.emplace_back("C was not given: the expression uses it, and no factor is 0");
    } else if constexpr (Collective::kUsesTma) {
      matrices.template check<typename Collective::TileC, TmaOp::load>("C", c);
    } else {
      matrices.template check_elements<typename Collective::ElementC>("C", c, Collective::kRowsC, false);
    }
  }
}

template <class Config>
void check_destination(const EpilogueMatrix& d, const MatrixReasons& matrices, std::vector<std::string>& out) {
  using Collective = EpilogueOf<Config>;
  if constexpr (Collective::kHasD) {
    if (d.pointer == nullptr) {
      out.emplace_back("D was not given");
    } else if constexpr (Collective::kUsesTma) {
      matrices.template check<typename Collective::TileD, TmaOp::store>("D", d);
    } else {
      matrices.template check_elements<typename Collective::ElementD>("D", d, Collective::kRowsD, true);
    }
  }
}

// Auxiliary tensors that travel by TMA. What their strides alone say has been said already.
template <class Config>
void check_staged(const fusion::Graph& graph, const fusion::ResolvedArguments& values, const EpilogueProblem& problem,
                  const MatrixReasons& matrices) {
  EpilogueOf<Config>::Fusion::for_staged(graph, [&](int i, int, auto tile) {
    using Tile = decltype(tile);
    const fusion::Argument& a = graph.arguments[i];
    const fusion::ArgumentValue& v = values.values[i];
    const bool stored = a.kind == fusion::ArgumentKind::aux_out;
    const bool told =
        v.stride < (Tile::row_major ? problem.n : problem.m) || (stored && problem.l > 1 && v.batch_stride == 0);
    if (v.pointer == nullptr || told) return;
    const EpilogueMatrix matrix{v.pointer, v.stride, v.batch_stride};
    if (stored) {
      matrices.template check<Tile, TmaOp::store>(a.name.text, matrix);
    } else {
      matrices.template check<Tile, TmaOp::load>(a.name.text, matrix);
    }
  });
}

inline void check_workspace(std::size_t bytes, const void* workspace, std::vector<std::string>& out) {
  const std::uintptr_t beyond = reinterpret_cast<std::uintptr_t>(workspace) % 16;
  if (bytes > 0 && workspace == nullptr) {
    out.push_back("deterministic reductions need " + std::to_string(bytes) + " bytes of workspace, and none was given");
  } else if (bytes > 0 && beyond != 0) {
    out.push_back("the workspace begins at a multiple of 16 bytes, and the one given " + std::to_string(beyond) +
                  " beyond");
  }
}

}  // namespace detail

// Every reason why the epilogue cannot run on this problem with these arguments; none: it can.
template <class Config>
std::vector<std::string> can_implement(const EpilogueProblem& problem, const EpilogueArguments<Config>& arguments,
                                       const void* workspace = nullptr) {
  const fusion::Graph& graph = arguments.fusion.graph();
  std::vector<std::string> out;
  detail::check_problem(problem, out);
  for (const fusion::GraphProblem& p : fusion::check(graph, Config::Functions::kCount)) {
    out.emplace_back(fusion::describe(graph, p).c_str());
  }
  if (!out.empty()) return out;
  detail::check_graph<Config>(graph, out);
  for (const std::string& p : arguments.fusion.problems(detail::shape_of(problem))) out.push_back(p);
  const fusion::ResolvedArguments values = arguments.fusion.resolved(detail::shape_of(problem));
  const detail::MatrixReasons matrices(out, problem);
  detail::check_source<Config>(arguments.c, graph, values, matrices, out);
  detail::check_destination<Config>(arguments.d, matrices, out);
  detail::check_staged<Config>(graph, values, problem, matrices);
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    const fusion::ArgumentValue& v = values.values[i];
    if (fusion::is_mask(a) && v.pointer != nullptr) detail::check_mask(a, v, problem.l, out);
    if (a.kind == fusion::ArgumentKind::reduction && a.element != ElementType::f32) {
      out.push_back(std::string(a.name.text) + ": a reduction has results of f32, not of " + info(a.element).name);
    }
  }
  detail::check_workspace(get_workspace_size<Config>(problem, arguments), workspace, out);
  return out;
}

// Zeroes counters and writes identities where atomics start: before every run, on the machine that it runs on.
template <class Config, class Machine>
LaunchResult initialize_workspace(const Machine& machine, const EpilogueProblem& problem,
                                  const EpilogueArguments<Config>& arguments, void* workspace) {
  const fusion::Graph& graph = arguments.fusion.graph();
  const fusion::ResolvedArguments values = arguments.fusion.resolved(detail::shape_of(problem));
  const WorkspaceLayout layout = workspace_layout(graph, EpilogueOf<Config>::kTile, problem);
  FillWords::Params params;
  if (layout.counter_bytes > 0) {
    params.add({.words = static_cast<std::uint32_t*>(workspace), .count = layout.counter_bytes / 4});
  }
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    const fusion::ArgumentValue& v = values.values[i];
    if (a.kind != fusion::ArgumentKind::reduction || a.deterministic || v.pointer == nullptr) continue;
    const bool is_max = fusion::detail::reduction_of(graph, i) == fusion::Reduction::max;
    const float identity =
        is_max ? fusion::identity<fusion::Reduction::max>() : fusion::identity<fusion::Reduction::add>();
    params.add({.words = static_cast<std::uint32_t*>(v.pointer),
                .count = a.extent == fusion::Extent::row      ? problem.n
                         : a.extent == fusion::Extent::column ? problem.m
                                                              : 1,
                .rows = v.batch_stride != 0 ? problem.l : 1,
                .stride = v.batch_stride,
                .value = bit_cast<std::uint32_t>(identity)});
  }
  if (params.fill_count == 0) return {};
  const std::int64_t ctas = (params.most_words() + FillWords::kThreads - 1) / FillWords::kThreads;
  return launch(machine,
                {.grid = {static_cast<std::uint32_t>(ctas < 64 ? ctas : 64)},
                 .block = {FillWords::kThreads},
                 .name = "initialise workspace"},
                FillWords{}, params);
}

// `encode` makes a tensor map of its parameters: tma/encode.hpp on a GPU, `pack` for the simulated machine.
template <class Config, class Encode>
typename EpilogueOf<Config>::Params to_underlying_arguments(const EpilogueProblem& problem,
                                                            const EpilogueArguments<Config>& arguments,
                                                            const Encode& encode, void* workspace = nullptr) {
  using Collective = EpilogueOf<Config>;
  const fusion::Graph& graph = arguments.fusion.graph();
  typename Collective::Params out{};
  out.m = problem.m;
  out.n = problem.n;
  out.l = problem.l;
  if constexpr (requires { out.fusion.bind(graph); }) out.fusion.bind(graph);
  if constexpr (!Collective::kUsesTma) {
    const EpilogueMatrix &c = arguments.c, &d = arguments.d;
    out.c = {static_cast<const typename Collective::ElementC*>(c.pointer), c.stride, c.batch_stride};
    out.d = {static_cast<typename Collective::ElementD*>(d.pointer), d.stride, d.batch_stride};
  } else if constexpr (Collective::kHasC) {
    if (arguments.c.pointer != nullptr) {
      out.c = encode(detail::bind_matrix<typename Collective::TileC, TmaOp::load>(arguments.c, problem).descriptor);
    }
  }
  if constexpr (Collective::kUsesTma && Collective::kHasD) {
    out.d = encode(detail::bind_matrix<typename Collective::TileD, TmaOp::store>(arguments.d, problem).descriptor);
  }
  const fusion::ResolvedArguments values = arguments.fusion.resolved(detail::shape_of(problem));
  const WorkspaceLayout layout = workspace_layout(graph, Collective::kTile, problem);
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::ArgumentValue& v = values.values[i];
    fusion::Operand& operand = out.fusion.operands[i];
    operand = {.pointer = v.pointer, .batch_stride = v.batch_stride, .stride = v.stride, .value = v.value};
    if (!needs_workspace(graph.arguments[i])) continue;
    unsigned char* bytes = static_cast<unsigned char*>(workspace);
    operand.partials = reinterpret_cast<float*>(bytes + layout.partials[i]);
    operand.arrived = reinterpret_cast<std::uint32_t*>(bytes + layout.counters[i]);
  }
  Collective::Fusion::for_staged(graph, [&](int i, int map, auto tile) {
    using Tile = decltype(tile);
    const fusion::ArgumentValue& v = values.values[i];
    if (v.pointer == nullptr) return;
    const EpilogueMatrix matrix{v.pointer, v.stride, v.batch_stride};
    out.fusion.maps[map] = encode((graph.arguments[i].kind == fusion::ArgumentKind::aux_in
                                       ? detail::bind_matrix<Tile, TmaOp::load>(matrix, problem)
                                       : detail::bind_matrix<Tile, TmaOp::store>(matrix, problem))
                                      .descriptor);
  });
  return out;
}

}  // namespace gantry

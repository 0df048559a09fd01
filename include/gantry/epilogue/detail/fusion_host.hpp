// The host's part of a graph's callbacks: its arguments by name become operands and tensor maps, its deterministic
// reductions have workspace, and what cannot be is told in sentences.
#pragma once

#include <gantry/arch/detail/sentence.hpp>
#include <gantry/arch/launch.hpp>
#include <gantry/epilogue/fusion/arguments.hpp>
#include <gantry/epilogue/no_smem.hpp>
#include <gantry/epilogue/operands.hpp>

namespace gantry::detail {

inline fusion::ProblemShape shape_of(const EpilogueProblem& p) { return {.m = p.m, .n = p.n, .l = p.l}; }

// Bytes hold whole bits of one row.
GANTRY_COLD inline void check_mask(const fusion::Argument& a, const fusion::ArgumentValue& v, int batches,
                                   std::vector<std::string>& out) {
  const auto check = [&](const char* what, std::int64_t bits) {
    if (bits % 8 == 0) return;
    out.push_back(sentence({a.name.text, ": ", what, " of a 1-bit tensor is whole bytes, a multiple of 8, and ", bits,
                            " bits were given; the next that works is ", bits / 8 * 8 + 8}));
  };
  check("the stride", v.stride);
  if (batches > 1) check("the batch stride", v.batch_stride);
}

// What the graph and the policy say of each other.
template <class Config>
GANTRY_COLD void check_graph(const fusion::Graph& graph, std::vector<std::string>& out) {
  using Collective = EpilogueOf<Config>;
  if (graph.uses_source() && !Collective::kHasC)
    out.emplace_back("the expression uses C, and the policy has none: give its element type");
  if ((graph.d >= 0) != Collective::kHasD) {
    out.emplace_back(graph.d >= 0 ? "the expression gives D, and the policy has none"
                                  : "the policy has D, and the expression gives none");
  }
  if constexpr (requires { Collective::Fusion::problems(graph); }) {
    for (const std::string& p : Collective::Fusion::problems(graph)) out.push_back(p);
  }
}

// Whether C is used, and no factor of it is 0 or may be once the kernel runs.
GANTRY_COLD inline bool surely_uses_source(const fusion::Graph& graph, const fusion::ResolvedArguments& values) {
  bool surely = graph.uses_source();
  for (int i = 0; i < graph.argument_count; ++i) {
    if ((fusion::source_factors(graph) >> i & 1) == 0) continue;
    const fusion::ArgumentValue& v = values.values[i];
    const bool scalar = graph.arguments[i].kind == fusion::ArgumentKind::scalar;
    surely = surely && (v.pointer == nullptr ? v.value != 0 : !scalar);
  }
  return surely;
}

// Auxiliary tensors that travel by TMA. What their strides alone say has been said already.
template <class Config>
void check_staged(const fusion::Graph& graph, const fusion::ResolvedArguments& values, const EpilogueProblem& problem,
                  const OperandReasons& operands) {
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
      operands.template check<Tile, true>(a.name.text, matrix);
    } else {
      operands.template check<Tile, false>(a.name.text, matrix);
    }
  });
}

template <class Config>
struct GraphHost {
  using Collective = EpilogueOf<Config>;

  template <class Arguments>
  static std::int64_t workspace_bytes(const EpilogueProblem& problem, const Arguments& arguments) {
    return workspace_layout(arguments.graph(), Collective::kTile, problem).bytes;
  }

  // Whether C must be there, as far as is known before the kernel runs.
  template <class Arguments>
  static bool needs_source(const EpilogueProblem& problem, const Arguments& arguments) {
    return surely_uses_source(arguments.graph(), arguments.resolved(shape_of(problem)));
  }

  // Reasons that make all others meaningless.
  template <class Arguments>
  static void check_form(const Arguments& arguments, std::vector<std::string>& out) {
    const fusion::Graph& graph = arguments.graph();
    for (const fusion::GraphProblem& p : fusion::check(graph, Collective::FusionConfig::Functions::kCount)) {
      out.emplace_back(fusion::describe(graph, p).c_str());
    }
  }

  template <class Arguments>
  static void check_values(const EpilogueProblem& problem, const Arguments& arguments, std::vector<std::string>& out) {
    check_graph<Config>(arguments.graph(), out);
    for (const std::string& p : arguments.problems(shape_of(problem))) out.push_back(p);
  }

  // What memory says.
  template <class Arguments>
  static void check_tensors(const EpilogueProblem& problem, const Arguments& arguments, std::vector<std::string>& out) {
    const fusion::Graph& graph = arguments.graph();
    const fusion::ResolvedArguments values = arguments.resolved(shape_of(problem));
    check_staged<Config>(graph, values, problem, OperandReasons(out, problem));
    for (int i = 0; i < graph.argument_count; ++i) {
      const fusion::Argument& a = graph.arguments[i];
      const fusion::ArgumentValue& v = values.values[i];
      if (fusion::is_mask(a) && v.pointer != nullptr) check_mask(a, v, problem.l, out);
      if (a.kind == fusion::ArgumentKind::reduction && a.element != ElementType::f32) {
        out.push_back(sentence({a.name.text, ": a reduction has results of f32, not of ", info(a.element).name}));
      }
    }
  }

  // What has to stand in memory before a kernel starts.
  template <class Arguments>
  static FillWords::Params fills(const EpilogueProblem& problem, const Arguments& arguments, void* workspace) {
    const fusion::Graph& graph = arguments.graph();
    const fusion::ResolvedArguments values = arguments.resolved(shape_of(problem));
    const WorkspaceLayout layout = workspace_layout(graph, Collective::kTile, problem);
    FillWords::Params params;
    const bool nothing = problem.m == 0 || problem.n == 0 || problem.l == 0;  // then no kernel writes results
    if (layout.counter_bytes > 0 && !nothing) {
      params.add({.words = static_cast<std::uint32_t*>(workspace), .count = layout.counter_bytes / 4});
    }
    for (int i = 0; i < graph.argument_count; ++i) {
      const fusion::Argument& a = graph.arguments[i];
      const fusion::ArgumentValue& v = values.values[i];
      if (a.kind != fusion::ArgumentKind::reduction || v.pointer == nullptr || (a.deterministic && !nothing)) continue;
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
    return params;
  }

  template <class Params, class Arguments, class Encode>
  static void bind(Params& out, const EpilogueProblem& problem, const Arguments& arguments, const Encode& encode,
                   void* workspace) {
    const fusion::Graph& graph = arguments.graph();
    if constexpr (requires { out.bind(graph); }) out.bind(graph);
    const fusion::ResolvedArguments values = arguments.resolved(shape_of(problem));
    const WorkspaceLayout layout = workspace_layout(graph, Collective::kTile, problem);
    for (int i = 0; i < graph.argument_count; ++i) {
      const fusion::ArgumentValue& v = values.values[i];
      fusion::Operand& operand = out.operands[i];
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
      out.maps[map] = graph.arguments[i].kind == fusion::ArgumentKind::aux_in
                          ? encode_map<Tile, false>(matrix, problem, encode)
                          : encode_map<Tile, true>(matrix, problem, encode);
    });
  }
};

// The host's part of ready callbacks (fusion/callback_contract.hpp): what they do not say is nothing.
template <class Config>
struct ReadyHost {
  using Collective = EpilogueOf<Config>;
  using Fusion = typename Collective::Fusion;
  using Arguments = typename Fusion::Arguments;

  static std::int64_t workspace_bytes(const EpilogueProblem& problem, const Arguments& arguments) {
    if constexpr (requires { Fusion::get_workspace_size(problem, arguments); }) {
      return static_cast<std::int64_t>(Fusion::get_workspace_size(problem, arguments));
    } else {
      return 0;
    }
  }
  static bool needs_source(const EpilogueProblem&, const Arguments&) { return Fusion::kUsesSource; }
  static void check_form(const Arguments&, std::vector<std::string>&) {}
  static void check_values(const EpilogueProblem& problem, const Arguments& arguments, std::vector<std::string>& out) {
    if constexpr (requires { Fusion::can_implement(problem, arguments); }) {
      for (const std::string& reason : Fusion::can_implement(problem, arguments)) out.push_back(reason);
    }
  }
  static void check_tensors(const EpilogueProblem&, const Arguments&, std::vector<std::string>&) {}
  static FillWords::Params fills(const EpilogueProblem& problem, const Arguments& arguments, void* workspace) {
    FillWords::Params params;
    const std::int64_t bytes = workspace_bytes(problem, arguments);
    if (bytes > 0) params.add({.words = static_cast<std::uint32_t*>(workspace), .count = (bytes + 3) / 4});
    return params;
  }
  template <class Params, class Encode>
  static void bind(Params& out, const EpilogueProblem& problem, const Arguments& arguments, const Encode& encode,
                   void* workspace) {
    if constexpr (requires { Fusion::to_underlying_arguments(problem, arguments, encode, workspace); }) {
      out = Fusion::to_underlying_arguments(problem, arguments, encode, workspace);
    }
  }
};

// Ready callbacks bring arguments of their own; a graph's come from its names.
template <class Config>
concept BringsArguments = requires {
  typename EpilogueOf<Config>::Fusion::Arguments;
};

template <class Config>
struct HostOf {
  using type = GraphHost<Config>;
};
template <BringsArguments Config>
struct HostOf<Config> {
  using type = ReadyHost<Config>;
};
template <class Config>
using Host = typename HostOf<Config>::type;

}  // namespace gantry::detail

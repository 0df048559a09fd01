// What the host hands to an epilogue, and the kernel parameters made of it: tensor maps over the actual pointers and
// strides of C, D and auxiliary tensors, and the operands of the graph.
//
// can_implement checks them all and returns every reason why the kernel cannot run. get_workspace_size,
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
//     inline gantry::ArgumentReasons reasons(gantry::bf16* d, const float* bias) {
//       gantry::EpilogueArguments<BiasRelu> arguments;
//       arguments.d = {.pointer = d, .stride = 100};  // 200 bytes: stride_misaligned
//       arguments.fusion["bias"] = bias;
//       return gantry::can_implement<BiasRelu>({.m = 256, .n = 100, .k = 64}, arguments);
//     }
#pragma once

#include <gantry/epilogue/detail/fusion_host.hpp>

namespace gantry {

namespace detail {

// How the host hands over C or D, by the policy's layout.
template <bool im2col>
using OperandOf = typename ChosenType<im2col, EpilogueTensor, EpilogueMatrix>::type;

}  // namespace detail

template <class Config>
struct EpilogueArguments {
  // Written out: nvcc takes a defaulted constructor for device code too, and would want the graph on the device.
  EpilogueArguments() {}  // NOLINT(modernize-use-equals-default)

  detail::OperandOf<Config::policy.c.im2col()> c{};
  detail::OperandOf<Config::policy.d.im2col()> d{};
  fusion::ArgumentsFor<fusion::CallbacksBuilder<Config>> fusion{};
};
// Of callbacks that take their graph at run time (fusion/loop_callbacks.hpp).
template <class Config>
requires(Config::kGraphAtRunTime) struct EpilogueArguments<Config> {
  explicit EpilogueArguments(const fusion::Graph& graph) : fusion(graph) {}

  EpilogueMatrix c{};
  EpilogueMatrix d{};
  fusion::FusionArguments fusion;
};
// Of ready callbacks that bring their own.
template <detail::BringsArguments Config>
struct EpilogueArguments<Config> {
  EpilogueArguments() {}  // NOLINT(modernize-use-equals-default)

  detail::OperandOf<Config::policy.c.im2col()> c{};
  detail::OperandOf<Config::policy.d.im2col()> d{};
  typename EpilogueOf<Config>::Fusion::Arguments fusion{};
};

// Bytes of workspace, 0 where the fusion has no use for it. The memory begins at a multiple of 16.
template <class Config>
std::size_t get_workspace_size(const EpilogueProblem& problem, const EpilogueArguments<Config>& arguments) {
  return static_cast<std::size_t>(detail::Host<Config>::workspace_bytes(problem, arguments.fusion));
}

namespace detail {

GANTRY_COLD inline void check_problem(const EpilogueProblem& p, ArgumentReasons& out) {
  const auto check = [&](const char* name, int extent) {
    if (extent >= 1) return;
    out.add({.rule = ArgumentRule::size_zero, .operand = name, .actual = extent, .nearest = 1});
  };
  check("M", p.m);
  check("N", p.n);
  check("batch", p.batch);
}

template <class Config, class Operand>
void check_source(const Operand& c, bool needed, const OperandCheck& operands, ArgumentReasons& out) {
  using Collective = EpilogueOf<Config>;
  if constexpr (Collective::kHasC) {
    if (c.pointer == nullptr) {
      if (needed) out.add(missing(ArgumentRule::source_missing, "C"));
    } else if constexpr (Collective::kUsesTma) {
      operands.template check<typename Collective::TileC, false>("C", c);
    } else {
      operands.template check_elements<typename Collective::ElementC>("C", c, Collective::kRowsC, false);
    }
  }
}

template <class Config, class Operand>
void check_destination(const Operand& d, const OperandCheck& operands, ArgumentReasons& out) {
  using Collective = EpilogueOf<Config>;
  if constexpr (Collective::kHasD) {
    if (d.pointer == nullptr) {
      out.add(missing(ArgumentRule::matrix_missing, "D"));
    } else if constexpr (Collective::kUsesTma) {
      operands.template check<typename Collective::TileD, true>("D", d);
    } else {
      operands.template check_elements<typename Collective::ElementD>("D", d, Collective::kRowsD, true);
    }
  }
}

// Requires a problem that is checked.
template <class Config>
SizeSteps size_steps(const EpilogueProblem& problem, const EpilogueArguments<Config>& arguments, SizeSteps out) {
  using Collective = EpilogueOf<Config>;
  const auto packed = [&](const EpilogueMatrix& x, bool rows) { return x.stride == (rows ? problem.n : problem.m); };
  if constexpr (Collective::kUsesTma && Collective::kHasC && !Config::policy.c.im2col()) {
    using Tile = typename Collective::TileC;
    if (arguments.c.pointer != nullptr && packed(arguments.c, Tile::row_major))
      out.add(element_type_v<typename Tile::Element>, Tile::row_major);
  }
  if constexpr (Collective::kUsesTma && Collective::kHasD && !Config::policy.d.im2col()) {
    using Tile = typename Collective::TileD;
    out.add(element_type_v<typename Tile::Element>, Tile::row_major);
  }
  Host<Config>::add_steps(problem, arguments.fusion, out);
  return out;
}

GANTRY_COLD inline void check_workspace(std::size_t bytes, const void* workspace, ArgumentReasons& out) {
  const std::uintptr_t beyond = reinterpret_cast<std::uintptr_t>(workspace) % 16;
  if (bytes > 0 && workspace == nullptr) {
    out.add({.rule = ArgumentRule::workspace_missing, .nearest = static_cast<std::int64_t>(bytes)});
  } else if (bytes > 0 && beyond != 0) {
    out.add({.rule = ArgumentRule::workspace_misaligned,
             .actual = static_cast<std::int64_t>(beyond),
             .nearest = static_cast<std::int64_t>(16 - beyond)});
  }
}

}  // namespace detail

// Every reason why the epilogue cannot run on this problem with these arguments; none: it can. `others` is what the
// kernel's other operands ask of M and N, for the sizes that reasons offer.
template <class Config>
ArgumentReasons can_implement(const EpilogueProblem& problem, const EpilogueArguments<Config>& arguments,
                              const void* workspace = nullptr, const detail::SizeSteps& others = {}) {
  using Host = detail::Host<Config>;
  ArgumentReasons out;
  detail::check_problem(problem, out);
  Host::check_form(arguments.fusion, out);
  if (!out.ok()) return out;
  Host::check_values(problem, arguments.fusion, out);
  const detail::OperandCheck operands(out, problem, detail::size_steps<Config>(problem, arguments, others));
  detail::check_source<Config>(arguments.c, Host::needs_source(problem, arguments.fusion), operands, out);
  detail::check_destination<Config>(arguments.d, operands, out);
  Host::check_tensors(problem, arguments.fusion, operands, out);
  detail::check_workspace(get_workspace_size<Config>(problem, arguments), workspace, out);
  return out;
}

// Zeroes counters and writes identities where atomics start, or where nothing is reduced: before every run, on the
// machine that it runs on.
template <class Config, class Machine>
LaunchResult initialize_workspace(const Machine& machine, const EpilogueProblem& problem,
                                  const EpilogueArguments<Config>& arguments, void* workspace) {
  return fill_words(machine, detail::Host<Config>::fills(problem, arguments.fusion, workspace));
}

// `encode` makes a tensor map of its parameters: tma/encode.hpp on a GPU, `pack` for the simulated SM.
template <class Config, class Encode>
typename EpilogueOf<Config>::Params to_underlying_arguments(const EpilogueProblem& problem,
                                                            const EpilogueArguments<Config>& arguments,
                                                            const Encode& encode, void* workspace = nullptr) {
  using Collective = EpilogueOf<Config>;
  typename Collective::Params out{};
  out.m = problem.m;
  out.n = problem.n;
  out.batch = problem.batch;
  if constexpr (!Collective::kUsesTma) {
    const EpilogueMatrix &c = arguments.c, &d = arguments.d;
    out.c = {static_cast<const typename Collective::ElementC*>(c.pointer), c.stride, c.batch_stride};
    out.d = {static_cast<typename Collective::ElementD*>(d.pointer), d.stride, d.batch_stride};
  } else if constexpr (Collective::kHasC) {
    if (arguments.c.pointer != nullptr) {
      out.c = detail::encode_map<typename Collective::TileC, false>(arguments.c, problem, encode);
    }
  }
  if constexpr (Collective::kUsesTma && Collective::kHasD) {
    out.d = detail::encode_map<typename Collective::TileD, true>(arguments.d, problem, encode);
  }
  detail::Host<Config>::bind(out.fusion, problem, arguments.fusion, encode, workspace);
  return out;
}

}  // namespace gantry

// The host's part of a graph's callbacks: its arguments by name become operands and tensor maps, its deterministic
// reductions have workspace, and what cannot be is refused with reasons.
#pragma once

#include <gantry/arch/machines.hpp>
#include <gantry/epilogue/detail/graph_host.hpp>
#include <gantry/epilogue/no_smem.hpp>

namespace gantry::detail {

// A configuration's epilogue, for the functions of graph_host.hpp.
template <class Config>
struct GraphHost {
  using Collective = EpilogueOf<Config>;
  static constexpr GraphEpilogue kEpilogue{
      Collective::kTile, Collective::kHasC, Collective::kHasD, Collective::FusionConfig::Functions::kCount,
      Complex<typename Collective::Value> ? fusion::Values::complex : fusion::Values::real};

  template <class Arguments>
  static std::int64_t workspace_bytes(const EpilogueProblem& problem, const Arguments& arguments) {
    return workspace_layout(arguments.graph(), Collective::kTile, problem).bytes;
  }

  // Whether C must be there, as far as is known before the kernel runs.
  template <class Arguments>
  static bool needs_source(const EpilogueProblem& problem, const Arguments& arguments) {
    return surely_uses_source(arguments.graph(), arguments.resolved(shape_of(problem)));
  }
  template <class Arguments>
  static void check_form(const Arguments& arguments, ArgumentReasons& out) {
    detail::check_form(kEpilogue, arguments.graph(), out);
  }
  template <class Arguments>
  static void check_values(const EpilogueProblem& problem, const Arguments& arguments, ArgumentReasons& out) {
    detail::check_values(kEpilogue, problem, arguments, out);
    if constexpr (requires { Collective::Fusion::problems(arguments.graph()); }) {
      out.add(Collective::Fusion::problems(arguments.graph()));
    }
  }
  template <class Arguments>
  static void add_steps(const EpilogueProblem& problem, const Arguments& arguments, SizeSteps& out) {
    detail::add_steps(problem, arguments, out);
  }
  template <class Arguments>
  static void check_tensors(const EpilogueProblem& problem, const Arguments& arguments, const OperandCheck& operands,
                            ArgumentReasons& out) {
    detail::check_tensors(kEpilogue, problem, arguments, operands, out);
  }
  template <class Arguments>
  static FillWords::Params fills(const EpilogueProblem& problem, const Arguments& arguments, void* workspace) {
    return fills_of(kEpilogue, problem, arguments, workspace);
  }
  template <class Params, class Arguments, class Encode>
  static void bind(Params& out, const EpilogueProblem& problem, const Arguments& arguments, const Encode& encode,
                   void* workspace) {
    if constexpr (requires { out.bind(arguments.graph()); }) out.bind(arguments.graph());
    bind_graph(kEpilogue, problem, arguments, encode, workspace, out.operands, out.maps);
  }
};

// The host's part of ready callbacks (fusion/callback_contract.hpp): what they do not say is nothing. What they refuse
// they say in their own words.
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
  static void check_form(const Arguments&, ArgumentReasons&) {}
  static void check_values(const EpilogueProblem& problem, const Arguments& arguments, ArgumentReasons& out) {
    if constexpr (requires { Fusion::can_implement(problem, arguments); }) {
      for (const std::string& reason : Fusion::can_implement(problem, arguments)) {
        out.add(with_words(ArgumentRule::callbacks, reason.c_str()));
      }
    }
  }
  static void add_steps(const EpilogueProblem&, const Arguments&, SizeSteps&) {}
  static void check_tensors(const EpilogueProblem&, const Arguments&, const OperandCheck&, ArgumentReasons&) {}
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

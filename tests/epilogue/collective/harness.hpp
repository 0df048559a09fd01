// Runs a configuration of EpilogueKernel on the simulated SM under several schedules: the report is clean, every
// output is within the bound of the reference, and nothing else was written.
#pragma once

#include <cstdlib>

#include <gtest/gtest.h>

#include "config.hpp"

namespace gantry::test {

inline bool long_tests() { return std::getenv("GANTRY_LONG_TESTS") != nullptr; }

// Of each case: 4; in the long form 100, or as many as GANTRY_LONG_TESTS says where that is more than 1.
inline std::uint64_t schedule_count() {
  if (!long_tests()) return 4;
  const std::uint64_t asked = std::strtoull(std::getenv("GANTRY_LONG_TESTS"), nullptr, 10);
  return asked > 1 ? asked : 100;
}

// Both policies and every latency; in the short form each of them once.
inline std::vector<SimulatorOptions> schedules(std::uint64_t first_seed = 0) {
  constexpr Latency kLatencies[] = {Latency::mixed, Latency::late, Latency::random, Latency::eager};
  std::vector<SimulatorOptions> out;
  const std::uint64_t seeds = schedule_count();
  for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    out.push_back({.seed = seed,
                   .schedule = seed % 2 == 0 ? Schedule::random : Schedule::pct,
                   .latency = kLatencies[seed % 4],
                   .max_steps = 20'000'000});
  }
  return out;
}

inline TmaDescriptor pack_map(const TmaDescriptorParams& params) { return pack(params); }

template <class Config, class K = EpilogueKernel<Config>>
class KernelRun {
 public:
  using Kernel = K;

  KernelRun(Problem& problem, int ctas) : problem_(problem), arguments_(make_arguments(problem)), ctas_(ctas) {
    const fusion::ProblemShape& shape = problem.options().shape;
    shape_ = {static_cast<int>(shape.m), static_cast<int>(shape.n), 64, static_cast<int>(shape.batch)};
    hand_over_c<Config>(arguments_.c, problem.c(), address(problem.c()), shape);
    hand_over_d<Config>(arguments_.d, problem.d(), address(problem.d()), shape);
    if constexpr (requires { arguments_.fusion.graph(); }) {
      static_cast<fusion::FusionArguments&>(arguments_.fusion) = problem.fusion();
    }
    workspace_.resize(get_workspace_size<Config>(shape_, arguments_) / 8);
  }

  EpilogueArguments<Config>& arguments() { return arguments_; }
  ArgumentReasons reasons() { return can_implement<Config>(shape_, arguments_, workspace()); }

  // Everything that is written is poisoned first.
  Report operator()(const SimulatorOptions& options) {
    problem_.clear_outputs();
    std::fill(workspace_.begin(), workspace_.end(), 0xA5A5A5A5A5A5A5A5u);
    const LaunchResult initialised = initialize_workspace<Config>(Simulator(), shape_, arguments_, workspace());
    EXPECT_TRUE(initialised) << describe(initialised);
    const typename Kernel::Params params{
        to_underlying_arguments<Config>(shape_, arguments_, pack_map, workspace()),
        static_cast<const typename Kernel::Accumulator*>(problem_.accumulators().data())};
    return Simulator(options).run<Kernel>({.grid = {static_cast<std::uint32_t>(ctas_)},
                                           .block = {Kernel::kThreads},
                                           .shared_bytes = sizeof(typename Kernel::Storage),
                                           .name = "epilogue"},
                                          params);
  }

 private:
  static EpilogueArguments<Config> make_arguments(const Problem& problem) {
    if constexpr (requires { EpilogueArguments<Config>(problem.graph()); }) {
      return EpilogueArguments<Config>(problem.graph());
    } else {
      return {};
    }
  }
  static void* address(Buffer& b) { return b.bytes.empty() ? nullptr : b.data(); }
  void* workspace() { return workspace_.empty() ? nullptr : workspace_.data(); }

  Problem& problem_;
  EpilogueArguments<Config> arguments_;
  int ctas_;
  EpilogueProblem shape_;
  std::vector<std::uint64_t> workspace_;
};

// Runs until the first schedule that fails a check.
template <class Config, class K = EpilogueKernel<Config>>
void expect_agreement(Problem& problem, const fusion::ReferenceResult& expected, int ctas = 3) {
  KernelRun<Config, K> run(problem, ctas);
  for (const ArgumentReason& reason : run.reasons()) FAIL() << describe(reason).c_str();
  for (const SimulatorOptions& options : schedules(problem.options().seed)) {
    const Report report = run(options);
    ASSERT_TRUE(report.clean()) << report.text();
    const std::string wrong = problem.wrong(expected);
    ASSERT_TRUE(wrong.empty()) << wrong << " (seed " << options.seed << ")";
  }
}

template <class Config, class K = EpilogueKernel<Config>>
void expect_agreement(const ProblemOptions& options, int ctas = 3) {
  Problem problem(Config::graph, options_for<Config>(options));
  const fusion::ReferenceResult expected =
      fusion::reference<typename Config::Functions>(problem.graph(), problem.reference(), problem.fusion());
  expect_agreement<Config, K>(problem, expected, ctas);
}

}  // namespace gantry::test

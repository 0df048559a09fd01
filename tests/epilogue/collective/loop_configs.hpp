// Configurations whose graph comes at run time, and random graphs for them.
#pragma once

#include <gantry/epilogue/fusion/loop_callbacks.hpp>

#include "../fusion/random_graph.hpp"
#include "harness.hpp"

namespace gantry::test {

struct LoopSpec {
  ElementType c = ElementType::void_, d = ElementType::void_;
  bool c_rows = true, d_rows = true, reuse = false, delay = false;
};

constexpr EpiloguePolicy loop_policy(const LoopSpec& s) {
  return CollectiveBuilder{.schedule = EpilogueSchedule::tma_warp_specialized,
                           .tile = {64, 64, 64},
                           .epi_tile = {64, 32},
                           .c = s.c,
                           .d = s.d,
                           .layout_c = s.c_rows ? kRowMajor : kColumnMajor,
                           .layout_d = s.d_rows ? kRowMajor : kColumnMajor,
                           .aux = ElementType::f32,
                           .stages_c = 3,
                           .stages_d = 2,
                           .reuse_smem_c = s.reuse ? Choice::yes : Choice::no,
                           .delay_tma_store = s.delay ? Choice::yes : Choice::no}
      .policy();
}

template <LoopSpec s>
struct Loop : fusion::GraphAtRunTime<s.c != ElementType::void_, s.d != ElementType::void_> {
  static constexpr EpiloguePolicy policy = loop_policy(s);
};

// A graph that the specification can run, from a seed.
inline fusion::Graph random_graph_for(const LoopSpec& s, std::uint64_t seed) {
  const bool d = s.d != ElementType::void_;
  for (std::uint64_t i = 0;; ++i) {
    const fusion::Graph graph = fusion::testing::random_graph(
        seed + i * 1'000'000,
        {.source = s.c != ElementType::void_, .void_d = !d, .longest_head = 16, .dropout = true, .block = 16});
    if ((graph.d >= 0) == d) return graph;
  }
}

// Rows and columns are whole chunks of 16 bytes whatever the element.
inline ProblemOptions random_options(std::uint64_t seed) {
  return {.shape = {.m = seed % 3 == 0 ? 80 : 48, .n = seed % 2 == 0 ? 80 : 144, .batch = seed % 5 == 0 ? 2 : 1},
          .seed = seed,
          .by_batch = seed % 4 == 1,
          .leave_out = seed % 7 == 3,
          .scalar_by_value = seed % 3 != 1};
}

// Agrees with the reference under the schedule that the seed chooses.
template <LoopSpec s>
void expect_random_graph_agrees(std::uint64_t seed) {
  using Config = Loop<s>;
  const fusion::Graph graph = with_rounding(random_graph_for(s, seed), static_cast<Rounding>(seed % 3));
  Problem problem(graph, options_for<Config>(random_options(seed)));
  KernelRun<Config> run(problem, 1 + static_cast<int>(seed % 4));
  for (const ArgumentReason& reason : run.reasons())
    FAIL() << describe(reason).c_str() << "\n" << fusion::print(graph).c_str();
  const auto expected = fusion::reference(graph, problem.reference(), problem.fusion());
  constexpr Latency kLatencies[] = {Latency::mixed, Latency::late, Latency::random, Latency::eager};
  const Report report = run({.seed = seed,
                             .schedule = seed % 2 == 0 ? Schedule::random : Schedule::pct,
                             .latency = kLatencies[seed / 2 % 4]});
  ASSERT_TRUE(report.clean()) << report.text() << fusion::print(graph).c_str();
  const std::string wrong = problem.wrong(expected);
  ASSERT_TRUE(wrong.empty()) << "graph " << seed << ": " << wrong << "\n" << fusion::print(graph).c_str();
}

// 250 graphs, or 25 in the short form.
template <LoopSpec s>
void expect_random_graphs_agree(std::uint64_t first) {
  const std::uint64_t graphs = long_tests() ? 250 : 25;
  for (std::uint64_t seed = first; seed < first + graphs; ++seed) {
    expect_random_graph_agrees<s>(seed);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace gantry::test

// Every element type in every place of a fusion: what is asked for is computed right, compared with the reference and
// with guarded memory around it, or is refused by a rule.
#pragma once

#include <cstring>
#include <memory>

#include <gantry/epilogue/fusion/expression.hpp>

#include "../../guarded.hpp"
#include "../collective/harness.hpp"

namespace gantry::test {

// The scalars, vectors and reductions of a problem, moved to where memory ends right behind them.
class GuardedArguments {
 public:
  explicit GuardedArguments(Problem& problem) : problem_(problem) {
    for (int i = 0; i < problem.graph().argument_count; ++i) {
      const fusion::Argument& a = problem.graph().arguments[i];
      Buffer& buffer = problem.argument(i);
      if (fusion::is_tensor(a.kind) || buffer.bytes.empty()) continue;
      constexpr std::size_t kBehind = 16;  // that Problem leaves behind them
      at_[i] = std::make_unique<Guarded>(buffer.bytes.size() - kBehind);
      std::memcpy(at_[i]->data(), buffer.data(), at_[i]->size());
      problem.fusion()[a.name.text].batched(static_cast<void*>(at_[i]->data()), buffer.batch_stride);
    }
  }
  // What the kernel wrote, to where the problem looks for it.
  void bring_back() {
    for (int i = 0; i < problem_.graph().argument_count; ++i) {
      if (at_[i] != nullptr) std::memcpy(problem_.argument(i).data(), at_[i]->data(), at_[i]->size());
    }
  }

 private:
  Problem& problem_;
  std::unique_ptr<Guarded> at_[fusion::kMaxArguments];
};

constexpr bool is_real(ElementType e) {
  return info(e).kind != ElementKind::none && info(e).kind != ElementKind::complex;
}

constexpr EpiloguePolicy sweep_policy() {
  return CollectiveBuilder{.schedule = EpilogueSchedule::tma_warp_specialized,
                           .tile = {64, 32, 64},
                           .epi_tile = {64, 32},
                           .d = ElementType::f32,
                           .aux = ElementType::f32,
                           .stages_c = 2,
                           .stages_d = 1}
      .policy();
}

// Rows and columns of whole chunks of 16 bytes, and two batches whose vectors begin at any bit.
inline ProblemOptions sweep_options(std::uint64_t seed) {
  return {.shape = {.m = 80, .n = 48, .batch = 2}, .seed = seed, .by_batch = true, .scalar_by_value = false};
}

// Requires a graph that the configuration runs.
template <class Config>
void expect_right(Problem& problem, std::uint64_t seed) {
  GuardedArguments guarded(problem);
  KernelRun<Config> run(problem, 3);
  for (const ArgumentReason& reason : run.reasons()) FAIL() << describe(reason).c_str();
  const fusion::ReferenceResult expected = problem.expected();
  const Report report = run({.seed = seed, .schedule = Schedule::random, .latency = Latency::mixed});
  ASSERT_TRUE(report.clean()) << report.text();
  guarded.bring_back();
  EXPECT_EQ(problem.wrong(expected), "");
}

}  // namespace gantry::test

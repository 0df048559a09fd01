// Gated GEMMs of random sizes on the simulated SM, compared with the reference.
#pragma once

#include <cstdlib>

#include "given_memory.hpp"

namespace gantry_test {

// Tiles that overhang, K that is no multiple of anything, batches. `step`: what D's columns are a multiple of.
template <class Spec>
void expect_random_gated_right(unsigned first_seed = 0, int step = 8, const fusion::Graph* graph = nullptr) {
  // A kernel whose graph comes at run time is asked once for each of many graphs.
  const unsigned count = std::getenv("GANTRY_LONG_TESTS") ? 40 : detail::kRunTimeGraph<Spec> ? 1 : 3;
  for (unsigned seed = first_seed; seed < first_seed + count && !testing::Test::HasFatalFailure(); ++seed) {
    Random random(seed + 500);
    const GemmExtents e{.m = 1 + random.below(200),
                        .n = 2 * step * (1 + random.below(200 / step)),
                        .k = random.below(300),
                        .batch = 1 + random.below(2)};
    const int sms = static_cast<int>(1 + random.below(8));
    if constexpr (detail::kRunTimeGraph<Spec>) {
      expect_right<Spec>({e, *graph}, seed, sms);
    } else {
      expect_right<Spec>(e, seed, sms);
    }
  }
}

// With C, vectors of gate and up, and outputs of both arguments.
template <GemmSchedule schedule, GemmGate gate, int cluster_m, int cluster_n>
struct GatedEverything {
  static constexpr GemmOptions options{
      .c = ElementType::bf16, .tile = {128, 64}, .cluster = {cluster_m, cluster_n}, .schedule = schedule, .gate = gate};
  static constexpr fusion::Graph graph = fusion::graph(
      "g:bf16 = alpha * gate(acc) + row(b1); u:f16 = alpha * up(acc) + row(b2) + col(shift);"
      "d = silu(g) * u + beta * c");
};

template <ElementType a, ElementType b, ElementType d_element, bool promote = false>
struct GatedOfTypes {
  static constexpr GemmOptions options{
      .a = a, .b = b, .d = d_element, .tile = {64, 64}, .cluster = {2, 1}, .promote = promote};
  static constexpr fusion::Graph graph = fusion::graph("d = 0.125 * gelu(gate(acc) + row(bias)) * up(acc)");
};

}  // namespace gantry_test

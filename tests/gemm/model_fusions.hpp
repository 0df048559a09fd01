// What models fuse beside activations, in GEMMs of random sizes on the simulated SM, compared with the reference.
#pragma once

#include <gantry/epilogue/fusion/loop_callbacks.hpp>
#include <gantry/epilogue/fusion/parse.hpp>

#include "given_memory.hpp"

namespace gantry_test {

// Tiles that overhang, K that is no multiple of anything, batches. `step`: what N is a multiple of.
template <class Spec>
void expect_random_right(unsigned first_seed, int step = 8, const fusion::Graph& graph = fusion::Graph()) {
  for (unsigned seed = first_seed; seed < first_seed + 3 && !testing::Test::HasFatalFailure(); ++seed) {
    Random random(seed + 900);
    const GemmExtents e{.m = 1 + random.below(150),
                        .n = step * (1 + random.below(200 / step)),
                        .k = random.below(100),
                        .batch = 1 + random.below(2)};
    const int sms = static_cast<int>(1 + random.below(8));
    if constexpr (detail::kRunTimeGraph<Spec>) {
      expect_right<Spec>({e, graph}, seed, sms);
    } else {
      expect_right<Spec>(e, seed, sms);
    }
  }
}

// Any graph, at run time.
struct AnyPlain : fusion::GraphAtRunTime<true, true, 64 * 1024> {
  static constexpr GemmOptions options{
      .c = ElementType::bf16, .tile = {.m = 64, .n = 64}, .cluster = {1, 1}, .stages = 2};
};
struct AnySwapped : fusion::GraphAtRunTime<true, true, 32 * 1024> {
  static constexpr GemmOptions options{
      .c = ElementType::bf16, .tile = {.m = 16, .n = 64}, .cluster = {1, 1}, .stages = 3, .swapped = true};
};

inline constexpr const char* kDropouts[] = {
    "d = dropout(acc, 0.5, seed)",
    "d = dropout(relu(acc + row(bias)), 0.1, seed:s64) + c; bits:u1 = keep(0.1, seed:s64)",
    "d = dropout(acc, 0, seed); bits:u1 col = keep(0.25, seed); n = reduce_add(keep(0.25, seed))",
    "d = dropout(acc, 0.5, a) + dropout(c, 0.25, b:s32 = 5) + scalar(a:u32)",
};

// For tiles of 64 x 64.
inline constexpr const char* kBlocks[] = {
    "d = acc; m col = reduce_col_max(acc, 64); s col = reduce_col_sumexp(acc, 64); t = reduce_col_sumexp(acc)",
    "d = acc + c; a = reduce_row_add(d, 64); b:bf16 col = reduce_row_lse(d, 64); e:f16 = reduce_col_add(d, 64)",
};

inline constexpr const char* kRounded[] = {
    "compute bf16; d = acc * 1.1 + c; s = reduce_add(acc * 1.1)",
    "compute f16; d = silu(acc * 0.3) * col(v) + 0.1; y:f32 = acc / 3",
};

// Accumulators of some tens, so that the factor decides how many of the values saturate.
template <ElementType d_element, LayoutTag layout, bool small>
struct Quantized {
  static constexpr GemmOptions options{
      .d = d_element, .layout_d = layout, .tile = {64, 64}, .cluster = {1, 1}, .stages = 2};
  static constexpr fusion::Graph graph =
      small ? fusion::graph("let x = acc * 16; d = quantize(x, scalar(scale)); top = reduce_amax(x)")
            : fusion::graph("let x = acc * 4096; d = quantize(x, scalar(scale)); top = reduce_amax(x)");
};

}  // namespace gantry_test

// Forty of the random graphs as texts, so that they can be compiled: what is compiled agrees bit for bit with the walk
// in a loop. A test holds the texts to the generator.
#pragma once

#include <algorithm>
#include <utility>

#include "loop_configs.hpp"

namespace gantry::test {

// One kernel walks these graphs and those of random_test.cpp.
inline constexpr LoopSpec kCompiledSpec{.c = ElementType::bf16, .d = ElementType::bf16, .reuse = true, .delay = true};
inline constexpr std::uint64_t kFirstCompiledSeed = 4000;

// clang-format off
inline constexpr const char* kGraphTexts[] = {
    R"(d = scalar(s0:bf16); y1 = gelu_tanh(c) - acc; y2:e4m3 col optional = y1; sum3 optional = reduce_row_mul(y1))",
    R"(let t0 = square(min(--col(k1), 64)); d = sigmoid(t0); y5:e5m2 = acc; y6 = acc; sum7 optional = reduce_add(t0))",
    R"(d = 2; let t0 = gelu(acc); let t1 = d_tanh(2, t0); y1 col = t1 / max(abs(t0), 0.5); y2 = t1; sum3 optional deterministic = reduce_col_min(t1); sum4 optional deterministic = reduce_row_lse(t1))",
    R"(d = row(r1:bf16); let t0 = c / max(abs(load(x0:u1 = -1)), 0.5); let t1 = threshold_relu(max(-t0, t0), acc, row(r1:bf16)); sum6 deterministic = reduce_min(rcp(abs(log(abs(gelu_tanh(d_gelu_tanh(clamp(sigmoid(relu(t1)), t1, t1 - acc), t0))) + 0.5)) + 1)))",
    R"(d = across_add(c, 16); y2:u1 = c; y3:u1 col optional = c; sum4 optional = reduce_lse(c))",
    R"(d = rcp(abs(quantize(select(acc * scalar(s0:f16), scalar(s0:f16), acc), scalar(s0:f16))) + 1); sum2 optional = reduce_col_lse(scalar(s1)); sum3 = reduce_amax(scalar(s1)))",
    R"(d = tanh(select(clamp(acc, c, acc), acc, c)); y3:f16 col = d_mish(threshold_relu(d, load(x1:e4m3 col), c), c); sum4 = reduce_row_amax(col(k2)); sum5 optional = reduce_col_max(load(x1:e4m3 col)))",
    R"(d = min(c, acc); y1:s8 col = d; y2:u1 = d)",
    R"(let t0 = d_silu(d_gelu(c, acc), col(k1:e5m2 = 0)); d = tanh(fma(threshold_relu(keep(0.5, q2:u32), col(k4:bf16), t0), t0, rcp(abs(t0) + 1))); sum5:bf16 deterministic = reduce_col_max(d))",
    R"(d = gelu(relu(hardswish(select(acc, col(k0), d_tanh(acc, col(k0)))))); sum4 = reduce_row_max(load(x1:e4m3)))",
    R"(let t0 = max(across_amax(across_amax(across_max(rotate(c, 16), 16), 16), 16), load(x0:f16)); d = across_max(sqrt(abs(t0)) - t0, 16); y3:e4m3 = t0; sum4 optional deterministic = reduce_mul(c))",
    R"(d = fma(acc, col(k0), acc) - acc; y2:e4m3 = keep(0.25, q1:s64); y3:e4m3 optional = keep(0.25, q1:s64))",
    R"(d = across_max(silu(quantize(c, load(x0:bf16 col))), 16); y6 optional = d; y7 optional = d; sum8 deterministic = reduce_lse(d); sum9 optional = reduce_max(d))",
    R"(d = threshold_relu(c, load(x0:f16 = 2), c) > acc)",
    R"(d = d_hardswish(load(x1:e5m2 col), load(x2 col = 0)); y3:bf16 col optional = relu(log(abs(keep(0.25, q0:s64)) + 0.5)); let t0 = log(abs(-relu(d_gelu(load(x1:e5m2 col), y3))) + 0.5); sum4 = reduce_amax(t0); sum5 deterministic = reduce_lse(t0))",
    R"(d = col(k4:e4m3); let t0 = log(abs(acc) + 0.5); sum7 deterministic = reduce_row_lse(select(gelu(t0), col(k1:f16), t0)))",
    R"(d = snake(c, max(abs(acc), 0.5)); let t0 = d_sigmoid(d_gelu(d, acc), d); y1:u1 col = (lower_bound(t0, c) + d) / max(abs(t0), 0.5); sum2:bf16 = reduce_row_add(d))",
    R"(d = leaky_relu(round(row(r0:e5m2):f16), row(r0:e5m2)); y6:s8 = col(k1:bf16); y7:s8 optional = col(k1:bf16); sum8 optional deterministic = reduce_lse(d_relu(silu(col(k1:bf16)), row(r0:e5m2))))",
    R"(d = gelu(leaky_relu(acc, c)); y2:e5m2 col optional = across_add(c, 16); sum3:f16 = reduce_row_amax(acc))",
    R"(d = rotate(d_relu(threshold_relu(sigmoid(acc), 1, acc), col(k0)), 2))",
    R"(d = d_relu(d_relu(sigmoid(load(x0:u1 = 0.5)), c), load(x0:u1 = 0.5)) * load(x1:u1); y2:f16 = acc)",
    R"(d = gelu(c); y5 col = d)",
    R"(d = across_amax(d_relu(sigmoid(threshold_relu(c, acc, scalar(s0:s8 = 1))), scalar(s0:s8 = 1)), 16); y3 = d)",
    R"(let t0 = min(acc, c); d = d_gelu(t0, c); y1:u1 col = c; sum2 = reduce_lse(c); sum3:s32 deterministic = reduce_row_mul(t0))",
    R"(let t0 = relu(load(x0 col) * c); d = d_relu(scalar(s1:e4m3 = 0), d_gelu_tanh(across_amax(t0, 16), t0) > d_tanh(acc, c)))",
    R"(d = tanh(across_amax(gelu(c * c > acc), 16)))",
    R"(d = sigmoid(c); sum2 optional deterministic = reduce_row_mul(d); sum3 optional = reduce_col_min(keep(0.75, q0:u32)))",
    R"(d = clamp(fma(exp(clamp(c, -8, 4)), c, acc), load(x0:u1 col), c); sum3:s32 deterministic = reduce_row_lse(across_amax(across_max(select(d, acc, load(x0:u1 col)), 16), 16) - col(k1)))",
    R"(d = acc; y1:e5m2 = c)",
    R"(let t0 = d_sigmoid(c, acc); d = fma(t0, scalar(s0:bf16), t0); y1:s8 col optional = scalar(s0:bf16); sum2:s32 optional = reduce_col_max(c))",
    R"(d = exp(clamp(c, -8, 4)); y4:bf16 = log(abs(silu(d_gelu(relu(scalar(s1:e4m3)), mish(keep(0, q0:u32))) / max(abs(c), 0.5))) + 0.5))",
    R"(d = rotate(across_max(relu(lower_bound(acc, c)), 16), 2); y1:bf16 = d; y2:bf16 = d; sum3 deterministic = reduce_mul(acc); sum4 deterministic = reduce_lse(acc))",
    R"(d = scalar(s3); let t0 = across_add(d_silu(acc, c), 16); let t1 = snake(round(d_silu(t0, fma(t0, keep(0, q0:s64 = 445), acc)):f32), max(abs(keep(0, q0:s64 = 445)), 0.5)); y7:f16 optional = snake(relu(hardswish(gelu(t1))), max(abs(t1), 0.5)); sum8 optional deterministic = reduce_row_amax(y7))",
    R"(let t0 = rotate(acc, 2); d = mish(d_relu(snake(acc, max(abs(t0), 0.5)), t0)); y0 = d)",
    R"(let t0 = exp(clamp(d_gelu_tanh(acc > row(r0:e4m3), scalar(s1:f16 = 0)), -8, 4)); d = quantize(t0, across_max(hardswish(t0), 16)); y6:s8 = d; sum7 deterministic = reduce_col_min(d); sum8 optional deterministic = reduce_max(d))",
    R"(d = relu(c); y0 col = d; y1:bf16 col = d)",
    R"(d = gelu_tanh(acc); y1:s8 col = acc; y2:s8 col optional = acc; sum3 optional = reduce_col_add(acc); sum4 optional deterministic = reduce_row_lse(keep(0.75, q0:u32 = 46)))",
    R"(d = hardswish(d_mish(clamp(acc, scalar(s0), acc) / max(abs(c), 0.5) * acc, d_sigmoid(c, acc))); y3:e5m2 = gelu(abs(d)); sum4:f16 deterministic = reduce_min(y3); sum5 deterministic = reduce_row_lse(y3))",
    R"(d = keep(0.5, q0:s64) * load(x2:u1); let t0 = acc - acc; sum6 = reduce_col_min(lower_bound(lower_bound(snake(t0, max(abs(t0), 0.5)), 3), 3)); sum7:f16 deterministic = reduce_add(d))",
    R"(d = load(x0:e4m3 = -0.5); y6 col = c; y7:u1 = c; sum8 = reduce_add(c))",
};
// clang-format on

template <int k>
struct Compiled : Plain {
  static constexpr EpiloguePolicy policy = loop_policy(kCompiledSpec);
  static constexpr fusion::Graph graph = fusion::graph(kGraphTexts[k]);
};

// Of which the order matters.
inline bool rounds(fusion::Reduction op) {
  return op == fusion::Reduction::add || op == fusion::Reduction::mul || op == fusion::Reduction::lse;
}

// What a run leaves in memory, but for what atomics add and multiply, in the schedule's order.
inline std::vector<std::vector<std::uint8_t>> outputs_of(Problem& problem) {
  std::vector<std::vector<std::uint8_t>> out{problem.d().bytes};
  const fusion::Graph& graph = problem.graph();
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    const bool in_any_order = a.kind == fusion::ArgumentKind::reduction && rounds(fusion::reduction_of(graph, i)) &&
                              !fusion::combined_in_order(a);
    if (fusion::is_output(a.kind) && !in_any_order) out.push_back(problem.argument(i).bytes);
  }
  return out;
}

// With kCompiledSpec, two CTAs.
Report run_in_loop(Problem& problem, std::uint64_t seed);

template <int k>
void expect_compiled_agrees_with_loop() {
  if (testing::Test::HasFailure()) return;
  const std::uint64_t seed = kFirstCompiledSeed + k;
  Problem problem(Compiled<k>::graph, options_for<Compiled<k>>(random_options(seed)));
  const Report loop = run_in_loop(problem, seed);
  ASSERT_TRUE(loop.clean()) << loop.text() << kGraphTexts[k];
  const auto expected = outputs_of(problem);
  const Report compiled = KernelRun<Compiled<k>>(problem, 2)({.seed = seed + 1, .latency = Latency::late});
  ASSERT_TRUE(compiled.clean()) << compiled.text() << kGraphTexts[k];
  EXPECT_EQ(outputs_of(problem), expected) << "graph " << k << ": " << kGraphTexts[k];
  const auto reference = fusion::reference(problem.graph(), problem.reference(), problem.fusion());
  EXPECT_EQ(problem.wrong(reference), "") << kGraphTexts[k];
}

template <int first, int... ks>
void expect_compiled_agree_with_loop(std::integer_sequence<int, ks...>) {
  (expect_compiled_agrees_with_loop<first + ks>(), ...);
}

}  // namespace gantry::test

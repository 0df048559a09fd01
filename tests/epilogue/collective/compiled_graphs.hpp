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
    R"(d = d_sigmoid(c, acc) * acc; y1 optional = d; y2:u1 = d)",
    R"(let t0 = abs(acc); let t1 = sigmoid(t0); let t2 = round(t1:f32); let t3 = d_silu(t2, col(k2)); let t4 = sigmoid(t3); d = fma(d_mish(select(t4, col(k1:e4m3 = 2), t4) / max(abs(t3), 0.5), t1), t2, t3); y6:u1 optional = d; y7 = d; sum8 = reduce_col_amax(square(min(t0, 64))))",
    R"(let t0 = gelu(acc); d = d_mish(2, t0); y0 col = quantize(acc, t0); sum1 = reduce_row_amax(y0))",
    R"(let t0 = max(c, load(x0:u1 = -1)); let t1 = square(min(t0, 64)); let t2 = t1 - t0; let t3 = abs(select(d_silu(sigmoid(t2), t1), load(x0:u1 = -1), t1)); d = quantize(clamp(exp(clamp(sqrt(abs(t3)), -8, 4)), t2, t3), load(x4:f16 col = -0.5)); y8:u1 optional = d; sum9 deterministic = reduce_col_add(acc); sum10 = reduce_amax(keep(0, q6:u32)))",
    R"(d = d_hardswish(--acc, c) > c; y1:f16 col = acc; y2:e5m2 = acc)",
    R"(d = clamp(threshold_relu(acc, scalar(s0:f16), scalar(s0:f16)), load(x1:f16 = 0.5), scalar(s0:f16)); y3:bf16 col optional = max(snake(d, max(abs(d), 0.5)), d); y4:u1 = d; sum5 = reduce_col_add(d); sum6 = reduce_col_max(d))",
    R"(d = acc; let t0 = d_hardswish(c, d_mish(c, acc)); y1:f16 optional = gelu_tanh(clamp(c, hardswish(t0), t0)); y2:bf16 col = y1; sum3 = reduce_row_max(y1))",
    R"(d = square(min(c, 64)); y1:s8 col = d; y2:u1 = d)",
    R"(d = acc; let t0 = d_silu(c, acc); y3:s8 col = log(abs(d_tanh(square(min(d_gelu_tanh(silu(fma(t0, col(k1:e5m2 = 0), c)), t0), 64)), col(k1:e5m2 = 0))) + 0.5); y4:u1 = y3; sum5 optional = reduce_max(c); sum6 = reduce_col_max(c))",
    R"(d = d_sigmoid(acc, col(k0)); let t0 = round(gelu(sigmoid(acc)):e4m3); sum5 = reduce_row_amax(t0); sum6 = reduce_row_max(t0))",
    R"(let t0 = rcp(abs(c) + 1); d = d_sigmoid(log(abs(round(silu(t0):s8)) + 0.5), load(x1:e5m2)); y3:e5m2 col optional = d; sum4 optional = reduce_row_max(t0))",
    R"(d = max(exp(clamp(acc, -8, 4)), acc); y1:s8 = d; y2:bf16 col optional = d)",
    R"(let t0 = d_tanh(c, load(x0:bf16 col)); let t1 = gelu(t0); d = d_sigmoid(silu(select(hardswish(t1), silu(2), threshold_relu(t1, keep(0.5, q1:u32 = 154), c)) * scalar(s4)), c); y5:u1 optional = d; sum6 optional deterministic = reduce_col_max(d); sum7 optional = reduce_col_add(d_gelu_tanh(t0, acc)))",
    R"(d = snake(load(x0:f16 = 2), max(abs(row(r1:f16)), 0.5)))",
    R"(d = keep(0.25, q0:s64))",
    R"(let t0 = tanh(acc); d = square(min(mish(d_mish(snake(quantize(relu(t0), t0), max(abs(t0), 0.5)), t0)), 64)); y3 = d; sum4 = reduce_add(d); let t1 = d_gelu_tanh(acc, acc); sum5 deterministic = reduce_row_max(d_leaky_relu(t1, acc, t1)))",
    R"(d = sigmoid(c); y1:s8 col = keep(0.25, q0:s64 = 601))",
    R"(d = sigmoid(relu(d_sigmoid(c, c * acc))); y6:s8 = scalar(s1:bf16); y7:s8 optional = scalar(s1:bf16); sum8 optional deterministic = reduce_max(d))",
    R"(d = exp(clamp(c, -8, 4)); y2:u1 col = -d_silu(d_gelu(d, -0), keep(0.5, q0:s64)); y3:u1 optional = y2; sum4 = reduce_add(y2))",
    R"(d = relu(sigmoid(rcp(abs(acc) + 1))))",
    R"(d = log(abs(c) + 0.5))",
    R"(d = exp(clamp(row(r0:e5m2), -8, 4)); y4 optional = d; y5:u1 col = d)",
    R"(d = keep(0.5, q1:s64); y2:u1 col optional = silu(gelu_tanh(c)); y3:bf16 = scalar(s0:s8 = 1))",
    R"(d = round(acc * c:e4m3); y1:u1 col = c; sum2 = reduce_amax(c); sum3 deterministic = reduce_row_amax(c))",
    R"(d = keep(0, q0:s64); let t0 = d_gelu_tanh(acc, c); let t1 = d_tanh(t0, acc); sum6 = reduce_col_amax(sigmoid(d_leaky_relu(abs(quantize(acc, select(fma(t1, c, t0), t1, t0))), acc, keep(0.25, q4:s64 = 673)))))",
    R"(d = c * c; sum1 optional deterministic = reduce_add(quantize(-0, d) > acc))",
    R"(d = acc * d_gelu_tanh(d_tanh(acc, c), c > acc); y2:u1 = d; sum3 optional deterministic = reduce_col_max(d); sum4 = reduce_row_max(d))",
    R"(let t0 = d_leaky_relu(c, acc, c); d = exp(clamp(leaky_relu(gelu(d_mish(snake(square(min(acc, 64)), max(abs(t0), 0.5)), -t0)), c), -8, 4)); y4:bf16 col optional = d; y5:bf16 col optional = d)",
    R"(d = acc; y1:e5m2 = c)",
    R"(d = d_hardswish(acc, scalar(s0:bf16)); y1 = rcp(abs(c) + 1); y2:e4m3 = y1; sum3 = reduce_row_amax(y1); sum4 optional = reduce_col_amax(y1))",
    R"(let t0 = -acc; let t1 = log(abs(t0) + 0.5); d = abs(leaky_relu(d_hardswish(relu(t0), threshold_relu(c, t1, d_hardswish(c, acc))), scalar(s0 = -2))); sum1 = reduce_row_max(t1); sum2 optional = reduce_add(t1))",
    R"(d = c)",
    R"(d = abs(sigmoid(c)); y5:e5m2 = col(k4:e5m2); sum6 deterministic = reduce_add(col(k4:e5m2)))",
    R"(let t0 = gelu_tanh(gelu_tanh(acc) > 0.5); d = snake(abs(t0), max(abs(0.5), 0.5)); sum0 optional = reduce_col_add(t0))",
    R"(let t0 = d_mish(silu(acc), col(k1:e4m3)); d = snake(tanh(acc), max(abs(d_silu(t0 + col(k1:e4m3), t0)), 0.5)); y4 = t0; y5:e4m3 optional = t0; sum6 optional deterministic = reduce_amax(t0); sum7 optional deterministic = reduce_col_add(row(r0:e4m3)))",
    R"(d = d_gelu(c, acc); y0:s8 = c; sum1 optional = reduce_row_add(acc))",
    R"(d = acc; y1:f16 = gelu(leaky_relu(quantize(acc, acc), keep(0.75, q0:u32 = 46))); y2:u1 optional = y1)",
    R"(d = tanh(acc + row(r2)) > load(x3:u1); let t0 = square(min(c, 64)); let t1 = threshold_relu(t0, c, t0); y4:e5m2 = d_tanh(d_sigmoid(t1, row(r2)), d_tanh(t1, c)); sum5 = reduce_add(y4); sum6 optional = reduce_max(y4))",
    R"(d = d_tanh(max(log(abs(acc) + 0.5), col(k0)), exp(clamp(acc, -8, 4))); y3:f16 optional = d; y4:bf16 = tanh(-0) - col(k0); sum5 = reduce_add(y4); sum6 = reduce_row_amax(y4))",
    R"(let t0 = d_leaky_relu(exp(clamp(c, -8, 4)), acc, c); d = rotate(relu(t0 - c), 16); sum7 = reduce_max(t0))",
};
// clang-format on

template <int k>
struct Compiled : Plain {
  static constexpr EpiloguePolicy policy = loop_policy(kCompiledSpec);
  static constexpr fusion::Graph graph = fusion::graph(kGraphTexts[k]);
};

// What a run leaves in memory, but for sums by atomics, whose order is the schedule's.
inline std::vector<std::vector<std::uint8_t>> outputs_of(Problem& problem) {
  std::vector<std::vector<std::uint8_t>> out{problem.d().bytes};
  const fusion::Graph& graph = problem.graph();
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    const bool sum =
        a.kind == fusion::ArgumentKind::reduction && fusion::reduction_of(graph, i) == fusion::Reduction::add;
    if (fusion::is_output(a.kind) && (!sum || a.deterministic)) out.push_back(problem.argument(i).bytes);
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

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
    R"(d = log(abs(c * acc) + 0.5); y1:f16 col optional = d; y2:bf16 optional = scalar(s0:f16))",
    R"(let t0 = acc - load(x0:u1 col); d = clamp(col(k4:s8), exp(clamp(t0, -8, 4)), gelu(row(r2:bf16))); y5:u1 optional = d; y6 = d; sum7 = reduce_col_amax(log(abs(t0) + 0.5)))",
    R"(d = scalar(s0); let t0 = square(min(acc, 64)); let t1 = min(t0, acc); y2 col = t0 - t1; y3 = t1; sum4 optional = reduce_amax(t1); sum5 = reduce_max(t1))",
    R"(let t0 = relu(row(r0:f16 = -1)); let t1 = max(t0, c - acc); let t2 = d_hardswish(max(sqrt(abs(t1)) / max(abs(t0), 0.5), row(r0:f16 = -1)), load(x4:f16 col = -2)); d = d_leaky_relu(d_relu(load(x4:f16 col = -2), t1), t2, scalar(s3 = -0.5)); y8:s8 optional = max(round(snake(t2, max(abs(t2), 0.5)) > row(r0:f16 = -1):e5m2), scalar(s1)); sum9 = reduce_col_amax(load(x4:f16 col = -2)); sum10 deterministic = reduce_add(load(x4:f16 col = -2)))",
    R"(d = tanh(select(rcp(abs(-0) + 1), -0, acc)); y0:s8 col optional = acc; sum1 deterministic = reduce_row_max(round(acc:e5m2)); sum2 optional deterministic = reduce_col_add(d))",
    R"(d = min(acc - -1, acc); let t0 = relu(d_hardswish(d, row(r0:e4m3 = 1))); sum2 optional deterministic = reduce_col_add(t0); sum3 = reduce_col_max(t0))",
    R"(let t0 = d_tanh(-(acc > c), c); d = d_sigmoid(clamp(t0, relu(c) + acc, t0), scalar(s0:bf16)))",
    R"(d = round(acc:s8); y1:s8 col = d; y2:u1 = d)",
    R"(d = lower_bound(tanh(round(acc:e4m3)) - c, c); sum5 = reduce_col_amax(d))",
    R"(d = log(abs(d_mish(sigmoid(row(r0:bf16)), d_leaky_relu(3, acc, 3))) + 0.5); sum4 = reduce_row_amax(row(r0:bf16)); sum5 = reduce_row_max(row(r0:bf16)))",
    R"(let t0 = d_silu(c, acc); d = log(abs(hardswish(leaky_relu(d_hardswish(select(acc, t0, c), row(r1:e5m2)), acc))) + 0.5) * load(x0:e5m2); y3:bf16 = row(r2 = 0.5); y4 col = row(r2 = 0.5); sum5 optional deterministic = reduce_row_amax(t0))",
    R"(d = min(acc, row(r1)); y2:bf16 col optional = d; y3:e4m3 optional = d)",
    R"(d = d_gelu_tanh(sigmoid(row(r2:s8)), acc); let t0 = d_silu(d_hardswish(row(r0:bf16), row(r2:s8)), row(r0:bf16)); y6:u1 optional = d_relu(c, max(relu(d), max(d_gelu_tanh(t0, hardswish(col(k1:e4m3 = 0))), t0))); sum7 optional deterministic = reduce_col_max(y6); sum8 optional = reduce_col_add(d))",
    R"(d = c; let t0 = mish(row(r0:f16 = 2)) + c; sum1 deterministic = reduce_add(t0); sum2 optional deterministic = reduce_row_amax(t0))",
    R"(d = round(acc:f32))",
    R"(d = min(hardswish(d_sigmoid(d_silu(abs(col(k3 = -2)), col(k3 = -2)), hardswish(acc) > round(acc:s8))), scalar(s0:e5m2)); sum7 optional = reduce_max(d))",
    R"(d = acc; y2:e5m2 col optional = c; sum3 = reduce_amax(c))",
    R"(d = fma(0.001, acc, tanh(--c)); let t0 = lower_bound(c, lower_bound(c, acc)); sum3 = reduce_row_add(t0); sum4 optional = reduce_amax(t0 - c))",
    R"(let t0 = gelu_tanh(c); d = d_gelu(c, t0); y4:f16 optional = gelu_tanh(threshold_relu(acc, c, acc)); y5:e4m3 optional = t0)",
    R"(d = load(x0:e5m2))",
    R"(d = col(k0 = -1.5); y1:f16 = d_leaky_relu(leaky_relu(c, acc), c, acc))",
    R"(d = sigmoid(max(scalar(s0:e5m2), col(k1:f16 = -2))); sum5 = reduce_col_add(load(x2:e4m3 col)); sum6 = reduce_col_max(scalar(s0:e5m2) + col(k1:f16 = -2)))",
    R"(d = sigmoid(tanh(d_gelu_tanh(scalar(s0:s8), -1))); y2:u1 col optional = d; y3:bf16 = acc)",
    R"(let t0 = snake(acc, max(abs(c), 0.5)); d = d_hardswish(t0, c); y0 col = d; y1:bf16 = t0)",
    R"(let t0 = sqrt(abs(acc)); let t1 = d_tanh(t0, col(k0:s8 = -0.5)); let t2 = clamp(t1, col(k0:s8 = -0.5), t0); d = leaky_relu(d_relu(tanh(sigmoid(lower_bound(relu(d_relu(snake(t2, max(abs(t1), 0.5)), t1)), scalar(s2 = -1)))), acc), t2); y4:u1 = 2; y5:bf16 col = 2; sum6 = reduce_col_add(2))",
    R"(d = c; y4:bf16 optional = log(abs(log(abs(exp(clamp(c, -8, 4))) + 0.5)) + 0.5))",
    R"(d = col(k1:s8 = 1.5); y3:e5m2 col = silu(select(d_hardswish(acc, load(x0:u1)), load(x0:u1), col(k1:s8 = 1.5))) + load(x0:u1); y4 optional = y3; sum5 optional deterministic = reduce_row_max(load(x2:f16)); sum6 optional = reduce_add(load(x2:f16)))",
    R"(d = c; y4:e4m3 = acc)",
    R"(d = rcp(abs(min(c, acc)) + 1))",
    R"(let t0 = d_gelu(c, acc); d = t0 - scalar(s0:bf16); y1 = t0; y2:e4m3 = t0; sum3 = reduce_row_amax(t0); sum4 optional = reduce_col_amax(t0))",
    R"(d = leaky_relu(max(acc, d_sigmoid(c, acc)), row(r1)); y2:bf16 = d)",
    R"(d = round(acc:f16); sum2 = reduce_row_amax(0.1))",
    R"(let t0 = sigmoid(acc); let t1 = select(fma(d_sigmoid(row(r1:e4m3 = 1.5), acc), snake(max(t0, load(x0:s8 = -2)), max(abs(t0), 0.5)), row(r1:e4m3 = 1.5)), acc, row(r1:e4m3 = 1.5)); let t2 = snake(t1, max(abs(t1), 0.5)); d = snake(t2, max(abs(load(x2)), 0.5)); y5:u1 = t2; sum6 optional = reduce_row_amax(row(r3)))",
    R"(d = gelu(d_relu(tanh(acc), hardswish(acc))); y1:u1 col optional = d; y2:s8 optional = d)",
    R"(d = gelu(acc); y5:u1 col = d; y6:s8 optional = d)",
    R"(d = c - acc; y0:s8 = c; sum1 optional = reduce_row_add(acc))",
    R"(d = hardswish(acc); y1 = d_tanh(hardswish(relu(d)), d); y2:f16 = y1)",
    R"(d = d_sigmoid(round(exp(clamp(hardswish(c), -8, 4)):f16), fma(load(x2:f16), d_leaky_relu(c, acc, c), scalar(s1:bf16))))",
    R"(d = d_relu(acc, acc); y2:s8 = 0.1; y3:e4m3 = threshold_relu(exp(clamp(leaky_relu(d, acc), -8, 4)), 0.1, round(d:e4m3)))",
    R"(d = col(k0:e4m3 = -0.5); let t0 = c > acc; y5 col = leaky_relu(d_tanh(d_sigmoid(d_leaky_relu(t0, acc, c), t0), -0), d_gelu_tanh(sigmoid(square(min(exp(clamp(silu(col(k0:e4m3 = -0.5)), -8, 4)), 64))), t0)); y6:f16 col = y5; sum7 deterministic = reduce_col_max(square(min(col(k0:e4m3 = -0.5), 64))))",
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

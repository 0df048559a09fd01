// Forty of the random graphs as texts, so that they can be compiled: what is compiled agrees bit for bit with the walk
// in a loop. A test holds the texts to the generator.
#pragma once

#include <algorithm>
#include <utility>

#include "loop_configs.hpp"

namespace gantry::test {

inline constexpr LoopSpec kCompiledSpec{.c = ElementType::bf16, .d = ElementType::bf16};
inline constexpr std::uint64_t kFirstCompiledSeed = 4000;

// clang-format off
inline constexpr const char* kGraphTexts[] = {
    R"(d = silu(d_gelu_tanh(c, acc) * acc); y1:f16 col optional = d; y2:bf16 optional = scalar(s0:f16))",
    R"(d = row(r4); y6:f16 optional = col(k3:s8))",
    R"(d = scalar(s0); let t0 = square(min(acc, 64)); let t1 = sqrt(abs(t0)); y2:s8 col = log(abs(d_tanh(t1, t0)) + 0.5); sum3 deterministic = reduce_amax(t1))",
    R"(d = d_sigmoid(d_sigmoid(select(d_gelu(row(r0:f16 = -1), acc), d_relu(c, acc), scalar(s1)), 0), scalar(s7:bf16 = 2)); y8:f16 col optional = d; y9:e4m3 col optional = tanh(col(k4:bf16)))",
    R"(d = d_silu(abs(acc), acc); sum0 optional = reduce_col_add(hardswish(d)))",
    R"(d = min(d_relu(acc, -1), acc))",
    R"(d = exp(clamp(round(c:s8), -8, 4)); y3:f16 col = min(sigmoid(d_gelu(c, acc) - d_relu(acc, c)), c); sum4 = reduce_row_amax(y3); sum5 = reduce_row_add(y3))",
    R"(d = log(abs(acc) + 0.5); y1 col optional = row(r0:s8))",
    R"(d = log(abs(-0) + 0.5); y2:e4m3 optional = scalar(s1:bf16); y3:e5m2 optional = scalar(s1:bf16); sum4 = reduce_max(leaky_relu(c, acc)))",
    R"(d = d_gelu(hardswish(3), row(r0 = -1)); y2 optional = log(abs(load(x1:u1 col = 0)) + 0.5); y3:f16 = -(3))",
    R"(let t0 = exp(clamp(c, -8, 4)); let t1 = t0 + acc; let t2 = rcp(abs(t1) + 1); d = d_sigmoid(t0 > t1, leaky_relu(t0, t2)); y3:e4m3 optional = abs(d); y4 col optional = t2; sum5 optional deterministic = reduce_row_amax(acc))",
    R"(d = d_tanh(acc, row(r1)); y2:bf16 col optional = d; y3:e4m3 optional = d)",
    R"(d = round(abs(acc):e5m2) / max(abs(col(k1:e4m3 = 0)), 0.5); y3 = round(tanh(d_sigmoid(d, col(k1:e4m3 = 0))):f32); sum4 optional deterministic = reduce_col_amax(y3))",
    R"(d = sigmoid(sigmoid(row(r0:f16 = 2))); y1:s8 = d)",
    R"(d = silu(gelu(acc)); y3:u1 optional = d; y4:e5m2 = d)",
    R"(let t0 = square(min(select(acc, scalar(s0:bf16), acc), 64)); d = silu(select(t0, scalar(s0:bf16), t0)); y8:s8 = d; sum9 = reduce_row_add(d); sum10 = reduce_col_max(acc))",
    R"(d = tanh(sigmoid(acc)); y2 = d; sum3 deterministic = reduce_col_amax(d))",
    R"(d = d_relu(gelu(acc), -(round(gelu(c):e5m2) * scalar(s3:e4m3))); sum6 = reduce_col_amax(d); sum7 optional = reduce_row_max(d))",
    R"(d = c; let t0 = relu(acc); y2:bf16 col = -min(fma(log(abs(c) + 0.5), t0, d_gelu_tanh(select(t0, acc, c), acc)), t0))",
    R"(d = log(abs(leaky_relu(acc, acc)) + 0.5))",
    R"(let t0 = d_sigmoid(c, acc); let t1 = d_hardswish(-tanh(select(t0, c, acc)), acc); d = square(min(t1, 64)); y1 col = t1; y2:bf16 col = t1; sum3 optional = reduce_amax(t0))",
    R"(d = 0; let t0 = d_tanh(c, col(k1:f16 = -2)); let t1 = d_gelu(t0, col(k1:f16 = -2)); y4:u1 = d_sigmoid(min(min(gelu_tanh(t1), t1), d_tanh(tanh(c), acc)), c); y5:s8 = t0)",
    R"(d = round(gelu(c):e5m2); sum2 = reduce_max(rcp(abs(d_hardswish(d, c)) + 1)))",
    R"(let t0 = round(acc:f32); d = silu(t0); y0:s8 col = c; y1:bf16 = t0)",
    R"(d = sigmoid(c); let t0 = relu(acc); sum7 = reduce_col_max(t0); sum8 deterministic = reduce_col_amax(t0))",
    R"(let t0 = silu(scalar(s1:f16)); let t1 = relu(clamp(t0, c, t0)); let t2 = c * c; d = fma(fma(t1, scalar(s2:bf16 = -2), t1), d_hardswish(t2, acc), acc * t2) / max(abs(acc), 0.5))",
    R"(d = select(acc, d_gelu(acc, load(x0:u1)), c); y2:s8 col = d; sum3 deterministic = reduce_amax(d))",
    R"(d = exp(clamp(gelu_tanh(scalar(s0 = -1)) * c, -8, 4)); y5:bf16 col optional = sqrt(abs(abs(sigmoid(d * col(k1:bf16))))))",
    R"(d = round(min(c, acc):e4m3); sum1 optional = reduce_col_add(c); sum2 optional = reduce_row_add(acc))",
    R"(let t0 = leaky_relu(c, acc); d = d_relu(t0, scalar(s0:bf16)); y1 = t0; y2:e4m3 = t0; sum3 = reduce_row_amax(t0); sum4 optional = reduce_col_amax(t0))",
    R"(let t0 = d_sigmoid(acc, d_gelu_tanh(round(c:f32), row(r0:e5m2 = 1.5))); let t1 = clamp(t0, row(r0:e5m2 = 1.5), t0); d = -t1; y4:e5m2 col optional = t1; y5:f16 = row(r1:bf16); sum6 optional = reduce_col_max(row(r1:bf16)); sum7 optional = reduce_max(row(r1:bf16)))",
    R"(let t0 = abs(leaky_relu(gelu(acc), c)); d = round(max(d_leaky_relu(t0, acc, col(k0:e5m2)), t0):f16); sum3 = reduce_row_amax(col(k0:e5m2)))",
    R"(let t0 = d_silu(acc, c); d = clamp(round(silu(tanh(d_silu(round(d_sigmoid(abs(rcp(abs(acc) + 1)), row(r0:bf16 = 2)):f32), t0))):f16), scalar(s2:e5m2), t0))",
    R"(let t0 = d_gelu(acc, acc); d = d_gelu(acc, t0); let t1 = round(t0:bf16); sum0 optional = reduce_row_max(t1); sum1 = reduce_row_max(t1))",
    R"(d = gelu_tanh(row(r2:f16)); y5:s8 optional = d; y6:bf16 optional = col(k4); sum7 optional = reduce_add(col(k4)); sum8 = reduce_col_add(row(r2:f16)))",
    R"(d = silu(c); y0 col = d; y1:bf16 col = d)",
    R"(let t0 = sqrt(abs(d_hardswish(fma(acc, acc, acc), acc))); d = square(min(t0, 64)); y0:f16 = t0)",
    R"(d = max(d_hardswish(sigmoid(load(x4:u1 = -1.5)), load(x4:u1 = -1.5)), 1))",
    R"(let t0 = d_leaky_relu(row(r1:e5m2), acc, scalar(s0:f16 = 1)); let t1 = d_hardswish(acc / max(abs(row(r1:e5m2)), 0.5), t0); let t2 = acc - scalar(s0:f16 = 1); d = gelu(d_leaky_relu(clamp(fma(d_leaky_relu(t1, t2, acc), t1, t2), scalar(s3:e4m3), t0), 0.001, scalar(s2:s8))); y4:s8 col = acc; y5:s8 col = 0.001)",
    R"(let t0 = square(min(c, 64)); let t1 = square(min(d_silu(d_gelu(d_tanh(acc, col(k0:e4m3 = -0.5)), load(x1:s8 = 0)), d_relu(acc, t0)), 64)); d = fma(t1, c, hardswish(t0)); y4:f16 optional = t1; sum5 = reduce_row_max(t1); sum6 deterministic = reduce_col_max(load(x1:s8 = 0)))",
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
        a.kind == fusion::ArgumentKind::reduction && fusion::detail::reduction_of(graph, i) == fusion::Reduction::add;
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

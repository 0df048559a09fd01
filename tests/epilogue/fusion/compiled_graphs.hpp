// Forty graphs as text, so that kernels can be compiled for them. random_graph.hpp made them; they do not follow its
// changes. Every function alone is compiled beside them (compiled_graphs_test.cpp).
#pragma once

namespace gantry::fusion::testing {

inline constexpr int kCompiledCount = 40;
inline constexpr const char* kCompiledGraphs[kCompiledCount] = {
    "d = leaky_relu(col(k0:e5m2 = -1.5), square(min(col(k0:e5m2 = -1.5), 64))); y1:e4m3 = d; y2:u1 col optional = d",
    "d = leaky_relu(rcp(abs(sqrt(abs(sqrt(abs(relu(c))) * scalar(s0:f16 = -1)))) + 1), row(r3:bf16 = -2))",
    "d = leaky_relu(c, acc); sum1 deterministic = reduce_max(d)",
    "let t0 = square(min(acc, 64)); d = d_relu(leaky_relu(acc, t0), d_tanh(d_sigmoid(t0, acc), scalar(s0:e5m2 = 0))); "
    "y2:bf16 optional = d; y3 optional = d",
    "d = round(max(abs(-fma(acc, acc, acc)), scalar(s1:bf16 = 1.5)):f32); y3 = scalar(s1:bf16 = 1.5); y4:f16 = "
    "scalar(s1:bf16 = 1.5)",
    "y1:e5m2 col optional = acc; y2 = acc; sum3 = reduce_max(col(k0:e5m2) - acc)",
    "d = rcp(abs(fma(acc, c, acc)) + 1); y2:e4m3 col = d",
    "d = max(round(c:f32), c); y1:s8 col optional = select(acc, c, d)",
    "d = 0.001; y1:bf16 = d_leaky_relu(row(r0), c, 0.001); let t0 = 0.001 - acc; sum2 = reduce_amax(t0); sum3 "
    "deterministic = reduce_col_amax(t0)",
    "d = c; y3:bf16 col optional = d_tanh(d_silu(col(k0:bf16), acc), c); y4:u1 = y3; sum5 = "
    "reduce_row_amax(col(k0:bf16)); sum6 = reduce_col_add(col(k0:bf16))",
    "y3:u1 col = -log(abs(exp(clamp(acc, -8, 4))) + 0.5); sum4 = reduce_max(y3); sum5 = reduce_row_add(col(k2:e5m2))",
    "d = gelu_tanh(d_gelu_tanh(acc, d_silu(acc, scalar(s0:s8)))); y1:e4m3 col = d; y2 col optional = d",
    "let t0 = abs(c); d = clamp(t0, acc, t0); sum1 deterministic = reduce_max(d); sum2 = reduce_row_max(d)",
    "let t0 = leaky_relu(acc, acc); d = min(t0, 1) - t0; y1:e5m2 optional = gelu(d); sum2 optional deterministic = "
    "reduce_col_amax(col(k0:e5m2))",
    "d = log(abs(gelu(row(r0:e5m2 = 1.5) > acc)) + 0.5); y2:e5m2 = gelu_tanh(-d); y3:s8 col = row(r0:e5m2 = 1.5)",
    "d = gelu(col(k0:bf16)); let t0 = c * 0; y3 optional = hardswish(t0); sum4 = reduce_col_add(y3); sum5 optional = "
    "reduce_row_max(t0)",
    "d = round(acc:f32); y1:e5m2 = d; y2:e5m2 = d; sum3 optional deterministic = reduce_max(d); sum4 deterministic = "
    "reduce_col_max(d)",
    "d = d_silu(c, load(x0:bf16 = -1.5)); y1:bf16 = d; y2 col = load(x0:bf16 = -1.5); sum3 optional = "
    "reduce_max(load(x0:bf16 = -1.5)); sum4 optional deterministic = reduce_max(load(x0:bf16 = -1.5))",
    "y3:s8 = max(rcp(abs(square(min(square(min(log(abs(square(min(acc, 64))) + 0.5), 64)), 64))) + 1), row(r1:bf16 = "
    "0))",
    "d = (sqrt(abs(acc)) + c) * col(k2:bf16 = 1); y3:s8 col = col(k2:bf16 = 1); y4:f16 col = scalar(s1:e5m2)",
    "let t0 = sqrt(abs(acc)); let t1 = d_leaky_relu(square(min(min(c, acc), 64)) + c, t0, max(t0, c)); d = t1 + c + "
    "t1; y3:f16 col = d; y4:bf16 col = c",
    "d = -sigmoid(gelu_tanh(log(abs(round(gelu(acc):f16)) + 0.5) - acc)); sum2 deterministic = reduce_max(d); sum3 = "
    "reduce_amax(acc)",
    "d = row(r3:e4m3 = -0.5); let t0 = rcp(abs(relu(scalar(s0:s8))) + 1); y4:u1 optional = "
    "d_hardswish(gelu_tanh(tanh(fma(t0, 0.5, scalar(s0:s8)))), t0) > fma(c, acc, 0.5); y5 = y4; sum6 = "
    "reduce_col_amax(c); sum7 optional = reduce_row_add(c)",
    "y3:e5m2 = select(acc, scalar(s0:f16), acc)",
    "y1 = sigmoid(acc > acc); sum2 optional = reduce_row_amax(y1); sum3 = reduce_max(y1)",
    "let t0 = d_silu(acc, log(abs(acc) + 0.5)); d = square(min(t0, 64)); y0:u1 col optional = t0; sum1 = "
    "reduce_max(t0)",
    "let t0 = tanh(c); let t1 = fma(t0, row(r0:f16 = 1), c) + t0; d = gelu_tanh(round(clamp(t1, c, acc):e5m2)); y3:u1 "
    "= col(k1 = 2); y4:u1 optional = acc; sum5 optional = reduce_col_max(t1)",
    "let t0 = relu(square(min(scalar(s0:bf16 = 0), 64))); let t1 = clamp(t0, acc, t0); d = square(min(clamp(-t1, acc, "
    "t1) / max(abs(c), 0.5), 64)); sum3 optional = reduce_row_max(d); sum4 deterministic = reduce_amax(d)",
    "d = exp(clamp(acc, -8, 4)); y0 = log(abs(acc) + 0.5); y1:e5m2 optional = y0",
    "d = gelu_tanh(row(r2:bf16)); y3:u1 optional = d; sum4 optional = reduce_amax(d)",
    "d = d_tanh(acc, c); y1 col = d; y2:e4m3 optional = c",
    "d = leaky_relu(gelu(c), acc); sum2 optional deterministic = reduce_row_amax(d); sum3 deterministic = "
    "reduce_row_amax(d)",
    "let t0 = d_silu(acc, c); y2:u1 col = leaky_relu(t0 - square(min(t0, 64)), c); sum3 optional = reduce_add(y2)",
    "let t0 = leaky_relu(col(k1:s8), d_relu(log(abs(acc) + 0.5), round(acc:f16))); y3 = rcp(abs(t0) + 1); sum4 "
    "optional deterministic = reduce_row_add(y3); sum5 optional = reduce_add(t0)",
    "d = leaky_relu(square(min(acc, 64)), acc); y2:u1 col optional = d; sum3 = reduce_add(acc)",
    "y0 col optional = square(min(acc, 64)); y1 = y0; sum2 = reduce_col_add(acc); sum3 = reduce_row_amax(acc)",
    "y1:bf16 col = round(sigmoid(acc):f32)",
    "d = d_hardswish(exp(clamp(acc, -8, 4)), acc); y2:f16 col = relu(d)",
    "d = d_tanh(row(r1), acc); y3 = scalar(s0); y4:e5m2 optional = leaky_relu(gelu(c), c); sum5 = reduce_row_add(y4)",
    "let t0 = d_leaky_relu(acc, scalar(s0:s8), acc); d = relu(d_gelu_tanh(-0, t0)); y2:u1 optional = d; y3:e5m2 = d; "
    "sum4 optional = reduce_col_amax(d_leaky_relu(t0, -0, scalar(s0:s8)))",
};

}  // namespace gantry::fusion::testing

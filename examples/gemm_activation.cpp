// D = softsign(scale[m] * (A B^T)[m, n]): a GEMM with a user-defined activation and a scale for each row.
// One source: g++ runs it on the simulated SM, nvcc (-x cu -gencode arch=compute_90a,code=sm_90a) on a GPU.
#include <cmath>
#include <cstdio>

#include <gantry/gemm.hpp>

struct Softsign {
  static constexpr const char* name = "softsign";
  GANTRY_INLINE static float call(float x) { return x / (1.0f + ::fabsf(x)); }
};

struct Layer {
  using Functions = gantry::fusion::UserFunctions<Softsign>;
  static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = softsign(col(scale) * acc)", Functions{});
};

int main() {
  const std::size_t m = 256, n = 384, k = 128;
  gantry::Buffer<gantry::bf16> a(m * k), b(n * k), d(m * n);
  gantry::Buffer<float> scale(m);
  for (std::size_t i = 0; i < m * k; ++i) a[i] = gantry::bf16(std::sin(static_cast<float>(i)));
  for (std::size_t i = 0; i < n * k; ++i) b[i] = gantry::bf16(std::cos(static_cast<float>(i)));
  for (std::size_t i = 0; i < m; ++i) scale[i] = 1.0f / static_cast<float>(i + 1);

  gantry::Gemm<Layer>::Arguments args({.m = m, .n = n, .k = k});
  args.a = a.data();
  args.b = b.data();  // N x K: B is given transposed
  args.d = d.data();
  args.fusion["scale"] = scale.data();
  const auto plan = gantry::Gemm<Layer>::plan(args);
  if (!plan) {
    for (const gantry::ArgumentReason& reason : plan.error()) std::puts(describe(reason).c_str());
    return 1;
  }
  const gantry::LaunchResult result = plan->run_and_wait(gantry::ThisMachine());
  const std::string wrong = result ? gantry::first_mismatch(args) : describe(result);
  std::printf("%s", plan->explain().c_str());
  std::printf("%s\n", wrong.empty() ? "Every element is right." : wrong.c_str());
  return wrong.empty() ? 0 : 1;
}

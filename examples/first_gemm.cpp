// The smallest GEMM with Gantry: D = A B^T of bf16 matrices, planned, run, compared with the reference.
// One source: g++ runs it on the simulated SM, nvcc (-x cu -gencode arch=compute_90a,code=sm_90a) on a GPU.
#include <cstdio>

#include <gantry/gemm.hpp>

struct Plain {};  // every option left open: bf16, D = A B^T

int main() {
  const std::size_t m = 256, n = 384, k = 128;
  gantry::Buffer<gantry::bf16> a(m * k), b(n * k), d(m * n);
  for (std::size_t i = 0; i < m * k; ++i) a[i] = gantry::bf16(static_cast<float>(i % 7) - 3);
  for (std::size_t i = 0; i < n * k; ++i) b[i] = gantry::bf16(static_cast<float>(i % 5) - 2);

  gantry::Gemm<Plain>::Arguments args({.m = m, .n = n, .k = k});
  args.a = a.data();  // M x K
  args.b = b.data();  // N x K
  args.d = d.data();  // M x N
  const auto plan = gantry::Gemm<Plain>::plan(args);
  if (!plan) {
    for (const gantry::ArgumentReason& reason : plan.error()) std::puts(describe(reason).c_str());
    return 1;
  }
  const gantry::LaunchResult result = plan->run_and_wait(gantry::ThisMachine());
  if (!result) {
    std::printf("%s", describe(result).c_str());
    return 1;
  }
  const std::string wrong = gantry::first_mismatch(args);
  std::printf("%s", plan->explain().c_str());
  std::printf("%s\n", wrong.empty() ? "Every element is right." : wrong.c_str());
  return wrong.empty() ? 0 : 1;
}

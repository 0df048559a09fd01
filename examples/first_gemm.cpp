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
  for (const std::string& problem : plan.problems()) std::printf("%s\n", problem.c_str());
  if (!plan.ok()) return 1;

  const gantry::ThisMachine machine;
  const gantry::LaunchResult result = plan.run(machine);
  if (!result) std::printf("%s\n", result.problem.c_str());
  const std::string failure = gantry::wait_for(machine);
  if (!failure.empty()) std::printf("%s\n", failure.c_str());
  const std::string wrong = gantry::first_mismatch(args);
  std::printf("%s", plan.explain().c_str());
  std::printf("%s\n", wrong.empty() ? "Every element is right." : wrong.c_str());
  return result && failure.empty() && wrong.empty() ? 0 : 1;
}

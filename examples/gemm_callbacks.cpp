// D = A B^T with the sign of every second element changed: an epilogue that is written as callbacks.
// One source: g++ runs it on the simulated SM, nvcc (-x cu -gencode arch=compute_90a,code=sm_90a) on a GPU.
#include <cstdio>

#include <gantry/gemm.hpp>

template <class Config>
struct Checkerboard : gantry::fusion::EmptyCallbacks {  // every second element changes its sign
  struct Store : gantry::fusion::EmptyCallbacks::Store {
    using EmptyCallbacks::Store::Store;
    template <int F>
    GANTRY_INLINE void visit(const float (&acc)[F], const float (&)[F], float (&d)[F], int first, int, int) {
      constexpr gantry::Subtiles tile = Config::tile;
      for (int k = 0; k < F; ++k) {
        const int at = tile.row(context.thread, first + k) + tile.column(context.thread, first + k);
        d[k] = at % 2 == 0 ? acc[k] : -acc[k];
      }
    }
  };
};
struct Board {
  template <class FusionConfig>
  using Callbacks = Checkerboard<FusionConfig>;
};

int main() {
  const std::size_t m = 128, n = 256, k = 64;
  gantry::Buffer<gantry::bf16> a(m * k), b(n * k), d(m * n);
  for (std::size_t i = 0; i < m * k; ++i) a[i] = gantry::bf16(1.0f);
  for (std::size_t i = 0; i < n * k; ++i) b[i] = gantry::bf16(0.5f);

  gantry::Gemm<Board>::Arguments args({.m = m, .n = n, .k = k});
  args.a = a.data();
  args.b = b.data();
  args.d = d.data();
  const auto plan = gantry::Gemm<Board>::plan(args);
  if (!plan) {
    for (const gantry::ArgumentReason& reason : plan.error()) std::puts(describe(reason).c_str());
    return 1;
  }
  const gantry::LaunchResult result = plan->run_and_wait(gantry::ThisMachine());
  if (!result) {
    std::printf("%s", describe(result).c_str());
    return 1;
  }
  for (std::size_t i = 0; i < m * n; ++i) {
    const float right = (i / n + i % n) % 2 == 0 ? 32.0f : -32.0f;
    if (static_cast<float>(d[i]) == right) continue;
    std::printf("D[%zu, %zu] is %g, and should be %g.\n", i / n, i % n, static_cast<double>(static_cast<float>(d[i])),
                static_cast<double>(right));
    return 1;
  }
  std::puts("Every element is right.");
  return 0;
}

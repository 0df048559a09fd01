// A source that nvcc compiles and that links gantry::planning runs its GEMM on the simulated SM: its host pass reads
// the kernel where <gantry/gemm/simulated.hpp> is included, and only there. Without that header Simulator is an
// incomplete type.
#include <cstdio>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/gemm.hpp>
#if defined(GANTRY_READS_SIMULATED)
#include <gantry/gemm/simulated.hpp>
#endif

namespace {

struct Layer {
  static constexpr gantry::GemmOptions options{.tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
  static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = relu(acc)");
};

constexpr int kSize = 64;
alignas(128) gantry::bf16 a[kSize * kSize], b[kSize * kSize], d[kSize * kSize];

}  // namespace

int main() {
  for (int i = 0; i < kSize * kSize; ++i) {
    a[i] = gantry::bf16(1.0f);
    b[i] = gantry::bf16(i / kSize % 2 == 0 ? 2.0f : -2.0f);  // every second column of D is negative before ReLU
  }
  gantry::Gemm<Layer>::Arguments args({.m = kSize, .n = kSize, .k = kSize});
  args.a = a;
  args.b = b;
  args.d = d;
  const auto plan = gantry::Gemm<Layer>::plan(args, gantry::device_of(gantry::Simulator()));
  if (!plan) return 2;
  const gantry::LaunchResult ran = plan->run(gantry::Simulator());
  for (int i = 0; i < kSize * kSize; ++i) {
    const float expected = i % 2 == 0 ? 2.0f * kSize : 0.0f;
    if (ran && static_cast<float>(d[i]) == expected) continue;
    std::printf("element %d is %g, and %g was expected\n%s\n", i, static_cast<float>(d[i]), expected,
                describe(ran).c_str());
    return 1;
  }
  return 0;
}

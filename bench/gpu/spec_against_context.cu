// Gemm<Spec> with nothing fixed against the library's context on sizes that nobody tuned for: alternating in one
// process, bursts after a rest, medians of nine. Ends with 77 where there is no GPU, and with 1 where a size takes more
// than 1.05 of the context's time.
//
//   nvcc -std=c++20 -O1 -DGANTRY_LINKED -gencode arch=compute_90a,code=sm_90a -Iinclude
//   bench/gpu/spec_against_context.cu
//     -Lbuild/release/src/library -lgantry -Lbuild/release/src/planning -lgantry_planning
#include <algorithm>
#include <cstdio>
#include <thread>
#include <vector>

#include <gantry/context.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/gemm.hpp>

namespace {

using gantry::bf16;

struct Plain {};
struct Gelu {
  static constexpr gantry::fusion::Graph graph = gantry::fusion::graph("d = gelu_tanh(acc + row(bias:bf16))");
};

constexpr int kSizes[][3] = {{1, 4096, 4096},
                             {16, 8192, 8192},
                             {32, 28672, 8192},
                             {5000, 5000, 5000},
                             {1536, 1536, 1536},
                             {3000, 1000, 7000},
                             {512, 4096, 14336},
                             {4096, 24576, 1536},
                             {4096, 7168, 2048},
                             {1000, 1000, 1000},
                             {256, 256, 16384},
                             // and some at random
                             {8, 4096, 14336},
                             {24, 5120, 3072},
                             {64, 4096, 4096},
                             {200, 3072, 2304},
                             {768, 1152, 9216},
                             {1408, 2560, 640},
                             {2304, 6144, 1280},
                             {6016, 1792, 3584}};

template <class Run>
double burst(const Run& run, int calls) {
  cudaEvent_t from, to;
  cudaEventCreate(&from);
  cudaEventCreate(&to);
  cudaEventRecord(from);
  for (int i = 0; i < calls; ++i) run();
  cudaEventRecord(to);
  cudaEventSynchronize(to);
  float milliseconds = 0;
  cudaEventElapsedTime(&milliseconds, from, to);
  cudaEventDestroy(from);
  cudaEventDestroy(to);
  return milliseconds * 1e3 / calls;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Buffers {
  bf16 *a, *b, *d, *bias;
};

template <class Spec>
int race(const gantry::Context& context, const char* epilogue, const Buffers& x) {
  int slow = 0;
  const auto function = context.gemm({.epilogue = epilogue});
  if (!function) return std::puts(function.error().describe().c_str()), 1;
  std::vector<gantry::GemmExtents> sizes;
  for (const auto& [m, n, k] : kSizes) sizes.push_back({.m = m, .n = n, .k = k});
  if (const auto warm = function->warm_up(sizes); !warm) return std::puts(warm.describe().c_str()), 1;
  for (const auto& [m, n, k] : kSizes) {
    typename gantry::Gemm<Spec>::Arguments args({.m = m, .n = n, .k = k});
    args.a = x.a;
    args.b = x.b;
    args.d = x.d;
    gantry::GemmCall call{.m = m, .n = n, .k = k, .a = x.a, .b = x.b, .d = x.d};
    if constexpr (requires { Spec::graph; }) {
      args.fusion["bias"] = x.bias;
      call.arguments = {{"bias", x.bias}};
    }
    const auto explained = function->explain(call);
    if (!explained) return std::puts(explained.error().describe().c_str()), 1;
    args.dependent = call.dependent = explained->gains_as_dependent;
    const auto plan = gantry::Gemm<Spec>::plan(args);
    if (!plan) return std::puts(describe(plan.error()[0]).c_str()), 1;
    const auto ours = [&] { (void)plan->run(gantry::Gpu{}); };
    const auto theirs = [&] { (void)function->run(call); };
    const int calls = std::max(3, static_cast<int>(12e3 / burst(theirs, 3)));
    std::vector<double> spec, library;
    for (int i = 0; i < 9; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      library.push_back(burst(theirs, calls));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      spec.push_back(burst(ours, calls));
    }
    const double ratio = median(spec) / median(library);
    slow += ratio > 1.05;
    const std::string picked = plan->explain();
    std::printf("%5d %5d %5d  context %8.2f us  Gemm<Spec> %8.2f us  ratio %.3f%s  %s\n", m, n, k, median(library),
                median(spec), ratio, ratio > 1.05 ? " SLOW" : "", picked.substr(0, picked.find('\n')).c_str());
    std::fflush(stdout);
  }
  return slow;
}

}  // namespace

int main() {
  const gantry::Context context({.policy = gantry::CompilePolicy::wait, .most_kernels = 1000, .compile_threads = 16});
  if (!context.status().ok()) return std::puts(context.status().describe().c_str()), 77;
  Buffers x{};
  const std::size_t most = std::size_t{28672} * 8192;
  cudaMalloc(&x.a, 2 * most);
  cudaMalloc(&x.b, 2 * most);
  cudaMalloc(&x.d, 2 * most);
  cudaMalloc(&x.bias, 2 * 65536);
  // Random bits of a few exponents: operands that take the power that real ones do.
  std::vector<std::uint16_t> bits(most);
  std::uint32_t state = 1;
  for (std::uint16_t& b : bits) {
    state = state * 1664525 + 1013904223;
    b = static_cast<std::uint16_t>((state >> 16 & 0x80ff) | 0x3f00 | (state >> 24 & 0x7f));
  }
  cudaMemcpy(x.a, bits.data(), 2 * most, cudaMemcpyHostToDevice);
  cudaMemcpy(x.b, bits.data(), 2 * most, cudaMemcpyHostToDevice);
  cudaMemset(x.bias, 0, 2 * 65536);
  std::puts("d = acc");
  int slow = race<Plain>(context, "d = acc", x);
  std::puts("d = gelu_tanh(acc + row(bias:bf16))");
  slow += race<Gelu>(context, "d = gelu_tanh(acc + row(bias:bf16))", x);
  return slow == 0 ? 0 : 1;
}

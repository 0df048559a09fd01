// The fused product against cuBLASLt (the best of its heuristic's candidates), in one process, taking turns.
//
//   fused_bench [M N K]...
//
// Four epilogues: none, C added, bias and GELU (tanh form), bias and GELU with the argument of GELU as a further
// output. bf16 in and out, f32 sums, inputs uniform in [-1, 1). Every configuration is compared with cuBLASLt first;
// the table has the time of the fastest, and cuBLASLt's over ours: medians of kRounds. Exits with 77 where there is no
// GPU.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <gantry/arch/launch.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/cooperative.hpp>
#include <gantry/gemm/fused_epilogue.hpp>
#include <gantry/gemm/pingpong.hpp>
#include <gantry/tma/encode.hpp>

#include "cublaslt.hpp"

namespace {

using namespace gantry;
using bench::check;
using bench::CublasLt;

constexpr int kRounds = 5;
constexpr double kBurst = 0.008;  // seconds of one contestant's turn

enum class Job { plain, c, bias_gelu, bias_gelu_aux };
constexpr const char* kJobs[] = {"plain", "+C", "bias+gelu", "bias+gelu+aux"};
constexpr const char* kExpressions[] = {"d = acc", "d = acc + c", "d = gelu_tanh(acc + row(bias:bf16))",
                                        "aux:bf16 = acc + row(bias:bf16); d = gelu_tanh(aux)"};

template <int TileN, int Stages, int Cluster>
struct Config : CooperativeConfig {
  static constexpr int kTileN = TileN, kStages = Stages, kClusterM = Cluster;
};

template <int TileN, int Stages, int Cluster>
struct Alternating : PingpongConfig {
  static constexpr int kTileN = TileN, kStages = Stages, kClusterM = Cluster;
};

template <Job kJob, int EpiN, int StagesC, int StagesD>
struct Fusion : FusedElements {
  static constexpr ElementType kC = kJob == Job::c ? ElementType::bf16 : ElementType::void_;
  static constexpr int kEpiN = EpiN, kStagesC = StagesC, kStagesD = StagesD;
  static constexpr fusion::Graph graph = fusion::graph(kExpressions[static_cast<int>(kJob)]);
  using Functions = fusion::UserFunctions<>;
};

struct Problem {
  int m, n, k;
  bf16 *a, *b, *c, *d, *theirs, *aux, *their_aux, *bias;
  int processors;
};

__global__ void fill(bf16* data, std::size_t count, unsigned seed) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    unsigned x = static_cast<unsigned>(i) * 2654435761u + seed;
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    x ^= x >> 16;
    data[i] = bf16(static_cast<float>(x) * 0x1p-31f - 1.0f);
  }
}

// Elements that differ by more than two roundings to bf16 and the error of tanh.
__global__ void count_different(const bf16* a, const bf16* b, std::size_t count, unsigned long long* different) {
  unsigned long long mine = 0;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    const float x = static_cast<float>(a[i]), y = static_cast<float>(b[i]);
    mine += !(fabsf(x - y) <= 0.02f + 0.02f * fabsf(y));
  }
  if (mine) atomicAdd(different, mine);
}

double seconds(const auto& run, int calls) {
  static cudaEvent_t start = nullptr, stop = nullptr;
  if (!start) {
    check(cudaEventCreate(&start), "event");
    check(cudaEventCreate(&stop), "event");
  }
  check(cudaEventRecord(start), "event");
  for (int i = 0; i < calls; ++i) run();
  check(cudaEventRecord(stop), "event");
  check(cudaEventSynchronize(stop), "running");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start, stop), "event");
  return milliseconds / 1e3 / calls;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

TmaDescriptor encode(const TmaDescriptorParams& params) {
  const EncodedTmaDescriptor encoded = encode_with_driver(params);
  if (encoded.ok()) return encoded.map;
  std::fprintf(stderr, "%s\n", describe(encoded).c_str());
  std::exit(1);
}

struct Result {
  double ours = 1e30, ratio = 0;
  std::string name;
};

template <Job kJob, template <class, class> class Gemm, class C, class F>
void measure(const Problem& p, const CublasLt& vendor, const char* name, Result& best) {
  using Epilogue = FusedEpilogue<C, F>;
  using Kernel = Gemm<C, Epilogue>;
  constexpr int kShared = sizeof(typename Kernel::Storage);
  static_assert(kShared <= 232448);
  typename Epilogue::Arguments arguments;
  arguments.c = {p.c, p.n, 0};
  arguments.d = {p.d, p.n, 0};
  if constexpr (kJob >= Job::bias_gelu) arguments.fusion["bias"] = p.bias;
  if constexpr (kJob == Job::bias_gelu_aux) arguments.fusion["aux"] = p.aux;
  const EpilogueProblem shape{p.m, p.n, p.k, 1};
  const auto epilogue = to_underlying_arguments<typename Epilogue::Part>(shape, arguments, encode);
  GemmProblem problem;
  problem.a = p.a;
  problem.b = p.b;
  problem.m = p.m;
  problem.n = p.n;
  problem.k = p.k;
  const int ctas = p.processors / C::kClusterM * C::kClusterM;
  const auto params = Kernel::make_params(problem, epilogue, ctas, encode);
  const LaunchConfig launch_config = Kernel::launch_config(params);
  const auto run = [&] {
    const LaunchResult result = launch(Gpu{}, launch_config, Kernel{}, params);
    if (!result) std::fprintf(stderr, "%s", result.problem.c_str()), std::exit(1);
  };
  const std::size_t elements = static_cast<std::size_t>(p.m) * static_cast<std::size_t>(p.n);
  check(cudaMemset(p.d, 0, elements * 2), "clearing");
  check(cudaMemset(p.aux, 0, elements * 2), "clearing");
  run();
  static unsigned long long* different = nullptr;
  if (!different) check(cudaMalloc(&different, sizeof *different), "cudaMalloc");
  check(cudaMemset(different, 0, sizeof *different), "clearing");
  count_different<<<1024, 256>>>(p.d, p.theirs, elements, different);
  if (kJob == Job::bias_gelu_aux) count_different<<<1024, 256>>>(p.aux, p.their_aux, elements, different);
  unsigned long long wrong = 0;
  check(cudaMemcpy(&wrong, different, sizeof wrong, cudaMemcpyDeviceToHost), "running");
  if (wrong) std::printf("%s %s: %llu elements differ\n", kJobs[static_cast<int>(kJob)], name, wrong);

  const auto theirs = [&] { vendor.run(nullptr); };
  const int calls = std::max(3, static_cast<int>(kBurst / seconds(run, 3)));
  std::vector<double> our_times, their_times;
  for (int i = 0; i < kRounds; ++i) {
    their_times.push_back(seconds(theirs, calls));
    our_times.push_back(seconds(run, calls));
  }
  const double ours = median(our_times), ratio = median(their_times) / ours;
  std::printf("    %-14s %-22s %9.4f ms %9.4f ms %7.3f\n", kJobs[static_cast<int>(kJob)], name, ours * 1e3,
              median(their_times) * 1e3, ratio);
  std::fflush(stdout);
  if (ours < best.ours) best = {ours, ratio, name};
}

template <Job kJob>
void race(const Problem& p) {
  const CublasLt vendor({.m = p.m, .n = p.n, .k = p.k}, p.a, p.b, p.theirs,
                        {.c = kJob == Job::c ? p.c : nullptr,
                         .bias = kJob >= Job::bias_gelu ? p.bias : nullptr,
                         .aux = kJob == Job::bias_gelu_aux ? p.their_aux : nullptr});
  vendor.run(nullptr);
  Result best;
  measure<kJob, CooperativeGemm, Config<256, 4, 2>, Fusion<kJob, 32, 1, 2>>(p, vendor, "128x256 4 stages", best);
  measure<kJob, CooperativeGemm, Config<256, 3, 2>, Fusion<kJob, 64, 2, 2>>(p, vendor, "128x256 3 stages", best);
  measure<kJob, PingpongGemm, Alternating<256, 3, 2>, Fusion<kJob, 64, 2, 2>>(p, vendor, "64x256 alternating c2", best);
  measure<kJob, PingpongGemm, Alternating<192, 4, 2>, Fusion<kJob, 64, 2, 2>>(p, vendor, "64x192 alternating c2", best);
  measure<kJob, PingpongGemm, Alternating<128, 4, 2>, Fusion<kJob, 64, 3, 3>>(p, vendor, "64x128 alternating c2", best);
  std::printf("%6d %6d %6d  %-14s %9.4f ms  %7.3f of cuBLASLt's rate  (%s)\n", p.m, p.n, p.k,
              kJobs[static_cast<int>(kJob)], best.ours * 1e3, best.ratio, best.name.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no GPU\n");
    return 77;
  }
  struct Shape {
    int m, n, k;
  };
  std::vector<Shape> shapes;
  for (int i = 1; i + 2 < argc; i += 3) {
    shapes.push_back({std::atoi(argv[i]), std::atoi(argv[i + 1]), std::atoi(argv[i + 2])});
  }
  if (shapes.empty()) {
    shapes = {{8192, 8192, 8192}, {4096, 4096, 4096}, {8192, 8192, 1024}, {8192, 8192, 512},
              {8192, 8192, 256},  {8192, 8192, 128},  {8192, 8192, 64}};
  }
  for (const Shape& shape : shapes) {
    Problem p{shape.m, shape.n, shape.k, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0};
    check(cudaDeviceGetAttribute(&p.processors, cudaDevAttrMultiProcessorCount, 0), "asking the device");
    const auto matrix = [](bf16*& data, std::size_t rows, std::size_t columns, unsigned seed) {
      check(cudaMalloc(&data, rows * columns * 2), "cudaMalloc");
      fill<<<1024, 256>>>(data, rows * columns, seed);
    };
    const auto m = static_cast<std::size_t>(p.m), n = static_cast<std::size_t>(p.n), k = static_cast<std::size_t>(p.k);
    matrix(p.a, m, k, 1);
    matrix(p.b, n, k, 2);
    matrix(p.c, m, n, 3);
    matrix(p.bias, 1, n, 4);
    for (bf16** out : {&p.d, &p.theirs, &p.aux, &p.their_aux}) matrix(*out, m, n, 5);
    check(cudaDeviceSynchronize(), "filling");
    race<Job::plain>(p);
    race<Job::c>(p);
    race<Job::bias_gelu>(p);
    race<Job::bias_gelu_aux>(p);
    for (bf16* data : {p.a, p.b, p.c, p.d, p.theirs, p.aux, p.their_aux, p.bias}) check(cudaFree(data), "cudaFree");
  }
  return 0;
}

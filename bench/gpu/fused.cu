// The fused product against cuBLASLt (the best of its heuristic's candidates), in one process, taking turns.
//
//   fused_bench [--jobs MASK] [--only TEXT] [--rounds N] [--once] [M N K]...
//
// Four epilogues (the bits of MASK): none, C added, bias and GELU (tanh form), bias and GELU with the argument of GELU
// as a further output. bf16 in and out, f32 sums, inputs uniform in [-1, 1). Every configuration of fused_entrants.cu
// whose name has TEXT is compared with cuBLASLt's result first; then all take turns, in bursts after a rest. A line for
// each: the median time, and cuBLASLt's over it; the best has a star. Small products run as dependent launches as well.
// --once runs each once, for a profiler. Exits with 77 where there is no GPU, with 1 where a result is wrong.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <string>
#include <thread>

#include "cublaslt.hpp"
#include "fused_race.hpp"
#include "race.hpp"

namespace {

using namespace gantry;
using namespace gantry::bench;

constexpr double kBurst = 0.008, kRest = 0.003;  // seconds
constexpr double kSmall = 4e10;                  // M N K of products for which the launch counts

struct Options {
  int jobs = 15, rounds = 5;
  bool once = false;
  const char* only = "";
};

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

struct Runner {
  std::string name;
  std::function<void()> run;
  std::vector<double> times;
};

unsigned long long wrong_elements(const Problem& p, Job job, const Runner& runner) {
  const std::size_t elements = static_cast<std::size_t>(p.m) * static_cast<std::size_t>(p.n);
  static unsigned long long* different = nullptr;
  if (!different) check(cudaMalloc(&different, sizeof *different), "cudaMalloc");
  check(cudaMemset(p.d, 0xff, elements * 2), "poisoning");
  check(cudaMemset(p.aux, 0xff, elements * 2), "poisoning");
  check(cudaMemset(different, 0, sizeof *different), "clearing");
  runner.run();
  count_different<<<1024, 256>>>(p.d, p.theirs, elements, different);
  if (job == Job::bias_gelu_aux) count_different<<<1024, 256>>>(p.aux, p.their_aux, elements, different);
  unsigned long long wrong = 0;
  check(cudaMemcpy(&wrong, different, sizeof wrong, cudaMemcpyDeviceToHost), runner.name.c_str());
  if (wrong) std::printf("%s %s: %llu elements differ\n", name_of(job), runner.name.c_str(), wrong);
  return wrong;
}

// False: a result is wrong.
bool race(const Problem& p, Job job, const Options& options) {
  CublasLt::Fusion fusion;
  if (job == Job::c) fusion.c = p.c;
  if (job >= Job::bias_gelu) fusion.bias = p.bias, fusion.activation = CublasLt::Activation::gelu;
  if (job == Job::bias_gelu_aux) fusion.aux = p.their_aux;
  const CublasLt vendor(CublasLt::Size{p.m, p.n, p.k}, p.a, p.b, p.theirs, fusion);
  vendor.run(nullptr);
  std::vector<Runner> all{{"cuBLASLt", [&] { vendor.run(nullptr); }, {}}};
  const bool small = static_cast<double>(p.m) * p.n * p.k < kSmall;
  for (const Contestant& c : contestants()) {
    if (c.job != job || !std::strstr(c.name, options.only)) continue;
    all.push_back({c.name, c.prepare(p, false), {}});
    if (small && !options.once) all.push_back({std::string(c.name) + ", dependent", c.prepare(p, true), {}});
  }
  bool right = true;
  for (std::size_t i = 1; i < all.size(); ++i) right = wrong_elements(p, job, all[i]) == 0 && right;
  if (options.once) return right;
  for (int round = 0; round < options.rounds; ++round) {
    for (Runner& r : all) {
      const int calls = std::max(3, static_cast<int>(kBurst / seconds(r.run, 2)));
      std::this_thread::sleep_for(std::chrono::duration<double>(kRest));
      r.times.push_back(seconds(r.run, calls));
    }
  }
  const double theirs = median(all.front().times);
  double best = 1e30;
  for (std::size_t i = 1; i < all.size(); ++i) best = std::min(best, median(all[i].times));
  for (const Runner& r : all) {
    const double ours = median(r.times);
    std::printf("%6d %6d %6d %-14s %-48s %9.4f ms %7.3f%s\n", p.m, p.n, p.k, name_of(job), r.name.c_str(), ours * 1e3,
                theirs / ours, ours == best ? " *" : "");
  }
  std::fflush(stdout);
  return right;
}

bool race(int m, int n, int k, const Options& options) {
  const Matrices matrices(m, n, k);
  bool right = true;
  for (int job = 0; job < 4; ++job) {
    if (options.jobs >> job & 1) right = race(matrices.problem(), static_cast<Job>(job), options) && right;
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no GPU\n");
    return 77;
  }
  Options options;
  Sizes sizes;
  for (int i = 1; i < argc; ++i) {
    const bool more = i + 1 < argc;
    if (!std::strcmp(argv[i], "--once")) {
      options.once = true;
    } else if (!std::strcmp(argv[i], "--jobs") && more) {
      options.jobs = std::atoi(argv[++i]);
    } else if (!std::strcmp(argv[i], "--only") && more) {
      options.only = argv[++i];
    } else if (!std::strcmp(argv[i], "--rounds") && more) {
      options.rounds = std::atoi(argv[++i]);
    } else {
      sizes.add(argv[i]);
    }
  }
  const std::vector<int> numbers = sizes.or_else({8192, 8192, 64,    8192, 8192, 128,  8192,  8192, 256,  8192, 8192,
                                                  512,  8192, 8192,  1024, 8192, 8192, 8192,  2048, 2048, 2048, 4096,
                                                  4096, 4096, 16384, 4096, 4096, 4096, 14336, 4096, 4096, 4096, 14336});
  bool right = true;
  for (std::size_t i = 0; i < numbers.size(); i += 3) {
    right = race(numbers[i], numbers[i + 1], numbers[i + 2], options) && right;
  }
  return right ? 0 : 1;
}

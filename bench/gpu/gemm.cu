// The product against cuBLASLt (the best of its heuristic's candidates), in one process, taking turns: the
// configurations of gemm_entrants.cu, with clocks, power and a sustained load.
//
//   gemm_bench [--jobs MASK] [--only TEXT] [--rounds N] [--sustained SECONDS] [--dependent] [--zeros] [--once]
//              [--json FILE] [M N K]...
//
// Four epilogues (the bits of MASK, 1 unless told): none, C added, bias and GELU (tanh form), the same with the
// argument of GELU as a further output. Results are compared with cuBLASLt's first. Then bursts: every contestant whose
// name has TEXT runs for some 15 ms, then rests; medians of several rounds are compared. With --sustained every
// contestant also runs for so many seconds, in slices of half a second that take turns without a rest. Inputs are
// uniform in [-1, 1); --zeros times zeros instead, which cost the chip less power. --once stops after the comparison.
// Exits with 77 where there is no GPU, with 1 where a result is wrong.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "clock.hpp"
#include "cublaslt.hpp"
#include "fused_race.hpp"
#include "power.hpp"
#include "race.hpp"

namespace {

using namespace gantry;
using namespace gantry::bench;

constexpr double kBurst = 0.015, kRest = 0.015;  // seconds

struct Options {
  int jobs = 1, rounds = 7;
  double sustained = 0;
  bool dependent = false, zeros = false, once = false;
  const char* only = "";
  std::FILE* json = nullptr;
};

struct Difference {
  unsigned long long bits = 0;   // elements that differ at all
  unsigned long long wrong = 0;  // by more than two roundings to bf16 and the error of tanh
};

__global__ void compare(const bf16* a, const bf16* b, std::size_t count, Difference* result) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    if (a[i].bits == b[i].bits) continue;
    atomicAdd(&result->bits, 1ull);
    const float x = static_cast<float>(a[i]), y = static_cast<float>(b[i]);
    if (!(fabsf(x - y) <= 0.02f + 0.02f * fabsf(y))) atomicAdd(&result->wrong, 1ull);
  }
}

struct Runner {
  std::string name;
  std::function<void()> run;
  std::vector<double> burst;  // seconds a call
  std::vector<double> burst_clock;
  std::vector<double> slices;  // the same, sustained
  std::vector<PowerMeter::Reading> readings;
};

std::size_t elements(const Problem& p) { return static_cast<std::size_t>(p.m) * static_cast<std::size_t>(p.n); }

// Runs once into poisoned outputs and compares.
bool is_right(const Problem& p, Job job, const Runner& runner) {
  static Difference* on_device = nullptr;
  if (!on_device) check(cudaMalloc(&on_device, sizeof(Difference)), "cudaMalloc");
  check(cudaMemset(on_device, 0, sizeof(Difference)), "clearing the comparison");
  for (bf16* out : {p.d, p.aux}) check(cudaMemset(out, 0xFF, elements(p) * 2), "poisoning");
  runner.run();
  compare<<<1024, 256>>>(p.d, p.theirs, elements(p), on_device);
  if (job == Job::bias_gelu_aux) compare<<<1024, 256>>>(p.aux, p.their_aux, elements(p), on_device);
  Difference result;
  check(cudaMemcpy(&result, on_device, sizeof result, cudaMemcpyDeviceToHost), runner.name.c_str());
  std::printf("  %-36s %s: %.4f %% of the elements differ, %llu of them are wrong\n", runner.name.c_str(),
              result.wrong ? "WRONG" : "right",
              100 * static_cast<double>(result.bits) / static_cast<double>(elements(p)), result.wrong);
  return result.wrong == 0;
}

void race(std::vector<Runner>& all, const Options& options) {
  PowerMeter meter;
  Clock clock;
  for (int round = 0; round < options.rounds; ++round) {
    for (Runner& r : all) {
      const double once = seconds(r.run, 2);
      std::this_thread::sleep_for(std::chrono::duration<double>(kRest));
      clock.start();
      r.burst.push_back(seconds(r.run, std::max(2, static_cast<int>(kBurst / once))));
      r.burst_clock.push_back(clock.megahertz());
    }
  }
  // Slices of half a second take turns, so that all see the same temperatures.
  constexpr double kSlice = 0.5, kSettle = 0.15;
  for (double spent = 0; spent < options.sustained; spent += kSlice) {
    for (Runner& r : all) {
      const double once = median(r.burst);
      seconds(r.run, static_cast<int>(kSettle / once) + 1);
      meter.start();
      clock.start();
      r.slices.push_back(seconds(r.run, static_cast<int>((kSlice - kSettle) / once) + 1));
      r.readings.push_back(meter.stop());
      r.readings.back().megahertz = clock.megahertz();
    }
  }
}

double ratio(const std::vector<double>& theirs, const std::vector<double>& ours) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(theirs[i] / ours[i]);
  return median(ratios);
}

void print(const Problem& p, Job job, const std::vector<Runner>& all, std::FILE* json) {
  const Runner& vendor = all.front();
  const double flops = 2.0 * p.m * p.n * p.k;
  const char* name_of_job = name_of(job);
  std::printf("%d %d %d %s\n", p.m, p.n, p.k, name_of_job);
  for (const Runner& r : all) {
    const double burst = median(r.burst);
    const double burst_clock = median(r.burst_clock);
    std::printf("  %-36s burst %7.1f us %6.1f TFLOP/s %.3f at %.0f MHz, %.0f Kcycles", r.name.c_str(), burst * 1e6,
                flops / burst / 1e12, ratio(vendor.burst, r.burst), burst_clock, burst * burst_clock * 1e3);
    double sustained = 0, sustained_ratio = 0, megahertz = 0, watts = 0;
    if (!r.slices.empty()) {
      sustained = median(r.slices);
      sustained_ratio = ratio(vendor.slices, r.slices);
      for (const PowerMeter::Reading& reading : r.readings) {
        megahertz += reading.megahertz / static_cast<double>(r.readings.size());
        watts += reading.watts / static_cast<double>(r.readings.size());
      }
      std::printf("   sustained %6.1f TFLOP/s %.3f at %.0f MHz, %.0f W", flops / sustained / 1e12, sustained_ratio,
                  megahertz, watts);
    }
    std::printf("\n");
    std::fflush(stdout);
    if (!json) continue;
    std::fprintf(json,
                 "{\"m\": %d, \"n\": %d, \"k\": %d, \"job\": \"%s\", \"name\": \"%s\", \"burst_us\": %.2f, "
                 "\"burst_ratio\": %.4f, \"sustained_us\": %.2f, \"sustained_ratio\": %.4f, \"mhz\": %.0f, "
                 "\"watts\": %.0f}\n",
                 p.m, p.n, p.k, name_of_job, r.name.c_str(), burst * 1e6, ratio(vendor.burst, r.burst), sustained * 1e6,
                 sustained_ratio, megahertz, watts);
  }
}

// False: a result is wrong.
bool race(const Problem& p, Job job, const Options& options) {
  CublasLt::Fusion fusion;
  if (job == Job::c) fusion.c = p.c;
  if (job >= Job::bias_gelu) fusion.bias = p.bias, fusion.activation = CublasLt::Activation::gelu;
  if (job == Job::bias_gelu_aux) fusion.aux = p.their_aux;
  const CublasLt vendor(CublasLt::Size{p.m, p.n, p.k}, p.a, p.b, p.theirs, fusion);
  vendor.run(nullptr);
  std::vector<Runner> all{{.name = "cuBLASLt", .run = [&] { vendor.run(nullptr); }}};
  for (const Contestant& c : contestants()) {
    if (c.job != job || !std::strstr(c.name, options.only)) continue;
    all.push_back({.name = c.name, .run = c.prepare(p, false)});
    if (options.dependent) all.push_back({.name = std::string(c.name) + ", dependent", .run = c.prepare(p, true)});
  }
  bool right = true;
  for (std::size_t i = 1; i < all.size(); ++i) right = is_right(p, job, all[i]) && right;
  if (options.once || !right) return right;
  if (options.zeros) {
    check(cudaMemset(p.a, 0, static_cast<std::size_t>(p.m) * static_cast<std::size_t>(p.k) * 2), "clearing A");
    check(cudaMemset(p.b, 0, static_cast<std::size_t>(p.n) * static_cast<std::size_t>(p.k) * 2), "clearing B");
  }
  race(all, options);
  print(p, job, all, options.json);
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
  Options options;
  Sizes sizes;
  for (int i = 1; i < argc; ++i) {
    const bool more = i + 1 < argc;
    if (!std::strcmp(argv[i], "--dependent")) {
      options.dependent = true;
    } else if (!std::strcmp(argv[i], "--zeros")) {
      options.zeros = true;
    } else if (!std::strcmp(argv[i], "--once")) {
      options.once = true;
    } else if (!std::strcmp(argv[i], "--jobs") && more) {
      options.jobs = std::atoi(argv[++i]);
    } else if (!std::strcmp(argv[i], "--only") && more) {
      options.only = argv[++i];
    } else if (!std::strcmp(argv[i], "--rounds") && more) {
      options.rounds = std::atoi(argv[++i]);
    } else if (!std::strcmp(argv[i], "--sustained") && more) {
      options.sustained = std::atof(argv[++i]);
    } else if (!std::strcmp(argv[i], "--json") && more) {
      options.json = std::fopen(argv[++i], "w");
      if (!options.json) {
        std::fprintf(stderr, "%s cannot be written\n", argv[i]);
        return 2;
      }
    } else {
      sizes.add(argv[i]);
    }
  }
  cudaDeviceProp device{};
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess || device.major != 9) {
    std::fprintf(stderr, "skipped: no Hopper GPU\n");
    return 77;
  }
  const std::vector<int> numbers =
      sizes.or_else({8192, 8192, 8192, 4096, 4096, 4096, 16384, 4096, 4096, 4096, 14336, 4096, 4096, 4096, 14336});
  bool right = true;
  for (std::size_t i = 0; i < numbers.size(); i += 3) {
    right = race(numbers[i], numbers[i + 1], numbers[i + 2], options) && right;
  }
  if (options.json) std::fclose(options.json);
  return right ? 0 : 1;
}

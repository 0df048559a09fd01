// The product against cuBLASLt (the best of its heuristic's candidates), in one process, taking turns.
//
//   gemm_bench [--sweep] [--sustained SECONDS] [--zeros] [--json FILE] [M N K]...
//
// Results are compared with cuBLASLt's first. Then bursts: every contestant runs for some 15 ms, then rests; medians of
// several rounds are compared. With --sustained every contestant also runs for so many seconds, in slices of half a
// second that take turns without a rest. Inputs are uniform in [-1, 1); --zeros times zeros instead, which cost the
// chip less power. --sweep adds schedules beside the planned one; --once stops after the comparison. Exits with 77
// where there is no GPU, with 1 where a result is wrong.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <cuda_bf16.h>

#include <gantry/arch/launch.hpp>
#include <gantry/gemm/cooperative.hpp>
#include <gantry/tma/encode.hpp>

#include "cublaslt.hpp"
#include "power.hpp"

namespace {

using namespace gantry;
using bench::check;
using bench::CublasLt;
using bench::PowerMeter;

constexpr int kRounds = 7;
constexpr double kBurst = 0.015;  // seconds

__global__ void fill(__nv_bfloat16* data, std::size_t count, unsigned seed) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    unsigned x = static_cast<unsigned>(i) * 2654435761u + seed;
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    x ^= x >> 16;
    data[i] = __float2bfloat16(static_cast<float>(x) * 0x1p-31f - 1.0f);
  }
}

struct Difference {
  unsigned long long bits = 0;  // elements that differ at all
  float largest = 0;
};

__global__ void compare(const __nv_bfloat16* a, const __nv_bfloat16* b, std::size_t count, Difference* result) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    if (__bfloat16_as_ushort(a[i]) == __bfloat16_as_ushort(b[i])) continue;
    atomicAdd(&result->bits, 1ull);
    const float difference = fabsf(__bfloat162float(a[i]) - __bfloat162float(b[i]));
    // Not a number counts as infinite; floats that are not negative compare as integers.
    atomicMax(reinterpret_cast<unsigned*>(&result->largest),
              __float_as_uint(difference == difference ? difference : INFINITY));
  }
}

struct Matrix {
  __nv_bfloat16* data = nullptr;
  std::size_t count;

  Matrix(int rows, int columns) : count(static_cast<std::size_t>(rows) * columns) {
    check(cudaMalloc(&data, count * sizeof(__nv_bfloat16)), "cudaMalloc");
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() { cudaFree(data); }
  void randomise(unsigned seed) { fill<<<1024, 256>>>(data, count, seed); }
  bf16* typed() const { return reinterpret_cast<bf16*>(data); }
};

TmaDescriptor encode(const TmaDescriptorParams& params) {
  const EncodedTmaDescriptor encoded = encode_with_driver(params);
  if (encoded.ok()) return encoded.map;
  std::fprintf(stderr, "%s\n", describe(encoded).c_str());
  std::exit(1);
}

struct Contestant {
  std::string name;
  std::function<void()> run;
  std::vector<double> burst;  // seconds a call
  std::vector<double> burst_clock;
  std::vector<double> slices;  // the same, sustained
  std::vector<PowerMeter::Reading> readings;
};

struct Problem {
  CublasLt::Size size;
  Matrix a, b, d, reference;
  unsigned char* workspace;

  Problem(CublasLt::Size s, unsigned char* w)
      : size(s), a(s.m, s.k), b(s.n, s.k), d(s.m, s.n), reference(s.m, s.n), workspace(w) {
    a.randomise(1);
    b.randomise(2);
  }
  double flops() const { return 2.0 * size.m * size.n * size.k; }
};

template <class Kernel>
int resident_ctas() {
  const auto entry = detail::kernel_entry<Kernel>;
  check(cudaFuncSetAttribute(entry, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(typename Kernel::Storage)),
        "asking for shared memory");
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {Kernel::kCluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(Kernel::kCluster * 64);
  config.blockDim = dim3(Kernel::kThreads);
  config.dynamicSmemBytes = sizeof(typename Kernel::Storage);
  config.attrs = &cluster;
  config.numAttrs = 1;
  int clusters = 0;
  check(cudaOccupancyMaxActiveClusters(&clusters, entry, &config), "asking for the number of clusters");
  return clusters * Kernel::kCluster;
}

// As planned, tiles are split where that pays; `always` splits tiles wherever there is more than a wave of them.
enum class Split { never, as_planned, always };

template <class Config>
Contestant ours(const Problem& p, const char* name, Split split) {
  using Kernel = CooperativeGemm<Config>;
  const int ctas = resident_ctas<Kernel>();
  auto params = Kernel::make_params({.a = p.a.typed(),
                                     .b = p.b.typed(),
                                     .d = p.d.typed(),
                                     .m = p.size.m,
                                     .n = p.size.n,
                                     .k = p.size.k,
                                     .workspace = split == Split::never ? nullptr : p.workspace},
                                    ctas, encode);
  const int clusters = ctas / Kernel::kCluster;
  if (split == Split::always && params.schedule.tiles() > clusters) {
    params.schedule = with_split_tiles(params.schedule, clusters);
  }
  return {.name = std::string(name) + ", " + std::to_string(params.schedule.clusters * Kernel::kCluster) + " CTAs" +
                  (params.schedule.split_tiles > 0 ? ", split" : ""),
          .run = [params] {
            const LaunchResult result = launch(Gpu{}, Kernel::launch_config(params), Kernel{}, params);
            if (result) return;
            std::fprintf(stderr, "%s", result.problem.c_str());
            std::exit(1);
          }};
}

std::vector<Contestant> contestants(const Problem& p, bool sweep) {
  std::vector<Contestant> all;
  all.push_back(ours<CooperativeConfig>(p, "ours", Split::as_planned));
  if (!sweep) return all;
  all.push_back(ours<CooperativeConfig>(p, "whole", Split::never));
  all.push_back(ours<CooperativeConfig>(p, "split", Split::always));
  return all;
}

// How fast the SMs tick: the cycles and the time that one of them notes before and after.
struct Tick {
  long long cycles, nanoseconds;
};
__global__ void note(Tick* of_processor) {
  unsigned processor;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(processor));
  long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  of_processor[processor] = {clock64(), now};
}

class Clock {
 public:
  Clock() { check(cudaMalloc(&ticks_, 2 * kProcessors * sizeof(Tick)), "cudaMalloc"); }
  ~Clock() { cudaFree(ticks_); }
  void start() { note<<<kProcessors, 32>>>(ticks_); }
  // Between the last two calls; start must have been called.
  double megahertz() {
    note<<<kProcessors, 32>>>(ticks_ + kProcessors);
    Tick ticks[2 * kProcessors];
    check(cudaMemcpy(ticks, ticks_, sizeof ticks, cudaMemcpyDeviceToHost), "reading the clocks");
    const Tick &from = ticks[7], &to = ticks[kProcessors + 7];
    return 1e3 * static_cast<double>(to.cycles - from.cycles) / static_cast<double>(to.nanoseconds - from.nanoseconds);
  }

 private:
  static constexpr int kProcessors = 256;
  Tick* ticks_ = nullptr;
};

double seconds(const std::function<void()>& run, int calls) {
  static cudaEvent_t start = nullptr, stop = nullptr;
  if (!start) check(cudaEventCreate(&start), "event"), check(cudaEventCreate(&stop), "event");
  check(cudaEventRecord(start), "event");
  for (int i = 0; i < calls; ++i) run();
  check(cudaEventRecord(stop), "event");
  check(cudaEventSynchronize(stop), "running");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start, stop), "event");
  return milliseconds / 1e3 / calls;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// Runs once into a poisoned D and compares.
bool is_right(const Problem& p, const Contestant& c) {
  static Difference* on_device = nullptr;
  if (!on_device) check(cudaMalloc(&on_device, sizeof(Difference)), "cudaMalloc");
  check(cudaMemset(on_device, 0, sizeof(Difference)), "clearing the comparison");
  check(cudaMemset(p.d.data, 0xFF, p.d.count * sizeof(__nv_bfloat16)), "poisoning D");
  c.run();
  compare<<<1024, 256>>>(p.d.data, p.reference.data, p.d.count, on_device);
  Difference result;
  check(cudaMemcpy(&result, on_device, sizeof result, cudaMemcpyDeviceToHost), c.name.c_str());
  const double different = static_cast<double>(result.bits) / static_cast<double>(p.d.count);
  // Sums of K products of numbers below 1 are near sqrt(K) / 3; a bf16 has 8 bits.
  const bool right = result.largest <= std::sqrt(p.size.k) / 8;
  std::printf("  %-28s %s: %.4f %% of the elements differ, by %g at most\n", c.name.c_str(), right ? "right" : "WRONG",
              100 * different, result.largest);
  return right;
}

void race(std::vector<Contestant>& all, double sustained) {
  PowerMeter meter;
  Clock clock;
  for (int round = 0; round < kRounds; ++round) {
    for (Contestant& c : all) {
      const double once = seconds(c.run, 2);
      std::this_thread::sleep_for(std::chrono::milliseconds(15));
      clock.start();
      c.burst.push_back(seconds(c.run, std::max(2, static_cast<int>(kBurst / once))));
      c.burst_clock.push_back(clock.megahertz());
    }
  }
  if (sustained == 0) return;
  // Slices of half a second take turns, so that all see the same temperatures.
  constexpr double kSlice = 0.5, kSettle = 0.15;
  for (double spent = 0; spent < sustained; spent += kSlice) {
    for (Contestant& c : all) {
      const double once = median(c.burst);
      seconds(c.run, static_cast<int>(kSettle / once) + 1);
      meter.start();
      clock.start();
      c.slices.push_back(seconds(c.run, static_cast<int>((kSlice - kSettle) / once) + 1));
      c.readings.push_back(meter.stop());
      c.readings.back().megahertz = clock.megahertz();
    }
  }
}

double ratio(const std::vector<double>& theirs, const std::vector<double>& ours) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(theirs[i] / ours[i]);
  return median(ratios);
}

void print(const Problem& p, const std::vector<Contestant>& all, std::FILE* json) {
  const Contestant& vendor = all.front();
  std::printf("%d %d %d\n", p.size.m, p.size.n, p.size.k);
  for (const Contestant& c : all) {
    const double burst = median(c.burst);
    const double burst_clock = median(c.burst_clock);
    std::printf("  %-20s burst %7.1f us %6.1f TFLOP/s %.3f at %.0f MHz, %.0f Kcycles", c.name.c_str(), burst * 1e6,
                p.flops() / burst / 1e12, ratio(vendor.burst, c.burst), burst_clock, burst * burst_clock * 1e3);
    double sustained = 0, sustained_ratio = 0, megahertz = 0, watts = 0;
    if (!c.slices.empty()) {
      sustained = median(c.slices);
      sustained_ratio = ratio(vendor.slices, c.slices);
      for (const PowerMeter::Reading& r : c.readings) {
        megahertz += r.megahertz / static_cast<double>(c.readings.size());
        watts += r.watts / static_cast<double>(c.readings.size());
      }
      std::printf("   sustained %6.1f TFLOP/s %.3f at %.0f MHz, %.0f W", p.flops() / sustained / 1e12, sustained_ratio,
                  megahertz, watts);
    }
    std::printf("\n");
    std::fflush(stdout);
    if (!json) continue;
    std::fprintf(json,
                 "{\"m\": %d, \"n\": %d, \"k\": %d, \"name\": \"%s\", \"burst_us\": %.2f, \"burst_ratio\": %.4f, "
                 "\"sustained_us\": %.2f, \"sustained_ratio\": %.4f, \"mhz\": %.0f, \"watts\": %.0f}\n",
                 p.size.m, p.size.n, p.size.k, c.name.c_str(), burst * 1e6, ratio(vendor.burst, c.burst),
                 sustained * 1e6, sustained_ratio, megahertz, watts);
  }
}

}  // namespace

int main(int argc, char** argv) {
  bool sweep = false, zeros = false, once = false;
  double sustained = 0;
  const char* json_file = nullptr;
  std::vector<int> numbers;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--sweep")) {
      sweep = true;
    } else if (!std::strcmp(argv[i], "--zeros")) {
      zeros = true;
    } else if (!std::strcmp(argv[i], "--once")) {
      once = true;
    } else if (!std::strcmp(argv[i], "--sustained") && i + 1 < argc) {
      sustained = std::atof(argv[++i]);
    } else if (!std::strcmp(argv[i], "--json") && i + 1 < argc) {
      json_file = argv[++i];
    } else {
      numbers.push_back(std::atoi(argv[i]));
    }
  }
  cudaDeviceProp device{};
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess || device.major != 9) {
    std::fprintf(stderr, "skipped: no Hopper GPU\n");
    return 77;
  }
  std::vector<CublasLt::Size> sizes = {
      {8192, 8192, 8192}, {4096, 4096, 4096}, {16384, 4096, 4096}, {4096, 14336, 4096}, {4096, 4096, 14336}};
  if (!numbers.empty()) sizes.clear();
  for (std::size_t i = 0; i + 2 < numbers.size(); i += 3) sizes.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});

  using Sums = Handover<CooperativeConfig>;
  unsigned char* workspace = nullptr;
  const std::size_t workspace_bytes = Sums::workspace_bytes(device.multiProcessorCount);
  check(cudaMalloc(&workspace, workspace_bytes), "allocating the workspace");
  check(cudaMemset(workspace, 0, workspace_bytes), "clearing the workspace");
  std::FILE* json = json_file ? std::fopen(json_file, "w") : nullptr;
  bool right = true;
  for (const CublasLt::Size& size : sizes) {
    const Problem problem(size, workspace);
    const CublasLt vendor(size, problem.a.data, problem.b.data, problem.d.data);
    const CublasLt reference(size, problem.a.data, problem.b.data, problem.reference.data);
    reference.run(nullptr);
    std::vector<Contestant> all{{.name = "cuBLASLt", .run = [&vendor] { vendor.run(nullptr); }}};
    for (Contestant& c : contestants(problem, sweep)) all.push_back(std::move(c));
    for (const Contestant& c : all) right = is_right(problem, c) && right;
    if (!right) break;
    if (once) continue;
    if (zeros) {
      check(cudaMemset(problem.a.data, 0, problem.a.count * 2), "clearing A");
      check(cudaMemset(problem.b.data, 0, problem.b.count * 2), "clearing B");
    }
    race(all, sustained);
    print(problem, all, json);
  }
  if (json) std::fclose(json);
  return right ? 0 : 1;
}

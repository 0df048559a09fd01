// The product against cuBLASLt (the best of its heuristic's candidates), in one process, taking turns.
//
//   gemm_bench [--sweep] [--sustained SECONDS] [--json FILE] [M N K]...
//
// Results are compared with cuBLASLt's first. Then bursts: every contestant runs for some 15 ms, then rests; the
// medians of several rounds are compared. With --sustained every contestant also runs for so many seconds without a
// rest. Inputs are uniform in [-1, 1). --sweep tries other settings beside the default. Exits with 77 where there is no
// GPU, with 1 where a result is wrong.
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

struct Setting {
  const char* name;
  int group = 8;
  Raster raster = Raster::along_m;
  bool split = true;
  bool dependent = true;
  int ctas = 1000;  // at most
  TmaL2Promotion promotion = TmaL2Promotion::bytes_128;
};

struct Contestant {
  std::string name;
  std::function<void()> run;
  std::vector<double> burst;  // seconds a call
  double sustained = 0;
  PowerMeter::Reading reading;
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

template <class Config>
Contestant ours(const Problem& p, const Setting& s) {
  using Kernel = CooperativeGemm<Config>;
  const int tiles = Kernel::clusters_along_m(p.size.m) * Kernel::clusters_along_n(p.size.n);
  const int ctas = std::min({resident_ctas<Kernel>(), tiles * Kernel::kCluster, s.ctas});
  const auto params = Kernel::make_params({.a = p.a.typed(),
                                           .b = p.b.typed(),
                                           .d = p.d.typed(),
                                           .m = p.size.m,
                                           .n = p.size.n,
                                           .k = p.size.k,
                                           .workspace = s.split ? p.workspace : nullptr,
                                           .group = s.group,
                                           .raster = s.raster},
                                          ctas, [&s](TmaDescriptorParams map) {
                                            map.l2_promotion = s.promotion;
                                            return encode(map);
                                          });
  const LaunchConfig config{.grid = {static_cast<std::uint32_t>(ctas)},
                            .cluster = {Kernel::kCluster},
                            .block = {Kernel::kThreads},
                            .shared_bytes = sizeof(typename Kernel::Storage),
                            .name = "gemm",
                            .dependent = s.dependent};
  return {.name = std::string(s.name) + " " + std::to_string(ctas),
          .run = [params, config] {
            const LaunchResult result = launch(Gpu{}, config, Kernel{}, params);
            if (result) return;
            std::fprintf(stderr, "%s", result.problem.c_str());
            std::exit(1);
          }};
}

struct Four : CooperativeConfig {
  static constexpr int kClusterM = 2, kClusterN = 2;
};
struct Column : CooperativeConfig {
  static constexpr int kClusterM = 4, kClusterN = 1;
};

std::vector<Contestant> contestants(const Problem& p, bool sweep) {
  std::vector<Contestant> all;
  all.push_back(ours<CooperativeConfig>(p, {.name = "2x1 g8 split pdl"}));
  if (!sweep) return all;
  all.push_back(ours<CooperativeConfig>(p, {.name = "2x1 g8", .split = false, .dependent = false}));
  all.push_back(ours<CooperativeConfig>(p, {.name = "2x1 g8 pdl", .split = false}));
  all.push_back(ours<CooperativeConfig>(p, {.name = "2x1 g8 pdl", .split = false, .ctas = 128}));
  all.push_back(ours<CooperativeConfig>(p, {.name = "2x1 g4 split pdl", .group = 4}));
  all.push_back(ours<CooperativeConfig>(p, {.name = "2x1 g16 split pdl", .group = 16}));
  all.push_back(ours<CooperativeConfig>(p, {.name = "2x1 g8n split pdl", .raster = Raster::along_n}));
  all.push_back(
      ours<CooperativeConfig>(p, {.name = "2x1 g8 split pdl l2=256", .promotion = TmaL2Promotion::bytes_256}));
  all.push_back(ours<Four>(p, {.name = "2x2 g8 split pdl"}));
  all.push_back(ours<Four>(p, {.name = "2x2 g4 pdl", .group = 4, .split = false}));
  all.push_back(ours<Column>(p, {.name = "4x1 g4 pdl", .group = 4, .split = false}));
  return all;
}

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
  for (int round = 0; round < kRounds; ++round) {
    for (Contestant& c : all) {
      const double once = seconds(c.run, 2);
      std::this_thread::sleep_for(std::chrono::milliseconds(15));
      c.burst.push_back(seconds(c.run, std::max(2, static_cast<int>(kBurst / once))));
    }
  }
  if (sustained == 0) return;
  for (Contestant& c : all) {
    const int calls = std::max(2, static_cast<int>(0.05 / median(c.burst)));
    std::vector<double> times;
    seconds(c.run, 10 * calls);  // until the clock has settled
    meter.start();
    for (double spent = 0; spent < sustained; spent += times.back() * calls) times.push_back(seconds(c.run, calls));
    c.reading = meter.stop();
    c.sustained = median(times);
  }
}

void print(const Problem& p, const std::vector<Contestant>& all, std::FILE* json) {
  const Contestant& vendor = all.front();
  std::printf("%d %d %d\n", p.size.m, p.size.n, p.size.k);
  for (const Contestant& c : all) {
    std::vector<double> ratios;
    for (int i = 0; i < kRounds; ++i) ratios.push_back(vendor.burst[i] / c.burst[i]);
    const double burst = median(c.burst);
    std::printf("  %-28s burst %7.1f us %6.1f TFLOP/s %.3f", c.name.c_str(), burst * 1e6, p.flops() / burst / 1e12,
                median(ratios));
    if (c.sustained > 0) {
      std::printf("   sustained %6.1f TFLOP/s %.3f at %.0f MHz, %.0f W", p.flops() / c.sustained / 1e12,
                  vendor.sustained / c.sustained, c.reading.megahertz, c.reading.watts);
    }
    std::printf("\n");
    if (json) {
      std::fprintf(json,
                   "{\"m\": %d, \"n\": %d, \"k\": %d, \"name\": \"%s\", \"burst_us\": %.2f, \"burst_ratio\": %.4f, "
                   "\"sustained_us\": %.2f, \"sustained_ratio\": %.4f, \"mhz\": %.0f, \"watts\": %.0f}\n",
                   p.size.m, p.size.n, p.size.k, c.name.c_str(), burst * 1e6, median(ratios), c.sustained * 1e6,
                   c.sustained > 0 ? vendor.sustained / c.sustained : 0.0, c.reading.megahertz, c.reading.watts);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  bool sweep = false;
  double sustained = 0;
  const char* json_file = nullptr;
  std::vector<int> numbers;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--sweep")) {
      sweep = true;
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
    race(all, sustained);
    print(problem, all, json);
  }
  if (json) std::fclose(json);
  return right ? 0 : 1;
}

// Products of few rows, or of few tiles and a long K, against cuBLASLt: small tiles, and tiles that clusters share, in
// several numbers of parts, launches dependent or not; one process, taking turns.
//
//   few_rows_bench [M N K]...
//
// Results are compared with cuBLASLt's first; then medians of several rounds of back-to-back launches, with L2 warm.
// Exits with 77 where there is no GPU, with 1 where a result is wrong.
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <gantry/epilogue/arguments.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/cooperative.hpp>
#include <gantry/gemm/device.hpp>
#include <gantry/gemm/fused_epilogue.hpp>

#include "cublaslt.hpp"
#include "race.hpp"

namespace {

using namespace gantry;
using bench::check;
using bench::CublasLt;
using bench::encode;
using bench::median;

template <int M, int N, int ClusterM, int ClusterN, int Stages>
struct Tiles : CooperativeConfig {
  static constexpr int kTileM = M, kTileN = N, kTileWarpgroups = M / 64;
  static constexpr int kClusterM = ClusterM, kClusterN = ClusterN, kStages = Stages;
};
template <int Columns>
struct Copied : FusedElements {
  static constexpr int kEpiN = Columns;
  static constexpr fusion::Graph graph = fusion::graph("d = acc");
  using Functions = fusion::UserFunctions<>;
};

struct Matrix {
  bf16* data = nullptr;
  std::size_t count;

  Matrix(int rows, int columns, unsigned seed) : count(static_cast<std::size_t>(rows) * columns) {
    check(cudaMalloc(&data, count * sizeof(bf16)), "cudaMalloc");
    bench::fill<<<1024, 256>>>(data, count, seed);
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() { cudaFree(data); }
  std::vector<bf16> values() const {
    std::vector<bf16> out(count);
    check(cudaMemcpy(out.data(), data, count * sizeof(bf16), cudaMemcpyDeviceToHost), "reading a matrix");
    return out;
  }
};

struct Problem {
  CublasLt::Size size;
  Matrix a, b, d;
  explicit Problem(CublasLt::Size s) : size(s), a(s.m, s.k, 1), b(s.n, s.k, 2), d(s.m, s.n, 3) {}
};

struct Contestant {
  std::string name;
  std::function<void()> run;
  std::vector<double> times;  // seconds a call
};

// As the schedule decides, whole tiles, and several numbers of parts that fit.
template <class Config, int Columns>
void add(std::vector<Contestant>& all, const Problem& p, unsigned char* workspace, const std::string& name) {
  using Epilogue = FusedEpilogue<Config, Copied<Columns>>;
  using Kernel = CooperativeGemm<Config, Epilogue>;
  typename Epilogue::Arguments arguments;
  arguments.d = {p.d.data, p.size.n, 0};
  const auto epilogue =
      to_underlying_arguments<typename Epilogue::Part>({p.size.m, p.size.n, p.size.k, 1}, arguments, encode);
  GemmProblem problem;
  problem.a = p.a.data;
  problem.b = p.b.data;
  problem.m = p.size.m;
  problem.n = p.size.n;
  problem.k = p.size.k;
  problem.workspace = workspace;
  const int clusters = detail::clusters_held<Kernel>();
  auto params = Kernel::make_params(problem, epilogue, clusters * Kernel::kCluster, encode);
  const auto enter = [&](const std::string& how) {
    for (const bool dependent : {false, true}) {
      all.push_back(
          {name + ", " + how + (dependent ? ", dependent" : ""), bench::launches<Kernel>(params, dependent), {}});
    }
  };
  enter("as planned: " + std::to_string(params.schedule.parts) + " parts");
  params.schedule = make_tile_schedule(params.schedule, clusters, false);
  enter("whole");
  const int tiles = params.schedule.tiles();
  for (const int parts : {2, 3, 4, 6, 8, 12, 16}) {
    if (parts * tiles > clusters || parts > params.schedule.k_steps) break;
    params.schedule = with_parts(params.schedule, parts);
    enter(std::to_string(parts) + " parts");
  }
}

// Runs twice into a poisoned D, compares with cuBLASLt's result, and the two with each other bit for bit.
bool is_right(const Problem& p, const Contestant& c, const std::vector<bf16>& reference) {
  std::vector<bf16> results[2];
  for (std::vector<bf16>& result : results) {
    check(cudaMemset(p.d.data, 0xFF, p.d.count * sizeof(bf16)), "poisoning D");
    c.run();
    result = p.d.values();
  }
  double largest = 0;
  bool repeats = true;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double difference = std::fabs(double(float(results[0][i])) - double(float(reference[i])));
    largest = difference <= largest ? largest : difference;
    repeats = repeats && results[0][i].bits == results[1][i].bits;
  }
  // Sums of K products of numbers below 1 are near sqrt(K) / 3; a bf16 has 8 bits.
  const bool right = repeats && largest <= std::sqrt(p.size.k) / 8;
  if (!right) std::printf("  %s is WRONG: off by %g, %s\n", c.name.c_str(), largest, repeats ? "repeats" : "changes");
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  cudaDeviceProp device{};
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess || device.major != 9) {
    std::fprintf(stderr, "skipped: no Hopper GPU\n");
    return 77;
  }
  bench::Sizes sizes;
  for (int i = 1; i < argc; ++i) sizes.add(argv[i]);
  const std::vector<int> numbers = sizes.or_else({128, 4096, 4096, 64, 4096, 4096, 128, 8192, 8192, 256, 256, 16384});
  const std::size_t workspace_bytes = Handover<CooperativeConfig>::workspace_bytes(device.multiProcessorCount);
  unsigned char* workspace = nullptr;
  check(cudaMalloc(&workspace, workspace_bytes), "allocating the workspace");
  check(cudaMemset(workspace, 0, workspace_bytes), "clearing the workspace");

  for (std::size_t i = 0; i < numbers.size(); i += 3) {
    const CublasLt::Size size{numbers[i], numbers[i + 1], numbers[i + 2]};
    const Problem p(size);
    const CublasLt vendor(size, p.a.data, p.b.data, p.d.data);
    std::vector<Contestant> all{{"cuBLASLt", [&vendor] { vendor.run(nullptr); }, {}}};
    vendor.run(nullptr);
    const std::vector<bf16> reference = p.d.values();
    add<Tiles<64, 32, 1, 1, 16>, 32>(all, p, workspace, "64x32 1x1");
    add<Tiles<64, 64, 1, 1, 12>, 64>(all, p, workspace, "64x64 1x1");
    add<Tiles<64, 64, 1, 2, 12>, 64>(all, p, workspace, "64x64 1x2");
    add<Tiles<64, 64, 2, 1, 12>, 64>(all, p, workspace, "64x64 2x1");
    add<Tiles<64, 128, 2, 1, 8>, 64>(all, p, workspace, "64x128 2x1");
    for (const Contestant& c : all) {
      if (!is_right(p, c, reference)) return 1;
    }
    for (int round = 0; round < 7; ++round) {
      for (Contestant& c : all) {
        c.run();
        c.times.push_back(bench::seconds(c.run, 200));
      }
    }
    std::printf("%d %d %d\n", size.m, size.n, size.k);
    for (const Contestant& c : all) {
      const double time = median(c.times);
      std::printf("  %-48s %7.2f us  %.3f\n", c.name.c_str(), time * 1e6, median(all[0].times) / time);
    }
    std::fflush(stdout);
  }
  return 0;
}

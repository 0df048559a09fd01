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

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/arguments.hpp>
#include <gantry/gemm/device.hpp>
#include <gantry/gemm/kernel.hpp>
#include <gantry/gemm/planner.hpp>

#include "cublaslt.hpp"
#include "race.hpp"

namespace {

using namespace gantry;
using bench::check;
using bench::CublasLt;
using bench::encode;
using bench::median;

template <int M, int N, int ClusterM, int ClusterN, int Stages, int Columns>
struct Tiles {
  static constexpr GemmOptions options{.tile = {M, N},
                                       .cluster = {ClusterM, ClusterN},
                                       .stages = Stages,
                                       .schedule = GemmSchedule::cooperative,
                                       .epilogue = {.epi_n = Columns, .stages_c = 2, .stages_d = 2}};
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
template <class Spec>
void add(std::vector<Contestant>& all, const Problem& p, unsigned char* workspace, const std::string& name) {
  using Kernel = typename GemmTypes<Spec>::Kernel;
  const GemmDesign& design = detail::HostDesign<Spec>::value;
  const fusion::FusionArguments none(GemmTypes<Spec>::graph);
  const int clusters = detail::clusters_held<Kernel>();
  const auto enter = [&](const TileSchedule* schedule, const std::string& how) {
    for (const bool dependent : {false, true}) {
      const GemmInputs inputs{{p.size.m, p.size.n, p.size.k}, p.a.data, p.b.data, {}, p.d.data, none, dependent};
      GemmLaunchPlan plan = plan_gemm(design, inputs, {.clusters = clusters, .workspace = true}, kH200);
      if (schedule != nullptr) plan.schedule = *schedule;
      plan.config = launch_config_of(design, plan.schedule);
      plan.config.dependent = dependent;
      plan.needs.sums = 1;
      typename Kernel::Params params{};
      write_parameters(design, inputs, plan, workspace, encode, reinterpret_cast<unsigned char*>(&params));
      all.push_back(
          {name + ", " + how + (dependent ? ", dependent" : ""), bench::launches<Kernel>(params, plan.config), {}});
    }
  };
  GemmProblem problem;
  problem.m = p.size.m;
  problem.n = p.size.n;
  problem.k = p.size.k;
  TileSchedule schedule = schedule_of(design, problem, {.clusters = clusters, .workspace = true});
  enter(nullptr, "as planned: " + std::to_string(schedule.parts) + " parts");
  schedule = schedule_of(design, problem, {.clusters = clusters});
  enter(&schedule, "whole");
  const int tiles = schedule.tiles();
  for (const int parts : {2, 3, 4, 6, 8, 10, 12, 16}) {
    if (parts * tiles > clusters || parts > schedule.k_steps) break;
    const TileSchedule shared = with_parts(schedule, parts);
    enter(&shared, std::to_string(parts) + " parts");
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
  const std::size_t workspace_bytes =
      split_workspace_bytes(make_gemm_design({}, fusion::graph("d = acc")), device.multiProcessorCount);
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
    add<Tiles<64, 32, 1, 1, 16, 32>>(all, p, workspace, "64x32 1x1");
    add<Tiles<64, 64, 1, 1, 12, 64>>(all, p, workspace, "64x64 1x1");
    add<Tiles<64, 64, 1, 2, 12, 64>>(all, p, workspace, "64x64 1x2");
    add<Tiles<64, 64, 2, 1, 12, 64>>(all, p, workspace, "64x64 2x1");
    add<Tiles<64, 128, 2, 1, 8, 64>>(all, p, workspace, "64x128 2x1");
    add<Tiles<128, 64, 1, 1, 8, 64>>(all, p, workspace, "128x64 1x1");
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

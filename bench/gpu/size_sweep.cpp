// Times of every candidate, and of tiles beside the list, on GEMM sizes drawn at random; cuBLASLt beside them. What the
// cost model is fitted to, and, with another seed, what it is judged by. One process; contestants alternate.
//
//   size_sweep SEED COUNT plain|gelu [listed]    COUNT sizes; "listed": candidates of the list alone
//   size_sweep FILE 0 plain|gelu [listed]        sizes "M N K" of a file
//
// A line for each size and contestant: M N K, epilogue, configuration, split of K, dependent or alone, the model's
// microseconds, those of a burst and with a cold L2, MHz and watts of the whole size's bursts. Ends with 77 where there
// is no GPU.
//
//   g++ -std=c++20 -O2 -Iinclude -I/usr/local/cuda/include bench/gpu/size_sweep.cpp
//   build/release/src/library/libgantry.a -L/usr/local/cuda/lib64 -lcudart -lcublasLt -lboost_context -lfmt -ldl
//   -lpthread
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gantry/context.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/candidates.hpp>
#include <gantry/runtime/gemm.hpp>

#include "cublaslt.hpp"
#include "power.hpp"
#include "timing.hpp"

namespace {

using namespace gantry;

struct Size {
  int m, n, k;
};

// Tiles that the list may gain.
std::vector<ListedTile> others() {
  constexpr GemmCluster kOne{1, 1}, kTall{2, 1}, kWide{1, 2};
  std::vector<ListedTile> out = {
      {128, 160, kOne, GemmSchedule::cooperative},   {128, 192, kWide, GemmSchedule::cooperative},
      {128, 256, kOne, GemmSchedule::cooperative},   {128, 256, kWide, GemmSchedule::cooperative},
      {64, 256, kOne, GemmSchedule::cooperative, 1}, {64, 192, kOne, GemmSchedule::pingpong},
      {128, 96, kOne, GemmSchedule::pingpong}};
  for (const int n : {96, 112, 128, 144, 160, 176, 192}) {
    for (const GemmCluster c : {kOne, kTall, kWide}) out.push_back({256, n, c, GemmSchedule::cooperative});
  }
  for (const int n : {128, 256}) {
    const auto add = [&](int m, GemmCluster c) { out.push_back({m, n, c, GemmSchedule::cooperative, 2, true}); };
    for (const int m : {80, 96, 112, 128, 144, 160, 176, 192}) add(m, kOne);
    for (const int m : {128, 192}) add(m, kWide);
    if (n == 256) {
      add(160, kWide);
      for (const int m : {128, 192}) add(m, kTall);
    }
  }
  return out;
}

std::vector<Size> drawn(unsigned seed, int count) {
  std::mt19937 random(seed);
  const auto log_uniform = [&](double low, double high) {
    const double x = std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random));
    return std::max(8, static_cast<int>(std::lround(x / 8)) * 8);
  };
  std::vector<Size> out;
  while (static_cast<int>(out.size()) < count) {
    const Size s{log_uniform(64, 16384), log_uniform(64, 16384), log_uniform(64, 16384)};
    const double work = double(s.m) * s.n * s.k;
    if (work > 1.2e12 || work < 4e6) continue;
    out.push_back(s);
  }
  return out;
}

std::vector<Size> read(const char* path) {
  std::ifstream in(path);
  std::vector<Size> out;
  for (Size s{}; in >> s.m >> s.n >> s.k;) out.push_back(s);
  return out;
}

std::string name_of(const GemmDesign& d) {
  const GemmOptions& o = d.options;
  std::string out = to_text(o).c_str();
  out += " s" + std::to_string(o.stages) + " ";
  if (d.store == GemmStore::overlapped) return out + "overlapped";
  return out + std::to_string(d.part.epi_tile.m) + "x" + std::to_string(d.part.epi_tile.n) + " D" +
         std::to_string(o.epilogue.stages_d);
}

struct Kernel {
  GemmDesign design;
  std::optional<runtime::LoadedGemm> loaded;
};

class Sweep {
 public:
  Sweep(const Context& context, bool gelu, bool listed)
      : context_(context),
        gelu_(gelu),
        listed_(listed),
        expression_(gelu ? "d = gelu_tanh(acc + row(bias:bf16))" : "d = acc"),
        graph_(fusion::graph(expression_)) {}

  void run(const std::vector<Size>& sizes) {
    compile(sizes);
    allocate(sizes);
    for (const Size& s : sizes) one(s);
  }

 private:
  std::vector<GemmDesign> designs(const Size& s) const {
    GemmWorkload w;
    w.m = s.m;
    w.n = s.n;
    w.k = s.k;
    std::vector<GemmDesign> out = gemm_candidates(w, graph_);
    if (listed_) return out;
    for (const ListedTile& t : others()) {
      GemmOptions o;
      o.tile = {t.m, t.n, 64};
      o.cluster = t.cluster;
      o.schedule = t.schedule;
      o.warpgroups = t.warpgroups;
      o.swapped = t.swapped;
      const GemmDesign d = make_gemm_design(staged_for(o, graph_, w), graph_);
      if (d.ok()) out.push_back(d);
    }
    return out;
  }

  void compile(const std::vector<Size>& sizes) {
    for (const Size& s : sizes) {
      for (const GemmDesign& d : designs(s)) kernels_.try_emplace(name_of(d), Kernel{d, {}});
    }
    std::vector<Kernel*> all;
    for (auto& [name, kernel] : kernels_) all.push_back(&kernel);
    const runtime::KernelCache cache;
    const auto compiler = runtime::find_gpu_compiler(context_.device());
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> workers;
    for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i) {
      workers.emplace_back([&] {
        for (std::size_t mine = next++; mine < all.size(); mine = next++) {
          (void)compile_gemm(cache, *compiler, {.options = all[mine]->design.options, .expression = expression_});
        }
      });
    }
    for (std::thread& worker : workers) worker.join();
    for (Kernel* kernel : all) {
      auto loaded = runtime::LoadedGemm::load(context_.device(), cache, *compiler,
                                              {.options = kernel->design.options, .expression = expression_});
      if (loaded) {
        kernel->loaded = *loaded;
      } else {
        std::fprintf(stderr, "%s: %s\n", name_of(kernel->design).c_str(), loaded.error().describe().c_str());
      }
    }
    std::fprintf(stderr, "%zu kernels\n", all.size());
  }

  void allocate(const std::vector<Size>& sizes) {
    std::size_t a = 0, b = 0, d = 0;
    for (const Size& s : sizes) {
      a = std::max(a, std::size_t(s.m) * s.k);
      b = std::max(b, std::size_t(s.n) * s.k);
      d = std::max(d, std::size_t(s.m) * s.n);
    }
    std::mt19937 random(1);
    std::vector<bf16> values(1 << 22);
    for (bf16& v : values) v = bf16(std::normal_distribution<float>()(random));
    const auto filled = [&](std::size_t count) {
      void* out = nullptr;
      bench::check(cudaMalloc(&out, count * 2), "allocating");
      for (std::size_t at = 0; at < count; at += values.size()) {
        bench::check(cudaMemcpy(static_cast<char*>(out) + at * 2, values.data(),
                                std::min(values.size(), count - at) * 2, cudaMemcpyHostToDevice),
                     "filling");
      }
      return out;
    };
    a_ = filled(a);
    b_ = filled(b);
    bias_ = filled(16384);
    bench::check(cudaMalloc(&d_, d * 2), "allocating");
    bench::check(cudaMalloc(&other_, kOther), "allocating");
  }

  struct Contestant {
    std::string name;
    std::function<void()> run;
    std::vector<double> burst, cold;
  };

  void one(const Size& s) {
    GemmWorkload w;
    w.m = s.m;
    w.n = s.n;
    w.k = s.k;
    std::vector<Contestant> all;
    std::vector<std::shared_ptr<const runtime::LoadedGemmPlan>> plans;
    for (const GemmDesign& d : designs(s)) {
      const Kernel& kernel = kernels_.at(name_of(d));
      if (!kernel.loaded) continue;
      const GemmCost cost = estimate(w, d, epilogue_cost(graph_, ElementType::void_), kH200);
      GemmCall call{.m = s.m, .n = s.n, .k = s.k, .a = a_, .b = b_, .d = d_};
      if (gelu_) call.arguments = {{"bias", bias_}};
      call.dependent = gains_as_dependent(cost, kH200);
      auto plan = kernel.loaded->plan(call);
      if (!plan) continue;
      const auto kept = std::make_shared<const runtime::LoadedGemmPlan>(*plan);
      const TileSchedule& t = cost.schedule;
      all.push_back({name_of(d) + " " + (t.split_tiles == 0 ? "whole" : "split" + std::to_string(t.parts)) + " " +
                         (*call.dependent ? "dependent" : "alone") + " " + std::to_string(cost.milliseconds * 1e3),
                     [kept] {
                       if (!kept->run(nullptr)) std::exit(1);
                     },
                     {},
                     {}});
    }
    const bench::CublasLt vendor(
        bench::CublasLt::Size{s.m, s.n, s.k}, a_, b_, d_,
        gelu_ ? bench::CublasLt::Fusion{.bias = bias_, .activation = bench::CublasLt::Activation::gelu}
              : bench::CublasLt::Fusion{});
    all.push_back({"cuBLASLt - - 0", [&vendor] { vendor.run(nullptr); }, {}, {}});
    meter_.start();
    for (int round = 0; round < 3; ++round) {
      for (Contestant& c : all) {
        c.run();
        const double once = bench::seconds(c.run, 2);
        std::this_thread::sleep_for(std::chrono::microseconds(1000));
        c.burst.push_back(bench::seconds(c.run, std::clamp(static_cast<int>(2e-3 / once), 2, 200)));
      }
    }
    const bench::PowerMeter::Reading reading = meter_.stop();
    for (int call = 0; call < 5; ++call) {
      for (Contestant& c : all) {
        bench::check(cudaMemsetAsync(other_, call, kOther), "filling L2");
        c.cold.push_back(bench::seconds(c.run, 1));
      }
    }
    for (const Contestant& c : all) {
      std::printf("%d %d %d %s %s %.3f %.3f %.0f %.0f\n", s.m, s.n, s.k, gelu_ ? "gelu" : "plain", c.name.c_str(),
                  bench::median(c.burst) * 1e6, bench::median(c.cold) * 1e6, reading.megahertz, reading.watts);
    }
    std::fflush(stdout);
  }

  static constexpr std::size_t kOther = 200 << 20;

  const Context& context_;
  bool gelu_, listed_;
  const char* expression_;
  fusion::Graph graph_;
  bench::PowerMeter meter_;
  std::map<std::string, Kernel> kernels_;
  void *a_ = nullptr, *b_ = nullptr, *d_ = nullptr, *bias_ = nullptr, *other_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return std::fputs("size_sweep SEED|FILE COUNT plain|gelu [listed]\n", stderr), 2;
  const Context context({.policy = CompilePolicy::wait});
  if (!context.status().ok()) return std::puts(context.status().describe().c_str()), 77;
  const int count = std::atoi(argv[2]);
  const std::vector<Size> sizes = count > 0 ? drawn(static_cast<unsigned>(std::atoi(argv[1])), count) : read(argv[1]);
  Sweep(context, std::strcmp(argv[3], "gelu") == 0, argc > 4).run(sizes);
}

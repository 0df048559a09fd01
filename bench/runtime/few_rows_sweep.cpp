// Every configuration for few rows at every size of a list, on a GPU: µs with weights in L2 and with cold weights, as
// plain and as dependent launches. The figures that the cost model is fitted to. Ends with 77 where there is no GPU.
//
//   few_rows_sweep SIZES [EPILOGUE]     SIZES: a file of "M N K" lines; EPILOGUE: default "d = acc"
//
// A line: M N K | configuration | warm | warm dependent | cold | cold dependent | GB/s cold | how the tiles are split
// Cold: calls take turns among copies of the weights that are four times the L2 together.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/candidates.hpp>
#include <gantry/gemm/tile_list.hpp>
#include <gantry/numeric.hpp>
#include <gantry/runtime/gemm.hpp>

namespace {

using namespace gantry;

struct Size {
  int m, n, k;
};

int fail(const std::string& problem) {
  std::fprintf(stderr, "few_rows_sweep: %s\n", problem.c_str());
  return 1;
}

std::vector<Size> read_sizes(const char* path) {
  std::vector<Size> out;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    if (Size s{}; fields >> s.m >> s.n >> s.k) out.push_back(s);
  }
  return out;
}

// All that may serve M rows: tokens side up to twice as wide as needed, weights side of 64, 128 and 256, the K tiles of
// a tile shared by 1 to 8 CTAs of a cluster or by clusters through the workspace, tokens multicast to two; and the
// candidates without a swap.
std::vector<GemmOptions> configurations(int m) {
  std::vector<GemmOptions> out;
  const int narrow = m <= 8 ? 8 : m <= 16 ? 16 : m <= 32 ? 32 : 64;
  for (const int rows : {narrow, 2 * narrow}) {
    if (rows > 64) continue;
    for (const int columns : {64, 128, 256}) {
      for (const GemmCluster cluster : {GemmCluster{1, 1, 1}, GemmCluster{1, 1, 2}, GemmCluster{1, 1, 4},
                                        GemmCluster{1, 1, 8}, GemmCluster{1, 2, 1}}) {
        if (rows > narrow && cluster != GemmCluster{1, 1, 1} && cluster != GemmCluster{1, 1, 2}) continue;
        GemmOptions o{.tile = {rows, columns}, .cluster = cluster, .swapped = true};
        out.push_back(o);
        if (cluster != GemmCluster{1, 1, 1}) continue;
        o.split = SplitMode::none;
        out.push_back(o);
      }
    }
  }
  for (const ListedTile& tile : kTileList) {
    if (tile.swapped || tile.m > 64) continue;
    out.push_back({.tile = {tile.m, tile.n}, .cluster = tile.cluster, .schedule = tile.schedule});
  }
  for (const int columns : {32, 64, 128}) {
    for (const int ctas : {2, 4}) out.push_back({.tile = {64, columns}, .cluster = {1, 1, ctas}});
  }
  return out;
}

// Small integers, so that every sum is exact: A(i, k) = r(i) u(k), B(j, k) = s(j) v(k).
int small(int i, int of) { return (i * 7 + i / 5) % of - of / 2; }

class Bench {
 public:
  Bench(const runtime::Device& device, std::string epilogue)
      : device_(device),
        compiler_(runtime::find_gpu_compiler(device)),
        epilogue_(std::move(epilogue)),
        graph_(fusion::graph(epilogue_.c_str())),
        timer_(device) {}

  const Status& status() const { return compiler_->status(); }

  void compile(const std::vector<Size>& sizes) {
    std::vector<runtime::GemmSpec> specs;
    for (const Size& size : sizes) {
      for (const GemmOptions& o : configurations(size.m)) {
        const runtime::GemmSpec spec = spec_of(o, size);
        const auto same = [&](const runtime::GemmSpec& other) { return other.options == spec.options; };
        if (std::none_of(specs.begin(), specs.end(), same)) specs.push_back(spec);
      }
    }
    std::fprintf(stderr, "%zu kernels\n", specs.size());
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
      threads.emplace_back([&] {
        for (std::size_t at = next++; at < specs.size(); at = next++) (void)compile_gemm(cache_, *compiler_, specs[at]);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  std::string measure(const Size& size) {
    const auto [m, n, k] = size;
    const std::size_t weights = std::size_t{2} * static_cast<std::size_t>(n) * static_cast<std::size_t>(k);
    const auto l2 = static_cast<std::size_t>(device_.facts().l2_bytes);
    const std::size_t copies = 1 + 4 * l2 / weights;
    runtime::DeviceBuffer a(device_, std::size_t{2} * static_cast<std::size_t>(m) * static_cast<std::size_t>(k));
    runtime::DeviceBuffer d(device_, std::size_t{2} * static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
    runtime::DeviceBuffer bias(device_, std::size_t{4} * static_cast<std::size_t>(n));
    std::vector<runtime::DeviceBuffer> b;
    for (std::size_t i = 0; i < copies; ++i) b.emplace_back(device_, weights);
    if (const Status filled = fill(a, m, k, 7, 0); !filled) return filled.describe();
    if (const Status filled = bias.fill(0); !filled) return filled.describe();
    for (runtime::DeviceBuffer& copy : b) {
      if (const Status filled = fill(copy, n, k, 9, 3); !filled) return filled.describe();
    }
    for (const GemmOptions& o : configurations(m)) {
      GemmCall call{.m = m, .n = n, .k = k, .a = a.data(), .d = d.data()};
      for (int i = 0; i < graph_.argument_count; ++i) call.arguments.add({graph_.arguments[i].name.text, bias.data()});
      const std::string problem = one(size, o, call, b, d);
      if (!problem.empty()) std::printf("%d %d %d | %s | left out: %s\n", m, n, k, to_text(o).c_str(), problem.c_str());
      std::fflush(stdout);
    }
    return {};
  }

 private:
  runtime::GemmSpec spec_of(const GemmOptions& o, const Size& size) const {
    GemmWorkload w;
    w.m = size.m;
    w.n = size.n;
    w.k = size.k;
    return {.options = staged_for(o, graph_, w), .expression = epilogue_};
  }

  static Status fill(runtime::DeviceBuffer& buffer, int rows, int k, int of, int shift) {
    std::vector<bf16> values(static_cast<std::size_t>(rows) * static_cast<std::size_t>(k));
    std::vector<float> along(static_cast<std::size_t>(k));
    for (int i = 0; i < k; ++i)
      along[static_cast<std::size_t>(i)] = static_cast<float>(small(i + shift, shift > 0 ? 3 : 5));
    std::size_t at = 0;
    for (int row = 0; row < rows; ++row) {
      const auto factor = static_cast<float>(small(row, of));
      for (const float x : along) values[at++] = bf16(factor * x);
    }
    return buffer.write(values.data(), values.size() * sizeof(bf16));
  }

  // Of "d = acc" alone.
  std::string check(const Size& size, const runtime::DeviceBuffer& d) const {
    if (epilogue_ != "d = acc") return {};
    std::vector<bf16> values(static_cast<std::size_t>(size.m) * static_cast<std::size_t>(size.n));
    if (const Status read = d.read(values.data(), values.size() * sizeof(bf16)); !read) return read.describe();
    double depth = 0;
    for (int k = 0; k < size.k; ++k) depth += small(k, 5) * small(k + 3, 3);
    for (int i = 0; i < size.m; ++i) {
      for (int j = 0; j < size.n; ++j) {
        const bf16 expected(static_cast<float>(depth * small(i, 7) * small(j, 9)));
        const bf16 is =
            values[static_cast<std::size_t>(i) * static_cast<std::size_t>(size.n) + static_cast<std::size_t>(j)];
        if (static_cast<float>(is) != static_cast<float>(expected)) {
          return "it is wrong at " + std::to_string(i) + ", " + std::to_string(j);
        }
      }
    }
    return {};
  }

  std::string one(const Size& size, const GemmOptions& o, GemmCall call, const std::vector<runtime::DeviceBuffer>& b,
                  const runtime::DeviceBuffer& d) {
    const runtime::GemmSpec spec = spec_of(o, size);
    const Result<runtime::LoadedGemm> gemm = runtime::LoadedGemm::load(device_, cache_, *compiler_, spec);
    if (!gemm) return gemm.error().describe();
    double seconds[4] = {};
    std::string split;
    for (const bool dependent : {false, true}) {
      call.dependent = dependent;
      std::vector<runtime::LoadedGemmPlan> plans;
      for (const runtime::DeviceBuffer& copy : b) {
        call.b = copy.data();
        const Result<runtime::LoadedGemmPlan> plan = gemm->plan(call);
        if (!plan) return plan.error().describe();
        plans.push_back(*plan);
      }
      if (const runtime::DeviceBuffer touch(device_, 16); !touch) return touch.status().describe();
      const Status ran = plans[0].run();
      if (!ran) return ran.describe();
      if (std::string wrong = check(size, d); !wrong.empty()) return wrong;
      seconds[dependent ? 1 : 0] = burst({plans[0]});
      seconds[dependent ? 3 : 2] = burst(plans);
      const std::string text = plans[0].explain();
      const std::size_t from = text.find("Schedule: ");
      split = text.substr(from + 10, text.find('\n', from) - from - 10);
    }
    const double bytes = 2.0 * size.n * size.k;
    const double cold = std::min(seconds[2], seconds[3]);
    std::printf("%d %d %d | %s %s%s | %.2f | %.2f | %.2f | %.2f | %.0f | %s\n", size.m, size.n, size.k,
                to_text(gemm->design().options).c_str(), staging_text(gemm->design().options).c_str(),
                o.split == SplitMode::none ? " whole" : "", seconds[0] * 1e6, seconds[1] * 1e6, seconds[2] * 1e6,
                seconds[3] * 1e6, bytes / cold / 1e9, split.c_str());
    return {};
  }

  // The median of five bursts of a few milliseconds.
  double burst(const std::vector<runtime::LoadedGemmPlan>& plans) {
    const auto calls = [&](int count) {
      timer_.start();
      for (int i = 0; i < count; ++i) (void)plans[static_cast<std::size_t>(i) % plans.size()].run();
      return timer_.stop().value_or(-1) / count;
    };
    const double once = calls(4);
    const int count = std::clamp(static_cast<int>(0.004 / once), 8, 1000);
    std::vector<double> seconds;
    seconds.reserve(5);
    for (int i = 0; i < 5; ++i) seconds.push_back(calls(count));
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
  }

  const runtime::Device& device_;
  std::unique_ptr<runtime::KernelCompiler> compiler_;
  runtime::KernelCache cache_;
  std::string epilogue_;
  fusion::Graph graph_;
  runtime::DeviceTimer timer_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return fail("give a file of sizes, \"M N K\" in a line");
  const std::vector<Size> sizes = read_sizes(argv[1]);
  if (sizes.empty()) return fail(std::string("there are no sizes in ") + argv[1]);
  const runtime::Device device = runtime::Device::open();
  if (!device) return std::fprintf(stderr, "few_rows_sweep: %s\n", device.status().describe().c_str()), 77;
  Bench bench(device, argc > 2 ? argv[2] : "d = acc");
  if (!bench.status()) return fail(bench.status().describe());
  bench.compile(sizes);
  for (const Size& size : sizes) {
    if (const std::string problem = bench.measure(size); !problem.empty()) return fail(problem);
  }
  return 0;
}

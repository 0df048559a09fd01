// What the library costs the host, and whether it stays right under load. Needs a GPU; ends with 77 where there is
// none.
//
//   library_bench cost    µs of the host for a run of a size that was seen, beside the launch itself; for a new size of
//   a
//                         kernel that is loaded
//   library_bench first   ms from a new context to its first launch, with the kernel in the cache; CUDA's own start,
//   which
//                         comes before, apart
//   library_bench cold    s of CPU time to compile a kernel that is not in the cache
//   library_bench load    8 threads, 4 streams, 10,000 calls of 500 sizes through one context, every result compared
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <random>
#include <string>
#include <thread>

#include <gantry/context.hpp>
#include <gantry/numeric.hpp>
#include <gantry/runtime/gemm.hpp>

#include "device_state.hpp"
#include "planned_gemm.hpp"

namespace {

using namespace gantry;
using Clock = std::chrono::steady_clock;

double micros(Clock::time_point from) { return std::chrono::duration<double, std::micro>(Clock::now() - from).count(); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int fail(const std::string& problem) {
  std::fprintf(stderr, "library_bench: %s\n", problem.c_str());
  return 1;
}

// Matrices whose product is known: A(i, k) = r(i) u(k), B(j, k) = s(j) v(k), small integers, so that every sum is
// exact.
struct Matrices {
  static constexpr int kSide = 1024, kDepth = 2048;

  runtime::DeviceBuffer a, b, bias;
  std::vector<double> depth = std::vector<double>(kDepth + 1, 0);  // sum of u(k) v(k)

  static int small(int i, int of) { return (i * 7 + i / 5) % of - of / 2; }

  explicit Matrices(const runtime::Device& device)
      : a(device, std::size_t{2} * kSide * kDepth),
        b(device, std::size_t{2} * kSide * kDepth),
        bias(device, 4 * kSide) {
    std::vector<bf16> rows(std::size_t{kSide} * kDepth), columns(rows.size());
    const auto at = [](int i) { return static_cast<std::size_t>(i); };
    for (int k = 0; k < kDepth; ++k) depth[at(k + 1)] = depth[at(k)] + small(k, 5) * small(k + 3, 3);
    for (int i = 0; i < kSide; ++i) {
      for (int k = 0; k < kDepth; ++k) {
        rows[at(i) * kDepth + at(k)] = bf16(static_cast<float>(small(i, 7) * small(k, 5)));
        columns[at(i) * kDepth + at(k)] = bf16(static_cast<float>(small(i, 9) * small(k + 3, 3)));
      }
    }
    std::vector<float> values(kSide);
    for (int j = 0; j < kSide; ++j) values[at(j)] = static_cast<float>(small(j, 11));
    (void)a.write(rows.data(), rows.size() * 2);
    (void)b.write(columns.data(), columns.size() * 2);
    (void)bias.write(values.data(), values.size() * 4);
  }

  // Of relu(acc + bias), rounded once.
  bf16 expected(int i, int j, int k) const {
    const double sum = small(i, 7) * small(j, 9) * depth[static_cast<std::size_t>(k)] + small(j, 11);
    return bf16(static_cast<float>(sum > 0 ? sum : 0));
  }

  GemmCall call(int m, int n, int k, void* d) const {
    GemmCall out{.m = m, .n = n, .k = k, .a = {a.data(), kDepth}, .b = {b.data(), kDepth}, .d = {d, kSide}};
    out.arguments = {{"bias", bias.data()}};
    return out;
  }
};

constexpr const char* kEpilogue = "d = relu(acc + row(bias))";

int cost() {
  const Context context({.policy = CompilePolicy::wait, .most_plans = 100000});
  if (!context.status().ok()) return std::puts(context.status().describe().c_str()), 77;
  const auto gemm = context.gemm({.epilogue = kEpilogue});
  if (!gemm) return fail(gemm.error().describe());
  const Matrices matrices(context.device());
  const runtime::DeviceBuffer d(context.device(), std::size_t{2} * Matrices::kSide * Matrices::kSide);
  std::vector<GemmExtents> sizes;
  for (int m = 8; m <= 1024; m += 8) sizes.push_back({m, 512, 1024});
  if (const Status warm = gemm->warm_up(sizes); !warm) return fail(warm.describe());
  std::vector<double> fresh;
  for (const GemmExtents& e : sizes) {
    const GemmCall call = matrices.call(static_cast<int>(e.m), static_cast<int>(e.n), static_cast<int>(e.k), d.data());
    const auto start = Clock::now();
    if (const Status ran = gemm->run(call); !ran) return fail(ran.describe());
    fresh.push_back(micros(start));
  }
  (void)context.device().synchronize();
  // A launch of the same kernel with parameters that are ready, and the run that prepares them.
  const GemmCall call = matrices.call(128, 512, 1024, d.data());
  const auto cache = runtime::KernelCache();
  const auto compiler = runtime::find_gpu_compiler(context.device());
  const auto loaded = runtime::LoadedGemm::load(
      context.device(), cache, *compiler,
      {.options = {.tile = {128, 128, 64}, .cluster = {2, 1}, .schedule = GemmSchedule::pingpong, .warpgroups = 2},
       .expression = kEpilogue});
  if (!loaded) return fail(loaded.error().describe());
  const auto plan = loaded->plan(call);
  if (!plan) return fail(plan.error().describe());
  const auto fixed = context.gemm({.options = loaded->design().options, .epilogue = kEpilogue});
  if (!fixed) return fail(fixed.error().describe());
  (void)fixed->run(call);
  std::vector<double> launches, runs;
  for (int round = 0; round < 200; ++round) {
    (void)context.device().synchronize();
    auto start = Clock::now();
    for (int i = 0; i < 20; ++i) (void)plan->run();
    launches.push_back(micros(start) / 20);
    (void)context.device().synchronize();
    start = Clock::now();
    for (int i = 0; i < 20; ++i) (void)fixed->run(call);
    runs.push_back(micros(start) / 20);
  }
  std::printf("a new size of a loaded kernel       %7.2f us (median of %zu, with its launch)\n", median(fresh),
              fresh.size());
  std::printf("a plan's run                        %7.2f us\n", median(launches));
  std::printf("a run through the context           %7.2f us\n", median(runs));
  return 0;
}

int first() {
  const auto start = Clock::now();
  const runtime::Device device = runtime::Device::open();  // CUDA's own start
  if (!device) return std::puts(device.status().describe().c_str()), 77;
  const runtime::DeviceBuffer touch(device, 1024);
  const double cuda = micros(start) / 1e3;
  const Matrices matrices(device);
  const runtime::DeviceBuffer d(device, std::size_t{2} * Matrices::kSide * Matrices::kSide);
  const GemmCall call = matrices.call(512, 512, 1024, d.data());
  const auto ours = Clock::now();
  const Context context;
  const auto gemm = context.gemm({.epilogue = kEpilogue});
  if (!gemm) return fail(gemm.error().describe());
  if (const Status ran = gemm->run(call); !ran) return fail(ran.describe());
  const double until = micros(ours) / 1e3;
  (void)device.synchronize();
  std::printf("CUDA's own start %.1f ms; from the context to the first launch %.1f ms\n", cuda, until);
  std::printf("%s\n", gemm->explain(call)->choice.c_str());
  return 0;
}

int cold() {
  const runtime::Device device = runtime::Device::open();
  const auto compiler = runtime::find_gpu_compiler(device);
  if (!compiler->status()) return fail(compiler->status().describe());
  runtime::GemmSpec spec;
  spec.expression = "d = gelu(acc + row(bias))";
  spec.options = {.tile = {128, 256, 64}, .cluster = {2, 1}, .schedule = GemmSchedule::cooperative, .warpgroups = 2};
  for (int i = 0; i < 3; ++i) {
    const std::clock_t start = std::clock();
    const runtime::CompiledImage image = compiler->compile({.text = gemm_source(spec)});
    if (!image) return fail(image.status.describe());
    std::printf("%s: %.2f s of CPU time, %.2f s, %zu bytes\n", compiler->identity().substr(0, 10).c_str(),
                static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, image.seconds, image.bytes.size());
  }
  return 0;
}

long resident_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmRSS:", 0) == 0) return std::strtol(line.c_str() + 6, nullptr, 10);
  }
  return 0;
}

// Up to 64 rows of D.
bool is_right(const Matrices& matrices, const std::vector<bf16>& d, const GemmExtents& e) {
  const int m = static_cast<int>(e.m), n = static_cast<int>(e.n), k = static_cast<int>(e.k);
  for (int row = 0; row < m; row += 1 + m / 64) {
    for (int column = 0; column < n; ++column) {
      const bf16 expected = matrices.expected(row, column, k);
      const std::size_t at = static_cast<std::size_t>(row) * Matrices::kSide + static_cast<std::size_t>(column);
      if (std::memcmp(&d[at], &expected, 2) != 0) return false;
    }
  }
  return true;
}

int load() {
  constexpr int kThreads = 8, kStreams = 4, kCalls = 10000, kSizes = 500;
  const Context context;  // as it comes: kernels are compiled meanwhile
  if (!context.status().ok()) return std::puts(context.status().describe().c_str()), 77;
  const auto gemm = context.gemm({.epilogue = kEpilogue});
  if (!gemm) return fail(gemm.error().describe());
  const Matrices matrices(context.device());
  std::mt19937 random(7);
  std::vector<GemmExtents> sizes;
  sizes.reserve(kSizes);
  for (int i = 0; i < kSizes; ++i) {
    const auto side = [&] { return static_cast<std::int64_t>(1 + random() % (Matrices::kSide / 8)) * 8; };
    sizes.push_back({static_cast<std::int64_t>(1 + random() % Matrices::kSide), side(),
                     static_cast<std::int64_t>(1 + random() % (Matrices::kDepth / 8)) * 8});
  }
  const runtime::Driver& driver = runtime::Driver::get();
  const runtime::CurrentContext current(context.device().shared_state()->context);
  void* streams[kStreams] = {};
  for (void*& stream : streams) driver.stream_create(&stream, 1);
  std::atomic<int> next = 0, wrong = 0;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  std::atomic<long> before = 0;
  const auto start = Clock::now();
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      const runtime::CurrentContext mine(context.device().shared_state()->context);
      runtime::DeviceBuffer d(context.device(), std::size_t{2} * Matrices::kSide * Matrices::kSide);
      std::vector<bf16> result(std::size_t{Matrices::kSide} * Matrices::kSide);
      for (int i = next++; i < kCalls; i = next++) {
        if (i == kCalls / 2) before = resident_kilobytes();
        const GemmExtents& e = sizes[static_cast<std::size_t>(i * 31 % kSizes)];
        const int m = static_cast<int>(e.m), n = static_cast<int>(e.n), k = static_cast<int>(e.k);
        // Streams are shared by threads: what one runs in a stream follows what another ran there.
        void* const stream = streams[i % kStreams];
        if (const Status ran = gemm->run(matrices.call(m, n, k, d.data()), {.stream = stream}); !ran) {
          if (++wrong < 5) std::fprintf(stderr, "%s\n", ran.describe().c_str());
          continue;
        }
        driver.stream_synchronize(stream);
        (void)d.read(result.data(), std::size_t{2} * static_cast<std::size_t>(m) * Matrices::kSide);
        if (!is_right(matrices, result, e) && ++wrong < 5) std::fprintf(stderr, "%d x %d x %d is wrong\n", m, n, k);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = micros(start) / 1e6;
  std::printf(
      "%d calls of %d sizes, %d threads, %d streams: %d wrong; %.1f s; %d kernels, %d plans; %ld KB more resident "
      "than after half of them\n",
      kCalls, kSizes, kThreads, kStreams, wrong.load(), seconds, gemm->kernels(), gemm->plans(),
      resident_kilobytes() - before.load());
  for (void* stream : streams) driver.stream_destroy(stream);
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count == 2 ? words[1] : "";
  if (what == "cost") return cost();
  if (what == "first") return first();
  if (what == "cold") return cold();
  if (what == "load") return load();
  return fail("cost, first, cold or load is asked for");
}

// How fast the simulated SM is: one switch between fibers, a thread's part in a barrier, a tile copy with and
// without the checker, a matrix product, CTAs that poll, few and many of them, and GEMMs as a plan launches them, on 4
// and on 132 SMs. Wanted: under 60 ns a switch; 100 MB/s without and 20 MB/s with the checker; 256 x 256 x 256 under
// 2 s.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>

#include "examples/maps.hpp"
#include "examples/tile_copy.hpp"
#include "examples/tile_product.hpp"
#include "gantry/arch/simulator.hpp"
#include "gantry/gemm.hpp"
#include "src/sim/fiber.hpp"

namespace gantry::examples {
namespace {

std::uint64_t address(const void* p) { return reinterpret_cast<std::uint64_t>(p); }

// 128 fibers in turn: into one and out again is one switch.
void fiber_switch(benchmark::State& state) {
  struct Spinner {
    sim::Fiber* fiber = nullptr;
    bool stop = false;
  };
  sim::StackPool pool(64 * 1024);
  std::vector<Spinner> spinners(128);
  std::vector<std::unique_ptr<sim::Fiber>> fibers;
  for (Spinner& spinner : spinners) {
    fibers.push_back(std::make_unique<sim::Fiber>(
        pool,
        [](void* argument) {
          auto& self = *static_cast<Spinner*>(argument);
          while (!self.stop) self.fiber->suspend();
        },
        &spinner));
    spinner.fiber = fibers.back().get();
  }
  std::uint64_t switches = 0;
  for (auto _ : state) {
    for (auto& fiber : fibers) fiber->resume();
    switches += fibers.size();
  }
  for (Spinner& spinner : spinners) spinner.stop = true;
  for (auto& fiber : fibers) fiber->resume();
  state.counters["per_switch"] =
      benchmark::Counter(static_cast<double>(switches), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(fiber_switch);

void thread_in_barrier(benchmark::State& state) {
  constexpr int kTurns = 1000;
  const auto schedule = static_cast<Schedule>(state.range(0));
  std::uint64_t switches = 0;
  for (auto _ : state) {
    const Report report = Simulator({.schedule = schedule, .checker = false})
                              .run(
                                  {.block = {128}},
                                  [](const void*, SharedMemory) {
                                    for (int i = 0; i < kTurns; ++i) arch::barrier_sync(1, 128);
                                  },
                                  nullptr);
    switches += 128 * kTurns;
    benchmark::DoNotOptimize(report.steps);
  }
  state.counters["per_thread"] =
      benchmark::Counter(static_cast<double>(switches), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(thread_in_barrier)
    ->Arg(static_cast<int>(Schedule::round_robin))
    ->Arg(static_cast<int>(Schedule::random))
    ->Arg(static_cast<int>(Schedule::pct))
    ->Unit(benchmark::kMillisecond);

void tile_copy(benchmark::State& state) {
  using Kernel = TileCopy<>;
  constexpr int kRows = 2048, kColumns = 2048;
  std::vector<unsigned char> from(kRows * kColumns), to(from.size());
  const auto map = [](const std::vector<unsigned char>& v) {
    return pack(matrix_map(TmaDataType::u8, address(v.data()), kRows, kColumns, TileCopyConfig::kRows,
                           TileCopyConfig::kBoxBytes, TmaSwizzle::bytes_128));
  };
  const Kernel::Params params{map(from), map(to), kRows / TileCopyConfig::kRows,
                              kColumns / (TileCopyConfig::kBoxes * TileCopyConfig::kBoxBytes)};
  for (auto _ : state) {
    const Report report =
        Simulator({.checker = state.range(0) != 0})
            .run<Kernel>({.grid = {8}, .block = {32}, .shared_bytes = sizeof(Kernel::Storage)}, params);
    if (!report.clean()) state.SkipWithError(report.text().c_str());
  }
  state.SetBytesProcessed(
      static_cast<std::int64_t>(state.iterations() * static_cast<benchmark::IterationCount>(from.size())));
}
BENCHMARK(tile_copy)->ArgName("checker")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

// A ring of copies in each CTA, whose threads poll for every phase, and a grid barrier: a step should cost the same
// however many CTAs are resident.
struct PollingRing {
  static constexpr int kStages = 2, kRounds = 16, kWords = 256;
  struct Storage {
    alignas(128) std::uint32_t tile[kStages][kWords];
    std::uint64_t full[kStages], empty[kStages];
  };
  struct Params {
    const std::uint32_t* from;
    std::uint32_t* arrived;
  };

  static void run(const Params& params, SharedMemory shared) {
    auto& s = shared.as<Storage>();
    if (arch::thread_rank() == 0) {
      for (int i = 0; i < kStages; ++i) arch::mbarrier_init(&s.full[i], 1), arch::mbarrier_init(&s.empty[i], 32);
      arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster);
    }
    arch::syncthreads();
    for (int i = 0; i < kRounds; ++i) {
      arch::thread_rank() == 0 ? produce(params, s, i) : consume(s, i);
    }
    arch::syncthreads();
    if (arch::thread_rank() != 0) return;
    arch::atom(arch::op_add, arch::sem_release, arch::scope_gpu, arch::space_global, params.arrived, 1u);
    while (arch::ld(arch::sem_acquire, arch::scope_gpu, arch::space_global, params.arrived) != arch::grid_dim().x) {
      arch::pause();
    }
  }

  static std::uint32_t parity(int use) { return static_cast<std::uint32_t>(use / kStages) & 1; }
  static void produce(const Params& params, Storage& s, int i) {
    constexpr std::uint32_t kBytes = sizeof s.tile[0];
    std::uint64_t* full = &s.full[i % kStages];
    while (i >= kStages && !arch::mbarrier_try_wait_parity(&s.empty[i % kStages], parity(i - kStages))) continue;
    arch::mbarrier_arrive_expect_tx(arch::sem_release, arch::scope_cta, arch::space_shared, full, kBytes);
    arch::cp_async_bulk(arch::space_cluster, arch::space_global, s.tile[i % kStages], params.from, kBytes, full);
  }
  static void consume(Storage& s, int i) {
    if (arch::thread_rank() < 32) return;
    while (!arch::mbarrier_try_wait_parity(&s.full[i % kStages], parity(i))) continue;
    for (std::uint32_t word = arch::thread_rank() - 32; word < kWords; word += 32) {
      arch::ld(arch::space_shared, &s.tile[i % kStages][word]);
    }
    arch::fence_proxy_async(arch::space_shared);
    arch::mbarrier_arrive(&s.empty[i % kStages]);
  }
};

void polling(benchmark::State& state) {
  const auto ctas = static_cast<std::uint32_t>(state.range(0));
  alignas(16) static std::uint32_t from[PollingRing::kWords];
  std::uint64_t rounds = 0;
  for (auto _ : state) {
    std::uint32_t arrived = 0;
    const Report report =
        Simulator({.resident_clusters = static_cast<int>(ctas)})
            .run<PollingRing>({.grid = {ctas}, .block = {64}, .shared_bytes = sizeof(PollingRing::Storage)},
                              {from, &arrived});
    if (!report.clean()) state.SkipWithError(report.text().c_str());
    rounds += std::uint64_t{ctas} * PollingRing::kRounds;
  }
  state.counters["per_round"] =
      benchmark::Counter(static_cast<double>(rounds), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(polling)->ArgName("ctas")->Arg(4)->Arg(132)->Unit(benchmark::kMillisecond);

void product(benchmark::State& state) {
  using Kernel = TileProduct<>;
  constexpr int kSize = 256;
  std::vector<std::uint16_t> a(kSize * kSize, 0x3F80), b(kSize * kSize, 0x3F80), d(kSize * kSize);
  const auto map = [](const std::vector<std::uint16_t>& v, int box_rows) {
    return pack(matrix_map(TmaDataType::bf16, address(v.data()), kSize, kSize, box_rows, 64, TmaSwizzle::bytes_128));
  };
  const typename Kernel::Params params{map(a, Kernel::kTileM), map(b, Kernel::kLoadedRowsB), map(d, 64), 2, 1, 4};
  for (auto _ : state) {
    const Report report = Simulator({.checker = state.range(0) != 0})
                              .run<Kernel>({.grid = {2},
                                            .cluster = {2},
                                            .block = {Kernel::kThreads},
                                            .shared_bytes = sizeof(typename Kernel::Storage)},
                                           params);
    if (!report.clean()) state.SkipWithError(report.text().c_str());
  }
}
BENCHMARK(product)->ArgName("checker")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

struct PlainGemm {};

// 132 resident CTAs are 50,000 threads, whose stacks and clocks no cache holds.
void gemm(benchmark::State& state) {
  const auto sms = static_cast<int>(state.range(0));
  const GemmExtents size = sms == 132 ? GemmExtents{.m = 1536, .n = 1408, .k = 64} : GemmExtents{256, 256, 256};
  const auto count = [](std::int64_t rows, std::int64_t columns) { return static_cast<std::size_t>(rows * columns); };
  const Buffer<bf16> a(count(size.m, size.k)), b(count(size.n, size.k)), d(count(size.m, size.n));
  std::fill(a.begin(), a.end(), bf16(1.0f));
  std::fill(b.begin(), b.end(), bf16(2.0f));
  Gemm<PlainGemm>::Arguments args(size);
  args.a = a.data();
  args.b = b.data();
  args.d = d.data();
  const Simulator machine({.resident_clusters = sms});
  const auto plan = Gemm<PlainGemm>::plan(args, device_of(machine, sms));
  if (!plan) return state.SkipWithError(describe(plan.error()[0]).c_str());
  for (auto _ : state) {
    const LaunchResult result = plan->run_and_wait(machine);
    if (!result) state.SkipWithError(describe(result).c_str());
  }
}
BENCHMARK(gemm)->ArgName("sms")->Arg(4)->Arg(132)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gantry::examples

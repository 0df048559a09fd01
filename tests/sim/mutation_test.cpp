// Every synchronising call of the example kernels is needed, and the checker says so when it is left out.
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "examples/broadcast.hpp"
#include "examples/maps.hpp"
#include "examples/tile_copy.hpp"
#include "examples/tile_product.hpp"
#include "examples/transpose.hpp"
#include "gantry/arch/mutation_sweep.hpp"

namespace gantry::examples {
namespace {

std::uint64_t address(const void* p) { return reinterpret_cast<std::uint64_t>(p); }

struct ProductConfig {
  static constexpr int kTileN = 64, kStages = 2, kCluster = 2;
};
struct CopyConfig : TileCopyConfig {
  static constexpr int kRows = 16, kStages = 3, kBoxes = 2;
};

template <class Kernel>
SweepReport sweep(const LaunchConfig& config, const typename Kernel::Params& params) {
  return mutation_sweep({.max_steps = 500'000}, 8, [&](const SimulatorOptions& options) {
    return Simulator(options).run<Kernel>(config, params);
  });
}

TEST(MutationSweep, EveryChangeToTheExampleKernelsIsDetected) {
  int changes = 0;
  const auto expect_all = [&](const char* kernel, const SweepReport& report) {
    EXPECT_TRUE(report.original_clean) << kernel;
    for (const SweepEntry& entry : report.entries) {
      // A syncwarp may be there only to bring lanes together again before an aligned instruction; convergence is not
      // modelled.
      if (entry.site.operation == "syncwarp") continue;
      EXPECT_TRUE(entry.detected()) << kernel << ": " << entry.site.file << ":" << entry.site.line << " "
                                    << entry.site.operation;
    }
    changes += static_cast<int>(report.entries.size());
  };
  {
    using Kernel = TileCopy<CopyConfig>;
    std::vector<unsigned char> from(128 * 1024), to(from.size());
    const auto map = [](auto& v) {
      return pack(matrix_map(TmaDataType::u8, address(v.data()), 128, 1024, 16, 128, TmaSwizzle::bytes_128));
    };
    expect_all("tile_copy", sweep<Kernel>({.grid = {2}, .block = {32}, .shared_bytes = sizeof(Kernel::Storage)},
                                          {map(from), map(to), 8, 4}));
  }
  {
    std::vector<std::uint16_t> from(192 * 128), to(from.size());
    const Transpose::Params params{
        pack(matrix_map(TmaDataType::u16, address(from.data()), 192, 128, 64, 64, TmaSwizzle::bytes_128)),
        pack(matrix_map(TmaDataType::u16, address(to.data()), 128, 192, 64, 64, TmaSwizzle::bytes_128)), 3, 2};
    expect_all("transpose", sweep<Transpose>({.block = {128}, .shared_bytes = sizeof(Transpose::Storage)}, params));
  }
  {
    std::vector<unsigned char> from(8 * 32 * 128);
    std::vector<std::vector<unsigned char>> to(4, std::vector<unsigned char>(from.size()));
    const auto map = [](auto& v) {
      return pack(matrix_map(TmaDataType::u8, address(v.data()), 256, 128, 32, 128, TmaSwizzle::none));
    };
    const Broadcast::Params params{map(from), {map(to[0]), map(to[1]), map(to[2]), map(to[3])}, 8};
    expect_all("broadcast",
               sweep<Broadcast>(
                   {.grid = {2}, .cluster = {2}, .block = {64}, .shared_bytes = sizeof(Broadcast::Storage)}, params));
  }
  {
    using Kernel = TileProduct<ProductConfig>;
    std::vector<std::uint16_t> a(256 * 256), b(256 * 256), d(256 * 256);
    const auto map = [](auto& v, int rows) {
      return pack(matrix_map(TmaDataType::bf16, address(v.data()), 256, 256, rows, 64, TmaSwizzle::bytes_128));
    };
    const Kernel::Params params{map(a, 128), map(b, Kernel::kLoadedRowsB), map(d, 64), 2, 4, 4};
    expect_all("tile_product",
               sweep<Kernel>(
                   {.grid = {2}, .cluster = {2}, .block = {Kernel::kThreads}, .shared_bytes = sizeof(Kernel::Storage)},
                   params));
  }
  EXPECT_GE(changes, 40);
}

TEST(MutationSweep, ACallThatNothingNeedsIsSaidToBeSo) {
  struct Storage {
    std::uint32_t word[32];
  };
  const SweepReport report = mutation_sweep({}, 3, [](const SimulatorOptions& options) {
    return Simulator(options).run(
        {.block = {32}, .shared_bytes = sizeof(Storage)},
        [](const void*, SharedMemory shared) {
          arch::st(arch::space_shared, &shared.as<Storage>().word[arch::lane_rank()], 1u);
          arch::syncthreads();
        },
        nullptr);
  });
  ASSERT_EQ(report.entries.size(), 1u);
  EXPECT_FALSE(report.entries[0].detected());
  EXPECT_NE(report.text().find("not shown to be needed in 3 seeds"), std::string::npos) << report.text();
}

}  // namespace
}  // namespace gantry::examples

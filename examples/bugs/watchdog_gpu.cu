// A hang on the GPU, told by the watchdog: the kernel with one arrival for all waits for ever, and this build says
// where.
//
//   nvcc -std=c++20 -gencode arch=compute_90a,code=sm_90a -Iinclude -Iexamples/bugs examples/bugs/watchdog_gpu.cu
#define GANTRY_WATCHDOG
#include <cstdio>

#include "gantry/arch/launch.hpp"
#include "gantry/tma/encode.hpp"
#include "one_arrival_for_all.hpp"

namespace {

struct Kernel : gantry::examples::bugs::OneArrivalForAll {
  static constexpr int kThreads = 64;
};

}  // namespace

int main() {
  using namespace gantry;
  using namespace gantry::examples::bugs;
  constexpr int kTiles = 3;
  void* memory = nullptr;
  if (cudaMalloc(&memory, 2 * kTiles * kTileBytes) != cudaSuccess) {
    std::puts("skipped: no GPU");
    return 77;
  }
  const auto map = [](const void* data) {
    return encode_with_driver({.data_type = TmaDataType::u32,
                               .rank = 2,
                               .address = reinterpret_cast<std::uint64_t>(data),
                               .dims = {kColumns, kTiles * kRows, 1, 1, 1},
                               .strides = {kColumns * 4},
                               .box = {kColumns, kRows, 1, 1, 1}})
        .map;
  };
  const Kernel::Params params{map(memory), map(static_cast<char*>(memory) + kTiles * kTileBytes), kTiles};
  const LaunchResult result =
      launch(Gpu{}, {.block = {64}, .shared_bytes = 8192, .name = Kernel::kName}, Kernel{}, params);
  if (!result) {
    std::puts(result.problem.c_str());
    return 1;
  }
  const bool stopped = cudaDeviceSynchronize() != cudaSuccess;
  std::puts(stopped ? "The watchdog stopped the kernel." : "The kernel ended: the watchdog had nothing to do.");
  return stopped ? 0 : 1;
}

// A hang on the GPU, told by the watchdog. The launch ends with an error, so each program run shows one kernel:
//
//   nvcc -std=c++20 -gencode arch=compute_90a,code=sm_90a -Iinclude -Iexamples/bugs -o watchdog
//   examples/bugs/watchdog_gpu.cu
//   ./watchdog           one arrival for all: the producer waits for parity 0 of empty, which lacks 31 arrivals and 0
//                        bytes; a lane of the consumer for parity 1 of full, which lacks 1 arrival and 0 bytes
//   ./watchdog bytes     expects too much: a lane of each warp waits for parity 0 of full, which lacks 0 arrivals and
//                        4096 bytes
#define GANTRY_WATCHDOG
#include <cstdio>

#include "expects_too_much.hpp"
#include "gantry/arch/launch.hpp"
#include "gantry/tma/encode.hpp"
#include "one_arrival_for_all.hpp"

namespace {

using namespace gantry;
using namespace gantry::examples::bugs;

constexpr int kTiles = 3;

template <class Kernel>
int run(void* memory) {
  const auto map = [](const void* data) {
    return encode_with_driver({.data_type = TmaDataType::u32,
                               .rank = 2,
                               .address = reinterpret_cast<std::uint64_t>(data),
                               .dims = {kColumns, kTiles * kRows, 1, 1, 1},
                               .strides = {kColumns * 4},
                               .box = {kColumns, kRows, 1, 1, 1}})
        .map;
  };
  const typename Kernel::Params params{map(memory), map(static_cast<char*>(memory) + kTiles * kTileBytes), kTiles};
  const LaunchResult result =
      launch(Gpu{}, {.block = {64}, .shared_bytes = 8192, .name = Kernel::kName}, Kernel{}, params);
  if (!result) {
    std::puts(describe(result).c_str());
    return 1;
  }
  const bool stopped = cudaDeviceSynchronize() != cudaSuccess;
  std::puts(stopped ? "The watchdog stopped the kernel." : "The kernel ended: the watchdog had nothing to do.");
  return stopped ? 0 : 1;
}

}  // namespace

int main(int count, char**) {
  void* memory = nullptr;
  if (cudaMalloc(&memory, 2 * kTiles * kTileBytes) != cudaSuccess) {
    std::puts("skipped: no GPU");
    return 77;
  }
  return count > 1 ? run<ExpectsTooMuch>(memory) : run<OneArrivalForAll>(memory);
}

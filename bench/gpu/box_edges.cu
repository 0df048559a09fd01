// What rows of a TMA box cost that lie outside of the tensor: every SM loads boxes of 128 bytes by some rows, a ring of
// them in flight, and the time of a box is counted in cycles.
//
//   nvcc -std=c++20 -O3 -gencode arch=compute_90a,code=sm_90a -Iinclude bench/gpu/box_edges.cu -o box_edges &&
//   ./box_edges
#include <algorithm>
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

#include <gantry/arch.hpp>
#include <gantry/tma/encode.hpp>

namespace {

using namespace gantry;

constexpr int kColumns = 64, kRing = 12, kMostRows = 128, kRounds = 300, kLoads = kRounds * kRing;  // bf16

struct Storage {
  alignas(1024) unsigned char box[kRing][kMostRows * 128];
  std::uint64_t full[kRing];
};

// `boxes` boxes of `rows` rows make a load; the first begins at `first`, others follow.
struct What {
  int first, rows, boxes, k_tiles;
  int ctas = 132;
  bool own_rows = false;  // each CTA has rows of its own
};

template <int kBoxes>
__global__ void load_boxes(const __grid_constant__ TmaDescriptor map, What w, long long* cycles) {
  extern __shared__ __align__(1024) unsigned char raw[];
  auto& s = *reinterpret_cast<Storage*>((reinterpret_cast<std::uintptr_t>(raw) + 1023) / 1024 * 1024);
  if (threadIdx.x != 0) return;
  for (auto& full : s.full) arch::mbarrier_init(&full, 1);
  arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster);
  const auto bytes = static_cast<std::uint32_t>(w.rows * kBoxes * 128);
  const int first = w.first + (w.own_rows ? static_cast<int>(blockIdx.x) * w.rows * kBoxes : 0);
  int k = 0;
  const auto issue = [&](int stage) {
    std::uint64_t* const full = &s.full[stage];
    arch::mbarrier_arrive_expect_tx(arch::sem_release, arch::scope_cta, arch::space_shared, full, bytes);
#pragma unroll
    for (int b = 0; b < kBoxes; ++b) {
      const std::int32_t at[2] = {k * kColumns, first + b * w.rows};
      arch::cp_async_bulk_tensor(arch::space_cluster, arch::space_global, s.box[stage] + b * w.rows * 128, &map, at,
                                 full);
    }
    if (++k == w.k_tiles) k = 0;
  };
#pragma unroll
  for (int i = 0; i < kRing; ++i) issue(i);
  const long long start = clock64();
  std::uint32_t phase = 0;
  for (int round = 0; round < kRounds; ++round, phase ^= 1) {
#pragma unroll
    for (int i = 0; i < kRing; ++i) {
      arch::wait(&s.full[i], phase);
      if (round + 1 < kRounds) issue(i);
    }
  }
  cycles[blockIdx.x] = clock64() - start;
}

double measure(int tensor_rows, int k, int box_rows, const What& w, unsigned char* memory, long long* cycles) {
  TmaDescriptorParams p{.data_type = TmaDataType::bf16, .rank = 2, .address = reinterpret_cast<std::uint64_t>(memory)};
  p.dims[0] = static_cast<std::uint64_t>(k);
  p.dims[1] = static_cast<std::uint64_t>(tensor_rows);
  p.strides[0] = static_cast<std::uint64_t>(k) * 2;
  p.box[0] = kColumns;
  p.box[1] = static_cast<std::uint32_t>(box_rows);
  p.swizzle = TmaSwizzle::bytes_128;
  TmaDescriptor map{};
  if (tma_detail::call_encoder(p, map) != 0) return -1;
  const auto kernel = w.boxes == 1   ? load_boxes<1>
                      : w.boxes == 2 ? load_boxes<2>
                      : w.boxes == 4 ? load_boxes<4>
                                     : load_boxes<8>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Storage) + 1024);
  std::vector<long long> host(static_cast<std::size_t>(w.ctas));
  double best = 1e30;
  for (int run = 0; run < 5; ++run) {
    kernel<<<w.ctas, 32, sizeof(Storage) + 1024>>>(map, w, cycles);
    if (cudaDeviceSynchronize() != cudaSuccess) return -2;
    cudaMemcpy(host.data(), cycles, host.size() * sizeof(long long), cudaMemcpyDeviceToHost);
    std::nth_element(host.begin(), host.begin() + w.ctas / 2, host.end());
    best = std::min(best, static_cast<double>(host[host.size() / 2]) / kLoads);
  }
  return best;
}

}  // namespace

int main() {
  unsigned char* memory = nullptr;
  long long* cycles = nullptr;
  cudaMalloc(&memory, std::size_t{1} << 30);
  cudaMemset(memory, 1, std::size_t{1} << 30);
  cudaMalloc(&cycles, 132 * sizeof(long long));
  const int k = 1024, tiles = k / kColumns;
  struct Row {
    const char* name;
    int tensor_rows, box_rows;
    What what;
  };
  // CTAs load the same rows of A, as those of one row of tiles do; or rows of their own.
  std::vector<Row> rows;
  for (const int ctas : {132, 33, 8, 1}) {
    rows.push_back({"128 rows, all inside", 128, 128, {0, 128, 1, tiles, ctas}});
    rows.push_back({"128 rows, 120 inside", 120, 128, {0, 128, 1, tiles, ctas}});
    rows.push_back({"128 rows, 64 inside", 64, 128, {0, 128, 1, tiles, ctas}});
    rows.push_back({"128 rows, 8 inside", 8, 128, {0, 128, 1, tiles, ctas}});
    rows.push_back({"128 rows, none inside", 128, 128, {128, 128, 1, tiles, ctas}});
    rows.push_back({"64 rows, all inside", 64, 64, {0, 64, 1, tiles, ctas}});
    rows.push_back({"64 rows, 8 inside", 8, 64, {0, 64, 1, tiles, ctas}});
    rows.push_back({"64 rows, none inside", 64, 64, {64, 64, 1, tiles, ctas}});
    rows.push_back({"8 rows, all inside", 8, 8, {0, 8, 1, tiles, ctas}});
  }
  rows.push_back({"128 rows of its own", 128 * 132, 128, {0, 128, 1, tiles, 132, true}});
  rows.push_back({"8 boxes of 8 rows, inside", 64, 8, {0, 8, 8, tiles, 132}});
  rows.push_back({"4 boxes of 16 rows, inside", 64, 16, {0, 16, 4, tiles, 132}});
  rows.push_back({"2 boxes of 64 rows, inside", 128, 64, {0, 64, 2, tiles, 132}});
  for (const Row& r : rows) {
    const double c = measure(r.tensor_rows, k, r.box_rows, r.what, memory, cycles);
    std::printf("%3d CTAs: %-28s %8.1f cycles, %6.2f a row\n", r.what.ctas, r.name, c,
                c / (r.what.rows * r.what.boxes));
  }
  return 0;
}

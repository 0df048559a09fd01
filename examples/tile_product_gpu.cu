// Runs the GEMM of tile_product.hpp on a GPU, checks it against one computed on the CPU, and prints its speed.
//
//   tile_product_gpu [M N K]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "tile_product.hpp"

namespace {

using Kernel = gantry::examples::TileProduct<>;

__global__ void __launch_bounds__(Kernel::kThreads, 1) tile_product(const __grid_constant__ Kernel::Params params) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Kernel::run(params, gantry::SharedMemory(memory));
}

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// The map of a row-major bf16 matrix whose boxes are 64 columns wide and 128-byte swizzled.
gantry::TmaDescriptor encode(void* data, int rows, int columns, int box_rows) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found),
        "looking up cuTensorMapEncodeTiled");
  const cuuint64_t dims[2] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides[1] = {static_cast<cuuint64_t>(columns) * 2};
  const cuuint32_t box[2] = {64, static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[2] = {1, 1};
  gantry::TmaDescriptor map;
  const CUresult result = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function)(
      reinterpret_cast<CUtensorMap*>(&map), CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, dims, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    std::fprintf(stderr, "the driver refused the map of a %d x %d matrix\n", rows, columns);
    std::exit(1);
  }
  return map;
}

struct Matrix {
  int rows, columns;
  std::vector<__nv_bfloat16> host;
  __nv_bfloat16* device = nullptr;

  Matrix(int r, int c) : rows(r), columns(c), host(static_cast<std::size_t>(r) * c) {
    check(cudaMalloc(&device, bytes()), "cudaMalloc");
  }
  std::size_t bytes() const { return host.size() * sizeof(__nv_bfloat16); }
  float at(int r, int c) const { return __bfloat162float(host[static_cast<std::size_t>(r) * columns + c]); }
};

}  // namespace

int main(int argc, char** argv) {
  const int m = argc > 3 ? std::atoi(argv[1]) : 8192;
  const int n = argc > 3 ? std::atoi(argv[2]) : 8192;
  const int k = argc > 3 ? std::atoi(argv[3]) : 8192;
  if (m <= 0 || n <= 0 || k <= 0 || n % 8 || k % 8) {
    std::fprintf(stderr, "M, N and K are positive, N and K multiples of 8; given %d %d %d\n", m, n, k);
    return 2;
  }
  cudaDeviceProp device{};
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess || device.major != 9) {
    std::fprintf(stderr, "skipped: no Hopper GPU\n");
    return 77;
  }
  Matrix a(m, k), b(n, k), d(m, n);
  std::mt19937 random(1);
  std::uniform_int_distribution<int> value(-8, 8);
  for (auto& x : a.host) x = __float2bfloat16(static_cast<float>(value(random)) / 8);
  for (auto& x : b.host) x = __float2bfloat16(static_cast<float>(value(random)) / 8);
  check(cudaMemcpy(a.device, a.host.data(), a.bytes(), cudaMemcpyHostToDevice), "copying A");
  check(cudaMemcpy(b.device, b.host.data(), b.bytes(), cudaMemcpyHostToDevice), "copying B");
  check(cudaMemset(d.device, 0xFF, d.bytes()), "clearing D");

  const auto tiles = [](int extent, int tile) { return (extent + tile - 1) / tile; };
  Kernel::Params params{};
  params.a = encode(a.device, m, k, Kernel::kTileM);
  params.b = encode(b.device, n, k, Kernel::kLoadedRowsB);
  params.d = encode(d.device, m, n, 64);
  params.m_tiles = tiles(tiles(m, Kernel::kTileM), Kernel::kCluster) * Kernel::kCluster;
  params.n_tiles = tiles(n, Kernel::kTileN);
  params.k_tiles = tiles(k, Kernel::kTileK);

  const int shared_bytes = sizeof(Kernel::Storage);
  check(cudaFuncSetAttribute(tile_product, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
        "asking for shared memory");
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {Kernel::kCluster, 1, 1};
  cudaLaunchConfig_t launch{};
  const int blocks =
      std::min(device.multiProcessorCount / Kernel::kCluster * Kernel::kCluster, params.m_tiles * params.n_tiles);
  launch.gridDim = dim3(static_cast<unsigned>(blocks));
  launch.blockDim = dim3(Kernel::kThreads);
  launch.dynamicSmemBytes = shared_bytes;
  launch.attrs = &cluster;
  launch.numAttrs = 1;
  check(cudaLaunchKernelEx(&launch, tile_product, params), "launching");
  check(cudaDeviceSynchronize(), "running");
  check(cudaMemcpy(d.host.data(), d.device, d.bytes(), cudaMemcpyDeviceToHost), "copying D");

  // Every element if the GEMM is small, else a sample that includes the corners.
  const bool all = static_cast<double>(m) * n * k < 3e8;
  const int samples = all ? m * n : 20000;
  int wrong = 0;
  for (int i = 0; i < samples; ++i) {
    int row = all ? i / n : static_cast<int>(random() % static_cast<unsigned>(m));
    int column = all ? i % n : static_cast<int>(random() % static_cast<unsigned>(n));
    if (!all && i < 4) row = i / 2 * (m - 1), column = i % 2 * (n - 1);
    double expected = 0;
    for (int j = 0; j < k; ++j) expected += static_cast<double>(a.at(row, j)) * b.at(column, j);
    const double error = std::abs(d.at(row, column) - expected);
    if (!(error <= 1e-2 * std::abs(expected) + 1e-3 * std::sqrt(k))) {
      if (++wrong <= 5) {
        std::printf("D(%d, %d) is %g, expected %g\n", row, column, d.at(row, column), expected);
      }
    }
  }
  std::printf("%d x %d x %d: %d of %d checked elements wrong\n", m, n, k, wrong, samples);
  if (wrong) return 1;

  cudaEvent_t start, stop;
  check(cudaEventCreate(&start), "event");
  check(cudaEventCreate(&stop), "event");
  constexpr int kRuns = 50;
  for (int i = 0; i < 10; ++i) check(cudaLaunchKernelEx(&launch, tile_product, params), "launching");
  check(cudaEventRecord(start), "event");
  for (int i = 0; i < kRuns; ++i) check(cudaLaunchKernelEx(&launch, tile_product, params), "launching");
  check(cudaEventRecord(stop), "event");
  check(cudaEventSynchronize(stop), "event");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start, stop), "event");
  const double seconds = milliseconds / 1e3 / kRuns;
  std::printf("%.1f us, %.1f TFLOP/s\n", seconds * 1e6, 2.0 * m * n * k / seconds / 1e12);
  return 0;
}

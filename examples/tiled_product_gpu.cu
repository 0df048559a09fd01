// Runs the GEMM of tiled_product.hpp on a GPU, checks it against one computed on the CPU, and prints its speed.
//
//   tiled_product_gpu [M N K]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <gantry/tma/encode.hpp>

#include "tiled_product.hpp"

namespace {

using Kernel = gantry::examples::TiledProduct<>;

__global__ void __launch_bounds__(Kernel::kThreads, 1) tiled_product(const __grid_constant__ Kernel::Params params) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Kernel::run(params, gantry::SharedMemory(memory));
}

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

gantry::TmaDescriptor encode(const gantry::TmaDescriptorParams& params) {
  const gantry::EncodedTmaDescriptor encoded = gantry::encode_with_driver(params);
  if (!encoded.ok()) {
    std::fprintf(stderr, "%s\n", describe(encoded).c_str());
    std::exit(1);
  }
  return encoded.map;
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

  const auto data = [](const Matrix& matrix) { return reinterpret_cast<const gantry::bf16*>(matrix.device); };
  const Kernel::Params params = Kernel::make_params(data(a), data(b), data(d), m, n, k, encode);

  const int shared_bytes = sizeof(Kernel::Storage);
  check(cudaFuncSetAttribute(tiled_product, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
        "asking for shared memory");
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {Kernel::kCluster, 1, 1};
  cudaLaunchConfig_t launch{};
  const int blocks = std::min(device.multiProcessorCount / Kernel::kCluster * Kernel::kCluster,
                              Kernel::m_tiles(params) * Kernel::n_tiles(params));
  launch.gridDim = dim3(static_cast<unsigned>(blocks));
  launch.blockDim = dim3(Kernel::kThreads);
  launch.dynamicSmemBytes = shared_bytes;
  launch.attrs = &cluster;
  launch.numAttrs = 1;
  check(cudaLaunchKernelEx(&launch, tiled_product, params), "launching");
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
  for (int i = 0; i < 10; ++i) check(cudaLaunchKernelEx(&launch, tiled_product, params), "launching");
  check(cudaEventRecord(start), "event");
  for (int i = 0; i < kRuns; ++i) check(cudaLaunchKernelEx(&launch, tiled_product, params), "launching");
  check(cudaEventRecord(stop), "event");
  check(cudaEventSynchronize(stop), "event");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start, stop), "event");
  const double seconds = milliseconds / 1e3 / kRuns;
  std::printf("%.1f us, %.1f TFLOP/s\n", seconds * 1e6, 2.0 * m * n * k / seconds / 1e12);
  return 0;
}

// GEMMs of a Kind on a GPU, compared with a plain kernel, with the host's for special values, and with
// cuBLASLt's.
#pragma once

#include <vector>

#include <gantry/arch/launch.hpp>

#include "../gpu_checks.cuh"
#include "kernel_params.hpp"
#include "operands.hpp"
#include "sums_of_types.hpp"

namespace gantry_test {

inline int processors() {
  static const int count = [] {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0), "asking for the number of SMs");
    return value;
  }();
  return count;
}

// Bytes on the GPU.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t count) : count_(count) { check(cudaMalloc(&data_, count * sizeof(T)), "allocating"); }
  explicit Buffer(const std::vector<T>& values) : Buffer(values.size()) {
    check(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice), "copying to the GPU");
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { cudaFree(data_); }

  T* data() const { return data_; }
  std::size_t size() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }
  std::vector<T> host() const {
    std::vector<T> out(count_);
    check(cudaMemcpy(out.data(), data_, bytes(), cudaMemcpyDeviceToHost), "copying from the GPU");
    return out;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

// ---- Plain kernels

template <class T>
__device__ T element_of(float x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(x);
  } else {
    return T(x);
  }
}

// Small integers, or numbers in [-1, 1) that the element type has; NaN (77) everywhere else.
template <class T>
__global__ void fill(T* data, int rows, int k, int batch, OperandLayout s, unsigned seed, bool integers) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x,
                    first = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  constexpr bool kUnsigned = std::is_same_v<T, std::uint8_t>;
  for (std::size_t i = first; i < std::size_t{1} * rows * k * batch; i += step) {
    unsigned x = static_cast<unsigned>(i) * 2654435761u + seed;
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    x ^= x >> 16;
    const std::int64_t row = static_cast<std::int64_t>(i / k % rows), at_k = static_cast<std::int64_t>(i % k),
                       batch = static_cast<std::int64_t>(i / k / rows);
    const float value = integers ? static_cast<float>(static_cast<int>(x % 5) - (kUnsigned ? 0 : 2))
                                 : static_cast<float>(x) * 0x1p-31f - 1.0f;
    data[row * s.row + at_k * s.k + batch * s.batch] = element_of<T>(value);
  }
}

// D(i, j, batch) = sum over k of A(i, k, batch) B(j, k, batch), in order; exact where sums are.
template <class Sum, class A, class B>
__global__ void add_up(Sum* d, const A* a, const B* b, int m, int n, int k, OperandLayout sa, OperandLayout sb) {
  constexpr int kTile = 16;
  __shared__ Sum tile_a[kTile][kTile + 1], tile_b[kTile][kTile + 1];
  const int x = threadIdx.x, y = threadIdx.y, batch = blockIdx.z;
  const std::int64_t i = std::int64_t{blockIdx.y} * kTile, j = std::int64_t{blockIdx.x} * kTile;
  Sum sum = 0;
  for (int first = 0; first < k; first += kTile) {
    const bool inside = first + x < k;
    const std::int64_t at = first + x;
    tile_a[y][x] = inside && i + y < m ? static_cast<Sum>(a[(i + y) * sa.row + at * sa.k + batch * sa.batch]) : Sum{0};
    tile_b[y][x] = inside && j + y < n ? static_cast<Sum>(b[(j + y) * sb.row + at * sb.k + batch * sb.batch]) : Sum{0};
    __syncthreads();
    for (int step = 0; step < kTile; ++step) sum += tile_a[y][step] * tile_b[x][step];
    __syncthreads();
  }
  if (i + y < m && j + x < n) d[(batch * std::int64_t{m} + i + y) * n + j + x] = sum;
}

// Sums that differ by more than `tolerance`; with 0, in a single bit.
template <class Sum>
__global__ void count_different(const Sum* x, const Sum* y, std::size_t count, float tolerance, unsigned* different) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count; i += step) {
    const bool same = tolerance == 0 ? bit_cast<unsigned>(x[i]) == bit_cast<unsigned>(y[i])
                                     : fabsf(static_cast<float>(x[i]) - static_cast<float>(y[i])) <= tolerance;
    if (!same) atomicAdd(different, 1u);
  }
}

// ---- Operands and sums

template <ElementType element>
class GpuOperand {
 public:
  using T = element_t<element>;

  GpuOperand(Major major, int rows, int k, int batch, bool padded)
      : shape_{rows, k, batch}, layout_(major, {rows, k, batch}, padded, sizeof(T)), buffer_(layout_.count) {}
  GpuOperand(Major major, int rows, int k, const Operand<element>& host)
      : shape_{rows, k, 1}, layout_(major, {rows, k, 1}, false, sizeof(T)), buffer_(host.values()) {}

  void fill_with(unsigned seed, bool integers) {
    check(cudaMemset(buffer_.data(), std::is_integral_v<T> ? 77 : 0xFF, buffer_.bytes()), "filling");  // NaN
    fill<<<4 * processors(), 256>>>(buffer_.data(), shape_[0], shape_[1], shape_[2], layout_, seed, integers);
    check(cudaGetLastError(), "filling");
  }

  const T* data() const { return buffer_.data(); }
  OperandLayout layout(bool shared) const {
    OperandLayout out = layout_;
    if (shared) out.batch = 0;
    return out;
  }
  GemmMatrix<const void> matrix(bool shared) const {
    return {buffer_.data(), layout_.stride(), shared ? 0 : layout_.batch};
  }

 private:
  int shape_[3];
  OperandLayout layout_;
  Buffer<T> buffer_;
};

template <Kind kind>
struct GpuProduct {
  using Gemm = SumsOf<kind>;
  using Sum = element_t<Gemm::kAccumulator>;

  static void run(const Extents& e, const GpuOperand<kind.a>& a, const GpuOperand<kind.b>& b, Sum* d) {
    GemmProblem problem;
    problem.a = a.matrix(false);
    problem.b = b.matrix(e.shared_b);
    problem.m = e.m;
    problem.n = e.n;
    problem.k = e.k;
    problem.batch = e.batch;
    const int ctas = processors() / 4 * 4;  // clusters of four do not reach every SM
    const typename StoreSums<DesignOf<kind>>::Params epilogue{d, e.m, e.n};
    const auto params = kernel_params<Gemm>(problem, epilogue, ctas, encode);
    const LaunchResult result = launch(Gpu{}, config_of<Gemm>(params), Gemm{}, params);
    if (!result) std::fprintf(stderr, "%s\n", describe(result).c_str());
  }
};

template <class Sum>
bool same_sums(const char* what, const Kind& kind, const Extents& e, const Buffer<Sum>& ours, const Buffer<Sum>& theirs,
               float tolerance) {
  static Buffer<unsigned> different(1);
  check(cudaMemset(different.data(), 0, sizeof(unsigned)), "counting");
  if (ours.size() > 0) {
    count_different<<<4 * processors(), 256>>>(ours.data(), theirs.data(), ours.size(), tolerance, different.data());
  }
  check(cudaGetLastError(), "comparing");
  const unsigned wrong = different.host()[0];
  if (wrong == 0) return true;
  std::printf("  %u of %zu sums differ from %s: %s, cluster %d x %d, tile %d x %d, M %d, N %d, K %d, L %d\n", wrong,
              ours.size(), what, kind.kernel == Kernel::cooperative ? "cooperative" : "pingpong", kind.cluster_m,
              kind.cluster_n, kind.tile_m, kind.tile_n, e.m, e.n, e.k, e.batch);
  return false;
}

}  // namespace gantry_test

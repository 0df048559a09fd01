// Plain kernels that host_on_gpu.cu compares with: they fill operands, multiply in doubles, and count wrong elements.
#pragma once

#include <cstddef>
#include <cstdint>

#include <gantry/numeric.hpp>

namespace gantry_test {

using gantry::bf16;

template <class T>
__global__ void fill(T* data, std::size_t count, unsigned seed) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    unsigned x = static_cast<unsigned>(i) * 2654435761u + seed;
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    const int value = static_cast<int>((x ^ (x >> 16)) % 5);
    if constexpr (__is_same(T, std::uint8_t)) {
      data[i] = static_cast<T>(value);
    } else if constexpr (__is_same(T, std::int8_t)) {
      data[i] = static_cast<T>(value - 2);
    } else {
      data[i] = T(static_cast<float>(value - 2));
    }
  }
}

// Element (i, j) of one matrix of a batch, with the strides of rows, columns and matrices.
template <class T>
struct View {
  T* data;
  std::int64_t row, column, batch_stride;
  __device__ T& operator()(int i, int j, int batch) const { return data[i * row + j * column + batch * batch_stride]; }
};

template <class A, class B>
__global__ void multiply(View<const A> a, View<const B> b, double* sums, int4 size) {
  const int n = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int m = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int batch = static_cast<int>(blockIdx.z);
  if (m >= size.x || n >= size.y) return;
  double sum = 0;
  for (int k = 0; k < size.z; ++k)
    sum += static_cast<double>(float(a(m, k, batch))) * static_cast<double>(float(b(n, k, batch)));
  sums[(std::int64_t{batch} * size.x + m) * size.y + n] = sum;
}

struct ExpectedValues {
  const double* sums;
  View<const bf16> c;
  const float* bias;
  bool everything;
};

template <class D>
__global__ void compare(ExpectedValues x, View<const D> d, View<const bf16> aux, int4 size, unsigned long long* wrong) {
  const int n = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int m = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int batch = static_cast<int>(blockIdx.z);
  if (m >= size.x || n >= size.y) return;
  double value = x.sums[(std::int64_t{batch} * size.x + m) * size.y + n];
  bool right = true;
  if (x.everything) {
    value += static_cast<double>(float(x.c(m, n, batch))) + static_cast<double>(x.bias[n]);
    right = aux(m, n, batch).bits == bf16(static_cast<float>(value)).bits;
    value = value > 0 ? value : 0;
  }
  if constexpr (__is_same(D, std::int32_t)) {
    right = right && d(m, n, batch) == static_cast<std::int32_t>(value);
  } else {
    right = right && float(d(m, n, batch)) == float(D(static_cast<float>(value)));
  }
  if (!right) atomicAdd(wrong, 1ull);
}

// One CTA: the reductions, over all batches.
static __global__ void compare_reductions(const double* sums, const float* top, const float* columns, int4 size,
                                          unsigned long long* wrong) {
  __shared__ double largest_of_thread[1024];
  double largest = -1e300;
  for (int n = static_cast<int>(threadIdx.x); n < size.y; n += static_cast<int>(blockDim.x)) {
    double sum = 0;
    for (int batch = 0; batch < size.w; ++batch) {
      for (int m = 0; m < size.x; ++m) {
        const double value = sums[(std::int64_t{batch} * size.x + m) * size.y + n];
        sum += value;
        largest = value > largest ? value : largest;
      }
    }
    if (columns[n] != static_cast<float>(sum)) atomicAdd(wrong, 1ull);
  }
  largest_of_thread[threadIdx.x] = largest;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (const double x : largest_of_thread) largest = x > largest ? x : largest;
  if (static_cast<double>(*top) != largest) atomicAdd(wrong, 1ull);
}

}  // namespace gantry_test

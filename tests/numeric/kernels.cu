// The element types in device code: they must stay in registers.
#include <gantry/numeric.hpp>

namespace gantry::test {

template <class T>
__global__ void narrow(const float* in, T* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = T(in[i]);
}
template <class T>
__global__ void widen(const T* in, float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = float(in[i]);
}
template <class T>
__global__ void arithmetic(const T* in, T* out) {
  __shared__ T tile[32];
  tile[threadIdx.x] = in[threadIdx.x] * T(0.5f) + limits<T>::epsilon();
  __syncthreads();
  const T x = tile[threadIdx.x ^ 1];
  out[threadIdx.x] = is_nan(x) || x > limits<T>::max_finite() / T(2) ? abs(x) : -x;
}
template <class To, class From>
__global__ void conversion(const From* in, To* out) {
  out[threadIdx.x] = convert<To>(in[threadIdx.x]);
}

#define GANTRY_INSTANTIATE(T)                             \
  template __global__ void narrow(const float*, T*);      \
  template __global__ void widen(const T*, float*);       \
  template __global__ void arithmetic(const T*, T*);      \
  template __global__ void conversion(const double*, T*); \
  template __global__ void conversion(const int*, T*)
GANTRY_INSTANTIATE(f16);
GANTRY_INSTANTIATE(bf16);
GANTRY_INSTANTIATE(tf32);
GANTRY_INSTANTIATE(e4m3);
GANTRY_INSTANTIATE(e5m2);
template __global__ void conversion(const float*, std::int8_t*);
template __global__ void conversion(const double*, std::uint64_t*);
template __global__ void conversion(const int*, std::uint8_t*);
template __global__ void conversion(const f16*, cf32*);

// Eight 4-bit integers in one register, scaled and stored as half precision.
__global__ void unpack(const PackedArray<s4, 8>* in, f16* out) {
  const PackedArray<s4, 8> packed = in[threadIdx.x];
#pragma unroll
  for (int i = 0; i < packed.size(); ++i) out[8 * threadIdx.x + i] = convert<f16>(packed[i]);
}
__global__ void pack(const float* in, PackedArray<u1, 32>* out) {
  PackedArray<u1, 32> mask{};
#pragma unroll
  for (int i = 0; i < mask.size(); ++i) mask[i] = u1(in[32 * threadIdx.x + i] > 0);
  out[threadIdx.x] = mask;
}

__global__ void multiply(const cf32* a, const cf32* b, cf32* out) {
  cf32 sum{0, 0};
  for (int k = 0; k < 16; ++k) sum += a[k] * conj(b[k]);
  out[threadIdx.x] = sum;
}

}  // namespace gantry::test

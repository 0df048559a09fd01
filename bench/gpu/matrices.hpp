// Matrices of random numbers on the GPU for one problem of a benchmark.
//
//   const Matrices matrices(8192, 8192, 64);
//   const Problem& p = matrices.problem();
#pragma once

#include <cstddef>

#include "problem.hpp"
#include "timing.hpp"

namespace gantry::bench {

// Uniform in [-1, 1).
static __global__ void fill(bf16* data, std::size_t count, unsigned seed) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    unsigned x = static_cast<unsigned>(i) * 2654435761u + seed;
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    x ^= x >> 16;
    data[i] = bf16(static_cast<float>(x) * 0x1p-31f - 1.0f);
  }
}

// A problem's matrices on the GPU, as long as this lives.
class Matrices {
 public:
  Matrices(int m, int n, int k) {
    p_.m = m, p_.n = n, p_.k = k;
    check(cudaDeviceGetAttribute(&p_.sms, cudaDevAttrMultiProcessorCount, 0), "asking the device");
    fill_with(p_.a, m, k, 1);
    fill_with(p_.b, n, k, 2);
    fill_with(p_.c, m, n, 3);
    fill_with(p_.bias, 1, n, 4);
    for (bf16** out : {&p_.d, &p_.theirs, &p_.aux, &p_.their_aux}) fill_with(*out, m, n, 5);
    check(cudaDeviceSynchronize(), "filling");
  }
  Matrices(const Matrices&) = delete;
  Matrices& operator=(const Matrices&) = delete;
  ~Matrices() {
    for (bf16* data : {p_.a, p_.b, p_.c, p_.d, p_.theirs, p_.aux, p_.their_aux, p_.bias})
      check(cudaFree(data), "cudaFree");
  }

  const Problem& problem() const { return p_; }

 private:
  static void fill_with(bf16*& data, int rows, int columns, unsigned seed) {
    const std::size_t count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    check(cudaMalloc(&data, count * 2), "cudaMalloc");
    fill<<<1024, 256>>>(data, count, seed);
  }

  Problem p_{};
};

}  // namespace gantry::bench

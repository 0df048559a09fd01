// What the races of fused_race.hpp's contestants are run with: sizes that were asked for, matrices of random numbers,
// times, medians.
//
//   const Matrices matrices(8192, 8192, 64);
//   const double each = seconds(contestant.prepare(matrices.problem(), false), 10);
#pragma once

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "cublaslt.hpp"
#include "fused_race.hpp"

namespace gantry::bench {

// M, N and K of each problem, from the words of a command that are no options.
class Sizes {
 public:
  void add(const char* word) {
    char* end = nullptr;
    const long value = std::strtol(word, &end, 10);
    if (*word == '\0' || *end != '\0' || value < 1 || value > INT_MAX) {
      std::fprintf(stderr, "%s is no option, and no size either: sizes are numbers from 1 on\n", word);
      std::exit(2);
    }
    numbers_.push_back(static_cast<int>(value));
  }
  // M, N, K, M, N, K ...; `usual` where none were asked for.
  std::vector<int> or_else(const std::vector<int>& usual) const {
    if (numbers_.size() % 3 != 0) {
      std::fprintf(stderr, "a problem is M N K, three numbers; %zu were given\n", numbers_.size());
      std::exit(2);
    }
    return numbers_.empty() ? usual : numbers_;
  }

 private:
  std::vector<int> numbers_;
};

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
    check(cudaDeviceGetAttribute(&p_.processors, cudaDevAttrMultiProcessorCount, 0), "asking the device");
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

// Of one call, when `calls` follow one another.
inline double seconds(const std::function<void()>& run, int calls) {
  static cudaEvent_t start = nullptr, stop = nullptr;
  if (!start) {
    check(cudaEventCreate(&start), "event");
    check(cudaEventCreate(&stop), "event");
  }
  check(cudaEventRecord(start), "event");
  for (int i = 0; i < calls; ++i) run();
  check(cudaEventRecord(stop), "event");
  check(cudaEventSynchronize(stop), "running");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start, stop), "event");
  return milliseconds / 1e3 / calls;
}

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace gantry::bench

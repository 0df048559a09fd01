// Times of launches on the GPU, and medians of them.
//
//   const double each = seconds([&] { plan.run(Gpu{}); }, 10);
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include <cuda_runtime.h>

#include "cublaslt.hpp"

namespace gantry::bench {

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

// A B^T of operands whose sums are exact in any order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gantry_test {

template <class T>
std::vector<float> floats(const std::vector<T>& values) {
  std::vector<float> out(values.size());
  std::transform(values.begin(), values.end(), out.begin(), [](const T& x) { return static_cast<float>(x); });
  return out;
}

struct SumExtents {
  int m, n, k;
  int batch = 1;
};

// Row by row, one matrix after the other. A has m x k elements for each, B n x k.
template <class T>
std::vector<float> exact_sums(const std::vector<T>& a, const std::vector<T>& b, const SumExtents& e) {
  const std::vector<float> x = floats(a), y = floats(b);
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(e.batch * e.m * e.n));
  for (int row = 0; row < e.batch * e.m; ++row) {
    const float* const of_a = x.data() + row * e.k;
    for (int j = 0; j < e.n; ++j) {
      const float* const of_b = y.data() + (row / e.m * e.n + j) * e.k;
      float sum = 0;
      for (int k = 0; k < e.k; ++k) sum += of_a[k] * of_b[k];
      out.push_back(sum);
    }
  }
  return out;
}

}  // namespace gantry_test

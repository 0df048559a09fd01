// A plain bf16 GEMM of given sizes, as the tests of the choice ask for it.
#pragma once

#include <cstdint>

#include <gantry/gemm/workload.hpp>

namespace gantry {

inline GemmWorkload product(std::int64_t m, std::int64_t n, std::int64_t k) {
  GemmWorkload w;
  w.m = m;
  w.n = n;
  w.k = k;
  return w;
}

}  // namespace gantry

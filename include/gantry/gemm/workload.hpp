// What is to be computed, whatever computes it: sizes, elements, majors and the epilogue as text; and what a tuning
// file says of it.
//
// Example:
//     using namespace gantry;
//     GemmWorkload w = workload_of({.d = ElementType::f32});
//     w.m = w.n = w.k = 4096;
#pragma once

#include <string>

#include <gantry/gemm/options.hpp>

namespace gantry {

struct GemmWorkload {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  ElementType a = ElementType::bf16, b = ElementType::bf16;
  ElementType c = ElementType::void_, d = ElementType::bf16;
  Major major_a = Major::K, major_b = Major::K;
  std::string epilogue = "d = acc";

  friend bool operator==(const GemmWorkload&, const GemmWorkload&) = default;
};

// With the operands that options name; sizes and epilogue are left as they are by default.
inline GemmWorkload workload_of(const GemmOptions& o) {
  GemmWorkload w;
  w.a = o.a;
  w.b = o.b;
  w.c = o.c;
  w.d = o.d;
  w.major_a = o.major_a;
  w.major_b = o.major_b;
  return w;
}

// What a kernel with swapped operands computes. The epilogue's text is left as it is.
inline GemmWorkload swapped(GemmWorkload w) {
  detail::exchange_values(w.m, w.n);
  detail::exchange_values(w.a, w.b);
  detail::exchange_values(w.major_a, w.major_b);
  return w;
}

// A measured choice.
struct TuningEntry {
  GemmWorkload workload{};
  std::string device{};
  std::string configuration{};
  double milliseconds = 0;  // 0: not recorded
};

}  // namespace gantry

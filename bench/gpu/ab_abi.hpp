// What the driver of the A/B harness (ab.cu) and a kernel that was compiled into a shared object (ab_entry.cu) say to
// each other. Plain C and nothing of Gantry, so that kernels of two commits serve one driver.
//
//   const auto entry = reinterpret_cast<AbEntry*>(dlsym(library, kAbSymbol));
//   void* plan = entry()->plan(&problem, &text);
#pragma once

#include <cstddef>

namespace gantry::bench {

inline constexpr char kAbSymbol[] = "gantry_ab";

// Matrices in device memory, packed; B is N x K.
struct AbProblem {
  int m, n, k;
  const void *a, *b, *c, *bias;
  void *d, *aux;
  bool dependent;
};

// Of the caller; ends with a zero, and what does not fit is cut off.
struct AbText {
  char* data;
  std::size_t size;
};

struct AbKernel {
  void (*describe)(const AbText* out);
  // Null, with the reasons in `why`, where there is none.
  void* (*plan)(const AbProblem* problem, const AbText* why);
  // Launches into a stream; false with the reason.
  bool (*run)(const void* plan, void* stream, const AbText* why);
  void (*destroy)(void* plan);
};

using AbEntry = const AbKernel*();

}  // namespace gantry::bench

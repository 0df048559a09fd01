// GEMMs of every element type, major, kernel and cluster on a GPU: what tests/gemm/types_test.cpp and
// majors_test.cpp do on the simulated SM, large shapes, and random ones against cuBLASLt.
// scripts/gemm_check_visit.sh builds it.
//
//   on_gpu [TYPES [small]]
//
// TYPES: only what begins so, "e4m3" for instance. small: without large shapes and cuBLASLt.
// Prints what was compared for each pair of types and majors. Exits with 77 where there is no GPU.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>

#include "on_gpu.hpp"

int main(int count, char** arguments) {
  using namespace gantry_test;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("There is no GPU here.");
    return 77;
  }
  const char* wanted = count > 1 ? arguments[1] : "";
  const Extent extent = count > 2 && std::strcmp(arguments[2], "small") == 0 ? Extent::small : Extent::all;
  std::sort(entries().begin(), entries().end(),
            [](const Entry& x, const Entry& y) { return x.types + x.majors < y.types + y.majors; });
  Tally all;
  std::printf("%-12s %-14s %14s %14s %14s %8s\n", "types", "majors", "exact", "special", "cuBLASLt", "seconds");
  for (const Entry& entry : entries()) {
    if (std::strncmp(entry.types.c_str(), wanted, std::strlen(wanted)) != 0) continue;
    const auto start = std::chrono::steady_clock::now();
    const Answer answer = entry.check(extent);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%-12s %-14s", entry.types.c_str(), entry.majors.c_str());
    for (const Tally& part : {answer.exact, answer.special, answer.vendor}) {
      std::printf(" %8d/%-5d", part.passed, part.failed);
      all.passed += part.passed;
      all.failed += part.failed;
    }
    std::printf(" %8.1f\n", seconds);
    std::fflush(stdout);
  }
  std::printf("%d passed, %d failed\n", all.passed, all.failed);
  return all.failed == 0 && all.passed > 0 ? 0 : 1;
}

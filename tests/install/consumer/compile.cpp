// The library of kernels compiled at run time, from the installed package: without nvcc a kernel is refused with a
// sentence.
#include <cstdio>

#include <gantry/runtime.hpp>

int main(int, char** argv) {
  using namespace gantry::runtime;
  const KernelCache cache({.directory = argv[1]});
  const Compiler none = Compiler::find({.nvcc = "/no/nvcc", .cuda_home = {}, .path = {}});
  const LoadedGemm gemm = load_gemm(cache, none, {.expression = "d = acc"});
  std::puts(gemm.problem().c_str());
  return gemm || gemm.problem().find("/no/nvcc") == std::string::npos ? 1 : 0;
}

// The library of kernels compiled at run time, from the installed package: without a compiler a kernel is refused with
// a sentence; with one it is compiled from the headers in the library, whatever became of the source tree.
#include <cstdio>

#include <gantry/runtime.hpp>

int main(int, char** argv) {
  using namespace gantry::runtime;
  const KernelCache cache({.directory = argv[1]});
  const Compiler none = Compiler::find({.nvcc = "/no/nvcc", .cuda_home = {}, .path = {}});
  const CachedKernel refused = compile_gemm(cache, NvccCompiler(none, ImageKind::cubin), {.expression = "d = acc"});
  std::puts(refused.status.describe().c_str());
  if (refused || !has(refused.status, RuntimeRule::named_compiler_missing)) return 1;

  const NvrtcCompiler nvrtc = NvrtcCompiler::find();
  const NvccCompiler nvcc(Compiler::find(), ImageKind::cubin);
  const KernelCompiler& compiler = nvrtc.status() ? static_cast<const KernelCompiler&>(nvrtc) : nvcc;
  if (!compiler.status()) return std::puts(compiler.status().describe().c_str()), 0;
  const CachedKernel kernel = cache.get(
      compiler, {.text = "#include <gantry/arch.hpp>\nextern \"C\" __global__ void none() {}\n", .title = "nothing"});
  std::puts(kernel ? "a kernel was compiled" : kernel.status.describe().c_str());
  return kernel ? 0 : 1;
}

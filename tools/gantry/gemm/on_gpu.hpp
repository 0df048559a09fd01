// A GEMM on the GPU: compiled at run time (or found in the cache), its operands uploaded, planned, run.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include <gantry/context.hpp>
#include <gantry/runtime/gemm.hpp>

#include "gemm/operands.hpp"
#include "gemm/progress.hpp"

namespace gantry::tool {

// Operands in the memory of the GPU.
class DeviceOperands {
 public:
  // Where status() is ok, all of them are there, with the host's values.
  DeviceOperands(const runtime::Device& device, const Operands& operands);

  const Status& status() const { return status_; }
  const GemmCall& call() const { return call_; }
  void* address(const std::string& name) const;
  // What one GEMM of a pointer array has of an operand.
  Operand::Part part(const std::string& name, std::int64_t gemm) const;

  // Poisons what is written, on both sides, so that results of another run are not taken for this one's.
  Status poison(Operands& operands);
  // Copies what is written back to the host.
  Status download(Operands& operands) const;

 private:
  std::vector<std::string> names_;
  std::vector<std::vector<Operand::Part>> parts_;
  std::vector<runtime::DeviceBuffer> buffers_;
  GemmCall call_;
  Status status_;
};

// What a command that needs a GPU ends with where there is none, as the programs under bench/gpu do.
inline constexpr int kNoGpuStatus = 77;

// Compiles all of them at once, on as many CPU cores as there are, so that the cache has them when they are loaded.
// `done` counts for whoever watches.
void compile_ahead(const runtime::KernelCache& cache, const runtime::KernelCompiler& compiler,
                   const std::vector<runtime::GemmSpec>& specs, std::atomic<std::size_t>& done);

struct GpuRun {
  Status status{};       // why there was no run
  std::string choice{};  // which kernel, why, and where it came from
  std::string plan{};
  double seconds = 0;  // of one call, the median of several
  int calls = 0;
};

// Waits for the best kernel. `check`: of the run whose result is compared.
GpuRun run_on_gpu(const AskedGemm& asked, Operands& operands, Progress& progress, RunCheck check);

double median(std::vector<double> values);

}  // namespace gantry::tool

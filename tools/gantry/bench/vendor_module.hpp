// cuBLASLt's GEMM of the same operands, compiled at run time as ours is: bench/gpu/cublaslt.hpp in a shared object.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gantry/runtime/cache.hpp>
#include <gantry/runtime/module.hpp>

#include "bench/vendor_arguments.hpp"
#include "gemm/on_gpu.hpp"

namespace gantry::tool {

// An epilogue as cuBLASLt has them: D = activation(A B + C + bias), and perhaps the activation's argument.
struct VendorEpilogue {
  bool c = false, bias = false, aux = false;
  VendorActivation activation = VendorActivation::none;
};

// Nothing where it has no such epilogue. Vectors and auxiliary outputs are of D's elements, and D is row-major.
std::optional<VendorEpilogue> vendor_epilogue(const AskedGemm& asked);
// What it computes, in words.
std::string opponent_of(const AskedGemm& asked);

class VendorGemm {
 public:
  // Chooses the best of the candidates of its heuristic, which takes a moment. Where the epilogue is none that it
  // fuses, the GEMM alone. A grouped GEMM is a loop of calls, one for each group.
  VendorGemm(const runtime::KernelCache& cache, const runtime::Compiler& compiler, const AskedGemm& asked,
             const DeviceOperands& operands);

  // Why there is none.
  const Status& status() const { return status_; }
  // cuBLASLt has no such GEMM, or there is no nvcc to compile its calls: status() says so.
  bool declines() const { return declines_; }
  Status run() const;

 private:
  Status status_;
  bool declines_ = false;
  std::shared_ptr<runtime::Module> module_;
  std::vector<std::shared_ptr<void>> gemms_;  // one, or one for each group that is not empty
  int (*run_)(void*) = nullptr;
};

}  // namespace gantry::tool

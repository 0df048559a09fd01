// cuBLASLt's product of the same operands, compiled at run time as ours is: bench/gpu/cublaslt.hpp in a shared object.
#pragma once

#include <memory>
#include <string>

#include <gantry/runtime/cache.hpp>
#include <gantry/runtime/module.hpp>

#include "gemm/on_gpu.hpp"

namespace gantry::tool {

// What of an epilogue cuBLASLt fuses too.
enum class VendorEpilogue : std::uint8_t { none, plain, source, bias_gelu, bias_gelu_aux };

VendorEpilogue vendor_epilogue(const fusion::Graph& graph);
// What it computes, in words.
std::string opponent_of(VendorEpilogue epilogue);

class VendorProduct {
 public:
  // Chooses the best of the candidates of its heuristic, which takes a moment. Where the epilogue is none that it
  // fuses, the product alone.
  VendorProduct(const runtime::KernelCache& cache, const runtime::Compiler& compiler, const Product& product,
                const DeviceOperands& operands);

  explicit operator bool() const { return problem_.empty(); }
  const std::string& problem() const { return problem_; }
  void run() const;

 private:
  std::string problem_;
  std::shared_ptr<runtime::Module> module_;
  std::shared_ptr<void> product_;
  void (*run_)(void*) = nullptr;
};

}  // namespace gantry::tool

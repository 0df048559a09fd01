// cuBLASLt's sums: D = A B^T in f32 or s32, for the element types that it has. K-major, packed.
#pragma once

#include <cublasLt.h>

#include "gpu_product.cuh"

namespace gantry_test {

inline cudaDataType_t vendor_type(ElementType element) {
  switch (element) {
    case ElementType::bf16:
      return CUDA_R_16BF;
    case ElementType::f16:
      return CUDA_R_16F;
    case ElementType::e4m3:
      return CUDA_R_8F_E4M3;
    case ElementType::e5m2:
      return CUDA_R_8F_E5M2;
    case ElementType::s8:
      return CUDA_R_8I;
    default:
      return CUDA_R_32F;
  }
}

// cuBLASLt has no GEMM of u8, nor of two e5m2.
constexpr bool vendor_has(const Kind& kind) {
  return kind.major_a == Major::K && kind.major_b == Major::K && !kind.promote && kind.a != ElementType::u8 &&
         kind.b != ElementType::u8 && !(kind.a == ElementType::e5m2 && kind.b == ElementType::e5m2);
}

class Vendor {
 public:
  Vendor() : workspace_(kWorkspaceBytes) { check(cublasLtCreate(&handle_), "cublasLtCreate"); }
  Vendor(const Vendor&) = delete;
  Vendor& operator=(const Vendor&) = delete;
  ~Vendor() { cublasLtDestroy(handle_); }

  // False where it has no such product.
  bool run(const Kind& kind, const Extents& e, const void* a, const void* b, void* d) {
    const bool integers = kind.a == ElementType::s8;
    const cudaDataType_t sums = integers ? CUDA_R_32I : CUDA_R_32F;
    const cublasComputeType_t compute = integers                      ? CUBLAS_COMPUTE_32I
                                        : kind.a == ElementType::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                                      : CUBLAS_COMPUTE_32F;
    // It thinks in columns: its first operand is B, its second A, and its result D transposed.
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t first, second, result;
    const cublasOperation_t transposed = CUBLAS_OP_T;
    check(cublasLtMatmulDescCreate(&product, compute, sums), "describing the product");
    check(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed),
          "transposing");
    check(cublasLtMatrixLayoutCreate(&first, vendor_type(kind.b), e.k, e.n, e.k), "describing B");
    check(cublasLtMatrixLayoutCreate(&second, vendor_type(kind.a), e.k, e.m, e.k), "describing A");
    check(cublasLtMatrixLayoutCreate(&result, sums, e.n, e.m, e.n), "describing D");
    cublasLtMatmulPreference_t preference;
    check(cublasLtMatmulPreferenceCreate(&preference), "asking for candidates");
    check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspaceBytes,
                                               sizeof kWorkspaceBytes),
          "asking for candidates");
    cublasLtMatmulHeuristicResult_t best;
    int found = 0;
    const cublasStatus_t answer =
        cublasLtMatmulAlgoGetHeuristic(handle_, product, first, second, result, result, preference, 1, &best, &found);
    const float one = 1, zero = 0;
    const std::int32_t integer_one = 1, integer_zero = 0;
    const bool has = answer == CUBLAS_STATUS_SUCCESS && found > 0;
    if (has) {
      check(cublasLtMatmul(handle_, product, integers ? static_cast<const void*>(&integer_one) : &one, b, first, a,
                           second, integers ? static_cast<const void*>(&integer_zero) : &zero, d, result, d, result,
                           &best.algo, workspace_.data(), kWorkspaceBytes, nullptr),
            "cublasLtMatmul");
    }
    cublasLtMatmulPreferenceDestroy(preference);
    cublasLtMatrixLayoutDestroy(first);
    cublasLtMatrixLayoutDestroy(second);
    cublasLtMatrixLayoutDestroy(result);
    cublasLtMatmulDescDestroy(product);
    return has;
  }

 private:
  static constexpr std::size_t kWorkspaceBytes = 32 << 20;

  static void check(cublasStatus_t status, const char* what) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    std::fprintf(stderr, "%s: cuBLASLt answers %d\n", what, static_cast<int>(status));
    std::exit(1);
  }

  cublasLtHandle_t handle_ = nullptr;
  Buffer<unsigned char> workspace_;
};

}  // namespace gantry_test

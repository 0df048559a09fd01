// cuBLASLt as a contestant: D = A B^T in row-major bf16 with f32 sums, by the best of the candidates of its heuristic.
//
//   CublasLt vendor({.m = 4096, .n = 4096, .k = 4096}, a, b, d);
//   vendor.run(stream);
//
// With a Fusion the epilogue is part of it: D = gelu(A B^T + C + bias), and the argument of gelu as a further output.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <cublasLt.h>
#include <cuda_runtime.h>

namespace gantry::bench {

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

class CublasLt {
 public:
  struct Size {
    int m, n, k;
  };

  // Null: left out. The auxiliary output needs the bias, which is in bf16.
  struct Fusion {
    const void* c = nullptr;
    const void* bias = nullptr;  // and gelu, in its tanh form
    void* aux = nullptr;
  };

  CublasLt(Size size, const void* a, const void* b, void* d) : CublasLt(size, a, b, d, {}) {}
  CublasLt(Size size, const void* a, const void* b, void* d, const Fusion& fusion)
      : a_(a), b_(b), c_(fusion.c ? fusion.c : d), d_(d), beta_(fusion.c ? 1.0f : 0.0f) {
    check(cublasLtCreate(&handle_), "cublasLtCreate");
    check(cudaMalloc(&workspace_, kWorkspaceBytes), "allocating cuBLASLt's workspace");
    // cuBLASLt thinks in columns: its first operand is B, its second A, and its result D transposed.
    check(cublasLtMatmulDescCreate(&product_, CUBLAS_COMPUTE_32F, CUDA_R_32F), "describing the product");
    const cublasOperation_t transposed = CUBLAS_OP_T;
    check(cublasLtMatmulDescSetAttribute(product_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed),
          "transposing");
    check(cublasLtMatrixLayoutCreate(&first_, CUDA_R_16BF, size.k, size.n, size.k), "describing B");
    check(cublasLtMatrixLayoutCreate(&second_, CUDA_R_16BF, size.k, size.m, size.k), "describing A");
    check(cublasLtMatrixLayoutCreate(&result_, CUDA_R_16BF, size.n, size.m, size.n), "describing D");
    if (fusion.bias) fuse(fusion, size.n);
    choose();
  }
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;
  ~CublasLt() {
    cublasLtMatrixLayoutDestroy(first_);
    cublasLtMatrixLayoutDestroy(second_);
    cublasLtMatrixLayoutDestroy(result_);
    cublasLtMatmulDescDestroy(product_);
    cudaFree(workspace_);
    cublasLtDestroy(handle_);
  }

  void run(cudaStream_t stream) const { check(matmul(algorithm_, stream), "cublasLtMatmul"); }
  int candidates() const { return candidates_; }

 private:
  static constexpr std::size_t kWorkspaceBytes = 64 << 20;
  static constexpr int kRuns = 8;

  static void check(cublasStatus_t status, const char* what) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    std::fprintf(stderr, "%s: cuBLASLt answers %d\n", what, static_cast<int>(status));
    std::exit(1);
  }
  static void check(cudaError_t error, const char* what) { bench::check(error, what); }

  cublasStatus_t matmul(const cublasLtMatmulAlgo_t& algorithm, cudaStream_t stream) const {
    const float one = 1;
    return cublasLtMatmul(handle_, product_, &one, b_, first_, a_, second_, &beta_, c_, result_, d_, result_,
                          &algorithm, workspace_, kWorkspaceBytes, stream);
  }

  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    check(cublasLtMatmulDescSetAttribute(product_, attribute, &value, sizeof value), "describing the epilogue");
  }
  void fuse(const Fusion& fusion, std::int64_t n) {
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, fusion.aux ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_BIAS);
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, fusion.bias);
    set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CUDA_R_16BF);
    if (!fusion.aux) return;
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, fusion.aux);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, n);
  }

  // The fastest of the candidates, each timed twice, the better time counting.
  void choose() {
    cublasLtMatmulPreference_t preference;
    check(cublasLtMatmulPreferenceCreate(&preference), "asking for candidates");
    check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspaceBytes,
                                               sizeof kWorkspaceBytes),
          "asking for candidates");
    cublasLtMatmulHeuristicResult_t results[8];
    check(cublasLtMatmulAlgoGetHeuristic(handle_, product_, first_, second_, result_, result_, preference, 8, results,
                                         &candidates_),
          "asking for candidates");
    cublasLtMatmulPreferenceDestroy(preference);
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start), "event");
    check(cudaEventCreate(&stop), "event");
    float best = 1e30f;
    for (int i = 0; i < 2 * candidates_; ++i) {
      const cublasLtMatmulAlgo_t& algorithm = results[i % candidates_].algo;
      if (matmul(algorithm, nullptr) != CUBLAS_STATUS_SUCCESS) continue;
      check(cudaEventRecord(start), "event");
      for (int run = 0; run < kRuns; ++run) matmul(algorithm, nullptr);
      check(cudaEventRecord(stop), "event");
      check(cudaEventSynchronize(stop), "running a candidate");
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, start, stop), "event");
      if (milliseconds < best) best = milliseconds, algorithm_ = algorithm;
    }
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
  }

  const void *a_, *b_, *c_;
  void* d_;
  float beta_;
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t first_ = nullptr, second_ = nullptr, result_ = nullptr;
  void* workspace_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_{};
  int candidates_ = 0;
};

}  // namespace gantry::bench

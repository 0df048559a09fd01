// cuBLASLt as a contestant: D = A B by the best of the candidates of its heuristic.
//
//   CublasLt vendor({.m = 4096, .n = 4096, .k = 4096}, a, b, d);    // row-major bf16, B given transposed, f32 sums
//   vendor.run(stream);
//
// A Product says which elements and layouts there are where they are others. With a Fusion the epilogue is part of it:
// D = gelu(A B + C + bias), and the argument of gelu as a further output. All of them share one handle and one
// workspace: they run in one stream, one after the other.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <cublasLt.h>
#include <cuda_runtime.h>

namespace gantry::bench {

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

class Stopwatch {
 public:
  Stopwatch() {
    check(cudaEventCreate(&start_), "event");
    check(cudaEventCreate(&stop_), "event");
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  void start() const { check(cudaEventRecord(start_), "event"); }
  // Waits; milliseconds.
  float stop() const {
    check(cudaEventRecord(stop_), "event");
    check(cudaEventSynchronize(stop_), "running");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start_, stop_), "event");
    return milliseconds;
  }

 private:
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

class CublasLt {
 public:
  static constexpr int kCandidates = 8;

  struct Size {
    int m, n, k;
  };

  // Strides are those of lines and of batches, in elements; 0: packed.
  struct Matrix {
    cudaDataType element = CUDA_R_16BF;
    std::int64_t stride = 0, batch_stride = 0;
  };
  // Factors of blocks of 8-bit floats: of a row, or of 128 rows, and 128 elements of K. All of them are 1.
  enum class Scale { none, row_block, block };
  struct Product {
    Size size{};
    int batch = 1;
    Matrix a{}, b{}, c{}, d{};
    bool a_along_k = true, b_along_k = true;  // elements that lie next to each other
    bool c_rows = true, d_rows = true;
    cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
    bool precise = false;  // sums of 8-bit floats in full f32
    Scale scale_a = Scale::none, scale_b = Scale::none;
    int candidates = kCandidates;  // that are timed, at most; 1: the heuristic's first is taken as it is
  };

  enum class Activation { none, relu, gelu };  // gelu in its tanh form
  // Null: left out. The auxiliary output is the activation's argument.
  struct Fusion {
    const void* c = nullptr;
    const void* bias = nullptr;  // along a line of D, in its elements
    void* aux = nullptr;
    Activation activation = Activation::none;
  };

  CublasLt(Size size, const void* a, const void* b, void* d) : CublasLt(size, a, b, d, {}) {}
  CublasLt(Size size, const void* a, const void* b, void* d, const Fusion& fusion)
      : CublasLt(bf16_product(size), a, b, d, fusion) {
    if (problem_ == nullptr) return;
    std::fprintf(stderr, "cuBLASLt: %s (status %d)\n", problem_, static_cast<int>(status_));
    std::exit(1);
  }
  // Where cuBLASLt has no such matmul, problem() says so.
  CublasLt(const Product& product, const void* a, const void* b, void* d, const Fusion& fusion)
      : c_(fusion.c ? fusion.c : d), d_(d), has_c_(fusion.c != nullptr) {
    // cuBLASLt thinks in columns: rows of D are columns of its transpose, the product of B and A transposed.
    const Product& p = product;
    const Size& s = p.size;
    const Side left{p.a, a, s.m, p.a_along_k}, right{p.b, b, s.n, p.b_along_k};
    const Side& first = p.d_rows ? right : left;
    const Side& second = p.d_rows ? left : right;
    first_data_ = first.data;
    second_data_ = second.data;
    integers_ = p.compute == CUBLAS_COMPUTE_32I && p.d.element == CUDA_R_32I;
    shared().take(*this);
    if (problem_ != nullptr) return;
    check(cublasLtMatmulDescCreate(&product_, p.compute, integers_ ? CUDA_R_32I : CUDA_R_32F), "it has no such sums");
    if (problem_ != nullptr) return;
    set(CUBLASLT_MATMUL_DESC_TRANSA, first.along_k ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, second.along_k ? CUBLAS_OP_N : CUBLAS_OP_T);
    if (is_byte_float(p.a.element)) set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, static_cast<std::int8_t>(p.precise ? 0 : 1));
    scale(p.d_rows ? p.scale_b : p.scale_a, first, s.k, p.batch, true);
    scale(p.d_rows ? p.scale_a : p.scale_b, second, s.k, p.batch, false);
    make(first_, first, s.k, p.batch);
    make(second_, second, s.k, p.batch);
    const int rows = p.d_rows ? s.n : s.m, columns = p.d_rows ? s.m : s.n;
    make(result_, p.d, rows, columns, p.batch);
    Matrix source = fusion.c ? p.c : p.d;
    if (!fusion.c && is_byte_float(source.element)) source.element = CUDA_R_16BF;
    const bool as_d = p.c_rows == p.d_rows || !fusion.c;
    make(source_, source, as_d ? rows : columns, as_d ? columns : rows, p.batch);
    if (!as_d) problem_ = "C and D are contiguous along different sides";
    fuse(fusion, p.d.element, p.d.stride ? p.d.stride : rows);
    if (problem_ == nullptr) choose(p.candidates < kCandidates ? p.candidates : kCandidates);
  }
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;
  ~CublasLt() {
    for (const cublasLtMatrixLayout_t layout : {first_, second_, source_, result_}) {
      if (layout) cublasLtMatrixLayoutDestroy(layout);
    }
    if (product_) cublasLtMatmulDescDestroy(product_);
    for (float* scales : scales_) cudaFree(scales);
    shared().give_back();
  }

  // Null, or why there is no such matmul.
  const char* problem() const { return problem_; }
  void run(cudaStream_t stream) const {
    const int status = try_run(stream);
    if (status == 0) return;
    std::fprintf(stderr, "cublasLtMatmul: cuBLASLt answers %d\n", status);
    std::exit(1);
  }
  // 0, or cuBLASLt's status.
  int try_run(cudaStream_t stream) const { return static_cast<int>(matmul(algorithm_, stream)); }
  int candidates() const { return candidates_; }

 private:
  // An operand: `lines` of K elements, or K lines of them.
  struct Side {
    Matrix matrix;
    const void* data;
    int lines;
    bool along_k;
  };

  static constexpr std::size_t kWorkspaceBytes = 64 << 20;
  static constexpr int kRounds = 3;
  static constexpr float kBurst = 4, kRest = 2;  // milliseconds

  // The handle and the workspace of all, for as long as there is one.
  class Shared {
   public:
    void take(CublasLt& by) {
      ++users_;
      if (handle_ == nullptr) by.check(cublasLtCreate(&handle_), "it could not be started");
      if (workspace_ == nullptr && cudaMalloc(&workspace_, kWorkspaceBytes) != cudaSuccess) {
        cudaGetLastError();  // so that nobody else is told of it
        by.check(CUBLAS_STATUS_ALLOC_FAILED, "there is no memory for its workspace of 64 MiB");
      }
      by.handle_ = handle_;
      by.workspace_ = workspace_;
    }
    void give_back() {
      if (--users_ > 0) return;
      cudaFree(workspace_);
      if (handle_ != nullptr) cublasLtDestroy(handle_);
      workspace_ = nullptr;
      handle_ = nullptr;
    }

   private:
    int users_ = 0;
    cublasLtHandle_t handle_ = nullptr;
    void* workspace_ = nullptr;
  };
  static Shared& shared() {
    static Shared all;
    return all;
  }

  static Product bf16_product(Size size) {
    Product out;
    out.size = size;
    return out;
  }
  static bool is_byte_float(cudaDataType element) { return element == CUDA_R_8F_E4M3 || element == CUDA_R_8F_E5M2; }

  // The first thing that went wrong counts.
  void check(cublasStatus_t status, const char* problem) {
    if (status == CUBLAS_STATUS_SUCCESS || problem_ != nullptr) return;
    problem_ = problem;
    status_ = status;
  }
  cublasStatus_t matmul(const cublasLtMatmulAlgo_t& algorithm, cudaStream_t stream) const {
    const float one = 1, beta = has_c_ ? 1.0f : 0.0f;
    const std::int32_t whole_one = 1, whole_beta = has_c_ ? 1 : 0;
    const void* const alpha_of = integers_ ? static_cast<const void*>(&whole_one) : &one;
    const void* const beta_of = integers_ ? static_cast<const void*>(&whole_beta) : &beta;
    return cublasLtMatmul(handle_, product_, alpha_of, first_data_, first_, second_data_, second_, beta_of, c_, source_,
                          d_, result_, &algorithm, workspace_, kWorkspaceBytes, stream);
  }

  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    check(cublasLtMatmulDescSetAttribute(product_, attribute, &value, sizeof value), "it has no such matmul");
  }

  void make(cublasLtMatrixLayout_t& out, const Matrix& matrix, int rows, int columns, int batch) {
    const std::int64_t stride = matrix.stride ? matrix.stride : rows;
    check(cublasLtMatrixLayoutCreate(&out, matrix.element, rows, columns, stride), "it has no such matrix");
    if (batch == 1 || problem_ != nullptr) return;
    const std::int64_t between = matrix.batch_stride ? matrix.batch_stride : stride * columns;
    const auto attribute = [&](cublasLtMatrixLayoutAttribute_t name, const auto& value) {
      check(cublasLtMatrixLayoutSetAttribute(out, name, &value, sizeof value), "it has no such batches");
    };
    attribute(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, batch);
    attribute(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, between);
  }
  void make(cublasLtMatrixLayout_t& out, const Side& side, int k, int batch) {
    make(out, side.matrix, side.along_k ? k : side.lines, side.along_k ? side.lines : k, batch);
  }

  void scale(Scale how, const Side& side, int k, int batch, bool is_first) {
    if (how == Scale::none) return;
    // Blocks of K are padded to a multiple of four where 128 rows share them.
    const std::size_t blocks = (static_cast<std::size_t>(k) + 511) / 512 * 4,
                      rows = static_cast<std::size_t>(side.lines) + 128;
    const std::size_t count = blocks * rows * static_cast<std::size_t>(batch);
    const std::vector<float> ones(count, 1.0f);
    float*& scales = scales_[is_first ? 0 : 1];
    if (cudaMalloc(&scales, count * sizeof(float)) != cudaSuccess ||
        cudaMemcpy(scales, ones.data(), count * sizeof(float), cudaMemcpyHostToDevice) != cudaSuccess) {
      cudaGetLastError();
      check(CUBLAS_STATUS_ALLOC_FAILED, "there is no memory for its scales");
      return;
    }
    const std::int32_t mode =
        how == Scale::row_block ? CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F : CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F;
    set(is_first ? CUBLASLT_MATMUL_DESC_A_SCALE_MODE : CUBLASLT_MATMUL_DESC_B_SCALE_MODE, mode);
    set(is_first ? CUBLASLT_MATMUL_DESC_A_SCALE_POINTER : CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scales);
  }

  void fuse(const Fusion& fusion, cudaDataType element, std::int64_t stride) {
    if (!fusion.bias && fusion.activation == Activation::none) return;
    const bool bias = fusion.bias != nullptr;
    cublasLtEpilogue_t epilogue = bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    if (fusion.activation == Activation::relu) epilogue = bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    if (fusion.activation == Activation::gelu) {
      epilogue = fusion.aux ? (bias ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX)
                            : (bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU);
    }
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    if (bias) {
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, fusion.bias);
      set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, element);
    }
    if (!fusion.aux) return;
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, fusion.aux);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, stride);
  }

  // Milliseconds a call, in a burst after a rest; kNever where it does not run.
  float time(const cublasLtMatmulAlgo_t& algorithm) const {
    const Stopwatch watch;
    const auto run = [&](int calls) {
      watch.start();
      for (int i = 0; i < calls; ++i) matmul(algorithm, nullptr);
      return watch.stop() / static_cast<float>(calls);
    };
    if (matmul(algorithm, nullptr) != CUBLAS_STATUS_SUCCESS) return kNever;
    const int calls = static_cast<int>(kBurst / run(2)) + 2;
    std::this_thread::sleep_for(std::chrono::duration<float, std::milli>(kRest));
    return run(calls);
  }

  // The fastest of the candidates. They take turns in bursts after a rest, as contestants do: back to back, one
  // inherits the clock that another left, and the choice was up to 4 % slower than the best.
  void choose(int most) {
    cublasLtMatmulPreference_t preference = nullptr;
    check(cublasLtMatmulPreferenceCreate(&preference), "it cannot be asked for candidates");
    if (problem_ != nullptr) return;
    check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspaceBytes,
                                               sizeof kWorkspaceBytes),
          "it cannot be asked for candidates");
    cublasLtMatmulHeuristicResult_t results[kCandidates];
    check(cublasLtMatmulAlgoGetHeuristic(handle_, product_, first_, second_, source_, result_, preference, most,
                                         results, &candidates_),
          "it has no algorithm for this product");
    cublasLtMatmulPreferenceDestroy(preference);
    if (problem_ != nullptr) return;
    if (candidates_ > 0) algorithm_ = results[0].algo;
    if (candidates_ == 1 && most == 1) return;
    float times[kCandidates] = {};
    float best = kNever;
    for (int round = 0; round < kRounds; ++round) {
      for (int i = 0; i < candidates_; ++i) times[i] += time(results[i].algo);
    }
    for (int i = 0; i < candidates_; ++i) {
      if (times[i] < best) best = times[i], algorithm_ = results[i].algo;
    }
    if (best == kNever) problem_ = "it has no algorithm for this product";
  }

  static constexpr float kNever = 1e30f;

  const void *first_data_ = nullptr, *second_data_ = nullptr, *c_;
  void* d_;
  bool has_c_, integers_ = false;
  const char* problem_ = nullptr;
  cublasStatus_t status_ = CUBLAS_STATUS_SUCCESS;
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t first_ = nullptr, second_ = nullptr, source_ = nullptr, result_ = nullptr;
  void* workspace_ = nullptr;
  float* scales_[2] = {};
  cublasLtMatmulAlgo_t algorithm_{};
  int candidates_ = 0;
};

}  // namespace gantry::bench

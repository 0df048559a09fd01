// The contestant's functions, for the program that loads it. Compiled at run time, after the texts of
// vendor_arguments.hpp and of bench/gpu/cublaslt.hpp.
#define GANTRY_EXPORT extern "C" __attribute__((visibility("default")))

namespace gantry::tool {
namespace {

using bench::CublasLt;

// False: cuBLASLt has no such elements.
bool data_type(ElementType element, cudaDataType& out) {
  switch (element) {
    case ElementType::f16:
      out = CUDA_R_16F;
      return true;
    case ElementType::bf16:
      out = CUDA_R_16BF;
      return true;
    case ElementType::tf32:
    case ElementType::f32:
      out = CUDA_R_32F;
      return true;
    case ElementType::e4m3:
      out = CUDA_R_8F_E4M3;
      return true;
    case ElementType::e5m2:
      out = CUDA_R_8F_E5M2;
      return true;
    case ElementType::s8:
      out = CUDA_R_8I;
      return true;
    case ElementType::s32:
      out = CUDA_R_32I;
      return true;
    default:
      return false;
  }
}

cublasComputeType_t compute_type(ElementType a) {
  if (a == ElementType::s8) return CUBLAS_COMPUTE_32I;
  return a == ElementType::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

}  // namespace
}  // namespace gantry::tool

// A GEMM, or null with the reason.
GANTRY_EXPORT void* vendor_create(const gantry::tool::VendorArguments* x, const char** problem) {
  using namespace gantry::tool;
  CublasLt::Product p;
  p.size = {x->m, x->n, x->k};
  p.batch = x->batch;
  const auto matrix = [](const VendorMatrix& from, CublasLt::Matrix& to) {
    to.stride = from.stride;
    to.batch_stride = from.batch_stride;
    return from.data == nullptr || data_type(from.element, to.element);
  };
  if (!matrix(x->a, p.a) || !matrix(x->b, p.b) || !matrix(x->c, p.c) || !matrix(x->d, p.d)) {
    *problem = "it has no GEMM for these element types";
    return nullptr;
  }
  p.a_along_k = x->a_along_k;
  p.b_along_k = x->b_along_k;
  p.c_rows = x->c_rows;
  p.d_rows = x->d_rows;
  p.compute = compute_type(x->a.element);
  p.precise = x->precise;
  p.scale_a = static_cast<CublasLt::Scale>(x->scale_a);
  p.scale_b = static_cast<CublasLt::Scale>(x->scale_b);
  p.candidates = x->candidates;
  CublasLt::Fusion fusion;
  fusion.c = x->c.data;
  fusion.bias = x->bias;
  fusion.aux = x->aux;
  fusion.activation = static_cast<CublasLt::Activation>(x->activation);
  auto* product = new CublasLt(p, x->a.data, x->b.data, const_cast<void*>(x->d.data), fusion);
  *problem = product->problem();
  if (*problem == nullptr) return product;
  delete product;
  return nullptr;
}
// 0, or cuBLASLt's status.
GANTRY_EXPORT int vendor_run(void* product) { return static_cast<gantry::bench::CublasLt*>(product)->try_run(nullptr); }
GANTRY_EXPORT void vendor_destroy(void* product) { delete static_cast<gantry::bench::CublasLt*>(product); }

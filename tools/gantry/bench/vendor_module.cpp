#include "bench/vendor_module.hpp"

#include <gantry/epilogue/fusion/parse.hpp>

#include "cublaslt_text.hpp"

namespace gantry::tool {

namespace {

struct VendorArguments {
  int m, n, k;
  const void *a, *b;
  void* d;
  const void *c, *bias;
  void* aux;
};

// What follows the text of cublaslt.hpp.
constexpr const char* kGlue = R"(
struct VendorArguments {
  int m, n, k;
  const void *a, *b;
  void* d;
  const void *c, *bias;
  void* aux;
};
#define EXPORT extern "C" __attribute__((visibility("default")))
EXPORT void* vendor_create(const VendorArguments* x) {
  return new gantry::bench::CublasLt({x->m, x->n, x->k}, x->a, x->b, x->d, {x->c, x->bias, x->aux});
}
EXPORT void vendor_run(void* product) { static_cast<gantry::bench::CublasLt*>(product)->run(nullptr); }
EXPORT void vendor_destroy(void* product) { delete static_cast<gantry::bench::CublasLt*>(product); }
)";

}  // namespace

VendorEpilogue vendor_epilogue(const fusion::Graph& graph) {
  const auto is = [&graph](const char* text) { return graph == fusion::graph(text); };
  if (is("d = acc")) return VendorEpilogue::plain;
  if (is("d = acc + c")) return VendorEpilogue::source;
  if (is("d = gelu_tanh(acc + row(bias:bf16))")) return VendorEpilogue::bias_gelu;
  if (is("aux:bf16 = acc + row(bias:bf16); d = gelu_tanh(aux)")) return VendorEpilogue::bias_gelu_aux;
  return VendorEpilogue::none;
}

std::string opponent_of(VendorEpilogue epilogue) {
  return epilogue == VendorEpilogue::none ? "cuBLASLt's product alone: it does not fuse this epilogue"
                                          : "cuBLASLt with the same epilogue";
}

VendorProduct::VendorProduct(const runtime::KernelCache& cache, const runtime::Compiler& compiler,
                             const Product& product, const DeviceOperands& operands) {
  const std::string libraries = compiler.toolkit() + "/lib64";
  const runtime::CachedKernel kernel =
      cache.get(compiler, {.text = std::string(kCublasLtText) + kGlue,
                           .flags = {"-L" + libraries, "-lcublasLt", "-Xlinker", "-rpath", "-Xlinker", libraries}});
  problem_ = kernel.problem;
  if (!*this) return;
  module_ = std::make_shared<runtime::Module>(kernel.path);
  problem_ = module_->problem();
  if (!*this) return;
  const auto create = module_->function<void*(const VendorArguments*)>("vendor_create");
  const auto destroy = module_->function<void(void*)>("vendor_destroy");
  run_ = module_->function<void(void*)>("vendor_run");
  if (create == nullptr || destroy == nullptr || run_ == nullptr) {
    problem_ = kernel.path + " lacks a function of the contestant";
    return;
  }
  const VendorEpilogue epilogue = vendor_epilogue(product.graph);
  VendorArguments arguments{};
  arguments.m = static_cast<int>(product.m);
  arguments.n = static_cast<int>(product.n);
  arguments.k = static_cast<int>(product.k);
  arguments.a = operands.address("A");
  arguments.b = operands.address("B");
  arguments.d = operands.address("D");
  if (epilogue == VendorEpilogue::source) arguments.c = operands.address("C");
  if (epilogue >= VendorEpilogue::bias_gelu) arguments.bias = operands.address("bias");
  if (epilogue == VendorEpilogue::bias_gelu_aux) arguments.aux = operands.address("aux");
  product_ = std::shared_ptr<void>(create(&arguments), [destroy, module = module_](void* p) { destroy(p); });
}

void VendorProduct::run() const { run_(product_.get()); }

}  // namespace gantry::tool

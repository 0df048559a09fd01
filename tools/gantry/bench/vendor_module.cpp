#include "bench/vendor_module.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <gantry/epilogue/fusion/parse.hpp>

#include "run_rules.hpp"
#include "vendor_text.hpp"

namespace gantry::tool {

namespace {

// The text of an epilogue, as a user would write it for a D of these elements.
std::string text_of(const VendorEpilogue& e, const char* element) {
  constexpr const char* kFunctions[] = {"", "relu", "gelu_tanh"};
  const std::string sum =
      fmt::format("acc{}{}", e.c ? " + c" : "", e.bias ? fmt::format(" + row(bias:{})", element) : "");
  const char* const function = kFunctions[static_cast<int>(e.activation)];
  if (e.aux) return fmt::format("aux:{} = {}; d = {}(aux)", element, sum, function);
  return e.activation == VendorActivation::none ? "d = " + sum : fmt::format("d = {}({})", function, sum);
}

// The arguments of one group, from those of all of them.
void take_group(const AskedGemm& asked, std::int64_t group, VendorArguments& x) {
  const GemmOptions& o = asked.options;
  std::int64_t begin = asked.capacity * group;
  for (std::int64_t g = 0; g < group && asked.capacity == 0; ++g) begin += asked.groups[static_cast<std::size_t>(g)];
  if (!asked.offsets.empty()) begin = asked.offsets[static_cast<std::size_t>(group)];
  const auto size = static_cast<int>(asked.groups[static_cast<std::size_t>(group)]);
  const auto move = [](VendorMatrix& matrix, std::int64_t elements) {
    if (matrix.data == nullptr) return;
    matrix.data = static_cast<const std::uint8_t*>(matrix.data) + elements * info(matrix.element).bits / 8;
  };
  const bool along_m = asked.along_m();
  move(x.a, begin * x.a.stride);
  move(x.b, along_m ? group * x.b.batch_stride : begin * x.b.stride);
  for (VendorMatrix* matrix : {&x.c, &x.d})
    move(*matrix, along_m ? begin * matrix->stride : group * matrix->batch_stride);
  const std::int64_t bytes = info(o.d).bits / 8;  // of a bias and an auxiliary output too
  const std::int64_t row = asked.n;               // lines follow each other without a gap
  if (x.bias != nullptr && along_m) x.bias = static_cast<const std::uint8_t*>(x.bias) + group * row * bytes;
  if (x.aux != nullptr) x.aux = static_cast<std::uint8_t*>(x.aux) + (along_m ? begin : group * asked.m) * row * bytes;
  (along_m ? x.m : x.k) = size;
  x.batch = 1;
}

// The arguments of one GEMM of a pointer array.
void take_gemm(const AskedGemm& asked, const DeviceOperands& operands, std::int64_t gemm, VendorArguments& x) {
  const auto move = [&](VendorMatrix& matrix, const char* name) {
    const Operand::Part part = operands.part(name, gemm);
    matrix.data = static_cast<const std::uint8_t*>(operands.address(name)) + part.begin * info(matrix.element).bits / 8;
    matrix.stride = part.stride;
    matrix.batch_stride = part.stride * part.lines;
  };
  const auto moved = [&](const char* name) {
    return static_cast<std::uint8_t*>(operands.address(name)) +
           operands.part(name, gemm).begin * info(asked.options.d).bits / 8;
  };
  move(x.a, "A");
  move(x.b, "B");
  move(x.d, "D");
  if (x.c.element != ElementType::void_) move(x.c, "C");
  if (x.bias != nullptr) x.bias = moved("bias");
  if (x.aux != nullptr) x.aux = moved("aux");
  const GemmExtents& e = asked.gemms[static_cast<std::size_t>(gemm)];
  x.m = static_cast<int>(e.m);
  x.n = static_cast<int>(e.n);
  x.k = static_cast<int>(e.k);
  x.batch = 1;
}

// Candidates that are timed for each GEMM, so that all of them take no longer than those of a few dozen.
int candidates_for_each(std::int64_t gemms, bool grouped) {
  constexpr std::int64_t kEach = 8, kAll = 256;
  if (!grouped) return kEach;
  return static_cast<int>(std::clamp<std::int64_t>(kAll / std::max<std::int64_t>(gemms, 1), 1, kEach));
}

// Of a group where that is not negative, else of all batches.
VendorArguments arguments_of(const AskedGemm& asked, const DeviceOperands& operands, std::int64_t group = -1) {
  const GemmOptions& o = asked.options;
  const VendorEpilogue epilogue = vendor_epilogue(asked).value_or(VendorEpilogue{});
  const GemmCall& p = operands.call();
  const auto matrix = [](ElementType element, const auto& from) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): inputs stay so
    return VendorMatrix{element, const_cast<void*>(static_cast<const void*>(from.data)), from.stride,
                        from.batch_stride};
  };
  VendorArguments out;
  out.m = static_cast<int>(p.m);
  out.n = static_cast<int>(p.n);
  out.k = static_cast<int>(p.k);
  out.batch = static_cast<int>(p.batch);
  out.a = matrix(o.a, p.a);
  out.b = matrix(o.b, p.b);
  out.d = matrix(o.d, p.d);
  if (epilogue.c) out.c = matrix(o.c, p.c);
  out.a_along_k = o.major_a == Major::K;
  out.b_along_k = o.major_b == Major::K;
  out.c_rows = !is_m_major(o.layout_c);
  out.d_rows = !is_m_major(o.layout_d);
  out.precise = o.promotes();
  out.scale_a = o.scale_a;
  out.scale_b = o.scale_b;
  if (epilogue.bias) out.bias = operands.address("bias");
  if (epilogue.aux) out.aux = operands.address("aux");
  out.activation = epilogue.activation;
  if (group >= 0) asked.is_array() ? take_gemm(asked, operands, group, out) : take_group(asked, group, out);
  return out;
}

}  // namespace

std::optional<VendorEpilogue> vendor_epilogue(const AskedGemm& asked) {
  const char* const element = info(asked.options.d).name;
  const bool rows = !is_m_major(asked.options.layout_d);
  for (const auto activation : {VendorActivation::none, VendorActivation::relu, VendorActivation::gelu}) {
    for (int bits = 0; bits < 8; ++bits) {
      const VendorEpilogue e{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, activation};
      const bool exists = !e.aux || activation == VendorActivation::gelu;
      if (!exists || ((e.bias || e.aux) && !rows)) continue;
      if (asked.graph == fusion::parse_graph(text_of(e, element)).graph) return e;
    }
  }
  return {};
}

std::string opponent_of(const AskedGemm& asked) {
  const std::string calls = asked.options.groups == GemmGrouping::none ? "" : ", a call for each group";
  return (vendor_epilogue(asked) ? "cuBLASLt with the same epilogue"
                                 : "cuBLASLt's GEMM alone: it does not fuse this epilogue") +
         calls;
}

VendorGemm::VendorGemm(const runtime::KernelCache& cache, const runtime::Compiler& compiler, const AskedGemm& asked,
                       const DeviceOperands& operands) {
  if (asked.options.gather_a || asked.scatters()) {
    declines_ = true;
    status_ =
        failure_of(RunRule::vendor_declines, "cuBLASLt does not run this GEMM: it has no rows that an index names");
    return;
  }
  if (asked.graph.gated()) {  // its GEMM alone would write N columns into a D of N / 2
    declines_ = true;
    status_ = failure_of(RunRule::vendor_declines, "cuBLASLt does not run this GEMM: it has no gated epilogue");
    return;
  }
  if (!compiler) {
    declines_ = true;
    status_ = runtime::with_words_before("the calls of cuBLASLt are compiled by nvcc, and ", compiler.status());
    return;
  }
  const std::string libraries = compiler.toolkit() + "/lib64";
  const runtime::CachedKernel kernel =
      cache.get(runtime::NvccCompiler(compiler, runtime::ImageKind::shared_object),
                {.text = std::string(kVendorText),
                 .flags = {"-L" + libraries, "-lcublasLt", "-Xlinker", "-rpath", "-Xlinker", libraries},
                 .title = "cuBLASLt, for gantry bench"});
  status_ = kernel.status;
  if (!status_) return;
  module_ = std::make_shared<runtime::Module>(runtime::Module::from_image(kernel.image, "the cuBLASLt module"));
  status_ = module_->status();
  if (!status_) return;
  const auto create = module_->function<void*(const VendorArguments*, const char**)>("vendor_create");
  const auto destroy = module_->function<void(void*)>("vendor_destroy");
  run_ = module_->function<int(void*)>("vendor_run");
  if (create == nullptr || destroy == nullptr || run_ == nullptr) {
    status_ =
        runtime::failure_of(runtime::RuntimeRule::module_of_another, "the compiled cuBLASLt module lacks a function");
    return;
  }
  // Timing all candidates of thousands of GEMMs would take minutes.
  const int candidates = candidates_for_each(asked.batch, asked.options.groups != GemmGrouping::none);
  const auto add = [&](VendorArguments arguments) {
    const char* reason = nullptr;
    arguments.candidates = candidates;
    void* const made = create(&arguments, &reason);
    declines_ = made == nullptr;
    if (declines_) {
      status_ = failure_of(RunRule::vendor_declines, fmt::format("cuBLASLt does not run this GEMM: {}", reason));
    }
    if (made != nullptr) gemms_.emplace_back(made, [destroy, module = module_](void* p) { destroy(p); });
  };
  if (asked.options.groups == GemmGrouping::none) add(arguments_of(asked, operands));
  for (std::size_t group = 0; group < asked.groups.size() && status_.ok(); ++group) {
    if (asked.groups[group] > 0) add(arguments_of(asked, operands, static_cast<std::int64_t>(group)));
  }
  for (std::size_t gemm = 0; gemm < asked.gemms.size() && status_.ok(); ++gemm) {
    const GemmExtents& e = asked.gemms[gemm];
    if (e.m > 0 && e.n > 0 && e.k > 0) add(arguments_of(asked, operands, static_cast<std::int64_t>(gemm)));
  }
}

Status VendorGemm::run() const {
  for (const std::shared_ptr<void>& asked : gemms_) {
    if (const int status = run_(asked.get()); status != 0) {
      return failure_of(RunRule::vendor_failed, fmt::format("cuBLASLt answers {}", status));
    }
  }
  return {};
}

}  // namespace gantry::tool

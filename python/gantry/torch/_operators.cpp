// PyTorch's operators on libgantry, without Python between them: the CUDA kernels of _ops.py for f16 and bf16, and the
// gradient of `linear`. Built by _native.py where PyTorch is installed, against its headers; CUDA's are not needed.
//
// Schemas, fake kernels and CPU kernels are Python's, and so are the texts of epilogues: _native.py hands them over.
// What libgantry refuses as it lies goes to the operator NAME_by_plan, which copies it, or says why it cannot be.
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/gelu_backward.h>
#include <ATen/ops/hardswish_backward.h>
#include <ATen/ops/mish_backward.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/sigmoid_backward.h>
#include <ATen/ops/silu_backward.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/tanh_backward.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/library.h>

#include "_gemms.hpp"

namespace {

using namespace gantry_torch;

// ---- Operators of Python that these call

struct Name {
  char text[40] = {};
  template <std::size_t kSize>
  constexpr Name(const char (&name)[kSize]) {  // NOLINT(google-explicit-constructor): a template argument
    for (std::size_t i = 0; i < kSize; ++i) text[i] = name[i];
  }
};

// Looked up once, at its first call: the package has defined all of them by then.
template <Name kName, class Signature>
const c10::TypedOperatorHandle<Signature>& operator_of(Signature*) {
  static const auto found = c10::Dispatcher::singleton().findSchemaOrThrow(kName.text, "").typed<Signature>();
  return found;
}

// Below autograd: the gradient is the caller's.
template <Name kName, class Signature, class... Arguments>
auto by_plan(Signature* like, const Arguments&... given) {
  const at::AutoDispatchBelowADInplaceOrView below;
  return operator_of<kName>(like).call(given...);
}

// ---- The operators

Tensor like_rows(const Tensor& x, std::int64_t columns, at::ScalarType type) {
  c10::SmallVector<std::int64_t, 5> sizes(x.sizes().begin(), x.sizes().end());
  sizes.back() = columns;
  return at::empty(sizes, x.options().dtype(type));
}
Tensor like_rows(const Tensor& x, std::int64_t columns) { return like_rows(x, columns, x.scalar_type()); }

bool knows(std::int64_t activation) {
  return activation >= 0 && activation < static_cast<std::int64_t>(tables().activations.size());
}

// Adds the bias; false where no kernel takes it.
bool add_bias(Product& p, const Bias& bias, std::int64_t columns) {
  if (!bias) return true;
  const int element = element_code(bias->scalar_type());
  if (element == kNoElement || bias->dim() != 1 || bias->size(0) != columns || bias->device() != p.a.owner.device() ||
      (columns > 1 && bias->stride(0) != 1)) {
    return false;
  }
  p.form.bias = element;
  p.add(argument("bias", bias->data_ptr()));
  return true;
}

bool fits(const Tensor& x, const Tensor& weight, int rows_like_x) {
  return multiplies(x, weight) && weight.dim() == 2 && x.size(-1) == weight.size(rows_like_x);
}

// x weightᵀ, with its output.
Product product(Operator op, const Tensor& x, const Tensor& weight, std::int64_t activation) {
  Product p{{op, activation, element_code(x.scalar_type())}, rows_of(x), rows_of(weight), nullptr, 0};
  return p;
}

void* into(Product& p, const Tensor& d) {
  p.d_step = d.size(-1);
  return p.d = d.data_ptr();
}

Tensor linear(const Tensor& x, const Tensor& weight, const Bias& bias, std::int64_t activation) {
  if (fits(x, weight, 1) && knows(activation)) {
    Product p = product(kLinear, x, weight, activation);
    if (add_bias(p, bias, weight.size(0))) {
      Tensor d = like_rows(x, weight.size(0));
      into(p, d);
      if (run(p)) return d;
    }
  }
  return by_plan<"gantry::linear_by_plan">(linear, x, weight, bias, activation);
}

std::tuple<Tensor, Tensor> linear_kept(const Tensor& x, const Tensor& weight, const Bias& bias,
                                       std::int64_t activation) {
  if (fits(x, weight, 1) && activation > 0 && knows(activation)) {
    const std::int64_t n = weight.size(0), bytes = (n + 7) / 8;
    const bool masks = tables().activations[static_cast<std::size_t>(activation)].keeps_mask;
    Product p = product(kLinearKept, x, weight, activation);
    if (add_bias(p, bias, n)) {
      Tensor d = like_rows(x, n), kept = masks ? like_rows(x, bytes, at::kByte) : like_rows(x, n);
      into(p, d);
      p.add(argument("kept", kept.data_ptr(), masks ? 8 * bytes : n));
      if (run(p)) return {d, kept};
    }
  }
  return by_plan<"gantry::linear_kept_by_plan">(linear_kept, x, weight, bias, activation);
}

Tensor input_grad(const Tensor& g, const Tensor& weight) {
  if (fits(g, weight, 0)) {
    Product p = product(kInputGrad, g, weight, 0);
    p.b = p.b.transposed();
    Tensor d = like_rows(g, weight.size(1));
    into(p, d);
    if (run(p)) return d;
  }
  return by_plan<"gantry::input_grad_by_plan">(input_grad, g, weight);
}

Tensor weight_grad(const Tensor& g, const Tensor& x) {
  if (multiplies(g, x) && g.dim() == x.dim() && g.sizes().slice(0, g.dim() - 1) == x.sizes().slice(0, x.dim() - 1)) {
    Product p = product(kWeightGrad, g, x, 0);
    p.a = p.a.transposed();
    p.b = p.b.transposed();
    Tensor d = at::empty({p.a.rows, p.b.rows}, g.options());
    into(p, d);
    if (run(p)) return d;
  }
  return by_plan<"gantry::weight_grad_by_plan">(weight_grad, g, x);
}

// Adds an operand of the epilogue that has D's rows; a mask has eight columns in a byte.
bool add_rows(Product& p, const char* name, const Matrix& x, std::int64_t columns, bool is_mask) {
  const std::int64_t units = is_mask ? (columns + 7) / 8 : columns;
  if (x.rows != p.a.rows || x.columns != units || (units > 1 && x.column_step != 1)) return false;
  const std::int64_t step = x.rows > 1 ? x.row_step : units;
  p.add(argument(name, x.owner.data_ptr(), is_mask ? 8 * step : step));
  return true;
}

std::tuple<Tensor, Tensor> dgrad(const Tensor& g, const Tensor& weight, const Tensor& kept, std::int64_t activation) {
  if (fits(g, weight, 0) && activation > 0 && knows(activation)) {
    const std::int64_t n = weight.size(1);
    const bool masks = tables().activations[static_cast<std::size_t>(activation)].keeps_mask;
    const Matrix held = rows_of(kept);
    Product p = product(kDgrad, g, weight, activation);
    p.b = p.b.transposed();
    if (kept.scalar_type() == (masks ? at::kByte : g.scalar_type()) && add_rows(p, "kept", held, n, masks)) {
      Tensor d = like_rows(g, n), dbias = at::empty({n}, g.options().dtype(at::kFloat));
      into(p, d);
      p.add(argument("dbias", dbias.data_ptr()));
      if (run(p)) return {d, dbias};
    }
  }
  return by_plan<"gantry::dgrad_by_plan">(dgrad, g, weight, kept, activation);
}

// The gated epilogue takes rows of the gate and of up by eights.
bool gates(const Tensor& x, const Tensor& weight, std::int64_t activation) {
  constexpr std::int64_t kBoth = 16;
  return fits(x, weight, 1) && weight.size(0) % kBoth == 0 && activation > 0 && knows(activation);
}

Tensor gated(const Tensor& x, const Tensor& weight, std::int64_t activation, std::int64_t gate) {
  if (gates(x, weight, activation)) {
    Product p = product(kGated, x, weight, activation);
    p.form.gate = gate;
    Tensor d = like_rows(x, weight.size(0) / 2);
    into(p, d);
    if (run(p)) return d;
  }
  return by_plan<"gantry::gated_by_plan">(gated, x, weight, activation, gate);
}

std::tuple<Tensor, Tensor, Tensor> gated_kept(const Tensor& x, const Tensor& weight, std::int64_t activation,
                                              std::int64_t gate) {
  if (gates(x, weight, activation)) {
    const std::int64_t n = weight.size(0) / 2;
    Product p = product(kGatedKept, x, weight, activation);
    p.form.gate = gate;
    Tensor d = like_rows(x, n), gate_part = like_rows(x, n), up_part = like_rows(x, n);
    into(p, d);
    p.add(argument("gates", gate_part.data_ptr(), n));
    p.add(argument("ups", up_part.data_ptr(), n));
    if (run(p)) return {d, gate_part, up_part};
  }
  return by_plan<"gantry::gated_kept_by_plan">(gated_kept, x, weight, activation, gate);
}

Tensor gated_dgrad(const Tensor& g, const Tensor& down, const Tensor& gate_part, const Tensor& up_part,
                   std::int64_t activation, std::int64_t gate) {
  const bool halves = gate == GANTRY_GATE_HALVES;  // no kernel stores every second column
  if (halves && fits(g, down, 0) && activation > 0 && knows(activation) && gate_part.scalar_type() == g.scalar_type() &&
      up_part.scalar_type() == g.scalar_type()) {
    const std::int64_t n = down.size(1);
    const Matrix gate_rows = rows_of(gate_part), up_rows = rows_of(up_part);
    Product p = product(kGatedDgrad, g, down, activation);
    p.b = p.b.transposed();
    if (add_rows(p, "gates", gate_rows, n, false) && add_rows(p, "ups", up_rows, n, false)) {
      Tensor both = like_rows(g, 2 * n);
      into(p, both);
      p.add(argument("dup", static_cast<char*>(p.d) + n * both.element_size(), 2 * n));
      if (run(p)) return both;
    }
  }
  return by_plan<"gantry::gated_dgrad_by_plan">(gated_dgrad, g, down, gate_part, up_part, activation, gate);
}

// ---- The gradient of a lone layer, as _functional.py has it

Tensor through_activation(const Tensor& g, const Tensor& kept, std::int64_t activation) {
  const Activation& found = tables().activations[static_cast<std::size_t>(activation)];
  if (found.keeps_mask) return operator_of<"gantry::mask_grad">(input_grad).call(g, kept);
  if (found.name == "gelu") return at::gelu_backward(g, kept);
  if (found.name == "gelu_tanh") return at::gelu_backward(g, kept, "tanh");
  if (found.name == "silu") return at::silu_backward(g, kept);
  if (found.name == "sigmoid") return at::sigmoid_backward(g, at::sigmoid(kept));
  if (found.name == "tanh") return at::tanh_backward(g, at::tanh(kept));
  if (found.name == "mish") return at::mish_backward(g, kept);
  TORCH_CHECK(found.name == "hardswish", "the gradient of ", found.name, " is not known");
  return at::hardswish_backward(g, kept);
}

Tensor bias_grad(const Tensor& g, at::ScalarType type) {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i + 1 < g.dim(); ++i) rows.push_back(i);
  const at::ScalarType wide = at::promote_types(g.scalar_type(), at::kFloat);
  return (rows.empty() ? g : at::sum(g, rows, false, wide)).to(type);
}

// As torch.autograd.function.once_differentiable: gradients of gradients are refused when they are asked for.
torch::autograd::variable_list refusing_more(torch::autograd::variable_list out) {
  constexpr auto* kWhy =
      "trying to differentiate twice a function of gantry.torch, whose kernels of the backward pass have no gradients";
  for (Tensor& x : out) {
    if (x.defined()) x = x.detach().requires_grad_(true);
  }
  const auto count = static_cast<std::int64_t>(out.size());
  return (*std::make_shared<torch::autograd::DelayedError>(kWhy, count))(std::move(out));
}

class Linear : public torch::autograd::Function<Linear> {
 public:
  static constexpr std::int64_t kNoBias = -1;

  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const Bias& bias, std::int64_t activation) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->saved_data["activation"] = activation;
    context->saved_data["bias"] = bias ? static_cast<std::int64_t>(bias->scalar_type()) : kNoBias;
    if (activation == 0) {
      context->save_for_backward({x, weight});
      return operator_of<"gantry::linear">(linear).call(x, weight, bias, activation);
    }
    auto [out, kept] = operator_of<"gantry::linear_kept">(linear_kept).call(x, weight, bias, activation);
    context->save_for_backward({x, weight, kept});
    return out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& given) {
    const bool again = at::GradMode::is_enabled() && given[0].requires_grad();
    torch::autograd::variable_list out(4);
    {
      const at::AutoGradMode once(false);
      const auto saved = context->get_saved_variables();
      const std::int64_t activation = context->saved_data["activation"].toInt();
      const Tensor dz = activation == 0 ? given[0] : through_activation(given[0], saved[2], activation);
      if (context->needs_input_grad(0)) {
        out[0] = operator_of<"gantry::input_grad">(input_grad).call(dz, saved[1]);
      }
      if (context->needs_input_grad(1)) {
        out[1] = operator_of<"gantry::weight_grad">(weight_grad).call(dz, saved[0]);
      }
      const std::int64_t bias = context->saved_data["bias"].toInt();
      if (bias != kNoBias && context->needs_input_grad(2)) {
        out[2] = bias_grad(dz, static_cast<at::ScalarType>(bias));
      }
    }
    return again ? refusing_more(std::move(out)) : out;
  }
};

Tensor linear_with_gradient(const Tensor& x, const Tensor& weight, const Bias& bias, std::int64_t activation) {
  const bool wanted = x.requires_grad() || weight.requires_grad() || (bias && bias->requires_grad());
  if (wanted && at::GradMode::is_enabled()) return Linear::apply(x, weight, bias, activation);
  const at::AutoDispatchBelowADInplaceOrView below;
  return operator_of<"gantry::linear">(linear).call(x, weight, bias, activation);
}

}  // namespace

TORCH_LIBRARY_IMPL(gantry, CUDA, m) {
  m.impl("linear", linear);
  m.impl("linear_kept", linear_kept);
  m.impl("input_grad", input_grad);
  m.impl("weight_grad", weight_grad);
  m.impl("dgrad", dgrad);
  m.impl("gated", gated);
  m.impl("gated_kept", gated_kept);
  m.impl("gated_dgrad", gated_dgrad);
}

TORCH_LIBRARY_IMPL(gantry, Autograd, m) { m.impl("linear", linear_with_gradient); }

// The same kernels for tensors of any device: those of the host run on the simulated SM.
TORCH_LIBRARY(gantry_kernels, m) {
  m.def("linear", linear);
  m.def("linear_kept", linear_kept);
  m.def("input_grad", input_grad);
  m.def("weight_grad", weight_grad);
  m.def("dgrad", dgrad);
  m.def("gated", gated);
  m.def("gated_kept", gated_kept);
  m.def("gated_dgrad", gated_dgrad);
}

extern "C" {

// Activations in the order of their codes.
void gantry_torch_add_activation(const char* name, int keeps_mask) {
  tables().activations.push_back({name, keeps_mask != 0});
}

// The epilogue of an operator; elements count as in element_code.
void gantry_torch_add_text(int op, int activation, int element, int bias, const char* text) {
  tables().texts[Tables::key(op, activation, element, bias)] = text;
}

void gantry_torch_add_shipped(const char* folder) { tables().shipped.emplace_back(folder); }

// Until no operator has a kernel that is being compiled in the background.
void gantry_torch_wait_for_compilations() {
  std::vector<gantry_context*> all;
  {
    const std::lock_guard<std::mutex> lock(contexts().mutex);
    for (const auto& [device, context] : contexts().of_device) all.push_back(context);
  }
  for (const gantry_context* context : all) gantry_context_wait_for_compilations(context);
}
}

// The named operations, as graphs. The names are CUTLASS's in our spelling, and so is the sense: a per-row bias has one
// value for each row m, so it is a column vector. kOperations lists them all under CUTLASS's spelling.
//
//   z       alpha * acc + beta * c, plus the bias where there is one
//   names   alpha, beta, bias; aux; scale_a, scale_b, scale_c, scale_d, scale_aux; amax_d, amax_aux; dbias
// Everything but the auxiliary input may be left out: alpha and scales are then 1, beta and the bias 0, outputs not
// written.
//
// Example:
//     using namespace gantry;
//     using namespace gantry::fusion;
//     constexpr Graph graph = lin_comb_per_row_bias_elt_act({.activation = Function::gelu, .bias = ElementType::bf16});
//     static_assert(graph.argument_count == 3 && graph.uses_source());
#pragma once

#include <gantry/epilogue/fusion/expression.hpp>

namespace gantry::fusion {

struct OperationOptions {
  Function activation = Function::relu;  // of ...elt_act; its parameters are arguments by their names: slope
  ElementType bias = ElementType::f32;
  ElementType scale = ElementType::f32;  // of the vectors alpha and beta
  ElementType aux = ElementType::f32;    // u1 with relu: the mask of what relu left as it was
  bool aux_row_major = true;
  bool scales_d = true;    // of the scaled operations: D is fp8, is multiplied by scale_d and has its amax taken
  bool scales_aux = true;  // likewise
  int top_k = 2;           // of lin_comb_top_k_softmax_col
};

namespace detail {

constexpr Leaf bias_col(const OperationOptions& o) { return col("bias", {.element = o.bias, .has_default = true}); }
constexpr Leaf bias_row(const OperationOptions& o) { return row("bias", {.element = o.bias, .has_default = true}); }

constexpr Leaf scale(const char* name) { return scalar(name, {.has_default = true, .value = 1}); }

// Not for constant expressions. A compiler that meets one there names it.
inline void an_activation_has_one_input_beside_its_parameters() {}
inline void this_activation_has_no_derivative() {}

// Parameter i of an activation, as a scalar that may be left out.
constexpr Expr parameter(const FunctionInfo& activation, int i) {
  const FunctionParameter& p = activation.parameters[i];
  return scalar(p.name, {.has_default = true, .value = p.value});
}
constexpr Expr with_parameters(const FunctionInfo& activation, const Expr& x) {
  const Node node = function_node(activation.function);
  switch (activation.parameter_count) {
    case 0:
      return {node, x};
    case 1:
      return {node, x, parameter(activation, 0)};
    default:
      return {node, x, parameter(activation, 0), parameter(activation, 1)};
  }
}

constexpr Expr activate(const OperationOptions& o, const Expr& z) {
  const FunctionInfo& f = info(o.activation);
  if (f.arity != 1 + f.parameter_count) an_activation_has_one_input_beside_its_parameters();
  return with_parameters(f, z);
}

constexpr Expr deactivate(const OperationOptions& o, const Expr& g, const Expr& z) {
  const FunctionInfo& activation = info(o.activation);
  const FunctionInfo& f = info(activation.derivative);
  if (f.function == Function::user) {
    this_activation_has_no_derivative();
    return g;
  }
  const Node node = function_node(f.function);
  return activation.parameter_count == 0 ? Expr(node, g, z) : Expr(node, g, z, parameter(activation, 0));
}

// What an auxiliary output keeps of z. As a mask it is 1 where relu gave z back, NaN and 0 included.
constexpr Expr kept(const OperationOptions& o, const Expr& z) {
  return o.aux == ElementType::u1 && o.activation == Function::relu ? select(0 > z, 0, 1) : z;
}
constexpr Output aux_output(const OperationOptions& o) {
  return store("aux", {.element = o.aux, .row_major = o.aux_row_major, .has_default = true});
}
constexpr Leaf aux_input(const OperationOptions& o) {
  return load("aux", {.element = o.aux, .row_major = o.aux_row_major});
}

constexpr Expr linear() { return names::alpha * names::acc + names::beta * names::c; }
constexpr Expr scaled_linear() {
  return scale("scale_a") * scale("scale_b") * names::alpha * names::acc + scale("scale_c") * names::beta * names::c;
}

constexpr Graph scaled(const OperationOptions& o, const Expr& z) {
  const Expr y = activate(o, z);
  return expression(names::d = o.scales_d ? scale("scale_d") * y : y);
}
constexpr Graph scaled_amax_aux(const OperationOptions& o, const Expr& z) {
  const Expr y = activate(o, z);
  const bool scales_aux = o.scales_aux && o.aux != ElementType::u1;
  const Assignment aux = aux_output(o) = scales_aux ? scale("scale_aux") * z : kept(o, z);
  const Assignment amax_d = reduction("amax_d", {.has_default = true}) = reduce_amax(y);
  const Assignment amax_aux = reduction("amax_aux", {.has_default = true}) = reduce_amax(z);
  const AssignmentToD d = names::d = o.scales_d ? scale("scale_d") * y : y;
  if (o.scales_d && scales_aux) return expression(d, aux, amax_d, amax_aux);
  if (o.scales_d) return expression(d, aux, amax_d);
  if (scales_aux) return expression(d, aux, amax_aux);
  return expression(d, aux);
}

}  // namespace detail

// d = alpha * acc
constexpr Graph scaled_acc(const OperationOptions& /*options*/ = {}) {
  return expression(names::d = names::alpha * names::acc);
}
// d = alpha * acc + beta * c
constexpr Graph linear_combination(const OperationOptions& /*options*/ = {}) {
  return expression(names::d = detail::linear());
}
// d = act(z)
constexpr Graph lin_comb_elt_act(const OperationOptions& o = {}) {
  return expression(names::d = detail::activate(o, detail::linear()));
}

// d = the softmax of the top_k largest of each row of z, and 0 elsewhere; a row lies in one tile
constexpr Graph lin_comb_top_k_softmax_col(const OperationOptions& o = {}) {
  return expression(names::d = top_k_softmax(detail::linear(), o.top_k));
}

// d = z, act(z), or act(z) with z kept in aux
constexpr Graph lin_comb_per_row_bias(const OperationOptions& o = {}) {
  return expression(names::d = detail::linear() + detail::bias_col(o));
}
constexpr Graph lin_comb_per_col_bias(const OperationOptions& o = {}) {
  return expression(names::d = detail::linear() + detail::bias_row(o));
}
constexpr Graph lin_comb_per_row_bias_elt_act(const OperationOptions& o = {}) {
  return expression(names::d = detail::activate(o, detail::linear() + detail::bias_col(o)));
}
constexpr Graph lin_comb_per_col_bias_elt_act(const OperationOptions& o = {}) {
  return expression(names::d = detail::activate(o, detail::linear() + detail::bias_row(o)));
}
constexpr Graph lin_comb_per_row_bias_elt_act_aux(const OperationOptions& o = {}) {
  const Expr z = detail::linear() + detail::bias_col(o);
  return expression(names::d = detail::activate(o, z), detail::aux_output(o) = detail::kept(o, z));
}
constexpr Graph lin_comb_per_col_bias_elt_act_aux(const OperationOptions& o = {}) {
  const Expr z = detail::linear() + detail::bias_row(o);
  return expression(names::d = detail::activate(o, z), detail::aux_output(o) = detail::kept(o, z));
}

// Alpha and beta are vectors: d = act(alpha[m] * acc + beta[m] * c + bias[m]), or by n
constexpr Graph per_row_lin_comb_per_row_bias_elt_act(const OperationOptions& o = {}) {
  const Leaf alpha = col("alpha", {.element = o.scale, .has_default = true, .value = 1});
  const Leaf beta = col("beta", {.element = o.scale, .has_default = true, .value = 0});
  return expression(names::d = detail::activate(o, alpha * names::acc + beta * names::c + detail::bias_col(o)));
}
constexpr Graph per_col_lin_comb_per_col_bias_elt_act(const OperationOptions& o = {}) {
  const Leaf alpha = row("alpha", {.element = o.scale, .has_default = true, .value = 1});
  const Leaf beta = row("beta", {.element = o.scale, .has_default = true, .value = 0});
  return expression(names::d = detail::activate(o, alpha * names::acc + beta * names::c + detail::bias_row(o)));
}
// d = act(alpha[n] * acc + bias[n]) + beta[n] * c
constexpr Graph per_col_res_add_per_col_bias_elt_act(const OperationOptions& o = {}) {
  const Leaf alpha = row("alpha", {.element = o.scale, .has_default = true, .value = 1});
  const Leaf beta = row("beta", {.element = o.scale, .has_default = true, .value = 0});
  return expression(names::d = detail::activate(o, alpha * names::acc + detail::bias_row(o)) + beta * names::c);
}

// z = scale_a * scale_b * alpha * acc + scale_c * beta * c + bias; d = scale_d * act(z). With amax and aux:
// amax_d = max |act(z)|, aux = scale_aux * z, amax_aux = max |z|
constexpr Graph scaled_lin_comb_per_row_bias_elt_act(const OperationOptions& o = {}) {
  return detail::scaled(o, detail::scaled_linear() + detail::bias_col(o));
}
constexpr Graph scaled_lin_comb_per_col_bias_elt_act(const OperationOptions& o = {}) {
  return detail::scaled(o, detail::scaled_linear() + detail::bias_row(o));
}
constexpr Graph scaled_lin_comb_per_row_bias_elt_act_amax_aux(const OperationOptions& o = {}) {
  return detail::scaled_amax_aux(o, detail::scaled_linear() + detail::bias_col(o));
}
constexpr Graph scaled_lin_comb_per_col_bias_elt_act_amax_aux(const OperationOptions& o = {}) {
  return detail::scaled_amax_aux(o, detail::scaled_linear() + detail::bias_row(o));
}

// Backward: d = d_act(alpha * acc + beta * c, aux), where aux is z of the forward pass, or its mask; and dbias[m], the
// sum of d over n
constexpr Graph lin_comb_de_elt_act(const OperationOptions& o = {}) {
  return expression(names::d = detail::deactivate(o, detail::linear(), detail::aux_input(o)));
}
constexpr Graph lin_comb_de_elt_act_de_per_row_bias(const OperationOptions& o = {}) {
  const Expr dz = detail::deactivate(o, detail::linear(), detail::aux_input(o));
  return expression(names::d = dz, reduction("dbias", {.has_default = true}) = reduce_col_add(dz));
}

struct Operation {
  const char* name;
  Graph (*build)(const OperationOptions&);
};

inline constexpr Operation kOperations[] = {
    {"ScaledAcc", scaled_acc},
    {"LinearCombination", linear_combination},
    {"LinearCombinationGroupedWgrad", linear_combination},
    {"LinCombEltAct", lin_comb_elt_act},
    {"LinCombPerRowBias", lin_comb_per_row_bias},
    {"LinCombPerColBias", lin_comb_per_col_bias},
    {"LinCombPerRowBiasEltAct", lin_comb_per_row_bias_elt_act},
    {"LinCombPerColBiasEltAct", lin_comb_per_col_bias_elt_act},
    {"LinCombPerRowBiasEltActAux", lin_comb_per_row_bias_elt_act_aux},
    {"LinCombPerColBiasEltActAux", lin_comb_per_col_bias_elt_act_aux},
    {"PerRowLinCombPerRowBiasEltAct", per_row_lin_comb_per_row_bias_elt_act},
    {"PerColLinCombPerColBiasEltAct", per_col_lin_comb_per_col_bias_elt_act},
    {"PerColResAddPerColBiasEltAct", per_col_res_add_per_col_bias_elt_act},
    {"ScaledLinCombPerRowBiasEltAct", scaled_lin_comb_per_row_bias_elt_act},
    {"ScaledLinCombPerColBiasEltAct", scaled_lin_comb_per_col_bias_elt_act},
    {"ScaledLinCombPerRowBiasEltActAmaxAux", scaled_lin_comb_per_row_bias_elt_act_amax_aux},
    {"ScaledLinCombPerColBiasEltActAmaxAux", scaled_lin_comb_per_col_bias_elt_act_amax_aux},
    {"LinCombDeEltAct", lin_comb_de_elt_act},
    {"LinCombDeEltActDePerRowBias", lin_comb_de_elt_act_de_per_row_bias},
    {"LinCombTopKSoftmaxCol", lin_comb_top_k_softmax_col},
};

inline constexpr int kOperationCount = sizeof kOperations / sizeof kOperations[0];

// The place in kOperations, or kOperationCount where no operation has this name. A number and not a pointer: compared
// with null, an address inside an array is no constant expression for g++ 12 under -fsanitize=undefined.
constexpr int find_operation(const char* name) {
  const auto same = [](const char* a, const char* b) {
    while (*a != 0 && *a == *b) ++a, ++b;
    return *a == *b;
  };
  int found = 0;
  while (found < kOperationCount && !same(kOperations[found].name, name)) ++found;
  return found;
}

namespace detail {

// Not for constant expressions. A compiler that meets it there names it.
inline void there_is_no_operation_of_this_name() {}

}  // namespace detail

// An operation as a configuration asks for it (callbacks_builder.hpp). Outputs that are not fp8 are not scaled, and
// their amax is not taken.
struct NamedOperation {
  const char* name = "LinearCombination";
  OperationOptions options{};

  constexpr Graph graph(ElementType d) const {
    const auto is_fp8 = [](ElementType e) { return e == ElementType::e4m3 || e == ElementType::e5m2; };
    const int found = find_operation(name);
    if (found == kOperationCount) {
      detail::there_is_no_operation_of_this_name();
      return Graph();
    }
    OperationOptions o = options;
    o.scales_d = o.scales_d && is_fp8(d);
    o.scales_aux = o.scales_aux && is_fp8(o.aux);
    return kOperations[found].build(o);
  }
};

}  // namespace gantry::fusion

// What arguments.hpp declares: compiled into gantry::planning, or inline where nothing is linked.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <gantry/epilogue/fusion/arguments.hpp>

namespace gantry::fusion {

struct FusionArguments::Refusals {
  struct Refusal {
    int argument;
    ArgumentReason reason;
  };
  std::vector<Refusal> list;
};

GANTRY_LINKAGE FusionArguments::FusionArguments(const Graph& graph) : graph_(graph) {}
GANTRY_LINKAGE FusionArguments::FusionArguments(const FusionArguments& other) : graph_(other.graph_) { *this = other; }
GANTRY_LINKAGE FusionArguments::FusionArguments(FusionArguments&& other) noexcept : graph_(other.graph_) {
  *this = std::move(other);
}
GANTRY_LINKAGE FusionArguments& FusionArguments::operator=(const FusionArguments& other) {
  if (this == &other) return *this;
  Refusals* const copied = other.refusals_ != nullptr ? new Refusals(*other.refusals_) : nullptr;
  delete std::exchange(refusals_, copied);
  copy_values(other);
  return *this;
}
GANTRY_LINKAGE FusionArguments& FusionArguments::operator=(FusionArguments&& other) noexcept {
  std::swap(refusals_, other.refusals_);
  copy_values(other);
  return *this;
}
GANTRY_LINKAGE FusionArguments::~FusionArguments() { delete refusals_; }

GANTRY_LINKAGE void FusionArguments::copy_values(const FusionArguments& other) {
  graph_ = other.graph_;
  std::copy(std::begin(other.values_), std::end(other.values_), values_);
  std::copy(std::begin(other.null_), std::end(other.null_), null_);
}

GANTRY_LINKAGE FusionArguments FusionArguments::with_graph(const Graph& graph) const {
  FusionArguments out = *this;
  out.graph_ = graph;
  return out;
}

GANTRY_COLD GANTRY_LINKAGE ArgumentReasons FusionArguments::problems(const ProblemShape& shape) const {
  ArgumentReasons out;
  bool refused[kMaxArguments] = {};
  if (refusals_ != nullptr) {
    for (const Refusals::Refusal& refusal : refusals_->list) {
      out.add(refusal.reason);
      if (refusal.argument >= 0) refused[refusal.argument] = true;
    }
  }
  for (int i = 0; i < graph_.argument_count; ++i) {
    if (!refused[i]) check(i, shape, out);
  }
  check_heads(shape, out);
  return out;
}

GANTRY_COLD GANTRY_LINKAGE void FusionArguments::check_heads(const ProblemShape& shape, ArgumentReasons& out) const {
  for (int i = 0; i < graph_.node_count; ++i) {
    const Node& node = graph_.nodes[i];
    if (node.kind != NodeKind::compute || node.function != Function::rotate || shape.n % node.head == 0) continue;
    ArgumentReason reason;
    reason.rule = ArgumentRule::rotated_columns;
    reason.actual = shape.n;
    reason.first = node.head;
    reason.nearest = (shape.n + node.head - 1) / node.head * node.head;
    out.add(reason);
    return;
  }
}

GANTRY_LINKAGE ResolvedArguments FusionArguments::resolved(const ProblemShape& shape) const {
  ResolvedArguments out;
  for (int i = 0; i < graph_.argument_count; ++i) out.values[i] = resolve(i, shape);
  return out;
}

GANTRY_LINKAGE int FusionArguments::find(const char* name) {
  const Name wanted(name);
  Nearest nearest(name);
  ArgumentReason reason;
  reason.rule = ArgumentRule::unknown_name;
  reason.operand = name;
  for (int i = 0; i < graph_.argument_count; ++i) {
    const Argument& argument = graph_.arguments[i];
    if (argument.name == wanted) return i;
    nearest.consider(argument.name.text);
    reason.words.append(i > 0 ? ", " : "").append(argument.name.text);
  }
  reason.other = nearest.name().text;
  refuse(-1, reason);
  return -1;
}

GANTRY_COLD GANTRY_LINKAGE ArgumentReason FusionArguments::about(int i, ArgumentRule rule) const {
  const Argument& argument = graph_.arguments[i];
  ArgumentReason out;
  out.rule = rule;
  out.operand = argument.name.text;
  out.columns = is_matrix(argument) && !argument.row_major;
  out.kind = argument.kind;
  out.element = argument.element;
  return out;
}

GANTRY_LINKAGE void FusionArguments::refuse(int i, const ArgumentReason& reason) {
  if (refusals_ == nullptr) refusals_ = new Refusals;
  refusals_->list.push_back({i, reason});
}

GANTRY_LINKAGE void FusionArguments::forget_refusals(int i) {
  if (refusals_ == nullptr) return;
  std::erase_if(refusals_->list, [i](const Refusals::Refusal& refusal) { return refusal.argument == i; });
}

GANTRY_LINKAGE void FusionArguments::set_value(int i, float value, bool is_null) {
  if (i < 0) return;
  forget_refusals(i);
  const Argument& argument = graph_.arguments[i];
  if (!is_null && !takes_number(argument)) {
    refuse(i, about(i, ArgumentRule::number_for_address));
    return;
  }
  values_[i] = {.given = !is_null, .value = value};
  null_[i] = is_null;
}

GANTRY_LINKAGE void FusionArguments::set_address(int i, const Address& given) {
  if (i < 0) return;
  forget_refusals(i);
  const Argument& argument = graph_.arguments[i];
  const bool bytes = info(argument.element).bits < 8 && given.bytes;
  if (given.element != ElementType::void_ && given.element != argument.element && !bytes) {
    ArgumentReason reason = about(i, ArgumentRule::element_differs);
    reason.given = given.element;
    refuse(i, reason);
    return;
  }
  if (is_output(argument.kind) && given.is_const) {
    refuse(i, about(i, ArgumentRule::output_is_const));
    return;
  }
  values_[i] = {.given = given.pointer != nullptr,
                .pointer = given.pointer,
                .stride = given.stride,
                .batch_stride = given.batch_stride};
  null_[i] = given.pointer == nullptr;
}

GANTRY_LINKAGE ArgumentValue FusionArguments::resolve(int i, const ProblemShape& shape) const {
  const Argument& argument = graph_.arguments[i];
  ArgumentValue out = values_[i];
  // Of an array of addresses too: where one of them is null, the default stands for what it would name.
  if (!out.given || out.pointer != nullptr) out.value = argument.value;
  const bool tensor = is_matrix(argument);
  const MatrixExtents of = extents_of(argument, shape.m, shape.n);
  if (out.stride == ArgumentValue::kDense) out.stride = tensor ? (argument.row_major ? of.columns : of.rows) : 0;
  const bool along_m = argument.kind == ArgumentKind::column ||
                       (argument.kind == ArgumentKind::reduction && argument.extent == Extent::column);
  const bool along_n = argument.kind == ArgumentKind::row ||
                       (argument.kind == ArgumentKind::reduction && argument.extent == Extent::row);
  // Tensors, and the vectors that run along the lines of all groups, are one; each group has one of the others.
  const bool by_line = shape.groups_of_rows ? along_m : along_n, by_group = shape.groups_of_rows ? along_n : along_m;
  if (shape.share_tensors() && (tensor || by_line)) {
    out.batch_stride = 0;
  } else if (shape.share_tensors() && by_group && out.batch_stride == ArgumentValue::kDense) {
    out.batch_stride = along_n ? shape.n : shape.m;
  } else if (out.batch_stride == ArgumentValue::kDense) {
    out.batch_stride =
        tensor ? gantry::detail::distance_of_lines(out.stride, argument.row_major ? of.rows : of.columns) : 0;
  }
  return out;
}

GANTRY_COLD GANTRY_LINKAGE void FusionArguments::check(int i, const ProblemShape& shape, ArgumentReasons& out) const {
  const Argument& argument = graph_.arguments[i];
  const ArgumentValue value = resolve(i, shape);
  if (!value.given) {
    if (!argument.has_default) {
      out.add(about(i, null_[i] ? ArgumentRule::argument_null : ArgumentRule::argument_missing));
    }
    return;
  }
  if (value.pointer == nullptr) {
    if (graph_.is_seed(i) && !is_seed_value(value.value)) {
      ArgumentReason reason = about(i, ArgumentRule::seed_by_value);
      reason.first = static_cast<std::int64_t>(kMostSeed);
      out.add(reason);
    }
    return;
  }
  const int bits = info(argument.element).bits;
  const bool by_address = argument.kind == ArgumentKind::scalar && value.batch_stride == kByAddress;
  if (by_address && !shape.pointer_array) return out.add(about(i, ArgumentRule::scalars_by_address));
  const bool array = by_address || (shape.pointer_array && argument.kind != ArgumentKind::scalar &&
                                    argument.kind != ArgumentKind::reduction);  // of addresses, or of GroupTensor
  const std::uintptr_t step = array      ? (is_tensor(argument.kind) ? 16 : sizeof(void*))
                              : bits < 8 ? 1
                                         : static_cast<std::uintptr_t>(bits / 8);
  const std::uintptr_t beyond = reinterpret_cast<std::uintptr_t>(value.pointer) % step;
  if (beyond != 0) {
    ArgumentReason reason = about(i, ArgumentRule::element_misaligned);
    reason.actual = static_cast<std::int64_t>(beyond);
    reason.nearest = static_cast<std::int64_t>(step - beyond);
    reason.first = static_cast<std::int64_t>(step);
    out.add(reason);
  }
  if (array) return;  // what stands in it the device knows
  if (is_matrix(argument)) {
    check_tensor(i, value, shape, out);
  } else if (argument.kind == ArgumentKind::reduction) {
    check_results(i, value, shape, out);
  }
}

GANTRY_COLD GANTRY_LINKAGE void FusionArguments::check_tensor(int i, const ArgumentValue& value,
                                                              const ProblemShape& shape, ArgumentReasons& out) const {
  const Argument& argument = graph_.arguments[i];
  const MatrixExtents of = extents_of(argument, shape.m, shape.n);
  const std::int64_t extent = argument.row_major ? of.columns : of.rows;
  const int bits = info(argument.element).bits;
  if (value.stride < extent) {
    ArgumentReason reason = about(i, ArgumentRule::stride_too_short);
    reason.actual = value.stride;
    reason.first = extent;
    reason.nearest = is_by_block(argument) || is_partial(argument)
                         ? extent
                         : gantry::detail::nearest_multiple_from(extent, extent, bits < 8 ? 8 : 128 / bits);
    out.add(reason);
  }
  const std::int64_t tensors = shape.share_tensors() ? 1 : shape.batch;
  if (is_output(argument.kind) && tensors > 1 && value.batch_stride == 0) {
    ArgumentReason reason = about(i, ArgumentRule::batches_overlap);
    reason.first = 1;
    reason.nearest = gantry::detail::distance_of_lines(value.stride, argument.row_major ? of.rows : of.columns);
    out.add(reason);
  }
}

GANTRY_COLD GANTRY_LINKAGE void FusionArguments::check_results(int i, const ArgumentValue& value,
                                                               const ProblemShape& shape, ArgumentReasons& out) const {
  const Extent kind = graph_.arguments[i].extent;
  const std::int64_t extent = kind == Extent::row ? shape.n : kind == Extent::column ? shape.m : 1;
  if (value.batch_stride == 0 || value.batch_stride >= extent || shape.batch <= 1) return;
  ArgumentReason reason = about(i, ArgumentRule::results_overlap);
  reason.actual = value.batch_stride;
  reason.first = reason.nearest = extent;
  out.add(reason);
}

}  // namespace gantry::fusion

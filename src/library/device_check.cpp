#include "device_check.hpp"

#include <cstring>

#include <gantry/gemm/array_check.hpp>
#include <gantry/gemm/gather_check.hpp>
#include <gantry/gemm/group_check.hpp>
#include <gantry/runtime/runtime_rules.hpp>

namespace gantry {

namespace {

constexpr int kShown = 16;  // groups and rows that are named

// Names the first ones that are wrong, and counts the others.
class Findings {
 public:
  explicit Findings(const char* what) : what_(what) {}

  void add(const char* rule, std::int64_t group, std::string sentence) {
    if (++all_ > kShown) return;
    out_.add({StatusCode::invalid_argument, rule, {}, group, 0, std::move(sentence)});
  }

  Status status() {
    if (all_ > kShown) {
      const Status more = runtime::failure_of(runtime::RuntimeRule::findings_left_out,
                                              std::to_string(all_ - kShown) + " more " + what_ + " are wrong");
      out_ = runtime::with_reasons_of(std::move(out_), more);
    }
    return out_;
  }

 private:
  const char* what_;
  Status out_;
  int all_ = 0;
};

template <class T>
Result<std::vector<T>> read_array(const CheckedKernel& kernel, const void* from, std::int64_t count) {
  std::vector<T> out(static_cast<std::size_t>(count));
  Status read = kernel.machine.read(static_cast<void*>(out.data()), from, out.size() * sizeof(T), kernel.stream);
  if (!read) return unexpected(std::move(read));
  return out;
}

Status check_lines(const CheckedKernel& kernel, const GemmCall& call) {
  const bool masked = call.groups.counts != nullptr;
  const GemmGrouping along = kernel.design.options.groups;
  const auto numbers = read_array<std::int32_t>(kernel, call.groups.data(), call.batch + (masked ? 0 : 1));
  if (!numbers) return numbers.error();
  const std::vector<GroupFinding> found =
      masked ? check_counts(numbers->data(), call.batch, call.m / call.batch)
             : check_offsets(numbers->data(), call.batch, {along, along == GemmGrouping::along_m ? call.m : call.k});
  Findings out("groups");
  for (const GroupFinding& one : found) out.add(entry_of(one.rule).name, one.group, describe(one).c_str());
  return out.status();
}

const GemmCallArgument* find(const GemmCall& call, const fusion::Argument& argument) {
  for (int i = 0; i < call.arguments.count(); ++i) {
    const GemmCallArgument& given = call.arguments[i];
    if (given.name != nullptr && std::strcmp(given.name, argument.name.text) == 0) return &given;
  }
  return nullptr;
}

// `why`: each GEMM is left out, so far; nothing where it is not.
Status check_argument(const CheckedKernel& kernel, const fusion::Argument& argument, const GemmCall& call,
                      const std::vector<GemmGroup>& gemms, std::vector<std::optional<ArrayReason>>& why) {
  const GemmCallArgument* const given = find(call, argument);
  const void* const array = given == nullptr ? nullptr : given->data;
  using Kind = fusion::ArgumentKind;
  const bool vector = argument.kind == Kind::row || argument.kind == Kind::column ||
                      (argument.kind == Kind::scalar && array != nullptr && given->batch_stride == fusion::kByAddress);
  if (array == nullptr || (!vector && !fusion::is_auxiliary(argument))) return {};
  const auto check = [&](const auto& all, const auto& why_not) -> Status {
    if (!all) return all.error();
    for (std::size_t g = 0; g < gemms.size(); ++g) {
      if (!why[g]) why[g] = why_not(gemms[g], (*all)[g]);
    }
    return {};
  };
  if (vector) {
    return check(read_array<const void*>(kernel, array, call.batch),
                 [&](const GemmGroup&, const void* x) { return why_left_out(argument, x); });
  }
  return check(read_array<GemmGroupTensor>(kernel, array, call.batch),
               [&](const GemmGroup& g, const GemmGroupTensor& x) { return why_left_out(argument, x, g.m, g.n); });
}

Status check_gemms(const CheckedKernel& kernel, const GemmCall& call) {
  const auto gemms = read_array<GemmGroup>(kernel, call.groups.gemms, call.batch);
  if (!gemms) return gemms.error();
  std::vector<std::optional<ArrayReason>> why(gemms->size());
  for (std::size_t g = 0; g < why.size(); ++g) {
    why[g] = why_left_out(kernel.design.options, (*gemms)[g], kernel.graph.uses_source(), kernel.graph.d >= 0);
  }
  for (int i = 0; i < kernel.graph.argument_count; ++i) {
    Status read = check_argument(kernel, kernel.graph.arguments[i], call, *gemms, why);
    if (!read) return read;
  }
  Findings out("groups");
  for (std::size_t g = 0; g < why.size(); ++g) {
    if (!why[g]) continue;
    out.add("gemm_left_out", static_cast<std::int64_t>(g),
            "GEMM " + std::to_string(g) + ": " + describe(*why[g]).c_str() + "; it is left out");
  }
  return out.status();
}

// Rows of the GEMM that are computed.
Result<std::vector<GroupSpan>> used_rows(const CheckedKernel& kernel, const GemmCall& call) {
  if (kernel.design.options.groups == GemmGrouping::none) return std::vector<GroupSpan>{{0, call.m}};
  const bool masked = call.groups.counts != nullptr;
  const auto numbers = read_array<std::int32_t>(kernel, call.groups.data(), call.batch + (masked ? 0 : 1));
  if (!numbers) return unexpected(numbers.error());
  if (masked) return spans_of_counts(numbers->data(), call.batch, call.m / call.batch);
  return spans_of_offsets(numbers->data(), call.batch, {GemmGrouping::along_m, call.m});
}

Status check_indices(const CheckedKernel& kernel, const GemmCall& call) {
  const GemmOptions& o = kernel.design.options;
  const auto used = used_rows(kernel, call);
  if (!used) return used.error();
  const std::int64_t batches = o.groups == GemmGrouping::none ? call.batch : 1;
  Findings out("rows");
  const auto check = [&](const std::int32_t* from, IndexedMatrix of) -> Status {
    const auto index = read_array<std::int32_t>(kernel, from, call.m * batches);
    if (!index) return index.error();
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      of.batch = batches > 1 ? batch : -1;
      for (const IndexFinding& one : check_index(index->data() + batch * call.m, *used, of)) {
        out.add(entry_of(one.rule).name, one.row, describe(one).c_str());
      }
    }
    return {};
  };
  if (o.gather_a) {
    Status read = check(call.gather.index, {.operand = 'A', .rows = call.gather.rows});
    if (!read) return read;
  }
  if (o.scatter_d != RowScatter::none) {
    Status read = check(call.scatter.index, {.operand = 'D', .rows = call.scatter.rows, .scatter = o.scatter_d});
    if (!read) return read;
  }
  return out.status();
}

}  // namespace

Status check_on_device(const CheckedKernel& kernel, const GemmCall& call) {
  const GemmOptions& o = kernel.design.options;
  const bool grouped = o.groups != GemmGrouping::none, indexed = o.gather_a || o.scatter_d != RowScatter::none;
  if ((!grouped && !indexed) || call.batch <= 0) return {};
  if (kernel.machine.is_recording(kernel.stream)) {
    return runtime::failure_of(
        runtime::RuntimeRule::check_while_recording,
        "the stream records a CUDA graph, and a check of what is on the device waits for the stream and copies: check "
        "before recording, or run without the check");
  }
  if (o.groups == GemmGrouping::pointer_array) return check_gemms(kernel, call);
  if (grouped) {
    Status lines = check_lines(kernel, call);
    if (!lines) return lines;
  }
  return indexed ? check_indices(kernel, call) : Status();
}

}  // namespace gantry

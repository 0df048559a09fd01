#include "device_check.hpp"

#include <cstring>

#include <gantry/gemm/array_check.hpp>
#include <gantry/gemm/group_check.hpp>

namespace gantry {

namespace {

constexpr int kShown = 16;  // groups that are named

// Names the first ones that are wrong, and counts the others.
class Findings {
 public:
  void add(const char* rule, std::int64_t group, std::string sentence) {
    if (++all_ > kShown) return;
    out_.add({StatusCode::invalid_argument, rule, {}, group, 0, std::move(sentence)});
  }

  Status status() {
    if (all_ > kShown) {
      out_.add(StatusCode::invalid_argument, std::to_string(all_ - kShown) + " more groups are wrong");
    }
    return out_;
  }

 private:
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
  Findings out;
  for (const GroupFinding& one : found) out.add(to_text(one.rule), one.group, one.sentence);
  return out.status();
}

const void* address_of(const GemmCall& call, const fusion::Argument& argument) {
  for (int i = 0; i < call.arguments.count(); ++i) {
    const GemmCallArgument& given = call.arguments[i];
    if (given.name != nullptr && std::strcmp(given.name, argument.name.text) == 0) return given.data;
  }
  return nullptr;
}

// `why`: each GEMM is left out, so far; empty where it is not.
Status check_argument(const CheckedKernel& kernel, const fusion::Argument& argument, const GemmCall& call,
                      const std::vector<GemmGroup>& gemms, std::vector<std::string>& why) {
  const void* const array = address_of(call, argument);
  const bool vector = argument.kind == fusion::ArgumentKind::row || argument.kind == fusion::ArgumentKind::column;
  if (array == nullptr || (!vector && !fusion::is_auxiliary(argument))) return {};
  const auto check = [&](const auto& all, const auto& why_not) -> Status {
    if (!all) return all.error();
    for (std::size_t g = 0; g < gemms.size(); ++g) {
      if (why[g].empty()) why[g] = why_not(gemms[g], (*all)[g]);
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
  std::vector<std::string> why(gemms->size());
  for (std::size_t g = 0; g < why.size(); ++g) {
    why[g] = why_left_out(kernel.design.options, (*gemms)[g], kernel.graph.uses_source(), kernel.graph.d >= 0);
  }
  for (int i = 0; i < kernel.graph.argument_count; ++i) {
    Status read = check_argument(kernel, kernel.graph.arguments[i], call, *gemms, why);
    if (!read) return read;
  }
  Findings out;
  for (std::size_t g = 0; g < why.size(); ++g) {
    if (!why[g].empty()) {
      out.add("gemm_left_out", static_cast<std::int64_t>(g),
              "GEMM " + std::to_string(g) + ": " + why[g] + "; it is left out");
    }
  }
  return out.status();
}

}  // namespace

Status check_on_device(const CheckedKernel& kernel, const GemmCall& call) {
  if (kernel.design.options.groups == GemmGrouping::none || call.batch <= 0) return {};
  if (kernel.machine.is_recording(kernel.stream)) {
    return Status::failure(StatusCode::invalid_argument,
                           "the stream records a CUDA graph, and a check of what is on the device waits for the stream "
                           "and copies: check before recording, or run without the check");
  }
  return kernel.design.options.groups == GemmGrouping::pointer_array ? check_gemms(kernel, call)
                                                                     : check_lines(kernel, call);
}

}  // namespace gantry

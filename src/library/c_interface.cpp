#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <new>
#include <type_traits>

#include <gantry/context.hpp>
#include <gantry/gantry.h>
#include <gantry/gemm/pointer_array.hpp>
#include <gantry/numeric/element_name.hpp>
#include <gantry/runtime/printable.hpp>
#include <gantry/runtime/runtime_rules.hpp>

#include "call_rules.hpp"

static_assert(static_cast<int>(gantry::StatusCode::ok) == GANTRY_OK &&
              static_cast<int>(gantry::StatusCode::invalid_argument) == GANTRY_INVALID_ARGUMENT &&
              static_cast<int>(gantry::StatusCode::unsupported) == GANTRY_UNSUPPORTED &&
              static_cast<int>(gantry::StatusCode::no_device) == GANTRY_NO_DEVICE &&
              static_cast<int>(gantry::StatusCode::no_kernel) == GANTRY_NO_KERNEL &&
              static_cast<int>(gantry::StatusCode::compile_failed) == GANTRY_COMPILE_FAILED &&
              static_cast<int>(gantry::StatusCode::device_failed) == GANTRY_DEVICE_FAILED &&
              static_cast<int>(gantry::StatusCode::out_of_memory) == GANTRY_OUT_OF_MEMORY &&
              static_cast<int>(gantry::StatusCode::simulation_failed) == GANTRY_SIMULATION_FAILED);

static_assert(sizeof(gantry_group) == sizeof(gantry::GemmGroup) &&
              offsetof(gantry_group, a) == offsetof(gantry::GemmGroup, a) &&
              offsetof(gantry_group, stride_d) == offsetof(gantry::GemmGroup, stride_d) &&
              sizeof(gantry_group_tensor) == sizeof(gantry::GemmGroupTensor));

struct gantry_context {
  gantry::Context context;
  std::string notes;
};

struct gantry_gemm {
  gantry::GemmFunction function;
};

struct gantry_report {
  std::string text, json;
};

namespace {

using gantry::CallRule;
using gantry::ElementType;
using gantry::Result;
using gantry::Status;
using gantry::StatusCode;
using gantry::runtime::failure_of;
using gantry::runtime::RuntimeRule;

// What the last call of this thread that failed said.
struct LastError {
  std::vector<gantry::StatusReason> reasons;
  std::string message;
  bool internal = false;
};
thread_local LastError last_error;

gantry_status fail(const Status& status) {
  last_error.reasons = status.reasons();
  last_error.message = status.describe();
  last_error.internal = false;
  return static_cast<gantry_status>(status.code());
}

gantry_status refuse(CallRule rule, const std::string& sentence, const std::string& operand = {}) {
  Status out;
  out.add({.rule = to_text(rule), .operand = operand, .sentence = sentence});
  return fail(out);
}

// The same, of a number that is out of range.
gantry_status refuse(CallRule rule, std::int64_t actual, std::int64_t nearest, const std::string& sentence) {
  Status out;
  out.add({.rule = to_text(rule), .actual = actual, .nearest = nearest, .sentence = sentence});
  return fail(out);
}

gantry_status result_of(const Status& status) { return status.ok() ? GANTRY_OK : fail(status); }

// Runs something that may throw: memory that runs out, or a mistake of ours.
template <class Body>
gantry_status guarded(const Body& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    try {
      return fail(failure_of(RuntimeRule::host_out_of_memory, "the host's memory has run out"));
    } catch (...) {
      return GANTRY_OUT_OF_MEMORY;
    }
  } catch (const std::exception& e) {
    try {
      fail(failure_of(RuntimeRule::internal_error, std::string("an error inside of Gantry: ") + e.what()));
      last_error.internal = true;
    } catch (...) {  // there is no memory for the sentence: the status says enough
    }
    return GANTRY_INTERNAL;
  } catch (...) {
    return GANTRY_INTERNAL;
  }
}

// A caller's struct, of this version or of an older one, which is shorter: what it lacks keeps its default.
template <class Struct>
gantry_status read_struct(const char* name, const Struct* from, Struct& out) {
  if (from == nullptr) return GANTRY_OK;
  std::size_t size = 0;
  std::memcpy(&size, from, sizeof size);
  if (size < sizeof size || size > sizeof(Struct)) {
    return refuse(CallRule::struct_size, static_cast<std::int64_t>(size), sizeof(Struct),
                  std::string(name) + " has a size of " + std::to_string(size) + " bytes, and this library knows " +
                      std::to_string(sizeof(Struct)) + ": begin with its initialiser, GANTRY_..., of the same version");
  }
  std::memcpy(&out, from, size);
  out.size = sizeof(Struct);
  return GANTRY_OK;
}

// An element of a caller's array, whose elements have `size` bytes; 0: those of version 0.1, which had `first`.
template <class Struct>
gantry_status read_element_of(const Struct* array, int index, int32_t size, std::size_t first, Struct& out) {
  static_assert(std::is_trivially_copyable_v<Struct>);
  const std::size_t bytes = size == 0 ? first : static_cast<std::size_t>(size);
  if (size < 0 || bytes < first || bytes > sizeof(Struct)) {
    return refuse(CallRule::struct_size, size, sizeof(Struct),
                  "an element of an array has a size of " + std::to_string(size) + " bytes, and this library knows " +
                      std::to_string(first) + " to " + std::to_string(sizeof(Struct)) +
                      ": begin the struct that has the array with its initialiser, GANTRY_..., of the same version");
  }
  std::memcpy(&out, reinterpret_cast<const unsigned char*>(array) + static_cast<std::size_t>(index) * bytes, bytes);
  return GANTRY_OK;
}

// Of version 0.1.
constexpr std::size_t kFirstArgument = 40, kFirstFunction = 24;
static_assert(sizeof(gantry_argument) >= kFirstArgument && sizeof(gantry_function) >= kFirstFunction);

std::string text_or(const char* text, const char* other) { return text == nullptr ? other : text; }

gantry_status read_element(const char* operand, const char* text, ElementType& out) {
  if (text == nullptr) return GANTRY_OK;
  const gantry::ParsedElementType parsed = gantry::parse_element_type(text);
  if (!parsed.ok) {
    const std::string sentence = std::string(operand) + ": " + gantry::runtime::one_line(parsed.problem.c_str());
    return refuse(CallRule::element_type, sentence, operand);
  }
  out = parsed.type;
  return GANTRY_OK;
}

template <class Enum>
gantry_status read_choice(const char* name, std::int32_t value, std::int32_t most, Enum& out) {
  if (value < 0 || value > most) {
    const std::string sentence =
        std::string(name) + " is " + std::to_string(value) + ": it is 0 to " + std::to_string(most);
    return refuse(CallRule::choice, value, value < 0 ? 0 : most, sentence);
  }
  out = static_cast<Enum>(value);
  return GANTRY_OK;
}

gantry_status check_array(const char* what, int32_t count, const void* array) {
  if (count == 0 || (count > 0 && array != nullptr)) return GANTRY_OK;
  const std::string sentence =
      count < 0 ? "the number of " + std::string(what) + " is " + std::to_string(count) + ": it is 0 or more"
                : "there are " + std::to_string(count) + " " + what +
                      ", and their array is missing: it has as many, or both are 0";
  return refuse(CallRule::array_missing, sentence, what);
}

gantry_status read_options(const gantry_context_options* given, gantry::ContextOptions& out) {
  gantry_context_options from = GANTRY_CONTEXT_OPTIONS;
  gantry_status status = read_struct("gantry_context_options", given, from);
  gantry::MachineKind kinds[] = {gantry::MachineKind::automatic, gantry::MachineKind::gpu,
                                 gantry::MachineKind::simulated};
  gantry::CompilePolicy policies[] = {gantry::CompilePolicy::background, gantry::CompilePolicy::wait,
                                      gantry::CompilePolicy::never};
  int machine = 0, policy = 0;
  if (status == GANTRY_OK) status = read_choice("the machine", from.machine, 2, machine);
  if (status == GANTRY_OK) status = read_choice("the policy", from.policy, 2, policy);
  if (status == GANTRY_OK) status = check_array("shipped folders", from.shipped_count, from.shipped);
  if (status != GANTRY_OK) return status;
  out.machine = kinds[machine];
  out.policy = policies[policy];
  out.device = from.device;
  if (from.most_kernels > 0) out.most_kernels = from.most_kernels;
  if (from.most_plans > 0) out.most_plans = from.most_plans;
  out.compile_threads = from.compile_threads;
  out.cache_directory = text_or(from.cache_directory, "");
  out.tuning_file = text_or(from.tuning_file, "");
  for (int i = 0; i < from.shipped_count; ++i) out.shipped.push_back(text_or(from.shipped[i], ""));
  if (from.simulated_sms > 0) out.simulated.sms = from.simulated_sms;
  out.simulated.seed = from.simulated_seed;
  out.simulated.checker = from.simulated_checker != 0;
  if (const auto tell = from.simulated_progress; tell != nullptr) {
    out.simulated.progress = [tell, user = from.simulated_progress_user](const gantry::RunProgress& p) {
      tell(p.share, p.seconds, p.seconds_left(), user);
    };
  }
  if (from.simulated_progress_seconds > 0) out.simulated.progress_seconds = from.simulated_progress_seconds;
  return GANTRY_OK;
}

gantry_status read_expected(const gantry_gemm_options& from, gantry::GemmRequest& out) {
  gantry_status status = check_array("expected rows", from.expected_row_count, from.expected_rows);
  if (status == GANTRY_OK) status = check_array("expected GEMMs", from.expected_gemm_count, from.expected_gemms);
  if (status != GANTRY_OK) return status;
  out.expected_rows.assign(from.expected_rows, from.expected_rows + from.expected_row_count);
  for (int32_t i = 0; i < from.expected_gemm_count; ++i) {
    const gantry_size& e = from.expected_gemms[i];
    out.expected_gemms.push_back({e.m, e.n, e.k, e.batch});
  }
  return GANTRY_OK;
}

gantry_status read_request(const gantry_gemm_options* given, gantry::GemmRequest& out) {
  gantry_gemm_options from = GANTRY_GEMM_OPTIONS;
  from.function_size = 0;  // of a caller whose struct has no such field
  if (const gantry_status status = read_struct("gantry_gemm_options", given, from); status != GANTRY_OK) return status;
  gantry::GemmOptions& o = out.options;
  gantry_status status = read_element("A", from.a, o.a);
  o.b = o.a;
  o.d = gantry::usual_result(o.a);
  if (status == GANTRY_OK) status = read_element("B", from.b, o.b);
  if (status == GANTRY_OK) status = read_element("C", from.c, o.c);
  if (status == GANTRY_OK) status = read_element("D", from.d, o.d);
  if (status != GANTRY_OK) return status;
  out.epilogue = text_or(from.epilogue, "d = acc");
  o.major_a = from.a_is_m_major != 0 ? gantry::Major::MN : gantry::Major::K;
  o.major_b = from.b_is_n_major != 0 ? gantry::Major::MN : gantry::Major::K;
  o.layout_c = from.c_is_column_major != 0 ? gantry::kColumnMajor : gantry::kRowMajor;
  o.layout_d = from.d_is_column_major != 0 ? gantry::kColumnMajor : gantry::kRowMajor;
  o.promote = from.promote != 0;
  constexpr gantry::ScaleMode kModes[] = {gantry::ScaleMode::none, gantry::ScaleMode::row_block,
                                          gantry::ScaleMode::block};
  int mode_a = 0, mode_b = 0;
  status = read_choice("the scale of A", from.scale_a, 2, mode_a);
  if (status == GANTRY_OK) status = read_choice("the scale of B", from.scale_b, 2, mode_b);
  if (status != GANTRY_OK) return status;
  o.scale_a = kModes[mode_a];
  o.scale_b = kModes[mode_b];
  o.tile.m = from.tile_m;
  o.tile.n = from.tile_n;
  o.cluster.m = from.cluster_m;
  o.cluster.n = from.cluster_n;
  o.stages = from.stages;
  status = read_choice("the grouping", from.groups, GANTRY_GROUPS_POINTER_ARRAY, o.groups);
  o.gather_a = from.gather_a != 0;
  if (status == GANTRY_OK) status = read_choice("the scatter", from.scatter_d, GANTRY_SCATTER_ORDERED, o.scatter_d);
  if (status == GANTRY_OK) status = read_choice("the gate", from.gate, GANTRY_GATE_INTERLEAVED, o.gate);
  if (status == GANTRY_OK) status = check_array("functions", from.function_count, from.functions);
  if (status == GANTRY_OK) status = read_expected(from, out);
  if (status != GANTRY_OK) return status;
  for (int i = 0; i < from.function_count; ++i) {
    gantry_function f = {nullptr, nullptr, nullptr};
    status = read_element_of(from.functions, i, from.function_size, kFirstFunction, f);
    if (status != GANTRY_OK) return status;
    out.functions.push_back({text_or(f.name, ""), text_or(f.parameters, ""), text_or(f.body, "")});
  }
  return GANTRY_OK;
}

// Requires a call that is not null.
gantry_status read_call(const gantry_call* given, gantry::GemmCall& out, gantry::RunOptions& options) {
  gantry_call from = GANTRY_CALL;
  from.argument_size = 0;  // of a caller whose struct has no such field
  if (const gantry_status status = read_struct("gantry_call", given, from); status != GANTRY_OK) return status;
  out.m = from.m;
  out.n = from.n;
  out.k = from.k;
  out.batch = from.batch;
  out.a = {from.a.data, from.a.stride, from.a.batch_stride};
  out.b = {from.b.data, from.b.stride, from.b.batch_stride};
  out.c = {from.c.data, from.c.stride, from.c.batch_stride};
  out.d = {from.d.data, from.d.stride, from.d.batch_stride};
  out.dependent = from.dependent != 0;
  out.scale_a = {from.scale_a.data, from.scale_a.stride, from.scale_a.k_stride, from.scale_a.batch_stride};
  out.scale_b = {from.scale_b.data, from.scale_b.stride, from.scale_b.k_stride, from.scale_b.batch_stride};
  out.groups = {from.group_offsets, from.group_counts, reinterpret_cast<const gantry::GemmGroup*>(from.group_gemms)};
  out.gather = {from.gather_index, from.gather_rows};
  out.scatter = {from.scatter_index, from.scatter_rows};
  if (const gantry_status status = check_array("arguments", from.argument_count, from.arguments); status != GANTRY_OK) {
    return status;
  }
  for (int i = 0; i < from.argument_count; ++i) {
    gantry_argument a = GANTRY_ARGUMENT;
    const gantry_status status = read_element_of(from.arguments, i, from.argument_size, kFirstArgument, a);
    if (status != GANTRY_OK) return status;
    if (a.is_number != 0) {
      out.arguments.add({a.name, a.value});
    } else {
      out.arguments.add({a.name, a.data, a.stride, a.batch_stride});
    }
  }
  options.stream = from.stream;
  options.workspace = from.workspace;
  options.workspace_bytes = from.workspace_bytes;
  return read_choice("the check", from.check, GANTRY_CHECK_DEVICE, options.check);
}

gantry_status missing(const char* what) {
  return refuse(CallRule::null_pointer, std::string(what) + " is a null pointer", what);
}

// A call on a gemm, both checked; `body` gets the call.
template <class Body>
gantry_status with_call(const gantry_gemm* gemm, const gantry_call* given, const Body& body) noexcept {
  return guarded([&] {
    if (gemm == nullptr) return missing("the gemm");
    if (given == nullptr) return missing("the call");
    gantry::GemmCall call;
    gantry::RunOptions options;
    const gantry_status status = read_call(given, call, options);
    return status == GANTRY_OK ? body(gemm->function, call, options) : status;
  });
}

int32_t kind_of(const gantry::fusion::Argument& argument) {
  using gantry::fusion::ArgumentKind;
  if (argument.kind != ArgumentKind::reduction) return static_cast<int32_t>(argument.kind);
  return GANTRY_ARGUMENT_REDUCE_SCALAR + static_cast<int32_t>(argument.extent);
}

}  // namespace

int32_t gantry_version(void) { return GANTRY_VERSION; }

const char* gantry_status_name(gantry_status status) {
  if (status == GANTRY_INTERNAL) return "an error inside of Gantry";
  if (status < GANTRY_OK || status > GANTRY_SIMULATION_FAILED) return "unknown status";
  return gantry::to_text(static_cast<StatusCode>(status));
}

const char* gantry_error_message(void) { return last_error.message.c_str(); }
int32_t gantry_error_count(void) { return static_cast<int32_t>(last_error.reasons.size()); }

gantry_status gantry_error_reason(int32_t index, gantry_reason* out) {
  if (out == nullptr || index < 0 || index >= gantry_error_count()) return GANTRY_INVALID_ARGUMENT;
  const gantry::StatusReason& reason = last_error.reasons[static_cast<std::size_t>(index)];
  const auto status =
      last_error.internal ? static_cast<gantry_status>(GANTRY_INTERNAL) : static_cast<gantry_status>(reason.code);
  *out = {status, reason.rule.c_str(), reason.operand.c_str(), reason.actual, reason.nearest, reason.sentence.c_str()};
  return GANTRY_OK;
}

gantry_status gantry_find_element(const char* name, gantry_element* out) {
  return guarded([&] {
    if (name == nullptr || out == nullptr) return missing(name == nullptr ? "the name" : "the place of the element");
    ElementType type = ElementType::void_;
    if (const gantry_status status = read_element("element", name, type); status != GANTRY_OK) return status;
    const gantry::ElementInfo& found = gantry::info(type);
    *out = {found.name, found.python_name, found.bits, 0};
    return static_cast<gantry_status>(GANTRY_OK);
  });
}

gantry_status gantry_context_create(const gantry_context_options* options, gantry_context** out) {
  return guarded([&] {
    if (out == nullptr) return missing("the place of the context");
    *out = nullptr;
    gantry::ContextOptions read;
    if (const gantry_status status = read_options(options, read); status != GANTRY_OK) return status;
    auto made = std::make_unique<gantry_context>(gantry_context{gantry::Context(read), {}});
    if (!made->context.status().ok()) return fail(made->context.status());
    made->notes = made->context.notes().describe();
    *out = made.release();
    return static_cast<gantry_status>(GANTRY_OK);
  });
}

void gantry_context_destroy(gantry_context* context) { delete context; }

int32_t gantry_context_is_simulated(const gantry_context* context) {
  if (context == nullptr) return -1;
  return context->context.is_simulated() ? 1 : 0;
}

void gantry_context_wait_for_compilations(const gantry_context* context) {
  if (context != nullptr) context->context.wait_for_compilations();
}

const char* gantry_context_notes(const gantry_context* context) {
  return context == nullptr ? "" : context->notes.c_str();
}

gantry_status gantry_gemm_create(gantry_context* context, const gantry_gemm_options* options, gantry_gemm** out) {
  return guarded([&] {
    if (out == nullptr) return missing("the place of the gemm");
    *out = nullptr;
    if (context == nullptr) return missing("the context");
    gantry::GemmRequest request;
    if (const gantry_status status = read_request(options, request); status != GANTRY_OK) return status;
    Result<gantry::GemmFunction> made = context->context.gemm(request);
    if (!made) return fail(made.error());
    *out = new gantry_gemm{*made};
    return static_cast<gantry_status>(GANTRY_OK);
  });
}

void gantry_gemm_destroy(gantry_gemm* gemm) { delete gemm; }

int32_t gantry_gemm_argument_count(const gantry_gemm* gemm) {
  return gemm == nullptr ? -1 : gemm->function.graph().argument_count;
}

gantry_status gantry_gemm_argument(const gantry_gemm* gemm, int32_t index, gantry_argument_info* out) {
  return guarded([&] {
    if (gemm == nullptr) return missing("the gemm");
    if (out == nullptr) return missing("the place of the argument");
    const gantry::fusion::Graph& graph = gemm->function.graph();
    if (index < 0 || index >= graph.argument_count) {
      const std::string sentence = "there is no argument " + std::to_string(index) + ": the epilogue has " +
                                   std::to_string(graph.argument_count) + ", counted from 0";
      return refuse(CallRule::index, index, std::max(0, graph.argument_count - 1), sentence);
    }
    const gantry::fusion::Argument& a = graph.arguments[index];
    *out = {a.name.text, to_text(a.element), kind_of(a), a.row_major ? 0 : 1, a.has_default ? 1 : 0, a.block};
    return static_cast<gantry_status>(GANTRY_OK);
  });
}

const char* gantry_gemm_element(const gantry_gemm* gemm, char operand) {
  if (gemm == nullptr) return "void";
  const gantry::GemmOptions& o = gemm->function.options();
  switch (operand) {
    case 'A':
      return to_text(o.a);
    case 'B':
      return to_text(o.b);
    case 'C':
      return to_text(o.c);
    case 'D':
      return to_text(o.d);
    default:
      return "void";
  }
}

gantry_status gantry_gemm_run(const gantry_gemm* gemm, const gantry_call* call) {
  return with_call(gemm, call, [](const auto& function, const auto& read, const auto& options) {
    return result_of(function.run(read, options));
  });
}

gantry_status gantry_gemm_check(const gantry_gemm* gemm, const gantry_call* call) {
  return with_call(gemm, call, [](const auto& function, const auto& read, const auto&) {
    return result_of(function.can_implement(read));
  });
}

gantry_status gantry_gemm_workspace(const gantry_gemm* gemm, const gantry_call* call, size_t* bytes) {
  return with_call(gemm, call, [bytes](const auto& function, const auto& read, const auto&) {
    if (bytes == nullptr) return missing("the place of the number of bytes");
    const Result<std::size_t> needed = function.workspace_bytes(read);
    if (!needed) return fail(needed.error());
    *bytes = *needed;
    return static_cast<gantry_status>(GANTRY_OK);
  });
}

gantry_status gantry_gemm_explain(const gantry_gemm* gemm, const gantry_call* call, char* text, size_t text_size,
                                  size_t* length) {
  return with_call(gemm, call, [&](const auto& function, const auto& read, const auto&) {
    if (text == nullptr && text_size > 0) return missing("the text");
    const Result<gantry::GemmExplanation> explained = function.explain(read);
    if (!explained) return fail(explained.error());
    const std::string whole = explained->text();
    if (length != nullptr) *length = whole.size();
    if (text_size > 0) {
      const std::size_t written = std::min(whole.size(), text_size - 1);
      std::memcpy(text, whole.data(), written);
      text[written] = '\0';
    }
    return static_cast<gantry_status>(GANTRY_OK);
  });
}

gantry_status gantry_gemm_simulate(const gantry_gemm* gemm, const gantry_call* call,
                                   const gantry_simulation_options* given, gantry_report** out) {
  return with_call(gemm, call, [&](const auto& function, const auto& read, auto options) {
    if (out == nullptr) return missing("the place of the report");
    *out = nullptr;
    gantry_simulation_options from = GANTRY_SIMULATION_OPTIONS;
    const gantry_status status = read_struct("gantry_simulation_options", given, from);
    if (status != GANTRY_OK) return status;
    gantry::SimulatedRun run{from.seed, text_or(from.trace_file, ""), {}};
    options.simulated = &run;
    const Status ran = function.run(read, options);
    if (ran.ok() || !run.report.findings.empty()) *out = new gantry_report{run.report.text(), run.report.json()};
    return result_of(ran);
  });
}

void gantry_report_destroy(gantry_report* report) { delete report; }
const char* gantry_report_text(const gantry_report* report) { return report == nullptr ? "" : report->text.c_str(); }
const char* gantry_report_json(const gantry_report* report) { return report == nullptr ? "" : report->json.c_str(); }

gantry_status gantry_gemm_warm_up(const gantry_gemm* gemm, const gantry_size* sizes, int32_t count,
                                  void (*progress)(int32_t done, int32_t all, void* user), void* user) {
  return guarded([&] {
    if (gemm == nullptr) return missing("the gemm");
    if (count < 0 || (count > 0 && sizes == nullptr)) return missing("the array of sizes");
    std::vector<gantry::GemmExtents> extents;
    extents.reserve(static_cast<std::size_t>(count));
    for (int32_t i = 0; i < count; ++i) extents.push_back({sizes[i].m, sizes[i].n, sizes[i].k, sizes[i].batch});
    std::function<void(int, int)> tell;
    if (progress != nullptr) tell = [&](int done, int all) { progress(done, all, user); };
    return result_of(gemm->function.warm_up(extents, tell));
  });
}

int32_t gantry_gemm_kernels(const gantry_gemm* gemm) { return gemm == nullptr ? -1 : gemm->function.kernels(); }

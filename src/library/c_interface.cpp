#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

#include <gantry/context.hpp>
#include <gantry/gantry.h>
#include <gantry/runtime/runtime_rules.hpp>

#include "c_structs.hpp"

static_assert(static_cast<int>(gantry::StatusCode::ok) == GANTRY_OK &&
              static_cast<int>(gantry::StatusCode::invalid_argument) == GANTRY_INVALID_ARGUMENT &&
              static_cast<int>(gantry::StatusCode::unsupported) == GANTRY_UNSUPPORTED &&
              static_cast<int>(gantry::StatusCode::no_device) == GANTRY_NO_DEVICE &&
              static_cast<int>(gantry::StatusCode::no_kernel) == GANTRY_NO_KERNEL &&
              static_cast<int>(gantry::StatusCode::compile_failed) == GANTRY_COMPILE_FAILED &&
              static_cast<int>(gantry::StatusCode::device_failed) == GANTRY_DEVICE_FAILED &&
              static_cast<int>(gantry::StatusCode::out_of_memory) == GANTRY_OUT_OF_MEMORY &&
              static_cast<int>(gantry::StatusCode::simulation_failed) == GANTRY_SIMULATION_FAILED);

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
using namespace gantry::c_interface;  // NOLINT(google-build-using-namespace): this file is its other half

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
      last_error().internal = true;
    } catch (...) {  // there is no memory for the sentence: the status says enough
    }
    return GANTRY_INTERNAL;
  } catch (...) {
    return GANTRY_INTERNAL;
  }
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

const char* gantry_error_message(void) { return last_error().message.c_str(); }
int32_t gantry_error_count(void) { return static_cast<int32_t>(last_error().reasons.size()); }

gantry_status gantry_error_reason(int32_t index, gantry_reason* out) {
  const int32_t count = gantry_error_count();
  if (out == nullptr) return guarded([] { return missing("the place of the reason"); });
  if (index < 0 || index >= count) {
    return guarded([&] {
      const std::string sentence = "there is no reason " + std::to_string(index) + ": the last call that failed had " +
                                   std::to_string(count) + ", counted from 0";
      return refuse(CallRule::index, index, std::max(0, count - 1), sentence);
    });
  }
  const gantry::StatusReason& reason = last_error().reasons[static_cast<std::size_t>(index)];
  const auto status =
      last_error().internal ? static_cast<gantry_status>(GANTRY_INTERNAL) : static_cast<gantry_status>(reason.code);
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
    if (const gantry_status status = check_array("sizes", count, sizes); status != GANTRY_OK) return status;
    std::vector<gantry::GemmExtents> extents;
    extents.reserve(static_cast<std::size_t>(count));
    for (int32_t i = 0; i < count; ++i) extents.push_back({sizes[i].m, sizes[i].n, sizes[i].k, sizes[i].batch});
    std::function<void(int, int)> tell;
    if (progress != nullptr) tell = [&](int done, int all) { progress(done, all, user); };
    return result_of(gemm->function.warm_up(extents, tell));
  });
}

int32_t gantry_gemm_kernels(const gantry_gemm* gemm) { return gemm == nullptr ? -1 : gemm->function.kernels(); }

#include "c_structs.hpp"

#include <cstddef>
#include <type_traits>

#include <gantry/gemm/pointer_array.hpp>
#include <gantry/numeric/element_name.hpp>
#include <gantry/runtime/printable.hpp>

static_assert(sizeof(gantry_group) == sizeof(gantry::GemmGroup) &&
              offsetof(gantry_group, a) == offsetof(gantry::GemmGroup, a) &&
              offsetof(gantry_group, stride_d) == offsetof(gantry::GemmGroup, stride_d) &&
              sizeof(gantry_group_tensor) == sizeof(gantry::GemmGroupTensor));
static_assert(static_cast<int>(gantry::GemmSchedule::automatic) == GANTRY_SCHEDULE_AUTOMATIC &&
              static_cast<int>(gantry::GemmSchedule::cooperative) == GANTRY_SCHEDULE_COOPERATIVE &&
              static_cast<int>(gantry::GemmSchedule::pingpong) == GANTRY_SCHEDULE_PINGPONG);

namespace gantry::c_interface {

namespace {

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

}  // namespace

LastError& last_error() {
  static thread_local LastError kept;
  return kept;
}

gantry_status fail(const Status& status) {
  LastError& kept = last_error();
  kept.reasons = status.reasons();
  kept.message = status.describe();
  kept.internal = false;
  return static_cast<gantry_status>(status.code());
}

gantry_status refuse(CallRule rule, const std::string& sentence, const std::string& operand) {
  Status out;
  out.add({.rule = to_text(rule), .operand = operand, .sentence = sentence});
  return fail(out);
}

gantry_status refuse(CallRule rule, std::int64_t actual, std::int64_t nearest, const std::string& sentence) {
  Status out;
  out.add({.rule = to_text(rule), .actual = actual, .nearest = nearest, .sentence = sentence});
  return fail(out);
}

gantry_status read_element(const char* operand, const char* text, ElementType& out) {
  if (text == nullptr) return GANTRY_OK;
  const ParsedElementType parsed = parse_element_type(text);
  if (!parsed.ok) {
    const std::string sentence = std::string(operand) + ": " + runtime::one_line(parsed.problem.c_str());
    return refuse(CallRule::element_type, sentence, operand);
  }
  out = parsed.type;
  return GANTRY_OK;
}

std::string text_or(const char* text, const char* other) { return text == nullptr ? other : text; }

gantry_status check_array(const char* what, int32_t count, const void* array) {
  if (count == 0 || (count > 0 && array != nullptr)) return GANTRY_OK;
  const std::string sentence =
      count < 0 ? "the number of " + std::string(what) + " is " + std::to_string(count) + ": it is 0 or more"
                : "there are " + std::to_string(count) + " " + what +
                      ", and their array is missing: it has as many, or both are 0";
  return refuse(CallRule::array_missing, sentence, what);
}

gantry_status read_options(const gantry_context_options* given, ContextOptions& out) {
  gantry_context_options from = GANTRY_CONTEXT_OPTIONS;
  gantry_status status = read_struct("gantry_context_options", given, from);
  MachineKind kinds[] = {MachineKind::automatic, MachineKind::gpu, MachineKind::simulated};
  CompilePolicy policies[] = {CompilePolicy::background, CompilePolicy::wait, CompilePolicy::never};
  int machine = 0, policy = 0;
  if (status == GANTRY_OK) status = read_choice("the machine", from.machine, 2, machine);
  if (status == GANTRY_OK) status = read_choice("the policy", from.policy, 2, policy);
  if (status == GANTRY_OK) status = check_array("shipped folders", from.shipped_count, from.shipped);
  if (status != GANTRY_OK) return status;
  out.machine = kinds[machine];
  out.policy = policies[policy];
  out.device = from.device;
  if (from.most_kernels != 0) out.most_kernels = from.most_kernels;
  if (from.most_plans != 0) out.most_plans = from.most_plans;
  out.compile_threads = from.compile_threads;
  out.cache_directory = text_or(from.cache_directory, "");
  out.tuning_file = text_or(from.tuning_file, "");
  for (int i = 0; i < from.shipped_count; ++i) out.shipped.push_back(text_or(from.shipped[i], ""));
  if (from.simulated_sms != 0) out.simulated.sms = from.simulated_sms;
  out.simulated.seed = from.simulated_seed;
  out.simulated.checker = from.simulated_checker != 0;
  if (const auto tell = from.simulated_progress; tell != nullptr) {
    out.simulated.progress = [tell, user = from.simulated_progress_user](const RunProgress& p) {
      tell(p.share, p.seconds, p.seconds_left(), user);
    };
  }
  if (from.simulated_progress_seconds != 0) out.simulated.progress_seconds = from.simulated_progress_seconds;
  return GANTRY_OK;
}

namespace {

gantry_status read_expected(const gantry_gemm_options& from, GemmRequest& out) {
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

}  // namespace

gantry_status read_request(const gantry_gemm_options* given, GemmRequest& out) {
  gantry_gemm_options from = GANTRY_GEMM_OPTIONS;
  from.function_size = 0;  // of a caller whose struct has no such field
  if (const gantry_status status = read_struct("gantry_gemm_options", given, from); status != GANTRY_OK) return status;
  GemmOptions& o = out.options;
  gantry_status status = read_element("A", from.a, o.a);
  o.b = o.a;
  o.d = usual_result(o.a);
  if (status == GANTRY_OK) status = read_element("B", from.b, o.b);
  if (status == GANTRY_OK) status = read_element("C", from.c, o.c);
  if (status == GANTRY_OK) status = read_element("D", from.d, o.d);
  if (status != GANTRY_OK) return status;
  out.epilogue = text_or(from.epilogue, "d = acc");
  o.major_a = from.a_is_m_major != 0 ? Major::MN : Major::K;
  o.major_b = from.b_is_n_major != 0 ? Major::MN : Major::K;
  o.layout_c = from.c_is_column_major != 0 ? kColumnMajor : kRowMajor;
  o.layout_d = from.d_is_column_major != 0 ? kColumnMajor : kRowMajor;
  o.promote = from.promote != 0;
  constexpr ScaleMode kModes[] = {ScaleMode::none, ScaleMode::row_block, ScaleMode::block};
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
  if (status == GANTRY_OK) status = read_choice("the schedule", from.schedule, GANTRY_SCHEDULE_PINGPONG, o.schedule);
  o.swapped = from.swapped != 0;
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

gantry_status read_call(const gantry_call* given, GemmCall& out, RunOptions& options) {
  gantry_call from = GANTRY_CALL;
  from.argument_size = 0;  // of a caller whose struct has no such field
  from.dependent = GANTRY_DEPENDENT_OFF;
  if (const gantry_status status = read_struct("gantry_call", given, from); status != GANTRY_OK) return status;
  out.m = from.m;
  out.n = from.n;
  out.k = from.k;
  out.batch = from.batch;
  out.a = {from.a.data, from.a.stride, from.a.batch_stride};
  out.b = {from.b.data, from.b.stride, from.b.batch_stride};
  out.c = {from.c.data, from.c.stride, from.c.batch_stride};
  out.d = {from.d.data, from.d.stride, from.d.batch_stride};
  int dependent = 0;
  const gantry_status how = read_choice("dependent", from.dependent, GANTRY_DEPENDENT_AUTOMATIC, dependent);
  if (how != GANTRY_OK) return how;
  if (dependent != GANTRY_DEPENDENT_AUTOMATIC) out.dependent = dependent == GANTRY_DEPENDENT_ON;
  out.scale_a = {from.scale_a.data, from.scale_a.stride, from.scale_a.k_stride, from.scale_a.batch_stride};
  out.scale_b = {from.scale_b.data, from.scale_b.stride, from.scale_b.k_stride, from.scale_b.batch_stride};
  out.groups = {from.group_offsets, from.group_counts, reinterpret_cast<const GemmGroup*>(from.group_gemms)};
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

}  // namespace gantry::c_interface

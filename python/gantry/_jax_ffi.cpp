// GEMMs as XLA FFI calls, on the CPU (the simulated SM) and on CUDA devices. Built where JAX is installed, against the
// headers that come with jaxlib.
//
// A call is described by attributes alone, so that a compiled program can be kept and loaded by another process:
//   a, b, c, d, epilogue   elements and text, as gantry_gemm_options has them; c is empty where there is none
//   functions              name, parameters and body of each, separated by the character 31
//   numbers                a_is_m_major, b_is_n_major, promote, m, n, k, batch, tile (2), cluster (2), stages, gate,
//                          groups, the modes of the scales of A and B, the rows of a gathered A, then stride and batch
//                          stride of A, B, C, D, then stride, K stride and batch stride of the scales of A and B
//   extras                 operands behind A, B and C that are no arguments, by the letters of their names: offsets and
//                          counts of groups, scales of A and B, the index that gathers rows
//   arguments              names of the epilogue's arguments: arrays first, in the order of operands behind the extras,
//                          then outputs, in the order of results behind D, then numbers; separated by commas
//   strides                stride and batch stride of each argument that is an array
//   values                 of the arguments that are numbers
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <sys/uio.h>
#include <unistd.h>

#include <gantry/gantry.h>

#include "xla/ffi/api/ffi.h"

namespace {

namespace ffi = xla::ffi;

constexpr int kNumbers = 17, kMatrices = 4, kScales = 2;
constexpr std::size_t kFirstStride = kNumbers, kFirstScaleStride = kNumbers + 2 * kMatrices;
constexpr std::size_t kWorkspaceAlignment = 256;
constexpr std::size_t kScratchAlignment = 16;  // XLA refuses to give more

ffi::Error refused(gantry_status status) {
  const auto code = status == GANTRY_INVALID_ARGUMENT ? ffi::ErrorCode::kInvalidArgument
                    : status == GANTRY_UNSUPPORTED    ? ffi::ErrorCode::kUnimplemented
                    : status == GANTRY_OUT_OF_MEMORY  ? ffi::ErrorCode::kResourceExhausted
                                                      : ffi::ErrorCode::kInternal;
  return ffi::Error(code, gantry_error_message());
}

std::vector<std::string> split(std::string_view text, char separator) {
  // No streams in here: a compiler may link its own libstdc++, whose locales are not those of the process.
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    out.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// Folders of kernels that came with the package; handed over before the first call.
std::vector<std::string>& shipped() {
  static std::vector<std::string> folders;
  return folders;
}

// Contexts live as long as the process: one for each GPU, and the simulated SM as device -1.
gantry_status context_of(int device, gantry_context** out) {
  static std::mutex mutex;
  static std::map<int, gantry_context*> all;
  const std::lock_guard<std::mutex> lock(mutex);
  gantry_context*& found = all[device];
  gantry_status status = GANTRY_OK;
  if (found == nullptr) {
    gantry_context_options options = GANTRY_CONTEXT_OPTIONS;
    options.machine = device < 0 ? GANTRY_MACHINE_SIMULATED : GANTRY_MACHINE_GPU;
    options.device = device < 0 ? 0 : device;
    if (device < 0) options.most_kernels = 1;
    std::vector<const char*> folders;
    for (const std::string& folder : shipped()) folders.push_back(folder.c_str());
    options.shipped = folders.data();
    options.shipped_count = static_cast<std::int32_t>(folders.size());
    status = gantry_context_create(&options, &found);
  }
  *out = found;
  return status;
}

struct Gemm {
  gantry_gemm* handle = nullptr;
  std::size_t workspace = 0;  // what the last run was asked for
};

// The attributes of a call.
struct Request {
  std::string a, b, c, d, epilogue, extras;
  std::vector<std::string> functions, arguments;
  std::vector<std::int64_t> numbers, expected, strides;
  std::vector<float> values;

  std::string key(int device) const {
    std::string out = std::to_string(device);
    for (const std::string* x : {&a, &b, &c, &d, &epilogue, &extras}) out += '\1' + *x;
    for (const std::string& x : functions) out += '\1' + x;
    for (const std::string& x : arguments) out += '\2' + x;
    for (const std::int64_t x : numbers) out += '\3' + std::to_string(x);
    for (const std::int64_t x : strides) out += '\4' + std::to_string(x);
    for (const std::int64_t x : expected) out += '\6' + std::to_string(x);
    for (const float x : values) out += x == 0 ? "\0051" : "\0050";
    return out;
  }

  gantry_status make(int device, gantry_gemm** out) const {
    gantry_context* context = nullptr;
    if (const gantry_status status = context_of(device, &context); status != GANTRY_OK) return status;
    gantry_gemm_options o = GANTRY_GEMM_OPTIONS;
    std::vector<gantry_function> own;
    for (std::size_t i = 0; i + 2 < functions.size(); i += 3) {
      own.push_back({functions[i].c_str(), functions[i + 1].c_str(), functions[i + 2].c_str()});
    }
    o.a = a.c_str();
    o.b = b.c_str();
    o.c = c.empty() ? nullptr : c.c_str();
    o.d = d.c_str();
    o.epilogue = epilogue.c_str();
    o.a_is_m_major = static_cast<std::int32_t>(numbers[0]);
    o.b_is_n_major = static_cast<std::int32_t>(numbers[1]);
    o.promote = static_cast<std::int32_t>(numbers[2]);
    o.tile_m = static_cast<std::int32_t>(numbers[7]);
    o.tile_n = static_cast<std::int32_t>(numbers[8]);
    o.cluster_m = static_cast<std::int32_t>(numbers[9]);
    o.cluster_n = static_cast<std::int32_t>(numbers[10]);
    o.stages = static_cast<std::int32_t>(numbers[11]);
    o.gate = static_cast<std::int32_t>(numbers[12]);
    o.groups = static_cast<std::int32_t>(numbers[13]);
    o.scale_a = static_cast<std::int32_t>(numbers[14]);
    o.scale_b = static_cast<std::int32_t>(numbers[15]);
    o.gather_a = extras.find('g') != std::string::npos ? 1 : 0;
    o.functions = own.data();
    o.function_count = static_cast<std::int32_t>(own.size());
    o.expected_rows = expected.data();
    o.expected_row_count = static_cast<std::int32_t>(expected.size());
    return gantry_gemm_create(context, &o, out);
  }
};

// Gemms live as long as the process, one for each request: programs that XLA compiled come back to them.
struct Gemms {
  std::mutex mutex;
  std::map<std::string, Gemm> all;
};
Gemms& gemms() {
  static auto* out = new Gemms;
  return *out;
}

ffi::ErrorOr<Request> read(const ffi::Dictionary& attributes) {
  Request out;
  struct Text {
    const char* name;
    std::string* to;
  };
  std::string functions, arguments;
  const Text texts[] = {{"a", &out.a},
                        {"b", &out.b},
                        {"c", &out.c},
                        {"d", &out.d},
                        {"epilogue", &out.epilogue},
                        {"extras", &out.extras},
                        {"functions", &functions},
                        {"arguments", &arguments}};
  for (const Text& text : texts) {
    const auto got = attributes.get<std::string_view>(text.name);
    if (!got.has_value()) return ffi::Unexpected(got.error());
    *text.to = std::string(*got);
  }
  const auto numbers = attributes.get<ffi::Span<const std::int64_t>>("numbers");
  const auto expected = attributes.get<ffi::Span<const std::int64_t>>("expected");
  const auto strides = attributes.get<ffi::Span<const std::int64_t>>("strides");
  const auto values = attributes.get<ffi::Span<const float>>("values");
  if (!numbers.has_value()) return ffi::Unexpected(numbers.error());
  if (!expected.has_value()) return ffi::Unexpected(expected.error());
  if (!strides.has_value()) return ffi::Unexpected(strides.error());
  if (!values.has_value()) return ffi::Unexpected(values.error());
  out.functions = split(functions, '\x1f');
  out.arguments = split(arguments, ',');
  out.numbers.assign(numbers->begin(), numbers->end());
  out.expected.assign(expected->begin(), expected->end());
  out.strides.assign(strides->begin(), strides->end());
  out.values.assign(values->begin(), values->end());
  const bool whole = out.numbers.size() == kFirstScaleStride + 3 * kScales &&
                     out.arguments.size() == out.strides.size() / 2 + out.values.size();
  if (!whole)
    return ffi::Unexpected(ffi::Error(ffi::ErrorCode::kInvalidArgument, "gantry: attributes of another version"));
  return out;
}

// The call of a request with its buffers.
struct Filled {
  gantry_call call = GANTRY_CALL;
  std::vector<gantry_argument> arguments;

  bool fill(const Request& r, const std::vector<void*>& inputs, const std::vector<void*>& outputs) {
    const bool has_c = !r.c.empty();
    const std::size_t first_extra = has_c ? 3 : 2, matrices = first_extra + r.extras.size();
    if (inputs.size() < matrices || outputs.empty() ||
        inputs.size() - matrices + outputs.size() - 1 != r.strides.size() / 2) {
      return false;
    }
    call.m = r.numbers[3];
    call.n = r.numbers[4];
    call.k = r.numbers[5];
    call.batch = r.numbers[6];
    gantry_matrix* const all[kMatrices] = {&call.a, &call.b, &call.c, &call.d};
    void* const data[kMatrices] = {inputs[0], inputs[1], has_c ? inputs[2] : nullptr, outputs[0]};
    for (int i = 0; i < kMatrices; ++i) {
      const std::size_t at = kFirstStride + 2 * static_cast<std::size_t>(i);
      *all[i] = {data[i], r.numbers[at], r.numbers[at + 1]};
    }
    for (std::size_t i = 0; i < r.extras.size(); ++i) set_extra(r, r.extras[i], inputs[first_extra + i]);
    for (std::size_t i = 0; i < r.arguments.size(); ++i) {
      gantry_argument one = GANTRY_ARGUMENT;
      one.name = r.arguments[i].c_str();
      const std::size_t arrays = r.strides.size() / 2, in = inputs.size() - matrices;
      if (i < arrays) {
        one.data = i < in ? inputs[matrices + i] : outputs[1 + i - in];
        one.stride = r.strides[2 * i];
        one.batch_stride = r.strides[2 * i + 1];
      } else {
        one.is_number = 1;
        one.value = r.values[i - arrays];
      }
      arguments.push_back(one);
    }
    call.arguments = arguments.data();
    call.argument_count = static_cast<std::int32_t>(arguments.size());
    return true;
  }

 private:
  void set_extra(const Request& r, char name, const void* data) {
    const auto scale = [&](std::size_t which) {
      const std::int64_t* strides = &r.numbers[kFirstScaleStride + 3 * which];
      return gantry_scale{static_cast<const float*>(data), strides[0], strides[1], strides[2]};
    };
    const auto* integers = static_cast<const std::int32_t*>(data);
    if (name == 'o') call.group_offsets = integers;
    if (name == 'c') call.group_counts = integers;
    if (name == 'a') call.scale_a = scale(0);
    if (name == 'b') call.scale_b = scale(1);
    if (name == 'g') {
      call.gather_index = integers;
      call.gather_rows = r.numbers[16];
    }
  }
};

// What the last run lacked, where that is why it was refused.
std::optional<std::size_t> missing_workspace() {
  for (std::int32_t i = 0; i < gantry_error_count(); ++i) {
    gantry_reason reason{};
    if (gantry_error_reason(i, &reason) == GANTRY_OK && std::strcmp(reason.rule, "workspace_too_small") == 0) {
      return static_cast<std::size_t>(reason.nearest);
    }
  }
  return std::nullopt;
}

// Buffers without elements have no address. One that nothing lies at stands for it, far from those of the others.
void* address_of(const ffi::AnyBuffer& buffer, std::size_t place) {
  return buffer.size_bytes() > 0 ? buffer.untyped_data() : reinterpret_cast<void*>((place + 1) << 40);
}

// False for memory of a device, which the simulated SM would die of.
bool is_of_host(const ffi::AnyBuffer& buffer) {
  char byte = 0;
  const iovec here{&byte, 1}, there{buffer.untyped_data(), 1};
  return buffer.size_bytes() == 0 || process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1 || errno != EFAULT;
}

ffi::Error not_of_host() {
  return ffi::Error(ffi::ErrorCode::kInvalidArgument,
                    "gantry: an operand is memory of a device, and XLA called the handler for the host");
}

// The first multiple of `alignment`, a power of two, from `memory` on.
void* aligned(void* memory, std::size_t alignment) {
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  return reinterpret_cast<void*>((at + alignment - 1) & ~(alignment - 1));
}

// Runs on a device; `launch` runs a call with the workspace that the caller gives.
template <class Launch>
ffi::Error run(int device, void* stream, ffi::RemainingArgs in, ffi::RemainingRets out,
               const ffi::Dictionary& attributes, const Launch& launch) {
  ffi::ErrorOr<Request> request = read(attributes);
  if (!request.has_value()) return request.error();
  std::vector<void*> inputs, outputs;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto buffer = in.get<ffi::AnyBuffer>(i);
    if (!buffer.has_value()) return buffer.error();
    if (device < 0 && !is_of_host(*buffer)) return not_of_host();
    inputs.push_back(address_of(*buffer, i));
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    auto buffer = out.get<ffi::AnyBuffer>(i);
    if (!buffer.has_value()) return buffer.error();
    if (device < 0 && !is_of_host(**buffer)) return not_of_host();
    outputs.push_back(address_of(**buffer, in.size() + i));
  }
  Filled filled;
  if (!filled.fill(*request, inputs, outputs)) {
    return ffi::Error(ffi::ErrorCode::kInvalidArgument, "gantry: the operands are not those of the attributes");
  }
  filled.call.stream = stream;
  Gemm found;
  const std::string key = request->key(device);
  {
    const std::lock_guard<std::mutex> lock(gemms().mutex);
    Gemm& kept = gemms().all[key];
    if (kept.handle == nullptr) {
      if (const gantry_status status = request->make(device, &kept.handle); status != GANTRY_OK) return refused(status);
    }
    found = kept;
  }
  return launch(key, found, filled.call);
}

ffi::Error done(gantry_status status) { return status == GANTRY_OK ? ffi::Error::Success() : refused(status); }

ffi::Error run_on_host(ffi::RemainingArgs in, ffi::RemainingRets out, ffi::Dictionary attributes) {
  return run(-1, nullptr, in, out, attributes, [](const std::string&, const Gemm& gemm, gantry_call& call) {
    return done(gantry_gemm_run(gemm.handle, &call));
  });
}

ffi::Error run_on_cuda(void* stream, std::int32_t device, ffi::ScratchAllocator allocator, ffi::RemainingArgs in,
                       ffi::RemainingRets out, ffi::Dictionary attributes) {
  return run(device, stream, in, out, attributes, [&](const std::string& key, Gemm gemm, gantry_call& call) {
    // A size that is new, or has a better kernel since, says by its refusal what it needs.
    for (;;) {
      // With no bytes any address says that the workspace is the caller's.
      call.workspace = call.d.data;
      call.workspace_bytes = gemm.workspace;
      if (gemm.workspace > 0) {
        const std::optional<void*> memory = allocator.Allocate(gemm.workspace + kWorkspaceAlignment, kScratchAlignment);
        if (!memory.has_value())
          return ffi::Error(ffi::ErrorCode::kResourceExhausted, "gantry: XLA has no memory for workspace");
        call.workspace = aligned(*memory, kWorkspaceAlignment);
      }
      const gantry_status status = gantry_gemm_run(gemm.handle, &call);
      const std::optional<std::size_t> needed = status == GANTRY_OK ? std::nullopt : missing_workspace();
      if (!needed || *needed <= gemm.workspace) return done(status);
      gemm.workspace = *needed;
      const std::lock_guard<std::mutex> lock(gemms().mutex);
      gemms().all[key] = gemm;
    }
  });
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(gantry_jax_host, run_on_host, ffi::Ffi::Bind().RemainingArgs().RemainingRets().Attrs());

XLA_FFI_DEFINE_HANDLER_SYMBOL(gantry_jax_cuda, run_on_cuda,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::PlatformStream<void*>>()
                                  .Ctx<ffi::DeviceOrdinal>()
                                  .Ctx<ffi::ScratchAllocator>()
                                  .RemainingArgs()
                                  .RemainingRets()
                                  .Attrs(),
                              {ffi::Traits::kCmdBufferCompatible});

extern "C" void gantry_jax_add_shipped(const char* folder) { shipped().emplace_back(folder); }

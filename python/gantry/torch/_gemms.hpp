// GEMMs of tensors on libgantry's C interface: what PyTorch's operators in _operators.cpp are made of.
//
// Invariant: outputs and workspace are torch's, of the current stream, so that a captured graph owns what it replays. A
// gantry_gemm lives as long as the process, one for each text, element and pair of majors.
//
// Example:
//   Product p{{kLinear, 0, element_code(x.scalar_type())}, rows_of(x), rows_of(weight), d.data_ptr(), d.size(-1)};
//   if (!run(p)) copy what the library refused, and try again;
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <ATen/ops/empty.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <gantry/gantry.h>

namespace gantry_torch {

using at::Tensor;
using Bias = std::optional<Tensor>;

// ---- What Python hands over

enum Operator : std::uint8_t { kLinear, kLinearKept, kInputGrad, kWeightGrad, kDgrad, kGated, kGatedKept, kGatedDgrad };

constexpr int kNoElement = 0;

// 0 where no kernel takes the element.
inline int element_code(at::ScalarType type) {
  switch (type) {
    case at::kBFloat16:
      return 1;
    case at::kHalf:
      return 2;
    case at::kFloat:
      return 3;
    default:
      return kNoElement;
  }
}

struct Activation {
  std::string name;
  bool keeps_mask = false;
};

// Filled while the package is loaded, and only read afterwards.
struct Tables {
  std::unordered_map<std::uint32_t, std::string> texts;
  std::vector<Activation> activations;
  std::vector<std::string> shipped;  // folders of kernels that came with the package

  static std::uint32_t key(int op, std::int64_t activation, int element, int bias) {
    return static_cast<std::uint32_t>(((op * 256 + activation) * 4 + element) * 4 + bias);
  }
};
inline Tables& tables() {
  static auto* out = new Tables;
  return *out;
}

// ---- GEMMs: one for each text, element and pair of majors, for as long as the process lives

struct Form {
  Operator op;
  std::int64_t activation = 0;
  int element = 0, bias = kNoElement;
  std::int64_t gate = 0;
  bool a_is_m_major = false, b_is_n_major = false;
  int device = -1;  // -1: the simulated SM

  std::uint64_t key() const {
    const std::uint64_t text = Tables::key(op, activation, element, bias);
    return (((text * 4 + static_cast<std::uint64_t>(gate)) * 2 + (a_is_m_major ? 1 : 0)) * 2 + (b_is_n_major ? 1 : 0)) *
               256 +
           static_cast<std::uint64_t>(device + 1);
  }
};

struct Size {
  std::int64_t m, n, k;
  bool operator==(const Size& other) const { return m == other.m && n == other.n && k == other.k; }
};
struct HashSize {
  std::size_t operator()(const Size& s) const {
    return static_cast<std::size_t>((s.m * 1000003 + s.n) * 1000003 + s.k);
  }
};

struct Gemm {
  gantry_gemm* handle = nullptr;
  std::mutex mutex;
  std::unordered_map<Size, std::size_t, HashSize> workspace;

  std::size_t workspace_of(const Size& size) {
    const std::lock_guard<std::mutex> lock(mutex);
    return workspace[size];
  }
  void needs(const Size& size, std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex);
    workspace[size] = bytes;
  }
};

[[noreturn]] inline void fail() { TORCH_CHECK(false, gantry_error_message()); }

struct Contexts {
  std::mutex mutex;
  std::unordered_map<int, gantry_context*> of_device;
};
inline Contexts& contexts() {
  static auto* all = new Contexts;
  return *all;
}

inline gantry_context* context_of(int device) {
  const std::lock_guard<std::mutex> lock(contexts().mutex);
  gantry_context*& found = contexts().of_device[device];
  if (found == nullptr) {
    gantry_context_options options = GANTRY_CONTEXT_OPTIONS;
    options.machine = device < 0 ? GANTRY_MACHINE_SIMULATED : GANTRY_MACHINE_GPU;
    options.device = device < 0 ? 0 : device;
    if (device < 0) options.most_kernels = 1;
    std::vector<const char*> folders;
    for (const std::string& folder : tables().shipped) folders.push_back(folder.c_str());
    options.shipped = folders.data();
    options.shipped_count = static_cast<std::int32_t>(folders.size());
    if (gantry_context_create(&options, &found) != GANTRY_OK) fail();
  }
  return found;
}

inline gantry_gemm* make_gemm(const Form& form) {
  gantry_gemm_options options = GANTRY_GEMM_OPTIONS;
  options.a = form.element == 1 ? "bf16" : "f16";
  options.epilogue = tables().texts.at(Tables::key(form.op, form.activation, form.element, form.bias)).c_str();
  options.a_is_m_major = form.a_is_m_major ? 1 : 0;
  options.b_is_n_major = form.b_is_n_major ? 1 : 0;
  options.gate = static_cast<std::int32_t>(form.gate);
  gantry_gemm* out = nullptr;
  if (gantry_gemm_create(context_of(form.device), &options, &out) != GANTRY_OK) fail();
  return out;
}

inline Gemm& gemm_of(const Form& form) {
  static auto* mutex = new std::shared_mutex;
  static auto* all = new std::unordered_map<std::uint64_t, std::unique_ptr<Gemm>>;
  const std::uint64_t key = form.key();
  {
    const std::shared_lock<std::shared_mutex> lock(*mutex);
    if (const auto at = all->find(key); at != all->end()) return *at->second;
  }
  const std::unique_lock<std::shared_mutex> lock(*mutex);
  std::unique_ptr<Gemm>& made = (*all)[key];
  if (made == nullptr) {
    auto fresh = std::make_unique<Gemm>();
    fresh->handle = make_gemm(form);
    made = std::move(fresh);
  }
  return *made;
}

// ---- Operands

// A matrix of rows; `owner` keeps its memory.
struct Matrix {
  Tensor owner;
  std::int64_t rows, columns, row_step, column_step;

  Matrix transposed() const { return {owner, columns, rows, column_step, row_step}; }
};

// All dimensions but the last as rows. Copies where the strides of rows are not even.
inline Matrix rows_of(const Tensor& x) {
  const std::int64_t columns = x.size(-1);
  if (x.dim() == 2 && (x.stride(0) == 1 || x.stride(1) == 1) && x.stride(0) != 0 && x.stride(1) != 0) {
    return {x, x.size(0), columns, x.stride(0), x.stride(1)};
  }
  const Tensor packed = x.contiguous();
  return {packed, columns == 0 ? 0 : packed.numel() / columns, columns, columns, 1};
}

// The matrix as libgantry takes it; `across`: its elements lie next to each other along rows.
inline gantry_matrix operand(const Matrix& x, bool& across) {
  constexpr std::int64_t kLine = 8;  // elements of 16 bytes, in which lines begin
  across = x.column_step != 1;
  const std::int64_t lines = across ? x.columns : x.rows, length = across ? x.rows : x.columns;
  const std::int64_t step = across ? x.column_step : x.row_step;
  return {x.owner.data_ptr(), lines > 1 ? step : (length + kLine - 1) / kLine * kLine, -1};
}

// An output or an argument of rows that lie `step` elements apart.
inline gantry_argument argument(const char* name, void* data, std::int64_t step = -1) {
  gantry_argument out = GANTRY_ARGUMENT;
  out.name = name;
  out.data = data;
  out.stride = step;
  return out;
}

// Whether kernels multiply these: two or more dimensions of elements on one device.
inline bool multiplies(const Tensor& x, const Tensor& weight) {
  const int element = element_code(x.scalar_type());
  return (element == 1 || element == 2) && weight.scalar_type() == x.scalar_type() && weight.device() == x.device() &&
         x.dim() >= 1 && weight.dim() >= 1 && x.numel() > 0 && weight.numel() > 0;
}

struct Product {
  Form form;
  Matrix a, b;
  void* d;
  std::int64_t d_step;
  std::array<gantry_argument, 4> arguments{};
  int count = 0;

  void add(const gantry_argument& one) { arguments[static_cast<std::size_t>(count++)] = one; }
};

inline void* current_stream(const c10::Device& device) {
  return device.is_cuda() ? c10::impl::VirtualGuardImpl(device.type()).getStream(device).native_handle() : nullptr;
}

// The bytes of workspace that the last call was refused for want of; none where it was refused for another reason.
inline std::optional<std::size_t> missing_workspace() {
  for (std::int32_t i = 0; i < gantry_error_count(); ++i) {
    gantry_reason reason;
    if (gantry_error_reason(i, &reason) == GANTRY_OK && std::string(reason.rule) == "workspace_too_small") {
      return static_cast<std::size_t>(reason.nearest);
    }
  }
  return std::nullopt;
}

// False where libgantry refuses the operands as they lie.
inline bool run(Product& p) {
  const c10::Device device = p.a.owner.device();
  p.form.device = device.is_cuda() ? device.index() : -1;
  gantry_call call = GANTRY_CALL;
  call.m = p.a.rows;
  call.n = p.b.rows;
  call.k = p.a.columns;
  call.a = operand(p.a, p.form.a_is_m_major);
  call.b = operand(p.b, p.form.b_is_n_major);
  call.d = {p.d, p.d_step, -1};
  call.arguments = p.arguments.data();
  call.argument_count = p.count;
  call.stream = current_stream(device);
  Gemm& gemm = gemm_of(p.form);
  const Size size{call.m, call.n, call.k};
  // A size that is new says by its refusal what it needs: only a run knows whether its stream is being captured.
  for (std::size_t bytes = gemm.workspace_of(size);;) {
    Tensor memory;
    if (bytes > 0) memory = at::empty({static_cast<std::int64_t>(bytes)}, p.a.owner.options().dtype(at::kByte));
    call.workspace = bytes > 0 ? memory.data_ptr() : p.d;
    call.workspace_bytes = bytes;
    const gantry_status status = gantry_gemm_run(gemm.handle, &call);
    if (status == GANTRY_OK) return true;
    if (status == GANTRY_UNSUPPORTED) return false;
    if (status != GANTRY_INVALID_ARGUMENT) fail();
    const std::optional<std::size_t> needed = missing_workspace();
    if (!needed || *needed <= bytes) return false;
    gemm.needs(size, bytes = *needed);
  }
}

}  // namespace gantry_torch

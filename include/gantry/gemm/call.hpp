// One GEMM as a program asks for it at run time: sizes, matrices, and the epilogue's arguments by name. No template;
// element types are the kernel's.
//
// Example:
//     using namespace gantry;
//     alignas(16) static std::uint16_t a[64 * 64], b[64 * 64], d[64 * 64];
//     static float bias[64];
//     const GemmCall call{.m = 64, .n = 64, .k = 64, .a = a, .b = b, .d = d, .arguments = {{"bias", bias}, {"beta", 2}}};
#pragma once

#include <initializer_list>
#include <optional>

#include <gantry/epilogue/fusion/arguments.hpp>
#include <gantry/gemm/problem.hpp>
#include <gantry/gemm/scales.hpp>

namespace gantry {

// An argument of the epilogue: a number, or an address with its strides in elements.
struct GemmCallArgument {
  const char* name = nullptr;
  void* data = nullptr;
  float value = 0;  // where there is no address
  bool is_number = false;
  std::int64_t stride = kPacked, batch_stride = kPacked;

  GemmCallArgument() = default;
  GemmCallArgument(const char* the_name, float number) : name(the_name), value(number), is_number(true) {}
  GemmCallArgument(const char* the_name, int number) : GemmCallArgument(the_name, static_cast<float>(number)) {}
  GemmCallArgument(const char* the_name, double number) : GemmCallArgument(the_name, static_cast<float>(number)) {}
  GemmCallArgument(const char* the_name, const void* address, std::int64_t row = kPacked, std::int64_t batch = kPacked)
      : name(the_name), data(const_cast<void*>(address)), stride(row), batch_stride(batch) {}  // NOLINT: inputs stay so
};

// As many as a graph has at most; what is given beyond that is counted.
class GemmCallArguments {
 public:
  GemmCallArguments() = default;
  GemmCallArguments(std::initializer_list<GemmCallArgument> all) {
    for (const GemmCallArgument& one : all) add(one);
  }

  void add(const GemmCallArgument& one) {
    if (given_ < fusion::kMaxArguments) all_[given_] = one;
    ++given_;
  }
  // The most that a graph has, or fewer.
  int count() const { return given_ < fusion::kMaxArguments ? given_ : fusion::kMaxArguments; }
  int given() const { return given_; }
  const GemmCallArgument& operator[](int i) const { return all_[i]; }

 private:
  GemmCallArgument all_[fusion::kMaxArguments];
  int given_ = 0;
};

// D = epilogue(A B^T) for each batch: A is M x K, B is N x K, C and D are M x N. With groups, M rows of A and D (or K
// rows of A and B) are those of all groups: grouped.hpp.
struct GemmCall {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t batch = 1;
  GemmMatrix<const void> a{}, b{}, c{};
  GemmMatrix<void> d{};
  GemmCallArguments arguments{};
  // On a GPU: the kernel may start before the one before it in the stream has ended, and touches memory only after
  // that. Empty: where a gain is expected, which GemmFunction knows; kernels of one configuration take it for false.
  std::optional<bool> dependent{};
  // Factors of blocks of A and B, where the options have them.
  GemmScale scale_a{}, scale_b{};
  GemmGroups groups{};    // of a grouped GEMM, whose options say along which mode; `batch` counts them
  GemmGather gather{};    // where the options gather rows of A
  GemmScatter scatter{};  // where they scatter rows of D

  GemmExtents extents() const { return {m, n, k, batch}; }
};

// The arguments of a graph as a call gives them; names that the graph has not, and kinds that are wrong, are reasons of
// the result.
inline fusion::FusionArguments arguments_of(const GemmCall& call, const fusion::Graph& graph) {
  fusion::FusionArguments out(graph);
  for (int i = 0; i < call.arguments.count(); ++i) {
    const GemmCallArgument& from = call.arguments[i];
    auto slot = out[from.name == nullptr ? "" : from.name];
    if (from.is_number) {
      slot = from.value;
    } else {
      slot.tensor(from.data, from.stride, from.batch_stride);
    }
  }
  return out;
}

}  // namespace gantry

// A GEMM as it is asked for at run time: options and the text of its epilogue. And the C++ that says the same, for
// sources that are compiled at run time.
//
// Invariant: nothing of the expression reaches a source but as a string literal of printable ASCII; the body of a
// function is C++, and reaches it as it is.
//
// Example:
//     using namespace gantry::runtime;
//     const GemmSpec spec{.options = {.tile = {.m = 128, .n = 128}}, .expression = "d = gelu(acc + row(bias))"};
//     const std::string source = spec_source(spec);  // struct Product { static constexpr GemmOptions options{ ...
//     const gantry::Result<DesignedSpec> designed = design_spec(spec);
//     if (!designed) throw designed.error().describe();
#pragma once

#include <string>
#include <vector>

#include <gantry/gemm/design.hpp>
#include <gantry/runtime/status.hpp>

namespace gantry::runtime {

// A function of the user's own that an expression may call, as C++ text: it takes one to three floats and gives one.
// It becomes a part of the kernel, on both machines: who gives it decides what runs.
struct FunctionText {
  std::string name{};        // as expressions call it
  std::string parameters{};  // their names, "x" or "x, y"
  std::string body{};        // "return x > 0 ? x : 0.5f * x;"

  friend bool operator==(const FunctionText&, const FunctionText&) = default;
};

struct GemmSpec {
  GemmOptions options{};
  std::string expression = "d = acc";
  std::vector<FunctionText> functions{};
};

// A specification read and designed, before anything is compiled; or every reason why there is no design.
struct DesignedSpec {
  fusion::Graph graph{};
  GemmDesign design{};
};
Result<DesignedSpec> design_spec(const GemmSpec& spec);
// Whether the expression can be read, and uses C.
bool uses_source(const GemmSpec& spec);

// `struct Product { ... };` as Gemm<Spec> takes it, with the includes that it needs and `using namespace gantry`.
// Requires options without problems and an expression that can be read.
std::string spec_source(const GemmSpec& spec);

// In a line, for messages and for whoever lists the cache.
std::string spec_title(const GemmSpec& spec);

}  // namespace gantry::runtime

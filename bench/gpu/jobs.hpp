// The four epilogues that the benchmarks of GEMMs measure, by name and as text. Includes nothing, so that sources which
// are compiled against the headers of another commit can use it.
//
//   const char* expression = expression_of(Job::bias_gelu);  // "d = gelu_tanh(acc + row(bias:bf16))"
#pragma once

namespace gantry::bench {

enum class Job { plain, c, bias_gelu, bias_gelu_aux };

constexpr const char* name_of(Job job) {
  constexpr const char* kNames[] = {"plain", "+C", "bias+gelu", "bias+gelu+aux"};
  return kNames[static_cast<int>(job)];
}

constexpr const char* expression_of(Job job) {
  constexpr const char* kExpressions[] = {"d = acc", "d = acc + c", "d = gelu_tanh(acc + row(bias:bf16))",
                                          "aux:bf16 = acc + row(bias:bf16); d = gelu_tanh(aux)"};
  return kExpressions[static_cast<int>(job)];
}

}  // namespace gantry::bench

// What a program and a product that it compiled at run time say to each other: plain C, so that neither needs to have
// been built with the other's library or flags.
//
// The shared object exports one function, gantry_gemm, which gives a table of functions. Texts are written into the
// caller's memory and end with a zero; what does not fit is left out.
//
// Example:
//     using namespace gantry::runtime;
//     char text[256] = {};
//     GemmAbiText out{text, sizeof text};
//     out.append("the stride is ");
//     out.append("100");
//     GemmAbiProblem problem;
//     problem.m = problem.n = problem.k = 128;
#pragma once

#include <cstddef>
#include <cstdint>

namespace gantry::runtime {

// Changes whenever anything below does.
inline constexpr int kGemmAbi = 2;
inline constexpr char kGemmAbiSymbol[] = "gantry_gemm";

// Strides count elements; -1: packed.
struct GemmAbiMatrix {
  void* data = nullptr;
  std::int64_t stride = -1, batch_stride = -1;
};

// An argument of the epilogue, by name: a number, or an address with its strides.
struct GemmAbiArgument {
  const char* name = nullptr;
  void* data = nullptr;
  float value = 0;  // where there is no address
  std::int64_t stride = -1, batch_stride = -1;
};

struct GemmAbiProblem {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  GemmAbiMatrix a{}, b{}, c{}, d{};
  const GemmAbiArgument* arguments = nullptr;
  int argument_count = 0;
  void* workspace = nullptr;  // of the machine, as GemmWorkspace has it; null: the plan has its own
  std::size_t workspace_bytes = 0;
  bool dependent = false;  // a run may start before the kernel before it has ended (GemmArguments::dependent)
};

struct GemmAbiText {
  char* data = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;

  void append(const char* text) {
    if (size == 0) return;
    while (*text != '\0' && used + 1 < size) data[used++] = *text++;
    data[used] = '\0';
  }
};

struct GemmAbi {
  int abi;
  // One line: tile, schedule, cluster, elements, and how it is staged.
  void (*describe)(GemmAbiText* out);
  // How many reasons there are why the product cannot run; each is a line.
  int (*can_implement)(const GemmAbiProblem* problem, GemmAbiText* out);
  std::size_t (*workspace_bytes)(const GemmAbiProblem* problem);
  // A plan, with what it will do in words; or null, with the reasons.
  void* (*plan)(const GemmAbiProblem* problem, GemmAbiText* out);
  // Launches into a stream, 0 being the default one. Returns 0, or 1 with the reason.
  int (*run)(const void* plan, void* stream, GemmAbiText* out);
  void (*destroy)(void* plan);
};

using GemmAbiEntry = const GemmAbi*();

}  // namespace gantry::runtime

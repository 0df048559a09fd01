// The file of `--problems`: the GEMMs of a pointer array, "M N K" a line. What follows a # is a remark, and lines may
// be empty. What cannot be read is refused with the number of its line.
#pragma once

#include <string>
#include <vector>

#include <gantry/epilogue/fusion/graph.hpp>
#include <gantry/gemm/options.hpp>
#include <gantry/gemm/problem.hpp>
#include <gantry/runtime/status.hpp>

namespace gantry::tool {

struct ReadGemms {
  std::vector<GemmExtents> gemms{};
  std::vector<int> lines{};  // on which each stands
  Status status{};
};
ReadGemms read_gemms(const std::string& path);

// A reason for each GEMM of the file that no kernel computes, as TMA cannot write its D or its tensors.
Status why_left_out(const std::string& path, const GemmOptions& options, const fusion::Graph& graph);

}  // namespace gantry::tool

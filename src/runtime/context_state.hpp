// What the functions of one context share.
#pragma once

#include <gantry/runtime/chooser.hpp>
#include <gantry/runtime/context.hpp>
#include <gantry/runtime/gemm.hpp>

#include "compile_queue.hpp"
#include "workspaces.hpp"

namespace gantry {

struct Context::State {
  ContextOptions options;
  runtime::Device device;
  Status status;
  std::vector<std::string> notes;
  runtime::KernelCache cache;
  std::unique_ptr<runtime::KernelCompiler> compiler;
  TuningFile tuning;
  runtime::Workspaces workspaces;
  runtime::CompileQueue queue;  // last: its threads end before the rest does

  explicit State(const ContextOptions& asked);
};

}  // namespace gantry

// What the functions of one context share.
#pragma once

#include <gantry/context.hpp>
#include <gantry/runtime/chooser.hpp>

#include "compile_queue.hpp"
#include "machine.hpp"

namespace gantry {

struct Context::State {
  ContextOptions options;
  runtime::Device device;
  Status status;
  Status notes;
  runtime::KernelCache cache;
  TuningFile tuning;
  std::unique_ptr<Machine> machine;  // null where status says why
  bool simulated = false;
  runtime::CompileQueue queue;  // last: its threads end before the rest does

  explicit State(const ContextOptions& asked);
};

}  // namespace gantry

// The workspace of a plan: partial accumulators of split-K, and partial results of deterministic reductions.
//
// It is the plan's own, or given; either way it is cleared when the plan is made, and a run leaves it as it was.
//
// Example:
//     using namespace gantry;
//     ArgumentReasons reasons;
//     alignas(16) static unsigned char memory[64];
//     const detail::PlanWorkspace small({.data = memory, .bytes = sizeof memory}, 4096, true, reasons);
//     const bool too_small = reasons.has(ArgumentRule::workspace_too_small);
#pragma once

#include <gantry/epilogue/argument_rules.hpp>
#include <gantry/gemm/device.hpp>

namespace gantry {

// Device memory, aligned to 16 bytes. Without any the plan allocates its own.
struct GemmWorkspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

namespace detail {

// A workspace that was given, or that could be allocated.
GANTRY_COLD GANTRY_LINKAGE void check_workspace(const GemmWorkspace& given, const void* workspace, std::size_t needed,
                                                ArgumentReasons& out);
// That it could not be cleared.
GANTRY_COLD GANTRY_LINKAGE void add_uncleared(const LaunchResult& cleared, ArgumentReasons& out);

class PlanWorkspace {
 public:
  PlanWorkspace() = default;
  // `bytes` of zeros on the device; or every reason why not, added to `out`.
  GANTRY_COLD PlanWorkspace(const GemmWorkspace& given, std::size_t bytes, bool simulated, ArgumentReasons& out) {
    const int before = out.size();
    if (given.data == nullptr) owned_ = MachineMemory(bytes, simulated ? MemoryKind::host : MemoryKind::device);
    data_ = given.data == nullptr ? owned_.data() : given.data;
    check_workspace(given, data_, bytes, out);
    if (out.size() > before) return;
    const LaunchResult cleared = clear_memory(data_, bytes, simulated);
    if (!cleared) add_uncleared(cleared, out);
  }

  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  MachineMemory owned_{};
};

}  // namespace detail

}  // namespace gantry

#if GANTRY_DEFINES_PLANNING
#include <gantry/gemm/detail/workspace_definitions.hpp>
#endif

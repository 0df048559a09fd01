// Workspace of GEMMs, one for each stream: runs of one stream follow each other and can share it.
//
// The first kSplitFlagBytes are zeros before and after every run (the flags of split-K); the rest is anybody's. One
// that was outgrown is kept: a run that is not launched yet, or a CUDA graph that was recorded, may have its address.
// Each is at least twice as large as the one before, so that this costs no more than as much again.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include <gantry/gemm/planner.hpp>
#include <gantry/runtime/device.hpp>
#include <gantry/runtime/status.hpp>

namespace gantry::runtime {

class Workspaces {
 public:
  explicit Workspaces(const Device& device) : device_(device) {}

  // For a plan's needs: its partial sums begin at the workspace, and where it has none, reductions begin there.
  static std::size_t bytes_for(const GemmWorkspaceNeeds& needs);
  static void* begin_for(const GemmWorkspaceNeeds& needs, void* workspace);

  // At least so many bytes for a stream, which nobody else launches with while this lives: what a run launches stays
  // together.
  struct Lease {
    void* data = nullptr;
    std::unique_lock<std::mutex> turn{};
  };
  Expected<Lease> get(void* stream, std::size_t bytes);
  // Makes a caller's ready for one run in a stream, whatever it holds.
  Status prepare(void* workspace, std::size_t bytes, const GemmWorkspaceNeeds& needs, void* stream) const;

 private:
  struct One {
    std::mutex turn;
    DeviceBuffer memory;
    std::vector<DeviceBuffer> outgrown;
  };

  Device device_;
  std::mutex mutex_;
  std::map<void*, One> by_stream_;
};

}  // namespace gantry::runtime

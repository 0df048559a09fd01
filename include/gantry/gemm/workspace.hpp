// The workspace of a plan: partial accumulators of split-K, and partial results of deterministic reductions.
//
// It is the plan's own, or given; either way it is cleared when the plan is made, and a run leaves it as it was.
//
// Example:
//     using namespace gantry;
//     std::vector<std::string> problems;
//     alignas(16) static unsigned char memory[64];
//     const detail::PlanWorkspace small({.data = memory, .bytes = sizeof memory}, 4096, true, problems);
//     // "the workspace has 64 bytes: this product takes 4096 on this device"
#pragma once

#include <string>
#include <vector>

#include <gantry/arch/detail/sentence.hpp>
#include <gantry/gemm/device.hpp>

namespace gantry {

// Device memory, aligned to 16 bytes. Without any the plan allocates its own.
struct GemmWorkspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

namespace detail {

class PlanWorkspace {
 public:
  PlanWorkspace() = default;
  // `bytes` of zeros on the device; or every reason why not, added to `problems`.
  GANTRY_COLD PlanWorkspace(const GemmWorkspace& given, std::size_t bytes, bool simulated,
                            std::vector<std::string>& problems) {
    const std::size_t before = problems.size();
    if (given.data == nullptr) {
      owned_ = MachineMemory(bytes, simulated ? MemoryKind::host : MemoryKind::device);
      if (owned_.data() == nullptr) {
        problems.push_back(sentence({"there is no memory left for ", bytes, " bytes of workspace"}));
      }
    } else if (given.bytes < bytes) {
      problems.push_back(
          sentence({"the workspace has ", given.bytes, " bytes: this product takes ", bytes, " on this device"}));
    } else if (const auto beyond = reinterpret_cast<std::uintptr_t>(given.data) % 16; beyond != 0) {
      problems.push_back(
          sentence({"the workspace begins ", beyond, " bytes beyond a multiple of 16; the next address that works is ",
                    16 - beyond, " bytes further"}));
    }
    if (problems.size() > before) return;
    data_ = given.data == nullptr ? owned_.data() : given.data;
    const std::string problem = clear_memory(data_, bytes, simulated);
    if (!problem.empty()) problems.push_back(problem);
  }

  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  MachineMemory owned_{};
};

}  // namespace detail

}  // namespace gantry

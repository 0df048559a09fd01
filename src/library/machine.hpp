// The machine of a context, a GPU or the simulated SM: it loads kernels, has workspace, and runs what was planned.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <gantry/context.hpp>
#include <gantry/runtime/cache.hpp>
#include <gantry/runtime/gemm_spec.hpp>

#include "planned_gemm.hpp"

namespace gantry {

// A kernel of one design, loaded.
class MachineGemm {
 public:
  virtual ~MachineGemm() = default;

  virtual const GemmDesign& design() const = 0;
  // Tile, schedule, cluster, elements, and how the epilogue is staged.
  virtual std::string describe() const = 0;
  // Where it comes from: compiled now, or the cache.
  virtual const std::string& origin() const = 0;
  virtual std::string explain(const runtime::PlannedGemm& plan, const GemmCall& call) const = 0;

  // Requires a call that it can implement.
  virtual Result<runtime::PlannedGemm> plan_sizes(const GemmCall& call) const = 0;
  virtual Status run(const runtime::PlannedGemm& plan, const runtime::GemmAddresses& addresses, void* workspace,
                     const RunOptions& options) const = 0;
};

class Machine {
 public:
  virtual ~Machine() = default;

  virtual Architecture architecture() const = 0;
  // As a tuning file names it; empty: measurements of GPUs are not for it.
  virtual std::string device_name() const = 0;

  virtual Result<std::shared_ptr<const MachineGemm>> load(const runtime::KernelCache& cache,
                                                          const runtime::GemmSpec& spec) const = 0;
  // Nothing where the cache has none; why none of its entries can be used, where it has some.
  virtual std::optional<Result<std::shared_ptr<const MachineGemm>>> load_if_kept(
      const runtime::KernelCache& cache, const runtime::GemmSpec& spec) const = 0;

  // The stream records a CUDA graph: nothing can be loaded.
  virtual bool is_recording(void* stream) const = 0;

  // At least so many bytes for a stream, which nobody else launches with while this lives: what a run launches stays
  // together.
  struct Lease {
    void* data = nullptr;
    std::shared_ptr<void> memory{};  // is there as long as the turn
    std::unique_lock<std::mutex> turn{};
  };
  virtual Result<Lease> workspace(void* stream, std::size_t bytes) = 0;
  // Makes so many bytes at the beginning of a caller's workspace zeros, in its stream.
  virtual Status clear(void* workspace, std::size_t bytes, void* stream) const = 0;
  // Copies bytes of the device to the host when all that the stream has been given is done. Requires one that does not
  // record.
  virtual Status read(void* to, const void* from, std::size_t bytes, void* stream) const = 0;
};

std::unique_ptr<Machine> make_gpu_machine(const runtime::Device& device);
std::unique_ptr<Machine> make_simulated_machine(const SimulatedMachineOptions& options);

}  // namespace gantry

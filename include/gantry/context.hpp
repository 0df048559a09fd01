// The library for sizes known at run time: a context chooses the kernel for each size, compiles what is missing, keeps
// plans, and launches.
//
//   Context         a machine (a GPU, or the simulated SM), its kernel cache, tuning file and compiler
//   GemmFunction    a GEMM of given elements and epilogue; run it with any sizes
//
// Both are handles that may be copied and used by many threads at once. run() of a size that it has seen neither
// allocates nor synchronises, and can be recorded into a CUDA graph. What happens where the best kernel for a size is
// not there is ContextOptions::policy. Runs of one stream share a workspace of the context's, and what a stream records
// into CUDA graphs another: two graphs that were recorded from one stream do not run at once. A caller with an
// allocator of its own, or with such graphs, gives one.
//
// Example at namespace scope:
//     inline gantry::Status layer(void* a, void* b, void* bias, void* d, void* stream) {
//       static const gantry::Context context;
//       static const auto gelu = context.gemm({.epilogue = "d = gelu(acc + row(bias))"});
//       if (!gelu) return gelu.error();
//       return gelu->run({.m = 4096, .n = 4096, .k = 4096, .a = a, .b = b, .d = d, .arguments = {{"bias", bias}}},
//                        {.stream = stream});
//     }
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gantry/arch/simulator.hpp>
#include <gantry/gemm/call.hpp>
#include <gantry/gemm/options.hpp>
#include <gantry/runtime/device.hpp>
#include <gantry/runtime/gemm_spec.hpp>
#include <gantry/runtime/status.hpp>

namespace gantry {

enum class CompilePolicy : std::uint8_t {
  background,  // run the best kernel that is there, and compile a better one meanwhile; the first one is waited for
  wait,        // compile the best kernel before running
  never,       // run the best kernel that is there: in the cache, or shipped
};

enum class MachineKind : std::uint8_t {
  automatic,  // a GPU where there is one that can be used, else the simulated SM
  gpu,
  simulated,
};

// How far a simulated run is.
struct RunProgress {
  double share = 0;    // that is done, from 0 to 1
  double seconds = 0;  // since it began

  // An estimate for the rest; negative: the share says too little about it.
  double seconds_left() const { return share > 0.01 ? seconds * (1 - share) / share : -1; }
};

// The simulated SM, which behaves as an H200's. Kernels for it are compiled by the C++ compiler that is there. A run
// ends before it returns, works on the host's memory, and fails where the checker finds a mistake.
struct SimulatedMachineOptions {
  int sms = 8;  // that hold a CTA each, at most 4096
  std::uint64_t seed = 0;
  bool checker = true;
  // Called when a run begins, every so many seconds while it goes on, and, with a share of 1, when it has ended well.
  // By one thread at a time for each run, not necessarily the caller's, and never after the run has returned. It does
  // not throw, and runs nothing in this context.
  std::function<void(const RunProgress&)> progress{};
  double progress_seconds = 1;
};

struct ContextOptions {
  MachineKind machine = MachineKind::gpu;
  int device = 0;  // number of the GPU
  SimulatedMachineOptions simulated{};
  CompilePolicy policy = CompilePolicy::background;
  // Compiled for one GemmFunction, for each set of tensors of C, D and the epilogue that TMA addresses; a new size
  // beyond that gets the best of those. What the policy never finds in the cache, or among shipped ones, is not
  // bounded.
  int most_kernels = 16;
  int most_plans = 1024;               // kept for one GemmFunction; those that were not used for longest go
  int compile_threads = 0;             // 0: half of the processors
  std::string cache_directory{};       // empty: as KernelCache::default_directory() says
  std::vector<std::string> shipped{};  // folders of kernels that came with a program; see GemmFunction::warm_up
  std::string tuning_file{};           // empty: as runtime::tuning_path() says
};

// What a GemmFunction computes. Options that are left open are chosen for each size. Where the epilogue uses C and its
// element is void, it is D's.
struct GemmRequest {
  GemmOptions options{};
  std::string epilogue = "d = acc";
  std::vector<runtime::FunctionText> functions{};  // of the user's own, that the epilogue calls
  std::optional<fusion::Graph> graph{};            // the epilogue as a value, in place of the text
  // What groups may be, whose sizes the device alone knows, and by which a kernel is chosen: a distribution, of as many
  // entries as there are groups, or fewer. Of groups along M or K their rows, of M or of K; of a pointer array sizes,
  // and in `batch` how many of the GEMMs have them. Empty: each group has the mean, each GEMM the call's sizes.
  std::vector<std::int64_t> expected_rows{};
  std::vector<GemmExtents> expected_gemms{};
};

// One run on the simulated SM with a seed and a trace of its own, and what the checker reported of it.
struct SimulatedRun {
  std::uint64_t seed = 0;
  std::string trace_file{};  // a Chrome trace of the run, if not empty
  Report report{};           // where there was nothing to run: of no kernel, completed
};

// device: before the launch, run() waits for the stream, copies what groups and indices of rows are from the device,
// and checks it. Where one is wrong, nothing is launched, and the status has a reason for each. Not in a stream that
// records a CUDA graph.
enum class RunCheck : std::uint8_t { none, device };

struct RunOptions {
  void* stream = nullptr;
  // Memory of the device at a multiple of 16 bytes, with any contents, that nobody else uses while this runs. Null: the
  // context's own.
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  // On the simulated SM; null: with the context's seed, and the report is in the status.
  SimulatedRun* simulated = nullptr;
  RunCheck check = RunCheck::none;
};

// What a run does, in sentences.
struct GemmExplanation {
  std::string kernel{};             // its tile, schedule, cluster, elements and staging
  std::string choice{};             // why that one, and how it was come by
  std::string plan{};               // tiles, shared memory, bytes and operations
  bool gains_as_dependent = false;  // runs in a row gain from GemmCall::dependent

  std::string text() const { return choice + "\n" + plan; }
};

// Made by Context::gemm. One that is made without a context, or was moved from, computes nothing, and every call says
// so.
class GANTRY_API GemmFunction {
 public:
  Status run(const GemmCall& call, const RunOptions& options = {}) const;

  // Every reason why the call cannot run; none: it can.
  Status can_implement(const GemmCall& call) const;
  // What a run of these sizes needs, where RunOptions gives workspace.
  Result<std::size_t> workspace_bytes(const GemmCall& call) const;
  Result<GemmExplanation> explain(const GemmCall& call) const;

  // Compiles and loads the kernels of these sizes, several at once, and returns when they are there. Sizes that no GEMM
  // can have are a reason each, and stop no other. `progress` is called with how many of how many are done, by one
  // thread at a time.
  Status warm_up(const std::vector<GemmExtents>& sizes,
                 const std::function<void(int done, int all)>& progress = {}) const;
  // Until nothing is being compiled for it.
  void wait_for_compilations() const;

  // What it computes: the request's options, with C's element where the epilogue uses C, and the epilogue.
  const GemmOptions& options() const;
  const fusion::Graph& graph() const;

  // How many kernels are loaded, and how many plans are kept.
  int kernels() const;
  int plans() const;

 private:
  friend class Context;
  struct GANTRY_INSIDE State;

  std::shared_ptr<State> state_;
};

class GANTRY_API Context {
 public:
  // Where there is no GPU that can be used, status() says why, and everything that is asked of it says the same.
  explicit Context(const ContextOptions& options = {});

  const Status& status() const;
  bool is_simulated() const;
  // Of a simulated machine: none.
  const runtime::Device& device() const;
  // What is worth knowing and stops nothing, a reason for each: a cache that is not used, lines of a tuning file that
  // cannot be read.
  const Status& notes() const;
  // Until none of its functions has a kernel that is being compiled.
  void wait_for_compilations() const;

  Result<GemmFunction> gemm(const GemmRequest& request) const;

  struct GANTRY_INSIDE State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace gantry

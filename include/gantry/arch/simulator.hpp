// The simulated SM: runs a kernel on the CPU, thread by thread, and reports races, missing fences, misused barriers and
// deadlocks.
//
// Threads are fibers, chosen by a seeded scheduler; TMA copies and wgmmas complete at times drawn from the seed, within
// the rules of the hardware. A checker follows every byte of shared and global memory. The same options and kernel give
// the same run, so a finding is replayed by its seed. A run without findings is evidence, not proof.
//
// Example at namespace scope:
//     inline std::string findings(gantry::Simulator::Entry kernel, const void* params) {
//       const gantry::Report report = gantry::Simulator({.seed = 7}).run({.grid = {4}, .block = {128}}, kernel, params);
//       return report.clean() ? "" : report.text();
//     }
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gantry/arch/kernel.hpp>
#include <gantry/arch/launch_config.hpp>
#include <gantry/hardware/architecture.hpp>

namespace gantry {

enum class Schedule : std::uint8_t { round_robin, random, pct, replay, directed };

// When asynchronous operations take effect: as soon as issued, at random, as late as possible, or a mixture drawn for
// each.
enum class Latency : std::uint8_t { eager, random, late, mixed };

// What to do to one call site, to see whether the checker objects.
enum class MutationKind : std::uint8_t { none, drop, more_bytes, fewer_bytes, flip_parity, relax };
struct Mutation {
  MutationKind kind = MutationKind::none;
  std::string file;
  int line = 0;
  std::string operation;
};

// Memory of the host that a kernel may access.
struct GlobalAllocation {
  const void* data = nullptr;
  std::size_t bytes = 0;
  std::string name{};  // in reports
};

// What a run throws where its trace cannot be written.
struct TraceNotWritten : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct SimulatorOptions {
  std::uint64_t seed = 0;
  Schedule schedule = Schedule::random;
  Latency latency = Latency::mixed;
  bool checker = true;
  int resident_clusters = 4;  // how many clusters run at the same time
  int pct_depth = 3;
  std::uint64_t max_steps = 50'000'000;  // then the run counts as a livelock
  int max_findings = 16;
  std::size_t stack_bytes = 64 * 1024;
  int watchdog_seconds = 10;          // of the host's CPU time that a thread may take without an operation; 0: for ever
  bool resident_may_grow = true;      // where all resident clusters wait, more are started, up to what the chip holds
  Architecture architecture = kH200;  // its limits, and how many clusters it holds
  bool record = false;                // keep the choices, for Schedule::replay
  std::vector<std::uint32_t> choices{};  // to replay
  Mutation mutation{};
  std::vector<GlobalAllocation> global{};  // accesses that leave one of them are reported
  bool strict_global = false;              // and so are those to anything else but parameters and tensors of maps
  std::string trace_file{};                // a Chrome trace of the run, if not empty
  std::string command{};  // what runs this kernel, for reports: they add the options that replay the run
};

// One violated rule. `rule` names a page of docs/reference/hazards.
struct Finding {
  std::string rule;
  std::string text;
  std::string file;  // of the operation that was caught
  int line = 0;
  std::uint64_t count = 1;  // how many times, at the same places
};

// A place in the kernel that synchronises, and how often it ran.
struct SiteUse {
  std::string file;
  int line = 0;
  std::string operation;
  std::uint64_t count = 0;
};

struct Report {
  std::string kernel;
  std::uint64_t seed = 0;
  Schedule schedule = Schedule::random;
  Latency latency = Latency::mixed;
  std::string command{};   // of the options
  bool completed = false;  // every thread returned
  std::uint64_t steps = 0;
  std::vector<Finding> findings;
  std::vector<Finding> notes;  // not wrong on any machine, and not promised either: a report with notes may be clean
  std::vector<SiteUse> sites;
  std::vector<std::uint32_t> choices;

  bool clean() const { return completed && findings.empty(); }
  GANTRY_API bool has(const std::string& rule) const;
  GANTRY_API bool notes_rule(const std::string& rule) const;
  GANTRY_API std::string replay() const;  // the options, or the command, that give the same run
  GANTRY_API std::string text() const;
  GANTRY_API std::string json() const;
};

class Simulator {
 public:
  using Entry = void (*)(const void* params, SharedMemory shared);

  // A kernel and what it is launched with.
  struct Call {
    LaunchConfig config{};
    Entry entry = nullptr;
    const void* params = nullptr;
    std::size_t params_bytes = 0;  // 0: not known
  };

  GANTRY_LINKAGE explicit Simulator(SimulatorOptions options = {});

  // Registers memory that kernels may access: what lies right beside it is reported from now on.
  GANTRY_LINKAGE Simulator& allow_global(const void* data, std::size_t bytes, std::string name = {});

  Report run(const LaunchConfig& config, Entry entry, const void* params) const;

  // Kernels as launched into one stream. One that is `dependent` starts as soon as every CTA of the kernel before it
  // has ended or executed `griddepcontrol_launch_dependents`, and then both run together.
  Report run_in_order(const std::vector<Call>& calls) const;

  // The call of a kernel type. Requires: `params` lives until the run.
  template <class Kernel>
  static Call call_of(const LaunchConfig& config, const typename Kernel::Params& params) {
    return {config,
            [](const void* p, SharedMemory shared) {
              Kernel::run(*static_cast<const typename Kernel::Params*>(p), shared);
            },
            &params, sizeof params};
  }

  template <class Kernel>
  Report run(const LaunchConfig& config, const typename Kernel::Params& params) const {
    // The type is written out: in a template nvcc 13 loses the braces of a list of one.
    return run_in_order(std::vector<Call>{call_of<Kernel>(config, params)});
  }

  const SimulatorOptions& options() const { return options_; }

 private:
  SimulatorOptions options_;
};

}  // namespace gantry

#if GANTRY_DEFINES_PLANNING
#include <gantry/arch/detail/simulator_definitions.hpp>
#endif

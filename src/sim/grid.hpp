// A simulated run: chooses which of its threads goes on, lets asynchronous operations take effect, and holds what the
// threads share.
//
// One `Grid` exists for each run; `self()` is the thread that is running on it now. Where a thread lives (launches,
// clusters, CTAs) is in `launches.hpp`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gantry/arch/detail/machine.hpp>
#include <gantry/arch/simulator.hpp>

#include "agents.hpp"
#include "checker.hpp"
#include "findings.hpp"
#include "flags.hpp"
#include "global_memory.hpp"
#include "host_faults.hpp"
#include "launches.hpp"
#include "names.hpp"
#include "poison.hpp"
#include "policy.hpp"
#include "polling.hpp"
#include "sites.hpp"
#include "tensormap.hpp"
#include "trace.hpp"

namespace gantry::sim {

class Grid {
 public:
  Grid(const std::vector<Simulator::Call>& calls, const SimulatorOptions& options);

  Report run();

  // Scheduling, called on behalf of the running thread.
  void yield();                          // someone else may go first
  void yield_at(const void* word);       // the same, before an operation on a word by which threads synchronise
  void block(const Waiting& what);       // until `wake`
  void poll(const Waiting& what);        // until what it looks at has changed
  void poll_point(const Waiting& what);  // before a look: lets others run; waits if nothing has changed since the last
  void wake(Thread& thread);
  void resume_later();  // woken by its own arrival: goes on when chosen again
  // Something that a thread may look for has changed: these bytes, or anything else.
  void changed(const void* address, std::uint64_t bytes);
  void changed() {
    ++changes_;
    idle_looks_ = 0;
  }
  // Every operation: a thread that calls one after the other, and none that lets others run, is interrupted.
  void tick() {
    if (++turn_ < kLongestTurn) return;
    step_ += kLongestTurn;
    yield();
  }
  // Looks until a try_wait gives up. Under every other seed it never sleeps for long: what comes too early then shows.
  int tries() { return static_cast<int>(tries_.below(impatient_ ? 4 : 8)); }
  void stop_if_aborting() {
    if (aborting_) leave();
  }
  [[noreturn]] void stop();  // the launch cannot go on, as after a fault on the hardware

  bool aborting() const { return aborting_; }
  bool runs_a_thread() const { return running_ != nullptr; }
  std::uint64_t progress() const { return step_ + turn_; }  // changes with every operation

  // The running thread did what would have ended the host process; it does not go on.
  [[noreturn]] void host_fault(HostFault kind, const void* address);
  std::uint64_t step() const { return step_; }
  const SimulatorOptions& options() const { return options_; }
  bool checking() const { return options_.checker; }
  bool polling() const { return polling_.anyone(); }

  void make_room(std::uint32_t slots) { policy_->grow(slots); }
  // A thread that has just come into being can run.
  void ready(const Thread& thread) { policy_->ready(thread.slot); }
  // What a thread's fiber runs.
  static void enter(void* argument);

  Sites& sites() { return sites_; }
  Findings& findings() { return findings_; }
  Launches& launches() { return launches_; }
  Names& names() { return names_; }
  Checker& checker() { return checker_; }
  Agents& agents() { return agents_; }
  TensorMaps& maps() { return maps_; }
  Flags& flags() { return flags_; }
  Poison& poison() { return poison_; }
  GlobalMemory& global_memory() { return global_memory_; }
  Trace* trace() { return trace_.get(); }  // null: not asked for

  Cta* shared_owner(const void* pointer) const { return launches_.shared_owner(pointer); }
  std::string cta_text(std::uint32_t cta) const { return launches_.cta_text(cta); }

 private:
  void run_thread(std::uint32_t slot);
  bool idle();
  void make_ready(const std::vector<Thread*>& pollers);
  void unwind_threads();
  std::string place_of(const Thread& thread) const;
  void thrown(Thread& thread, const std::string& what);
  [[noreturn]] void leave();  // the running thread, by an exception; for ever if its kernel has swallowed one
  Report report();

  const SimulatorOptions& options_;
  Sites sites_;
  Findings findings_;
  Agents agents_;
  std::unique_ptr<Trace> trace_;
  Launches launches_;
  Names names_;
  Checker checker_;
  TensorMaps maps_;
  Flags flags_;
  Poison poison_;
  GlobalMemory global_memory_;

  std::unique_ptr<Policy> policy_;
  bool exploring_;  // the policy chooses among asynchronous operations too
  Random tries_;
  bool impatient_;
  std::vector<std::uint32_t> choices_;  // made so far, where they are recorded
  std::uint64_t step_ = 0, changes_ = 0, woken_at_ = 0;
  static constexpr std::uint64_t kLongestTurn = 4096;
  std::uint64_t turn_ = 0;  // operations since a thread was chosen
  static constexpr std::uint64_t kIdleLooks = 1 << 19;
  Polling polling_;
  std::uint64_t idle_looks_ = 0;  // since anything has changed
  bool aborting_ = false;
  Thread* running_ = nullptr;
};

// The running thread and its grid. Throws std::logic_error outside of a simulated kernel.
Thread& self();
Grid& grid();
Thread* running_thread();  // or null

// Interns the call site, counts it, and answers whether it is to be left out.
struct Call {
  SiteId site = 0;
  MutationKind mutation = MutationKind::none;
  bool dropped() const { return mutation == MutationKind::drop; }
};
Call enter_call(Site site, Operation operation);

// After a release: later accesses of the thread are not covered by what it published.
inline void advance(View& view) { ++view.own.seen; }

// What the thread knows goes into `clock`; nothing where the checker is off.
inline void release_into(ClockBuilder& clock, Thread& thread) {
  if (!grid().checking()) return;
  clock.join(thread.view);
  advance(thread.view);
}

}  // namespace gantry::sim

#include "grid.hpp"

#include <sstream>
#include <stdexcept>
#include <utility>

#include "deadlock.hpp"
#include "explorer.hpp"
#include "watched_tensors.hpp"

namespace gantry::sim {
namespace {

thread_local Grid* current_grid = nullptr;
thread_local Thread* current_thread = nullptr;

// What unwinds a thread whose launch is given up.
struct Stopped {};

std::unique_ptr<Policy> make_policy(const SimulatorOptions& options, std::uint32_t slots) {
  if (current_explorer) return make_exploring(*current_explorer);
  switch (options.schedule) {
    case Schedule::round_robin:
      return make_round_robin();
    case Schedule::random:
      return make_random(options.seed);
    case Schedule::pct:
      return make_pct(options.seed, slots, options.pct_depth, 20'000);
    case Schedule::directed:
      return make_directed(options.seed);
    case Schedule::replay:
      return make_replay(options.choices);
  }
  return make_round_robin();
}

[[noreturn]] void refuse_outside_of_a_kernel() {
  throw std::logic_error(
      "a hardware operation was called outside of a simulated kernel: kernels run through "
      "gantry::launch or gantry::Simulator::run");
}

}  // namespace

Thread& self() {
  if (!current_thread) refuse_outside_of_a_kernel();
  return *current_thread;
}
Grid& grid() {
  if (!current_grid) refuse_outside_of_a_kernel();
  return *current_grid;
}
Thread* running_thread() { return current_thread; }

Call enter_call(Site site, Operation operation) {
  Grid& g = grid();
  g.stop_if_aborting();
  g.tick();
  Sites& sites = g.sites();
  const SiteId id = sites.intern(site, operation);
  sites.count(id);
  self().last_site = id;
  return {id, sites.mutation_of(id)};
}

Grid::Grid(const std::vector<Simulator::Call>& calls, const SimulatorOptions& options)
    : options_(options),
      sites_(options.mutation),
      findings_(sites_, options.max_findings),
      agents_(current_explorer ? Agents() : Agents(options.latency, options.seed)),
      trace_(options.trace_file.empty() ? nullptr : std::make_unique<Trace>()),
      launches_(calls, options, *this),
      names_(launches_),
      checker_(*this),
      global_memory_(options),
      policy_(make_policy(options, launches_.slots())),
      exploring_(current_explorer != nullptr),
      tries_(exploring_ ? Random::none() : Random(options.seed ^ 0x7177)),
      impatient_(!exploring_ && options.seed % 2 == 1) {
  for (const Simulator::Call& call : calls) {
    if (call.params_bytes != 0) {
      global_memory_.allow(reinterpret_cast<std::uint64_t>(call.params), call.params_bytes);
    }
  }
}

void Grid::enter(void* argument) {
  Thread& thread = *static_cast<Thread*>(argument);
  const Simulator::Call& call = *thread.cta->launch->call;
  Grid& g = *current_grid;
  try {
    if (!g.aborting_) call.entry(call.params, SharedMemory(thread.cta->visible + kSharedBase));
  } catch (const Stopped&) {
  } catch (const std::exception& thrown) {
    g.thrown(thread, std::string("an exception: ") + thrown.what());
  } catch (...) {
    g.thrown(thread, "something that is no std::exception");
  }
  current_grid->launches_.thread_exit(thread);
}

// Of what is not an operation: the last one that the thread came to.
std::string Grid::place_of(const Thread& thread) const {
  if (thread.last_site == 0) return " before its first operation";
  return " at or after " + sites_.text(thread.last_site) + " (" + to_text(sites_.operation(thread.last_site)) + ")";
}

void Grid::thrown(Thread& thread, const std::string& what) {
  findings_.add("kernel-exception", thread.last_site, 0,
                checker_.describe(thread.view.self) + " threw " + what + "," + place_of(thread) +
                    ". A kernel throws nothing: on a GPU there is nobody to catch it.");
  aborting_ = true;
}

void Grid::run_thread(std::uint32_t slot) {
  Thread& thread = launches_.thread_at(slot);
  running_ = current_thread = &thread;
  thread.state = Thread::State::running;
  turn_ = 0;
  if (options_.record) choices_.push_back(slot);
  thread.fiber->resume();
  running_ = current_thread = nullptr;
  if (thread.state == Thread::State::exited) {
    thread.fiber.reset();
    launches_.finish_if_all_returned(*thread.cta->cluster);
  }
}

void Grid::yield() {
  ++step_;
  while (agents_.due(step_)) agents_.run_one(step_);
  stop_if_aborting();
  Thread& thread = *running_;
  thread.state = Thread::State::ready;
  policy_->ready(thread.slot);
  thread.fiber->suspend();
  stop_if_aborting();
}

void Grid::yield_at(const void* word) {
  policy_->approaches(running_->slot, Polling::grain_of(word));
  yield();
}

void Grid::block(const Waiting& what) {
  ++step_;
  stop_if_aborting();
  Thread& thread = *running_;
  thread.state = Thread::State::blocked;
  thread.waiting = what;
  const std::uint64_t from = step_;
  thread.fiber->suspend();
  stop_if_aborting();
  // One lane stands for its warp.
  if (trace_ && thread.rank % 32 == 0) {
    trace_->span(thread.cta->index, thread.rank / 32,
                 std::string(to_text(sites_.operation(what.site))) + " " + sites_.text(what.site), from, step_);
  }
}

void Grid::poll(const Waiting& what) {
  ++step_;
  while (agents_.due(step_)) agents_.run_one(step_);
  stop_if_aborting();
  Thread& thread = *running_;
  thread.state = Thread::State::polling;
  thread.waiting = what;
  polling_.wait(thread);
  thread.fiber->suspend();
  stop_if_aborting();
}

void Grid::poll_point(const Waiting& what) {
  Thread& thread = *running_;
  const void* word = what.object ? what.object : what.polled;
  const std::uint64_t grain = Polling::grain_of(word);
  if (polling_.unchanged(thread.looks, grain) || thread.looked_at == changes_) {
    poll(what);
  } else {
    yield_at(word);
  }
  polling_.look(thread.looks, grain);
  thread.looked_at = changes_;
  thread.last_look = what;
}

void Grid::changed(const void* address, std::uint64_t bytes) {
  changed();
  make_ready(polling_.changed(address, bytes));
}

void Grid::wake(Thread& thread) {
  if (thread.state != Thread::State::blocked) return;
  thread.state = Thread::State::ready;
  policy_->ready(thread.slot);
}

void Grid::resume_later() {
  ++step_;
  running_->fiber->suspend();
  stop_if_aborting();
}

void Grid::stop() {
  aborting_ = true;
  leave();
}

void Grid::leave() {
  Thread& thread = *running_;
  if (!std::exchange(thread.leaving, true)) throw Stopped{};
  // Its kernel has caught that and goes on.
  thread.state = Thread::State::blocked;
  for (;;) thread.fiber->suspend();
}

void Grid::host_fault(HostFault kind, const void* address) {
  Thread& thread = *running_;
  const std::string who = checker_.describe(thread.view.self), after = place_of(thread);
  if (kind == HostFault::division) {
    findings_.add(
        "kernel-trap", thread.last_site, 0,
        who + " divided an integer by zero, or the lowest by -1," + after + ": on a GPU the result is any value.");
  } else if (kind == HostFault::trap) {
    findings_.add("kernel-trap", thread.last_site, 0,
                  who + " ended the program by abort, a failed assertion or a trap," + after + ".");
  } else if (kind == HostFault::endless_loop) {
    findings_.add("endless-loop", thread.last_site, 0,
                  who + " has been running for " + std::to_string(options_.watchdog_seconds) +
                      (options_.watchdog_seconds == 1 ? " second" : " seconds") + " without an operation," + after +
                      ": a loop that waits for somebody needs a load, a wait or pause().");
  } else if (launches_.in_windows(address)) {
    findings_.add("plain-shared-access", thread.last_site, 0,
                  who + " accessed " + names_.describe_bytes(reinterpret_cast<std::uint64_t>(address), 1) +
                      " by plain C++," + after + ": shared memory is read and written with ld, st or a tensor.");
  } else if (thread.fiber->is_below(address)) {
    findings_.add("stack-overflow", thread.last_site, 0,
                  who + " needed more than the " + std::to_string(options_.stack_bytes) + " bytes of its stack," +
                      after + ": keep large arrays elsewhere, or raise SimulatorOptions::stack_bytes.");
  } else {
    const bool readable = global_memory_.is_there(reinterpret_cast<std::uint64_t>(address), 1, false);
    findings_.add("illegal-address", thread.last_site, 0,
                  who + " accessed address " + address_text(address) + ", which is no memory of the host" +
                      (readable ? " that can be written," : ",") + after + ".");
  }
  aborting_ = true;
  thread.leaving = true;
  leave();
}

// Nobody is ready: lets an asynchronous operation go on, or those who poll look again. False: nothing is left that
// could.
bool Grid::idle() {
  if (!agents_.empty()) {
    agents_.run_one(step_);
    return true;
  }
  // Those who wait may wait for CTAs that have not started.
  if (options_.resident_may_grow && polling() && launches_.start_one_more()) return true;
  // Looking again may be part of what a thread does on its way to something else; for ever it is not.
  if (!polling() || idle_looks_ > kIdleLooks) return false;
  const std::vector<Thread*> pollers = polling_.take_all();
  idle_looks_ += pollers.size();
  make_ready(pollers);
  return true;
}

void Grid::make_ready(const std::vector<Thread*>& pollers) {
  for (Thread* thread : pollers) {
    thread->state = Thread::State::ready;
    policy_->ready(thread->slot);
  }
}

Report Grid::run() {
  struct Current {
    explicit Current(Grid* g) { current_grid = g; }
    ~Current() { current_grid = nullptr, current_thread = nullptr; }
  } current(this);
  const WatchedTensors watched;
  GlobalMemory::paint_red_zones();
  const HostFaults faults(*this, options_.watchdog_seconds);
  launches_.start_clusters();
  while (!launches_.finished() && !aborting_) {
    while (agents_.due(step_)) agents_.run_one(step_);
    if (polling_.anyone_indifferent() && changes_ != woken_at_) {
      woken_at_ = changes_;
      make_ready(polling_.take_indifferent());
    }
    if (exploring_) policy_->operations(agents_.size());
    const std::uint32_t slot = policy_->choose();
    if (slot < kOperation) {
      run_thread(slot);
    } else if (slot != kNobody) {
      agents_.run_chosen(slot - kOperation);
    } else if (!idle()) {
      report_deadlock(*this);
      aborting_ = true;
    }
    if (step_ > options_.max_steps) {
      report_too_long(*this);
      aborting_ = true;
    }
  }
  unwind_threads();
  GlobalMemory::check_red_zones(findings_);
  if (trace_) trace_->write(options_.trace_file);
  return report();
}

// Threads that are left return by an exception, so that what they hold is given back; those that swallow it are
// abandoned.
void Grid::unwind_threads() {
  launches_.each_cta([this](Cta& cta) {
    for (Thread& thread : cta.threads) {
      if (!thread.fiber || thread.state == Thread::State::exited || thread.leaving) continue;
      running_ = current_thread = &thread;
      thread.fiber->resume();
      running_ = current_thread = nullptr;
    }
  });
}

Report Grid::report() {
  return {.kernel = launches_.kernels(),
          .seed = options_.seed,
          .schedule = options_.schedule,
          .latency = options_.latency,
          .command = options_.command,
          .completed = !aborting_,
          .steps = step_,
          .findings = findings_.take(),
          .notes = findings_.take_notes(),
          .sites = sites_.uses(),
          .choices = std::move(choices_)};
}

}  // namespace gantry::sim

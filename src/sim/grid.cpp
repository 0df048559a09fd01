#include "grid.hpp"

#include <stdexcept>
#include <utility>

#include "deadlock.hpp"
#include "watched_tensors.hpp"

namespace gantry::sim {
namespace {

thread_local Grid* current_grid = nullptr;
thread_local Thread* current_thread = nullptr;

// What unwinds a thread whose launch is given up.
struct Stopped {};

std::unique_ptr<Policy> make_policy(const SimulatorOptions& options, std::uint32_t slots) {
  switch (options.schedule) {
    case Schedule::round_robin:
      return make_round_robin();
    case Schedule::random:
      return make_random(options.seed);
    case Schedule::pct:
      return make_pct(options.seed, slots, options.pct_depth, 20'000);
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
      agents_(options.latency, options.seed),
      trace_(options.trace_file.empty() ? nullptr : std::make_unique<Trace>()),
      launches_(calls, options, *this),
      names_(launches_),
      checker_(*this),
      policy_(make_policy(options, launches_.slots())),
      tries_(options.seed ^ 0x7177) {}

void Grid::enter(void* argument) {
  Thread& thread = *static_cast<Thread*>(argument);
  const Simulator::Call& call = *thread.cta->launch->call;
  try {
    call.entry(call.params, SharedMemory(thread.cta->window + kSharedBase));
  } catch (const Stopped&) {
  }
  current_grid->launches_.thread_exit(thread);
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
    if (thread.fiber->overflowed()) {
      throw std::runtime_error("a simulated thread ran over its stack: raise SimulatorOptions::stack_bytes");
    }
    thread.fiber.reset();
    launches_.finish_if_all_returned(*thread.cta->cluster);
  }
}

void Grid::yield() {
  ++step_;
  while (agents_.due(step_)) agents_.run_one(step_);
  if (aborting_) throw Stopped{};
  Thread& thread = *running_;
  thread.state = Thread::State::ready;
  policy_->ready(thread.slot);
  thread.fiber->suspend();
  if (aborting_) throw Stopped{};
}

void Grid::block(const Waiting& what) {
  ++step_;
  if (aborting_) throw Stopped{};
  Thread& thread = *running_;
  thread.state = Thread::State::blocked;
  thread.waiting = what;
  const std::uint64_t from = step_;
  thread.fiber->suspend();
  if (aborting_) throw Stopped{};
  // One lane stands for its warp.
  if (trace_ && thread.rank % 32 == 0) {
    trace_->span(thread.cta->index, thread.rank / 32,
                 std::string(to_text(sites_.operation(what.site))) + " " + sites_.text(what.site), from, step_);
  }
}

void Grid::poll(const Waiting& what) {
  ++step_;
  while (agents_.due(step_)) agents_.run_one(step_);
  if (aborting_) throw Stopped{};
  Thread& thread = *running_;
  thread.state = Thread::State::polling;
  thread.waiting = what;
  pollers_.push_back(&thread);
  thread.fiber->suspend();
  if (aborting_) throw Stopped{};
}

void Grid::poll_point(const Waiting& what) {
  Thread& thread = *running_;
  if (thread.polled_at == changes_) {
    poll(what);
  } else {
    yield();
  }
  thread.polled_at = changes_;
}

void Grid::wake(Thread& thread) {
  if (thread.state != Thread::State::blocked) return;
  thread.state = Thread::State::ready;
  policy_->ready(thread.slot);
}

void Grid::resume_later() {
  ++step_;
  running_->fiber->suspend();
  if (aborting_) throw Stopped{};
}

void Grid::stop() {
  aborting_ = true;
  throw Stopped{};
}

// Nobody is ready: lets an asynchronous operation go on, or those who poll look again. False: nothing is left that
// could.
bool Grid::idle() {
  if (!agents_.empty()) {
    agents_.run_one(step_);
    return true;
  }
  // Looking again may be part of what a thread does on its way to something else; for ever it is not.
  if (pollers_.empty() || (idle_looks_ += pollers_.size()) > kIdleLooks) return false;
  wake_pollers();
  return true;
}

void Grid::wake_pollers() {
  polled_at_ = changes_;
  for (Thread* thread : std::exchange(pollers_, {})) {
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
  launches_.start_clusters();
  while (!launches_.finished() && !aborting_) {
    while (agents_.due(step_)) agents_.run_one(step_);
    if (!pollers_.empty() && changes_ != polled_at_) {
      idle_looks_ = 0;
      wake_pollers();
    }
    const std::uint32_t slot = policy_->choose();
    if (slot != kNobody) {
      run_thread(slot);
    } else if (!idle()) {
      report_deadlock(*this);
      aborting_ = true;
    }
    if (step_ > options_.max_steps) {
      findings_.add("livelock", 0, 0,
                    "The kernel was still running after " + std::to_string(step_) +
                        " steps: threads poll for something that does not come.");
      aborting_ = true;
    }
  }
  unwind_threads();
  if (trace_) trace_->write(options_.trace_file);
  return report();
}

void Grid::unwind_threads() {
  launches_.each_cta([this](Cta& cta) {
    for (Thread& thread : cta.threads) {
      if (!thread.fiber) continue;
      running_ = current_thread = &thread;
      if (thread.state != Thread::State::exited) thread.fiber.reset();
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

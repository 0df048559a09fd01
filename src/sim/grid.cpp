#include "grid.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

#include <sys/mman.h>

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
  const SiteId id = g.sites.intern(site, operation);
  g.sites.count(id);
  self().last_site = id;
  return {id, g.sites.mutation_of(id)};
}

Actor Cta::add_actor(std::uint32_t owner) {
  actor_owner.push_back(owner);
  return {index, static_cast<std::uint32_t>(threads.size() + actor_owner.size() - 1)};
}

Grid::Grid(const std::vector<Simulator::Call>& calls, const SimulatorOptions& options)
    : sites(options.mutation),
      checker(*this),
      agents(options.latency, options.seed),
      options_(options),
      stacks_(options.stack_bytes) {
  std::uint32_t ctas = 0, windows = 0, slots = 0;
  for (const Simulator::Call& call : calls) {
    const LaunchConfig& config = call.config;
    Launch& launch = launches_.emplace_back();
    launch.call = &call;
    launch.number = static_cast<std::uint32_t>(launches_.size() - 1);
    launch.threads_per_cta = static_cast<std::uint32_t>(config.block.count());
    launch.ctas_per_cluster = static_cast<std::uint32_t>(config.cluster.count());
    launch.clusters = static_cast<std::uint32_t>(config.grid.count()) / launch.ctas_per_cluster;
    launch.first_cta = ctas;
    launch.first_window = windows;
    launch.first_slot = slots;
    // A dependent kernel knows what the one before it knew: that one's own work may still be going on.
    const bool early = config.dependent && launch.number > 0;
    launch.known_finished = early ? launches_[launch.number - 1].known_finished : ctas;
    launch.resident.resize(std::min(static_cast<std::uint32_t>(options.resident_clusters), launch.clusters));
    const auto places = static_cast<std::uint32_t>(launch.resident.size()) * launch.ctas_per_cluster;
    ctas += launch.ctas();
    windows += places;
    slots += places * launch.threads_per_cta;
    report.kernel += std::string(report.kernel.empty() ? "" : " + ") + config.name;
  }
  window_bytes_ = std::size_t{windows} * kSharedWindow;
  // Room for alignment: swizzles are functions of address bits, so a window starts on a multiple of its size.
  void* memory =
      mmap(nullptr, window_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  windows_ = static_cast<std::byte*>(memory);
  cta_at_.resize(windows);
  thread_at_.resize(slots);
  if (!options.trace_file.empty()) trace = std::make_unique<Trace>();
  policy_ = make_policy(options, slots);
  report.seed = options.seed;
  report.schedule = options.schedule;
  report.latency = options.latency;
  report.command = options.command;
}

Grid::~Grid() {
  launches_.clear();
  munmap(windows_, window_bytes_);
}

Cta* Grid::shared_owner(const void* pointer) {
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - windows_);
  return offset < window_bytes_ ? cta_at_[offset / kSharedWindow] : nullptr;
}

Thread* Grid::find_thread(Actor actor) {
  for (Cta* cta : cta_at_) {
    if (cta && cta->index == actor.cta && actor.local < cta->threads.size()) return &cta->threads[actor.local];
  }
  return nullptr;
}

void Grid::enter(void* argument) {
  Thread& thread = *static_cast<Thread*>(argument);
  const Simulator::Call& call = *thread.cta->launch->call;
  try {
    call.entry(call.params, SharedMemory(thread.cta->window + kSharedBase));
  } catch (const Stopped&) {
  }
  current_grid->thread_exit(thread);
}

void Grid::run_thread(std::uint32_t slot) {
  Thread& thread = *thread_at_[slot];
  running_ = current_thread = &thread;
  thread.state = Thread::State::running;
  turn_ = 0;
  if (options_.record) report.choices.push_back(slot);
  thread.fiber->resume();
  running_ = current_thread = nullptr;
  if (thread.state == Thread::State::exited) {
    if (thread.fiber->overflowed()) {
      throw std::runtime_error("a simulated thread ran over its stack: raise SimulatorOptions::stack_bytes");
    }
    thread.fiber.reset();
    if (Cluster& cluster = *thread.cta->cluster; cluster.alive == 0) finish_cluster(cluster);
  }
}

void Grid::yield() {
  ++step_;
  while (agents.due(step_)) agents.run_one(step_);
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
  if (trace && thread.rank % 32 == 0) {
    trace->span(thread.cta->index, thread.rank / 32,
                std::string(to_text(sites.operation(what.site))) + " " + sites.text(what.site), from, step_);
  }
}

void Grid::poll(const Waiting& what) {
  ++step_;
  while (agents.due(step_)) agents.run_one(step_);
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
  if (!agents.empty()) {
    agents.run_one(step_);
    return true;
  }
  // Looking again may be part of what a thread does on its way to something else; for ever it is not.
  if (pollers_.empty() || ++idle_polls_ > kIdlePolls) return false;
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
  start_clusters();
  const auto running = [&] {
    return std::any_of(launches_.begin(), launches_.end(), [](const Launch& l) { return !l.finished(); });
  };
  while (running() && !aborting_) {
    while (agents.due(step_)) agents.run_one(step_);
    if (!pollers_.empty() && changes_ != polled_at_) {
      idle_polls_ = 0;
      wake_pollers();
    }
    const std::uint32_t slot = policy_->choose();
    if (slot != kNobody) {
      run_thread(slot);
    } else if (!idle()) {
      report_deadlock();
      aborting_ = true;
    }
    if (step_ > options_.max_steps) {
      checker.find("livelock", 0, 0,
                   "The kernel was still running after " + std::to_string(step_) +
                       " steps: threads poll for something that does not come.");
      aborting_ = true;
    }
  }
  report.completed = !aborting_;
  report.steps = step_;
  report.sites = sites.uses();
  // Unwind the threads that are left.
  each_cta([this](Cta& cta) {
    for (Thread& thread : cta.threads) {
      if (!thread.fiber) continue;
      running_ = current_thread = &thread;
      if (thread.state != Thread::State::exited) thread.fiber.reset();
      running_ = current_thread = nullptr;
    }
  });
  if (trace) trace->write(options_.trace_file);
  return std::move(report);
}

}  // namespace gantry::sim

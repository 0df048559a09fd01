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

void spread(std::uint32_t linear, const Extent3& extent, std::uint32_t (&out)[3]) {
  out[0] = linear % extent.x;
  out[1] = linear / extent.x % extent.y;
  out[2] = linear / extent.x / extent.y;
}

void set3(const Extent3& extent, std::uint32_t (&out)[3]) { out[0] = extent.x, out[1] = extent.y, out[2] = extent.z; }

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
  const SiteId id = g.sites.intern(site, operation);
  g.sites.count(id);
  self().last_site = id;
  return {id, g.sites.mutation_of(id)};
}

Actor Cta::add_actor(std::uint32_t owner) {
  actor_owner.push_back(owner);
  return {index, static_cast<std::uint32_t>(threads.size() + actor_owner.size() - 1)};
}

Grid::Grid(const LaunchConfig& config, const SimulatorOptions& options, Simulator::Entry entry, const void* params)
    : sites(options.mutation),
      checker(*this),
      agents(options.latency, options.seed),
      config_(config),
      options_(options),
      entry_(entry),
      params_(params),
      threads_per_cta_(static_cast<std::uint32_t>(config.block.count())),
      ctas_per_cluster_(static_cast<std::uint32_t>(config.cluster.count())),
      clusters_(static_cast<std::uint32_t>(config.grid.count()) / ctas_per_cluster_),
      stacks_(options.stack_bytes) {
  const std::uint32_t places = std::min(static_cast<std::uint32_t>(options.resident_clusters), clusters_);
  window_bytes_ = std::size_t{places} * ctas_per_cluster_ * kSharedWindow;
  // Room for alignment: swizzles are functions of address bits, so a window starts on a multiple of its size.
  void* memory =
      mmap(nullptr, window_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  windows_ = static_cast<std::byte*>(memory);
  resident_.resize(places);
  if (!options.trace_file.empty()) trace = std::make_unique<Trace>();
  policy_ = make_policy(options, places * ctas_per_cluster_ * threads_per_cta_);
  report.kernel = config.name;
  report.seed = options.seed;
  report.schedule = options.schedule;
  report.latency = options.latency;
}

Grid::~Grid() {
  resident_.clear();
  munmap(windows_, window_bytes_);
}

Cta* Grid::shared_owner(const void* pointer) {
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - windows_);
  if (offset >= window_bytes_) return nullptr;
  const std::size_t window = offset / kSharedWindow;
  Cluster* cluster = resident_[window / ctas_per_cluster_].get();
  return cluster ? cluster->ctas[window % ctas_per_cluster_].get() : nullptr;
}

Thread& Grid::thread_at(std::uint32_t slot) {
  const std::uint32_t window = slot / threads_per_cta_;
  return resident_[window / ctas_per_cluster_]->ctas[window % ctas_per_cluster_]->threads[slot % threads_per_cta_];
}

void Grid::start_clusters() {
  for (std::uint32_t place = 0; place < resident_.size(); ++place) {
    if (!resident_[place] && next_cluster_ < clusters_) start_cluster(next_cluster_++, place);
  }
}

void Grid::start_cluster(std::uint32_t index, std::uint32_t place) {
  resident_[place] = std::make_unique<Cluster>();
  Cluster& cluster = *resident_[place];
  const Extent3 clusters{config_.grid.x / config_.cluster.x, config_.grid.y / config_.cluster.y,
                         config_.grid.z / config_.cluster.z};
  for (std::uint32_t rank = 0; rank < ctas_per_cluster_; ++rank) {
    auto cta = std::make_unique<Cta>();
    Identity id{};
    spread(rank, config_.cluster, id.cluster_ctaid);
    spread(index, clusters, id.clusterid);
    set3(config_.cluster, id.cluster_nctaid);
    set3(clusters, id.nclusterid);
    set3(config_.grid, id.nctaid);
    set3(config_.block, id.ntid);
    for (int i = 0; i < 3; ++i) {
      id.ctaid[i] = id.clusterid[i] * id.cluster_nctaid[i] + id.cluster_ctaid[i];
    }
    id.cluster_ctarank = rank;
    id.cluster_nctarank = ctas_per_cluster_;
    id.shared_bytes = config_.shared_bytes;
    cta->index = id.ctaid[0] + config_.grid.x * (id.ctaid[1] + config_.grid.y * id.ctaid[2]);
    cta->place = place * ctas_per_cluster_ + rank;
    cta->rank = rank;
    cta->cluster = &cluster;
    cta->window = windows_ + std::size_t{cta->place} * kSharedWindow;
    cta->shared_bytes = config_.shared_bytes;
    std::memset(cta->window, 0xCD, kSharedBase + config_.shared_bytes);
    cta->threads = std::vector<Thread>(threads_per_cta_);
    cta->meetings.resize((threads_per_cta_ + 31) / 32);
    cta->lanes.resize(cta->meetings.size());
    cta->cluster_arrivals.resize(2 * cta->meetings.size());
    cta->cluster_waits.resize(2 * cta->meetings.size());
    for (std::uint32_t t = 0; t < threads_per_cta_; ++t) cta->lanes[t / 32] |= 1u << t % 32;
    cta->warpgroups.resize((threads_per_cta_ + 127) / 128);
    if (options_.checker) cta->cells = std::vector<Cell>((kSharedBase + config_.shared_bytes) / kChunk + 1);
    cta->alive = threads_per_cta_;
    for (std::uint32_t t = 0; t < threads_per_cta_; ++t) {
      Thread& thread = cta->threads[t];
      thread.id = id;
      spread(t, config_.block, thread.id.tid);
      thread.id.thread_rank = t;
      thread.cta = cta.get();
      thread.rank = t;
      thread.slot = cta->place * threads_per_cta_ + t;
      thread.view.self = {cta->index, t};
      thread.fiber = std::make_unique<Fiber>(stacks_, &Grid::enter, &thread);
    }
    cluster.alive += threads_per_cta_;
    cluster.ctas.push_back(std::move(cta));
  }
  for (auto& cta : cluster.ctas) {
    for (Thread& thread : cta->threads) policy_->ready(thread.slot);
    if (!trace) continue;
    for (std::uint32_t warp = 0; warp * 32 < threads_per_cta_; ++warp) {
      trace->name_track(cta->index, warp, "warp " + std::to_string(warp));
    }
    trace->name_track(cta->index, Trace::kCopies, "copies");
    trace->name_track(cta->index, Trace::kBarriers, "barriers");
  }
}

void Grid::enter(void* argument) {
  Thread& thread = *static_cast<Thread*>(argument);
  try {
    current_grid->entry_(current_grid->params_, SharedMemory(thread.cta->window + kSharedBase));
  } catch (const Stopped&) {
  }
  current_grid->thread_exit(thread);
}

void Grid::thread_exit(Thread& thread) {
  thread.state = Thread::State::exited;
  Cta& cta = *thread.cta;
  --cta.alive;
  --cta.cluster->alive;
  changed();
  if (aborting_) return;
  if (thread.bulk) {
    for (Epoch number = thread.bulk->first; number < thread.bulk->first + thread.bulk->groups.size(); ++number) {
      const BulkGroups::Group& group = thread.bulk->group(number);
      if (group.unread > 0) {
        checker.find("exit-with-copies-in-flight", group.site, 0,
                     checker.describe(thread.view.self) + " returned while the store that it issued at " +
                         sites.text(group.site) +
                         " had not been read out of shared memory: end with cp.async.bulk.wait_group.read 0 in the "
                         "issuing thread.");
        break;
      }
    }
  }
  if (cta.alive == 0) cta_exit(cta);
  thread_left_warp(thread);
  thread_left_barriers(thread);
}

// The shared memory of the CTA may go to another one from now on.
void Grid::cta_exit(Cta& cta) {
  bool unseen = cta.loads_in_flight > 0;
  for (const auto& [offset, barrier] : cta.mbarriers) {
    unseen = unseen || (barrier.live && barrier.last_credit > barrier.last_wait);
  }
  if (unseen) {
    checker.find("exit-with-copies-in-flight", 0, 0,
                 "CTA " + std::to_string(cta.index) +
                     " ended without having waited for a copy into its shared memory: the copy may arrive when that "
                     "memory belongs to another CTA.");
  }
}

Thread* Grid::find_thread(Actor actor) {
  for (auto& cluster : resident_) {
    if (!cluster) continue;
    for (auto& cta : cluster->ctas) {
      if (cta->index == actor.cta && actor.local < cta->threads.size()) return &cta->threads[actor.local];
    }
  }
  return nullptr;
}

void Grid::run_thread(std::uint32_t slot) {
  Thread& thread = thread_at(slot);
  running_ = current_thread = &thread;
  thread.state = Thread::State::running;
  if (options_.record) report.choices.push_back(slot);
  thread.fiber->resume();
  running_ = current_thread = nullptr;
  if (thread.state == Thread::State::exited) {
    if (thread.fiber->overflowed()) {
      throw std::runtime_error("a simulated thread ran over its stack: raise SimulatorOptions::stack_bytes");
    }
    thread.fiber.reset();
    if (thread.cta->cluster->alive == 0) finish_cluster(thread.cta->place / ctas_per_cluster_);
  }
}

void Grid::finish_cluster(std::uint32_t place) {
  Cluster& cluster = *resident_[place];
  // The operations hold addresses of the CTA: let them finish before its memory goes to another.
  while (!agents.empty() &&
         std::any_of(cluster.ctas.begin(), cluster.ctas.end(), [](auto& c) { return c->in_flight > 0; })) {
    agents.run_one(step_);
  }
  for (auto& cta : cluster.ctas) {
    for (const auto& [offset, barrier] : cta->mbarriers) {
      if (!barrier.live || barrier.tx == 0) continue;
      checker.find("mbarrier-byte-count", 0, 0,
                   checker.describe_bytes(reinterpret_cast<std::uint64_t>(cta->window) + offset, 8) + " ended with " +
                       std::to_string(std::abs(barrier.tx)) + " bytes " +
                       (barrier.tx < 0 ? "more than were expected." : "expected that never came."));
    }
  }
  resident_[place].reset();
  start_clusters();
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
    return std::any_of(resident_.begin(), resident_.end(), [](auto& c) { return c != nullptr; });
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
  for (auto& cluster : resident_) {
    if (!cluster) continue;
    for (auto& cta : cluster->ctas) {
      for (Thread& thread : cta->threads) {
        if (!thread.fiber) continue;
        running_ = current_thread = &thread;
        if (thread.state != Thread::State::exited) thread.fiber.reset();
        running_ = current_thread = nullptr;
      }
    }
  }
  if (trace) trace->write(options_.trace_file);
  return std::move(report);
}

}  // namespace gantry::sim

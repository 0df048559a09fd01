#include "launches.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include <sys/mman.h>

#include <gantry/arch/launch_check.hpp>

#include "grid.hpp"

namespace gantry::sim {
namespace {

void spread(std::uint32_t linear, const Extent3& extent, std::uint32_t (&out)[3]) {
  out[0] = linear % extent.x;
  out[1] = linear / extent.x % extent.y;
  out[2] = linear / extent.x / extent.y;
}

// Clusters of the launch that the chip holds at the same time, as far as threads and shared memory allow.
std::uint32_t held_by(const Architecture& arch, const LaunchConfig& config) {
  const int blocks =
      arch.limits.resident_blocks(static_cast<int>(config.block.count()), static_cast<int>(config.shared_bytes));
  return static_cast<std::uint32_t>(arch.resident_clusters(static_cast<int>(config.cluster.count()), blocks));
}

std::byte* reserved(std::size_t bytes, int protection) {
  void* memory = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(memory);
}

void set3(const Extent3& extent, std::uint32_t (&out)[3]) { out[0] = extent.x, out[1] = extent.y, out[2] = extent.z; }

}  // namespace

Launches::Launches(const std::vector<Simulator::Call>& calls, const SimulatorOptions& options, Grid& grid)
    : grid_(grid), stacks_(options.stack_bytes) {
  std::uint32_t ctas = 0, windows = 0;
  for (const Simulator::Call& call : calls) {
    const LaunchConfig& config = call.config;
    Launch& launch = launches_.emplace_back();
    launch.call = &call;
    launch.number = static_cast<std::uint32_t>(launches_.size() - 1);
    launch.threads_per_cta = static_cast<std::uint32_t>(config.block.count());
    launch.ctas_per_cluster = static_cast<std::uint32_t>(config.cluster.count());
    launch.clusters = static_cast<std::uint32_t>(config.grid.count()) / launch.ctas_per_cluster;
    launch.first_cta = ctas;
    // A dependent kernel knows what the one before it knew: that one's own work may still be going on.
    if (config.dependent && launch.number > 0) {
      launch.known_at_start = launches_[launch.number - 1].known_at_start;
    } else {
      ClockBuilder known;
      known.finish({0, ctas});
      launch.known_at_start = known.freeze();
    }
    const std::uint32_t most =
        std::max(held_by(options.architecture, config), static_cast<std::uint32_t>(options.resident_clusters));
    windows += std::min(most, launch.clusters) * launch.ctas_per_cluster;
    ctas += launch.ctas();
  }
  // Swizzles look at address bits below the page size, so a mapping needs no alignment of its own.
  window_bytes_ = std::size_t{windows} * kSharedWindow;
  windows_ = reserved(window_bytes_, PROT_READ | PROT_WRITE);
  visible_ = reserved(window_bytes_, PROT_NONE);
  cluster_of_.resize(ctas);
  for (Launch& launch : launches_) {
    const auto places = std::min(static_cast<std::uint32_t>(options.resident_clusters), launch.clusters);
    while (launch.places.size() < places) add_place(launch);
  }
}

void Launches::add_place(Launch& launch) {
  launch.places.push_back({static_cast<std::uint32_t>(cta_at_.size()), static_cast<std::uint32_t>(thread_at_.size())});
  launch.resident.emplace_back();
  cta_at_.resize(cta_at_.size() + launch.ctas_per_cluster);
  thread_at_.resize(thread_at_.size() + std::size_t{launch.ctas_per_cluster} * launch.threads_per_cta);
}

bool Launches::start_one_more() {
  for (Launch& launch : launches_) {
    if (!may_start(launch) || launch.next_cluster == launch.clusters) continue;
    if (launch.places.size() >= held_by(grid_.options().architecture, launch.config())) continue;
    add_place(launch);
    grid_.make_room(slots());
    start_clusters();
    return true;
  }
  return false;
}

Launches::~Launches() {
  launches_.clear();
  munmap(windows_, window_bytes_);
  munmap(visible_, window_bytes_);
}

bool Launches::finished() const {
  return std::all_of(launches_.begin(), launches_.end(), [](const Launch& l) { return l.finished(); });
}

std::string Launches::kernels() const {
  std::string names;
  for (const Launch& launch : launches_) names += (names.empty() ? "" : " + ") + std::string(launch.config().name);
  return names;
}

Thread* Launches::find_thread(Actor actor) {
  for (Cta* cta : cta_at_) {
    if (cta && cta->index == actor.cta && actor.local < cta->threads.size()) return &cta->threads[actor.local];
  }
  return nullptr;
}

const Launch& Launches::launch_of(std::uint32_t cta) const {
  const auto after =
      std::find_if(launches_.begin(), launches_.end(), [&](const Launch& l) { return l.first_cta > cta; });
  return *std::prev(after);
}

std::string Launches::cta_text(std::uint32_t cta) const {
  const Launch& launch = launch_of(cta);
  const std::string text = "CTA " + std::to_string(cta - launch.first_cta);
  return launches_.size() == 1 ? text : text + " of " + launch.config().name;
}

bool Launches::may_start(const Launch& launch) const {
  if (launch.number == 0) return true;
  const Launch& before = launches_[launch.number - 1];
  if (launch.config().dependent) return before.ctas_passed == before.ctas();
  return std::all_of(launches_.begin(), launches_.begin() + launch.number,
                     [](const Launch& l) { return l.finished(); });
}

void Launches::start_clusters() {
  for (Launch& launch : launches_) {
    if (!may_start(launch)) return;
    for (std::uint32_t place = 0; place < launch.resident.size(); ++place) {
      if (!launch.resident[place] && launch.next_cluster < launch.clusters) {
        start_cluster(launch, launch.next_cluster++, place);
      }
    }
  }
}

void Launches::start_cluster(Launch& launch, std::uint32_t index, std::uint32_t place) {
  launch.resident[place] = std::make_unique<Cluster>();
  Cluster& cluster = *launch.resident[place];
  cluster.launch = &launch;
  cluster.place = place;
  const LaunchConfig& config = launch.config();
  const Extent3 clusters{config.grid.x / config.cluster.x, config.grid.y / config.cluster.y,
                         config.grid.z / config.cluster.z};
  for (std::uint32_t rank = 0; rank < launch.ctas_per_cluster; ++rank) {
    Identity id{};
    spread(rank, config.cluster, id.cluster_ctaid);
    spread(index, clusters, id.clusterid);
    set3(config.cluster, id.cluster_nctaid);
    set3(clusters, id.nclusterid);
    set3(config.grid, id.nctaid);
    set3(config.block, id.ntid);
    for (int i = 0; i < 3; ++i) id.ctaid[i] = id.clusterid[i] * id.cluster_nctaid[i] + id.cluster_ctaid[i];
    id.cluster_ctarank = rank;
    id.cluster_nctarank = launch.ctas_per_cluster;
    id.shared_bytes = config.shared_bytes;
    cluster.ctas.push_back(std::make_unique<Cta>());
    Cta& cta = *cluster.ctas.back();
    cta.index = launch.first_cta + id.ctaid[0] + config.grid.x * (id.ctaid[1] + config.grid.y * id.ctaid[2]);
    cta.launch = &launch;
    cta.place = launch.places[place].window + rank;
    cta.first_slot = launch.places[place].slot + rank * launch.threads_per_cta;
    cta.rank = rank;
    cta.cluster = &cluster;
    cluster_of_[cta.index] = clusters_started_;
    start_cta(cta, id);
    cluster.alive += launch.threads_per_cta;
  }
  ++clusters_started_;
  for (auto& cta : cluster.ctas) {
    for (const Thread& thread : cta->threads) grid_.ready(thread);
  }
}

void Launches::start_cta(Cta& cta, const Identity& id) {
  const LaunchConfig& config = cta.launch->config();
  const std::uint32_t threads = cta.launch->threads_per_cta, warps = (threads + 31) / 32;
  cta.window = windows_ + std::size_t{cta.place} * kSharedWindow;
  cta.visible = visible_ + std::size_t{cta.place} * kSharedWindow;
  cta.shared_bytes = config.shared_bytes;
  cta_at_[cta.place] = &cta;
  std::memset(cta.window, 0xCD, kSharedBase + config.shared_bytes);
  cta.threads = std::vector<Thread>(threads);
  cta.meetings.resize(warps);
  cta.lanes.resize(warps);
  for (std::uint32_t t = 0; t < threads; ++t) cta.lanes[t / 32] |= 1u << t % 32;
  cta.cluster_arrivals.resize(std::size_t{2} * warps);
  cta.cluster_waits.resize(std::size_t{2} * warps);
  cta.warpgroups.resize((threads + 127) / 128);
  cta.registers.resize(warps);
  for (WarpRegisters& warp : cta.registers) warp.held = registers_at_launch(config);
  if (grid_.checking()) cta.cells = std::vector<Cell>((kSharedBase + config.shared_bytes) / kChunk + 1);
  cta.alive = threads;
  start_threads(cta, id);
  Trace* trace = grid_.trace();
  if (!trace) return;
  for (std::uint32_t warp = 0; warp < warps; ++warp) {
    trace->name_track(cta.index, warp, "warp " + std::to_string(warp));
  }
  trace->name_track(cta.index, Trace::kCopies, "copies");
  trace->name_track(cta.index, Trace::kBarriers, "barriers");
}

void Launches::start_threads(Cta& cta, const Identity& id) {
  const Extent3& block = cta.launch->config().block;
  const auto threads = static_cast<std::uint32_t>(cta.threads.size());
  cta.start = cta.add_actor(~0u);
  ClockBuilder known;
  known.join(cta.launch->known_at_start);
  if (grid_.checking()) known.raise(cta.start, {.seen = 1});
  const ClockRef at_start = known.freeze();
  for (std::uint32_t t = 0; t < threads; ++t) {
    Thread& thread = cta.threads[t];
    thread.id = id;
    spread(t, block, thread.id.tid);
    thread.id.thread_rank = t;
    thread.cta = &cta;
    thread.rank = t;
    thread.slot = cta.first_slot + t;
    thread_at_[thread.slot] = &thread;
    thread.view.base = at_start;
    thread.view.self = {cta.index, t};
    thread.fiber = std::make_unique<Fiber>(stacks_, &Grid::enter, &thread);
  }
}

void Launches::let_next_start(Cta& cta) {
  if (std::exchange(cta.lets_next_start, true)) return;
  if (++cta.launch->ctas_passed == cta.launch->ctas()) start_clusters();
}

void Launches::thread_exit(Thread& thread) {
  thread.state = Thread::State::exited;
  Cta& cta = *thread.cta;
  --cta.alive;
  --cta.cluster->alive;
  grid_.changed();
  if (grid_.aborting()) return;
  check_groups_at_exit(thread);
  note_return(thread);
  if (cta.alive == 0) cta_exit(cta);
  thread_left_warp(thread);
  thread_left_barriers(thread);
}

// The shared memory of the CTA may go to another one from now on.
void Launches::cta_exit(Cta& cta) {
  bool unseen = cta.loads_in_flight > 0;
  for (const auto& [offset, barrier] : cta.mbarriers) {
    unseen = unseen || (barrier.live && barrier.last_credit > barrier.last_wait);
  }
  if (unseen) {
    const AsyncOp& load = grid_.checker().last_load_to(cta);
    grid_.findings().add("exit-with-copies-in-flight", load.site, 0,
                         cta_text(cta.index) + " ended, and none of its threads had waited for the " +
                             to_text(grid_.sites().operation(load.site)) + " into its shared memory that " +
                             grid_.checker().describe(load.issuer) + " issued at " + grid_.sites().text(load.site) +
                             ": the bytes may arrive when that memory belongs to another CTA.");
  }
  check_lifetime_at_end(cta);
  check_registers_at_end(cta);
  let_next_start(cta);
}

void Launches::finish_if_all_returned(Cluster& cluster) {
  if (cluster.alive == 0) finish_cluster(cluster);
}

void Launches::finish_cluster(Cluster& cluster) {
  // The operations hold addresses of the CTA: let them finish before its memory goes to another.
  while (!grid_.agents().empty() &&
         std::any_of(cluster.ctas.begin(), cluster.ctas.end(), [](auto& c) { return c->in_flight > 0; })) {
    grid_.agents().run_one(grid_.step());
  }
  for (auto& cta : cluster.ctas) {
    for (const auto& [offset, barrier] : cta->mbarriers) {
      if (!barrier.live || barrier.tx == 0) continue;
      grid_.findings().add("mbarrier-byte-count", 0, 0,
                           grid_.names().describe_mbarrier(cta->visible + offset) + " ended with " +
                               std::to_string(std::abs(barrier.tx)) + " bytes " +
                               (barrier.tx < 0 ? "more than were expected." : "expected that never came."));
    }
    cta_at_[cta->place] = nullptr;
  }
  Launch& launch = *cluster.launch;
  launch.resident[cluster.place].reset();
  if (++launch.finished_clusters == launch.clusters) {
    launch.known_at_end.finish(launch.range());
    launch.ended = launch.known_at_end.freeze();
    for (Thread* thread : std::exchange(launch.waiting, {})) grid_.wake(*thread);
    grid_.changed();
  }
  start_clusters();
}

}  // namespace gantry::sim

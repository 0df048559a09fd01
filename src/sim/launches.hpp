// The launches of a run: when their clusters start, where they are resident, and what is looked at when threads, CTAs
// and clusters end.
//
// A launch starts when all before it have finished, or, where it is dependent, when every CTA of the one before it has
// ended or executed `griddepcontrol.launch_dependents`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <gantry/arch/simulator.hpp>

#include "cta.hpp"
#include "fiber.hpp"

namespace gantry::sim {

class Grid;

// More than a run can follow in any reasonable time.
inline constexpr std::uint32_t kMaxCtas = 1u << 18;

// A kernel of the run. CTAs, shared windows and slots of the scheduler are numbered through all launches.
struct Launch {
  const Simulator::Call* call = nullptr;
  std::uint32_t number = 0;
  std::uint32_t threads_per_cta = 0, ctas_per_cluster = 0, clusters = 0;
  std::uint32_t first_cta = 0;
  std::uint32_t next_cluster = 0, finished_clusters = 0;
  std::uint32_t ctas_passed = 0;                   // that have ended or let the next launch start
  ClockRef known_at_start;                         // what its threads know when they start
  ClockBuilder known_at_end;                       // what its threads knew when they returned
  ClockRef ended;                                  // the same, and its own end, once it has finished
  std::vector<std::unique_ptr<Cluster>> resident;  // by place
  // By place: its first shared window and slot of the scheduler.
  struct Place {
    std::uint32_t window = 0, slot = 0;
  };
  std::vector<Place> places;
  std::vector<Thread*> waiting;  // threads of later launches, until this one has finished

  const LaunchConfig& config() const { return call->config; }
  std::uint32_t ctas() const { return clusters * ctas_per_cluster; }
  bool finished() const { return finished_clusters == clusters; }
  CtaRange range() const { return {first_cta, first_cta + ctas()}; }
};

class Launches {
 public:
  Launches(const std::vector<Simulator::Call>& calls, const SimulatorOptions& options, Grid& grid);
  ~Launches();
  Launches(const Launches&) = delete;
  Launches& operator=(const Launches&) = delete;

  std::uint32_t slots() const { return static_cast<std::uint32_t>(thread_at_.size()); }
  bool finished() const;
  std::string kernels() const;  // their names

  void start_clusters();  // of every launch that may start, as many as have room

  // Makes room for one more cluster of a launch that has some left, and starts it. False: none has, or the chip would
  // have no room.
  bool start_one_more();

  void thread_exit(Thread& thread);
  void finish_if_all_returned(Cluster& cluster);

  // The CTA has ended, or no longer holds back the launch after its own.
  void let_next_start(Cta& cta);

  Launch& at(std::uint32_t number) { return launches_[number]; }
  bool has_next(const Launch& launch) const { return launch.number + std::size_t{1} < launches_.size(); }
  const Launch& launch_of(std::uint32_t cta) const;
  std::string cta_text(std::uint32_t cta) const;  // "CTA 3", with its kernel where there are several

  // Whether a thread of the one CTA is within `scope` of a thread of the other.
  bool in_scope(Scope scope, std::uint32_t cta, std::uint32_t other) const {
    if (cta == other || scope >= Scope::gpu) return true;
    return scope == Scope::cluster && cluster_of_[cta] == cluster_of_[other];
  }

  // Null where `pointer` is not in shared memory.
  Cta* shared_owner(const void* pointer) const {
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - visible_);
    return offset < window_bytes_ ? cta_at_[offset / kSharedWindow] : nullptr;
  }
  bool in_windows(const void* pointer) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - visible_) < window_bytes_;
  }
  // Where the bytes are that a kernel knows by `pointer`.
  const void* data(const void* pointer) const {
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - visible_);
    return offset < window_bytes_ ? windows_ + offset : pointer;
  }
  void* data(void* pointer) const { return const_cast<void*>(data(static_cast<const void*>(pointer))); }
  Thread& thread_at(std::uint32_t slot) { return *thread_at_[slot]; }
  Thread* find_thread(Actor actor);  // null once its CTA has ended, or where the actor is no thread

  template <class F>
  void each_cta(F f) {
    for (Launch& launch : launches_) {
      for (auto& cluster : launch.resident) {
        if (!cluster) continue;
        for (auto& cta : cluster->ctas) f(*cta);
      }
    }
  }

 private:
  bool may_start(const Launch& launch) const;
  void add_place(Launch& launch);
  void start_cluster(Launch& launch, std::uint32_t index, std::uint32_t place);
  void start_cta(Cta& cta, const Identity& id);
  void start_threads(Cta& cta, const Identity& id);
  void cta_exit(Cta& cta);
  void finish_cluster(Cluster& cluster);

  Grid& grid_;
  std::deque<Launch> launches_;
  std::byte* windows_ = nullptr;  // shared memory
  std::byte* visible_ = nullptr;  // the addresses that kernels know it by, which nobody can access
  std::size_t window_bytes_ = 0;
  StackPool stacks_;
  std::vector<Cta*> cta_at_;               // by shared window; null: empty
  std::vector<Thread*> thread_at_;         // by slot
  std::vector<std::uint32_t> cluster_of_;  // by CTA: numbered through all launches
  std::uint32_t clusters_started_ = 0;
};

}  // namespace gantry::sim

// A resident CTA and its cluster: threads, shared memory, barriers, and what the checker knows of each byte.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "barriers.hpp"
#include "lifetime.hpp"
#include "mbarrier.hpp"
#include "registers.hpp"
#include "shadow.hpp"
#include "thread.hpp"
#include "warp.hpp"
#include "warpgroup.hpp"

namespace gantry::sim {

struct Cluster;
struct Launch;

// The shared window of a CTA: addresses below kSharedBase belong to the system, as on the hardware.
inline constexpr std::uint32_t kSharedBase = 1024;
inline constexpr std::uint32_t kSharedWindow = 256 * 1024;

struct Cta {
  std::uint32_t index = 0;  // among all CTAs of the run
  Launch* launch = nullptr;
  bool lets_next_start = false;  // griddepcontrol.launch_dependents, or ended
  std::uint32_t place = 0;       // which shared window
  std::uint32_t first_slot = 0;  // of its threads, in the scheduler
  std::uint32_t rank = 0;        // in the cluster
  Cluster* cluster = nullptr;
  std::byte* window = nullptr;   // shared memory
  std::byte* visible = nullptr;  // the address that its threads know it by
  std::uint32_t shared_bytes = 0;
  std::vector<Thread> threads;
  std::vector<std::vector<std::shared_ptr<Meeting>>> meetings;  // by warp
  std::vector<std::uint32_t> lanes;                             // by warp: those that have not returned
  std::vector<ClusterPlace> cluster_arrivals, cluster_waits;    // by warp and parity of the round
  std::vector<WarpRegisters> registers;                         // by warp
  std::uint32_t free_registers = 0;                             // of the pool that the CTA was launched with
  std::vector<Thread*> wants_registers;
  std::vector<Warpgroup> warpgroups;
  std::array<NamedBarrier, 16> barriers;
  std::unordered_map<std::uint32_t, Mbarrier> mbarriers;  // by shared address
  std::vector<Cell> cells;
  std::vector<std::uint32_t> actor_owner;  // thread rank by added actor; ~0: a barrier
  Actor start;                             // that the CTA has started
  Lifetime lifetime;
  std::uint32_t alive = 0;
  int in_flight = 0;        // asynchronous operations that refer to this CTA
  int loads_in_flight = 0;  // those of them that still write its shared memory
  // What proxy fences made of clocks: of shared memory, of global memory, of both.
  std::array<ClockMemo, 3> fences;
  ClockRef narrow_before, narrow_after;

  Actor add_actor(std::uint32_t owner) {
    actor_owner.push_back(owner);
    return {index, static_cast<std::uint32_t>(threads.size() + actor_owner.size() - 1)};
  }
};

struct Cluster {
  Launch* launch = nullptr;
  std::uint32_t place = 0;
  std::vector<std::unique_ptr<Cta>> ctas;
  std::uint32_t alive = 0;
  ClusterBarrier barrier;
};

}  // namespace gantry::sim

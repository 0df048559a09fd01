// A simulated thread: its registers' special values, its stack, what it knows of others, and what it waits for.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include <gantry/arch/detail/machine.hpp>

#include "bulk_group.hpp"
#include "clock.hpp"
#include "cp_async.hpp"
#include "fiber.hpp"
#include "flags.hpp"
#include "mma.hpp"
#include "polling.hpp"
#include "sites.hpp"
#include "warpgroup.hpp"

namespace gantry::sim {

struct Cta;

// What a blocked thread waits for, for reports.
struct Waiting {
  SiteId site = 0;
  const void* object = nullptr;  // an mbarrier, or null
  std::uint32_t parity = 0;
  int barrier_id = -1;           // a named barrier
  const void* polled = nullptr;  // memory that is looked at, of `polled_bytes`
  std::uint32_t polled_bytes = 0;
  std::uint32_t mask = 0;
};

struct Thread {
  enum class State : std::uint8_t { ready, running, blocked, polling, exited };

  Identity id{};
  Cta* cta = nullptr;
  std::uint32_t slot = 0, rank = 0;
  State state = State::ready;
  bool leaving = false;  // the run has been given up, and the thread has been told
  View view;
  std::unique_ptr<Fiber> fiber;
  Waiting waiting, last_look;
  SiteId last_site = 0;  // of its last operation
  const char* role = "";
  std::unique_ptr<BulkGroups> bulk;
  std::unique_ptr<ThreadCopies> copies;  // with cp.async; made on first use
  WgmmaThread wgmma;
  std::unique_ptr<MmaOperands> mma;         // made on first use
  std::array<ClockRef, 3> release_fence;    // by scope: what a fence before a relaxed store publishes
  std::vector<Publication> unfenced_reads;  // what relaxed loads have read, for a fence after them
  // What fences of GPU scope have covered, its own and those of threads it has waited for at a barrier since.
  ClockRef fences_sc, fences_acq_rel;
  std::uint32_t cluster_round = 0;                                 // cluster barriers arrived at
  std::uint32_t cluster_waited = 0;                                // and waited for
  std::unordered_map<std::uint64_t, std::uint64_t> acquired_maps;  // edit by address
  std::size_t register_changes = 0;                                // setmaxnreg executed
  Looks looks;
  std::uint64_t looked_at = ~std::uint64_t{0};  // changes of the run that its last look had seen

  // It found what it looked for: its next look is a new one, and does not wait for a change.
  void saw_progress() {
    looks = {};
    looked_at = ~std::uint64_t{0};
  }
};

}  // namespace gantry::sim

// Bulk copies in flight: the agents that move their bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <gantry/arch/detail/machine.hpp>

#include "agents.hpp"
#include "box.hpp"
#include "element.hpp"
#include "grid.hpp"

namespace gantry::sim {

// How a copy changes the values it moves.
struct Transform {
  bool rounds_to_tf32 = false;
  std::uint16_t fill = 0;  // each half-word of an element outside the tensor
  std::optional<ReduceOp> reduce{};
  Element element = Element::b8;
};

// Global to the shared memory of one CTA, credited to a barrier of that CTA.
struct LoadJob {
  std::vector<Piece> pieces;  // shared addresses in the window of `to`
  Cta* to = nullptr;
  Mbarrier* barrier = nullptr;
  Transform transform{};
  const void* map = nullptr;  // that the copy reads until it is done
  SiteId site = 0;
  // Of a map that the run has edited: the issuer, in whose bulk group the map is read. Set when it starts.
  Thread* reader = nullptr;
  Epoch group = 0;
  std::uint32_t load = 0;    // number in the checker, and
  std::uint64_t issued = 0;  // step of the issue: set when it starts
};

// Shared to global, in group `group` of `thread`.
struct StoreJob {
  std::vector<Piece> pieces;
  Cta* from = nullptr;
  Thread* thread = nullptr;
  Epoch group = 0;
  Transform transform{};
  const void* map = nullptr;
  SiteId site = 0;
  std::uint64_t issued = 0;  // set when it starts
};

// Issued by the running thread: both sides are checked on its behalf, and an agent moves the bytes.
void start_load(LoadJob job);
void start_store(StoreJob job);

}  // namespace gantry::sim

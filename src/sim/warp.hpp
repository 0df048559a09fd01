// Lanes of a warp that converge: shuffles, votes, elections, and the instructions that a whole warp executes together.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <gantry/arch/site.hpp>

#include "clock.hpp"
#include "sites.hpp"

namespace gantry::sim {

struct Cta;
struct Thread;

// Lanes that converge to exchange values.
struct Meeting {
  std::uint32_t mask = 0, arrived = 0;
  const char* operation = "";
  SiteId site = 0;  // of the lane that came first
  bool aligned = false, ordered = false;
  std::array<std::uint64_t, 32> values{};
  std::vector<Thread*> waiting{};
  ClockBuilder clock{};
  Published done{};
};

// The whole warp executes an `.aligned` instruction together.
void aligned(const char* operation, Site site);

// A thread has returned: lanes of its warp that wait for it no longer do.
void thread_left_warp(Thread& thread);

// What a lane waits for at a meeting of `mask`, and the findings of a warp whose lanes never converge.
std::string missing_lanes(const Cta& cta, std::uint32_t warp, std::uint32_t mask);
void report_diverged(const Cta& cta);

}  // namespace gantry::sim

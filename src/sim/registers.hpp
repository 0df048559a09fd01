// Registers that `setmaxnreg` moves between the warpgroups of a CTA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "clock.hpp"
#include "sites.hpp"

namespace gantry::sim {

struct Cta;
struct Thread;

// One `setmaxnreg` of a warp: what it asked for, where, and how far its first lane had come.
struct RegisterChange {
  std::uint32_t registers = 0;
  bool grow = false;
  SiteId site = 0;
  Actor actor;
  Epoch epoch = 0;

  bool same(const RegisterChange& other) const { return registers == other.registers && grow == other.grow; }
};

struct WarpRegisters {
  std::uint32_t held = 0;  // a thread
  std::vector<RegisterChange> changes;
  std::size_t done = 0;  // changes that have taken effect; the last one may still wait for registers
};

// What a CTA's last change of registers left behind: warps of a warpgroup that took no part.
void check_registers_at_end(const Cta& cta);
std::string waits_for_registers(const Thread& thread);

}  // namespace gantry::sim

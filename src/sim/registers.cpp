#include "registers.hpp"

#include <algorithm>
#include <utility>

#include <gantry/arch/launch_check.hpp>

#include "grid.hpp"

namespace gantry::sim {
namespace {

constexpr std::uint32_t kWarps = 4;  // of a warpgroup

const char* name_of(const RegisterChange& change) { return change.grow ? "setmaxnreg.inc " : "setmaxnreg.dec "; }

std::string text_of(const RegisterChange& change) { return name_of(change) + std::to_string(change.registers); }

std::string warp_text(const Cta& cta, std::size_t warp) {
  return "warp " + std::to_string(warp) + " of " + grid().cta_text(cta.index);
}

void check_direction(const Cta& cta, std::size_t warp, const RegisterChange& change) {
  const std::uint32_t held = cta.registers[warp].held;
  if (change.grow ? held <= change.registers : held >= change.registers) return;
  complain("setmaxnreg-value", change.site,
           text_of(change) + " was executed by " + warp_text(cta, warp) + ", whose threads have " +
               std::to_string(held) +
               " registers: " + (change.grow ? "inc asks for that many or more." : "dec asks for that many or fewer."));
}

// The four warps of a warpgroup execute the same changes, and wait at a barrier between two of them.
void check_warpgroup(const Cta& cta, std::size_t warp, const RegisterChange& change) {
  const std::size_t first = warp / kWarps * kWarps;
  if ((first + kWarps) * 32 > cta.threads.size()) {
    complain("setmaxnreg-warpgroup", change.site,
             text_of(change) + " was executed by " + warp_text(cta, warp) +
                 ", whose warpgroup has fewer than 128 threads: whole warpgroups change their registers.");
    return;
  }
  const std::size_t turn = cta.registers[warp].changes.size() - 1;
  for (std::size_t other = first; other < first + kWarps; ++other) {
    const auto& changes = cta.registers[other].changes;
    if (other == warp) continue;
    if (changes.size() > turn && !changes[turn].same(change)) {
      complain("setmaxnreg-warpgroup", change.site,
               text_of(change) + " was executed by " + warp_text(cta, warp) + ", and " + text_of(changes[turn]) +
                   " by warp " + std::to_string(other) + " of the same warpgroup at " +
                   grid().sites().text(changes[turn].site) + ": all four warps execute the same.");
      return;
    }
    const bool known = turn == 0 || (changes.size() >= turn &&
                                     self().view.at(changes[turn - 1].actor).seen >= changes[turn - 1].epoch);
    if (grid().checking() && !known) {
      complain("setmaxnreg-warpgroup", change.site,
               text_of(change) + " was executed by " + warp_text(cta, warp) +
                   ", and nothing orders it after the setmaxnreg before it of warp " + std::to_string(other) +
                   ": the warpgroup waits at a barrier between the two.");
      return;
    }
  }
}

// Gives warps that wait what the pool has, and lets them go on.
void hand_out(Cta& cta) {
  for (WarpRegisters& warp : cta.registers) {
    if (warp.done == warp.changes.size()) continue;
    const std::uint32_t wanted = warp.changes.back().registers;
    const std::uint32_t more = wanted > warp.held ? 32 * (wanted - warp.held) : 0;
    if (more > cta.free_registers) continue;
    cta.free_registers -= more;
    warp.held = std::max(wanted, warp.held);
    warp.done = warp.changes.size();
  }
  for (Thread* thread : std::exchange(cta.wants_registers, {})) grid().wake(*thread);
  grid().changed();
}

}  // namespace

void setmaxnreg(std::uint32_t registers, bool grow, Site site) {
  const Call call = enter_call(site, Operation::setmaxnreg);
  aligned(grow ? "setmaxnreg.inc" : "setmaxnreg.dec", site);
  Thread& thread = self();
  Cta& cta = *thread.cta;
  const std::size_t warp = thread.rank / 32;
  WarpRegisters& own = cta.registers[warp];
  // The first of the lanes to go on asks for all of them.
  if (const std::size_t turn = ++thread.register_changes; own.changes.size() < turn) {
    own.changes.push_back({registers, grow, call.site, thread.view.self, thread.view.own.seen});
    advance(thread.view);
    check_direction(cta, warp, own.changes.back());
    check_warpgroup(cta, warp, own.changes.back());
    if (!grow && own.held > registers) {
      cta.free_registers += 32 * (own.held - registers);
      own.held = registers;
    }
    hand_out(cta);
  }
  while (own.done < thread.register_changes) {
    cta.wants_registers.push_back(&thread);
    grid().block({.site = call.site});
  }
}

std::string waits_for_registers(const Thread& thread) {
  const Cta& cta = *thread.cta;
  const WarpRegisters& warp = cta.registers[thread.rank / 32];
  std::uint32_t held = 0;
  for (const WarpRegisters& other : cta.registers) held += 32 * other.held;
  const std::uint32_t wanted = warp.changes.back().registers;
  return std::to_string(wanted) + " registers a thread: its warp has " + std::to_string(warp.held) + " and needs " +
         std::to_string(32 * (wanted - warp.held)) + " more in all, the pool of the CTA has " +
         std::to_string(cta.free_registers) + " of " + std::to_string(held + cta.free_registers) + " left";
}

void check_registers_at_end(const Cta& cta) {
  for (std::size_t first = 0; first + kWarps <= cta.registers.size(); first += kWarps) {
    for (std::size_t warp = first; warp < first + kWarps; ++warp) {
      const auto& most = cta.registers[first].changes;
      const auto& own = cta.registers[warp].changes;
      if (own.size() == most.size()) continue;
      const bool lacks = own.size() < most.size();
      const RegisterChange& odd = lacks ? most[own.size()] : own[most.size()];
      complain("setmaxnreg-warpgroup", odd.site,
               text_of(odd) + " was executed by warp " + std::to_string(lacks ? first : warp) + " and never by warp " +
                   std::to_string(lacks ? warp : first) + " of the same warpgroup of " + grid().cta_text(cta.index) +
                   ": all four warps execute it.");
    }
  }
}

}  // namespace gantry::sim

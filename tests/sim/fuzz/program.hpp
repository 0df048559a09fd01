// A random kernel: a list of operations in an order in which they can be executed one after the other, so that it never
// hangs, each with the threads that execute it.
//
// Every operation has a line of its own, by which reports are compared with the oracle. Data are handed from one thread
// to another along the list; a program with nothing left out is free of races by the way it was made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gantry/arch/tags.hpp>

namespace gantry::fuzz {

using arch::Scope;
using arch::Semantics;

inline constexpr int kWarps = 2;                                // of a CTA
inline constexpr std::uint32_t kAgentRanks[] = {0, 1, 32, 33};  // threads that do more than come to barriers
inline constexpr int kAgentsPerCta = 4;
inline constexpr std::uint32_t kBytes = 64;  // of a location

// Memory that operations touch: in the shared memory of a CTA, or in global memory.
struct Location {
  int cta = -1;  // -1: global
  bool shared() const { return cta >= 0; }
};

struct Barrier {
  int cta = 0;
  std::uint32_t count = 1;
};

enum class Op : std::uint8_t {
  load,  // of `bytes` at `offset` of `location`
  store,
  update,     // atomic add
  set_flag,   // store of `value`
  join_flag,  // atomic or of `value`
  wait_flag,  // until all bits of `value` are there
  fence,
  proxy_fence,
  arrive,      // on `barrier`; `bytes` > 0: expects them
  wait,        // for `phase`
  bulk_load,   // `other` to `location`, credited to `barrier`
  bulk_store,  // `location` to `other`
  bulk_reduce,
  commit,
  wait_group,
  cp_async,  // `other` to `location`
  cp_commit,
  cp_wait,
  cp_arrive,
  remote_store,     // st.async to `location`, credited to `barrier`
  named_barrier,    // by the warps of `warps`
  cluster_barrier,  // by all threads
  syncwarp
};

struct Step {
  Op op = Op::fence;
  int agent = -1;  // -1: the warps of `warps`
  std::uint32_t warps = 0;
  int location = -1, other = -1;
  std::uint32_t offset = 0, bytes = 0, value = 0;
  Semantics semantics = Semantics::weak;
  Scope scope = Scope::gpu;
  int barrier = -1;
  std::uint32_t phase = 0;
  bool read_only = false;                        // a wait for groups
  int allowed = 0;                               // groups that may be pending
  bool shared_space = true, all_spaces = false;  // of a proxy fence
  bool last_on_barrier = true;                   // no later wait of the same thread on the barrier
  bool essential = false;                        // not to be left out: the kernel's end
  bool left_out = false;

  bool warp_wide() const { return agent < 0; }
};

struct Program {
  int ctas = 1;
  bool cluster = false;  // the CTAs are one cluster
  std::vector<Location> locations;
  std::vector<Barrier> barriers;
  std::vector<Step> steps;
  std::string omission;  // what was left out or weakened; empty: nothing

  int agents() const { return ctas * kAgentsPerCta; }
  static int cta_of(int agent) { return agent / kAgentsPerCta; }
  static std::uint32_t rank_of(int agent) { return kAgentRanks[agent % kAgentsPerCta]; }
  static std::uint32_t warp_of(int agent) {  // through all CTAs
    return static_cast<std::uint32_t>(cta_of(agent) * kWarps) + rank_of(agent) / 32;
  }
  bool takes_part(const Step& step, int agent) const {
    return step.agent == agent || (step.warp_wide() && (step.warps >> warp_of(agent) & 1) != 0);
  }
};

// Deterministic in the seed. With `omission`, one operation is left out or weakened, another one for each number.
Program generate(std::uint64_t seed);
Program generate(std::uint64_t seed, int omission);

const char* to_text(Op op);
std::string to_text(const Program& program);  // one line for each step

}  // namespace gantry::fuzz

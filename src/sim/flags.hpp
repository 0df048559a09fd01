// What releasing stores and atomics to an address have published, for those who read it there.
#pragma once

#include <cstdint>
#include <unordered_map>

#include <gantry/arch/tags.hpp>

#include "clock.hpp"

namespace gantry::sim {

struct Thread;

class Flags {
 public:
  // What a strong load learns: at once where it acquires, at the next fence where it is relaxed.
  void learn(Thread& thread, const void* address, arch::Semantics semantics);

  // What a strong store tells: everything where it releases, what the last fence covered where it is relaxed. An update
  // carries on what was there before.
  void tell(Thread& thread, const void* address, arch::Semantics semantics, bool update);

 private:
  std::unordered_map<std::uint64_t, Published> published_;  // by address
};

}  // namespace gantry::sim

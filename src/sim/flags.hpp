// What releasing stores and atomics to an address have published, for those who read it there, kept by scope: a release
// reaches a reader only where each is within the other's scope.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <gantry/arch/tags.hpp>

#include "clock.hpp"

namespace gantry::sim {

struct Thread;

// What one CTA has published with one scope. `noted` is known by a chain that the memory model does not promise.
struct Publication {
  arch::Scope scope = arch::Scope::gpu;
  std::uint32_t cta = 0;
  ClockRef clock{}, noted{};
};

class Flags {
 public:
  // What a strong load learns: at once where it acquires, at the next fence where it is relaxed.
  void learn(Thread& thread, const void* address, arch::Semantics semantics, arch::Scope scope);

  // What a strong store tells: everything where it releases, what the last fence covered where it is relaxed. An update
  // carries on what was there before.
  struct Telling {
    arch::Semantics semantics = arch::Semantics::relaxed;
    arch::Scope scope = arch::Scope::gpu;
    bool update = false;
  };
  void tell(Thread& thread, const void* address, const Telling& telling);

  // The bytes are overwritten by something that publishes nothing.
  void forget(std::uint64_t address, std::uint64_t bytes);

 private:
  struct Flag {
    std::uint64_t address = 0;
    Published gpu{};                    // of GPU scope, all CTAs together
    std::vector<Publication> by_cta{};  // the same apart, and those of narrower scopes
  };
  static constexpr std::uint64_t kGrain = 16;

  Flag* find(std::uint64_t address);
  static void add(Flag& flag, const Publication& told);

  std::unordered_map<std::uint64_t, std::vector<Flag>> flags_;  // by address / kGrain
};

// A fence of the thread: it learns what its relaxed loads have read, and what it knows is published by its relaxed
// stores from now on.
void thread_fence(Thread& thread, arch::Semantics semantics, arch::Scope scope);

// What a relaxed arrival or store of this scope publishes of the thread's fences; null: nothing.
ClockRef fenced_for(const Thread& thread, arch::Scope scope);

}  // namespace gantry::sim

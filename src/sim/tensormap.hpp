// Tensor maps in global memory: written through the generic proxy, published, acquired, and read by copies through a
// proxy of their own.
//
// Each use of a map is a read that ends with its copy; that of a load also with the bulk group that it was issued into,
// once the group has been read. A copy may use a map that the run has edited once the edit has
// been released to the tensormap proxy, is known to the issuing thread, and has been acquired by it since; a map may be
// edited once every copy that uses it is known to have ended.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <gantry/arch/tags.hpp>

#include "clock.hpp"
#include "sites.hpp"

namespace gantry::sim {

struct Thread;

class TensorMaps {
 public:
  // The running thread writes the map: by tensormap.replace, a copy of a whole map, or ordinary stores.
  void edit(const void* map, SiteId site);

  // Ordinary stores to memory that copies read as a map.
  void stored(std::uint64_t address, SiteId site);

  // The running thread is about to issue a copy with the map: whether it may.
  void check_use(const void* map, SiteId site);

  // It has issued the copy; `op` is its number in the checker, and `group` that of its bulk group's reading, where the
  // copy is a load by a map that was edited.
  void use(const void* map, std::uint32_t op, SiteId site, std::uint32_t group = kNoGroup);
  static constexpr std::uint32_t kNoGroup = ~0u;

  bool is_edited(const void* map) const;

  // fence.proxy.tensormap: what the running thread knows is published to the proxy; what it reads of the map is what it
  // knows of it.
  void release(arch::Scope scope);
  void acquire(const void* map, arch::Scope scope);

 private:
  struct Use {
    std::uint32_t op = 0;
    SiteId site = 0;
    std::uint32_t group = kNoGroup;
    bool too_early = false;  // the issuer meant an edit that it had not acquired
  };
  struct Map {
    std::uint64_t edits = 0;  // 0: as the host encoded it
    Actor editor;
    Epoch epoch = 0;
    SiteId site = 0;
    std::vector<Use> uses;  // that may still be going on
  };

  Map& at(const void* map);
  static bool knows_end(const Thread& thread, const Use& use);
  bool released(const Map& map, std::uint32_t user) const;

  std::unordered_map<std::uint64_t, Map> maps_;  // by address
  std::array<ClockRef, 3> released_;             // by scope
};

}  // namespace gantry::sim

// What a thread can ask about itself and its surroundings.
#include "grid.hpp"

namespace gantry::sim {

const Identity& identity() { return self().id; }

std::uint32_t shared_address(const void* pointer, Site site) {
  Cta* cta = grid().shared_owner(pointer);
  if (!cta) {
    const SiteId id = grid().sites().intern(site, Operation::address);
    accuse("wrong-space", id,
           "The shared address of " + address_text(pointer) + " was asked for, which is outside of shared memory.");
    grid().stop();
  }
  return static_cast<std::uint32_t>(static_cast<const std::byte*>(pointer) - cta->visible);
}

void* map_shared_rank(const void* pointer, std::uint32_t rank, Site site) {
  const std::uint32_t offset = shared_address(pointer, site);
  auto& ctas = self().cta->cluster->ctas;
  if (rank >= ctas.size()) {
    const SiteId id = grid().sites().intern(site, Operation::address);
    accuse("cluster-rank", id,
           "mapa was given rank " + std::to_string(rank) + " in a cluster of " + std::to_string(ctas.size()) +
               ": the highest is " + std::to_string(ctas.size() - 1) + ".");
    grid().stop();
  }
  return ctas[rank]->visible + offset;
}

std::uint32_t cta_rank_of(const void* pointer, Site site) {
  shared_address(pointer, site);
  return grid().shared_owner(pointer)->rank;
}

void name_object(const void* pointer, const ObjectName& name) { grid().names().add(pointer, name); }

void name_role(const char* role) { self().role = role; }

std::uint64_t clock64(Site site) {
  enter_call(site, Operation::clock);
  grid().yield();
  // A loop that looks for something may end by the time that has passed: the next look does not wait.
  self().looks = {};
  grid().changed();
  return grid().step();
}

std::uint64_t globaltimer(Site site) { return clock64(site); }

void pause(Site site) {
  const Call call = enter_call(site, Operation::pause);
  grid().poll({.site = call.site});
}

}  // namespace gantry::sim

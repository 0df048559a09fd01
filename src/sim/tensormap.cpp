#include "tensormap.hpp"

#include <cstring>

#include <gantry/tma/replace.hpp>

#include "grid.hpp"

namespace gantry::sim {
namespace {

bool placed_on(const void* map, std::size_t to, SiteId site) {
  if (reinterpret_cast<std::uintptr_t>(map) % to == 0) return true;
  complain("tensor-map-alignment", site, "A tensor map is not aligned to " + std::to_string(to) + " bytes.");
  return false;
}

void note_in_flight(const void* map, SiteId site) {
  const EditedMaps::Map* found = grid().edited_maps().find(map);
  if (found && found->copies_in_flight > 0) {
    complain("tensor-map-in-flight", site,
             "A tensor map was edited while a copy that uses it was in flight: wait for the copy first.");
  }
}

}  // namespace

EditedMaps::Map* EditedMaps::find(const void* map) {
  const auto found = maps_.find(reinterpret_cast<std::uint64_t>(map));
  return found == maps_.end() ? nullptr : &found->second;
}

void EditedMaps::release(Actor editor) {
  for (auto& [address, map] : maps_) {
    if (map.editor != editor || map.released) continue;
    map.released = true;
    ++map.version;
  }
}

void EditedMaps::count_use(const void* map, int change) {
  if (Map* found = find(map)) found->copies_in_flight += change;
}

void tensormap_replace(void* map, MapField field, int ordinal, std::uint64_t value, Site site) {
  const Call call = enter_call(site, Operation::tensormap_replace);
  if (call.dropped() || !placed_on(map, 128, call.site)) return;
  Thread& thread = self();
  if (grid().checking()) {
    grid().checker().thread_access(thread, map, sizeof(TmaDescriptor), true, false, call.site);
  }
  if (!grid().shared_owner(map)) {
    note_in_flight(map, call.site);
    EditedMaps::Map& edited = grid().edited_maps().edit(map);
    edited.released = false;
    edited.editor = thread.view.self;
  }
  TmaDescriptor bytes;
  std::memcpy(&bytes, map, sizeof bytes);
  // Both enums list the fields in the order in which PTX does.
  if (replace(bytes, static_cast<TmaReplaceField>(field), ordinal, value) != TmaReplaceResult::replaced) {
    complain("tensor-map-invalid", call.site,
             "tensormap.replace was refused: the bytes are no tiled tensor map, or the value does not fit the field.");
    return;
  }
  std::memcpy(map, &bytes, sizeof bytes);
}

void tensormap_prefetch(const void* map, Site site) {
  const Call call = enter_call(site, Operation::tensormap_prefetch);
  if (grid().shared_owner(map)) {
    complain("tensor-map-space", call.site, "prefetch.tensormap was given a map in shared memory.");
  }
}

// The warp moves the map together, each lane its four bytes: what another lane edited must have been ordered before.
void tensormap_copy_release(void* global_map, const void* shared_map, Scope, Site site) {
  const Call call = enter_call(site, Operation::tensormap_copy);
  aligned("tensormap.cp_fenceproxy", site);
  if (!placed_on(global_map, 128, call.site) || !placed_on(shared_map, 128, call.site)) return;
  Thread& thread = self();
  const std::uint32_t lane = thread.rank % 32;
  if (lane == 0) note_in_flight(global_map, call.site);
  auto* to = static_cast<std::byte*>(global_map) + 4 * lane;
  const auto* from = static_cast<const std::byte*>(shared_map) + 4 * lane;
  if (grid().checking()) {
    grid().checker().thread_access(thread, from, 4, false, false, call.site);
    grid().checker().thread_access(thread, to, 4, true, true, call.site);
  }
  std::memcpy(to, from, 4);
  // Once it returns, every lane has read its part.
  std::uint64_t values[32];
  warp_exchange({.mask = ~0u, .ordered = true, .operation = "tensormap.cp_fenceproxy", .aligned = true}, values, site);
  if (lane != 0) return;
  EditedMaps::Map& map = grid().edited_maps().edit(global_map);
  ++map.version;
  map.released = true;
  map.editor = thread.view.self;
}

void fence_tensormap_release(Scope, Site site) {
  const Call call = enter_call(site, Operation::fence_tensormap_release);
  if (call.dropped()) return;
  grid().edited_maps().release(self().view.self);
}

void fence_tensormap_acquire(const void* map, Scope, Site site) {
  const Call call = enter_call(site, Operation::fence_tensormap_acquire);
  if (call.dropped()) return;
  const EditedMaps::Map* found = grid().edited_maps().find(map);
  if (found) self().acquired_maps[reinterpret_cast<std::uint64_t>(map)] = found->version;
}

void check_map_use(const void* map, SiteId site) {
  const EditedMaps::Map* found = grid().edited_maps().find(map);
  if (!found) return;
  if (!found->released) {
    complain("tensor-map-unreleased", site,
             "A copy uses a tensor map that was edited in this kernel and not released to the tensormap proxy.");
    return;
  }
  const auto& acquired = self().acquired_maps;
  const auto own = acquired.find(reinterpret_cast<std::uint64_t>(map));
  if (own == acquired.end() || own->second != found->version) {
    complain("tensor-map-unacquired", site,
             "A copy uses a tensor map that was edited in this kernel, and the issuing thread has not acquired it "
             "since: fence.proxy.tensormap::generic.acquire comes first.");
  }
}

}  // namespace gantry::sim

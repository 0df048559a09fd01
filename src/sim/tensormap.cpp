#include "tensormap.hpp"

#include <algorithm>
#include <cstring>

#include <gantry/tma/replace.hpp>

#include "grid.hpp"

namespace gantry::sim {
namespace {

bool placed_on(const void* map, std::size_t to, SiteId site) {
  if (reinterpret_cast<std::uintptr_t>(map) % to != 0) {
    accuse("tensor-map-alignment", site,
           "A tensor map is at address " + address_text(map) + ", which is no multiple of " + std::to_string(to) + ".");
    return false;
  }
  const Cta* cta = grid().shared_owner(map);
  if (!cta) {
    if (grid().global_memory().is_there(reinterpret_cast<std::uint64_t>(map), sizeof(TmaDescriptor), true)) return true;
    accuse("illegal-address", site,
           "A tensor map is at address " + address_text(map) + ", which is no memory of the host that can be written.");
    return false;
  }
  const auto offset = static_cast<const std::byte*>(map) - cta->visible - kSharedBase;
  if (offset >= 0 && offset + std::ptrdiff_t{sizeof(TmaDescriptor)} <= std::ptrdiff_t{cta->shared_bytes}) return true;
  accuse("shared-out-of-range", site,
         "A tensor map at offset " + std::to_string(offset) + " lies outside of the " +
             std::to_string(cta->shared_bytes) + " bytes of shared memory of " + grid().cta_text(cta->index) + ".");
  return false;
}

// "'slot' of CTA 0", "the tensor map at 0x7f00"
std::string map_text(const void* map) {
  const std::string bytes = grid().names().describe_bytes(reinterpret_cast<std::uint64_t>(map), sizeof(TmaDescriptor));
  return bytes.starts_with('\'') ? bytes : "the tensor map at " + address_text(map);
}

constexpr std::uint64_t kNothingAcquired = 0;  // an acquire of a map whose edit the thread did not know

bool knows(const Thread& thread, Actor actor, Epoch epoch) { return thread.view.at(actor).seen >= epoch; }

}  // namespace

// A map that is seen for the first time may have been written by ordinary stores of this run.
TensorMaps::Map& TensorMaps::at(const void* map) {
  const auto [found, added] = maps_.try_emplace(reinterpret_cast<std::uint64_t>(map));
  Map& here = found->second;
  if (added && grid().checking()) {
    if (const Record* written = grid().checker().last_store(found->first, sizeof(TmaDescriptor))) {
      here.edits = 1;
      here.editor = written->actor();
      here.epoch = written->epoch;
      here.site = written->site;
    }
  }
  return here;
}

bool TensorMaps::released(const Map& map, std::uint32_t user) const {
  for (const Scope scope : {Scope::cta, Scope::cluster, Scope::gpu}) {
    const ClockRef& clock = released_[static_cast<std::size_t>(scope)];
    if (clock && clock->at(map.editor).seen >= map.epoch && grid().launches().in_scope(scope, map.editor.cta, user)) {
      return true;
    }
  }
  return false;
}

void TensorMaps::edit(const void* map, SiteId site) {
  if (!grid().checking()) return;
  Map& here = at(map);
  Thread& thread = self();
  Checker& checker = grid().checker();
  std::erase_if(here.uses, [&](const Use& use) {
    const AsyncOp& op = checker.op(use.op);
    if (knows_end(thread, use)) return true;
    const std::string pair = checker.describe(thread.view.self) + " edited " + map_text(map) + " at " +
                             grid().sites().text(site) + ", and nothing orders that ";
    if (use.too_early) {
      grid().findings().add("tensor-map-unacquired", site, use.site,
                            pair + "before " + checker.describe_op(use.site, op.issuer) +
                                " with it: release the edit, tell the issuing thread, and acquire the map there.");
    } else {
      grid().findings().add(
          "tensor-map-in-flight", site, use.site,
          pair + "after " + checker.describe_op(use.site, op.issuer) + " with it has ended: wait for the copy first.");
    }
    return true;
  });
  ++here.edits;
  here.editor = thread.view.self;
  here.epoch = thread.view.own.seen;
  here.site = site;
}

void TensorMaps::stored(std::uint64_t address, SiteId site) {
  if (maps_.empty()) return;
  constexpr std::uint64_t kAligned = 64;
  for (const std::uint64_t start : {address / kAligned * kAligned, address / kAligned * kAligned - kAligned}) {
    if (maps_.contains(start)) edit(reinterpret_cast<const void*>(start), site);
  }
}

void TensorMaps::check_use(const void* map, SiteId site) {
  if (!grid().checking()) return;
  const Map& here = at(map);
  if (here.edits == 0) return;
  const Thread& thread = self();
  const auto edited = [&] {
    return grid().checker().describe(thread.view.self) + " issued a copy with " + map_text(map) + ", which " +
           grid().checker().describe(here.editor) + " edited at " + grid().sites().text(here.site);
  };
  if (!released(here, thread.cta->index)) {
    complain("tensor-map-unreleased", site,
             edited() + ", and the edit was not released to the tensormap proxy with a scope that reaches the copy.");
    return;
  }
  const auto own = thread.acquired_maps.find(reinterpret_cast<std::uint64_t>(map));
  if (!knows(thread, here.editor, here.epoch)) {
    complain("tensor-map-unacquired", site, edited() + ", and nothing orders the copy after the edit.");
  } else if (own == thread.acquired_maps.end() || own->second != here.edits) {
    complain(
        "tensor-map-unacquired", site,
        edited() +
            ", and has not acquired it since: fence.proxy.tensormap::generic.acquire comes after the edit is known "
            "and before the copy.");
  }
}

bool TensorMaps::knows_end(const Thread& thread, const Use& use) {
  const Checker& checker = grid().checker();
  return Checker::knows_end(thread.view, checker.op(use.op)) ||
         (use.group != kNoGroup && Checker::knows_end(thread.view, checker.op(use.group)));
}

bool TensorMaps::is_edited(const void* map) const {
  const auto found = maps_.find(reinterpret_cast<std::uint64_t>(map));
  return found != maps_.end() && found->second.edits > 0;
}

void TensorMaps::use(const void* map, std::uint32_t op, SiteId site, std::uint32_t group) {
  if (!map || !grid().checking()) return;
  Map& here = at(map);
  const Thread& thread = self();
  const auto own = thread.acquired_maps.find(reinterpret_cast<std::uint64_t>(map));
  std::erase_if(here.uses, [&](const Use& use) { return knows_end(thread, use); });
  here.uses.push_back({op, site, group, own != thread.acquired_maps.end() && own->second == kNothingAcquired});
}

void TensorMaps::release(Scope scope) {
  if (!grid().checking()) return;
  Thread& thread = self();
  ClockBuilder known;
  known.join(thread.view);
  ClockRef& clock = released_[static_cast<std::size_t>(std::min(scope, Scope::gpu))];
  clock = joined(clock, known.freeze());
  advance(thread.view);
}

void TensorMaps::acquire(const void* map, Scope scope) {
  if (!grid().checking()) return;
  const Map& here = at(map);
  Thread& thread = self();
  const bool reaches = grid().launches().in_scope(scope, here.editor.cta, thread.cta->index);
  const bool known = here.edits > 0 && reaches && knows(thread, here.editor, here.epoch);
  thread.acquired_maps[reinterpret_cast<std::uint64_t>(map)] = known ? here.edits : kNothingAcquired;
}

void tensormap_replace(void* map, MapField field, int ordinal, std::uint64_t value, Site site) {
  const Call call = enter_call(site, Operation::tensormap_replace);
  if (call.dropped() || !placed_on(map, 128, call.site)) return;
  Thread& thread = self();
  if (grid().checking()) {
    grid().checker().thread_access(thread, map, sizeof(TmaDescriptor), {.write = true}, call.site);
  }
  if (!grid().shared_owner(map)) grid().maps().edit(map, call.site);
  void* where = grid().launches().data(map);
  TmaDescriptor bytes;
  std::memcpy(&bytes, where, sizeof bytes);
  // Both enums list the fields in the order in which PTX does.
  if (replace(bytes, static_cast<TmaReplaceField>(field), ordinal, value) != TmaReplaceResult::replaced) {
    accuse("tensor-map-invalid", call.site,
           "tensormap.replace of the map at address " + address_text(map) + " by " + std::to_string(value) +
               " was refused: the bytes are no tiled tensor map, or the value does not fit the field.");
    return;
  }
  std::memcpy(where, &bytes, sizeof bytes);
}

void tensormap_prefetch(const void* map, Site site) {
  const Call call = enter_call(site, Operation::tensormap_prefetch);
  if (grid().shared_owner(map)) {
    accuse("tensor-map-space", call.site,
           "prefetch.tensormap was given a map in shared memory, at " +
               grid().names().describe_bytes(reinterpret_cast<std::uint64_t>(map), sizeof(TmaDescriptor)) + ".");
  }
}

// The warp moves the map together, each lane its four bytes: what another lane edited must have been ordered before.
void tensormap_copy_release(void* global_map, const void* shared_map, Scope scope, Site site) {
  const Call call = enter_call(site, Operation::tensormap_copy);
  aligned("tensormap.cp_fenceproxy", site);
  if (!placed_on(global_map, 128, call.site) || !placed_on(shared_map, 128, call.site)) return;
  Thread& thread = self();
  const std::uint32_t lane = thread.rank % 32;
  auto* to = static_cast<std::byte*>(global_map) + 4 * lane;
  const auto* from = static_cast<const std::byte*>(shared_map) + 4 * lane;
  if (grid().checking()) {
    grid().checker().thread_access(thread, from, 4, {}, call.site);
    grid().checker().thread_access(thread, to, 4, {.write = true, .strong = true, .scope = scope}, call.site);
  }
  std::memcpy(to, grid().launches().data(from), 4);
  // Once it returns, every lane has read its part.
  std::uint64_t values[32];
  warp_exchange({.mask = ~0u, .ordered = true, .operation = "tensormap.cp_fenceproxy", .aligned = true}, values, site);
  if (lane != 0) return;
  grid().maps().edit(global_map, call.site);
  grid().maps().release(scope);
}

void fence_tensormap_release(Scope scope, Site site) {
  const Call call = enter_call(site, Operation::fence_tensormap_release);
  if (!call.dropped()) grid().maps().release(scope);
}

void fence_tensormap_acquire(const void* map, Scope scope, Site site) {
  const Call call = enter_call(site, Operation::fence_tensormap_acquire);
  if (!call.dropped()) grid().maps().acquire(map, scope);
}

}  // namespace gantry::sim

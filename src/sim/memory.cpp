#include "memory.hpp"

#include <algorithm>
#include <cstring>

#include "element.hpp"
#include "grid.hpp"
#include "issue.hpp"

namespace gantry::sim {
namespace {

bool synchronises(Semantics semantics) { return semantics != Semantics::weak; }

// What the update compares with the value in memory, or null.
const void* decides_by(const Atomic& what) {
  if (what.op == AtomicOp::compare_exchange) return what.compare;
  return what.op == AtomicOp::min || what.op == AtomicOp::max ? what.value : nullptr;
}

}  // namespace

bool aligned_access(const void* pointer, std::uint32_t bytes, SiteId site) {
  if (reinterpret_cast<std::uintptr_t>(pointer) % std::min(bytes, 16u) == 0) return true;
  accuse("misaligned-access", site,
         "An access of " + std::to_string(bytes) + " bytes at address " + address_text(pointer) +
             " is not aligned to its size.");
  return false;
}

bool is_global(const void* pointer, SiteId site) {
  if (!grid().shared_owner(pointer)) return true;
  accuse(
      "wrong-space", site,
      "A global access was given " + grid().names().describe_bytes(reinterpret_cast<std::uint64_t>(pointer), 1) + ".");
  return false;
}

bool legal(const void* pointer, std::uint32_t bytes, Space space, SiteId site) {
  if (!aligned_access(pointer, bytes, site)) return false;
  if (space == Space::global) {
    if (!pointer) fault("illegal-address", site, "An access of global memory was given a null address.");
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    return is_global(pointer, site) && grid().global_memory().check_extent(address, bytes, site);
  }
  Cta* cta = grid().shared_owner(pointer);
  if (!cta) {
    accuse("wrong-space", site,
           "A shared access was given address " + address_text(pointer) + ", which is outside of shared memory.");
    return false;
  }
  const auto offset = static_cast<std::uint32_t>(static_cast<const std::byte*>(pointer) - cta->visible);
  if (offset < kSharedBase || offset + bytes > kSharedBase + cta->shared_bytes) {
    accuse("shared-out-of-range", site,
           "An access of " + std::to_string(bytes) + " bytes at offset " +
               std::to_string(static_cast<std::int64_t>(offset) - kSharedBase) + " leaves the " +
               std::to_string(cta->shared_bytes) + " bytes of shared memory of " + grid().cta_text(cta->index) + ".");
    return false;
  }
  if (cta != self().cta) {
    if (space == Space::shared || cta->cluster != self().cta->cluster) {
      accuse("wrong-space", site,
             "A shared access was given " +
                 grid().names().describe_bytes(reinterpret_cast<std::uint64_t>(pointer), bytes) +
                 (space == Space::shared ? ": space_cluster is for the shared memory of other CTAs."
                                         : ", which is not of its cluster."));
      return false;
    }
    note_remote_use(*cta, site);
    if (cta->alive == 0) {
      accuse("cluster-peer-gone", site,
             grid().names().describe_bytes(reinterpret_cast<std::uint64_t>(pointer), bytes) + " " +
                 "were accessed after all threads of that CTA had returned.");
      return false;
    }
  }
  return true;
}

void load(void* to, const void* from, std::uint32_t bytes, Access access, Site site) {
  const Call call = enter_call(site, Operation::load);
  if (synchronises(access.semantics)) {
    grid().poll_point({.site = call.site, .polled = from, .polled_bytes = bytes});
  }
  if (!legal(from, bytes, access.space, call.site)) {
    std::memset(to, 0xCD, bytes);
    return;
  }
  Thread& thread = self();
  const bool strong = synchronises(access.semantics);
  if (strong) grid().flags().learn(thread, from, access.semantics, access.scope);
  if (grid().checking()) {
    grid().checker().thread_access(thread, from, bytes,
                                   {.strong = strong, .scope = access.scope, .constant = access.constant}, call.site);
  }
  std::memcpy(to, grid().launches().data(from), bytes);
}

void store(void* to, const void* from, std::uint32_t bytes, Access access, Site site) {
  const Call call = enter_call(site, Operation::store);
  const bool strong = synchronises(access.semantics);
  if (strong) grid().yield_at(to);
  if (!legal(to, bytes, access.space, call.site)) return;
  Thread& thread = self();
  if (grid().checking()) {
    grid().checker().thread_access(thread, to, bytes, {.write = true, .strong = strong, .scope = access.scope},
                                   call.site);
  }
  if (access.space == Space::global && !access.passed_on) grid().poison().check(from, bytes, call.site);
  grid().flags().forget(reinterpret_cast<std::uint64_t>(to), bytes);
  if (access.space == Space::global) grid().maps().stored(reinterpret_cast<std::uint64_t>(to), call.site);
  std::memcpy(grid().launches().data(to), from, bytes);
  if (!strong) return;
  grid().flags().tell(thread, to, {.semantics = access.semantics, .scope = access.scope});
  grid().changed(to, bytes);
}

void atomic(const Atomic& what, Access access, Site site) {
  const Call call = enter_call(site, Operation::atomic);
  // An update that leaves what it finds is a look, and a loop of them waits for somebody else.
  grid().poll_point({.site = call.site, .polled = what.target, .polled_bytes = element_size(what.element)});
  const std::uint32_t size = element_size(what.element);
  const std::uint32_t bytes = size * static_cast<std::uint32_t>(what.lanes);
  if (!legal(what.target, bytes, access.space, call.site)) {
    if (what.old) std::memset(what.old, 0xCD, bytes);
    return;
  }
  Thread& thread = self();
  auto* target = static_cast<std::byte*>(grid().launches().data(what.target));
  if (access.space == Space::global) grid().poison().check(what.value, bytes, call.site);
  if (const void* decisive = decides_by(what)) grid().poison().check_compared(decisive, bytes, call.site);
  std::byte before[16];
  std::memcpy(before, target, bytes);
  if (what.old) std::memcpy(what.old, target, bytes);
  for (std::uint32_t at = 0; at < bytes; at += size) {
    const auto* compare = what.compare ? static_cast<const std::byte*>(what.compare) + at : nullptr;
    update_element(what.op, what.element, target + at, static_cast<const std::byte*>(what.value) + at, compare);
  }
  const bool compared = what.op == AtomicOp::compare_exchange;
  // A comparison that failed has read and not written.
  const bool wrote = !compared || std::memcmp(before, what.compare, bytes) == 0;
  // As a load does: what it acquires comes before its own access too.
  grid().flags().learn(thread, what.target, access.semantics, access.scope);
  if (grid().checking()) {
    grid().checker().thread_access(thread, what.target, bytes,
                                   {.write = wrote, .strong = true, .scope = access.scope, .size = size}, call.site);
  }
  if (wrote) {
    grid().flags().tell(thread, what.target, {.semantics = access.semantics, .scope = access.scope, .update = true});
  }
  if (std::memcmp(before, target, bytes) != 0) grid().changed(what.target, bytes);
}

}  // namespace gantry::sim

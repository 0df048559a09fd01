#include "flags.hpp"

#include <algorithm>

#include "grid.hpp"

namespace gantry::sim {
namespace {

bool acquires(Semantics s) { return s == Semantics::acquire || s == Semantics::acq_rel || s == Semantics::sc; }
bool releases(Semantics s) { return s == Semantics::release || s == Semantics::acq_rel || s == Semantics::sc; }

// There is one GPU: the system's scope is the GPU's.
Scope narrowed(Scope scope) { return std::min(scope, Scope::gpu); }
std::size_t index_of(Scope scope) { return static_cast<std::size_t>(narrowed(scope)); }

void acquire(Thread& thread, const Publication& told) {
  thread.view.base = joined(thread.view.base, told.clock);
  thread.view.noted = joined(thread.view.noted, told.noted);
}

void learn_at_fence(Thread& thread, const Publication& told) {
  auto& pending = thread.unfenced_reads;
  const bool known = std::any_of(pending.begin(), pending.end(), [&](const Publication& p) {
    return p.clock == told.clock && p.noted == told.noted && p.cta == told.cta;
  });
  if (!known) pending.push_back(told);
}

ClockRef all_of(const View& view) {
  ClockBuilder builder;
  builder.join(view);
  return builder.freeze();
}

}  // namespace

Flags::Flag* Flags::find(std::uint64_t address) {
  const auto found = flags_.find(address / kGrain);
  if (found == flags_.end()) return nullptr;
  const auto flag =
      std::find_if(found->second.begin(), found->second.end(), [&](const Flag& f) { return f.address == address; });
  return flag == found->second.end() ? nullptr : &*flag;
}

void Flags::learn(Thread& thread, const void* address, Semantics semantics, Scope scope) {
  Flag* flag = find(reinterpret_cast<std::uint64_t>(address));
  if (!flag) return;
  const std::uint32_t own = thread.cta->index;
  const bool whole_gpu = narrowed(scope) == Scope::gpu;
  if (whole_gpu && acquires(semantics)) flag->gpu.acquire(thread.view);
  for (const Publication& told : flag->by_cta) {
    const bool taken = whole_gpu && acquires(semantics) && told.scope == Scope::gpu && !told.noted;
    if (taken || !grid().launches().in_scope(std::min(told.scope, scope), told.cta, own)) continue;
    acquires(semantics) ? acquire(thread, told) : learn_at_fence(thread, told);
  }
}

void Flags::add(Flag& flag, const Publication& told) {
  if (!told.clock && !told.noted) return;
  if (told.scope == Scope::gpu) flag.gpu = Published(joined(flag.gpu.clock(), told.clock));
  const auto same = std::find_if(flag.by_cta.begin(), flag.by_cta.end(),
                                 [&](const Publication& p) { return p.scope == told.scope && p.cta == told.cta; });
  if (same == flag.by_cta.end()) {
    flag.by_cta.push_back(told);
  } else {
    same->clock = joined(same->clock, told.clock);
    same->noted = joined(same->noted, told.noted);
  }
}

void Flags::tell(Thread& thread, const void* address, const Telling& telling) {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  Flag* flag = find(at);
  if (!flag) {
    auto& here = flags_[at / kGrain];
    here.push_back({.address = at});
    flag = &here.back();
  } else if (!telling.update) {
    *flag = {.address = at};
  }
  const std::uint32_t cta = thread.cta->index;
  const Scope scope = narrowed(telling.scope);
  if (releases(telling.semantics)) {
    add(*flag, {.scope = scope, .cta = cta, .clock = all_of(thread.view), .noted = thread.view.noted});
    advance(thread.view);
    return;
  }
  for (const Scope fence : {Scope::cta, Scope::cluster, Scope::gpu}) {
    add(*flag, {.scope = std::min(scope, fence), .cta = cta, .clock = thread.release_fence[index_of(fence)]});
  }
  add(*flag, {.scope = scope, .cta = cta, .clock = thread.fences_sc, .noted = thread.fences_acq_rel});
}

void Flags::forget(std::uint64_t address, std::uint64_t bytes) {
  if (flags_.empty()) return;
  for (std::uint64_t grain = address / kGrain; grain <= (address + bytes - 1) / kGrain; ++grain) {
    const auto found = flags_.find(grain);
    if (found == flags_.end()) continue;
    std::erase_if(found->second, [&](const Flag& f) { return f.address >= address && f.address < address + bytes; });
    if (found->second.empty()) flags_.erase(found);
  }
}

void thread_fence(Thread& thread, Semantics semantics, Scope scope) {
  std::erase_if(thread.unfenced_reads, [&](const Publication& told) {
    if (semantics == Semantics::release) return false;
    if (!grid().launches().in_scope(std::min(told.scope, scope), told.cta, thread.cta->index)) return false;
    acquire(thread, told);
    return true;
  });
  if (semantics == Semantics::acquire) return;
  const ClockRef known = all_of(thread.view);
  for (std::size_t i = 0; i <= index_of(scope); ++i) thread.release_fence[i] = known;
  if (narrowed(scope) == Scope::gpu) {
    ClockRef& fences = semantics == Semantics::sc ? thread.fences_sc : thread.fences_acq_rel;
    fences = joined(fences, known);
  }
  advance(thread.view);
}

ClockRef fenced_for(const Thread& thread, Scope scope) { return thread.release_fence[index_of(scope)]; }

}  // namespace gantry::sim

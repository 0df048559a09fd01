#include "polling.hpp"

#include <algorithm>
#include <utility>

#include "thread.hpp"

namespace gantry::sim {
namespace {

// The hash table's order depends on where the host put things, and a run must not.
void sort_by_slot(std::vector<Thread*>& threads) {
  std::sort(threads.begin(), threads.end(), [](const Thread* a, const Thread* b) { return a->slot < b->slot; });
}

}  // namespace

Looks::Look* Looks::find(std::uint64_t grain) {
  auto* const end = last.begin() + static_cast<std::ptrdiff_t>(count);
  auto* const found = std::find_if(last.begin(), end, [&](const Look& look) { return look.grain == grain; });
  return found == end ? nullptr : found;
}

bool Polling::unchanged(Looks& looks, std::uint64_t grain) const {
  if (!looks.find(grain)) return false;
  for (std::size_t i = 0; i < looks.count; ++i) {
    if (places_.at(looks.last[i].grain).version != looks.last[i].version) return false;
  }
  return true;
}

void Polling::look(Looks& looks, std::uint64_t grain) {
  const std::uint64_t version = places_[grain].version;
  if (Looks::Look* known = looks.find(grain)) {
    known->version = version;
    return;
  }
  if (looks.count == Looks::kMost) {
    std::move(looks.last.begin() + 1, looks.last.end(), looks.last.begin());
    --looks.count;
    looks.too_many = true;
  }
  looks.last[looks.count++] = {grain, version};
}

void Polling::wait(Thread& thread) {
  ++waiting_;
  const Looks& looks = thread.looks;
  if (looks.count == 0 || looks.too_many) {
    indifferent_.push_back(&thread);
    return;
  }
  for (std::size_t i = 0; i < looks.count; ++i) places_[looks.last[i].grain].waiting.push_back(&thread);
}

void Polling::take(Place& place, std::vector<Thread*>& out) {
  for (Thread* thread : std::exchange(place.waiting, {})) {
    for (std::size_t i = 0; i < thread->looks.count; ++i)
      std::erase(places_[thread->looks.last[i].grain].waiting, thread);
    out.push_back(thread);
    --waiting_;
  }
}

std::vector<Thread*> Polling::changed(const void* address, std::uint64_t bytes) {
  std::vector<Thread*> woken;
  if (places_.empty() || bytes == 0) return woken;
  const std::uint64_t first = grain_of(address),
                      last = (reinterpret_cast<std::uintptr_t>(address) + bytes - 1) / kGrain;
  const auto change = [&](Place& place) {
    ++place.version;
    take(place, woken);
  };
  if (last - first < places_.size()) {
    for (std::uint64_t grain = first; grain <= last; ++grain) {
      if (const auto found = places_.find(grain); found != places_.end()) change(found->second);
    }
  } else {
    for (auto& [grain, place] : places_) {
      if (grain >= first && grain <= last) change(place);
    }
    sort_by_slot(woken);
  }
  return woken;
}

std::vector<Thread*> Polling::take_indifferent() {
  for (Thread* thread : indifferent_) thread->looks.too_many = false;
  waiting_ -= indifferent_.size();
  return std::exchange(indifferent_, {});
}

std::vector<Thread*> Polling::take_all() {
  std::vector<Thread*> woken = take_indifferent();
  for (auto& [grain, place] : places_) take(place, woken);
  sort_by_slot(woken);
  return woken;
}

}  // namespace gantry::sim

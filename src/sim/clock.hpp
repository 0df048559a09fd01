// Happens-before, as vector clocks that are shared instead of copied.
//
// An actor is anything whose progress others learn of by synchronising: a thread, an mbarrier (its completed phases), a
// thread's bulk groups, a warpgroup's wgmma groups. Each belongs to a CTA. A clock says how far each actor is known to
// have come; it is immutable and holds one segment for each CTA it knows anything about, so that threads which waited
// at a barrier share one clock, and a CTA that never waits for another costs nothing to it.
//
// CTAs are numbered over all launches of a run. Those of launches that are known to have ended are known as a whole: a
// clock names their ranges.
//
// Beside what has been seen, an entry says up to which epoch a thread's reads are known to be over (a release whose
// scope is too narrow tells that much), and up to which its ordinary accesses have been fenced towards the async proxy,
// in shared and in global memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace gantry::sim {

using Epoch = std::uint32_t;

// A CTA of the grid and an actor in it: threads first, then what was added.
struct Actor {
  std::uint32_t cta = 0;
  std::uint32_t local = 0;

  friend bool operator==(const Actor&, const Actor&) = default;
};

struct Entry {
  Epoch seen = 0;
  Epoch passed = 0;  // reads; what has been seen has also passed
  Epoch fenced_shared = 0;
  Epoch fenced_global = 0;

  Epoch reads_over() const { return passed > seen ? passed : seen; }

  friend bool operator==(const Entry&, const Entry&) = default;
};

inline constexpr Entry kEverything{~Epoch{0}, ~Epoch{0}, ~Epoch{0}, ~Epoch{0}};

// CTAs `first` to `last - 1`.
struct CtaRange {
  std::uint32_t first = 0, last = 0;

  friend bool operator==(const CtaRange&, const CtaRange&) = default;
};

using Segment = std::vector<Entry>;
using SegmentRef = std::shared_ptr<const Segment>;

class Clock {
 public:
  Entry at(Actor actor) const {
    for (const CtaRange& range : finished_) {
      if (actor.cta >= range.first && actor.cta < range.last) return kEverything;
    }
    for (const auto& [cta, segment] : segments_) {
      if (cta == actor.cta) return actor.local < segment->size() ? (*segment)[actor.local] : Entry{};
    }
    return {};
  }

 private:
  friend class ClockBuilder;
  template <class F>
  friend std::shared_ptr<const Clock> changed_by(const std::shared_ptr<const Clock>&, F);
  friend std::shared_ptr<const Clock> joined(const std::shared_ptr<const Clock>&, const std::shared_ptr<const Clock>&);
  std::vector<std::pair<std::uint32_t, SegmentRef>> segments_;  // by CTA, ascending
  std::vector<CtaRange> finished_;                              // ascending, apart from each other
};
using ClockRef = std::shared_ptr<const Clock>;  // null: knows nothing

ClockRef joined(const ClockRef& a, const ClockRef& b);

// The same knowledge after a proxy fence: everything seen counts as fenced.
ClockRef fenced(const ClockRef& clock, bool shared, bool global);

// What a release of too narrow a scope tells: that reads are over.
ClockRef reads_only(const ClockRef& clock);

// What one thread knows: a clock shared with others, and its own entry, which is ahead of it.
struct View {
  ClockRef base;
  Actor self;
  Entry own{.seen = 1};
  ClockRef noted{};  // known by a chain that the memory model does not promise

  // What the thread itself has done may have been fenced by another one that it has heard of since.
  Entry at(Actor actor) const {
    if (!base) return actor == self ? own : Entry{};
    Entry known = base->at(actor);
    if (actor != self) return known;
    known.seen = own.seen;
    known.passed = own.passed;
    if (known.fenced_shared < own.fenced_shared) known.fenced_shared = own.fenced_shared;
    if (known.fenced_global < own.fenced_global) known.fenced_global = own.fenced_global;
    return known;
  }
};

// A clock under construction: the join of what arriving threads knew.
class ClockBuilder {
 public:
  void join(const ClockRef& clock);
  void join(const View& view) {
    join(view.base);
    raise(view.self, view.own);
  }
  void raise(Actor actor, Entry entry);
  void finish(CtaRange ctas);  // they are known to have ended
  ClockRef freeze();           // and starts anew

 private:
  std::vector<std::pair<std::uint32_t, std::shared_ptr<Segment>>> segments_;
  std::vector<CtaRange> finished_;
  ClockRef last_;  // joined already
};

// What became of the last few clocks: threads that know the same share the result, and its memory.
class ClockMemo {
 public:
  // `make()`, or what it was the last time. Requires: `make` gives the same for the same clock `before`.
  template <class F>
  const ClockRef& of(const ClockRef& before, F make) {
    for (const auto& [from, to] : kept_) {
      if (to && from == before) return to;
    }
    auto& place = kept_[next_++ % kept_.size()];
    place = {before, make()};
    return place.second;
  }

 private:
  std::array<std::pair<ClockRef, ClockRef>, 4> kept_;
  std::size_t next_ = 0;
};

// A clock that many will join: those who come with the same knowledge share the result.
class Published {
 public:
  Published() = default;
  explicit Published(ClockRef clock) : clock_(std::move(clock)) {}
  void acquire(View& view);
  const ClockRef& clock() const { return clock_; }

 private:
  ClockRef clock_;
  ClockMemo joins_;
};

}  // namespace gantry::sim

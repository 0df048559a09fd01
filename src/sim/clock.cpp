#include "clock.hpp"

#include <algorithm>
#include <utility>

namespace gantry::sim {
namespace {

Entry max_of(const Entry& a, const Entry& b) {
  return {std::max(a.seen, b.seen), std::max(a.passed, b.passed), std::max(a.fenced_shared, b.fenced_shared),
          std::max(a.fenced_global, b.fenced_global)};
}

// Adds a range, and joins what then touches.
void add_range(std::vector<CtaRange>& ranges, CtaRange added) {
  if (added.first >= added.last) return;
  std::vector<CtaRange> out;
  for (const CtaRange& range : ranges) {
    if (range.last < added.first || added.last < range.first) {
      out.push_back(range);
    } else {
      added = {std::min(added.first, range.first), std::max(added.last, range.last)};
    }
  }
  out.insert(std::lower_bound(out.begin(), out.end(), added,
                              [](const CtaRange& a, const CtaRange& b) { return a.first < b.first; }),
             added);
  ranges = std::move(out);
}

std::vector<CtaRange> joined(const std::vector<CtaRange>& a, const std::vector<CtaRange>& b) {
  std::vector<CtaRange> out = a;
  for (const CtaRange& range : b) add_range(out, range);
  return out;
}

void raise_all(Segment& to, const Segment& from) {
  if (to.size() < from.size()) to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = max_of(to[i], from[i]);
}

// Whether joining `from` to `to` changes nothing.
bool covers(const Segment& to, const Segment& from) {
  const std::size_t common = std::min(to.size(), from.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (!(max_of(to[i], from[i]) == to[i])) return false;
  }
  return std::all_of(from.begin() + static_cast<std::ptrdiff_t>(common), from.end(),
                     [](const Entry& entry) { return entry == Entry{}; });
}

SegmentRef joined(const SegmentRef& a, const SegmentRef& b) {
  if (a == b || covers(*a, *b)) return a;
  if (covers(*b, *a)) return b;
  auto result = std::make_shared<Segment>();
  result->reserve(std::max(a->size(), b->size()));
  *result = *a;
  raise_all(*result, *b);
  return result;
}

}  // namespace

ClockRef joined(const ClockRef& a, const ClockRef& b) {
  if (!b || a == b) return a;
  if (!a) return b;
  auto result = std::make_shared<Clock>();
  auto& out = result->segments_;
  auto x = a->segments_.begin(), y = b->segments_.begin();
  const auto x_end = a->segments_.end(), y_end = b->segments_.end();
  while (x != x_end || y != y_end) {
    if (y == y_end || (x != x_end && x->first < y->first)) {
      out.push_back(*x++);
    } else if (x == x_end || y->first < x->first) {
      out.push_back(*y++);
    } else {
      out.emplace_back(x->first, joined(x->second, y->second));
      ++x, ++y;
    }
  }
  result->finished_ = a->finished_ == b->finished_ ? a->finished_ : joined(a->finished_, b->finished_);
  if (out == a->segments_ && result->finished_ == a->finished_) return a;
  if (out == b->segments_ && result->finished_ == b->finished_) return b;
  return result;
}

template <class F>
ClockRef changed_by(const ClockRef& clock, F change) {
  if (!clock) return clock;
  auto result = std::make_shared<Clock>();
  result->finished_ = clock->finished_;
  bool changed = false;
  for (const auto& [cta, segment] : clock->segments_) {
    const auto first = std::find_if(segment->begin(), segment->end(), [&](Entry entry) {
      const Entry before = entry;
      change(entry);
      return !(entry == before);
    });
    if (first == segment->end()) {
      result->segments_.emplace_back(cta, segment);
      continue;
    }
    auto copy = std::make_shared<Segment>(*segment);
    std::for_each(copy->begin() + (first - segment->begin()), copy->end(), change);
    result->segments_.emplace_back(cta, std::move(copy));
    changed = true;
  }
  return changed ? ClockRef(std::move(result)) : clock;
}

ClockRef fenced(const ClockRef& clock, bool shared, bool global) {
  return changed_by(clock, [=](Entry& entry) {
    if (shared) entry.fenced_shared = entry.reads_over();
    if (global) entry.fenced_global = entry.reads_over();
  });
}

ClockRef reads_only(const ClockRef& clock) {
  return changed_by(clock, [](Entry& entry) {
    entry.passed = entry.reads_over();
    entry.seen = 0;
  });
}

void ClockBuilder::join(const ClockRef& clock) {
  if (!clock || clock == last_) return;
  last_ = clock;
  for (const CtaRange& range : clock->finished_) finish(range);
  for (const auto& [cta, segment] : clock->segments_) {
    auto it = std::find_if(segments_.begin(), segments_.end(), [cta = cta](const auto& s) { return s.first == cta; });
    if (it == segments_.end()) {
      segments_.emplace_back(cta, std::make_shared<Segment>(*segment));
    } else {
      raise_all(*it->second, *segment);
    }
  }
}

void ClockBuilder::raise(Actor actor, Entry entry) {
  auto it = std::find_if(segments_.begin(), segments_.end(), [&](const auto& s) { return s.first == actor.cta; });
  if (it == segments_.end()) {
    segments_.emplace_back(actor.cta, std::make_shared<Segment>());
    it = std::prev(segments_.end());
  }
  Segment& segment = *it->second;
  if (segment.size() <= actor.local) segment.resize(actor.local + std::size_t{1});
  segment[actor.local] = max_of(segment[actor.local], entry);
}

void ClockBuilder::finish(CtaRange ctas) { add_range(finished_, ctas); }

ClockRef ClockBuilder::freeze() {
  last_.reset();
  if (segments_.empty() && finished_.empty()) return {};
  std::sort(segments_.begin(), segments_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  auto result = std::make_shared<Clock>();
  result->finished_ = std::exchange(finished_, {});
  for (auto& [cta, segment] : segments_) result->segments_.emplace_back(cta, std::move(segment));
  segments_.clear();
  return result;
}

void Published::acquire(View& view) {
  if (!clock_ || view.base == clock_) return;
  view.base = joins_.of(view.base, [&] { return joined(view.base, clock_); });
}

}  // namespace gantry::sim

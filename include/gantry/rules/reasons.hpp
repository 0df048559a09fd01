// Every reason that one check found: a list of fixed capacity, for constant expressions and for device code.
//
// Invariant: reasons stand in the order in which they were found; those beyond the capacity are counted, not lost
// silently. A host function that can fail returns Expected<T, Reasons<R>>, or a value that holds its own Reasons
// and is marked [[nodiscard]].
//
// Example at namespace scope:
//     enum class PumpRule : std::uint8_t { speed, color };
//     GANTRY_HD constexpr gantry::RuleEntry<> entry_of(PumpRule) { return {.rule = "a pump makes 2 to 5"}; }
//     struct PumpReason {
//       PumpRule rule = PumpRule::speed;
//       std::int64_t actual = 0, nearest = 0;
//     };
//     constexpr gantry::Reasons<PumpReason> check(int turns) {
//       gantry::Reasons<PumpReason> out;
//       if (turns > 5) out.add({.rule = PumpRule::speed, .actual = turns, .nearest = 5});
//       return out;
//     }
//     static_assert(check(3).ok() && check(7).has(PumpRule::speed) && check(7)[0].nearest == 5);
#pragma once

#include <gantry/rules/rule.hpp>

namespace gantry {

template <class R, int capacity = 16>
class [[nodiscard]] Reasons {
 public:
  static constexpr int kCapacity = capacity;
  using Rule = decltype(R::rule);

  GANTRY_HD constexpr void add(const R& reason) noexcept {
    if (size_ < kCapacity) {
      entries_[size_++] = reason;
    } else {
      ++left_out_;
    }
  }
  GANTRY_HD constexpr void add(const Reasons& others) noexcept {
    for (const R& r : others) add(r);
    left_out_ += others.left_out_;
  }
  // Forgets all but the first n.
  GANTRY_HD constexpr void truncate(int n) noexcept {
    if (n >= size_) return;
    size_ = n;
    left_out_ = 0;
  }

  // Reasons that were found beyond the first kCapacity.
  GANTRY_HD constexpr int left_out() const noexcept { return left_out_; }
  GANTRY_HD constexpr int size() const noexcept { return size_; }
  GANTRY_HD constexpr bool empty() const noexcept { return size_ == 0; }
  GANTRY_HD constexpr const R& operator[](int i) const noexcept { return entries_[i]; }
  GANTRY_HD constexpr const R* begin() const noexcept { return entries_; }
  GANTRY_HD constexpr const R* end() const noexcept { return entries_ + size_; }

  GANTRY_HD constexpr bool has(Rule rule) const noexcept {
    for (const R& r : *this) {
      if (r.rule == rule) return true;
    }
    return false;
  }
  template <class Weight>
  GANTRY_HD constexpr bool has(Weight weight) const noexcept {
    for (const R& r : *this) {
      if (entry_of(r.rule).weight == weight) return true;
    }
    return false;
  }

  // Whether nothing was found that refuses what was asked.
  GANTRY_HD constexpr bool ok() const noexcept {
    for (const R& r : *this) {
      if (refuses(entry_of(r.rule).weight)) return false;
    }
    return left_out_ == 0;
  }

 private:
  R entries_[kCapacity] = {};
  int size_ = 0;
  int left_out_ = 0;
};

// Of reasons that were left out of a list; empty where there are none.
template <class R, int capacity>
GANTRY_COLD GANTRY_HD constexpr Sentence describe_left_out(const Reasons<R, capacity>& reasons) {
  Sentence out;
  if (reasons.left_out() == 0) return out;
  out.append("there are ").append(reasons.left_out()).append(" reasons more than the ").append(capacity);
  return out.append(" that are kept: change what these name, and the others are shown");
}

}  // namespace gantry

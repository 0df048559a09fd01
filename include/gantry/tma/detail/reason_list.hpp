// Reasons in a list, and the sentence of one: what planning a copy and deciding about an epilogue share.
#pragma once

#include <gantry/layout/text.hpp>

namespace gantry::detail {

// Every reason found, in the order in which they were. A reason has `rule` and `weight()`.
template <class Reason>
class ReasonList {
 public:
  static constexpr int kCapacity = 16;
  using Rule = decltype(Reason::rule);

  GANTRY_HD constexpr void add(const Reason& reason) noexcept {
    if (size_ < kCapacity) {
      entries_[size_++] = reason;
    } else {
      ++left_out_;
    }
  }
  GANTRY_HD constexpr void add(const ReasonList& others) noexcept {
    for (const Reason& r : others) add(r);
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
  GANTRY_HD constexpr const Reason& operator[](int i) const noexcept { return entries_[i]; }
  GANTRY_HD constexpr const Reason* begin() const noexcept { return entries_; }
  GANTRY_HD constexpr const Reason* end() const noexcept { return entries_ + size_; }
  GANTRY_HD constexpr bool has(Rule rule) const noexcept {
    for (const Reason& r : *this) {
      if (r.rule == rule) return true;
    }
    return false;
  }
  template <class Weight>
  GANTRY_HD constexpr bool has(Weight weight) const noexcept {
    for (const Reason& r : *this) {
      if (r.weight() == weight) return true;
    }
    return false;
  }

 private:
  Reason entries_[kCapacity] = {};
  int size_ = 0;
  int left_out_ = 0;
};

GANTRY_HD constexpr bool starts_with(const char* text, const char* word) {
  while (*word != '\0' && *text == *word) ++text, ++word;
  return *word == '\0';
}

// A rule's text with its placeholders, in braces, filled in; `append` is given the text from the name on.
template <class Sentence, class Reason>
GANTRY_HD constexpr Sentence fill_in(const char* text, const Reason& reason,
                                     void (*append)(Sentence&, const char*, const Reason&)) {
  Sentence out;
  for (const char* s = text; *s != '\0'; ++s) {
    if (*s != '{') {
      out.append(*s);
      continue;
    }
    append(out, s + 1, reason);
    while (*s != '}') ++s;
  }
  return out;
}

}  // namespace gantry::detail

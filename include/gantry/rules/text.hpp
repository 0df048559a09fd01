// A sentence in a fixed buffer, so that layouts and plans can speak at compile time, in device-compilable code and
// without allocation. Text that does not fit is cut and ends in "...", never overruns.
//
// Example:
//     constexpr auto t = gantry::Text<32>{}.append("stride ").append(6);
//     static_assert(t == "stride 6");
#pragma once

#include <gantry/config.hpp>

namespace gantry {

template <int N>
class Text {
 public:
  static constexpr int kCapacity = N;  // with the final null

  GANTRY_HD constexpr Text() : chars_{} {}
  GANTRY_HD constexpr Text(const char* s) : chars_{} { append(s); }

  GANTRY_HD constexpr Text& append(char c) {
    if (size_ < N - 1) {
      chars_[size_++] = c;
    } else {
      for (int i = 1; i <= 3 && i < N; ++i) chars_[N - 1 - i] = '.';
    }
    return *this;
  }

  GANTRY_HD constexpr Text& append(const char* s) {
    while (*s != '\0') append(*s++);
    return *this;
  }

  template <int M>
  GANTRY_HD constexpr Text& append(const Text<M>& other) {
    return append(other.c_str());
  }

  GANTRY_HD constexpr Text& append(std::int64_t v) {
    char digits[20] = {};
    int n = 0;
    // The magnitude of INT64_MIN only fits in the unsigned type.
    auto magnitude = v < 0 ? ~static_cast<std::uint64_t>(v) + 1 : static_cast<std::uint64_t>(v);
    do {
      digits[n++] = static_cast<char>('0' + magnitude % 10);
      magnitude /= 10;
    } while (magnitude != 0);
    if (v < 0) append('-');
    while (n > 0) append(digits[--n]);
    return *this;
  }
  GANTRY_HD constexpr Text& append(int v) { return append(static_cast<std::int64_t>(v)); }

  GANTRY_HD constexpr const char* c_str() const { return chars_; }
  GANTRY_HD constexpr int size() const { return size_; }
  GANTRY_HD constexpr bool empty() const { return size_ == 0; }
  GANTRY_HD constexpr char operator[](int i) const { return chars_[i]; }
  GANTRY_HD constexpr const char* begin() const { return chars_; }
  GANTRY_HD constexpr const char* end() const { return chars_ + size_; }

  GANTRY_HD friend constexpr bool operator==(const Text& a, const char* b) {
    for (int i = 0; i < a.size_; ++i, ++b) {
      if (*b == '\0' || a.chars_[i] != *b) return false;
    }
    return *b == '\0';
  }

 private:
  char chars_[N];
  int size_ = 0;
};

}  // namespace gantry

// The first of many comparisons that failed: tests that compare millions of bit patterns report one and stay quick.
#pragma once

#include <cstdint>
#include <iomanip>
#include <ostream>

namespace gantry::test {

class Mismatch {
 public:
  void compare(std::uint64_t actual, std::uint64_t expected, long double input) {
    if (found_ || actual == expected) return;
    found_ = true;
    input_ = input;
    actual_ = actual;
    expected_ = expected;
  }

  void expect(bool condition, long double input) { compare(condition ? 1 : 0, 1, input); }

  bool found() const { return found_; }

  friend std::ostream& operator<<(std::ostream& out, const Mismatch& m) {
    return out << std::setprecision(21) << m.input_ << " (" << std::hexfloat << m.input_ << ") gave " << std::hex
               << m.actual_ << " instead of " << m.expected_;
  }

 private:
  bool found_ = false;
  long double input_ = 0;
  std::uint64_t actual_ = 0;
  std::uint64_t expected_ = 0;
};

}  // namespace gantry::test

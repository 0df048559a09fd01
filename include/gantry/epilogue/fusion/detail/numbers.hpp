// Float literals in the text of a graph: read as C++ reads them, written so that they are read back as the same float.
#pragma once

#include <gantry/layout/parse_error.hpp>
#include <gantry/numeric/float_types.hpp>
#include <gantry/rules/text.hpp>

namespace gantry::fusion::detail {

inline constexpr double kLargestFloat = 0x1.fffffep127;
inline constexpr float kInfinity = __builtin_huge_valf();

constexpr double power(double base, int exponent) {
  double out = 1;
  for (int i = 0; i < exponent; ++i) out *= base;
  return out;
}
constexpr double scaled(double x, double base, int exponent) {
  return exponent < 0 ? x / power(base, -exponent) : x * power(base, exponent);
}

struct ReadNumber {
  bool ok = false;
  float value = 0;
  int end = 0;  // the character after it
};

constexpr int digit_of(char c, int base) {
  const int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : 99;
  return digit < base ? digit : -1;
}

// The digits of a number, as a whole one and a power of its base to multiply with.
struct Mantissa {
  bool any = false;
  double whole = 0;
  int places = 0;
  int end = 0;
};
constexpr Mantissa read_mantissa(Chars text, int start, int base, int most_digits) {
  Mantissa out;
  int digits = 0;
  bool point = false;
  int at = start;
  for (; at < text.size(); ++at) {
    if (text[at] == '.' && !point) {
      point = true;
      continue;
    }
    const int digit = digit_of(text[at], base);
    if (digit < 0) break;
    out.any = true;
    if (digits == most_digits) {
      out.places += point ? 0 : 1;
      continue;
    }
    out.whole = out.whole * base + digit;
    digits += out.whole > 0 ? 1 : 0;
    out.places -= point ? 1 : 0;
  }
  out.end = at;
  return out;
}

// e-3 or p-3 at `start`; nothing there is an exponent of 0. Beyond a thousand, more does not matter.
struct Exponent {
  int value = 0;
  int end = 0;
};
constexpr Exponent read_exponent(Chars text, int start, char mark) {
  Exponent out{.end = start};
  if (start >= text.size() || (text[start] != mark && text[start] != mark - 'a' + 'A')) return out;
  int at = start + 1;
  const bool negative = at < text.size() && text[at] == '-';
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  for (; at < text.size() && digit_of(text[at], 10) >= 0; ++at) {
    if (out.value < 1000) out.value = out.value * 10 + digit_of(text[at], 10);
    out.end = at + 1;
  }
  if (negative) out.value = -out.value;
  return out;
}

// An unsigned number at `start`: 3, 0.25, 1e-3, 0x1.8p-4. The first 17 digits (15 of a hexadecimal one) count. Not ok
// where there is none, or where it is larger than every float.
constexpr ReadNumber read_number(Chars text, int start) {
  const bool hex = start + 1 < text.size() && text[start] == '0' && (text[start + 1] == 'x' || text[start + 1] == 'X');
  const Mantissa mantissa = hex ? read_mantissa(text, start + 2, 16, 15) : read_mantissa(text, start, 10, 17);
  if (!mantissa.any) return {};
  const Exponent exponent = read_exponent(text, mantissa.end, hex ? 'p' : 'e');
  // One division or product by an exact power keeps the value of what people write right to the last bit.
  const int limit = hex ? 300 : 100;
  int power_of_base = exponent.value + (hex ? 4 : 1) * mantissa.places;
  if (power_of_base > limit) power_of_base = limit;
  if (power_of_base < -limit) power_of_base = -limit;
  const double value = scaled(mantissa.whole, hex ? 2 : 10, power_of_base);
  // Half a step above the largest float rounds to it, what is above that to infinity.
  if (value >= 0x1.ffffffp127) return {.ok = false, .value = 0, .end = exponent.end};
  const double bounded = value > kLargestFloat ? kLargestFloat : value;
  return {.ok = true, .value = static_cast<float>(bounded), .end = exponent.end};
}

template <int N>
constexpr void append_hexadecimal(Text<N>& out, float magnitude) {
  const std::uint32_t bits = static_cast<std::uint32_t>(bits_of(magnitude));
  const int stored = static_cast<int>(bits >> 23);
  out.append(stored == 0 ? "0x0" : "0x1");
  std::uint32_t fraction = (bits & 0x7fffffu) << 1;
  if (fraction != 0) out.append('.');
  for (; fraction != 0; fraction = (fraction << 4) & 0xffffffu) out.append("0123456789abcdef"[fraction >> 20]);
  out.append('p').append(stored == 0 ? -126 : stored - 127);
}

// The shortest decimal number that reads back as x where it has at most 9 digits, else hexadecimal.
template <int N>
constexpr void append_number(Text<N>& out, float x) {
  if (bits_of(x) >> 31 != 0) {
    out.append('-');
    x = -x;
  }
  if (x == kInfinity) {
    out.append("inf");
    return;
  }
  for (int places = 0; places <= 9; ++places) {
    const double whole = static_cast<double>(x) * power(10, places);
    if (whole > 999999999.0) break;
    auto digits = static_cast<std::int64_t>(whole + 0.5);  // NOLINT(bugprone-incorrect-roundings): positive, and small
    if (static_cast<float>(scaled(static_cast<double>(digits), 10, -places)) != x) continue;
    const auto divisor = static_cast<std::int64_t>(power(10, places));
    out.append(digits / divisor);
    if (places == 0) return;
    out.append('.');
    digits %= divisor;
    for (std::int64_t place = divisor / 10; place > 0; place /= 10) {
      out.append(static_cast<char>('0' + digits / place % 10));
    }
    return;
  }
  append_hexadecimal(out, x);
}

}  // namespace gantry::fusion::detail

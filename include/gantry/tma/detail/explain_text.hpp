// Pieces of the sentences that explanations are made of.
#pragma once

#include <cstdint>
#include <string>

#include <gantry/layout/print.hpp>

namespace gantry::tma_detail {

inline std::string number(std::int64_t v) { return std::to_string(v); }
inline std::string number(std::uint64_t v) { return std::to_string(v); }
inline std::string number(std::uint32_t v) { return std::to_string(v); }
inline std::string number(int v) { return std::to_string(v); }

inline std::string hexadecimal(std::uint64_t v) {
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789abcdef"[v % 16]);
    v /= 16;
  } while (v != 0);
  return "0x" + digits;
}

template <class T>
std::string text_of(const T& value) {
  return to_text(value).c_str();
}

// "1 row", "2 rows".
template <class T>
std::string counted(T n, const char* thing) {
  return number(n) + ' ' + thing + (n == 1 ? "" : "s");
}

// With a capital at its beginning and a full stop at its end.
inline std::string sentence(std::string words) {
  if (!words.empty() && words[0] >= 'a' && words[0] <= 'z') words[0] = static_cast<char>(words[0] - 'a' + 'A');
  return words + '.';
}

// "(64, 128)"
template <class T>
std::string list_of(const T* values, int n) {
  std::string out = "(";
  for (int i = 0; i < n; ++i) out += (i > 0 ? ", " : "") + number(values[i]);
  return out + ')';
}

// "Sw<3,4,3>", the swizzle of a tensor map with so many bits.
inline std::string swizzle_name(int bits) { return text_of(Swizzle(bits, 4, 3)); }

}  // namespace gantry::tma_detail

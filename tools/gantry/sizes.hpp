// Counts of bytes, as commands print and read them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "option_text.hpp"

namespace gantry::tool {

// "1.5 GiB", "3.0 MiB", "12 KiB".
inline std::string bytes_text(double count) {
  if (count >= 0x1p30) return fmt::format("{:.1f} GiB", count / 0x1p30);
  if (count >= 0x1p20) return fmt::format("{:.1f} MiB", count / 0x1p20);
  return fmt::format("{:.0f} KiB", count / 0x1p10);
}

// "512M", "1.5G", "2.0 GiB" as bytes_text writes it, or bytes; nothing where it is no size of at most 2^60.
inline std::optional<unsigned long long> read_bytes(std::string_view text) {
  constexpr std::string_view kUnits = "KMG";
  constexpr unsigned long long kMost = 1ULL << 60;
  std::string_view number = text;
  if (number.ends_with("iB")) number.remove_suffix(2);
  const std::size_t unit = number.empty() ? std::string_view::npos : kUnits.find(number.back());
  const bool has_unit = unit != std::string_view::npos;
  if (!has_unit && number.size() != text.size()) return {};
  const int shift = has_unit ? 10 * (static_cast<int>(unit) + 1) : 0;
  if (has_unit) number.remove_suffix(1);
  if (has_unit && number.ends_with(' ')) number.remove_suffix(1);
  unsigned long long count = 0, part = 0, scale = 1;
  if (const std::size_t dot = number.find('.'); has_unit && dot != std::string_view::npos) {
    constexpr std::size_t kDigits = 6;
    const std::string_view digits = number.substr(dot + 1);
    if (digits.size() > kDigits || !read_number(digits, part)) return {};
    for (std::size_t i = 0; i < digits.size(); ++i) scale *= 10;
    number = number.substr(0, dot);
  }
  if (!read_number(number, count) || count > kMost >> shift) return {};
  const unsigned long long bytes = (count << shift) + (part << shift) / scale;
  return bytes <= kMost ? std::optional(bytes) : std::nullopt;
}

}  // namespace gantry::tool

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

// "512M", "2G", "100K" or bytes; nothing where it is no size of at most 2^60.
inline std::optional<unsigned long long> read_bytes(std::string_view text) {
  constexpr std::string_view kUnits = "KMG";
  int shift = 0;
  if (const std::size_t unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
      unit != std::string_view::npos) {
    shift = 10 * (static_cast<int>(unit) + 1);
    text.remove_suffix(1);
  }
  unsigned long long count = 0;
  if (!read_number(text, count) || count > (1ULL << 60) >> shift) return {};
  return count << shift;
}

}  // namespace gantry::tool

#include <gantry/runtime/printable.hpp>

namespace gantry::runtime {

namespace {

// How many bytes the character at the front of a text has in UTF-8; 0 where there is none.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xC2 && first < 0xE0 ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                                                             : 4;
  if ((first >= 0x80 && first < 0xC2) || first > 0xF4 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  if (length < 3) return length;
  // The second byte tells encodings that are too long, surrogates, and what is beyond the last character.
  const unsigned second = byte(1);
  const unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  return second >= least && second <= most ? length : 0;
}

// Unicode's control characters: below the space, DEL, and U+0080 to U+009F.
bool is_control(std::string_view one) {
  const auto first = static_cast<unsigned char>(one[0]);
  return first < ' ' || first == 0x7F || (first == 0xC2 && static_cast<unsigned char>(one[1]) < 0xA0);
}

std::string escaped(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character(text);
    const std::string_view one = text.substr(0, length == 0 ? 1 : length);
    if (length > 0 && (!is_control(one) || kept.find(one[0]) != std::string_view::npos)) {
      out += one;
    } else {
      for (const char c : one) {
        const unsigned value = static_cast<unsigned char>(c);
        out += "\\x";
        out += "0123456789abcdef"[value >> 4];
        out += "0123456789abcdef"[value & 15U];
      }
    }
    text.remove_prefix(one.size());
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, "\n\t"); }
std::string one_line(std::string_view text) { return escaped(text, ""); }

}  // namespace gantry::runtime

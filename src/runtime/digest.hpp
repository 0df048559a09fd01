// A digest of bytes, 32 hexadecimal digits: FNV-1a with 128 bits. It names cache entries and finds damaged ones; it is
// no protection against somebody who wants a collision.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gantry::runtime {

class Digest {
 public:
  Digest& add(std::string_view bytes) {
    for (const char c : bytes) {
      state_ ^= static_cast<unsigned char>(c);
      state_ *= kPrime;
    }
    return *this;
  }
  // A part with its length, so that "ab" + "c" differs from "a" + "bc".
  Digest& add_part(std::string_view bytes) { return add(std::to_string(bytes.size())).add(":").add(bytes); }

  std::string text() const {
    std::string out(32, '0');
    Word rest = state_;
    for (auto digit = out.rbegin(); digit != out.rend(); ++digit, rest >>= 4) {
      *digit = "0123456789abcdef"[static_cast<unsigned>(rest & 15)];
    }
    return out;
  }

 private:
  __extension__ using Word = unsigned __int128;
  static constexpr Word kPrime = (Word{1} << 88) + 0x13B;
  Word state_ = (Word{0x6C62272E07BB0142u} << 64) + 0x62B821756295C58Du;
};

}  // namespace gantry::runtime

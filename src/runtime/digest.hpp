// SHA-256 of bytes, as 64 hexadecimal digits. It names cache entries and finds altered ones.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace gantry::runtime {

class Digest {
 public:
  Digest& add(std::string_view bytes);
  // A part with its length, so that "ab" + "c" differs from "a" + "bc".
  Digest& add_part(std::string_view bytes);

  // Of everything that was added so far.
  std::string text() const;

 private:
  static constexpr std::size_t kBlock = 64;

  void mix(const unsigned char* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, kBlock> pending_{};
  std::uint64_t bytes_ = 0;
};

}  // namespace gantry::runtime

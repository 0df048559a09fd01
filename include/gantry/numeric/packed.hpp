// How wide an element is in memory, and elements narrower than a byte in memory: they lie without gaps, element 0 in
// the lowest bits of byte 0. A 6-bit element may span two bytes.
//
// Writing one element rewrites the bytes that it shares with its neighbours: two threads must not write elements of the
// same byte at the same time.
//
// Example:
//     static_assert(gantry::sizeof_bits_v<gantry::s4> == 4 && sizeof(gantry::PackedArray<gantry::s4, 8>) == 4);
//     gantry::PackedArray<gantry::s4, 8> a{};
//     a[2] = gantry::s4(-1);  // a.bytes is now 00 0f 00 00
//     gantry::s4 x = gantry::load_packed<gantry::s4>(a.bytes, 2);
#pragma once

#include <gantry/numeric/convert.hpp>

namespace gantry {

// The bits that one element takes in memory; 0 for void.
template <class T>
struct sizeof_bits {
  static constexpr int value = static_cast<int>(8 * sizeof(T));
};
template <SmallFloat T>
struct sizeof_bits<T> {
  static constexpr int value = T::format().bits();
};
template <SmallInteger T>
struct sizeof_bits<T> {
  static constexpr int value = T::format().width;
};
template <>
struct sizeof_bits<void> {
  static constexpr int value = 0;
};
template <class T>
struct sizeof_bits<const T> : sizeof_bits<T> {};

template <class T>
inline constexpr int sizeof_bits_v = sizeof_bits<T>::value;

// An element type that shares bytes with its neighbours.
template <class T>
concept SubByte = Element<T> &&(sizeof_bits<T>::value < 8);

// The bytes that hold `count` elements of `bits` bits each.
GANTRY_HD constexpr std::int64_t bytes_for_bits(int bits, std::int64_t count) { return (count * bits + 7) / 8; }

template <SubByte T>
GANTRY_HD constexpr T load_packed(const std::uint8_t* bytes, std::int64_t index) {
  constexpr int width = sizeof_bits_v<T>;
  const std::int64_t byte = index * width / 8;
  const int shift = static_cast<int>(index * width % 8);
  unsigned window = bytes[byte];
  if constexpr (8 % width != 0) {
    if (shift + width > 8) window |= static_cast<unsigned>(bytes[byte + 1]) << 8;
  }
  T x;
  x.bits = static_cast<std::uint8_t>(window >> shift & ((1u << width) - 1));
  return x;
}

template <SubByte T>
GANTRY_HD constexpr void store_packed(std::uint8_t* bytes, std::int64_t index, T x) {
  constexpr int width = sizeof_bits_v<T>;
  const std::int64_t byte = index * width / 8;
  const int shift = static_cast<int>(index * width % 8);
  const unsigned mask = ((1u << width) - 1) << shift;
  const unsigned value = static_cast<unsigned>(x.bits) << shift;
  bytes[byte] = static_cast<std::uint8_t>((bytes[byte] & ~mask) | value);
  if constexpr (8 % width != 0) {
    if (shift + width > 8) bytes[byte + 1] = static_cast<std::uint8_t>((bytes[byte + 1] & ~(mask >> 8)) | value >> 8);
  }
}

// Stands for one element in packed memory, as T& does for one that has an address.
template <SubByte T>
class PackedReference {
 public:
  GANTRY_HD constexpr PackedReference(std::uint8_t* bytes, std::int64_t index) : bytes_(bytes), index_(index) {}
  PackedReference(const PackedReference&) = default;

  GANTRY_HD constexpr operator T() const { return load_packed<T>(bytes_, index_); }
  GANTRY_HD constexpr const PackedReference& operator=(T x) const {
    store_packed(bytes_, index_, x);
    return *this;
  }
  // Assigns the element, as a reference does, and not the place.
  GANTRY_HD constexpr const PackedReference& operator=(const PackedReference& other) const {
    return *this = static_cast<T>(other);
  }
  GANTRY_HD constexpr PackedReference& operator=(const PackedReference& other) {
    store_packed(bytes_, index_, static_cast<T>(other));
    return *this;
  }

 private:
  std::uint8_t* bytes_;
  std::int64_t index_;
};

namespace detail {

// The largest alignment, up to 16, that does not make `bytes` bytes longer: what one vector load or store can move.
GANTRY_HD constexpr int natural_alignment(std::int64_t bytes) {
  int alignment = 1;
  while (alignment < 16 && bytes % (2 * alignment) == 0) alignment *= 2;
  return alignment;
}

}  // namespace detail

template <SubByte T, int N>
struct alignas(detail::natural_alignment(bytes_for_bits(sizeof_bits_v<T>, N))) PackedArray {
  std::uint8_t bytes[bytes_for_bits(sizeof_bits_v<T>, N)];

  GANTRY_HD static constexpr int size() { return N; }
  GANTRY_HD constexpr T operator[](int i) const { return load_packed<T>(bytes, i); }
  GANTRY_HD constexpr PackedReference<T> operator[](int i) { return {bytes, i}; }
};

}  // namespace gantry

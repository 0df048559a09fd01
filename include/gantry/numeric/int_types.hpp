// The integer element types narrower than a byte: s4, u4, s2, u2 and u1. Each holds one value in the low bits of a byte
// and is a number wherever an int is expected; in memory they are packed (packed.hpp). The wider integers are the
// standard ones.
//
// Construction keeps the low bits, as C++ does between integers; `convert` saturates.
//
// Example:
//     static_assert(gantry::s4(-3).bits == 0xd && gantry::s4(-3) + 1 == -2);
//     static_assert(gantry::u4(17) == 1);
#pragma once

#include <gantry/config.hpp>

namespace gantry {

template <class T>
concept SmallInteger = requires {
  T::format().is_signed;
};

template <class T>
concept AnyInteger = Integer<T> || SmallInteger<T>;

struct IntegerFormat {
  int width;
  bool is_signed;

  GANTRY_HD constexpr std::uint64_t max() const { return ~std::uint64_t{0} >> (64 - width + (is_signed ? 1 : 0)); }
  // The magnitude of the lowest value.
  GANTRY_HD constexpr std::uint64_t min_magnitude() const { return is_signed ? max() + 1 : 0; }
};

template <AnyInteger T>
GANTRY_HD constexpr IntegerFormat integer_format_of() {
  if constexpr (SmallInteger<T>) {
    return T::format();
  } else {
    return {.width = static_cast<int>(8 * sizeof(T)), .is_signed = static_cast<T>(-1) < T{0}};
  }
}

namespace detail {

struct SignMagnitude {
  bool negative;
  std::uint64_t magnitude;
};

template <Integer T>
GANTRY_HD constexpr SignMagnitude sign_magnitude(T x) {
  const auto value = static_cast<std::uint64_t>(x);
  if constexpr (integer_format_of<T>().is_signed) {
    return x < 0 ? SignMagnitude{true, ~value + 1} : SignMagnitude{false, value};
  } else {
    return {false, value};
  }
}

template <class Self>
struct IntStorage {
  std::uint8_t bits;

  IntStorage() = default;
  GANTRY_HD constexpr explicit IntStorage(int value)
      : bits(static_cast<std::uint8_t>(value & ((1 << Self::format().width) - 1))) {}

  GANTRY_HD constexpr operator int() const {
    constexpr IntegerFormat f = Self::format();
    const bool negative = f.is_signed && (bits >> (f.width - 1)) != 0;
    return negative ? bits - (1 << f.width) : bits;
  }
};

}  // namespace detail

struct s4 : detail::IntStorage<s4> {
  using IntStorage::IntStorage;
  GANTRY_HD static constexpr IntegerFormat format() { return {.width = 4, .is_signed = true}; }
};

struct u4 : detail::IntStorage<u4> {
  using IntStorage::IntStorage;
  GANTRY_HD static constexpr IntegerFormat format() { return {.width = 4, .is_signed = false}; }
};

struct s2 : detail::IntStorage<s2> {
  using IntStorage::IntStorage;
  GANTRY_HD static constexpr IntegerFormat format() { return {.width = 2, .is_signed = true}; }
};

struct u2 : detail::IntStorage<u2> {
  using IntStorage::IntStorage;
  GANTRY_HD static constexpr IntegerFormat format() { return {.width = 2, .is_signed = false}; }
};

struct u1 : detail::IntStorage<u1> {
  using IntStorage::IntStorage;
  GANTRY_HD static constexpr IntegerFormat format() { return {.width = 1, .is_signed = false}; }
};

}  // namespace gantry

// Complex elements: two parts side by side, aligned as the one 8- or 16-byte element that memory moves see.
//
// A product of cf32 is the same on every machine: it is computed in double, where the products are exact, so a compiler
// that fuses multiply and add changes nothing. A product of cf64 may be fused, and then differs in the last bit.
//
// Example:
//     constexpr gantry::cf32 z{1, 2};
//     static_assert(z * conj(z) == gantry::cf32{5, 0} && norm(z) == 5);
#pragma once

#include <gantry/config.hpp>

namespace gantry {

template <class T>
struct alignas(2 * sizeof(T)) complex {
  T real;
  T imag;
};

using cf32 = complex<float>;
using cf64 = complex<double>;

template <class T>
GANTRY_HD constexpr bool operator==(complex<T> a, complex<T> b) {
  return a.real == b.real && a.imag == b.imag;
}

template <class T>
GANTRY_HD constexpr complex<T> operator+(complex<T> a, complex<T> b) {
  return {a.real + b.real, a.imag + b.imag};
}
template <class T>
GANTRY_HD constexpr complex<T> operator-(complex<T> a, complex<T> b) {
  return {a.real - b.real, a.imag - b.imag};
}
template <class T>
GANTRY_HD constexpr complex<T> operator-(complex<T> z) {
  return {-z.real, -z.imag};
}
template <class T>
GANTRY_HD constexpr complex<T> operator*(complex<T> a, complex<T> b) {
  const double ar = a.real, ai = a.imag, br = b.real, bi = b.imag;
  return {static_cast<T>(ar * br - ai * bi), static_cast<T>(ar * bi + ai * br)};
}
template <class T>
GANTRY_HD constexpr complex<T> operator*(T a, complex<T> z) {
  return {a * z.real, a * z.imag};
}
template <class T>
GANTRY_HD constexpr complex<T> operator*(complex<T> z, T a) {
  return a * z;
}
template <class T>
GANTRY_HD constexpr complex<T>& operator+=(complex<T>& a, complex<T> b) {
  return a = a + b;
}
template <class T>
GANTRY_HD constexpr complex<T>& operator-=(complex<T>& a, complex<T> b) {
  return a = a - b;
}
template <class T>
GANTRY_HD constexpr complex<T>& operator*=(complex<T>& a, complex<T> b) {
  return a = a * b;
}

template <class T>
GANTRY_HD constexpr complex<T> conj(complex<T> z) {
  return {z.real, -z.imag};
}

// The square of the absolute value.
template <class T>
GANTRY_HD constexpr T norm(complex<T> z) {
  const double r = z.real, i = z.imag;
  return static_cast<T>(r * r + i * i);
}

}  // namespace gantry

// The functions of a graph over ranges (functions/interval.hpp), with the function known at run time, and ranges on
// their way to and from memory. Host only.
//
// Example:
//     using namespace gantry::fusion;
//     const Range three = apply(Function::add, exactly(1), exactly(2));  // [3, 3]
//     const Range y = apply(Function::exp, three);                       // around 20.0855, 2^-21 or so wide
//     const bool fine = y.holds(20.085537f) && !y.holds(20.0856f);
//     const Range lost = apply(Function::add, three, exactly(NAN));  // NaN, and nothing else
#pragma once

#include <cmath>
#include <limits>

#include <gantry/epilogue/fusion/functions.hpp>
#include <gantry/numeric/element_access.hpp>

namespace gantry::fusion {

namespace detail {

template <class E>
Range range_of(const Range& a, const Range& b, const Range& c) {
  const Range* const inputs[] = {&a, &b, &c};
  for (int i = 0; i < kArityOf<E>; ++i) {
    if (E::kPassesNan[i] && inputs[i]->is_nan()) return *inputs[i];
  }
  if constexpr (kArityOf<E> == 1) {
    return E::range(a);
  } else if constexpr (kArityOf<E> == 2) {
    return E::range(a, b);
  } else {
    return E::range(a, b, c);
  }
}

// Of a function without a complex form, nothing is known.
template <class E>
ComplexRange range_of(const ComplexRange& a, const ComplexRange& b, const ComplexRange& c) {
  if constexpr (!takes_complex<E>()) {
    return {anything(a.real.value), anything(a.imag.value)};
  } else if constexpr (kArityOf<E> == 1) {
    return E::complex_range(a);
  } else if constexpr (kArityOf<E> == 2) {
    return E::complex_range(a, b);
  } else {
    return E::complex_range(a, b, c);
  }
}

template <class V>
V apply_to_ranges(Function f, const V& a, const V& b, const V& c, const V& unknown) {
  switch (f) {
#define GANTRY_X(id) \
  case Function::id: \
    return range_of<functions::id>(a, b, c);
    GANTRY_FUSION_FUNCTIONS(GANTRY_X)
#undef GANTRY_X
    case Function::round:
    case Function::rotate:
    case Function::across_add:
    case Function::across_max:
    case Function::across_amax:
    case Function::top_k:
    case Function::user:
      break;
  }
  return unknown;
}

}  // namespace detail

// The function of the ranges. Rounding and user functions have their own: of these, nothing is said here.
inline Range apply(Function f, const Range& a, const Range& b = {}, const Range& c = {}) {
  return detail::apply_to_ranges(f, a, b, c, detail::anything(a.value));
}
inline ComplexRange apply(Function f, const ComplexRange& a, const ComplexRange& b = {}, const ComplexRange& c = {}) {
  const ComplexRange unknown{detail::anything(a.real.value), detail::anything(a.imag.value)};
  return detail::apply_to_ranges(f, a, b, c, unknown);
}

// What memory holds after the value was converted to the element type and written there. The value stays unrounded.
inline Range as_element(ElementType element, const Range& r, Rounding rounding = Rounding::nearest_even) {
  if (r.unbounded()) return r;
  if (element == ElementType::u1) {
    if (r.is_nan()) return detail::anything(r.value);
    const bool may_be_set = !(r.is_point() && r.value == 0);
    return {r.value != 0 ? 1.0 : 0.0, detail::holds_zero(r) ? 0.0 : 1.0, may_be_set ? 1.0 : 0.0};
  }
  const auto converted = [&](double x) {
    std::uint8_t bytes[16] = {};
    store_from_double(element, bytes, 0, x, {.rounding = rounding});
    return load_as_double(element, bytes, 0);
  };
  const Range out{r.value, converted(r.lower), converted(r.upper)};
  // Of what an element type without NaN has in its place, nothing is said.
  const bool numbers = !std::isnan(out.lower) && !std::isnan(out.upper) && !r.is_nan();
  return numbers || out.is_nan() ? out : detail::anything(r.value);
}

// What memory holds, as a kernel reads it into a float.
inline Range from_memory(ElementType element, const void* data, std::int64_t index) {
  return detail::rounded(exactly(load_as_double(element, data, index)));
}

inline ComplexRange as_element(ElementType element, const ComplexRange& z, Rounding rounding = Rounding::nearest_even) {
  const ElementType part = element == ElementType::cf32   ? ElementType::f32
                           : element == ElementType::cf64 ? ElementType::f64
                                                          : element;
  return {as_element(part, z.real, rounding), as_element(part, z.imag, rounding)};
}

inline ComplexRange complex_from_memory(ElementType element, const void* data, std::int64_t index) {
  const cf64 z = load_as_complex(element, data, index);
  return {detail::rounded(exactly(z.real)), detail::rounded(exactly(z.imag))};
}

}  // namespace gantry::fusion

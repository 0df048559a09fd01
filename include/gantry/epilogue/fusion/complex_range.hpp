// Where a complex value that a kernel computes may lie: a range for each of its parts (range.hpp). Host only.
//
// A product of cf32 is computed in double and rounded once (numeric/complex.hpp), so numbers with few bits stay exact.
//
// Example:
//     using namespace gantry;
//     using namespace gantry::fusion;
//     const ComplexRange z = apply(Function::multiply, exactly(cf64{1, 2}), exactly(cf64{3, -1}));
//     const bool fine = z.holds({5, 5}) && !z.holds({5, 4});
#pragma once

#include <gantry/epilogue/fusion/range.hpp>

namespace gantry::fusion {

struct ComplexRange {
  Range real{};
  Range imag{};

  bool unbounded() const { return real.unbounded() || imag.unbounded(); }
  bool holds(cf64 z) const { return real.holds(z.real) && imag.holds(z.imag); }
};

inline ComplexRange exactly(cf64 z) { return {exactly(z.real), exactly(z.imag)}; }

namespace detail {

inline Range sum_of_products(const Range& a, const Range& b, const Range& c, const Range& d) {
  return rounded(image_of_corners<Function::add>(product(a, b), product(c, d)));
}

inline ComplexRange product(const ComplexRange& a, const ComplexRange& b) {
  const Range minus = apply(Function::negate, b.imag);
  return {sum_of_products(a.real, b.real, a.imag, minus), sum_of_products(a.real, b.imag, a.imag, b.real)};
}

}  // namespace detail

// Arithmetic is all that complex values have; of anything else, nothing is known.
inline ComplexRange apply(Function f, const ComplexRange& a, const ComplexRange& b = {}, const ComplexRange& c = {}) {
  switch (f) {
    case Function::add:
    case Function::subtract:
    case Function::negate:
      return {apply(f, a.real, b.real), apply(f, a.imag, b.imag)};
    case Function::multiply:
      return detail::product(a, b);
    case Function::multiply_add:
      return apply(Function::add, detail::product(a, b), c);
    default:
      return {detail::anything(a.real.value), detail::anything(a.imag.value)};
  }
}

inline ComplexRange as_element(ElementType element, const ComplexRange& z) {
  const ElementType part = element == ElementType::cf32   ? ElementType::f32
                           : element == ElementType::cf64 ? ElementType::f64
                                                          : element;
  return {as_element(part, z.real), as_element(part, z.imag)};
}

inline ComplexRange complex_from_memory(ElementType element, const void* data, std::int64_t index) {
  const cf64 z = load_as_complex(element, data, index);
  return {detail::rounded(exactly(z.real)), detail::rounded(exactly(z.imag))};
}

}  // namespace gantry::fusion

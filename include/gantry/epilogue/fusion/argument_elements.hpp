// Which elements the arguments of a fusion may have.
//
// Vectors and scalars are read from memory element by element, packed ones too. Tensors travel by TMA and lie in shared
// memory by elements; 1-bit ones are masks, which threads read and write themselves. Reductions are added up in f32.
//
// Example:
//     using namespace gantry;
//     using namespace gantry::fusion;
//     static_assert(element_fits(ArgumentKind::row, ElementType::s4, Values::real));
//     static_assert(!element_fits(ArgumentKind::aux_in, ElementType::s4, Values::real));
//     static_assert(nearest_element(ArgumentKind::aux_in, ElementType::s4, Values::real) == ElementType::s8);
#pragma once

#include <gantry/epilogue/fusion/graph.hpp>

namespace gantry::fusion {

// Whether the values of an epilogue are real numbers or complex ones.
enum class Values : std::uint8_t { real, complex };

namespace detail {

// What decides, for device code, which cannot look into a table of the host.
struct ElementFacts {
  ElementKind kind;
  int bits, carrier_bits;
};
GANTRY_HD constexpr ElementFacts facts_of(ElementType type) noexcept {
  switch (type) {
#define GANTRY_X(id, type_, name, cute_name, python_name, kind, tma, carrier, mma) \
  case ElementType::id:                                                            \
    return {ElementKind::kind, sizeof_bits_v<type_>, element_bits(ElementType::carrier)};
    GANTRY_ELEMENT_TYPES(GANTRY_X)
#undef GANTRY_X
  }
  return {};
}

inline constexpr int kElementTypeCount = 0
#define GANTRY_X(...) +1
    GANTRY_ELEMENT_TYPES(GANTRY_X);
#undef GANTRY_X

}  // namespace detail

GANTRY_HD constexpr bool element_fits(ArgumentKind kind, ElementType element, Values values) {
  const detail::ElementFacts e = detail::facts_of(element);
  const bool complex = e.kind == ElementKind::complex;
  if (e.kind == ElementKind::none || (complex && values == Values::real)) return false;
  switch (kind) {
    case ArgumentKind::scalar:
    case ArgumentKind::row:
    case ArgumentKind::column:
      return true;
    case ArgumentKind::aux_in:
    case ArgumentKind::aux_out:
      if (element == ElementType::u1) return true;
      if (kind == ArgumentKind::aux_out && values == Values::complex && !complex) return false;
      return e.bits >= 8 && e.carrier_bits == e.bits;
    case ArgumentKind::reduction:
      return values == Values::real && (element == ElementType::f32 || element == ElementType::bf16 ||
                                        element == ElementType::f16 || element == ElementType::s32);
  }
  return false;
}

// Of the same kind of number where there is one that fits, and as wide or wider where there is one.
GANTRY_HD constexpr ElementType nearest_element(ArgumentKind kind, ElementType element, Values values) {
  const detail::ElementFacts asked = detail::facts_of(element);
  const bool real_part = asked.kind == ElementKind::complex && values == Values::real;
  const ElementKind wanted = real_part ? ElementKind::floating : asked.kind;
  const int bits = real_part ? asked.bits / 2 : asked.bits;
  ElementType nearest = ElementType::f32;
  int smallest = 1 << 20;
  for (int i = 0; i < detail::kElementTypeCount; ++i) {
    const auto type = static_cast<ElementType>(i);
    const detail::ElementFacts e = detail::facts_of(type);
    if (!element_fits(kind, type, values) || type == ElementType::u1) continue;
    const int distance = (e.bits < bits ? 4 * (bits - e.bits) : e.bits - bits) + (e.kind == wanted ? 0 : 1 << 10);
    if (distance < smallest) {
      smallest = distance;
      nearest = type;
    }
  }
  return nearest;
}

}  // namespace gantry::fusion

// The operands of a TMA copy that is planned: a global tensor, and the elements by which the hardware moves it.
//
// The value type says what the elements mean; the TMA element type says what the instruction moves. They are the same
// unless the caller asks otherwise: packed 4-bit values travel as u8, complex<float> as u64.
//
// Example:
//     using namespace gantry;
//     constexpr GlobalTensor a{.address = 0x7f0000000000,
//                              .element = ElementType::bf16,
//                              .layout = make_layout(make_shape(4096, 8192), make_stride(8192, _1))};
//     static_assert(element_bits(a.element) == 16 && tma_format(a.element).type == TmaDataType::bf16);
//     static_assert(!tma_format(ElementType::s4).exists && tma_format(ElementType::s4).nearest == ElementType::u8);
#pragma once

#include <gantry/layout/composed.hpp>
#include <gantry/numeric/element_type.hpp>
#include <gantry/tma/enums.hpp>

namespace gantry {

// Strides count elements. A leaf whose value is not known yet is unknown(), and so is an address of 0.
struct GlobalTensor {
  std::uint64_t address = 0;
  ElementType element = ElementType::void_;
  Layout layout;
};

// How the tensor map names an element type; where it has no name for it, the type that can carry it.
struct TmaFormat {
  bool exists = false;
  TmaDataType type = TmaDataType::u8;
  ElementType nearest = ElementType::u8;
};

GANTRY_HD constexpr TmaFormat tma_format(ElementType element) noexcept {
  switch (element) {
#define GANTRY_X(id, type, name, cute_name, python_name, kind, tma, carrier, mma) \
  case ElementType::id:                                                           \
    return {ElementType::id == ElementType::carrier, TmaDataType::tma, ElementType::carrier};
    GANTRY_ELEMENT_TYPES(GANTRY_X)
#undef GANTRY_X
  }
  return {};
}

// The swizzle of a shared layout on byte addresses, which is where the hardware applies it.
GANTRY_HD constexpr Swizzle byte_swizzle(const ComposedLayout& smem, int bits_per_element) {
  if (smem.element_bits() != 0 || smem.swizzle().is_identity()) return smem.swizzle();
  return recast(smem.swizzle(), bits_per_element, 8);
}

// How the tensor map names a swizzle; where it has no name for it, the bits of the nearest Sw<bits,4,3>.
struct TmaSwizzleFormat {
  bool exists = false;
  TmaSwizzle swizzle = TmaSwizzle::none;
  int nearest_bits = 0;
};

GANTRY_HD constexpr TmaSwizzleFormat tma_swizzle(const Swizzle& sw) noexcept {
  const int bits = sw.bits();
  const int nearest = bits > 3 ? 3 : bits;
  switch (sw.base()) {
    case 4:
      if (bits <= 3 && sw.shift() == 3) return {true, static_cast<TmaSwizzle>(bits), bits};
      break;
    case 5:
      if (bits == 2 && sw.shift() == 2) return {true, TmaSwizzle::bytes_128_atom_32, bits};
      break;
    case 6:
      if (bits == 2) return {true, TmaSwizzle::bytes_128_atom_64, bits};
      break;
    default:
      break;
  }
  return {false, TmaSwizzle::none, nearest};
}

}  // namespace gantry

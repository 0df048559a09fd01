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

GANTRY_HD constexpr int element_bits(ElementType type) noexcept {
  switch (type) {
#define GANTRY_X(id, type_, ...) \
  case ElementType::id:          \
    return sizeof_bits_v<type_>;
    GANTRY_ELEMENT_TYPES(GANTRY_X)
#undef GANTRY_X
  }
  return 0;
}

GANTRY_HD constexpr const char* to_text(ElementType type) noexcept {
  switch (type) {
#define GANTRY_X(id, type_, name, ...) \
  case ElementType::id:                \
    return name;
    GANTRY_ELEMENT_TYPES(GANTRY_X)
#undef GANTRY_X
  }
  return "unknown";
}

// How the tensor map names an element type; where it has no name for it, the type that can carry it.
struct TmaFormat {
  bool exists = false;
  TmaDataType type = TmaDataType::u8;
  ElementType nearest = ElementType::u8;
};

GANTRY_HD constexpr TmaFormat tma_format(ElementType element) noexcept {
  const auto is = [element](TmaDataType type) { return TmaFormat{true, type, element}; };
  switch (element) {
    case ElementType::u8:
    case ElementType::s8:
    case ElementType::e4m3:
    case ElementType::e5m2:
      return is(TmaDataType::u8);
    case ElementType::u16:
      return is(TmaDataType::u16);
    case ElementType::u32:
      return is(TmaDataType::u32);
    case ElementType::s32:
      return is(TmaDataType::s32);
    case ElementType::u64:
      return is(TmaDataType::u64);
    case ElementType::s64:
      return is(TmaDataType::s64);
    case ElementType::f16:
      return is(TmaDataType::f16);
    case ElementType::f32:
      return is(TmaDataType::f32);
    case ElementType::f64:
      return is(TmaDataType::f64);
    case ElementType::bf16:
      return is(TmaDataType::bf16);
    case ElementType::tf32:
      return is(TmaDataType::tf32);
    case ElementType::e2m1:
      return is(TmaDataType::u4x16_align8);
    case ElementType::e2m3:
    case ElementType::e3m2:
      return is(TmaDataType::u6x16_align16);
    case ElementType::s16:
      return {.nearest = ElementType::u16};
    case ElementType::cf32:
    case ElementType::cf64:
      return {.nearest = ElementType::u64};
    default:
      return {};
  }
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

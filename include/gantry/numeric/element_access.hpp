// Reads and writes elements whose type is known only at run time, through double: what references and the simulator
// need to look at any tensor. Host only. `data` points to element 0 and needs no alignment; `type` is not void.
//
// A value is read exactly, except integers beyond 2^53, which are rounded to nearest even; it is written as `convert`
// writes it. Through double, a complex element is its real part; use the complex forms to keep both.
//
// Example:
//     std::uint8_t row[16] = {};
//     gantry::store_from_double(gantry::ElementType::e4m3, row, 3, 0.1);  // row[3] is 1d
//     double x = gantry::load_as_double(gantry::ElementType::e4m3, row, 3);  // 0.1015625
#pragma once

#include <gantry/numeric/element_type.hpp>

namespace gantry {

inline cf64 load_as_complex(ElementType type, const void* data, std::int64_t index) {
  return visit_element_type(type, [&](auto tag) -> cf64 {
    using T = typename decltype(tag)::type;
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    if constexpr (__is_same(T, void)) {
      return {};
    } else if constexpr (SubByte<T>) {
      return convert<cf64>(load_packed<T>(bytes, index));
    } else {
      T x;
      __builtin_memcpy(&x, bytes + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
      return convert<cf64>(x);
    }
  });
}

inline void store_from_complex(ElementType type, void* data, std::int64_t index, cf64 value, Conversion how = {}) {
  visit_element_type(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto* bytes = static_cast<std::uint8_t*>(data);
    if constexpr (SubByte<T>) {
      store_packed(bytes, index, convert<T>(value.real, how));
    } else if constexpr (!__is_same(T, void)) {
      T x;
      if constexpr (Complex<T>) {
        x = convert<T>(value, how);
      } else {
        x = convert<T>(value.real, how);
      }
      __builtin_memcpy(bytes + index * static_cast<std::int64_t>(sizeof(T)), &x, sizeof(T));
    }
  });
}

inline double load_as_double(ElementType type, const void* data, std::int64_t index) {
  return load_as_complex(type, data, index).real;
}

inline void store_from_double(ElementType type, void* data, std::int64_t index, double value, Conversion how = {}) {
  store_from_complex(type, data, index, cf64{value, 0}, how);
}

}  // namespace gantry

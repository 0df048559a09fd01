// The element types as run-time values, for plans, command lines and the simulator, and the way from types to values
// and back. Each type stands once, in the table below.
//
// Example:
//     constexpr gantry::ElementType e = gantry::element_type_v<gantry::bf16>;
//     static_assert(info(e).bits == 16 && info(e).kind == gantry::ElementKind::floating);
//     static_assert(__is_same(gantry::element_t<gantry::ElementType::bf16>, gantry::bf16));
#pragma once

#include <gantry/numeric/packed.hpp>

// X(id, type, short name, CuTe's name, name in numeric Python, kind). The id is the short name, but for void.
#define GANTRY_ELEMENT_TYPES(X)                                              \
  X(void_, void, "void", "void", "none", none)                               \
  X(f64, double, "f64", "double", "float64", floating)                       \
  X(f32, float, "f32", "float", "float32", floating)                         \
  X(tf32, ::gantry::tf32, "tf32", "tfloat32_t", "tensorfloat32", floating)   \
  X(f16, ::gantry::f16, "f16", "half_t", "float16", floating)                \
  X(bf16, ::gantry::bf16, "bf16", "bfloat16_t", "bfloat16", floating)        \
  X(e4m3, ::gantry::e4m3, "e4m3", "float_e4m3_t", "float8_e4m3fn", floating) \
  X(e5m2, ::gantry::e5m2, "e5m2", "float_e5m2_t", "float8_e5m2", floating)   \
  X(e3m2, ::gantry::e3m2, "e3m2", "float_e3m2_t", "float6_e3m2fn", floating) \
  X(e2m3, ::gantry::e2m3, "e2m3", "float_e2m3_t", "float6_e2m3fn", floating) \
  X(e2m1, ::gantry::e2m1, "e2m1", "float_e2m1_t", "float4_e2m1fn", floating) \
  X(s64, std::int64_t, "s64", "int64_t", "int64", signed_integer)            \
  X(u64, std::uint64_t, "u64", "uint64_t", "uint64", unsigned_integer)       \
  X(s32, std::int32_t, "s32", "int32_t", "int32", signed_integer)            \
  X(u32, std::uint32_t, "u32", "uint32_t", "uint32", unsigned_integer)       \
  X(s16, std::int16_t, "s16", "int16_t", "int16", signed_integer)            \
  X(u16, std::uint16_t, "u16", "uint16_t", "uint16", unsigned_integer)       \
  X(s8, std::int8_t, "s8", "int8_t", "int8", signed_integer)                 \
  X(u8, std::uint8_t, "u8", "uint8_t", "uint8", unsigned_integer)            \
  X(s4, ::gantry::s4, "s4", "int4b_t", "int4", signed_integer)               \
  X(u4, ::gantry::u4, "u4", "uint4b_t", "uint4", unsigned_integer)           \
  X(u1, ::gantry::u1, "u1", "uint1b_t", "uint1", unsigned_integer)           \
  X(cf32, ::gantry::cf32, "cf32", "complex<float>", "complex64", complex)    \
  X(cf64, ::gantry::cf64, "cf64", "complex<double>", "complex128", complex)

namespace gantry {

// g++ takes a scoped enumerator for something that hides the alias of the same name.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
enum class ElementType : std::uint8_t {
#define GANTRY_X(id, type, name, cute_name, python_name, kind) id,
  GANTRY_ELEMENT_TYPES(GANTRY_X)
#undef GANTRY_X
};
#pragma GCC diagnostic pop

enum class ElementKind : std::uint8_t { none, floating, signed_integer, unsigned_integer, complex };

struct ElementInfo {
  ElementType type;
  ElementKind kind;
  int bits;  // in memory
  const char* name;
  const char* cute_name;
  const char* python_name;
};

inline constexpr ElementInfo kElementTypes[] = {
#define GANTRY_X(id, type, name, cute_name, python_name, kind) \
  {ElementType::id, ElementKind::kind, sizeof_bits_v<type>, name, cute_name, python_name},
    GANTRY_ELEMENT_TYPES(GANTRY_X)
#undef GANTRY_X
};

constexpr const ElementInfo& info(ElementType type) { return kElementTypes[static_cast<int>(type)]; }

// The bytes that `count` elements take in memory.
constexpr std::int64_t bytes_for(ElementType type, std::int64_t count) {
  return bytes_for_bits(info(type).bits, count);
}

namespace detail {

template <class T>
struct ElementTypeOf {
  static constexpr bool known = false;
};
template <ElementType e>
struct TypeOfElement;
#define GANTRY_X(id, type_, name, cute_name, python_name, kind) \
  template <>                                                   \
  struct ElementTypeOf<type_> {                                 \
    static constexpr bool known = true;                         \
    static constexpr ElementType value = ElementType::id;       \
  };                                                            \
  template <>                                                   \
  struct TypeOfElement<ElementType::id> {                       \
    using type = type_;                                         \
  };
GANTRY_ELEMENT_TYPES(GANTRY_X)
#undef GANTRY_X

template <class T>
constexpr ElementType element_type_of() {
  static_assert(ElementTypeOf<T>::known,
                "gantry: this type is not an element type: element types are f16, bf16, tf32, "
                "e4m3, e5m2, float, double, the integers of <cstdint>, s4, u4, u1, cf32, ...");
  return ElementTypeOf<T>::value;
}

}  // namespace detail

template <class T>
inline constexpr ElementType element_type_v = detail::element_type_of<T>();

template <ElementType e>
using element_t = typename detail::TypeOfElement<e>::type;

// Stands for a type where a value is needed.
template <class T>
struct TypeTag {
  using type = T;
};

// Calls f(TypeTag<T>{}) with the type that `type` stands for, TypeTag<void> included, and returns what it returns.
template <class F>
constexpr decltype(auto) visit_element_type(ElementType type, F&& f) {
  switch (type) {
#define GANTRY_X(id, type_, name, cute_name, python_name, kind) \
  case ElementType::id:                                         \
    return f(TypeTag<type_>{});
    GANTRY_ELEMENT_TYPES(GANTRY_X)
#undef GANTRY_X
  }
  return f(TypeTag<void>{});
}

}  // namespace gantry

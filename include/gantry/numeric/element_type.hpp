// The element types as run-time values, for plans, command lines and the simulator, and the way from types to values
// and back. Each type stands once, in the table below.
//
// Example:
//     constexpr gantry::ElementType e = gantry::element_type_v<gantry::bf16>;
//     static_assert(info(e).bits == 16 && info(e).kind == gantry::ElementKind::floating);
//     static_assert(__is_same(gantry::element_t<gantry::ElementType::bf16>, gantry::bf16));
#pragma once

#include <gantry/numeric/packed.hpp>

// clang-format off
// X(id, type, short name, CuTe's name, name in numeric Python, kind, tensor map's data type, carrier, wgmma). The id is the
// short name, but for void. The carrier is the element that TMA moves in its place: itself where the tensor map has a name
// for it. The last says how wgmma takes it as an operand.
#define GANTRY_ELEMENT_TYPES(X)                                                                                     \
  X(void_, void,           "void", "void",            "none",          none,             u8,            u8,   none) \
  X(f64,   double,         "f64",  "double",          "float64",       floating,         f64,           f64,  none) \
  X(f32,   float,          "f32",  "float",           "float32",       floating,         f32,           f32,  none) \
  X(tf32,  ::gantry::tf32, "tf32", "tfloat32_t",      "tensorfloat32", floating,         tf32,          tf32, tf32) \
  X(f16,   ::gantry::f16,  "f16",  "half_t",          "float16",       floating,         f16,           f16,  f16)  \
  X(bf16,  ::gantry::bf16, "bf16", "bfloat16_t",      "bfloat16",      floating,         bf16,          bf16, bf16) \
  X(e4m3,  ::gantry::e4m3, "e4m3", "float_e4m3_t",    "float8_e4m3fn", floating,         u8,            e4m3, fp8)  \
  X(e5m2,  ::gantry::e5m2, "e5m2", "float_e5m2_t",    "float8_e5m2",   floating,         u8,            e5m2, fp8)  \
  X(e3m2,  ::gantry::e3m2, "e3m2", "float_e3m2_t",    "float6_e3m2fn", floating,         u6x16_align16, e3m2, none) \
  X(e2m3,  ::gantry::e2m3, "e2m3", "float_e2m3_t",    "float6_e2m3fn", floating,         u6x16_align16, e2m3, none) \
  X(e2m1,  ::gantry::e2m1, "e2m1", "float_e2m1_t",    "float4_e2m1fn", floating,         u4x16_align8,  e2m1, none) \
  X(s64,   std::int64_t,   "s64",  "int64_t",         "int64",         signed_integer,   s64,           s64,  none) \
  X(u64,   std::uint64_t,  "u64",  "uint64_t",        "uint64",        unsigned_integer, u64,           u64,  none) \
  X(s32,   std::int32_t,   "s32",  "int32_t",         "int32",         signed_integer,   s32,           s32,  none) \
  X(u32,   std::uint32_t,  "u32",  "uint32_t",        "uint32",        unsigned_integer, u32,           u32,  none) \
  X(s16,   std::int16_t,   "s16",  "int16_t",         "int16",         signed_integer,   u16,           u16,  none) \
  X(u16,   std::uint16_t,  "u16",  "uint16_t",        "uint16",        unsigned_integer, u16,           u16,  none) \
  X(s8,    std::int8_t,    "s8",   "int8_t",          "int8",          signed_integer,   u8,            s8,   int8) \
  X(u8,    std::uint8_t,   "u8",   "uint8_t",         "uint8",         unsigned_integer, u8,            u8,   int8) \
  X(s4,    ::gantry::s4,   "s4",   "int4b_t",         "int4",          signed_integer,   u8,            u8,   none) \
  X(u4,    ::gantry::u4,   "u4",   "uint4b_t",        "uint4",         unsigned_integer, u8,            u8,   none) \
  X(s2,    ::gantry::s2,   "s2",   "int2b_t",         "int2",          signed_integer,   u8,            u8,   none) \
  X(u2,    ::gantry::u2,   "u2",   "uint2b_t",        "uint2",         unsigned_integer, u8,            u8,   none) \
  X(u1,    ::gantry::u1,   "u1",   "uint1b_t",        "uint1",         unsigned_integer, u8,            u8,   none) \
  X(cf32,  ::gantry::cf32, "cf32", "complex<float>",  "complex64",     complex,          u64,           u64,  none) \
  X(cf64,  ::gantry::cf64, "cf64", "complex<double>", "complex128",    complex,          u64,           u64,  none)
// clang-format on

namespace gantry {

// g++ takes a scoped enumerator for something that hides the alias of the same name.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
enum class ElementType : std::uint8_t {
#define GANTRY_X(id, ...) id,
  GANTRY_ELEMENT_TYPES(GANTRY_X)
#undef GANTRY_X
};

// What wgmma multiplies: both operands of one kind, 8-bit floats and 8-bit integers in any mixture.
enum class MmaKind : std::uint8_t { none, f16, bf16, tf32, fp8, int8 };
#pragma GCC diagnostic pop

enum class ElementKind : std::uint8_t { none, floating, signed_integer, unsigned_integer, complex };

struct ElementInfo {
  ElementType type;
  ElementKind kind;
  int bits;  // in memory
  const char* name;
  const char* cute_name;
  const char* python_name;
  ElementType carrier;  // what TMA moves in its place
  MmaKind mma;
};

inline constexpr ElementInfo kElementTypes[] = {
#define GANTRY_X(id, type, name, cute_name, python_name, kind, tma, carrier, mma) \
  {ElementType::id, ElementKind::kind, sizeof_bits_v<type>,  name,                \
   cute_name,       python_name,       ElementType::carrier, MmaKind::mma},
    GANTRY_ELEMENT_TYPES(GANTRY_X)
#undef GANTRY_X
};

constexpr const ElementInfo& info(ElementType type) { return kElementTypes[static_cast<int>(type)]; }

// Entries of the table for device code, which cannot look into a table of the host.
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
GANTRY_HD constexpr MmaKind mma_kind(ElementType type) noexcept {
  switch (type) {
#define GANTRY_X(id, type_, name, cute_name, python_name, kind, tma, carrier, mma) \
  case ElementType::id:                                                            \
    return MmaKind::mma;
    GANTRY_ELEMENT_TYPES(GANTRY_X)
#undef GANTRY_X
  }
  return MmaKind::none;
}

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
#define GANTRY_X(id, type_, ...)                          \
  template <>                                             \
  struct ElementTypeOf<type_> {                           \
    static constexpr bool known = true;                   \
    static constexpr ElementType value = ElementType::id; \
  };                                                      \
  template <>                                             \
  struct TypeOfElement<ElementType::id> {                 \
    using type = type_;                                   \
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
#define GANTRY_X(id, type_, ...) \
  case ElementType::id:          \
    return f(TypeTag<type_>{});
    GANTRY_ELEMENT_TYPES(GANTRY_X)
#undef GANTRY_X
  }
  return f(TypeTag<void>{});
}

}  // namespace gantry

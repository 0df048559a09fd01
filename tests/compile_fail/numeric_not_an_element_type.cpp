// A type that no tensor can hold.
// EXPECT: this type is not an element type: element types are f16, bf16, tf32, e4m3, e5m2, float, double
#include <gantry/numeric.hpp>

constexpr gantry::ElementType e = gantry::element_type_v<long double>;

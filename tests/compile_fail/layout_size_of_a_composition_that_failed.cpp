// A fault that nobody checked is named where a constant expression needs the value; clang shows its numbers too.
// EXPECT-REGEX: (call to non-.constexpr. function .void |cannot call non-constexpr function ")gantry::misuse::composition_stride|rule_is_broken\(&composition_stride, 6, 4\)
#include <gantry/layout.hpp>

using namespace gantry;
constexpr Layout kBad = composition(make_layout(make_shape(_4, _6), make_stride(_1, _10)), make_layout(_2, _6));
static_assert(size(kBad) == 2);

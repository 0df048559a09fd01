// A layout of basis strides gives coordinates, and a number was asked for.
// EXPECT: refuse
// EXPECT: basis_in_offset
#include <gantry/layout.hpp>

using namespace gantry;
constexpr Layout kIdentity = make_identity_layout(make_shape(_4, _8));
constexpr auto kOffset = kIdentity(3);

// Layouts: integer tuples, layouts and their algebra, swizzles, text. Includes the whole layer but layout/format.hpp,
// which writes to streams and {fmt} and costs their headers.
//
// Example:
//     using namespace gantry;
//     constexpr Layout tile = tile_to_shape(make_layout(make_shape(_8, _64), LayoutRight{}), make_shape(_128, _64));
//     static_assert(to_text(tile) == "((_8,_16),(_64,_1)):((_64,_512),(_1,_0))");
#pragma once

#include <gantry/layout/coalesce.hpp>
#include <gantry/layout/complement.hpp>
#include <gantry/layout/compose.hpp>
#include <gantry/layout/composed.hpp>
#include <gantry/layout/composed_algebra.hpp>
#include <gantry/layout/coordinate.hpp>
#include <gantry/layout/divide.hpp>
#include <gantry/layout/int.hpp>
#include <gantry/layout/int_tuple.hpp>
#include <gantry/layout/inverse.hpp>
#include <gantry/layout/layout.hpp>
#include <gantry/layout/modes.hpp>
#include <gantry/layout/order.hpp>
#include <gantry/layout/parse.hpp>
#include <gantry/layout/print.hpp>
#include <gantry/layout/product.hpp>
#include <gantry/layout/recast.hpp>
#include <gantry/layout/smem_atoms.hpp>
#include <gantry/layout/swizzle.hpp>
#include <gantry/layout/table.hpp>
#include <gantry/layout/tiler.hpp>
#include <gantry/layout/tiler_text.hpp>
#include <gantry/layout/tuple_algorithms.hpp>

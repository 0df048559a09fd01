// Element types with the same bits on both machines: numbers, conversions, packing, and types as run-time values.
#pragma once

#include <gantry/numeric/complex.hpp>
#include <gantry/numeric/convert.hpp>
#include <gantry/numeric/element_access.hpp>
#include <gantry/numeric/element_name.hpp>
#include <gantry/numeric/element_type.hpp>
#include <gantry/numeric/float_format.hpp>
#include <gantry/numeric/float_types.hpp>
#include <gantry/numeric/int_types.hpp>
#include <gantry/numeric/limits.hpp>
#include <gantry/numeric/packed.hpp>

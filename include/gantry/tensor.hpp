// Tensors: pointers with a memory space, layouts as types, tiling, partitioning, coordinates. Includes the whole layer.
#pragma once

#include <gantry/tensor/access.hpp>
#include <gantry/tensor/coord_tensor.hpp>
#include <gantry/tensor/fragment.hpp>
#include <gantry/tensor/index.hpp>
#include <gantry/tensor/pointer.hpp>
#include <gantry/tensor/recast.hpp>
#include <gantry/tensor/runtime_tensor.hpp>
#include <gantry/tensor/static_layout.hpp>
#include <gantry/tensor/swizzled_pointer.hpp>
#include <gantry/tensor/tensor.hpp>
#include <gantry/tensor/tiled_copy.hpp>
#include <gantry/tensor/tiling.hpp>

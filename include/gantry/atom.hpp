// Copy and MMA atoms, tiled copies and tiled MMAs, copy and gemm: the layer that joins tensors and hardware operations.
// Includes the whole layer.
#pragma once

#include <gantry/atom/accumulator.hpp>
#include <gantry/atom/convert.hpp>
#include <gantry/atom/copy.hpp>
#include <gantry/atom/copy_atom.hpp>
#include <gantry/atom/copy_operations.hpp>
#include <gantry/atom/gemm.hpp>
#include <gantry/atom/im2col_copy.hpp>
#include <gantry/atom/matrix_coordinates.hpp>
#include <gantry/atom/matrix_descriptor.hpp>
#include <gantry/atom/mma_atom.hpp>
#include <gantry/atom/mma_copy.hpp>
#include <gantry/atom/tiled_copy.hpp>
#include <gantry/atom/tiled_mma.hpp>
#include <gantry/atom/tma_copy.hpp>

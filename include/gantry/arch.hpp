// Every hardware operation that kernels use, one function each, on both machines; but for sparse wgmmas
// (`arch/wgmma_sparse.hpp`) and the names of `cuda::ptx` (`arch/ptx.hpp`), which few kernels need.
#pragma once

#include <gantry/arch/address.hpp>
#include <gantry/arch/atomic.hpp>
#include <gantry/arch/barrier.hpp>
#include <gantry/arch/bulk.hpp>
#include <gantry/arch/bulk_group.hpp>
#include <gantry/arch/bulk_tensor.hpp>
#include <gantry/arch/bulk_tensor_im2col.hpp>
#include <gantry/arch/clock.hpp>
#include <gantry/arch/control.hpp>
#include <gantry/arch/convert.hpp>
#include <gantry/arch/cp_async.hpp>
#include <gantry/arch/fence.hpp>
#include <gantry/arch/kernel.hpp>
#include <gantry/arch/math.hpp>
#include <gantry/arch/matrix.hpp>
#include <gantry/arch/mbarrier.hpp>
#include <gantry/arch/memory.hpp>
#include <gantry/arch/mma.hpp>
#include <gantry/arch/mma_types.hpp>
#include <gantry/arch/tensormap.hpp>
#include <gantry/arch/thread.hpp>
#include <gantry/arch/warp.hpp>
#include <gantry/arch/wgmma.hpp>

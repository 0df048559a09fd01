// Every hardware operation that kernels use, one function each, on both machines.
#pragma once

#include "gantry/arch/address.hpp"
#include "gantry/arch/barrier.hpp"
#include "gantry/arch/bulk_group.hpp"
#include "gantry/arch/bulk_tensor.hpp"
#include "gantry/arch/control.hpp"
#include "gantry/arch/convert.hpp"
#include "gantry/arch/fence.hpp"
#include "gantry/arch/kernel.hpp"
#include "gantry/arch/matrix.hpp"
#include "gantry/arch/mbarrier.hpp"
#include "gantry/arch/thread.hpp"
#include "gantry/arch/wgmma.hpp"

// Tensor maps and the copies through them: descriptors and their rules, plans, partitions, instructions. Encoding by
// the driver (`tma/encode.hpp`) and reports (`tma/explain.hpp`) are included on their own.
//
// Example:
//     using namespace gantry;
//     constexpr TmaPlan plan = make_tma_copy(
//         TmaOp::load,
//         {.element = ElementType::f16, .layout = make_layout(make_shape(1024, 256), make_stride(256, _1))},
//         make_layout(make_shape(_64, _32), LayoutRight{}));
//     static_assert(plan.ok() && plan.bytes_per_instruction() == 4096);
#pragma once

#include <gantry/tma/copy.hpp>
#include <gantry/tma/descriptor.hpp>
#include <gantry/tma/im2col.hpp>
#include <gantry/tma/instructions.hpp>
#include <gantry/tma/kernel_tile.hpp>
#include <gantry/tma/multicast.hpp>
#include <gantry/tma/partition.hpp>
#include <gantry/tma/plan.hpp>
#include <gantry/tma/plan_static_check.hpp>
#include <gantry/tma/replace.hpp>

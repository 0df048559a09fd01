// Every example kernel, and every kernel of examples/bugs, translated for the GPU: none spills or keeps a stack.
#include <gantry/arch/launch.hpp>

#include "../../examples/broadcast.hpp"
#include "../../examples/bugs/all.hpp"
#include "../../examples/im2col_gather.hpp"
#include "../../examples/reduce_add.hpp"
#include "../../examples/tile_copy.hpp"
#include "../../examples/tile_product.hpp"
#include "../../examples/transpose.hpp"

namespace gantry::detail {

#define GANTRY_TRANSLATE(...) \
  template __global__ void kernel_entry<__VA_ARGS__>(const __grid_constant__ typename __VA_ARGS__::Params)

GANTRY_TRANSLATE(examples::TileCopy<>);
GANTRY_TRANSLATE(examples::Transpose);
GANTRY_TRANSLATE(examples::Broadcast);
GANTRY_TRANSLATE(examples::ReduceAdd);
GANTRY_TRANSLATE(examples::Im2colGather);
GANTRY_TRANSLATE(examples::TileProduct<>);

GANTRY_TRANSLATE(examples::bugs::MissingProxyFence);
GANTRY_TRANSLATE(examples::bugs::WaitWithoutBarrier);
GANTRY_TRANSLATE(examples::bugs::AnotherThreadWaits);
GANTRY_TRANSLATE(examples::bugs::LeavesBeforeRead);
GANTRY_TRANSLATE(examples::bugs::InitWithoutFence);
GANTRY_TRANSLATE(examples::bugs::ElementsForBytes);
GANTRY_TRANSLATE(examples::bugs::ExpectsTooMuch);
GANTRY_TRANSLATE(examples::bugs::OneArrivalForAll);
GANTRY_TRANSLATE(examples::bugs::PhaseNotFlipped);
GANTRY_TRANSLATE(examples::bugs::ProducerParity);
GANTRY_TRANSLATE(examples::bugs::EarlyRelease);
GANTRY_TRANSLATE(examples::bugs::AccumulatorEarly);
GANTRY_TRANSLATE(examples::bugs::ReloadedUnderProduct);
GANTRY_TRANSLATE(examples::bugs::PeerLeaves);
GANTRY_TRANSLATE(examples::bugs::AsksInABranch);

}  // namespace gantry::detail

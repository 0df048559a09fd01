// An epilogue that a block has no room for is refused by the compiler.
// EXPECT: the shared memory of a block is limited
#include <gantry/epilogue/policy_static_check.hpp>

using namespace gantry;
constexpr EpiloguePolicy kPolicy = CollectiveBuilder{.schedule = EpilogueSchedule::tma_warp_specialized_cooperative,
                                                     .tile = {128, 256, 64},
                                                     .epi_tile = {128, 256},
                                                     .c = ElementType::f32,
                                                     .d = ElementType::f32}
                                       .policy();
GANTRY_EPILOGUE_STATIC_CHECK(kPolicy);

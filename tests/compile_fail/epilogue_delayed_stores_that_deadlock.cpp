// Delayed stores into reused buffers stop for ever unless there are more buffers than stores in flight.
// EXPECT: the load warp would wait for a buffer
// EXPECT: so StagesC must be greater than StagesD
#include <gantry/epilogue/policy_static_check.hpp>

using namespace gantry;
constexpr EpiloguePolicy kPolicy = CollectiveBuilder{.schedule = EpilogueSchedule::tma_warp_specialized,
                                                     .tile = {128, 128, 64},
                                                     .c = ElementType::bf16,
                                                     .d = ElementType::bf16,
                                                     .stages_c = 2,
                                                     .stages_d = 2,
                                                     .reuse_smem_c = Choice::yes,
                                                     .delay_tma_store = Choice::yes}
                                       .policy();
GANTRY_EPILOGUE_STATIC_CHECK(kPolicy);

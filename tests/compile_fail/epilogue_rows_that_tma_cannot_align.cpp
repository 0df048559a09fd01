// TMA reads and writes rows of whole 16 bytes; an alignment below is refused by the compiler.
// EXPECT: TMA takes rows of whole 16 bytes
#include <gantry/epilogue/policy_static_check.hpp>

using namespace gantry;
constexpr EpiloguePolicy kPolicy = CollectiveBuilder{.schedule = EpilogueSchedule::tma_warp_specialized,
                                                     .tile = {64, 64, 64},
                                                     .c = ElementType::f16,
                                                     .d = ElementType::f16,
                                                     .align_c = 4}
                                       .policy();
GANTRY_EPILOGUE_STATIC_CHECK(kPolicy);

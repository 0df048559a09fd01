// CollectiveBuilder: from what an epilogue is asked for to its policy.
//
// Every field has a default that leaves the decision to the flavour's rules; what is set is kept, or refused with a
// reason. The same function serves a kernel's configuration (a static constexpr member), the host and the command line.
//
// Example at namespace scope:
//     struct Config {
//       static constexpr gantry::EpiloguePolicy policy =
//           gantry::CollectiveBuilder{.schedule = gantry::EpilogueSchedule::tma_warp_specialized_cooperative,
//                                     .tile = {128, 256, 64},
//                                     .c = gantry::ElementType::bf16,
//                                     .d = gantry::ElementType::bf16}
//               .policy();
//     };
//     static_assert(Config::policy.ok() && Config::policy.epi_tile == gantry::TileMN{128, 64});
//     static_assert(Config::policy.reuse_smem_c && Config::policy.stages_c == 4 && Config::policy.subtiles() == 4);
#pragma once

#include <gantry/epilogue/builder_options.hpp>
#include <gantry/epilogue/detail/policy_maker.hpp>
#include <gantry/epilogue/tile_of_layouts.hpp>

namespace gantry {

GANTRY_HD constexpr EpiloguePolicy CollectiveBuilder::policy(const Sm90Limits& limits) const {
  return detail::PolicyMaker(*this, limits).make();
}

}  // namespace gantry

// What encode.hpp declares: compiled into gantry::planning, or inline where nothing is linked.
#pragma once

#include <gantry/tma/encode.hpp>

namespace gantry::tma_detail {

GANTRY_LINKAGE EncodedTmaDescriptor validated_now(const TmaDescriptorParams& params) noexcept {
  return validated(params);
}
GANTRY_LINKAGE EncodedTmaDescriptor packed_now(const TmaDescriptorParams& params) noexcept { return packed(params); }

}  // namespace gantry::tma_detail

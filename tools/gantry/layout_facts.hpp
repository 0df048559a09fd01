// What can be said about a layout by looking at all of its offsets.
#pragma once

#include <cstdint>
#include <optional>

#include <gantry/layout/composed.hpp>

namespace gantry::tool {

struct LayoutFacts {
  bool injective = false;   // no two coordinates share an offset
  bool surjective = false;  // the offsets have no gap: every one from the least to the greatest is reached

  bool bijective() const { return injective && surjective; }
};

// How many elements are looked at, at most.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 22;

// Nothing where extents or strides are not known, or there are more than kMostElements elements.
std::optional<LayoutFacts> look_at(const ComposedLayout& layout);

}  // namespace gantry::tool

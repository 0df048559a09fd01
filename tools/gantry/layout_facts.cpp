#include "layout_facts.hpp"

#include <algorithm>
#include <vector>

namespace gantry::tool {

namespace {

// The offset as one number: a coordinate is counted along the box of all coordinates.
std::optional<std::int64_t> number_of(const IntTuple& offset, const IntTuple& box) {
  const IntTuple counted = offset.is_leaf() ? offset : crd2idx(offset, box, compact_col_major(box));
  if (!counted.ok() || !counted.is_leaf() || !counted.leaf().is_known()) return std::nullopt;
  return counted.leaf().value();
}

}  // namespace

std::optional<LayoutFacts> look_at(const ComposedLayout& layout) {
  const Int elements = product(layout.shape());
  if (!layout.ok() || !elements.is_known() || elements.value() > kMostElements) return std::nullopt;
  const IntTuple box = coshape(layout.layout());
  std::vector<std::int64_t> offsets;
  offsets.reserve(static_cast<std::size_t>(elements.value()));
  for (std::int64_t i = 0; i < elements.value(); ++i) {
    const auto offset = number_of(layout.at(i), box);
    if (!offset) return std::nullopt;
    offsets.push_back(*offset);
  }
  std::sort(offsets.begin(), offsets.end());
  const auto distinct = std::unique(offsets.begin(), offsets.end()) - offsets.begin();
  const std::int64_t range = offsets[static_cast<std::size_t>(distinct - 1)] - offsets[0] + 1;
  const bool is_box = !box.is_leaf();
  return LayoutFacts{.injective = distinct == elements.value(), .surjective = distinct == (is_box ? size(box) : range)};
}

}  // namespace gantry::tool

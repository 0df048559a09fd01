// Two operands, as texts on either side of a '|', given to every operation of the layout algebra: each gives a value or
// a fault, nothing on the way is undefined, and what coalesce, filter, composition and the inverses promise holds where
// it can be counted.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <gantry/layout.hpp>

#include "require.hpp"

namespace gantry {
namespace {

using fuzz::require;

bool is_countable(const Layout& l) {
  constexpr std::int64_t kMost = 512;
  if (!l.ok() || has_basis(l.stride())) return false;
  for (const TupleView t : {TupleView(l.shape()), TupleView(l.stride())}) {
    for (int i = 0; i < t.nodes(); ++i) {
      if (t.node_is_leaf(i) && !t.node_leaf(i).is_known()) return false;
    }
  }
  return size(l) <= kMost;
}

void check(const Layout& l, std::string_view input) {
  if (!l.ok()) return require(l.fault().rule != Rule::none, "a faulty layout has a rule", input);
  require(congruent(l.shape(), l.stride()), "a layout keeps its invariant", input);
  coshape(l);
}

void check_alone(const Layout& a, std::string_view input) {
  const Layout simple = coalesce(a);
  check(simple, input);
  if (is_countable(a) && is_countable(simple)) {
    for (std::int64_t i = 0; i < size(a); ++i) require(simple(i) == a(i), "coalesce keeps the function", input);
  }
  const Layout inverse = right_inverse(a);
  check(inverse, input);
  if (is_countable(a) && is_countable(inverse)) {
    for (std::int64_t i = 0; i < size(inverse); ++i) require(a(inverse(i)) == i, "a o right_inverse(a) is i", input);
  }
  for (const Layout& l : {filter(a), filter_zeros(a), left_inverse(a), nullspace(a), complement(a), flatten(a),
                          make_layout_like(a), upcast(a, 2), downcast(a, 2), recast_layout(a, 16, 32)}) {
    check(l, input);
  }
}

void check_pair(const Layout& a, const Layout& b, std::string_view input) {
  const Layout r = composition(a, b);
  check(r, input);
  if (is_countable(a) && is_countable(b) && is_countable(r) && cosize(b) <= size(a)) {
    for (std::int64_t i = 0; i < size(b) && b(i) >= 0; ++i) {
      require(r(i) == a(b(i)), "a composition is a(b(i))", input);
    }
  }
  for (const Layout& l :
       {logical_divide(a, b), logical_product(a, b), blocked_product(a, b), raked_product(a, b),
        max_common_layout(a, b), append(a, b), complement(a, b.shape()), tile_to_shape(a, b.shape())}) {
    check(l, input);
  }
}

void check_tiler(const Layout& a, const Tiler& t, std::string_view input) {
  for (const Layout& l :
       {composition(a, t), logical_divide(a, t), zipped_divide(a, t), tiled_divide(a, t), flat_divide(a, t),
        logical_product(a, t), zipped_product(a, t), tiled_product(a, t), flat_product(a, t)}) {
    check(l, input);
  }
}

void check_coordinate(const Layout& a, const IntTuple& crd) {
  a.at(crd);
  slice(crd, a);
  dice(crd, a);
  idx2crd(crd, a.shape());
  idx2crd(crd, a.shape(), a.stride());
  crd2crd(crd, a.shape(), a.shape());
  coalesce(a, crd);
  shape_div(a.shape(), crd);
  compact_order(a.shape(), crd);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto bar = input.find('|');
  if (bar == std::string_view::npos) return 0;
  for (const bool all_fixed : {false, true}) {
    const ParseOptions options{.all_fixed = all_fixed};
    const auto a = parse_layout(input.substr(0, bar), options);
    if (!a.ok()) return 0;
    check_alone(a.value, input);
    const std::string_view second = input.substr(bar + 1);
    if (const auto b = parse_layout(second, options); b.ok()) check_pair(a.value, b.value, input);
    if (const auto t = parse_tiler(second, options); t.ok()) check_tiler(a.value, t.value, input);
    if (const auto crd = parse_int_tuple(second, options); crd.ok()) check_coordinate(a.value, crd.value);
  }
  return 0;
}

}  // namespace gantry

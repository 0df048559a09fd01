// What is known only at run time decides nothing about structure: the same modes come out for all run-time values, and
// when the values are not known at all.
#include <functional>
#include <utility>

#include "random_layouts.hpp"

namespace {

using namespace gantry;
using namespace gantry::test;

// The same tree, with the same leaves where they are fixed, and fixed leaves in the same places.
bool same_structure(TupleView a, TupleView b) {
  if (!congruent(a, b)) return false;
  for (int i = 0; i < a.nodes(); ++i) {
    if (!a.node_is_leaf(i)) continue;
    const Int x = a.node_leaf(i);
    const Int y = b.node_leaf(i);
    if (x.is_fixed() != y.is_fixed() || (x.is_fixed() && !(x == y)) || !(x.path() == y.path())) return false;
  }
  return true;
}
bool same_structure(const Layout& a, const Layout& b) {
  return same_structure(a.shape(), b.shape()) && same_structure(a.stride(), b.stride());
}

// l with every dynamic leaf replaced.
template <class F>
Layout with_dynamic_leaves(const Layout& l, const F& f) {
  const auto replace = [&](const Int& v) { return v.is_fixed() ? v : f(v); };
  return Layout(transform_leaf(l.shape(), replace), transform_leaf(l.stride(), replace));
}

struct Operation {
  const char* name;
  std::function<Layout(const Layout& l, const Layout& fixed_tile)> apply;
};

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all = {
      {"coalesce", [](const Layout& l, const Layout&) { return coalesce(l); }},
      {"coalesce_x", [](const Layout& l, const Layout&) { return coalesce_x(l); }},
      {"coalesce_up_to", [](const Layout& l, const Layout&) { return coalesce_up_to(l, 16); }},
      {"coalesce by profile", [](const Layout& l, const Layout&) { return coalesce(l, repeat(_1, rank(l))); }},
      {"filter", [](const Layout& l, const Layout&) { return filter(l); }},
      {"composition", [](const Layout& l, const Layout& t) { return composition(l, t); }},
      {"composition from the right", [](const Layout& l, const Layout& t) { return composition(t, l); }},
      {"composition of an identity",
       [](const Layout& l, const Layout& t) { return composition(make_identity_layout(l.shape()), t); }},
      {"complement", [](const Layout& l, const Layout&) { return complement(l, _512); }},
      {"complement within", [](const Layout& l, const Layout& t) { return complement(t, l.shape()); }},
      {"right_inverse", [](const Layout& l, const Layout&) { return right_inverse(l); }},
      {"left_inverse", [](const Layout& l, const Layout&) { return left_inverse(l); }},
      {"nullspace", [](const Layout& l, const Layout&) { return nullspace(l); }},
      {"max_common_layout", [](const Layout& l, const Layout& t) { return max_common_layout(l, t); }},
      {"logical_divide", [](const Layout& l, const Layout& t) { return logical_divide(l, t); }},
      {"zipped_divide", [](const Layout& l, const Layout& t) { return zipped_divide(l, make_tile(t)); }},
      {"tiled_divide by an integer", [](const Layout& l, const Layout&) { return tiled_divide(l, make_tile(_4)); }},
      {"logical_product", [](const Layout& l, const Layout& t) { return logical_product(t, l); }},
      {"blocked_product", [](const Layout& l, const Layout& t) { return blocked_product(t, l); }},
      {"tile_to_shape", [](const Layout& l, const Layout& t) { return tile_to_shape(t[0], flatten(l.shape())); }},
      {"make_layout_like", [](const Layout& l, const Layout&) { return make_layout_like(l); }},
      {"make_fragment_like", [](const Layout& l, const Layout&) { return make_fragment_like(l); }},
      {"upcast", [](const Layout& l, const Layout&) { return upcast(l, 2); }},
      {"downcast", [](const Layout& l, const Layout&) { return downcast(l, 2); }},
  };
  return all;
}

TEST(StructureProperties, RunTimeValuesDecideNothingAboutStructure) {
  std::vector<int> compared(operations().size());
  for_random_cases(30000, [&](Random& random) {
    const Layout l = random_injective(random, Leaves::mixed, 4, 128, 10);
    const Layout tile = random_even_tile(random, l, Leaves::fixed);
    const Layout other = with_dynamic_leaves(l, [&](const Int& v) { return v * Int(random.between(1, 4)); });
    const Layout unknown = with_dynamic_leaves(l, [](const Int&) { return Int::unknown(); });
    ASSERT_TRUE(unknown.ok()) << text(unknown);
    for (std::size_t i = 0; i < operations().size(); ++i) {
      const Operation& op = operations()[i];
      const Layout r = op.apply(l, tile);
      const Layout r_other = op.apply(other, tile);
      const Layout r_unknown = op.apply(unknown, tile);
      if (!r.ok()) continue;
      ++compared[i];
      ASSERT_TRUE(r_unknown.ok()) << op.name << " of " << text(l) << " as " << text(unknown) << " and " << text(tile)
                                  << ": " << describe(r_unknown.fault()).c_str();
      ASSERT_TRUE(same_structure(r, r_unknown)) << op.name << " of " << text(l) << " and " << text(tile) << " gives "
                                                << text(r) << " but of " << text(unknown) << " " << text(r_unknown);
      if (!r_other.ok()) continue;
      ASSERT_TRUE(same_structure(r, r_other)) << op.name << " of " << text(l) << " and " << text(tile) << " gives "
                                              << text(r) << " but of " << text(other) << " " << text(r_other);
    }
  });
  for (std::size_t i = 0; i < operations().size(); ++i) {
    EXPECT_GT(compared[i], 30000 / kScale / 100) << operations()[i].name << " was hardly ever compared";
  }
}

TEST(StructureProperties, WhatWasUnknownIsWhatTheValueWouldHaveBeen) {
  for_random_cases(20000, [](Random& random) {
    const Layout fixed = random_injective(random, Leaves::fixed, 4, 128, 10);
    const Layout dynamic(as_dynamic(fixed.shape()), as_dynamic(fixed.stride()));
    const Layout tile = random_even_tile(random, fixed, Leaves::fixed);
    for (const auto& [a, b] : {std::pair{coalesce(fixed), coalesce(dynamic)},
                               std::pair{composition(fixed, tile), composition(dynamic, tile)},
                               std::pair{logical_divide(fixed, _2), logical_divide(dynamic, _2)}}) {
      if (!a.ok() || !b.ok()) continue;
      ASSERT_EQ(image(a), image(b)) << text(fixed) << " and " << text(tile) << " give " << text(a) << " and "
                                    << text(b);
    }
  });
}

}  // namespace

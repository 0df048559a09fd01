// What may depend on run-time values and what may not: box, basis, tile order and shared offsets are structure.
#include <string>

#include <gtest/gtest.h>

#include <gantry/layout/print.hpp>

#include "random_copy.hpp"

namespace gantry::test {
namespace {

IntTuple with_unknown(const IntTuple& t) {
  return transform_leaf(t, [](const Int& v) { return v.is_fixed() ? v : Int::unknown(); });
}

Layout with_unknown(const Layout& l) { return Layout(with_unknown(l.shape()), with_unknown(l.stride())); }

bool same_map(const TmaPlan& a, const TmaPlan& b) {
  return canonical(a.descriptor) == canonical(b.descriptor) && a.tma_tensor_stride == b.tma_tensor_stride &&
         a.bound == b.bound && a.tile_reproduced == b.tile_reproduced && a.refused == b.refused &&
         a.not_on_hopper == b.not_on_hopper && a.reasons.size() == b.reasons.size();
}

bool same_structure(const TmaPlan& a, const TmaPlan& b) {
  bool same = a.tma_gbasis == b.tma_gbasis && a.cta_v_map == b.cta_v_map && a.num_bits_per_tma == b.num_bits_per_tma &&
              a.descriptor.rank == b.descriptor.rank && a.descriptor.swizzle == b.descriptor.swizzle &&
              a.descriptor.data_type == b.descriptor.data_type;
  for (int i = 0; i < kTmaMaxRank; ++i) same = same && a.descriptor.box[i] == b.descriptor.box[i];
  return same;
}

std::string text(const TmaPlan& p) {
  return std::string(to_text(p.gmem).c_str()) + " smem " + to_text(p.smem.layout()).c_str() + " box " +
         to_text(p.tma_gbasis).c_str() + " coordinates " + to_text(p.tma_tensor_stride).c_str();
}

const std::vector<TmaOp> kOps = {TmaOp::load, TmaOp::load_multicast, TmaOp::store};

TEST(PlanStructure, IsFoundWithoutRunTimeValuesAndCompletedByBind) {
  RandomCopy random(3);
  int structures = 0;
  for (int k = 0; k < 4000; ++k) {
    const RandomCopy::Made made = random.make(kOps);
    const TmaPlan whole = make_tma_copy(made.request);
    TmaCopyRequest blind = made.request;
    blind.gtensor.layout = with_unknown(made.request.gtensor.layout);
    const TmaPlan structure = plan_structure(blind);
    if (structure.num_bits_per_tma == 0) continue;
    ++structures;
    ASSERT_TRUE(same_structure(structure, whole)) << text(whole) << "\n" << text(structure);
    const TmaPlan bound = bind(structure, made.request.gtensor);
    ASSERT_TRUE(same_structure(bound, whole) && same_map(bound, whole)) << text(whole) << "\n" << text(bound);
  }
  EXPECT_GT(structures, 3000);
}

// Other values for the run-time leaves of a layout: extents at random, strides as multiples of the old ones.
Layout with_other_values(RandomCopy& random, const Layout& l) {
  return Layout(transform_leaf(l.shape(), [&](const Int& v) { return v.is_fixed() ? v : Int(1 + random.below(5000)); }),
                transform_leaf(l.stride(), [&](const Int& v) {
                  return v.is_fixed() ? v : Int(v.value() * (1 + random.below(9)));
                }));
}

// One coordinate step along a mode that shares its dimension is its stride over the common one.
void expect_scaled_as_defined(const TmaPlan& plan) {
  const TmaGmodes gmodes(plan.gmem, plan.units());
  auto dim_basis = TupleView(plan.tma_gbasis.stride()).begin();
  for (int dim = 0; dim < static_cast<int>(plan.descriptor.rank); ++dim, ++dim_basis) {
    const TupleView basis = *dim_basis;
    if (dim == 0 || basis.is_leaf() || leaf_count(basis) == 1) continue;
    std::int64_t common = 0;
    for (int i = 0; i < basis.nodes(); ++i) {
      if (!basis.node_is_leaf(i)) continue;
      const Int d = gmodes.at(basis.node_leaf(i).path()).tma_step;
      common = detail::gcd_magnitude(common, d.value());
    }
    for (int i = 0; i < basis.nodes() && common != 0; ++i) {
      if (!basis.node_is_leaf(i)) continue;
      const BasisPath path = basis.node_leaf(i).path();
      const Int d = gmodes.at(path).tma_step;
      const Int step = detail::leaf_at(plan.tma_tensor_stride, path);
      if (step.is_fixed(0)) continue;
      EXPECT_EQ(step.value(), d.value() / common) << text(plan);
    }
  }
}

TEST(PlanStructure, BoxBasisAndSharedOffsetsStayWhenRunTimeValuesChange) {
  RandomCopy random(5);
  int compared = 0;
  for (int k = 0; k < 3000; ++k) {
    const RandomCopy::Made made = random.make(kOps);
    const TmaPlan a = make_tma_copy(made.request);
    TmaCopyRequest other = made.request;
    other.gtensor.layout = with_other_values(random, made.request.gtensor.layout);
    const TmaPlan b = make_tma_copy(other);
    if (a.num_bits_per_tma == 0 || b.num_bits_per_tma == 0) continue;
    ++compared;
    ASSERT_TRUE(same_structure(a, b)) << text(a) << "\n" << text(b);
    const TmaTileWalk walk_a(a);
    const TmaTileWalk walk_b(b);
    ASSERT_EQ(walk_a.count(), walk_b.count());
    for (std::int64_t cta = 0; cta < a.num_multicast; ++cta) {
      for (std::int64_t i = 0; i < walk_a.count(); ++i) {
        ASSERT_EQ(walk_a.at(i, cta).shared_offset, walk_b.at(i, cta).shared_offset) << text(a) << "\n" << text(b);
      }
    }
    if (b.ok()) expect_scaled_as_defined(b);
  }
  EXPECT_GT(compared, 2000);
}

TEST(PlanStructure, IsTheSameAtCompileTimeAndAtRunTime) {
  static constexpr auto request = [] {
    return TmaCopyRequest{.op = TmaOp::load_multicast,
                          .gtensor = {.address = 0x7f0000000000,
                                      .element = ElementType::e4m3,
                                      .layout = make_layout(make_shape(500, 4096), make_stride(_1, 512))},
                          .smem = make_layout(make_shape(_16, _32)),
                          .num_multicast = 4};
  };
  constexpr TmaPlan at_compile_time = make_tma_copy(request());
  volatile int extent = 500;
  TmaCopyRequest r = request();
  r.gtensor.layout = make_layout(make_shape(static_cast<int>(extent), 4096), make_stride(_1, 512));
  const TmaPlan at_run_time = make_tma_copy(r);
  EXPECT_TRUE(same_structure(at_compile_time, at_run_time));
  EXPECT_TRUE(same_map(at_compile_time, at_run_time));
}

TEST(Bind, RefusesATensorOfAnotherStructure) {
  const TmaPlan plan = plan_structure(
      {.op = TmaOp::load,
       .gtensor = {.element = ElementType::f16,
                   .layout = make_layout(make_shape(Int::unknown(), _64), make_stride(Int::unknown(), _1))},
       .smem = make_layout(make_shape(_8, _64), LayoutRight{})});
  ASSERT_TRUE(plan.ok());
  EXPECT_FALSE(plan.bound);
  const auto bound = [&plan](const Layout& l) {
    return bind(plan, {.address = 1024, .element = ElementType::f16, .layout = l});
  };
  EXPECT_TRUE(bound(make_layout(make_shape(100, _64), make_stride(64, _1))).ok());
  const TmaPlan other = bound(make_layout(make_shape(100, _32), make_stride(64, _1)));
  ASSERT_TRUE(other.refused);
  EXPECT_EQ(other.reasons[0].rule, TmaPlanRule::bind_mismatch);
  EXPECT_EQ(other.reasons[0].mode, BasisPath{}.then(1));
  EXPECT_EQ(other.reasons[0].actual, 32);
  EXPECT_EQ(other.reasons[0].nearest, 64);
  EXPECT_TRUE(bound(make_layout(make_shape(100, _64, 2), make_stride(64, _1, 6400))).refused);
  EXPECT_TRUE(bound(make_layout(make_shape(100, _64), make_stride(64, 1))).refused);
  EXPECT_TRUE(
      bind(plan, {.element = ElementType::bf16, .layout = make_layout(make_shape(100, _64), make_stride(64, _1))})
          .refused);
}

}  // namespace
}  // namespace gantry::test

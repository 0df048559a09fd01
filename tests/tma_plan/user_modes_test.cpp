// What a plan says of its tensor map, it says of the modes, strides and extents that were written, also where a
// dimension of the map holds several of them.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/layout/parse.hpp>
#include <gantry/layout/tiler_text.hpp>
#include <gantry/tma.hpp>

#include "random_copy.hpp"

namespace gantry::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Asked {
  const char* gmem;
  const char* smem;
  const char* tile = "_";
  ElementType element = ElementType::bf16;
  ElementType moved = ElementType::void_;
};

TmaPlan plan_of(const Asked& a) {
  TmaCopyRequest r;
  r.gtensor = {.element = a.element, .layout = parse_layout(a.gmem).value};
  r.smem = ComposedLayout(Swizzle(), _0, parse_layout(a.smem).value, element_bits(a.element));
  r.cta_tiler = parse_tiler(a.tile).value;
  r.tma_element = a.moved;
  return make_tma_copy(r);
}

struct Said {
  TmaRule rule;
  BasisPath mode;
  std::int64_t actual;
  std::int64_t nearest;
  friend bool operator==(const Said&, const Said&) = default;
};

std::vector<Said> said_of(const TmaPlan& plan) {
  std::vector<Said> out;
  for (const TmaViolation& v : check_map(plan)) {
    if (v.severity() == TmaSeverity::pitfall) continue;
    out.push_back({v.rule, v.mode, static_cast<std::int64_t>(v.actual), static_cast<std::int64_t>(v.nearest)});
  }
  return out;
}

BasisPath mode(int i) { return BasisPath{}.then(i); }

TEST(Strides, AreThoseOfTheTensorInItsElements) {
  // 100 halves are 200 bytes: 96 would let rows of 100 overlap, 104 does not.
  EXPECT_THAT(said_of(plan_of({"(512,100):(100,_1)", "(_64,_32):(_32,_1)"})),
              ElementsAre(Said{TmaRule::stride_not_multiple, mode(0), 100, 104}));
  // Rows of 64 halves leave room for 96.
  EXPECT_THAT(said_of(plan_of({"(512,64):(98,_1)", "(_64,_32):(_32,_1)"})),
              ElementsAre(Said{TmaRule::stride_not_multiple, mode(0), 98, 96}));
  // Values of half a byte, moved as bytes: 32 of them are 16 bytes.
  EXPECT_THAT(said_of(plan_of({"(512,64):(80,_1)", "(_64,_64):(_64,_1)", "_", ElementType::s4, ElementType::u8})),
              ElementsAre(Said{TmaRule::stride_not_multiple, mode(0), 80, 64}));
}

// From the fifth dimension on modes are one group: its stride is the greatest common divisor of theirs.
TEST(Strides, OfModesThatShareADimensionAreNamedOneByOne) {
  const char* smem = "_64:_1";
  const TmaPlan plan = plan_of({"(64,2,2,2,4,5):(_1,64,128,256,520,2084)", smem, "(_64)"});
  EXPECT_EQ(plan.descriptor.strides[3], 2 * 4U) << "the common stride, which nobody wrote";
  EXPECT_THAT(said_of(plan), ElementsAre(Said{TmaRule::stride_not_multiple, mode(5), 2084, 2080}));
  const TmaPlan both = plan_of({"(64,2,2,2,4,5):(_1,64,128,256,516,2084)", smem, "(_64)"});
  EXPECT_THAT(said_of(both), ElementsAre(Said{TmaRule::stride_not_multiple, mode(4), 516, 512},
                                         Said{TmaRule::stride_not_multiple, mode(5), 2084, 2080}));
  EXPECT_THAT(said_of(plan_of({"(64,2,2,2,4,5):(_1,64,128,256,512,2080)", smem, "(_64)"})), IsEmpty());
}

TEST(Strides, ThatStaticLeavesDecideAreNamedInAGroupWhoseOthersAreUnknown) {
  const TmaPlan plan = plan_of({"(?,?,?,?,?,?):(_1,?,?,?,?,_2084)", "_64:_1", "(_64)"});
  EXPECT_FALSE(plan.bound);
  EXPECT_THAT(said_of(plan), ElementsAre(Said{TmaRule::stride_not_multiple, mode(5), 2084, 2088}));
  EXPECT_FALSE(plan.ok());
}

TEST(Strides, BeyondTheLimitNameTheSmallestOfADimension) {
  // 2^40 bytes are 2^39 halves.
  EXPECT_THAT(said_of(plan_of({"(2,64):(549755813888,_1)", "(_2,_64):(_64,_1)"})),
              ElementsAre(Said{TmaRule::stride_too_large, mode(0), 549755813888, 549755813880}));
  EXPECT_THAT(said_of(plan_of({"(64,2,2,2,4,5):(_1,64,128,256,1099511627776,549755813888)", "_64:_1", "(_64)"})),
              ElementsAre(Said{TmaRule::stride_too_large, mode(5), 549755813888, 549755813880}));
}

TEST(Extents, AreThoseOfTheTensorInItsElements) {
  // 2^33 + 32 values of half a byte are 2^32 + 16 bytes.
  EXPECT_THAT(said_of(plan_of({"(8589934624):(_1)", "(_64):(_1)", "_", ElementType::s4, ElementType::u8})),
              ElementsAre(Said{TmaRule::extent_out_of_range, mode(0), 8589934624, 8589934592}));
}

TEST(Extents, OfModesThatShareADimensionNameTheOneThatReachesFarthest) {
  // Strides of 8 and 2^36: the dimension counts in steps of 8 and would have 2^33 + 4 of them for each step of mode 5.
  const char* smem = "_64:_1";
  const TmaPlan plan = plan_of({"(64,2,2,2,4,3):(_1,64,128,256,8,34359738368)", smem, "(_64)"});
  EXPECT_GT(plan.descriptor.dims[4], std::uint64_t{1} << 32);
  const std::vector<Said> said = said_of(plan);
  ASSERT_THAT(said, ElementsAre(Said{TmaRule::extent_out_of_range, mode(5), 3, 1}));
  EXPECT_THAT(said_of(plan_of({"(64,2,2,2,4,1):(_1,64,128,256,8,34359738368)", smem, "(_64)"})), IsEmpty());
}

TEST(CoordinateSteps, NameTheStrideThatTheUserGaveAndTheNearestOfThat) {
  // One step along mode 5 is 2^36 / 8 coordinates.
  const TmaPlan plan = plan_of({"(64,2,2,2,4,1):(_1,64,128,256,8,68719476736)", "_64:_1", "(_64)"});
  ASSERT_TRUE(plan.reasons.has(TmaPlanRule::coordinate_step_too_large));
  for (const TmaReason& r : plan.reasons) {
    if (r.rule != TmaPlanRule::coordinate_step_too_large) continue;
    EXPECT_EQ(r.mode, mode(5));
    EXPECT_EQ(r.actual, 68719476736);
    EXPECT_EQ(r.first, 68719476736 / 8);
    EXPECT_EQ(r.nearest, std::int64_t{0x7fffffff} * 8);
  }
}

// Setting the named stride to the nearest value, mode by mode, ends in a plan whose strides break no rule.
Layout with_stride(const Layout& l, BasisPath path, std::int64_t d) {
  const TmaGmodes modes(l, {8, 8});
  int i = 0;
  return Layout(l.shape(), transform_leaf(l.stride(), [&](const Int& v) {
                  const bool named = modes[i++].path == path;
                  return named ? (v.is_fixed() ? Int::fixed(d) : Int(d)) : v;
                }));
}

TEST(RandomStrides, AreMendedByTheNearestValues) {
  RandomCopy random(37);
  int mended = 0;
  for (int k = 0; k < 3000; ++k) {
    TmaCopyRequest r = random.make({TmaOp::load}).request;
    const std::int64_t off = 1 + random.below(7);
    r.gtensor.layout = Layout(r.gtensor.layout.shape(), transform_leaf(r.gtensor.layout.stride(), [&](const Int& v) {
                                return !v.is_fixed() && v.value() > 1 ? Int(v.value() + off) : v;
                              }));
    const TmaPlan plan = make_tma_copy(r);
    // The rule of the encoder and the rule of the modes are one.
    const bool modes = check_map(plan).has(TmaRule::stride_not_multiple);
    if (plan.bound && plan.reasons.empty()) {
      ASSERT_EQ(modes, validate(plan.descriptor).has(TmaRule::stride_not_multiple));
    }
    if (!modes) continue;
    for (const TmaViolation& v : check_map(plan)) {
      if (v.rule != TmaRule::stride_not_multiple) continue;
      r.gtensor.layout = with_stride(r.gtensor.layout, v.mode, static_cast<std::int64_t>(v.nearest));
    }
    EXPECT_FALSE(check_map(make_tma_copy(r)).has(TmaRule::stride_not_multiple));
    ++mended;
  }
  EXPECT_GT(mended, 500);
}

}  // namespace
}  // namespace gantry::test

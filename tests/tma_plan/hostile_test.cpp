// Requests that nobody means: extreme extents and strides, layouts that overlap, wrong widths, odd swizzles. Planning
// must answer every one with a plan or with reasons, and do nothing undefined (the sanitizers watch).
#include <string>

#include <gtest/gtest.h>

#include "random_copy.hpp"
#include "seeds.hpp"

namespace gantry::test {
namespace {

class Hostile {
 public:
  explicit Hostile(std::uint64_t seed) : random_(seed) {}

  TmaCopyRequest request() {
    TmaCopyRequest r;
    r.op = static_cast<TmaOp>(random_.below(kTmaOpCount));
    r.gtensor.address = static_cast<std::uint64_t>(number());
    r.gtensor.element = element();
    r.gtensor.layout = layout();
    r.smem = ComposedLayout(Swizzle(small(), small(), small()), Int(number()), layout(),
                            random_.chance(50) ? element_bits(r.gtensor.element) : 0);
    r.cta_tiler = random_.chance(20) ? Tiler(layout()) : random_.chance(80) ? Tiler(tuple(2)) : Tiler(_);
    r.num_multicast = static_cast<std::uint32_t>(number());
    if (random_.chance(30)) r.tma_element = element();
    return r;
  }

  // Small and plausible, so that planning gets to its later steps, with one leaf spoilt.
  TmaCopyRequest nearly_legal() {
    RandomCopy::Made made = random_.make({TmaOp::load, TmaOp::store, TmaOp::load_multicast});
    TmaCopyRequest& r = made.request;
    const auto spoil = [this](const Layout& l) {
      const auto n = static_cast<int>(random_.below(2 * leaf_count(l.shape())));
      int i = 0;
      const auto change = [&](const Int& v) {
        return i++ == n ? (random_.chance(50) ? Int(number()) : Int::fixed(number())) : v;
      };
      const IntTuple shape = transform_leaf(l.shape(), change);
      return Layout(shape, transform_leaf(l.stride(), change));
    };
    if (random_.chance(50)) {
      r.gtensor.layout = spoil(r.gtensor.layout);
    } else {
      r.smem = r.smem.with_layout(spoil(r.smem.layout()));
      if (random_.chance(50)) r.cta_tiler = Tiler(r.smem.shape());
    }
    return r;
  }

 private:
  std::int64_t number() {
    static const std::vector<std::int64_t> numbers = {0,
                                                      1,
                                                      2,
                                                      3,
                                                      7,
                                                      8,
                                                      16,
                                                      32,
                                                      64,
                                                      128,
                                                      255,
                                                      256,
                                                      257,
                                                      512,
                                                      4096,
                                                      2147483647,
                                                      2147483648,
                                                      4294967295,
                                                      -1,
                                                      -8,
                                                      4294967296,
                                                      4294967360,
                                                      1LL << 40,
                                                      1LL << 52,
                                                      (1LL << 62),
                                                      INT64_MAX,
                                                      INT64_MIN,
                                                      5,
                                                      24,
                                                      48,
                                                      1000,
                                                      (1LL << 31) - 16,
                                                      1LL << 36,
                                                      549755813880,
                                                      (1LL << 40) - 16,
                                                      12};
    return random_.pick(numbers);
  }
  int small() { return static_cast<int>(random_.below(9)) - 2; }
  ElementType element() { return static_cast<ElementType>(random_.below(24)); }

  Int leaf() {
    const std::int64_t v = random_.chance(70) ? 1 + random_.below(64) : number();
    return random_.chance(60) ? Int::fixed(v) : random_.chance(90) ? Int(v) : Int::unknown();
  }
  IntTuple tuple(int depth) {
    IntTuple out;
    const auto n = 1 + random_.below(4);
    for (std::int64_t i = 0; i < n; ++i) {
      if (depth > 1 && random_.chance(25)) {
        out.push_back(tuple(depth - 1));
      } else {
        out.push_back(leaf());
      }
    }
    return out;
  }
  Layout layout() {
    const IntTuple shape = random_.chance(10) ? IntTuple(leaf()) : tuple(3);
    return Layout(shape, transform_leaf(shape, [this](const Int&) { return leaf(); }));
  }

  RandomCopy random_;
};

int sentences(const TmaPlan& plan) {
  int n = 0;
  for (const TmaReason& r : plan.reasons) n += std::string(describe(r).c_str()).size() > 20 ? 1 : 0;
  for (const TmaViolation& v : check_map(plan)) n += verdict_of(v) == TmaVerdict::legal ? 0 : 1;
  return n;
}

// Everything that can be asked of a plan.
void use(const TmaPlan& plan, const GlobalTensor& gtensor) {
  EXPECT_TRUE(plan.ok() || sentences(plan) > 0);
  EXPECT_EQ(bind(plan, gtensor).ok(), plan.ok());
  if (!plan.ok() || !plan.bound) return;
  const TmaTileWalk walk(plan);
  for (std::int64_t i = 0; i < walk.count() && i < 4; ++i) EXPECT_GE(walk.at(i).bytes, 1);
  tile_origin(plan, repeat(Int(1), rank(plan.gmem)));
}

// 35: a contiguous mode of fewer values than a TMA element holds, which once ended in a division by 0. 36: a shared
// layout whose strides are unknown, which once ended in an exception.
TEST(HostileRequests, EndInAPlanOrInReasons) {
  const auto [fixed, fresh] = fixed_and_fresh_seed(19);
  for (const std::uint64_t seed : {fixed, std::uint64_t{35}, std::uint64_t{36}, fresh}) {
    Hostile hostile(seed);
    int planned = 0;
    for (int k = 0; k < 20000; ++k) {
      const TmaCopyRequest r = k % 2 == 0 ? hostile.request() : hostile.nearly_legal();
      TmaPlanSteps steps;
      const TmaPlan plan = make_tma_copy(r, &steps);
      use(plan, r.gtensor);
      planned += plan.ok() ? 1 : 0;
    }
    EXPECT_GT(planned, 300);
  }
}

}  // namespace
}  // namespace gantry::test

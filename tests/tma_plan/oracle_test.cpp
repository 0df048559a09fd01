// Plans against the definition of a tile copy. The instruction list of a plan is executed element by element by
// box_executor.hpp; what must come out follows from the layouts alone: shared element c holds the global element of
// tile element c, or the fill where that is outside.
#include <string>

#include <gtest/gtest.h>

#include <gantry/layout/print.hpp>

#include "box_executor.hpp"
#include "random_copy.hpp"
#include "seeds.hpp"

namespace gantry::test {
namespace {

constexpr std::uint64_t kSharedBase = 4096;

std::string text(const TmaPlan& plan) {
  std::string out = std::string(to_text(plan.op)) + " " + to_text(plan.element) + " gmem " +
                    to_text(plan.gmem).c_str() + " smem " + to_text(plan.smem.layout()).c_str() + " tile " +
                    to_text(plan.cta_v_map).c_str() + " box " + to_text(plan.tma_gbasis).c_str() + " multicast " +
                    std::to_string(plan.num_multicast);
  for (const TmaReason& r : plan.reasons) out += std::string("\n  ") + describe(r).c_str();
  return out;
}

// The definition, from the lists of extents that a copy was made from.
struct Definition {
  const RandomCopy::Made& made;
  std::vector<std::int64_t> tile_at;  // which tile, for each leaf

  // The global element of tile element c, counted leaf 0 fastest; -1 where it is outside.
  std::int64_t global(std::int64_t c) const {
    std::int64_t at = 0;
    bool inside = true;
    for (std::size_t i = 0; i < made.tile.size(); ++i) {
      const std::int64_t x = tile_at[i] * made.tile[i] + c % made.tile[i];
      c /= made.tile[i];
      inside = inside && x < made.extents[i];
      at += x * made.strides[i];
    }
    return inside ? at : -1;
  }
};

// Bit i of a memory whose bytes are permuted by a swizzle.
std::uint8_t& byte_of_bit(std::vector<std::uint8_t>& bytes, std::int64_t bit, TmaSwizzle swizzle, std::uint64_t base) {
  return bytes[swizzled(swizzle, base + static_cast<std::uint64_t>(bit / 8))];
}

// Values of less than a byte lie without gaps, lowest bits first.
std::uint64_t value_at(const std::vector<std::uint8_t>& bytes, std::int64_t index, int bits, TmaSwizzle swizzle,
                       std::uint64_t base) {
  auto& mutable_bytes = const_cast<std::vector<std::uint8_t>&>(bytes);
  std::uint64_t v = 0;
  for (int done = 0; done < bits;) {
    const std::int64_t bit = index * bits + done;
    const int n = std::min(8, bits);
    const std::uint64_t part =
        static_cast<std::uint64_t>(byte_of_bit(mutable_bytes, bit, swizzle, base) >> (bit % 8)) & ((1U << n) - 1);
    v |= part << done;
    done += n;
  }
  return v;
}

void set_value(std::vector<std::uint8_t>& bytes, std::int64_t index, int bits, std::uint64_t v) {
  for (int done = 0; done < bits;) {
    const std::int64_t bit = index * bits + done;
    const int n = std::min(8, bits);
    const auto mask = static_cast<std::uint8_t>(((1U << n) - 1) << (bit % 8));
    std::uint8_t& byte = byte_of_bit(bytes, bit, TmaSwizzle::none, 0);
    byte = static_cast<std::uint8_t>((byte & ~mask) | (((v >> done) << (bit % 8)) & mask));
    done += n;
  }
}

std::vector<std::uint8_t> noise(RandomCopy& random, std::size_t n) {
  std::vector<std::uint8_t> out(n);
  for (auto& b : out) b = static_cast<std::uint8_t>(random.below(256));
  return out;
}

struct Memory {
  std::vector<std::uint8_t> global;
  std::vector<std::uint8_t> shared;
};

Memory make_memory(RandomCopy& random, const TmaPlan& plan) {
  const int bits = element_bits(plan.element);
  const auto global = static_cast<std::size_t>(cosize(plan.gmem) * bits / 8 + 64);
  const auto shared = static_cast<std::size_t>(cosize(plan.smem.layout()) * bits / 8 + 1024) + kSharedBase;
  return {noise(random, global), noise(random, shared)};
}

std::vector<std::int64_t> random_tile(RandomCopy& random, const RandomCopy::Made& made) {
  std::vector<std::int64_t> at;
  for (std::size_t i = 0; i < made.tile.size(); ++i) {
    at.push_back(random.below((made.extents[i] + made.tile[i] - 1) / made.tile[i]));
  }
  return at;
}

TmaCoordinates origin_of(const TmaPlan& plan, const RandomCopy::Made& made, const std::vector<std::int64_t>& at) {
  IntTuple coord;
  for (std::size_t i = 0; i < at.size();) {
    std::size_t end = i + 1;
    while (end < at.size() && made.mode_of[end] == made.mode_of[i]) ++end;
    IntTuple inner;
    for (std::size_t k = i; k < end; ++k) inner.push_back(Int(at[k]));
    coord.push_back(end == i + 1 ? inner[0] : inner);
    i = end;
  }
  return tile_origin(plan, coord);
}

void expect_loaded(const TmaPlan& plan, const Definition& tile, const Memory& m) {
  const int bits = element_bits(plan.element);
  const std::int64_t n = size(plan.smem.layout());
  for (std::int64_t c = 0; c < n; ++c) {
    const std::int64_t g = tile.global(c);
    const std::uint64_t wanted = g < 0 ? 0 : value_at(m.global, g, bits, TmaSwizzle::none, 0);
    const std::uint64_t got = value_at(m.shared, plan.smem.layout()(c), bits, plan.descriptor.swizzle, kSharedBase);
    ASSERT_EQ(got, wanted) << "tile element " << c << " of " << text(plan);
  }
}

// What a store must leave behind, element by element.
std::vector<std::uint8_t> stored(const TmaPlan& plan, const Definition& tile, const Memory& m) {
  std::vector<std::uint8_t> out = m.global;
  const int bits = element_bits(plan.element);
  const std::int64_t n = size(plan.smem.layout());
  for (std::int64_t c = 0; c < n; ++c) {
    const std::int64_t g = tile.global(c);
    if (g < 0) continue;
    std::uint64_t v = value_at(m.shared, plan.smem.layout()(c), bits, plan.descriptor.swizzle, kSharedBase);
    if (is_reduce(plan.op)) {
      const std::uint64_t old = value_at(out, g, bits, TmaSwizzle::none, 0);
      v = reduced(plan.op, static_cast<std::uint32_t>(old), static_cast<std::uint32_t>(v));
    }
    set_value(out, g, bits, v);
  }
  return out;
}

// Executes every instruction of every CTA; returns the bytes that one CTA's barrier is credited with.
std::int64_t execute(const TmaPlan& plan, const TmaCoordinates& origin, Memory& m) {
  BoxExecutor box(plan.descriptor, m.global, m.shared);
  std::int64_t credited = 0;
  for (std::int64_t cta = 0; cta < plan.num_multicast; ++cta) {
    for_each_instruction(plan, origin, cta, [&](const TmaInstruction& i) {
      const std::uint64_t address = kSharedBase + static_cast<std::uint64_t>(i.shared_offset);
      EXPECT_TRUE(check_issue(to_issue(plan, i, kSharedBase), plan.descriptor).ok()) << text(plan);
      if (is_load(plan.op)) {
        const std::int64_t moved = box.load(i.coordinates, address);
        EXPECT_EQ(moved, i.bytes) << text(plan);
        credited += moved;
      } else if (is_reduce(plan.op)) {
        box.reduce(plan.op, i.coordinates, address);
      } else {
        box.store(i.coordinates, address);
      }
    });
  }
  EXPECT_FALSE(box.out_of_memory) << text(plan);
  return credited;
}

void run_one(RandomCopy& random, const RandomCopy::Made& made, const TmaPlan& plan) {
  const Definition tile{made, random_tile(random, made)};
  Memory m = make_memory(random, plan);
  const Memory before = m;
  const std::int64_t credited = execute(plan, origin_of(plan, made, tile.tile_at), m);
  if (is_load(plan.op)) {
    EXPECT_EQ(credited * 8, size(plan.smem.layout()) * element_bits(plan.element)) << text(plan);
    expect_loaded(plan, tile, m);
  } else {
    ASSERT_EQ(m.global, stored(plan, tile, before)) << text(plan);
  }
}

class PlanOracle : public testing::TestWithParam<TmaOp> {};

TEST_P(PlanOracle, ExecutingTheInstructionListGivesTheTileThatTheLayoutsDefine) {
  for (const std::uint64_t seed : fixed_and_fresh_seed(1)) {
    RandomCopy random(seed + static_cast<std::uint64_t>(GetParam()));
    int run = 0;
    int widest_swizzle = 0;
    int slabs = 0;
    for (int k = 0; k < 600 && !HasFatalFailure(); ++k) {
      const RandomCopy::Made made = random.make({GetParam()});
      const TmaPlan plan = make_tma_copy(made.request);
      if (!plan.ok()) continue;
      ++run;
      widest_swizzle += plan.descriptor.swizzle == TmaSwizzle::bytes_128 ? 1 : 0;
      slabs += plan.descriptor.swizzle != TmaSwizzle::none && TmaTileWalk(plan).count() > 1 ? 1 : 0;
      for (int t = 0; t < 2 && !HasFatalFailure(); ++t) run_one(random, made, plan);
    }
    EXPECT_GT(run, 200) << "most random copies should be legal";
    EXPECT_GT(widest_swizzle, 10);
    EXPECT_GT(slabs, 10);
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, PlanOracle,
                         testing::Values(TmaOp::load, TmaOp::load_multicast, TmaOp::store, TmaOp::reduce_add,
                                         TmaOp::reduce_min, TmaOp::reduce_max, TmaOp::reduce_inc, TmaOp::reduce_dec,
                                         TmaOp::reduce_and, TmaOp::reduce_or, TmaOp::reduce_xor),
                         [](const auto& op) { return std::string(to_text(op.param)); });

// A refusal that says "the box would move other elements" must be true.
TEST(PlanRefusals, PlansRefusedBecauseTheBoxIsNotTheTileDoCopySomethingElse) {
  RandomCopy random(7);
  int refused = 0;
  for (int k = 0; k < 40000 && refused < 20; ++k) {
    const RandomCopy::Made made = random.make({TmaOp::load});
    const TmaPlan plan = make_tma_copy(made.request);
    bool only = plan.bound && !plan.reasons.empty() && check_map(plan).ok();
    for (const TmaReason& r : plan.reasons) only = only && r.rule == TmaPlanRule::tile_not_reproduced;
    if (!only) continue;
    ++refused;
    const Definition tile{made, std::vector<std::int64_t>(made.tile.size(), 0)};
    Memory m = make_memory(random, plan);
    m.global.resize(m.global.size() * 8);
    execute(plan, origin_of(plan, made, tile.tile_at), m);
    const int bits = element_bits(plan.element);
    bool differs = false;
    for (std::int64_t c = 0; c < size(plan.smem.layout()); ++c) {
      const std::int64_t g = tile.global(c);
      const std::uint64_t wanted = g < 0 ? 0 : value_at(m.global, g, bits, TmaSwizzle::none, 0);
      differs =
          differs || wanted != value_at(m.shared, plan.smem.layout()(c), bits, plan.descriptor.swizzle, kSharedBase);
    }
    EXPECT_TRUE(differs) << text(plan);
  }
  EXPECT_GE(refused, 5);
}

}  // namespace
}  // namespace gantry::test

// Planning, validating and walking a copy take no memory from the heap: operator new is counted.
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include <gantry/tma.hpp>

namespace {
int allocations = 0;
}

void* operator new(std::size_t n) {
  ++allocations;
  if (void* p = std::malloc(n > 0 ? n : 1)) return p;
  throw std::bad_alloc();
}
// Inlined, g++ would take memory of its own operator new for what is freed.
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace gantry::test {
namespace {

TmaCopyRequest request(int rows) {
  return {.op = TmaOp::load_multicast,
          .gtensor = {.address = 4096,
                      .element = ElementType::bf16,
                      .layout = make_layout(make_shape(rows, 8192), make_stride(8192, _1))},
          .smem = ComposedLayout(Swizzle(3, 4, 3), _0, make_layout(make_shape(_128, _64), LayoutRight{}), 16),
          .num_multicast = 2};
}

TEST(Allocations, TheCountSeesThem) {
  const int before = allocations;
  ::operator delete(::operator new(4));
  EXPECT_EQ(allocations - before, 1);
}

TEST(Allocations, APlanNeedsNone) {
  const int before = allocations;
  const TmaPlan plan = make_tma_copy(request(4096));
  const TmaPlan moved = bind(plan, request(512).gtensor);
  std::int64_t bytes = 0;
  for_each_instruction(plan, tile_origin(plan, make_coord(1, 2)), 1,
                       [&](const TmaInstruction& i) { bytes += i.bytes; });
  const int after = allocations;
  EXPECT_EQ(after - before, 0);
  EXPECT_TRUE(plan.ok() && moved.ok());
  EXPECT_EQ(bytes, 128 * 64);
}

TEST(Allocations, ARefusalAndItsSentencesNeedNone) {
  TmaCopyRequest r = request(4096);
  r.gtensor.address = 7;
  r.cta_tiler = make_tile(_64, _64);
  const int before = allocations;
  const TmaPlan plan = make_tma_copy(r);
  int length = 0;
  for (const TmaReason& reason : plan.reasons) length += static_cast<int>(describe(reason).size());
  for (const TmaViolation& v : check_map(plan)) length += static_cast<int>(describe(v).size());
  const int after = allocations;
  EXPECT_EQ(after - before, 0);
  EXPECT_TRUE(plan.refused);
  EXPECT_GT(length, 100);
}

}  // namespace
}  // namespace gantry::test

// The kernel's view of a plan against the instruction list that the host computes.
#include <vector>

#include <gtest/gtest.h>

#include <gantry/layout/parse.hpp>
#include <gantry/tma/kernel_tile.hpp>

namespace gantry::test {
namespace {

struct Issued {
  std::vector<std::int64_t> coordinates;
  std::int64_t shared_offset;
  friend bool operator==(const Issued&, const Issued&) = default;
};

constexpr Layout unknown_rows = layout("(?,?,?):(?,_1,?)");

struct Slabs {
  static constexpr TmaPlan value =
      plan_structure({.op = TmaOp::load,
                      .gtensor = {.element = ElementType::bf16, .layout = unknown_rows},
                      .smem = ComposedLayout(Swizzle(3, 4, 3), _0, layout("(_64,(_64,_2)):(_64,(_1,_4096))"), 16),
                      .cta_tiler = make_tile(_64, _128)});
};

// The division among CTAs takes all of the last dimension and part of the one before.
struct DeepMulticast {
  static constexpr TmaPlan value =
      plan_structure({.op = TmaOp::load_multicast,
                      .gtensor = {.element = ElementType::f32, .layout = layout("(?,?,?):(_1,?,?)")},
                      .smem = layout("(_32,_8,_2):(_1,_32,_256)"),
                      .num_multicast = 8});
};

template <class Plan, int R>
void expect_the_host_list(const std::vector<int>& place) {
  const TmaPlan& plan = Plan::value;
  std::int32_t at[R];
  TmaKernelTile<Plan>::origin(at, place[0], place[1], place[2]);
  const TmaCoordinates origin = tile_origin(plan, make_coord(place[0], place[1], place[2]));
  for (std::int32_t cta = 0; cta < static_cast<std::int32_t>(plan.num_multicast); ++cta) {
    std::vector<Issued> wanted;
    for_each_instruction(plan, origin, cta, [&](const TmaInstruction& i) {
      wanted.push_back({{i.coordinates, i.coordinates + R}, i.shared_offset});
    });
    std::vector<Issued> got;
    TmaKernelTile<Plan>::for_each(at, cta, [&](const std::int32_t(&c)[R], std::int32_t offset) {
      got.push_back({{c, c + R}, offset});
    });
    EXPECT_EQ(got, wanted) << "CTA " << cta;
  }
}

TEST(KernelTile, IssuesTheInstructionsOfTheHostsList) {
  expect_the_host_list<Slabs, 3>({5, 2, 1});
  expect_the_host_list<DeepMulticast, 3>({3, 4, 7});
  EXPECT_EQ(TmaKernelTile<Slabs>::count, 2);
  EXPECT_EQ(TmaKernelTile<Slabs>::tile_bytes, 64 * 128 * 2);
  EXPECT_EQ(TmaKernelTile<DeepMulticast>::tile_bytes, 32 * 8 * 2 * 4);
}

TEST(TileOrigin, IsRefusedWhileACoordinateDependsOnUnknownStrides) {
  const TmaPlan grouped =
      plan_structure({.op = TmaOp::load,
                      .gtensor = {.element = ElementType::f16, .layout = layout("(?,?,?,?,?,?):(_1,?,?,?,?,?)")},
                      .smem = layout("(_64):(_1)")});
  ASSERT_TRUE(grouped.ok());
  EXPECT_THROW(tile_origin(grouped, make_coord(0, 0, 0, 0, 1, 1)), LayoutError);
  EXPECT_EQ(TmaTileWalk(grouped).at(0).bytes, 128);
}

}  // namespace
}  // namespace gantry::test

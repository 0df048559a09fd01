// Epilogue tiles that are given as layouts: subtiles whose rows or columns are runs, a stride apart in the CTA tile.
#include <gantry/layout/tiler_text.hpp>

#include "harness.hpp"

namespace gantry::test {
namespace {

using E = ElementType;
using S = EpilogueSchedule;

constexpr fusion::ProblemShape kResidue{.m = 200, .n = 144, .batch = 1};

struct Tile {
  int m, n, warpgroups;
  TileRuns rows, columns;  // of a subtile
  E c = E::bf16, d = E::bf16;
  bool d_rows = true;
};

template <Tile t>
constexpr EpiloguePolicy kPolicy = [] {
  const auto layout = [](const TileRuns& runs) {
    return make_layout(make_shape(Int::fixed(runs.extent), Int::fixed(runs.count)),
                       make_stride(_1, Int::fixed(runs.stride)));
  };
  return CollectiveBuilder{
      .schedule = t.warpgroups == 2 ? S::tma_warp_specialized_cooperative : S::tma_warp_specialized,
      .tile = {t.m, t.n, 64},
      .epi_tile = make_tile(layout(t.rows), layout(t.columns)),
      .c = t.c,
      .d = t.d,
      .layout_d = t.d_rows ? kRowMajor : kColumnMajor}
      .policy();
}();

// Every place of a graph that asks where a value lies: broadcasts, tensors, masks, blocks of a row, reductions.
template <Tile t>
struct Everything : Plain {
  static constexpr EpiloguePolicy policy = kPolicy<t>;
  static_assert(policy.ok());
  static constexpr fusion::Graph graph = fusion::graph(
      "let z = acc + beta * c + row(r) + col(k) + load(x:f32); d = dropout(z, 0.25, seed) - across_max(acc, 16);"
      "y:f32 col = z; bits:u1 = z > 0; also:u1 col = z > 1; tops = across_amax(z, 16); a = reduce_row_add(z);"
      "b deterministic = reduce_row_max(z); e = reduce_col_add(z); f = reduce_amax(z)");
};

// CUTLASS's Tile<Layout<_64,_1>, Layout<Shape<_32,_2>,Stride<_1,_64>>>.
TEST(EpilogueTileLayouts, ColumnsOfTwoRuns) {
  expect_agreement<Everything<Tile{64, 128, 1, {64, 1, 64}, {32, 2, 64}}>>({.shape = kResidue});
}
TEST(EpilogueTileLayouts, RowsOfTwoRunsOfTwoWarpgroups) {
  expect_agreement<Everything<Tile{512, 16, 2, {128, 2, 256}, {16, 1, 16}}>>({.shape = {.m = 520, .n = 48}, .seed = 1});
}
TEST(EpilogueTileLayouts, RowsAndColumnsOfRuns) {
  expect_agreement<Everything<Tile{256, 64, 1, {64, 2, 128}, {16, 2, 32}, E::f32, E::f16, false}>>(
      {.shape = {.m = 304, .n = 80}, .seed = 2});
}

// The tensors of convolutions, whose boxes are runs of pixels by runs of channels.
struct Images : Plain {
  static constexpr EpiloguePolicy policy =
      CollectiveBuilder{.schedule = S::tma_warp_specialized,
                        .tile = {256, 64, 64},
                        .epi_tile = make_tile(make_layout(make_shape(_64, _2), make_stride(_1, _128)),
                                              make_layout(make_shape(_16, _2), make_stride(_1, _32))),
                        .c = E::bf16,
                        .d = E::f32,
                        .layout_c = kTensorNHWC,
                        .layout_d = kTensorNHWC}
          .policy();
  static_assert(policy.ok());
  static constexpr fusion::Graph graph = fusion::graph("d = acc + c");
};
TEST(EpilogueTileLayouts, OfTheTensorsOfConvolutions) {
  expect_agreement<Images>({.shape = {.m = 280, .n = 72}, .seed = 5});
}

// D alone, by several boxes of TMA; the runs of four subtiles fill each other's gaps.
template <Tile t>
struct PlainD : Plain {
  static constexpr EpiloguePolicy policy = kPolicy<t>;
  static_assert(policy.ok());
  static constexpr fusion::Graph graph = t.c == E::void_ ? fusion::graph("d = acc") : fusion::graph("d = acc + c");
};
TEST(EpilogueTileLayouts, RunsThatFourSubtilesFill) {
  expect_agreement<PlainD<Tile{64, 256, 1, {64, 1, 64}, {16, 2, 64}, E::void_}>>({.shape = kResidue, .seed = 3});
  expect_agreement<PlainD<Tile{64, 192, 1, {64, 1, 64}, {16, 4, 48}, E::e4m3, E::e4m3}>>(
      {.shape = kResidue, .seed = 4});
}

}  // namespace
}  // namespace gantry::test

// Fused GEMMs on the simulated SM: the reference's values, and no findings, for both kernels, clusters,
// residues and graphs with every kind of operand. fused_clusters_sweep.cpp has more clusters and tiles.
#include <vector>

#include <gtest/gtest.h>

#include "fused_exact.hpp"

namespace gantry_test {
namespace {

// Three rows of wgmmas.
struct Tall {
  static constexpr GemmOptions options{.tile = {192, 64}, .cluster = {1, 2}, .stages = 2, .schedule = kInTurn};
};
struct ThreeInTurn {
  static constexpr GemmOptions options{
      .tile = {128, 64}, .cluster = {2, 1}, .stages = 2, .schedule = kInTurn, .warpgroups = 3};
};
// A tile that fills the registers.
struct Large {
  static constexpr GemmOptions options{.tile = {128, 192}, .cluster = {1, 1}, .stages = 3, .schedule = kInTurn};
};

struct InTallSubtiles : Everything {
  static constexpr GemmEpilogueOptions staging{
      .epi_n = 32, .stages_c = 2, .stages_d = 2, .reuse = Choice::no, .epi_m = 128};
};
struct PlainFusion {
  static constexpr ElementType c = ElementType::void_, d = ElementType::bf16;
  static constexpr GemmEpilogueOptions staging{.epi_n = 64, .stages_c = 2, .stages_d = 2};
  static constexpr fusion::Graph graph = fusion::graph("d = acc");
};
struct Gelu {
  static constexpr ElementType c = ElementType::void_, d = ElementType::f32;
  static constexpr GemmEpilogueOptions staging{.epi_n = 64, .stages_c = 2, .stages_d = 2};
  static constexpr fusion::Graph graph = fusion::graph("d = gelu_tanh(acc + row(bias))");
};

TEST(FusedGemm, CooperativeIsExactWhereTilesOverhang) {
  check_everything<CooperativeGemm, Together<1, 1, 2>>(200, 264, 136, 2, 4);
}
TEST(FusedGemm, CooperativeIsExactInClustersAlongM) {
  check_everything<CooperativeGemm, Together<2, 1, 2>>(300, 136, 200, 4, 3);
}
TEST(FusedGemm, PingpongIsExactWhereTilesOverhang) {
  check_everything<PingpongGemm, InTurn<1, 1, 2>>(200, 264, 136, 2, 4);
}
TEST(FusedGemm, PingpongIsExactInSquareClusters) {
  check_everything<PingpongGemm, InTurn<2, 2, 2>>(264, 264, 136, 4, 3);
}

TEST(FusedGemm, PingpongIsExactInTilesOf192Rows) { check_everything<PingpongGemm, Tall>(328, 200, 136, 2, 2); }
TEST(FusedGemm, ThreeAlternatingWarpgroupsAreExact) {
  check_everything<PingpongGemm, ThreeInTurn, InTallSubtiles>(328, 264, 136, 2, 2);
}
// Three columns of tiles, three clusters: each stays in its column, and stages keep their part of B.
TEST(FusedGemm, PingpongIsExactWhereBStaysInItsStages) {
  check_everything<PingpongGemm, InTurn<1, 1, 2>>(520, 264, 72, 3, 1);
}
TEST(FusedGemm, CooperativeIsExactWhereBStaysInTheStagesOfACluster) {
  check_everything<CooperativeGemm, Together<2, 1, 2>>(776, 264, 64, 6, 1);
}
// Tiles of one step each: stages go on from one tile to the next.
TEST(FusedGemm, PingpongIsExactWhereATileIsOneKTile) { check_everything<PingpongGemm, Large>(136, 208, 64, 1, 2); }

// One warpgroup has nothing to do.
TEST(FusedGemm, PingpongTakesASingleTile) {
  using Design = Fused<InTurn<1, 1, 2>, PlainFusion>;
  using Epilogue = FusedEpilogue<Design>;
  Matrices x(40, 48, 24);
  typename Epilogue::Arguments arguments;
  arguments.d = {x.d.data(), x.n, 0};
  const Report report = run<PingpongGemm<Design, Epilogue>, Epilogue>(x, arguments, {.seed = 5}, 1);
  ASSERT_TRUE(report.clean()) << report.text();
  for (int i = 0; i < x.m; ++i) {
    for (int j = 0; j < x.n; ++j) ASSERT_EQ(x.d[x.at(i, j)].bits, bf16(x.sum(i, j)).bits) << i << ", " << j;
  }
}

// Which sums gelu_tanh takes by halves: those that are nobody else's.
constexpr bool adds_halves(const char* text) { return fusion::detail::is_halved_row(fusion::graph(text), 0); }
static_assert(adds_halves("d = gelu_tanh(acc + row(bias))"));
static_assert(adds_halves("let t = row(bias) + c; d = gelu_tanh(t) * gelu_tanh(t)"));
static_assert(!adds_halves("aux:bf16 = acc + row(bias); d = gelu_tanh(aux)"));
static_assert(!adds_halves("d = gelu_tanh(acc + row(bias)) + row(bias)"));
static_assert(!adds_halves("d = gelu(acc + row(bias))"));
static_assert(!adds_halves("d = gelu_tanh(acc * row(bias))"));

TEST(FusedGemm, SumsOfHalvesGiveTheBitsOfTheFunction) {
  using Design = Fused<InTurn<1, 1, 2>, Gelu>;
  using Epilogue = FusedEpilogue<Design>;
  Matrices x(40, 136, 24);
  for (float& b : x.bias) b *= 0.0371f;
  std::vector<float> d(x.d.size());
  typename Epilogue::Arguments arguments;
  arguments.d = {d.data(), x.n, 0};
  arguments.fusion["bias"] = x.bias.data();
  const Report report = run<PingpongGemm<Design, Epilogue>, Epilogue>(x, arguments, {.seed = 5}, 1);
  ASSERT_TRUE(report.clean()) << report.text();
  for (int i = 0; i < x.m; ++i) {
    for (int j = 0; j < x.n; ++j) {
      const float sum = x.sum(i, j) + x.bias[static_cast<std::size_t>(j)];
      ASSERT_EQ(d[x.at(i, j)], fusion::apply<fusion::Function::gelu_tanh>(sum)) << i << ", " << j;
    }
  }
}

}  // namespace
}  // namespace gantry_test

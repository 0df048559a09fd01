// Fused GEMMs on the simulated SM: the reference's values, and no findings, for both kernels, clusters,
// residues and graphs with every kind of operand.
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/arguments.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/cooperative.hpp>
#include <gantry/gemm/fused_epilogue.hpp>
#include <gantry/gemm/pingpong.hpp>

#include "kernel_params.hpp"

namespace gantry {
namespace {

constexpr GemmSchedule kTogether = GemmSchedule::cooperative, kInTurn = GemmSchedule::pingpong;

template <int M, int N, int Stages>
struct Together {
  static constexpr GemmOptions options{.tile = {128, 128}, .cluster = {M, N}, .stages = Stages, .schedule = kTogether};
};
template <int M, int N, int Stages>
struct InTurn {
  static constexpr GemmOptions options{.tile = {128, 128}, .cluster = {M, N}, .stages = Stages, .schedule = kInTurn};
};
// Tiles of a single row of wgmmas, and tiles that fill the registers.
struct Low {
  static constexpr GemmOptions options{.tile = {64, 128}, .cluster = {1, 1}, .stages = 3, .schedule = kInTurn};
};
// Three rows of wgmmas.
struct Tall {
  static constexpr GemmOptions options{.tile = {192, 64}, .cluster = {1, 2}, .stages = 2, .schedule = kInTurn};
};
struct ThreeInTurn {
  static constexpr GemmOptions options{
      .tile = {128, 64}, .cluster = {2, 1}, .stages = 2, .schedule = kInTurn, .warpgroups = 3};
};
struct Large {
  static constexpr GemmOptions options{.tile = {128, 192}, .cluster = {1, 1}, .stages = 3, .schedule = kInTurn};
};

struct Everything {
  static constexpr ElementType c = ElementType::bf16, d = ElementType::bf16;
  static constexpr GemmEpilogueOptions staging{.epi_n = 64, .stages_c = 2, .stages_d = 2, .reuse = Choice::no};
  static constexpr fusion::Graph graph =
      fusion::graph("aux:bf16 = alpha * acc + beta * c + row(bias) + col(shift); d = relu(aux)");
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

// A tile with an epilogue.
template <class Tile, class Fusion>
struct Fused {
  static constexpr fusion::Graph graph = Fusion::graph;
  using Functions = fusion::UserFunctions<>;
  static constexpr GemmDesign design = [] {
    GemmOptions o = Tile::options;
    o.c = Fusion::c;
    o.d = Fusion::d;
    o.epilogue = Fusion::staging;
    return make_gemm_design(o, graph);
  }();
  static_assert(design.ok());
};

// Small integers, so that sums are exact and only the last rounding is not.
struct Matrices {
  int m, n, k;
  std::vector<bf16> a, b, c, d, aux;
  std::vector<float> bias, shift;

  Matrices(int rows, int columns, int depth) : m(rows), n(columns), k(depth) {
    std::mt19937 random(7);
    std::uniform_int_distribution<int> value(-4, 4);
    const auto fill = [&](std::vector<bf16>& v, int count) {
      v.resize(static_cast<std::size_t>(count));
      for (bf16& x : v) x = bf16(static_cast<float>(value(random)));
    };
    fill(a, m * k);
    fill(b, n * k);
    fill(c, m * n);
    d.resize(c.size());
    aux.resize(c.size());
    for (int i = 0; i < n; ++i) bias.push_back(static_cast<float>(value(random)));
    for (int i = 0; i < m; ++i) shift.push_back(static_cast<float>(value(random)));
  }

  float sum(int i, int j) const {
    float x = 0;
    for (int l = 0; l < k; ++l) {
      x += static_cast<float>(a[static_cast<std::size_t>(i * k + l)]) *
           static_cast<float>(b[static_cast<std::size_t>(j * k + l)]);
    }
    return x;
  }
  std::size_t at(int i, int j) const { return static_cast<std::size_t>(i * n + j); }
};

template <class Kernel, class Epilogue, class Arguments>
Report run(const Matrices& x, const Arguments& arguments, const SimulatorOptions& options, int ctas) {
  const auto encode = [](const TmaDescriptorParams& params) { return pack(params); };
  const EpilogueProblem shape{x.m, x.n, x.k, 1};
  EXPECT_TRUE(can_implement<typename Epilogue::Part>(shape, arguments).ok());
  const auto epilogue = to_underlying_arguments<typename Epilogue::Part>(shape, arguments, encode);
  GemmProblem problem;
  problem.a = x.a.data();
  problem.b = x.b.data();
  problem.m = x.m;
  problem.n = x.n;
  problem.k = x.k;
  const auto params = gantry_test::kernel_params<Kernel>(problem, epilogue, ctas);
  return Simulator(options).run<Kernel>(gantry_test::config_of<Kernel>(params), params);
}

template <template <class, class, class, class> class Gemm, class Tile, class Fusion = Everything>
void check_everything(int m, int n, int k, int ctas, int seeds) {
  using Design = Fused<Tile, Fusion>;
  using Epilogue = FusedEpilogue<Design>;
  using Kernel = Gemm<Design, Epilogue, PersistentScheduler, TmaOperands<Design>>;
  Matrices x(m, n, k);
  typename Epilogue::Arguments arguments;
  arguments.c = {x.c.data(), n, 0};
  arguments.d = {x.d.data(), n, 0};
  arguments.fusion["alpha"] = 0.5f;
  arguments.fusion["beta"] = 2.0f;
  arguments.fusion["bias"] = x.bias.data();
  arguments.fusion["shift"] = x.shift.data();
  arguments.fusion["aux"] = x.aux.data();
  for (int seed = 0; seed < seeds; ++seed) {
    for (bf16& y : x.d) y = bf16(-1e30f);
    const Report report = run<Kernel, Epilogue>(
        x, arguments,
        {.seed = static_cast<std::uint64_t>(seed), .schedule = seed % 2 == 0 ? Schedule::random : Schedule::pct}, ctas);
    ASSERT_TRUE(report.clean()) << report.text();
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        const float z = 0.5f * x.sum(i, j) + 2.0f * static_cast<float>(x.c[x.at(i, j)]) +
                        x.bias[static_cast<std::size_t>(j)] + x.shift[static_cast<std::size_t>(i)];
        ASSERT_EQ(x.aux[x.at(i, j)].bits, bf16(z).bits) << i << ", " << j << ", seed " << seed;
        ASSERT_EQ(static_cast<float>(x.d[x.at(i, j)]), std::fmax(static_cast<float>(bf16(z)), 0.0f))
            << i << ", " << j << ", seed " << seed;
      }
    }
  }
}

TEST(FusedGemm, CooperativeIsExactWhereTilesOverhang) {
  check_everything<CooperativeGemm, Together<1, 1, 2>>(200, 264, 136, 2, 4);
}
TEST(FusedGemm, CooperativeIsExactInClustersAlongM) {
  check_everything<CooperativeGemm, Together<2, 1, 3>>(300, 136, 200, 4, 3);
}
TEST(FusedGemm, CooperativeIsExactInClustersAlongN) {
  check_everything<CooperativeGemm, Together<1, 2, 2>>(136, 272, 72, 2, 3);
}
TEST(FusedGemm, CooperativeIsExactInSquareClusters) {
  check_everything<CooperativeGemm, Together<2, 2, 2>>(264, 264, 136, 4, 3);
}
TEST(FusedGemm, PingpongIsExactWhereTilesOverhang) {
  check_everything<PingpongGemm, InTurn<1, 1, 2>>(200, 264, 136, 2, 4);
}
TEST(FusedGemm, PingpongIsExactInClusters) { check_everything<PingpongGemm, InTurn<2, 1, 3>>(300, 136, 200, 4, 3); }
TEST(FusedGemm, PingpongIsExactInSquareClusters) {
  check_everything<PingpongGemm, InTurn<2, 2, 2>>(264, 264, 136, 4, 3);
}

TEST(FusedGemm, PingpongIsExactInTilesOf64Rows) { check_everything<PingpongGemm, Low>(136, 136, 136, 1, 1); }
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
}  // namespace gantry

// A fused GEMM with every kind of operand on the simulated SM, bit for bit what its definition says.
#pragma once

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

#include "exact_sums.hpp"
#include "kernel_params.hpp"

namespace gantry_test {

using namespace gantry;

inline constexpr GemmSchedule kTogether = GemmSchedule::cooperative, kInTurn = GemmSchedule::pingpong;

template <int M, int N, int Stages>
struct Together {
  static constexpr GemmOptions options{.tile = {128, 128}, .cluster = {M, N}, .stages = Stages, .schedule = kTogether};
};
template <int M, int N, int Stages>
struct InTurn {
  static constexpr GemmOptions options{.tile = {128, 128}, .cluster = {M, N}, .stages = Stages, .schedule = kInTurn};
};

struct Everything {
  static constexpr ElementType c = ElementType::bf16, d = ElementType::bf16;
  static constexpr GemmEpilogueOptions staging{.epi_n = 64, .stages_c = 2, .stages_d = 2, .reuse = Choice::no};
  static constexpr fusion::Graph graph =
      fusion::graph("aux:bf16 = alpha * acc + beta * c + row(bias) + col(shift); d = relu(aux)");
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
  std::vector<float> bias, shift, sums;

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
    sums = exact_sums(a, b, {m, n, k});
  }

  float sum(int i, int j) const { return sums[at(i, j)]; }
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

}  // namespace gantry_test

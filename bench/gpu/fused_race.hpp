// Contestants of the benchmarks of products. Configurations enter themselves, each for one epilogue, from translation
// units of their own (fused_entrants.cu, gemm_entrants.cu), so that they compile side by side; fused.cu and gemm.cu run
// them against cuBLASLt.
//
//   const Entry<Job::plain, PingpongGemm, Alternating<2, 192, 4, 2>, 64, 1, 2> entry("alternating 128x192");
#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include <gantry/arch/launch.hpp>
#include <gantry/epilogue/arguments.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/cooperative.hpp>
#include <gantry/gemm/fused_epilogue.hpp>
#include <gantry/gemm/pingpong.hpp>
#include <gantry/tma/encode.hpp>

#include "jobs.hpp"
#include "problem.hpp"

// Whether entry i of a job is compiled: all are, or GANTRY_ENTRY alone.
#if defined(GANTRY_ENTRY)
#define GANTRY_ENTERS(i) (GANTRY_ENTRY == (i))
#else
#define GANTRY_ENTERS(i) 1
#endif

namespace gantry::bench {

struct Contestant {
  Job job;
  const char* name;
  // `dependent`: launches may start before the one before has finished.
  std::function<void()> (*prepare)(const Problem&, bool dependent);
};
inline std::vector<Contestant>& contestants() {
  static std::vector<Contestant> all;
  return all;
}

template <int TileN, int Stages, int ClusterM>
struct Together : CooperativeConfig {
  static constexpr int kTileN = TileN, kStages = Stages, kClusterM = ClusterM;
};
template <int Warpgroups, int TileN, int Stages, int ClusterM>
struct Alternating : PingpongConfig {
  static constexpr int kAlternating = Warpgroups, kTileN = TileN, kStages = Stages, kClusterM = ClusterM;
};

template <Job kJob, int EpiN, int StagesC, int StagesD, bool Reuse, int EpiM>
struct Fusion : FusedElements {
  static constexpr ElementType kC = kJob == Job::c ? ElementType::bf16 : ElementType::void_;
  static constexpr int kEpiM = EpiM, kEpiN = EpiN, kStagesC = StagesC, kStagesD = StagesD;
  static constexpr bool kReuse = Reuse;
  static constexpr fusion::Graph graph = fusion::graph(expression_of(kJob));
  using Functions = fusion::UserFunctions<>;
};

inline TmaDescriptor encode(const TmaDescriptorParams& params) {
  const EncodedTmaDescriptor encoded = encode_with_driver(params);
  if (encoded.ok()) return encoded.map;
  std::fprintf(stderr, "%s\n", describe(encoded).c_str());
  std::exit(1);
}

// A and B; D belongs to the epilogue.
inline GemmProblem product_of(const Problem& p) {
  GemmProblem problem;
  problem.a = p.a;
  problem.b = p.b;
  problem.m = p.m;
  problem.n = p.n;
  problem.k = p.k;
  return problem;
}

template <class Kernel>
std::function<void()> launches(const typename Kernel::Params& params, bool dependent) {
  LaunchConfig config = Kernel::launch_config(params);
  config.dependent = dependent;
  return [params, config] {
    const LaunchResult result = launch(Gpu{}, config, Kernel{}, params);
    if (result) return;
    std::fprintf(stderr, "%s", result.problem.c_str());
    std::exit(1);
  };
}

template <Job kJob, template <class, class> class Gemm, class C, class F>
std::function<void()> prepare(const Problem& p, bool dependent) {
  using Epilogue = FusedEpilogue<C, F>;
  using Kernel = Gemm<C, Epilogue>;
  static_assert(sizeof(typename Kernel::Storage) <= 232448);
  typename Epilogue::Arguments arguments;
  arguments.c = {p.c, p.n, 0};
  arguments.d = {p.d, p.n, 0};
  if constexpr (kJob >= Job::bias_gelu) arguments.fusion["bias"] = p.bias;
  if constexpr (kJob == Job::bias_gelu_aux) arguments.fusion["aux"] = p.aux;
  const EpilogueProblem shape{p.m, p.n, p.k, 1};
  const auto epilogue = to_underlying_arguments<typename Epilogue::Part>(shape, arguments, encode);
  constexpr int kCluster = C::kClusterM * C::kClusterN;
  return launches<Kernel>(Kernel::make_params(product_of(p), epilogue, p.processors / kCluster * kCluster, encode),
                          dependent);
}

template <Job kJob, template <class, class> class Gemm, class C, int EpiN, int StagesC, int StagesD, bool Reuse = false,
          int EpiM = 64>
struct Entry {
  explicit Entry(const char* name) {
    contestants().push_back({kJob, name, prepare<kJob, Gemm, C, Fusion<kJob, EpiN, StagesC, StagesD, Reuse, EpiM>>});
  }
};

}  // namespace gantry::bench

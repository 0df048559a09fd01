// Contestants of the benchmarks of products. Configurations enter themselves, each for one epilogue, from translation
// units of their own (fused_entrants.cu, gemm_entrants.cu), so that they compile side by side; fused.cu and gemm.cu run
// them against cuBLASLt.
//
//   const Entry<Spec> entry(Job::plain, "alternating 128x192");  // Spec has options and a graph
#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include <gantry/arch/launch.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/arguments.hpp>
#include <gantry/gemm/device.hpp>
#include <gantry/gemm/kernel.hpp>
#include <gantry/gemm/planner.hpp>
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

// Columns and rows of a subtile, buffers of C and D.
struct Staging {
  int columns, stages_c, stages_d;
  bool reuse = false;
  int rows = 64;
};

template <Job kJob>
struct OfJob {
  static constexpr fusion::Graph graph = fusion::graph(expression_of(kJob));
  static constexpr GemmOptions with(GemmOptions o, const Staging& s) {
    if (kJob == Job::c) o.c = ElementType::bf16;
    o.epilogue = {s.columns, s.stages_c, s.stages_d, s.reuse ? Choice::yes : Choice::no, s.rows};
    return o;
  }
};

inline TmaDescriptor encode(const TmaDescriptorParams& params) {
  const EncodedTmaDescriptor encoded = encode_with_driver(params);
  if (encoded.ok()) return encoded.map;
  std::fprintf(stderr, "%s\n", describe(encoded).c_str());
  std::exit(1);
}

template <class Kernel>
std::function<void()> launches(const typename Kernel::Params& params, const LaunchConfig& config) {
  return [params, config] {
    const LaunchResult result = launch(Gpu{}, config, Kernel{}, params);
    if (result) return;
    std::fprintf(stderr, "%s", describe(result).c_str());
    std::exit(1);
  };
}

// Parameters that are made once, launched again and again.
template <class Spec>
std::function<void()> prepare(const Problem& p, bool dependent) {
  using Kernel = typename GemmTypes<Spec>::Kernel;
  const GemmDesign& design = gantry::detail::HostDesign<Spec>::value;
  fusion::FusionArguments fusion(GemmTypes<Spec>::graph);
  if (fusion.graph().count(fusion::ArgumentKind::row) > 0) fusion["bias"] = p.bias;
  if (fusion.graph().count(fusion::ArgumentKind::aux_out) > 0) fusion["aux"] = p.aux;
  const GemmInputs inputs{{p.m, p.n, p.k}, p.a, p.b, p.c, p.d, fusion, dependent};
  const GemmLaunchPlan plan = plan_gemm(design, inputs, {.clusters = p.sms / Kernel::kCluster}, kH200);
  typename Kernel::Params params{};
  write_parameters(design, inputs, plan, nullptr, encode, reinterpret_cast<unsigned char*>(&params));
  return launches<Kernel>(params, plan.config);
}

// A specification that races in a job.
template <class Spec>
struct Entry {
  Entry(Job job, const char* name) { contestants().push_back({job, name, prepare<Spec>}); }
};

}  // namespace gantry::bench

// A product planned: tensor maps encoded, tiles dealt out, workspace there. Planned once, run many times.
//
// run() neither allocates nor waits, and can be captured into a CUDA graph: it launches the kernel, and before it,
// where the epilogue reduces, one that clears what is reduced into. It changes nothing of the plan, so threads may
// share one; but runs of one plan write the same D and use the same workspace, so each ends before the next begins, as
// in one stream. For two streams at once, make two plans.
//
// A workspace is the plan's own, or given: then plan() clears it, and nobody else uses it while the plan runs. A run
// leaves it as it was; a run that was stopped half-way (a device error) may not, and the plan is to be made again.
//
// Example at namespace scope:
//     struct Product {};
//     inline std::string multiply(const gantry::GemmArguments<Product>& args) {
//       const gantry::GemmPlan<Product> plan(args, gantry::device_of(gantry::Simulator()));
//       for (int i = 0; i < 3; ++i) {
//         const gantry::LaunchResult result = plan.run(gantry::Simulator({.seed = 7}));
//         if (!result) return result.problem;  // also why there is no plan
//       }
//       return plan.explain();
//     }
#pragma once

#include <string>
#include <vector>

#include <gantry/arch/detail/sentence.hpp>
#include <gantry/gemm/arguments.hpp>
#include <gantry/gemm/device.hpp>
#include <gantry/gemm/explain.hpp>
#include <gantry/tma/encode.hpp>

namespace gantry {

// Memory of the machine that a plan is for, at a multiple of 16 bytes. Without any, the plan has its own.
struct GemmWorkspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

namespace detail {

// Encodes for one machine, and keeps the first sentence that says why a map could not be.
class MapEncoder {
 public:
  MapEncoder(bool simulated, std::string& problem) : simulated_(simulated), problem_(problem) {}

  GANTRY_COLD TmaDescriptor operator()(const TmaDescriptorParams& params) const {
    const EncodedTmaDescriptor encoded = encode(params);
    if (!encoded.ok() && problem_.empty()) problem_ = describe(encoded).c_str();
    return encoded.map;
  }

 private:
  EncodedTmaDescriptor encode([[maybe_unused]] const TmaDescriptorParams& params) const {
#if defined(__CUDACC__)
    if (!simulated_) return encode_with_driver(params);
#endif
    (void)simulated_;
    return encode_packed(params);
  }

  bool simulated_;
  std::string& problem_;
};

inline std::size_t round_up_to_16(std::size_t bytes) { return (bytes + 15) / 16 * 16; }

}  // namespace detail

template <class Spec>
class GemmPlan {
 public:
  using Types = GemmTypes<Spec>;
  using Kernel = typename Types::Kernel;
  using Arguments = GemmArguments<Spec>;

  GemmPlan(const Arguments& args, const GemmDevice& device, const GemmWorkspace& given = {})
      : args_(args), simulated_(device.simulated), problems_(can_implement(args)) {
    if (!device.problem.empty()) problems_.push_back(device.problem);
    if (!problems_.empty() || args.extents.nothing_to_do()) return;
    ctas_ = resident_ctas(device);
    needs_ = needs(args, ctas_);
    if (needs_.total() > 0) take_workspace(given);
    if (problems_.empty()) make_params();
  }

  // Bytes of workspace that a plan for this device takes: for reductions that give the same bits on every run, and for
  // tiles that several clusters share. 0 where there is a reason why there is no plan.
  static std::size_t workspace_bytes(const Arguments& args, const GemmDevice& device) {
    const bool none = !device.problem.empty() || !can_implement(args).empty() || args.extents.nothing_to_do();
    return none ? 0 : needs(args, resident_ctas(device)).total();
  }

  bool ok() const { return problems_.empty(); }
  // Every reason why there is no plan.
  const std::vector<std::string>& problems() const { return problems_; }
  std::size_t workspace_bytes() const { return needs_.total(); }

  LaunchResult run(const Simulator& machine) const {
    if (LaunchResult refused = refusal(true); !refused) return refused;
    // Clusters that share a tile wait for each other: all are there at the same time.
    SimulatorOptions options = machine.options();
    const int clusters = ctas_ / Kernel::kCluster;
    if (options.resident_clusters < clusters) options.resident_clusters = clusters;
    const Simulator simulator(options);
    LaunchResult cleared = clear_reductions(simulator);
    if (!cleared || args_.extents.nothing_to_do()) return cleared;
    return launch(simulator, config_, Kernel{}, params_);
  }

#if defined(__CUDACC__)
  LaunchResult run(const Gpu& machine) const {
    if (LaunchResult refused = refusal(false); !refused) return refused;
    LaunchResult cleared = clear_reductions(machine);
    if (!cleared || args_.extents.nothing_to_do()) return cleared;
    return launch(machine, config_, Kernel{}, params_);
  }
#endif

  // The choice, where bytes and time go, in sentences; or every reason why there is no plan.
  GANTRY_COLD std::string explain() const {
    if (!ok()) return detail::joined(problems_);
    return detail::explain_gemm(facts());
  }

 private:
  struct Needs {
    std::size_t sums = 0, reductions = 0;
    std::size_t total() const { return detail::round_up_to_16(sums) + reductions; }
  };

  // CTAs that the device holds at the same time, in whole clusters.
  static int resident_ctas(const GemmDevice& device) {
    constexpr int kCluster = Kernel::kCluster;
#if defined(__CUDACC__)
    if (!device.simulated) {
      const int clusters = detail::clusters_held<Kernel>();
      if (clusters > 0) return clusters * kCluster;
    }
#endif
    return device.arch.sms < kCluster ? kCluster : device.arch.sms / kCluster * kCluster;
  }

  static Needs needs(const Arguments& args, int ctas) {
    Needs out;
    if constexpr (requires { typename Kernel::Sums; }) {
      if (Types::kChosen.split == SplitMode::automatic && schedule_of(args, ctas).split_tiles > 0) {
        out.sums = Kernel::Sums::workspace_bytes(ctas);
      }
    }
    if constexpr (Types::kFused) {
      out.reductions = get_workspace_size<typename Types::Epilogue::Part>(detail::epilogue_problem_of(args),
                                                                          detail::epilogue_arguments_of(args));
    }
    return out;
  }

  // As the kernel would deal out tiles if it had a workspace.
  static TileSchedule schedule_of(const Arguments& args, int ctas) {
    GemmProblem problem = detail::problem_of(args);
    unsigned char any = 0;
    problem.workspace = &any;
    const auto no_map = [](const TmaDescriptorParams&) { return TmaDescriptor{}; };
    return Kernel::make_params(problem, typename Types::Epilogue::Params{}, ctas, no_map).schedule;
  }

  GANTRY_COLD void take_workspace(const GemmWorkspace& given) {
    workspace_ = given.data;
    if (given.data == nullptr) {
      owned_ =
          detail::MachineMemory(needs_.total(), simulated_ ? detail::MemoryKind::host : detail::MemoryKind::device);
      workspace_ = owned_.data();
      if (workspace_ == nullptr) {
        problems_.push_back(detail::sentence({"there is no memory left for ", needs_.total(), " bytes of workspace"}));
      }
    } else if (given.bytes < needs_.total()) {
      problems_.push_back(detail::sentence(
          {"the workspace has ", given.bytes, " bytes: this product takes ", needs_.total(), " on this device"}));
    } else if (const auto beyond = reinterpret_cast<std::uintptr_t>(given.data) % 16; beyond != 0) {
      problems_.push_back(detail::sentence({"the workspace begins ", beyond,
                                            " bytes beyond a multiple of 16; the next address that works is ",
                                            16 - beyond, " bytes further"}));
    }
    if (!problems_.empty()) return;
    const std::string problem = detail::clear_memory(workspace_, needs_.total(), simulated_);
    if (!problem.empty()) problems_.push_back(problem);
  }

  GANTRY_COLD void make_params() {
    std::string problem;
    const detail::MapEncoder encode(simulated_, problem);
    GemmProblem p = detail::problem_of(args_);
    if (needs_.sums > 0) p.workspace = static_cast<unsigned char*>(workspace_);
    if constexpr (!Types::kFused) {
      params_ = Kernel::make_params(p, ctas_, encode);
    } else {
      const auto epilogue = to_underlying_arguments<typename Types::Epilogue::Part>(
          detail::epilogue_problem_of(args_), detail::epilogue_arguments_of(args_), encode, reductions());
      params_ = Kernel::make_params(p, epilogue, ctas_, encode);
    }
    config_ = Kernel::launch_config(params_);
    // Sums wait for the loads, and those for the kernel before; where K is 0 there are none to wait for.
    config_.dependent = args_.dependent && p.k > 0;
    if (!problem.empty()) problems_.push_back(problem);
  }

  void* reductions() const {
    return needs_.reductions == 0 ? nullptr : static_cast<char*>(workspace_) + detail::round_up_to_16(needs_.sums);
  }

  template <class Machine>
  LaunchResult clear_reductions(const Machine& machine) const {
    if constexpr (!detail::kRunTimeGraph<Spec> && Types::Fusion::graph.count(fusion::ArgumentKind::reduction) == 0) {
      return {};
    } else {
      return initialize_workspace<typename Types::Epilogue::Part>(machine, detail::epilogue_problem_of(args_),
                                                                  detail::epilogue_arguments_of(args_), reductions());
    }
  }

  // On the machine that the plan is for?
  GANTRY_COLD LaunchResult refusal(bool simulated) const {
    if (!ok()) return {detail::joined(problems_), {}};
    if (simulated == simulated_) return {};
    const auto name = [](bool of_simulated) { return of_simulated ? "the simulated machine" : "a GPU"; };
    return {detail::sentence({"this plan was made for ", name(simulated_), ", and is run on ", name(simulated),
                              ": make another with device_of that machine\n"}),
            {}};
  }

  detail::GemmFacts facts() const {
    detail::GemmFacts f;
    f.options = Types::kOptions;
    f.m = args_.extents.m;
    f.n = args_.extents.n;
    f.k = args_.extents.k;
    f.batch = args_.extents.batch;
    f.expression = fusion::print(args_.fusion.graph(), typename Types::Fusion::Functions{}).c_str();
    f.deferred = Types::kDeferred;
    f.adds = Types::kAdds;
    f.shared_bytes = Types::kSharedBytes;
    f.epilogue_bytes = Types::kEpilogueBytes;
    f.schedule = params_.schedule;
    f.ctas = ctas_;
    f.workspace_bytes = needs_.total();
    f.simulated = simulated_;
    f.graph = &args_.fusion.graph();
    return f;
  }

  Arguments args_;
  bool simulated_;
  int ctas_ = 0;
  Needs needs_{};
  void* workspace_ = nullptr;
  detail::MachineMemory owned_{};
  std::vector<std::string> problems_{};
  typename Kernel::Params params_{};
  LaunchConfig config_{};
};

}  // namespace gantry

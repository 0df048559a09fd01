// A planned GEMM: tensor maps encoded, tiles scheduled, workspace allocated. Planned once, run many times.
//
// run() neither allocates nor waits, and can be captured into a CUDA graph: it launches the kernel, and before it,
// where the epilogue reduces, one that clears what is reduced into; after it, one that adds scattered rows in order. It
// changes nothing of the plan, so threads may share one; but runs of one plan write the same D and use the same
// workspace, so each ends before the next begins, as in one stream. For two streams at once, make two plans.
//
// A workspace is the plan's own, or given: then plan() clears it, and nobody else uses it while the plan runs. A run
// leaves it as it was; a run that was stopped half-way (a device error) may not, and the plan is to be made again.
//
// Example at namespace scope:
//     struct Plain {};
//     inline bool multiply(const gantry::GemmArguments<Plain>& args) {
//       const auto plan = gantry::GemmPlan<Plain>::make(args, gantry::device_of(gantry::Simulator()));
//       if (!plan) return plan.error().has(gantry::ArgumentRule::size_negative);  // every reason why there is none
//       for (int i = 0; i < 3; ++i) {
//         if (!plan->run(gantry::Simulator({.seed = 7}))) return false;
//       }
//       return !plan->explain().empty();
//     }
#pragma once

#include <utility>

#include <gantry/epilogue/workspace.hpp>
#include <gantry/gemm/arguments.hpp>
#include <gantry/gemm/explain.hpp>
#include <gantry/gemm/kernel.hpp>
#include <gantry/gemm/planner.hpp>
#include <gantry/gemm/workspace.hpp>
#include <gantry/rules/expected.hpp>

namespace gantry {

namespace detail {

// Encodes for one machine, and keeps why a map could not be.
class MapEncoder {
 public:
  MapEncoder(bool simulated, ArgumentReasons& out) : simulated_(simulated), out_(out) {}

  GANTRY_COLD TmaDescriptor operator()(const TmaDescriptorParams& params) const { return map_of(encode(params), out_); }

 private:
  EncodedTmaDescriptor encode([[maybe_unused]] const TmaDescriptorParams& params) const {
#if defined(__CUDACC__)
    if (!simulated_) return encode_with_driver(params);
#endif
    (void)simulated_;
    return encode_packed(params);
  }

  bool simulated_;
  ArgumentReasons& out_;
};

}  // namespace detail

template <class Spec>
class GemmPlan {
 public:
  using Kernel = GemmKernel<Spec>;
  using Arguments = GemmArguments<Spec>;

  // The plan, or every reason why there is none.
  GANTRY_COLD static Expected<GemmPlan, ArgumentReasons> make(const Arguments& args, const GemmDevice& device,
                                                              const GemmWorkspace& given = {}) {
    ArgumentReasons reasons = refusals(args, device);
    if (!reasons.ok()) return unexpected(reasons);
    GemmPlan plan(args, device);
    if (!args.extents.nothing_to_do()) plan.prepare(device, given, reasons);
    if (!reasons.ok()) return unexpected(reasons);
    return Expected<GemmPlan, ArgumentReasons>(std::move(plan));  // in so many words, for nvcc
  }

  // Bytes of workspace that a plan for this device takes: for reductions that give the same bits on every run, and for
  // tiles that several clusters share.
  GANTRY_COLD static Expected<std::size_t, ArgumentReasons> workspace_bytes(const Arguments& args,
                                                                            const GemmDevice& device) {
    const ArgumentReasons reasons = refusals(args, device);
    if (!reasons.ok()) return unexpected(reasons);
    if (args.extents.nothing_to_do()) return std::size_t{0};
    return launch_of(args, resident_clusters(device), device.arch).needs.total();
  }

  std::size_t workspace_bytes() const { return launch_.needs.total(); }

  LaunchResult run(const Simulator& machine) const { return run_simulated(machine); }

#if defined(__CUDACC__)
  LaunchResult run(const Gpu& machine) const {
    if (LaunchResult refused = refusal(false); !refused) return refused;
    LaunchResult cleared = clear_reductions(machine);
    if (!cleared || args_.extents.nothing_to_do()) return cleared;
    if (LaunchResult packed = pack(machine); !packed) return packed;
    LaunchResult launched = launch(machine, launch_.config, Kernel{}, params_);
    return with_slot_sums(machine, std::move(launched));
  }
#endif

  // run(), and waits until D is there.
  template <class Machine>
  LaunchResult run_and_wait(const Machine& machine) const {
    LaunchResult launched = run(machine);
    if (!launched) return launched;
    if (LaunchResult waited = wait_for(machine); !waited) return waited;
    return launched;
  }

  // The choice, and where bytes and time go, in sentences. Templates, as only their callers read <string>.
  template <class String = std::string>
  GANTRY_COLD String explain() const {
    String out;
    append_explanation(out);
    return out;
  }
  template <class String>
  GANTRY_COLD void append_explanation(String& out) const {
    const auto expression = fusion::print(args_.fusion.graph(), Functions{});
    detail::GemmFacts facts = this->facts();
    facts.expression = detail::kOwnCallbacks<Spec> ? "callbacks of the specification's own" : expression.c_str();
    detail::append_explanation(facts, out);
  }

 private:
  GemmPlan(Arguments args, const GemmDevice& device)
      : args_(std::move(args)), simulated_(device.simulated), arch_(device.arch) {}

  GANTRY_COLD static ArgumentReasons refusals(const Arguments& args, const GemmDevice& device) {
    ArgumentReasons out = can_implement(args);
    if (!device.present) out.add(with_words(ArgumentRule::no_device, ""));
    return out;
  }

  GANTRY_COLD void prepare(const GemmDevice& device, const GemmWorkspace& given, ArgumentReasons& out) {
    clusters_ = resident_clusters(device);
    launch_ = launch_of(args_, clusters_, arch_);
    if (launch_.needs.total() > 0) {
      workspace_ = detail::PlanWorkspace(given, launch_.needs.total(), simulated_, out);
    }
    if (out.ok()) make_params(out);
  }

  GANTRY_COLD static GemmLaunchPlan launch_of(const Arguments& args, int clusters, const Architecture& arch) {
    GemmLaunchPlan out = plan_gemm(design(), inputs_of(args), {.clusters = clusters, .workspace = true}, arch);
    if constexpr (detail::kOwnCallbacks<Spec>) {
      using Own = detail::OwnCallbacks<Spec>;
      const EpilogueProblem problem = detail::epilogue_problem_of(design(), args.extents);
      if constexpr (requires { Own::get_workspace_size(problem, args.callbacks); }) {
        const auto bytes = static_cast<std::size_t>(Own::get_workspace_size(problem, args.callbacks));
        out.needs.callbacks = (bytes + 3) / 4 * 4;
      }
    }
    return out;
  }

  using Functions = typename GemmDesignOf<Spec>::Functions;

  static const GemmDesign& design() { return detail::HostDesign<Spec>::value; }

  // Clusters that the device holds at the same time.
  static int resident_clusters(const GemmDevice& device) {
#if defined(__CUDACC__)
    if (!device.simulated) {
      const int clusters = detail::clusters_held<Kernel>();
      if (clusters > 0) return clusters;
    }
#endif
    return device.arch.resident_clusters(Kernel::kCluster);
  }

  GANTRY_COLD void make_params(ArgumentReasons& out) {
    const detail::MapEncoder encode(simulated_, out);
    write_parameters(design(), inputs_of(args_), launch_, workspace_.data(), encode, params_.bytes);
    if constexpr (detail::kRunTimeGraph<Spec>) {
      using Tail = typename GemmTypes<Spec>::Epilogue::Collective::Fusion::Params;
      auto& tail = *reinterpret_cast<Tail*>(params_.bytes + design().params.tail);
      tail.bind(detail::bind_run_time_graph(
          design(), inputs_of(args_), encode,
          {.functions = Functions::kCount, .reductions = reductions(), .operands = tail.operands, .maps = tail.maps}));
    }
    if constexpr (detail::kOwnCallbacks<Spec>) {
      using Own = detail::OwnCallbacks<Spec>;
      const EpilogueProblem problem = detail::epilogue_problem_of(design(), args_.extents);
      typename Own::Params tail{};
      if constexpr (requires { Own::to_underlying_arguments(problem, args_.callbacks, encode, nullptr); }) {
        tail = Own::to_underlying_arguments(problem, args_.callbacks, encode, callbacks_workspace());
      }
      __builtin_memcpy(params_.bytes + design().params.tail, &tail, sizeof tail);
    }
  }

  void* reductions() const {
    return launch_.needs.reductions == 0 ? nullptr
                                         : static_cast<char*>(workspace_.data()) + launch_.needs.reductions_at();
  }

  void* callbacks_workspace() const {
    return launch_.needs.callbacks == 0 ? nullptr
                                        : static_cast<char*>(workspace_.data()) + launch_.needs.callbacks_at();
  }

  // What a run begins with: identities of reductions, counters of 0, and zeros for callbacks of one's own.
  template <class Machine>
  LaunchResult clear_reductions(const Machine& machine) const {
    if constexpr (detail::kOwnCallbacks<Spec>) {
      if (launch_.needs.callbacks == 0) return {};
      FillWords::Params zeros;
      zeros.add({.words = callbacks_workspace(), .count = static_cast<std::int64_t>(launch_.needs.callbacks / 4)});
      return fill_words(machine, zeros);
    } else if constexpr (!detail::kRunTimeGraph<Spec> &&
                         GemmDesignOf<Spec>::graph.count(fusion::ArgumentKind::reduction) == 0) {
      return {};
    } else {
      return fill_words(machine, fills_of(design(), inputs_of(args_), Functions::kCount, reductions()));
    }
  }

  template <class Machine>
  LaunchResult pack(const Machine& machine) const {
    if (!launch_.packs()) return {};
    const PackLines::Params packs = packs_of(launch_, args_.a.data, args_.b.data, workspace_.data());
    return launch(machine, pack_config(packs, arch_.sms), PackLines{}, packs);
  }

  // Returns the outcome of the GEMM, or why rows could not be added.
  template <class Machine>
  LaunchResult with_slot_sums(const Machine& machine, LaunchResult launched) const {
    if constexpr (GemmDesignOf<Spec>::design.options.scatter_d == RowScatter::ordered) {
      if (!launched || !launch_.sums_slots()) return launched;
      const SumSlots::Params sums =
          slot_sums_of(launch_, {args_.d.data, args_.scatter.index, args_.groups.data()}, workspace_.data());
      LaunchResult summed = launch(machine, sum_config(sums, arch_.sms), SumSlots{}, sums);
      if (!summed) return summed;
    }
    return launched;
  }

  // A template, as sources that run on a GPU alone need not read the simulated SM.
  template <class Machine>
  LaunchResult run_simulated(const Machine& machine) const {
    if (LaunchResult refused = refusal(true); !refused) return refused;
    // Clusters that share a tile wait for each other, so all of them must be resident.
    auto options = machine.options();
    if (options.resident_clusters < clusters_) options.resident_clusters = clusters_;
    const Machine simulator(options);
    LaunchResult cleared = clear_reductions(simulator);
    if (!cleared || args_.extents.nothing_to_do()) return cleared;
    if (LaunchResult packed = pack(simulator); !packed) return packed;
    static_assert(
        requires { sizeof(GemmTypes<Spec>); },
        "gantry: a source that nvcc compiles and that runs a GEMM on the simulated SM includes "
        "<gantry/gemm/simulated.hpp>");
    LaunchResult launched = launch(simulator, launch_.config, Kernel{}, params_);
    return with_slot_sums(simulator, std::move(launched));
  }

  // On the machine that the plan is for?
  GANTRY_COLD LaunchResult refusal(bool simulated) const {
    if (simulated == simulated_) return {};
    LaunchReason reason;
    reason.rule = LaunchRule::other_machine;
    reason.simulated = simulated;
    return detail::refused(reason);
  }

  detail::GemmFacts facts() const {
    detail::GemmFacts f;
    f.design = design();
    f.m = args_.extents.m;
    f.n = args_.extents.n;
    f.k = args_.extents.k;
    f.batch = args_.extents.batch;
    f.schedule = launch_.schedule;
    f.ctas = clusters_ * Kernel::kCluster;
    f.workspace_bytes = launch_.needs.total();
    f.packed_a = launch_.a.packed;
    f.packed_b = launch_.b.packed;
    f.packed_bytes = launch_.needs.packed;
    f.slot_bytes = launch_.needs.slots;
    f.slot_rows = launch_.slots.rows;
    f.arch = arch_;
    f.graph = &args_.fusion.graph();
    return f;
  }

  Arguments args_;
  bool simulated_;
  Architecture arch_;
  int clusters_ = 0;
  GemmLaunchPlan launch_{};
  detail::PlanWorkspace workspace_{};
  typename Kernel::Params params_{};
};

}  // namespace gantry

// Several configurations of one GEMM, compiled side by side: each problem is planned with the one that `choose`
// (choice.hpp) picks, or with the one that is asked for by name.
//
// Invariant: all have the same elements, majors and graph, so that one set of arguments serves them.
//
// Example at namespace scope:
//     struct Wide {};
//     struct Small {
//       static constexpr gantry::GemmOptions options{.tile = {.m = 64, .n = 64}, .cluster = {1, 1}};
//     };
//     using Gemms = gantry::GemmSet<Wide, Small>;
//     inline std::string why(const Gemms::Arguments& args) {
//       const auto plan = Gemms::plan(args);
//       if (!plan) return describe(plan.error()[0]).c_str();
//       return plan->explain();  // "The model chooses 64x64x64 pingpong 1x1 bf16 for 100 x 100 x 64 ..."
//     }
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gantry/gemm/candidates.hpp>
#include <gantry/gemm/choice.hpp>
#include <gantry/gemm/plan.hpp>
#include <gantry/gemm/tuning.hpp>

namespace gantry {

// What decides besides the problem itself.
struct GemmPreference {
  std::string asked{};  // the name of one of the candidates; empty: whichever is best
  const TuningFile* tuning = nullptr;
  std::string device_name{};  // as the tuning file has it
};

template <class First, class... Others>
class GemmSet {
 public:
  using Arguments = GemmArguments<First>;

  class Plan {
   public:
    using AnyPlan = std::variant<GemmPlan<First>, GemmPlan<Others>...>;

    Plan(AnyPlan plan, GemmChoice choice) : plan_(std::move(plan)), choice_(std::move(choice)) {}

    const GemmChoice& choice() const { return choice_; }
    std::string explain() const {
      return choice_.explanation() + "\n" + std::visit([](const auto& plan) { return plan.explain(); }, plan_);
    }
    std::size_t workspace_bytes() const {
      return std::visit([](const auto& plan) { return plan.workspace_bytes(); }, plan_);
    }
    template <class Machine>
    LaunchResult run(const Machine& machine) const {
      return std::visit([&machine](const auto& plan) { return plan.run(machine); }, plan_);
    }
    // run(), and waits until D is there.
    template <class Machine>
    LaunchResult run_and_wait(const Machine& machine) const {
      return std::visit([&machine](const auto& plan) { return plan.run_and_wait(machine); }, plan_);
    }

   private:
    AnyPlan plan_;
    GemmChoice choice_;
  };

  // What there is to choose from, in the order of the template arguments.
  static std::vector<GemmDesign> candidates() { return {GemmDesignOf<First>::design, GemmDesignOf<Others>::design...}; }

  static GemmChoice choose(const Arguments& args, const GemmDevice& device, const GemmPreference& preference = {}) {
    constexpr GemmOptions o = GemmDesignOf<First>::design.options;
    const GemmExtents e = typical_extents(o.groups, args.extents);
    if (e.nothing_to_do()) {
      GemmChoice any;
      any.index = 0;
      return any;
    }
    GemmQuestion q;
    q.workload = workload_of(o);
    q.workload.m = e.m;
    q.workload.n = e.n;
    q.workload.k = e.k;
    q.workload.batch = e.batch;
    q.workload.epilogue = fusion::print(args.fusion.graph(), typename GemmDesignOf<First>::Functions{}).c_str();
    q.epilogue = epilogue_cost(args.fusion.graph(), o.c);
    q.device = device.arch;
    if (preference.tuning != nullptr) q.tuned = preference.tuning->find(q.workload, preference.device_name);
    q.asked = preference.asked;
    return gantry::choose(q, candidates());
  }

  // What the plan of the GEMM that is chosen takes.
  static Expected<std::size_t, ArgumentReasons> workspace_bytes(const Arguments& args,
                                                                const GemmDevice& device = device_of(ThisMachine()),
                                                                const GemmPreference& preference = {}) {
    ArgumentReasons reasons = can_implement(args);
    if (!reasons.ok()) return unexpected(reasons);
    const GemmChoice choice = choose(args, device, preference);
    if (choice.ok()) return bytes<0, First, Others...>(choice, args, device);
    for (const std::string& why : choice.why) reasons.add(with_words(ArgumentRule::no_configuration, why.c_str()));
    return unexpected(reasons);
  }

  // The plan of the GEMM that is chosen, or every reason why there is none.
  static Expected<Plan, ArgumentReasons> plan(const Arguments& args,
                                              const GemmDevice& device = device_of(ThisMachine()),
                                              const GemmPreference& preference = {},
                                              const GemmWorkspace& workspace = {}) {
    ArgumentReasons reasons = can_implement(args);
    if (!reasons.ok()) return unexpected(reasons);
    const GemmChoice choice = choose(args, device, preference);
    if (choice.ok()) return make<0, First, Others...>(choice, args, device, workspace);
    for (const std::string& why : choice.why) reasons.add(with_words(ArgumentRule::no_configuration, why.c_str()));
    return unexpected(reasons);
  }

 private:
  template <int i, class Spec, class... Rest>
  static Expected<std::size_t, ArgumentReasons> bytes(const GemmChoice& choice, const Arguments& args,
                                                      const GemmDevice& device) {
    if constexpr (sizeof...(Rest) > 0) {
      if (choice.index > i) return bytes<i + 1, Rest...>(choice, args, device);
    }
    return GemmPlan<Spec>::workspace_bytes(GemmArguments<Spec>(args), device);
  }

  template <int i, class Spec, class... Rest>
  static Expected<Plan, ArgumentReasons> make(const GemmChoice& choice, const Arguments& args, const GemmDevice& device,
                                              const GemmWorkspace& workspace) {
    if constexpr (sizeof...(Rest) > 0) {
      if (choice.index > i) return make<i + 1, Rest...>(choice, args, device, workspace);
    }
    auto plan = GemmPlan<Spec>::make(GemmArguments<Spec>(args), device, workspace);
    if (!plan) return unexpected(plan.error());
    return Plan(std::move(*plan), choice);
  }
};

}  // namespace gantry

// Several configurations of one GEMM, compiled side by side: each problem is planned with the one that `choose`
// (choice.hpp) picks, or with the one that is asked for by name.
//
// Invariant: all have the same elements, majors and graph, so that one set of arguments serves them.
//
// Example at namespace scope:
//     #include <string>
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

#include <iosfwd>
#include <utility>

#include <gantry/gemm/detail/one_of.hpp>
#include <gantry/gemm/plan.hpp>

namespace gantry {

struct GemmChoice;  // <gantry/gemm/choice.hpp>
class TuningFile;   // <gantry/gemm/tuning.hpp>

// What decides besides the problem itself.
struct GemmPreference {
  const char* asked = "";  // the name of one of the candidates; empty: whichever is best
  const TuningFile* tuning = nullptr;
  const char* device_name = "";  // as the tuning file has it
};

namespace detail {

// What is asked of the candidates, whose options are alike but for what a choice sets.
struct SetQuestion {
  const GemmDesign* const* candidates = nullptr;
  int count = 0;
  GemmExtents extents{};
  const fusion::Graph* graph = nullptr;
  const char* expression = "";
  GemmPreference preference{};
  Architecture arch = kH200;
};

struct ExplainedChoice;

// A choice and its sentences behind a pointer: nvcc's passes read no container of it where planning is linked.
class SetChoice {
 public:
  GANTRY_LINKAGE explicit SetChoice(const SetQuestion& question);
  GANTRY_LINKAGE SetChoice(const SetChoice& other);
  SetChoice(SetChoice&& other) noexcept : choice_(std::exchange(other.choice_, nullptr)) {}
  SetChoice& operator=(SetChoice other) noexcept {
    std::swap(choice_, other.choice_);
    return *this;
  }
  GANTRY_LINKAGE ~SetChoice();

  GANTRY_LINKAGE const GemmChoice& value() const;
  GANTRY_LINKAGE int index() const;  // -1: there is none
  // Why there is none.
  GANTRY_COLD GANTRY_LINKAGE void add_reasons(ArgumentReasons& out) const;
  // Why it was chosen, in a line.
  GANTRY_COLD GANTRY_LINKAGE void append_explanation(std::string& out) const;

 private:
  ExplainedChoice* choice_;
};

}  // namespace detail

template <class First, class... Others>
class GemmSet {
 public:
  using Arguments = GemmArguments<First>;

  class Plan {
   public:
    using AnyPlan = detail::OneOf<GemmPlan<First>, GemmPlan<Others>...>;

    Plan(AnyPlan plan, detail::SetChoice choice) : plan_(std::move(plan)), choice_(std::move(choice)) {}

    const GemmChoice& choice() const { return choice_.value(); }
    template <class String = std::string>
    GANTRY_COLD String explain() const {
      String out;
      choice_.append_explanation(out);
      plan_.visit([&](const auto& plan) { plan.append_explanation(out); });
      return out;
    }
    std::size_t workspace_bytes() const {
      return plan_.visit([](const auto& plan) { return plan.workspace_bytes(); });
    }
    template <class Machine>
    LaunchResult run(const Machine& machine) const {
      return plan_.visit([&machine](const auto& plan) { return plan.run(machine); });
    }
    // run(), and waits until D is there.
    template <class Machine>
    LaunchResult run_and_wait(const Machine& machine) const {
      return plan_.visit([&machine](const auto& plan) { return plan.run_and_wait(machine); });
    }

   private:
    AnyPlan plan_;
    detail::SetChoice choice_;
  };

  // Among the specifications in the order of the template arguments.
  static detail::SetChoice choose(const Arguments& args, const GemmDevice& device,
                                  const GemmPreference& preference = {}) {
    static constexpr const GemmDesign* kCandidates[] = {&detail::HostDesign<First>::value,
                                                        &detail::HostDesign<Others>::value...};
    const auto expression = fusion::print(args.fusion.graph(), typename GemmDesignOf<First>::Functions{});
    detail::SetQuestion question;
    question.candidates = kCandidates;
    question.count = 1 + sizeof...(Others);
    question.extents = args.extents;
    question.graph = &args.fusion.graph();
    question.expression = expression.c_str();
    question.preference = preference;
    question.arch = device.arch;
    return detail::SetChoice(question);
  }

  // Workspace of the configuration that is chosen.
  static Expected<std::size_t, ArgumentReasons> workspace_bytes(const Arguments& args,
                                                                const GemmDevice& device = device_of(ThisMachine()),
                                                                const GemmPreference& preference = {}) {
    ArgumentReasons reasons = can_implement(args);
    if (!reasons.ok()) return unexpected(reasons);
    const detail::SetChoice choice = choose(args, device, preference);
    if (choice.index() >= 0) return bytes<0, First, Others...>(choice.index(), args, device);
    choice.add_reasons(reasons);
    return unexpected(reasons);
  }

  // The plan of the GEMM that is chosen, or every reason why there is none.
  static Expected<Plan, ArgumentReasons> plan(const Arguments& args,
                                              const GemmDevice& device = device_of(ThisMachine()),
                                              const GemmPreference& preference = {},
                                              const GemmWorkspace& workspace = {}) {
    ArgumentReasons reasons = can_implement(args);
    if (!reasons.ok()) return unexpected(reasons);
    const detail::SetChoice choice = choose(args, device, preference);
    if (choice.index() >= 0) return make<0, First, Others...>(choice, args, device, workspace);
    choice.add_reasons(reasons);
    return unexpected(reasons);
  }

 private:
  template <int i, class Spec, class... Rest>
  static Expected<std::size_t, ArgumentReasons> bytes(int index, const Arguments& args, const GemmDevice& device) {
    if constexpr (sizeof...(Rest) > 0) {
      if (index > i) return bytes<i + 1, Rest...>(index, args, device);
    }
    return GemmPlan<Spec>::workspace_bytes(GemmArguments<Spec>(args), device);
  }

  template <int i, class Spec, class... Rest>
  static Expected<Plan, ArgumentReasons> make(const detail::SetChoice& choice, const Arguments& args,
                                              const GemmDevice& device, const GemmWorkspace& workspace) {
    if constexpr (sizeof...(Rest) > 0) {
      if (choice.index() > i) return make<i + 1, Rest...>(choice, args, device, workspace);
    }
    auto plan = GemmPlan<Spec>::make(GemmArguments<Spec>(args), device, workspace);
    if (!plan) return unexpected(plan.error());
    return Plan({i, std::move(*plan)}, choice);
  }
};

}  // namespace gantry

#if GANTRY_DEFINES_PLANNING
#include <gantry/gemm/detail/set_definitions.hpp>
#endif

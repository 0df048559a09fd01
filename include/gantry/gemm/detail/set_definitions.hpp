// What set.hpp declares: compiled into gantry::planning, or inline where nothing is linked.
#pragma once

#include <string>
#include <vector>

#include <gantry/gemm/candidates.hpp>
#include <gantry/gemm/choice_text.hpp>
#include <gantry/gemm/set.hpp>
#include <gantry/gemm/tuning.hpp>

namespace gantry::detail {

struct ExplainedChoice {
  GemmChoice choice{};
  std::string why{};
};

inline ExplainedChoice choice_in(const SetQuestion& question) {
  const GemmOptions& o = question.candidates[0]->options;
  const GemmExtents e = typical_extents(o.groups, question.extents);
  if (e.nothing_to_do()) return {.choice = {.index = 0}};
  GemmQuestion q;
  q.workload = workload_of(o);
  q.workload.m = e.m;
  q.workload.n = e.n;
  q.workload.k = e.k;
  q.workload.batch = e.batch;
  q.epilogue = epilogue_cost(*question.graph, o.c);
  q.device = question.arch;
  const GemmPreference& preference = question.preference;
  if (preference.tuning != nullptr) {
    q.tuned = measured(preference.tuning->find(q.workload, question.expression, preference.device_name));
  }
  q.asked = preference.asked;
  std::vector<GemmDesign> candidates;
  candidates.reserve(static_cast<std::size_t>(question.count));
  for (int i = 0; i < question.count; ++i) candidates.push_back(*question.candidates[i]);
  const GemmChoice choice = choose(q, candidates);
  return {choice, explanation(q, candidates, choice)};
}

GANTRY_LINKAGE SetChoice::SetChoice(const SetQuestion& question) : choice_(new ExplainedChoice(choice_in(question))) {}
GANTRY_LINKAGE SetChoice::SetChoice(const SetChoice& other)
    : choice_(other.choice_ != nullptr ? new ExplainedChoice(*other.choice_) : nullptr) {}
GANTRY_LINKAGE SetChoice::~SetChoice() { delete choice_; }

GANTRY_LINKAGE const GemmChoice& SetChoice::value() const { return choice_->choice; }
GANTRY_LINKAGE int SetChoice::index() const { return choice_->choice.index; }

GANTRY_COLD GANTRY_LINKAGE void SetChoice::add_reasons(ArgumentReasons& out) const {
  for (const ChoiceReason& reason : choice_->choice.reasons) {
    out.add(with_words(ArgumentRule::no_configuration, describe(reason).c_str()));
  }
}

GANTRY_COLD GANTRY_LINKAGE void SetChoice::append_explanation(std::string& out) const {
  out.append(choice_->why).append("\n");
}

}  // namespace gantry::detail

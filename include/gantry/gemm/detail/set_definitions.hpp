// What set.hpp declares: compiled into gantry::planning, or inline where nothing is linked.
#pragma once

#include <string>
#include <vector>

#include <gantry/gemm/candidates.hpp>
#include <gantry/gemm/choice.hpp>
#include <gantry/gemm/set.hpp>
#include <gantry/gemm/tuning.hpp>

namespace gantry::detail {

inline GemmChoice choice_in(const SetQuestion& question) {
  const GemmOptions& o = question.candidates[0]->options;
  const GemmExtents e = typical_extents(o.groups, question.extents);
  if (e.nothing_to_do()) return {.index = 0};
  GemmQuestion q;
  q.workload = workload_of(o);
  q.workload.m = e.m;
  q.workload.n = e.n;
  q.workload.k = e.k;
  q.workload.batch = e.batch;
  q.workload.epilogue = question.expression;
  q.epilogue = epilogue_cost(*question.graph, o.c);
  q.device = question.arch;
  const GemmPreference& preference = question.preference;
  if (preference.tuning != nullptr) q.tuned = preference.tuning->find(q.workload, preference.device_name);
  q.asked = preference.asked;
  std::vector<GemmDesign> candidates;
  candidates.reserve(static_cast<std::size_t>(question.count));
  for (int i = 0; i < question.count; ++i) candidates.push_back(*question.candidates[i]);
  return choose(q, candidates);
}

GANTRY_LINKAGE SetChoice::SetChoice(const SetQuestion& question) : choice_(new GemmChoice(choice_in(question))) {}
GANTRY_LINKAGE SetChoice::SetChoice(const SetChoice& other)
    : choice_(other.choice_ != nullptr ? new GemmChoice(*other.choice_) : nullptr) {}
GANTRY_LINKAGE SetChoice::~SetChoice() { delete choice_; }

GANTRY_LINKAGE int SetChoice::index() const { return choice_->index; }

GANTRY_COLD GANTRY_LINKAGE void SetChoice::add_reasons(ArgumentReasons& out) const {
  for (const ChoiceReason& reason : choice_->reasons) {
    out.add(with_words(ArgumentRule::no_configuration, describe(reason).c_str()));
  }
}

GANTRY_COLD GANTRY_LINKAGE void SetChoice::append_explanation(std::string& out) const {
  out.append(choice_->explanation()).append("\n");
}

}  // namespace gantry::detail

// Why no configuration is chosen for a GEMM, as a value.
//
// Example:
//     using namespace gantry;
//     const ChoiceReason reason{.rule = ChoiceRule::nothing_to_compute, .sizes = "0 x 4096 x 4096"};
//     const Sentence sentence = describe(reason);  // "the sizes are 0 x 4096 x 4096: a configuration is chosen for ..."
#pragma once

#include <gantry/gemm/options.hpp>
#include <gantry/rules/reasons.hpp>

namespace gantry {

enum class ChoiceRule : std::uint8_t {
#define GANTRY_X(id, ...) id,
#include <gantry/gemm/detail/choice_rule_table.hpp>
};

constexpr RuleEntry<> entry_of(ChoiceRule rule) noexcept {
  switch (rule) {
#define GANTRY_X(...) GANTRY_RULE_CASE(ChoiceRule, __VA_ARGS__)
#include <gantry/gemm/detail/choice_rule_table.hpp>
  }
  return {};
}

struct ChoiceReason {
  ChoiceRule rule = ChoiceRule::nothing_to_compute;
  Text<192> sizes{};  // as people write them
  ElementType a = ElementType::bf16, b = ElementType::bf16;
  ElementType c = ElementType::void_, d = ElementType::bf16;
  Major major_a = Major::K, major_b = Major::K;
  GemmName configuration{}, other{};  // that was asked for; the nearest that there is
  std::int64_t actual = 0;            // candidates
};

// Of the rules at most one is broken: each is looked at where those before it hold.
using ChoiceReasons = Reasons<ChoiceReason, 1>;

// The words of a reason beside its numbers.
constexpr bool append_word(Sentence& out, Placeholder word, const ChoiceReason& r) {
  const auto operand = [&](ElementType element, Major major) {
    out.append(to_text(element)).append(major == Major::K ? " (K-major)" : " (MN-major)");
  };
  if (word == "sizes") {
    out.append(r.sizes);
  } else if (word == "a") {
    operand(r.a, r.major_a);
  } else if (word == "b") {
    operand(r.b, r.major_b);
  } else if (word == "c" || word == "d") {
    out.append(to_text(word == "c" ? r.c : r.d));
  } else if (word == "configuration" || word == "other") {
    out.append(word == "other" ? r.other : r.configuration);
  } else {
    return false;
  }
  return true;
}

}  // namespace gantry

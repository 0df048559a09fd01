// Stops the build where a constant breaks a rule, in the words of the rule and with the values.
//
// C++20 prints only literals in a static assertion, so the assertion has the rule, which names no value, and the values
// are in the type that fails: g++ prints the whole sentence there, "says<"box[1] is 320: a box has ...">"; clang and
// nvcc, which print text as numbers, print each value by its name, "field<TmaField::box>, actual<320>, nearest<256>".
//
// A layer gives the words of its rules to the assertions once, outside of any namespace:
//   #define GANTRY_X(id, weight, asked, rule, remedy) GANTRY_RULE_REFUSAL(::gantry::PumpRule, id, rule)
//   #include <gantry/pump/detail/rule_table.hpp>
// and may have a function operand_of(const PumpReason&), whose value is shown where a sentence names {operand}, {field}
// or {mode}.
//
// Example at namespace scope:
//     enum class PumpRule : std::uint8_t { speed };
//     GANTRY_HD constexpr gantry::RuleEntry<> entry_of(PumpRule) {
//       return {"speed", gantry::RuleWeight::refused, "the pump makes {actual} turns", "a pump makes 2 to 5", ""};
//     }
//     struct PumpReason {
//       PumpRule rule = PumpRule::speed;
//       std::int64_t actual = 0;
//     };
//     constexpr gantry::Reasons<PumpReason> nothing_found;
//     GANTRY_REASONS_STATIC_CHECK(nothing_found);
//     GANTRY_RULE_STATIC_CHECK(2 + 2 == 4, PumpReason{.actual = 1});
#pragma once

#include <gantry/rules/reasons.hpp>

namespace gantry {

// What a refusal shows: the values that its sentence names.
namespace said {
template <auto value>
struct operand;
template <auto value>
struct field;
template <auto value>
struct mode;
template <std::int64_t value>
struct index;
template <std::int64_t value>
struct actual;
template <std::int64_t value>
struct wanted;
template <std::int64_t value>
struct nearest;
template <std::int64_t value>
struct first;
template <std::int64_t value>
struct second;
template <auto sentence>
struct says;
}  // namespace said

// One specialisation for each rule, whose assertion has the rule's own words.
template <class Rule, Rule rule, class... Said>
struct Refused;

namespace rules_detail {

template <class... Said>
inline constexpr bool kAllows = false;

}  // namespace rules_detail

}  // namespace gantry

// A line of a table as such a specialisation. Used outside of any namespace, in a header that checks constants. That a
// rule names no value is checked by the compilers of the host alone: nvcc would take 200 rules letter by letter, twice.
#if GANTRY_NVCC
#define GANTRY_RULE_REFUSAL(Rule, id, rule)                                   \
  template <class... Said>                                                    \
  struct gantry::Refused<Rule, Rule::id, Said...> {                           \
    static_assert(::gantry::rules_detail::kAllows<Said...>, "gantry: " rule); \
  };
#else
#define GANTRY_RULE_REFUSAL(Rule, id, rule)                                                \
  template <class... Said>                                                                 \
  struct gantry::Refused<Rule, Rule::id, Said...> {                                        \
    static_assert(::gantry::rules_detail::is_plain(rule), "a rule names no value: " rule); \
    static_assert(::gantry::rules_detail::kAllows<Said...>, "gantry: " rule);              \
  };
#endif

namespace gantry::rules_detail {

struct Accepted {};

#if defined(__GNUC__) && !defined(__clang__) && !GANTRY_NVCC

// The first reason that refuses, as a template argument: its sentence, which g++ prints as text.
struct Literal {
  char text[Sentence::kCapacity] = {};
};
template <class R>
struct Refusal {
  bool refused = false;
  decltype(R::rule) rule{};
  Literal sentence{};
};

template <class R>
GANTRY_HD constexpr Refusal<R> refusal_of(const R& reason, bool refused) noexcept {
  Refusal<R> out{.refused = refused, .rule = reason.rule};
  if (!refused) return out;
  const Sentence sentence = describe(reason);
  for (int i = 0; i < sentence.size(); ++i) out.sentence.text[i] = sentence[i];
  return out;
}

template <auto refusal>
struct Shown {
  using type = Refused<decltype(refusal.rule), refusal.rule, said::says<refusal.sentence>>;
};

#else

// The first reason that refuses, as a template argument: its values.
template <class Rule, class Operand>
struct Refusal {
  bool refused = false;
  Rule rule{};
  Operand operand{};
  std::int64_t index = -1, actual = 0, wanted = 0, nearest = 0, first = 0, second = 0;
};

template <class R>
GANTRY_HD constexpr auto operand_or_none(const R& reason) noexcept {
  if constexpr (requires { operand_of(reason); }) {
    return operand_of(reason);
  } else {
    return 0;
  }
}

template <class R>
GANTRY_HD constexpr auto refusal_of(const R& reason, bool refused) noexcept {
  Refusal<decltype(R::rule), decltype(operand_or_none(reason))> out;
  out.refused = refused;
  out.rule = reason.rule;
  if (!refused) return out;
  out.operand = operand_or_none(reason);
  if constexpr (requires { reason.index; }) out.index = reason.index;
  if constexpr (requires { reason.actual; }) out.actual = static_cast<std::int64_t>(reason.actual);
  if constexpr (requires { reason.wanted; }) out.wanted = reason.wanted;
  if constexpr (requires { reason.nearest; }) out.nearest = static_cast<std::int64_t>(reason.nearest);
  if constexpr (requires { reason.first; }) out.first = reason.first;
  if constexpr (requires { reason.second; }) out.second = reason.second;
  return out;
}

// Refused<rule, ...> with one value more, where the rule's sentence names it.
template <class Refusal, bool named, class Value>
struct With {
  using type = Refusal;
};
template <class Rule, Rule rule, class... Said, class Value>
struct With<Refused<Rule, rule, Said...>, true, Value> {
  using type = Refused<Rule, rule, Said..., Value>;
};

template <auto refusal>
class Shown {
  GANTRY_HD static constexpr bool named(const char* word) {
    return mentions(entry_of(refusal.rule).asked, word) || mentions(entry_of(refusal.rule).remedy, word);
  }
  using Blank = Refused<decltype(refusal.rule), refusal.rule>;
  using Operand = typename With<Blank, named("operand"), said::operand<refusal.operand>>::type;
  using Field = typename With<Operand, named("field"), said::field<refusal.operand>>::type;
  using Index = typename With<Field, named("field") && (refusal.index >= 0), said::index<refusal.index>>::type;
  using Mode = typename With<Index, named("mode"), said::mode<refusal.operand>>::type;
  using Actual = typename With<Mode, named("actual"), said::actual<refusal.actual>>::type;
  using Wanted = typename With<Actual, named("wanted"), said::wanted<refusal.wanted>>::type;
  using First = typename With<Wanted, named("first"), said::first<refusal.first>>::type;
  using Second = typename With<First, named("second"), said::second<refusal.second>>::type;

 public:
  using type = typename With<Second, named("nearest"), said::nearest<refusal.nearest>>::type;
};

#endif

// The first reason of a list that refuses. (Templates, these: see docs/decisions/004.)
template <class R, int capacity>
GANTRY_HD constexpr auto refusal_of(const Reasons<R, capacity>& reasons) noexcept {
  for (const R& r : reasons) {
    if (refuses(entry_of(r.rule).weight)) return refusal_of(r, true);
  }
  return refusal_of(R{}, false);
}

template <auto refusal, bool refused = refusal.refused>
struct Checked {
  using type = Accepted;
};
template <auto refusal>
struct Checked<refusal, true> : Shown<refusal> {};

}  // namespace gantry::rules_detail

// Stops the build with the first of the reasons that refuses. `reasons` is a constant expression.
#define GANTRY_REASONS_STATIC_CHECK(reasons)                                                                           \
  static_assert(sizeof(typename ::gantry::rules_detail::Checked<::gantry::rules_detail::refusal_of(reasons)>::type) != \
                0)

// The same for one reason, where a condition says whether its rule is broken.
#define GANTRY_RULE_STATIC_CHECK(holds, reason)                                                                       \
  static_assert(                                                                                                      \
      sizeof(typename ::gantry::rules_detail::Checked<::gantry::rules_detail::refusal_of(reason, !(holds))>::type) != \
      0)

// What a broken rule is, and the sentence it gives: the kit that layouts, TMA plans, epilogues and GEMMs share.
//
// A rule is a line of a table. The table is a file of its own, detail/rule_table.hpp in the rule's folder, with lines
// GANTRY_X(id, weight, asked, rule, remedy):
//   asked   what was asked for, with its values: "the tile has {actual} row{s}"
//   rule    what holds always, without any placeholder: "a tile of one warpgroup has 64, 128 or 192". A static
//           assertion prints these words, so there must be nothing in them to fill in; the build checks it
//   remedy  the nearest value that works: "the nearest value that works is {nearest}"
// Sentences read "asked: rule; remedy". An empty column is left out with its mark.
//
// A reason is a plain struct of the layer's own, with the rule, what it is about, and the numbers. Placeholders that
// name a number (actual, wanted, nearest, first, second, s for the plural of actual) are the members of that name. For
// all others the layer has a function bool append_word(Sentence&, Placeholder, const Reason&).
//
// Example at namespace scope:
//     enum class PumpRule : std::uint8_t { speed };
//     GANTRY_HD constexpr gantry::RuleEntry<> entry_of(PumpRule rule) {
//       switch (rule) {
//         GANTRY_RULE_CASE(PumpRule, speed, refused, "the pump makes {actual} turn{s}", "a pump makes 2 to 5",
//                          "the nearest value that works is {nearest}")
//       }
//       return {};
//     }
//     struct PumpReason {
//       PumpRule rule = PumpRule::speed;
//       std::int64_t actual = 0, nearest = 0;
//     };
//     static_assert(gantry::describe(PumpReason{.actual = 1, .nearest = 2}) ==
//                   "the pump makes 1 turn: a pump makes 2 to 5; the nearest value that works is 2");
#pragma once

#include <gantry/rules/text.hpp>

namespace gantry {

// refused: there is no such thing. hopper: it stands by itself, and this machine does not run it. unsupported: it
// stands by itself, and no kernel of the library runs it.
enum class RuleWeight : std::uint8_t { refused, hopper, unsupported };

// Whether what breaks a rule of this weight must not be used. A layer with weights of its own has an overload.
GANTRY_HD constexpr bool refuses(RuleWeight) noexcept { return true; }

template <class Weight = RuleWeight>
struct RuleEntry {
  const char* name = "unknown";
  Weight weight{};
  const char* asked = "";
  const char* rule = "unknown rule";
  const char* remedy = "";
};

// A line of a table in the switch of entry_of().
#define GANTRY_RULE_CASE(Rule, id, weight, asked, rule, remedy) \
  case Rule::id:                                                \
    return {#id, ::gantry::RuleWeight::weight, asked, rule, remedy};

// Long enough for every sentence that quotes another.
using Sentence = Text<640>;

// The name of a placeholder: the text from behind its '{' on.
class Placeholder {
 public:
  GANTRY_HD constexpr explicit Placeholder(const char* text) noexcept : text_(text) {}

  GANTRY_HD constexpr bool operator==(const char* word) const noexcept {
    const char* s = text_;
    while (*word != '\0' && *s == *word) ++s, ++word;
    return *word == '\0' && *s == '}';
  }

 private:
  const char* text_;
};

// Stands for a number that was too large to be carried to where it is read.
inline constexpr std::int64_t kNumberTooLarge = INT64_MIN;

// What describe() takes.
template <class R>
concept Reason = requires(const R& reason) {
  entry_of(reason.rule).asked;
};

namespace rules_detail {

GANTRY_HD constexpr void append_number(Sentence& out, std::int64_t value) {
  if (value == kNumberTooLarge) {
    out.append("a number beyond 2^47");
  } else {
    out.append(value);
  }
}

// The words that every layer has; false for any other.
template <class R>
GANTRY_HD constexpr bool append_common_word(Sentence& out, Placeholder word, const R& reason) {
  if constexpr (requires { reason.actual; }) {
    if (word == "actual") return append_number(out, static_cast<std::int64_t>(reason.actual)), true;
    if (word == "s") return out.append(reason.actual == 1 ? "" : "s"), true;
  }
  if constexpr (requires { reason.wanted; }) {
    if (word == "wanted") return append_number(out, reason.wanted), true;
  }
  if constexpr (requires { reason.nearest; }) {
    if (word == "nearest") return append_number(out, static_cast<std::int64_t>(reason.nearest)), true;
  }
  if constexpr (requires { reason.first; }) {
    if (word == "first") return append_number(out, reason.first), true;
  }
  if constexpr (requires { reason.second; }) {
    if (word == "second") return append_number(out, reason.second), true;
  }
  return false;
}

// A column with its placeholders filled in. One that nobody knows stays as it is, for a test of the table to find.
template <class R>
GANTRY_HD constexpr void append_column(Sentence& out, const char* text, const R& reason) {
  for (const char* s = text; *s != '\0'; ++s) {
    if (*s == '{') {
      const Placeholder word(s + 1);
      bool known = false;
      if constexpr (requires { append_word(out, word, reason); }) known = append_word(out, word, reason);
      if (known || append_common_word(out, word, reason)) {
        while (*s != '}') ++s;
        continue;
      }
    }
    out.append(*s);
  }
}

// Whether a text has nothing to fill in.
GANTRY_HD constexpr bool is_plain(const char* text) noexcept {
  for (; *text != '\0'; ++text) {
    if (*text == '{') return false;
  }
  return true;
}

// Whether a text names a placeholder.
GANTRY_HD constexpr bool mentions(const char* text, const char* word) noexcept {
  for (; *text != '\0'; ++text) {
    if (*text == '{' && Placeholder(text + 1) == word) return true;
  }
  return false;
}

}  // namespace rules_detail

// Parts of a sentence, for those who set them apart: what was asked, and what works.
template <Reason R>
GANTRY_COLD GANTRY_HD constexpr Sentence describe_asked(const R& reason) {
  Sentence out;
  rules_detail::append_column(out, entry_of(reason.rule).asked, reason);
  return out;
}
template <Reason R>
GANTRY_COLD GANTRY_HD constexpr Sentence describe_remedy(const R& reason) {
  Sentence out;
  rules_detail::append_column(out, entry_of(reason.rule).remedy, reason);
  return out;
}

// What was asked, the rule, and what works.
template <Reason R>
GANTRY_COLD GANTRY_HD constexpr Sentence describe(const R& reason) {
  const auto entry = entry_of(reason.rule);
  Sentence out;
  rules_detail::append_column(out, entry.asked, reason);
  if (*entry.asked != '\0') out.append(": ");
  out.append(entry.rule);
  if (*entry.remedy != '\0') out.append("; ");
  rules_detail::append_column(out, entry.remedy, reason);
  return out;
}

}  // namespace gantry

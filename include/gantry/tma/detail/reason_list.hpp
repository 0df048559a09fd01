// The names that epilogue/policy_rules.hpp and gemm/options.hpp have for rules/reasons.hpp: sentences that are filled
// in by a function of the layer's own.
#pragma once

#include <gantry/rules/reasons.hpp>

namespace gantry::detail {

template <class R>
using ReasonList = Reasons<R>;

GANTRY_HD constexpr bool starts_with(const char* text, const char* word) {
  while (*word != '\0' && *text == *word) ++text, ++word;
  return *word == '\0';
}

// A rule's text with its placeholders, in braces, filled in; `append` is given the text from the name on.
template <class Sentence, class Reason>
GANTRY_HD constexpr Sentence fill_in(const char* text, const Reason& reason,
                                     void (*append)(Sentence&, const char*, const Reason&)) {
  Sentence out;
  for (const char* s = text; *s != '\0'; ++s) {
    if (*s != '{') {
      out.append(*s);
      continue;
    }
    append(out, s + 1, reason);
    while (*s != '}') ++s;
  }
  return out;
}

}  // namespace gantry::detail

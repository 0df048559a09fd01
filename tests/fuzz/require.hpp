// What a fuzzer says when it objects.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace gantry::fuzz {

inline void require(bool holds, const char* what, std::string_view input) {
  if (holds) return;
  std::fprintf(stderr, "it does not hold that %s, for the input:\n%.*s\n", what, static_cast<int>(input.size()),
               input.data());
  std::abort();
}

}  // namespace gantry::fuzz

// What the races of fused_race.hpp's contestants are run with: the sizes that were asked for, matrices (matrices.hpp)
// and times (timing.hpp).
//
//   const Matrices matrices(8192, 8192, 64);
//   const double each = seconds(contestant.prepare(matrices.problem(), false), 10);
#pragma once

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "fused_race.hpp"
#include "matrices.hpp"
#include "timing.hpp"

namespace gantry::bench {

// M, N and K of each problem, from the words of a command that are no options.
class Sizes {
 public:
  void add(const char* word) {
    char* end = nullptr;
    const long value = std::strtol(word, &end, 10);
    if (*word == '\0' || *end != '\0' || value < 1 || value > INT_MAX) {
      std::fprintf(stderr, "%s is no option, and no size either: sizes are numbers from 1 on\n", word);
      std::exit(2);
    }
    numbers_.push_back(static_cast<int>(value));
  }
  // M, N, K, M, N, K ...; `usual` where none were asked for.
  std::vector<int> or_else(const std::vector<int>& usual) const {
    if (numbers_.size() % 3 != 0) {
      std::fprintf(stderr, "a problem is M N K, three numbers; %zu were given\n", numbers_.size());
      std::exit(2);
    }
    return numbers_.empty() ? usual : numbers_;
  }

 private:
  std::vector<int> numbers_;
};

}  // namespace gantry::bench

// Results against the intervals of the reference.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "gemm/operands.hpp"

namespace gantry::tool {

// Compares results with what they should be, and remembers the largest error.
class Comparison {
 public:
  Comparison(Verification& out, std::string name) : out_(out), name_(std::move(name)) {}

  void compare(const std::vector<fusion::Range>& expected, const fusion::ReferenceTensor& actual,
               const fusion::ProblemShape& shape, std::int64_t first_row) {
    std::size_t at = 0;
    for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
      for (std::int64_t m = 0; m < shape.m; ++m) {
        for (std::int64_t n = 0; n < shape.n; ++n) {
          const double x = load_as_double(actual.element, actual.data, actual.index(m, n, batch));
          one(expected[at++], x, {first_row + m, n, batch});
        }
      }
    }
  }

 private:
  struct Place {
    std::int64_t m, n, batch;
  };

  void one(const fusion::Range& range, double x, const Place& place) {
    ++out_.elements;
    if (!range.holds(x)) {
      if (out_.wrong++ == 0) {
        out_.first_wrong =
            fmt::format("{} at row {}, column {}{} is {:.9g}, and should be {:.9g}, between {:.9g} and {:.9g}", name_,
                        place.m, place.n, place.batch > 0 ? fmt::format(" of batch {}", place.batch) : "", x,
                        range.value, range.lower, range.upper);
      }
      return;
    }
    const double error = std::fabs(x - range.value);
    if (!(error > out_.largest_error) || range.unbounded()) return;
    out_.largest_error = error;
    out_.its_bound = std::max(range.upper - range.value, range.value - range.lower);
  }

  Verification& out_;
  std::string name_;
};

}  // namespace gantry::tool

// The sizes that a benchmark runs through.
#pragma once

#include <string>
#include <vector>

#include <gantry/runtime/status.hpp>

namespace gantry::tool {

struct Size {
  long long m = 0, n = 0, k = 0;
};

// Large ones, those of language models, small K, few rows.
std::vector<Size> usual_sizes();

struct ReadSizes {
  std::vector<Size> sizes{};
  Status status{};  // of lines that cannot be read
};
// "M N K" a line; what follows a # is a remark.
ReadSizes read_sizes(const std::string& text);

}  // namespace gantry::tool

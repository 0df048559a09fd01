#include "bench/shapes.hpp"

#include <sstream>

#include <fmt/format.h>

namespace gantry::tool {

std::vector<Size> usual_sizes() {
  return {{8192, 8192, 8192},  {4096, 4096, 4096},  {2048, 2048, 2048}, {16384, 4096, 4096},
          {4096, 14336, 4096}, {4096, 4096, 14336}, {8192, 8192, 1024}, {8192, 8192, 512},
          {8192, 8192, 256},   {8192, 8192, 128},   {8192, 8192, 64},   {128, 4096, 4096}};
}

ReadSizes read_sizes(const std::string& text) {
  ReadSizes out;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string content = line.substr(0, line.find('#'));
    if (content.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::istringstream words(content);
    Size size;
    std::string more;
    if (!(words >> size.m >> size.n >> size.k) || words >> more || size.m <= 0 || size.n <= 0 || size.k <= 0) {
      out.problems.push_back(fmt::format("line {}: a size is three positive numbers, M N K, and here is \"{}\"", number,
                                         content.substr(0, 60)));
      continue;
    }
    out.sizes.push_back(size);
  }
  if (out.sizes.empty() && out.problems.empty()) out.problems.emplace_back("there is no size in it");
  return out;
}

}  // namespace gantry::tool

#include "bench/shapes.hpp"

#include <sstream>

#include <fmt/format.h>

#include "gemm/request.hpp"
#include "option_text.hpp"

namespace gantry::tool {

std::vector<Size> usual_sizes() {
  return {{8192, 8192, 8192},  {4096, 4096, 4096},  {2048, 2048, 2048}, {16384, 4096, 4096},
          {4096, 14336, 4096}, {4096, 4096, 14336}, {8192, 8192, 1024}, {8192, 8192, 512},
          {8192, 8192, 256},   {8192, 8192, 128},   {8192, 8192, 64},   {128, 4096, 4096}};
}

ReadSizes read_sizes(const std::string& text) {
  constexpr const char* kOption = "--shapes";
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
    const auto fits = [](long long x) { return x > 0 && x <= kMostExtent; };
    if (!(words >> size.m >> size.n >> size.k) || words >> more || !fits(size.m) || !fits(size.n) || !fits(size.k)) {
      refuse(out.status, OptionRule::line, kOption,
             fmt::format("line {}: a size is three numbers from 1 to {}, M N K, and here is {}", number, kMostExtent,
                         in_quotes(content)));
      continue;
    }
    out.sizes.push_back(size);
  }
  if (out.sizes.empty() && out.status.ok()) refuse(out.status, OptionRule::file, kOption, "there is no size in it");
  return out;
}

}  // namespace gantry::tool

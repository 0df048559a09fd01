#include "bench/products.hpp"

#include <algorithm>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/shapes.hpp"
#include "files.hpp"
#include "gemm/operands.hpp"

namespace gantry::tool {

namespace {

std::vector<Size> sizes_of(const ProductTexts& one, const ProductFiles& files, std::vector<std::string>& problems) {
  if (!one.gemms.empty()) {
    if (!files.shapes.empty()) problems.emplace_back("--problems gives the sizes, so --shapes cannot be given too");
    return {{}};
  }
  if (!one.offsets.empty()) {
    if (one.m <= 0 || one.n <= 0 || one.k <= 0)
      problems.emplace_back("--offsets say where groups of the --m rows begin, beside --m, --n and --k of 1 or more");
    if (!files.shapes.empty()) problems.emplace_back("--shapes gives the sizes, so groups cannot be given too");
    return {{one.m, one.n, one.k}};
  }
  if (!one.groups.empty() || !one.groups_k.empty()) {
    const bool rows = !one.groups.empty();
    if (one.n <= 0 || (rows ? one.k : one.m) <= 0)
      problems.emplace_back(rows ? "--groups are the rows of a GEMM, beside --n and --k of 1 or more"
                                 : "--groups-k are the rows of K, beside --m and --n of 1 or more");
    if (!files.shapes.empty()) problems.emplace_back("--shapes gives the sizes, so groups cannot be given too");
    return {{one.m, one.n, one.k}};
  }
  if (one.m != 0 || one.n != 0 || one.k != 0) {
    if (one.m <= 0 || one.n <= 0 || one.k <= 0)
      problems.emplace_back("--m, --n and --k are one size together, each of them 1 or more");
    if (!files.shapes.empty())
      problems.emplace_back("--shapes gives the sizes, so --m, --n and --k cannot be given too");
    return {{one.m, one.n, one.k}};
  }
  if (files.shapes.empty()) return usual_sizes();
  const std::optional<std::string> text = read_text(files.shapes);
  if (!text) {
    problems.push_back("the shapes could not be read from " + files.shapes);
    return {};
  }
  ReadSizes read = read_sizes(*text);
  for (const std::string& problem : read.problems) problems.push_back(files.shapes + ": " + problem);
  return read.sizes;
}

// The expressions that are measured: one, or a line of a file each.
std::vector<std::string> epilogues_of(const ProductTexts& one, const ProductFiles& files,
                                      std::vector<std::string>& problems) {
  if (files.epilogues.empty()) return {one.epilogue};
  const std::optional<std::string> text = read_text(files.epilogues);
  if (!text) problems.push_back("the epilogues could not be read from " + files.epilogues);
  std::vector<std::string> out;
  std::istringstream lines(text.value_or(""));
  constexpr const char* kBlank = " \t\r";
  for (std::string line; std::getline(lines, line);) {
    line.resize(std::min(line.find('#'), line.size()));
    const std::size_t first = line.find_first_not_of(kBlank);
    if (first != std::string::npos) out.push_back(line.substr(first, line.find_last_not_of(kBlank) - first + 1));
  }
  if (text && out.empty()) problems.push_back("there is no epilogue in " + files.epilogues);
  return out;
}

}  // namespace

Products read_products(const ProductTexts& texts, const ProductFiles& files) {
  Products out;
  const std::vector<Size> sizes = sizes_of(texts, files, out.problems);
  for (const std::string& epilogue : epilogues_of(texts, files, out.problems)) {
    ProductTexts one = texts;
    one.epilogue = epilogue;
    const Product product = read_product(one);
    for (const std::string& problem : product.problems) {
      if (std::find(out.problems.begin(), out.problems.end(), problem) == out.problems.end())
        out.problems.push_back(problem);
    }
    const bool readable = product.ok();
    for (const Size& size : sizes) {
      const bool grouped = product.options.groups != GemmGrouping::none;
      out.all.push_back(!readable || grouped ? product : with_sizes(product, {size.m, size.n, size.k, product.batch}));
      if (!readable) continue;
      const Product& sized = out.all.back();
      const std::vector<std::string> problems = sized.ok() ? Operands::problems_of(sized) : sized.problems;
      for (const std::string& problem : problems) out.problems.push_back(fmt::format("{}: {}", title(sized), problem));
    }
  }
  return out;
}

std::string joined(const std::vector<std::string>& problems) {
  constexpr std::size_t kShown = 8;
  if (problems.size() <= kShown) return fmt::format("{}", fmt::join(problems, "\n"));
  return fmt::format("{}\n... and {} more", fmt::join(problems.begin(), problems.begin() + kShown, "\n"),
                     problems.size() - kShown);
}

}  // namespace gantry::tool

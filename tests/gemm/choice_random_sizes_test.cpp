// The choice held to GEMM sizes drawn at random that no constant of the cost model was fitted to
// (tests/data/gemm_random_sizes.txt).
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/candidates.hpp>

namespace gantry {
namespace {

struct Size {
  std::int64_t m = 0, n = 0, k = 0;
  std::string epilogue;
  std::map<std::string, double> times;  // of a configuration, in bursts
};

std::string trimmed(const std::string& text) {
  const std::size_t from = text.find_first_not_of(' '), to = text.find_last_not_of(' ');
  return from == std::string::npos ? "" : text.substr(from, to - from + 1);
}

std::vector<Size> read_sizes() {
  std::ifstream file(std::string(GANTRY_SOURCE_DIR) + "/tests/data/gemm_random_sizes.txt");
  std::vector<Size> out;
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream parts(line);
    std::string key, name, burst;
    std::getline(parts, key, '|');
    std::getline(parts, name, '|');
    std::getline(parts, burst, '|');
    if (key != last) {
      Size size;
      std::istringstream(key) >> size.m >> size.n >> size.k >> size.epilogue;
      out.push_back(size);
      last = key;
    }
    out.back().times[trimmed(name)] = std::stod(burst);
  }
  return out;
}

std::string name_of(const GemmDesign& d) {
  std::string out = to_text(d.options).c_str();
  out += " s" + std::to_string(d.options.stages) + " ";
  if (d.store == GemmStore::overlapped) return out + "overlapped";
  return out + std::to_string(d.part.epi_tile.m) + "x" + std::to_string(d.part.epi_tile.n) + " D" +
         std::to_string(d.options.epilogue.stages_d);
}

TEST(ChoiceAtRandomSizes, ComesCloseToTheFastestThatWasMeasured) {
  const std::vector<Size> sizes = read_sizes();
  ASSERT_EQ(sizes.size(), 142U);
  double longer = 0, ahead = 0;
  int close = 0;
  for (const Size& size : sizes) {
    const fusion::Graph graph =
        fusion::graph(size.epilogue == "gelu" ? "d = gelu_tanh(acc + row(bias:bf16))" : "d = acc");
    GemmWorkload w;
    w.m = size.m;
    w.n = size.n;
    w.k = size.k;
    double best = 1e30, chosen = 0, least = 1e30;
    for (const GemmDesign& design : gemm_candidates(w, graph)) {
      const auto time = size.times.find(name_of(design));
      if (time == size.times.end()) {
        EXPECT_TRUE(design.options.swapped) << name_of(design) << " was not measured at " << size.m << " x " << size.n;
        continue;
      }
      best = std::min(best, time->second);
      const double expected = estimate(w, design, epilogue_cost(graph, ElementType::void_), kH200).cycles;
      if (expected < least) {
        least = expected;
        chosen = time->second;
      }
    }
    longer += std::log(chosen / best);
    ahead += std::log(size.times.at("cuBLASLt") / chosen);
    close += chosen < 1.04 * best ? 1 : 0;
  }
  const auto count = static_cast<double>(sizes.size());
  RecordProperty("mean", std::to_string(std::exp(longer / count)));
  EXPECT_LT(std::exp(longer / count), 1.033);
  EXPECT_GT(close / count, 0.77);
  EXPECT_GT(std::exp(ahead / count), 1.25);  // of cuBLASLt's time; the fastest of these sizes reach 1.297
}

}  // namespace
}  // namespace gantry

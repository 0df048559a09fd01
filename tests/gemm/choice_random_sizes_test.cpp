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

std::vector<Size> read_sizes(const std::string& file_name) {
  std::ifstream file(GANTRY_SOURCE_DIR "/tests/data/" + file_name);
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

// Logarithms, summed over sizes.
struct Tally {
  double longer = 0, ahead = 0, close = 0, count = 0;

  double longer_than_fastest() const { return std::exp(longer / count); }
  double ahead_of_cublaslt() const { return std::exp(ahead / count); }
};

// Adds the time of the configuration that the model chooses among those that were measured.
void add_choice(const Size& size, Tally& tally) {
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
  tally.longer += std::log(chosen / best);
  tally.ahead += std::log(size.times.at("cuBLASLt") / chosen);
  tally.close += chosen < 1.04 * best ? 1 : 0;
  ++tally.count;
}

TEST(ChoiceAtRandomSizes, ComesCloseToTheFastestThatWasMeasured) {
  const std::vector<Size> sizes = read_sizes("gemm_random_sizes.txt");
  constexpr std::size_t kFirst = 104;  // of 2026-11-16; the others are of 2026-11-19
  ASSERT_EQ(sizes.size(), kFirst + 38);
  Tally first, later;
  for (const Size& size : sizes) add_choice(size, first.count < kFirst ? first : later);
  EXPECT_LT(first.longer_than_fastest(), 1.035);
  EXPECT_GT(first.close / first.count, 0.75);
  EXPECT_GT(first.ahead_of_cublaslt(), 1.27);
  EXPECT_LT(later.longer_than_fastest(), 1.02);
  EXPECT_GT(later.close / later.count, 0.8);
  EXPECT_GT(later.ahead_of_cublaslt(), 1.21);  // the fastest reach 1.238
}

// Sizes at which tiles of the list cut rows or columns badly, or K begins inside lines of L2.
TEST(ChoiceAtSlowSizes, TakesTheTilesThatWerePickedForThem) {
  const std::vector<Size> sizes = read_sizes("gemm_slow_sizes.txt");
  ASSERT_EQ(sizes.size(), 35);
  Tally tally;
  for (const Size& size : sizes) add_choice(size, tally);
  EXPECT_LT(tally.longer_than_fastest(), 1.035);
  EXPECT_GT(tally.ahead_of_cublaslt(), 0.915);  // the fastest reach 0.951; 0.899 without those tiles
}

}  // namespace
}  // namespace gantry

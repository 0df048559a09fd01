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
#include <gantry/gemm/configurations.hpp>

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

GemmWorkload workload_of(const Size& size) {
  GemmWorkload out;
  out.m = size.m;
  out.n = size.n;
  out.k = size.k;
  return out;
}

fusion::Graph graph_of(const Size& size) {
  return fusion::graph(size.epilogue == "gelu" ? "d = gelu_tanh(acc + row(bias:bf16))" : "d = acc");
}

// The time that was measured of what the model chooses among these designs; 0 where none of them was measured.
double chosen_time(const Size& size, const std::vector<GemmDesign>& designs, const fusion::Graph& graph) {
  const GemmWorkload w = workload_of(size);
  double chosen = 0, least = 1e30;
  for (const GemmDesign& design : designs) {
    const auto time = size.times.find(name_of(design));
    const double expected = estimate(w, design, epilogue_cost(graph, ElementType::void_), kH200).cycles;
    if (time == size.times.end() || expected >= least) continue;
    least = expected;
    chosen = time->second;
  }
  return chosen;
}

// Adds the time of the configuration that the model chooses among those that were measured.
void add_choice(const Size& size, Tally& tally) {
  const fusion::Graph graph = graph_of(size);
  const std::vector<GemmDesign> designs = gemm_candidates(workload_of(size), graph);
  double best = 1e30;
  for (const GemmDesign& design : designs) {
    const auto time = size.times.find(name_of(design));
    if (time != size.times.end()) {
      best = std::min(best, time->second);
    } else {
      EXPECT_TRUE(design.options.swapped) << name_of(design) << " was not measured at " << size.m << " x " << size.n;
    }
  }
  const double chosen = chosen_time(size, designs, graph);
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

// Gemm<Spec> compiles ten of the tiles where none is given.
TEST(ChoiceAtRandomSizes, OfThePickedTilesLosesLittleAgainstAll) {
  std::vector<Size> sizes = read_sizes("gemm_random_sizes.txt");
  sizes.erase(sizes.begin(), sizes.begin() + 104);  // of kernels without boxes of the last rows
  for (const Size& size : read_sizes("gemm_slow_sizes.txt")) sizes.push_back(size);
  double longer = 0;
  for (const Size& size : sizes) {
    const fusion::Graph graph = graph_of(size);
    const GemmWorkload w = workload_of(size);
    std::vector<GemmDesign> picked;
    for (int i = 0; i < detail::kConfigurations; ++i) {
      const GemmDesign design = make_gemm_design(staged_for(detail::configured({}, i), graph, w), graph);
      if (design.ok()) picked.push_back(design);
    }
    const double chosen = chosen_time(size, picked, graph);
    ASSERT_GT(chosen, 0) << size.m << " x " << size.n << " x " << size.k;
    longer += std::log(chosen / chosen_time(size, gemm_candidates(w, graph), graph));
  }
  EXPECT_LT(std::exp(longer / static_cast<double>(sizes.size())), 1.03);  // 1.0375 with the ten of before
}

}  // namespace
}  // namespace gantry

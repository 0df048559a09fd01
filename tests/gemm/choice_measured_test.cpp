// The cost model and the choice against 1,065 times that were measured on an H200 (tests/data/gemm_times.txt): GEMMs
// of 29 sizes with up to four epilogues, each in the configurations that come into question.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/candidates.hpp>
#include <gantry/gemm/choice_text.hpp>

namespace gantry {
namespace {

const std::map<std::string, const char*> kExpressions{
    {"plain", "d = acc"},
    {"c", "d = acc + c"},
    {"gelu", "d = gelu_tanh(acc + row(bias:bf16))"},
    {"gelu_aux", "aux:bf16 = acc + row(bias:bf16); d = gelu_tanh(aux)"},
};

struct Time {
  std::string configuration{};  // as text_of has it
  GemmOptions options{};
  double microseconds = 0;
};

// One GEMM with one epilogue.
struct Product {
  std::string name{};
  GemmWorkload workload{};
  fusion::Graph graph{};
  GemmEpilogueCost epilogue{};
  std::vector<Time> times{};

  double fastest() const {
    double least = times.front().microseconds;
    for (const Time& time : times) least = std::min(least, time.microseconds);
    return least;
  }
  const Time* find(const std::string& configuration) const {
    for (const Time& time : times) {
      if (time.configuration == configuration) return &time;
    }
    return nullptr;
  }
  // Many waves with a long K: compute-bound.
  bool is_large() const {
    return workload.k >= 1024 && double(workload.m) * double(workload.n) * double(workload.k) > 2e10;
  }
  // Those whose times the file has: none has swapped operands.
  static bool is_newer(const GemmOptions& o) {
    const bool alternates = o.schedule == GemmSchedule::pingpong;
    const bool wide = o.tile.m == 128 && (o.tile.n == 96 || o.tile.n == 144 || o.tile.n == 160);
    return wide || (o.tile.n == 192 && !alternates) || (o.tile.m == 64 && alternates) ||
           (o.tile.m == 128 && o.tile.n == 128 && o.cluster.n == 2);
  }
  std::vector<GemmDesign> candidates() const {
    std::vector<GemmDesign> out = gemm_candidates(workload, graph);
    // Tiles that were measured at other sizes alone: choice_random_sizes_test.cpp, docs/measurements/few-rows.md.
    std::erase_if(out, [](const GemmDesign& design) { return design.options.swapped || is_newer(design.options); });
    return out;
  }
};

// "128x192x64 pingpong 2x1 bf16 s5 E32 D2"
std::string text_of(const GemmOptions& o) { return std::string(to_text(o).c_str()) + " " + staging_text(o).c_str(); }

GemmOptions read_options(std::istringstream& line) {
  GemmOptions o;
  std::string schedule, subtile, reuse;
  char x = 0, s = 0, c = 0, d = 0;
  line >> o.tile.m >> x >> o.tile.n >> o.cluster.m >> x >> o.cluster.n >> schedule >> s >> o.stages >> subtile >> c >>
      o.epilogue.stages_c >> d >> o.epilogue.stages_d >> reuse;
  o.tile.k = 64;
  o.schedule = schedule == "cooperative" ? GemmSchedule::cooperative : GemmSchedule::pingpong;
  o.warpgroups = schedule == "pingpong3" ? 3 : o.schedule == GemmSchedule::cooperative && o.tile.m == 64 ? 1 : 2;
  o.epilogue.reuse = reuse == "reuse" ? Choice::yes : Choice::no;
  std::istringstream(subtile) >> o.epilogue.epi_m >> x >> o.epilogue.epi_n;
  if (subtile == "behind") o.epilogue = {};
  return o;
}

std::vector<Product> read_products() {
  std::vector<Product> out;
  std::ifstream file(GANTRY_SOURCE_DIR "/tests/data/gemm_times.txt");
  for (std::string text; std::getline(file, text);) {
    if (text[0] == '#') continue;
    std::istringstream line(text);
    GemmWorkload w;
    std::string epilogue, launched;
    line >> w.m >> w.n >> w.k >> epilogue;
    Time time{.options = read_options(line)};
    line >> launched >> time.microseconds;
    if (epilogue == "c") w.c = time.options.c = ElementType::bf16;
    time.configuration = text_of(time.options);
    const std::string name = std::string(detail::sizes_of(w).c_str()) + ", " + epilogue;
    if (out.empty() || out.back().name != name) {
      const fusion::Graph graph = fusion::parse_graph(kExpressions.at(epilogue)).graph;
      out.push_back({.name = name, .workload = w, .graph = graph, .epilogue = epilogue_cost(graph, w.c)});
    }
    out.back().times.push_back(time);
  }
  return out;
}

class Measured : public testing::Test {
 protected:
  const std::vector<Product> products_ = read_products();
};

TEST_F(Measured, AreAllOfThem) {
  std::size_t times = 0;
  for (const Product& product : products_) times += product.times.size();
  EXPECT_EQ(products_.size(), 106U);
  EXPECT_EQ(times, 1065U);
}

// How much longer than the fastest that was measured the chosen one takes.
TEST_F(Measured, ChoiceIsTheFastestOrComesClose) {
  std::vector<double> longer;
  for (const Product& product : products_) {
    GemmQuestion q;
    q.workload = product.workload;
    q.epilogue = product.epilogue;
    const std::vector<GemmDesign> candidates = product.candidates();
    const GemmChoice choice = choose(q, candidates);
    ASSERT_TRUE(choice.ok()) << product.name;
    const std::string chosen = text_of(candidates[static_cast<std::size_t>(choice.index)].options);
    const Time* time = product.find(chosen);
    ASSERT_NE(time, nullptr) << product.name << ": " << chosen << " was not measured";
    longer.push_back(time->microseconds / product.fastest() - 1);
    const bool many_tiles = product.workload.m == 8192 && product.workload.n == 8192;  // of any K
    EXPECT_LT(longer.back(), product.is_large() ? 0.025 : many_tiles ? 0.03 : 0.12) << product.name << ": " << chosen;
  }
  EXPECT_LT(std::accumulate(longer.begin(), longer.end(), 0.0) / static_cast<double>(longer.size()), 0.007);
}

TEST_F(Measured, OperandsAreSwappedForFewRowsAlone) {
  for (const Product& product : products_) {
    GemmQuestion q;
    q.workload = product.workload;
    q.epilogue = product.epilogue;
    const std::vector<GemmDesign> all = gemm_candidates(product.workload, product.graph);
    const GemmOptions& chosen = all[static_cast<std::size_t>(choose(q, all).index)].options;
    EXPECT_FALSE(chosen.swapped && product.workload.m > 64) << product.name << ": " << text_of(chosen);
  }
}

// Of the candidates, as they are staged for the GEMM, those that may be taken for the fastest.
TEST_F(Measured, TimesAreWhatTheModelExpects) {
  std::vector<double> errors;
  for (const Product& product : products_) {
    for (const GemmDesign& candidate : product.candidates()) {
      const Time* time = product.find(text_of(candidate.options));
      if (time == nullptr || time->microseconds > (product.is_large() ? 1.2 : 1.33) * product.fastest()) continue;
      const double expected = estimate(product.workload, candidate, product.epilogue, {}).milliseconds * 1e3;
      errors.push_back(std::fabs(expected / time->microseconds - 1));
      const GemmWorkload& w = product.workload;
      const bool regular = w.m >= 2048 && w.n >= 2048 && w.n % 64 == 0 && w.k % 64 == 0;
      EXPECT_LT(errors.back(), product.is_large() ? 0.07
                               : regular          ? 0.2
                                                  : 0.3)
          << product.name << ": " << time->configuration << " takes " << time->microseconds << " us";
    }
  }
  ASSERT_GT(errors.size(), 300U);
  std::sort(errors.begin(), errors.end());
  EXPECT_LT(errors[errors.size() / 2], 0.03);
  EXPECT_LT(errors[errors.size() * 9 / 10], 0.11);
}

// Of the two tiles for long K and large epilogues, in GEMMs of every kind.
TEST_F(Measured, TimesOfTheLargestTilesAreClose) {
  struct Case {
    const char *product, *configuration;
  };
  constexpr const char *kPair = "128x256x64 cooperative", *kInTurn = "128x192x64 pingpong 2x1";
  const Case cases[] = {{"8192 x 8192 x 8192, plain", kPair},      {"4096 x 4096 x 4096, plain", kPair},
                        {"16384 x 4096 x 4096, plain", kPair},     {"4096 x 14336 x 4096, plain", kPair},
                        {"4096 x 4096 x 14336, plain", kPair},     {"2048 x 2048 x 2048, plain", kPair},
                        {"128 x 4096 x 4096, plain", kPair},       {"8192 x 8192 x 8192, gelu", kInTurn},
                        {"8192 x 8192 x 8192, gelu_aux", kInTurn}, {"8192 x 8192 x 1024, gelu", kInTurn},
                        {"8192 x 8192 x 512, c", kInTurn},         {"8192 x 8192 x 256, gelu", kInTurn},
                        {"8192 x 8192 x 64, plain", kInTurn},      {"8192 x 8192 x 64, gelu_aux", kInTurn},
                        {"4096 x 4096 x 4096, c", kInTurn},        {"8192 x 8192 x 1024, gelu", kPair},
                        {"8192 x 8192 x 256, c", kPair},           {"4096 x 4096 x 4096, gelu", kPair},
                        {"4096 x 4096 x 14336, gelu_aux", kPair}};
  for (const Case& x : cases) {
    const auto product =
        std::find_if(products_.begin(), products_.end(), [&](const Product& p) { return p.name == x.product; });
    ASSERT_NE(product, products_.end()) << x.product;
    bool found = false;
    for (const GemmDesign& candidate : product->candidates()) {
      const std::string name = text_of(candidate.options);
      const Time* time = product->find(name);
      if (!name.starts_with(x.configuration) || time == nullptr) continue;
      found = true;
      const double expected = estimate(product->workload, candidate, product->epilogue, {}).milliseconds * 1e3;
      EXPECT_NEAR(expected / time->microseconds, 1.0, 0.12) << x.product << ": " << name;
    }
    EXPECT_TRUE(found) << x.product << ": " << x.configuration << " was not measured";
  }
}

// Of what the model cannot tell apart the first of the list is taken: epilogues that are hidden in both.
TEST(Choice, SaysWhatIsAsGood) {
  GemmQuestion q;
  q.workload.m = q.workload.n = q.workload.k = 8192;
  const auto staged = [](int columns) {
    return make_gemm_design({.tile = {128, 192},
                             .stages = 4,
                             .schedule = GemmSchedule::pingpong,
                             .epilogue = {.epi_n = columns, .stages_c = 2, .stages_d = 1}},
                            fusion::graph("d = acc"));
  };
  const std::vector<GemmDesign> candidates{staged(64), staged(96)};
  const GemmChoice choice = choose(q, candidates);
  EXPECT_EQ(choice.index, 0);
  EXPECT_THAT(sentences(q, candidates, choice).back(),
              testing::MatchesRegex("Equally good is 128x192x64 pingpong 2x1 bf16: .* 0.0 % less\\."));
}

}  // namespace
}  // namespace gantry

// The choice against what was measured: for each product the configurations that came within 1 % of the fastest on an
// H200 (docs/performance.md), the fastest first. Short products were launched as dependent ones, as the benchmark does.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/choice.hpp>

namespace gantry {
namespace {

constexpr const char* kPlain = "d = acc";
constexpr const char* kWithC = "d = acc + c";
constexpr const char* kGelu = "d = gelu_tanh(acc + row(bias:bf16))";
constexpr const char* kGeluAux = "aux:bf16 = acc + row(bias:bf16); d = gelu_tanh(aux)";

struct Measured {
  int m, n, k;
  const char* epilogue;
  std::vector<std::string> best;
};

const std::vector<Measured> kMeasured{
    {8192, 8192, 64, kPlain, {"128x192 pingpong 2x1 E192 D1", "128x192 pingpong 2x1 E32 D2"}},
    {8192, 8192, 64, kWithC, {"128x256 cooperative 2x1 E64 C2 D2", "128x192 pingpong 2x1 E64 C2 D2"}},
    {8192, 8192, 64, kGelu, {"128x128 pingpong3 2x1 E128x128 D1"}},
    {8192,
     8192,
     64,
     kGeluAux,
     {"128x128 pingpong 1x1 E128 D1", "128x256 cooperative 2x1 E64 D2", "128x128 pingpong 2x1 E128 D1"}},
    {8192, 8192, 128, kPlain, {"128x256 cooperative 2x1 E256 D1"}},
    {8192, 8192, 128, kWithC, {"128x128 pingpong 2x1 E128 C2 D2"}},
    {8192, 8192, 128, kGelu, {"128x192 pingpong 2x1 E128x192 D1", "128x128 pingpong3 2x1 E128x128 D1"}},
    {8192, 8192, 128, kGeluAux, {"128x128 pingpong 2x1 E128 D1"}},
    {8192, 8192, 256, kPlain, {"128x192 pingpong 2x1 E192 D1"}},
    {8192, 8192, 256, kWithC, {"128x128 pingpong3 2x1 E64 C2 D1 reuse"}},
    {8192, 8192, 256, kGelu, {"128x128 pingpong3 2x1 E128 D1", "128x192 pingpong 2x1 E192 D1"}},
    {8192, 8192, 256, kGeluAux, {"128x128 pingpong 2x1 E128 D1"}},
    {8192, 8192, 512, kPlain, {"128x192 pingpong 2x1 E32 D2"}},
    {8192, 8192, 512, kWithC, {"128x192 pingpong 2x1 E64 C2 D2"}},
    {8192, 8192, 512, kGelu, {"128x192 pingpong 2x1 E192 D1", "128x192 pingpong 1x1 E192 D1"}},
    {8192, 8192, 512, kGeluAux, {"128x192 pingpong 2x1 E64 D1", "128x192 pingpong 1x1 E64 D1"}},
    {8192, 8192, 1024, kPlain, {"128x192 pingpong 2x1 E32 D2", "128x192 pingpong 2x1 E64 D2"}},
    {8192, 8192, 1024, kWithC, {"128x192 pingpong 2x1 E64 C2 D2"}},
    {8192,
     8192,
     1024,
     kGelu,
     {"128x192 pingpong 2x1 E32 D2", "128x192 pingpong 2x1 E64 D2", "192x128 pingpong 1x2 E128 D1"}},
    {8192, 8192, 1024, kGeluAux, {"128x192 pingpong 2x1 E64 D1", "128x192 pingpong 1x1 E64 D1"}},
    {2048, 2048, 2048, kPlain, {"128x256 cooperative 2x1 E64 D2", "128x256 cooperative 2x1 E128 D1"}},
    {2048, 2048, 2048, kWithC, {"128x256 cooperative 2x1 E128 C2 D2 reuse", "128x256 cooperative 2x1 E64 C2 D2"}},
    {2048, 2048, 2048, kGelu, {"128x256 cooperative 2x1 E128 D1", "128x256 cooperative 2x1 E64 D2"}},
    {2048,
     2048,
     2048,
     kGeluAux,
     {"128x128 pingpong 1x1 E128 D1", "128x256 cooperative 2x1 E64 D2", "128x256 cooperative 2x1 E32 D2"}},
    {4096,
     4096,
     4096,
     kPlain,
     {"128x256 cooperative 2x1 E128 D1", "128x256 cooperative 2x1 E64 D2", "128x256 cooperative 2x1 behind"}},
    {4096, 4096, 4096, kWithC, {"128x256 cooperative 2x1 E128 C2 D2 reuse", "128x256 cooperative 2x1 E64 C2 D2"}},
    {4096, 4096, 4096, kGelu, {"128x256 cooperative 2x1 E64 D2", "128x256 cooperative 2x1 E128 D1"}},
    {4096, 4096, 4096, kGeluAux, {"128x256 cooperative 2x1 E64 D2"}},
    {8192,
     8192,
     8192,
     kPlain,
     {"128x256 cooperative 2x1 E128 D1", "128x256 cooperative 2x1 behind", "128x256 cooperative 2x1 E64 D2"}},
    {8192, 8192, 8192, kWithC, {"128x192 pingpong 2x1 E64 C2 D2"}},
    {8192,
     8192,
     8192,
     kGelu,
     {"128x192 pingpong 2x1 E32 D2", "128x192 pingpong 2x1 E192 D1", "128x192 pingpong 2x1 E64 D2"}},
    {8192, 8192, 8192, kGeluAux, {"128x192 pingpong 2x1 E64 D1"}},
    {16384,
     4096,
     4096,
     kPlain,
     {"192x128 pingpong 1x2 E32 D2", "128x256 cooperative 2x1 behind", "128x256 cooperative 2x1 E32 D2"}},
    {16384, 4096, 4096, kWithC, {"192x128 pingpong 1x2 E64 C2 D2"}},
    {16384, 4096, 4096, kGelu, {"192x128 pingpong 1x2 E128 D1"}},
    {16384, 4096, 4096, kGeluAux, {"192x128 pingpong 1x2 E64 D1"}},
    {4096, 14336, 4096, kPlain, {"128x256 cooperative 2x1 behind"}},
    {4096,
     14336,
     4096,
     kWithC,
     {"128x192 pingpong 2x1 E64 C2 D2", "128x256 cooperative 2x1 E64 C2 D2",
      "128x256 cooperative 2x1 E128 C2 D2 reuse"}},
    {4096,
     14336,
     4096,
     kGelu,
     {"128x192 pingpong 2x1 E32 D2", "128x192 pingpong 2x1 E64 D2", "128x192 pingpong 2x1 E192 D1",
      "128x256 cooperative 2x1 E128 D1"}},
    {4096, 14336, 4096, kGeluAux, {"128x192 pingpong 2x1 E64 D1"}},
    {4096,
     4096,
     14336,
     kPlain,
     {"128x256 cooperative 2x1 behind", "128x256 cooperative 2x1 E128 D1", "128x256 cooperative 2x1 E64 D2",
      "128x256 cooperative 2x1 E32 D2"}},
    {4096, 4096, 14336, kWithC, {"128x256 cooperative 2x1 E64 C2 D2", "128x256 cooperative 2x1 E128 C2 D2 reuse"}},
    {4096,
     4096,
     14336,
     kGelu,
     {"128x256 cooperative 2x1 E128 D1", "128x256 cooperative 2x1 E64 D2", "128x256 cooperative 2x1 E32 D2"}},
    {4096, 4096, 14336, kGeluAux, {"128x256 cooperative 2x1 E64 D2", "128x256 cooperative 2x1 E32 D2"}},
    {128, 4096, 4096, kPlain, {"64x64 cooperative 2x1 E64 D2"}},
    {64, 4096, 4096, kPlain, {"64x32 cooperative 1x1 E32 D2"}},
    {128, 8192, 8192, kPlain, {"64x128 cooperative 2x1 E64 D2"}},
    {256, 256, 16384, kPlain, {"64x64 cooperative 1x2 E64 D2", "64x64 cooperative 2x1 E64 D2"}},
};

// Rows and columns of the tile, schedule, cluster, and the stages of the epilogue: "behind" where D is stored behind
// the next tile.
std::string text_of(const GemmOptions& o) {
  const auto number = [](int x) { return std::to_string(x); };
  const std::string turns = o.warpgroups == 3 ? "3 " : " ";
  const std::string name = number(o.tile.m) + "x" + number(o.tile.n) + " " + to_text(o.schedule) + turns +
                           number(o.cluster.m) + "x" + number(o.cluster.n) + " ";
  const std::string staged = staging_text(o).c_str();
  const std::size_t space = staged.find(' ');
  return name + (space == std::string::npos ? "behind" : staged.substr(space + 1));
}

struct Answer {
  GemmOptions options{};
  GemmChoice choice{};
};

Answer answer(const Measured& measured) {
  const fusion::Graph graph = fusion::parse_graph(measured.epilogue).graph;
  GemmQuestion q;
  q.workload.m = measured.m;
  q.workload.n = measured.n;
  q.workload.k = measured.k;
  if (graph.uses_source()) q.workload.c = ElementType::bf16;
  q.epilogue = epilogue_cost(graph, q.workload.c);
  std::vector<GemmOptions> candidates = gemm_candidates(q.workload);
  for (GemmOptions& candidate : candidates) candidate = staged_for(candidate, graph, measured.k);
  const GemmChoice choice = choose(q, candidates);
  if (!choice.ok()) return {{}, choice};
  return {candidates[static_cast<std::size_t>(choice.index)], choice};
}

TEST(Choice, TakesWhatWasMeasuredAsTheFastestOrComesWithinAPercent) {
  for (const Measured& measured : kMeasured) {
    const auto [options, choice] = answer(measured);
    EXPECT_THAT(measured.best, testing::Contains(text_of(options))) << measured.epilogue << "\n"
                                                                    << choice.explanation();
  }
}

// Of what the model cannot tell apart the first of the list is taken.
TEST(Choice, SaysWhatIsAsGood) {
  const Answer taken = answer({8192, 8192, 8192, kGelu, {}});
  EXPECT_EQ(text_of(taken.options), "128x192 pingpong 2x1 E32 D2");
  EXPECT_THAT(taken.choice.why.back(),
              testing::MatchesRegex("As good is 192x128x64 pingpong 1x2 bf16: .* 0.0 % less\\."));
}

}  // namespace
}  // namespace gantry

// Malformed graphs are refused, each for its reason and in its words.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/check.hpp>
#include <gantry/epilogue/fusion/functions.hpp>

namespace {

using namespace gantry;
using namespace gantry::fusion;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> reasons(const Graph& graph, int user_functions = 0) {
  std::vector<std::string> out;
  for (const GraphProblem& problem : check(graph, user_functions)) out.emplace_back(describe(graph, problem).c_str());
  return out;
}

Node loads(NodeKind kind, int argument) { return {.kind = kind, .argument = static_cast<std::int8_t>(argument)}; }
Node writes(NodeKind kind, int input, int argument) {
  Node node = loads(kind, argument);
  node.inputs[0] = static_cast<std::int8_t>(input);
  return node;
}

// d = acc + row(bias)
Graph sound() {
  Graph g;
  const int bias = g.add_argument({.name = "bias", .kind = ArgumentKind::row});
  const int acc = g.add({.kind = NodeKind::accumulator});
  g.d = g.compute(Function::add, acc, g.add(loads(NodeKind::row, bias)));
  return g;
}

TEST(FusionCheck, AcceptsASoundGraph) { EXPECT_THAT(reasons(sound()), IsEmpty()); }

TEST(FusionCheck, RefusesAGraphThatStoresNothing) {
  Graph g = sound();
  g.d = -1;
  EXPECT_THAT(reasons(g), Contains("the graph has no D, no auxiliary output and no reduction"));
}

TEST(FusionCheck, RefusesADThatIsNoNode) {
  Graph g = sound();
  g.d = 17;
  EXPECT_THAT(reasons(g), ElementsAre("the graph gives node 17 as the value of D, and there is none"));
}

TEST(FusionCheck, RefusesMoreNodesThanFit) {
  Graph g = sound();
  for (int i = 0; i < kMaxNodes; ++i) g.d = g.compute(Function::relu, g.d);
  EXPECT_THAT(reasons(g), Contains("the graph holds at most 48 nodes and 20 arguments, and more were added"));
}

TEST(FusionCheck, RefusesMissingAndUnwantedInputs) {
  Graph g = sound();
  g.d = g.compute(Function::select, g.d, 0);
  EXPECT_THAT(reasons(g), ElementsAre("node 3 (select) has 2 of the 3 inputs that it takes"));
  g = sound();
  g.nodes[0].inputs[0] = 0;
  EXPECT_THAT(reasons(g), ElementsAre("node 0 (acc) has an input 0 that its kind does not read"));
  g = sound();
  g.d = g.compute(Function::relu, g.d, 0);
  EXPECT_THAT(reasons(g), ElementsAre("node 3 (relu) has an input 0 that its kind does not read"));
}

TEST(FusionCheck, RefusesInputsThatComeLater) {
  Graph g = sound();
  g.nodes[2].inputs[1] = 2;
  EXPECT_THAT(reasons(g), ElementsAre("node 2 (add) reads node 2; a node reads nodes before it"));
}

TEST(FusionCheck, RefusesUserFunctionsThatDoNotComeWithTheGraph) {
  Graph g = sound();
  Node node{.kind = NodeKind::compute, .function = Function::user, .user = 1};
  node.inputs[0] = 2;
  g.d = g.add(node);
  EXPECT_THAT(reasons(g, 1), ElementsAre("node 3 (user) calls user function 1, and the functions that come with the "
                                         "graph have none there"));
  EXPECT_THAT(reasons(g, 2), IsEmpty());
}

struct Sum {
  static constexpr const char* name = "sum";
  static float call(float a, float b) { return a + b; }
};

TEST(FusionCheck, RefusesUserFunctionsThatAreGivenOtherThanTheyTake) {
  Graph g = sound();
  Node node{.kind = NodeKind::compute, .function = Function::user, .user = 0};
  node.inputs[0] = 2;
  g.d = g.add(node);
  const GraphProblems problems = check(g, UserFunctions<Sum>{});
  ASSERT_EQ(problems.count(), 1);
  EXPECT_STREQ(describe(g, problems[0]).c_str(),
               "node 3 (user) has other than the 2 inputs that its user function takes");
  g.nodes[3].inputs[1] = 0;
  EXPECT_TRUE(check(g, UserFunctions<Sum>{}).ok());
  EXPECT_STREQ(UserFunctions<Sum>::name(0), Sum::name);
}

TEST(FusionCheck, RefusesRoundingToNothingAndConstantsThatAreNoNumbers) {
  Graph g = sound();
  g.d = g.compute(Function::round, g.d);
  g.nodes[g.d].element = ElementType::void_;
  EXPECT_THAT(reasons(g), ElementsAre("node 3 (round) rounds to void; round needs an element type"));
  g = sound();
  g.d = g.compute(Function::add, g.d, g.add({.kind = NodeKind::constant, .constant = __builtin_nanf("")}));
  EXPECT_THAT(reasons(g), ElementsAre("node 3 (constant) is not a number: a constant that is NaN equals nothing, not "
                                      "even itself"));
}

TEST(FusionCheck, RefusesASecondAccumulatorAndASecondSource) {
  Graph g = sound();
  g.d = g.compute(Function::add, g.d, g.add({.kind = NodeKind::accumulator}));
  EXPECT_THAT(reasons(g), ElementsAre("node 3 (acc) is there twice: node 0 is it already"));
}

TEST(FusionCheck, RefusesWhatNoOutputNeeds) {
  Graph g = sound();
  g.compute(Function::relu, g.d);
  EXPECT_THAT(reasons(g), ElementsAre("node 3 (relu) is computed, and no output needs it"));
}

TEST(FusionCheck, RefusesArgumentsThatAreMissingOrOfAnotherKind) {
  Graph g = sound();
  g.nodes[1].argument = 4;
  EXPECT_THAT(reasons(g), Contains("node 1 (row) names argument 4, and there is none"));
  g = sound();
  g.nodes[1].kind = NodeKind::column;
  EXPECT_THAT(reasons(g), ElementsAre("node 1 (col) names argument 0, which is of another kind"));
}

TEST(FusionCheck, RefusesTwoStoresToOneTensor) {
  Graph g = sound();
  const int aux = g.add_argument({.name = "aux", .kind = ArgumentKind::aux_out});
  g.add(writes(NodeKind::aux_store, 0, aux));
  g.add(writes(NodeKind::aux_store, 2, aux));
  EXPECT_THAT(reasons(g), ElementsAre("node 4 (store) writes what node 3 writes already"));
}

TEST(FusionCheck, RefusesNamesThatCannotBeNames) {
  const auto named = [](const char* name) {
    Graph g = sound();
    g.arguments[0].name = name;
    return reasons(g);
  };
  EXPECT_THAT(named(""), ElementsAre("argument 0 ('') has no name"));
  EXPECT_THAT(named("a_name_of_24_characters_"),
              ElementsAre("argument 0 ('a_name_of_24_characters') has a name longer than 23 characters"));
  EXPECT_THAT(named("a_name_of_23_characters"), IsEmpty());
  EXPECT_THAT(named("2nd"), ElementsAre("argument 0 ('2nd') has a name that is not a word of letters, digits and '_'"));
}

TEST(FusionCheck, RefusesNamesThatAreTakenAndArgumentsThatNobodyUses) {
  Graph g = sound();
  g.add_argument({.name = "bias", .kind = ArgumentKind::column});
  EXPECT_THAT(reasons(g),
              ElementsAre("argument 1 ('bias') has the name of argument 0", "argument 1 ('bias') is used by no node"));
  g = sound();
  const int d = g.add_argument({.name = "d", .kind = ArgumentKind::aux_out});
  g.add(writes(NodeKind::aux_store, 0, d));
  EXPECT_THAT(reasons(g), ElementsAre("argument 1 ('d') is an output whose name has a meaning: acc, c, d, alpha, beta, "
                                      "inf, let"));
}

TEST(FusionCheck, RefusesArgumentsWithoutAnElementType) {
  Graph g = sound();
  g.arguments[0].element = ElementType::void_;
  EXPECT_THAT(reasons(g), ElementsAre("argument 0 ('bias') has no element type"));
}

TEST(FusionCheck, GivesEveryReasonAtOnce) {
  Graph g = sound();
  g.arguments[0].name = "";
  g.nodes[2].inputs[1] = -1;
  g.d = 9;
  EXPECT_EQ(reasons(g).size(), 3u);
}

TEST(FusionCanonical, LeavesOutWhatNobodyNeedsAndKeepsZerosOfBothSigns) {
  Graph g = sound();
  const int relu = g.compute(Function::relu, g.d);
  g.compute(Function::tanh, relu);
  const int zero = g.add({.kind = NodeKind::constant, .constant = 0.0f});
  const int minus_zero = g.add({.kind = NodeKind::constant, .constant = -0.0f});
  g.d = g.compute(Function::select, relu, zero, minus_zero);
  const Graph c = canonical(g);
  EXPECT_EQ(c.node_count, 7);
  EXPECT_EQ(c.d, 6);
  EXPECT_TRUE(check(c).ok());
}

TEST(FusionCanonical, ReadsAnOutputAsTheValueThatItWasGiven) {
  Graph g;
  const int aux = g.add_argument({.name = "aux", .kind = ArgumentKind::aux_out});
  const int kept = g.add(writes(NodeKind::aux_store, g.add({.kind = NodeKind::accumulator}), aux));
  g.d = g.compute(Function::relu, kept);
  const Graph c = canonical(g);
  EXPECT_EQ(c.nodes[c.d].inputs[0], 0);
  EXPECT_EQ(c.nodes[2].kind, NodeKind::aux_store);
}

}  // namespace

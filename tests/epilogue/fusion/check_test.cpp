// Malformed graphs are refused, each for its reason.
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/check.hpp>
#include <gantry/epilogue/fusion/functions.hpp>

namespace {

using namespace gantry;
using namespace gantry::fusion;

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

// d = add(acc, bias), and a node of the user's behind it.
Graph with_user(int user, int second_input = -1) {
  Graph g = sound();
  Node node{.kind = NodeKind::compute, .function = Function::user, .user = static_cast<std::int8_t>(user)};
  node.inputs[0] = 2;
  node.inputs[1] = static_cast<std::int8_t>(second_input);
  g.d = g.add(node);
  return g;
}

struct Sum {
  static constexpr const char* name = "sum";
  static float call(float a, float b) { return a + b; }
};

// What is done to a graph that is sound, and what its reason says then.
struct Case {
  GraphRule rule;
  Graph broken, kept;
  int subject = -1;
  std::int64_t actual = 0, wanted = 0;
};

template <class Change>
Graph changed(const Change& change) {
  Graph g = sound();
  change(g);
  return g;
}

Graph named(const char* name) {
  return changed([&](Graph& g) { g.arguments[0].name = name; });
}

Graph deep(int functions) {
  return changed([&](Graph& g) {
    for (int i = 0; i < functions; ++i) g.d = g.compute(Function::relu, g.d);
  });
}

// An auxiliary output of this name.
Graph with_output(const char* name, bool twice = false) {
  return changed([&](Graph& g) {
    const int aux = g.add_argument({.name = name, .kind = ArgumentKind::aux_out});
    g.add(writes(NodeKind::aux_store, 0, aux));
    if (twice) g.add(writes(NodeKind::aux_store, 2, aux));
  });
}

Graph rotated(int head) {
  return changed([&](Graph& g) {
    g.d = g.compute(Function::rotate, g.d);
    g.nodes[g.d].head = static_cast<std::int16_t>(head);
  });
}

Graph combined(Function f, int columns, int most) {
  return changed([&](Graph& g) {
    g.d = g.compute(f, g.d);
    g.nodes[g.d].head = static_cast<std::int16_t>(columns);
    g.nodes[g.d].most = static_cast<std::int8_t>(most);
  });
}
// The largest of 16 columns, stored for `block` of them.
Graph stored_by_block(int block, ElementType element) {
  return changed([&](Graph& g) {
    const int top = g.compute(Function::across_max, g.d);
    g.nodes[top].head = 16;
    const int argument = g.add_argument({.name = "tops", .kind = ArgumentKind::aux_out, .element = element});
    g.arguments[argument].block = static_cast<std::int16_t>(block);
    g.add(writes(NodeKind::aux_store, top, argument));
  });
}

// A reduction of the value, with one result for `block` rows, or one number of all.
Graph reduced_by(Reduction op, int block, const Argument& named) {
  return changed([&](Graph& g) {
    Argument argument = named;
    argument.kind = ArgumentKind::reduction;
    argument.block = static_cast<std::int16_t>(block);
    Node node = writes(NodeKind::reduce, g.d, g.add_argument(argument));
    node.reduction = op;
    g.add(node);
  });
}

// The value times a mask of dropout, whose seed has a default.
Graph with_keep(float share, ElementType seed, float value) {
  return changed([&](Graph& g) {
    const int argument = g.add_argument({.name = "seed", .element = seed, .has_default = true, .value = value});
    Node node = writes(NodeKind::keep, -1, argument);
    node.constant = share;
    g.d = g.compute(Function::multiply, g.d, g.add(node));
  });
}

std::vector<Case> cases() {
  return {
      {GraphRule::too_large, deep(kMaxNodes), deep(kMaxNodes - 3)},
      {GraphRule::stores_nothing, Graph(), sound()},
      {GraphRule::d_out_of_range, changed([](Graph& g) { g.d = 17; }), sound(), -1, 17},
      {GraphRule::input_missing, changed([](Graph& g) { g.d = g.compute(Function::select, g.d, 0); }),
       changed([](Graph& g) { g.d = g.compute(Function::select, g.d, 0, 0); }), 3, 2, 3},
      {GraphRule::input_unwanted, changed([](Graph& g) { g.nodes[0].inputs[0] = 0; }), sound(), 0, 0, 0},
      {GraphRule::input_unwanted, changed([](Graph& g) { g.d = g.compute(Function::relu, g.d, 1); }),
       changed([](Graph& g) { g.d = g.compute(Function::relu, g.d); }), 3, 1, 1},
      {GraphRule::input_not_before, changed([](Graph& g) { g.nodes[2].inputs[1] = 2; }), sound(), 2, 2, 2},
      {GraphRule::no_such_element, changed([](Graph& g) {
         g.d = g.compute(Function::round, g.d);
         g.nodes[g.d].element = ElementType::void_;
       }),
       changed([](Graph& g) {
         g.d = g.compute(Function::round, g.d);
         g.nodes[g.d].element = ElementType::bf16;
       }),
       3},
      {GraphRule::constant_is_nan, changed([](Graph& g) {
         g.d = g.compute(Function::add, g.d, g.add({.kind = NodeKind::constant, .constant = __builtin_nanf("")}));
       }),
       changed([](Graph& g) {
         g.d = g.compute(Function::add, g.d, g.add({.kind = NodeKind::constant, .constant = __builtin_inff()}));
       }),
       3},
      {GraphRule::rotated_head, rotated(8), rotated(16), 3, 8},
      {GraphRule::rotated_head, rotated(272), rotated(256), 3, 272},
      {GraphRule::across_columns, combined(Function::across_add, 12, 0), combined(Function::across_add, 24, 0), 3, 12},
      {GraphRule::across_columns, combined(Function::top_k, 16, 2), combined(Function::top_k, kWholeRow, 2), 3, 16},
      {GraphRule::top_count, combined(Function::top_k, kWholeRow, 0), combined(Function::top_k, kWholeRow, 1), 3, 0},
      {GraphRule::top_count, combined(Function::top_k, kWholeRow, 9), combined(Function::top_k, kWholeRow, 8), 3, 9},
      {GraphRule::block_differs, stored_by_block(0, ElementType::f32), stored_by_block(16, ElementType::f32), 4, 0},
      {GraphRule::block_of_bits, stored_by_block(16, ElementType::u1), stored_by_block(16, ElementType::bf16), 4},
      {GraphRule::reduced_block, reduced_by(Reduction::add, 12, {.name = "s", .extent = Extent::row}),
       reduced_by(Reduction::add, 16, {.name = "s", .extent = Extent::row}), 1, 12},
      {GraphRule::reduced_block, reduced_by(Reduction::add, 264, {.name = "s", .extent = Extent::column}),
       reduced_by(Reduction::add, 256, {.name = "s", .extent = Extent::column}), 1, 264},
      {GraphRule::block_of_one_number, reduced_by(Reduction::add, 16, {.name = "s"}),
       reduced_by(Reduction::add, 0, {.name = "s"}), 1, 16},
      {GraphRule::exponentials_in_order, reduced_by(Reduction::sumexp, 0, {.name = "s"}),
       reduced_by(Reduction::sumexp, 0, {.name = "s", .deterministic = true}), 1},
      {GraphRule::compute_type, changed([](Graph& g) { g.compute_element = ElementType::e4m3; }),
       changed([](Graph& g) { g.compute_element = ElementType::f16; }), -1},
      {GraphRule::dropped_share, with_keep(1, ElementType::u32, 0), with_keep(0.9375f, ElementType::u32, 0), 3},
      {GraphRule::seed_element, with_keep(0.5f, ElementType::s16, 0), with_keep(0.5f, ElementType::s32, 0), 1},
      {GraphRule::seed_default, with_keep(0.5f, ElementType::u32, 0.5f), with_keep(0.5f, ElementType::u32, 7), 1},
      {GraphRule::second_of_its_kind,
       changed([](Graph& g) { g.d = g.compute(Function::add, g.d, g.add({.kind = NodeKind::accumulator})); }),
       changed([](Graph& g) { g.d = g.compute(Function::add, g.d, g.add({.kind = NodeKind::source})); }), 3, 0},
      {GraphRule::accumulator_beside_gate,
       changed([](Graph& g) { g.d = g.compute(Function::multiply, g.d, g.add({.kind = NodeKind::gate})); }),
       changed([](Graph& g) {
         g.nodes[0].kind = NodeKind::up;
         g.d = g.compute(Function::multiply, g.d, g.add({.kind = NodeKind::gate}));
       }),
       0},
      {GraphRule::used_by_nothing, changed([](Graph& g) { g.compute(Function::relu, g.d); }), sound(), 3},
      {GraphRule::argument_kind_differs, changed([](Graph& g) { g.nodes[1].kind = NodeKind::column; }), sound(), 1, 0},
      {GraphRule::stored_twice, with_output("aux", true), with_output("aux"), 4, 3},
      {GraphRule::name_is_empty, named(""), named("b"), 0},
      {GraphRule::name_too_long, named("a_name_of_24_characters_"), named("a_name_of_23_characters"), 0},
      {GraphRule::name_is_no_word, named("2nd"), named("_2nd"), 0},
      {GraphRule::name_is_reserved, with_output("d"), with_output("dd"), 1},
      {GraphRule::element_is_void, changed([](Graph& g) { g.arguments[0].element = ElementType::void_; }), sound(), 0},
      {GraphRule::argument_unused,
       changed([](Graph& g) { g.add_argument({.name = "more", .kind = ArgumentKind::column}); }), sound(), 1},
  };
}

TEST(EachRuleOfGraphs, IsBrokenByOneGraphAndKeptByItsNeighbour) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(entry_of(c.rule).name);
    const GraphReasons reasons = check(c.broken);
    ASSERT_EQ(reasons.size(), 1) << describe(reasons[1]).c_str();
    EXPECT_EQ(reasons[0].rule, c.rule) << describe(reasons[0]).c_str();
    EXPECT_EQ(reasons[0].subject, c.subject);
    EXPECT_EQ(reasons[0].actual, c.actual);
    EXPECT_EQ(reasons[0].wanted, c.wanted);
    EXPECT_TRUE(check(c.kept).ok()) << describe(check(c.kept)[0]).c_str();
  }
}

// Two rules that a graph cannot break alone.
TEST(EachRuleOfGraphs, AboutArgumentsThatAreMissingOrTakenIsFound) {
  const Graph missing = changed([](Graph& g) { g.nodes[1].argument = 4; });
  EXPECT_TRUE(check(missing).has(GraphRule::argument_missing));
  EXPECT_TRUE(check(missing).has(GraphRule::argument_unused));
  const Graph taken = changed([](Graph& g) { g.add_argument({.name = "bias", .kind = ArgumentKind::column}); });
  EXPECT_TRUE(check(taken).has(GraphRule::name_is_taken));
  EXPECT_TRUE(check(taken).has(GraphRule::argument_unused));
}

TEST(EachRuleOfGraphs, AboutUserFunctionsDependsOnThoseThatComeWithTheGraph) {
  EXPECT_TRUE(check(with_user(1), 1).has(GraphRule::no_such_function));
  EXPECT_TRUE(check(with_user(1), 2).ok());
  const GraphReasons one_input = check(with_user(0), UserFunctions<Sum>{});
  ASSERT_EQ(one_input.size(), 1);
  EXPECT_EQ(one_input[0].rule, GraphRule::user_inputs_differ);
  EXPECT_EQ(one_input[0].actual, 1);
  EXPECT_EQ(one_input[0].wanted, 2);
  EXPECT_TRUE(check(with_user(0, 1), UserFunctions<Sum>{}).ok());
  EXPECT_STREQ(UserFunctions<Sum>::name(0), Sum::name);
}

TEST(EachRuleOfGraphs, AboutElementsDependsOnTheValuesOfTheEpilogue) {
  const auto only = [](const Graph& g, Values values, GraphRule rule, ElementType nearest) {
    const GraphReasons reasons = check_elements(g, values);
    ASSERT_EQ(reasons.size(), 1) << entry_of(rule).name;
    EXPECT_EQ(reasons[0].rule, rule);
    EXPECT_TRUE(reasons[0].nearest_element == nearest) << to_text(reasons[0].nearest_element);
  };
  const auto output_of = [](ElementType element) {
    Graph g = with_output("aux");
    g.arguments[1].element = element;
    return g;
  };
  const auto reduction_of = [](ElementType element) {
    return changed([&](Graph& g) {
      const int total = g.add_argument({.name = "total", .kind = ArgumentKind::reduction, .element = element});
      g.add(writes(NodeKind::reduce, 0, total));
    });
  };
  const Graph complex = changed([](Graph& g) { g.arguments[0].element = ElementType::cf32; });
  only(complex, Values::real, GraphRule::element_is_complex, ElementType::f32);
  EXPECT_TRUE(check_elements(complex, Values::complex).ok());
  only(output_of(ElementType::f32), Values::complex, GraphRule::element_is_real, ElementType::cf32);
  EXPECT_TRUE(check_elements(output_of(ElementType::f32), Values::real).ok());
  only(output_of(ElementType::s4), Values::real, GraphRule::element_not_staged, ElementType::s8);
  EXPECT_TRUE(check_elements(output_of(ElementType::u1), Values::real).ok());
  only(reduction_of(ElementType::e4m3), Values::real, GraphRule::reduction_element, ElementType::f16);
  for (const ElementType e : {ElementType::f32, ElementType::bf16, ElementType::f16, ElementType::s32})
    EXPECT_TRUE(check_elements(reduction_of(e), Values::real).ok());
  EXPECT_EQ(check_elements(reduction_of(ElementType::f32), Values::complex)[0].rule, GraphRule::reduction_of_complex);
}

// Every rule of the table is in one of the tests above.
TEST(EachRuleOfGraphs, HasSuchAGraph) {
  std::set<GraphRule> broken = {
      GraphRule::argument_missing,   GraphRule::name_is_taken,      GraphRule::no_such_function,
      GraphRule::user_inputs_differ, GraphRule::element_is_complex, GraphRule::element_is_real,
      GraphRule::element_not_staged, GraphRule::reduction_element,  GraphRule::reduction_of_complex};
  for (const Case& c : cases()) broken.insert(c.rule);
#define GANTRY_X(id, ...) EXPECT_EQ(broken.count(GraphRule::id), 1u) << #id;
#include <gantry/epilogue/fusion/detail/rule_table.hpp>
}

TEST(FusionCheck, GivesEveryReasonAtOnce) {
  Graph g = sound();
  g.arguments[0].name = "";
  g.nodes[2].inputs[1] = -1;
  g.d = 9;
  EXPECT_EQ(check(g).size(), 3);
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

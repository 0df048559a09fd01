// Every element type in every place of a fusion that comes at run time.
#include <algorithm>

#include <gmock/gmock.h>

#include <gantry/epilogue/fusion/loop_callbacks.hpp>
#include <gantry/epilogue/fusion/print.hpp>

#include "elements_sweep.hpp"

namespace gantry::test {
namespace {

struct AnyGraph : fusion::GraphAtRunTime<false, true> {
  static constexpr EpiloguePolicy policy = sweep_policy();
};

struct Place {
  const char* name;
  const char* text;  // T stands for the element type
};
constexpr Place kPlaces[] = {{"scalar", "d = scalar(s:T) * acc"},
                             {"row", "d = acc + row(v:T)"},
                             {"column", "d = acc + col(v:T)"},
                             {"input", "d = acc + load(x:T)"},
                             {"column-major input", "d = acc + load(x:T col)"},
                             {"output", "d = acc; x:T = 2 * acc"},
                             {"column-major output", "d = acc; x:T col = 2 * acc"},
                             {"number", "d = acc; x:T = reduce_max(acc)"},
                             {"row of sums", "d = acc; x:T = reduce_row_add(acc)"},
                             {"column of sums", "d = acc; x:T deterministic = reduce_col_add(acc)"}};

fusion::Graph graph_of(const Place& place, const ElementInfo& e) {
  std::string text = place.text;
  text.replace(text.find(":T") + 1, 1, e.name);
  const fusion::ParsedGraph parsed = fusion::parse_graph(text);
  EXPECT_TRUE(parsed.ok()) << text << ": " << parsed.problem.c_str();
  return parsed.graph;
}

// The rule that refuses a graph, or nothing. Beyond what no epilogue can do, the loop has code for some tensors only.
std::string refusal_of(const fusion::Graph& graph) {
  const fusion::GraphReasons reasons = fusion::check_elements(graph);
  if (!reasons.ok()) return entry_of(reasons[0].rule).name;
  for (int i = 0; i < graph.argument_count; ++i) {
    const fusion::Argument& a = graph.arguments[i];
    const bool known = (fusion::kLoopElements & fusion::element_set(a.element)) != 0 || a.element == ElementType::u1;
    if (fusion::is_tensor(a.kind) && !known) return "loop_element";
  }
  return {};
}

std::string rule_of(const ArgumentReason& reason) {
  return reason.rule == ArgumentRule::graph ? entry_of(reason.graph.rule).name : entry_of(reason.rule).name;
}

TEST(FusionElements, AreRightInEveryPlaceOfAGraphAtRunTimeOrAreRefusedByARule) {
  int right = 0, refused = 0;
  for (const ElementInfo& e : kElementTypes) {
    if (e.kind == ElementKind::none) continue;
    for (const Place& place : kPlaces) {
      SCOPED_TRACE(std::string(place.name) + " of " + e.name);
      const fusion::Graph graph = graph_of(place, e);
      Problem problem(graph, options_for<AnyGraph>(sweep_options(static_cast<std::uint64_t>(right))));
      const std::string refusal = refusal_of(graph);
      if (refusal.empty()) {
        expect_right<AnyGraph>(problem, static_cast<std::uint64_t>(right));
        ++right;
      } else {
        KernelRun<AnyGraph> run(problem, 3);
        const ArgumentReasons reasons = run.reasons();
        ASSERT_EQ(reasons.size(), 1);
        EXPECT_EQ(rule_of(reasons[0]), refusal);
        ++refused;
      }
      if (HasFatalFailure()) return;
    }
  }
  // Real types as scalars and vectors; of tensors, six and masks, in either major and direction; four in
  // reductions.
  const auto real = std::count_if(std::begin(kElementTypes), std::end(kElementTypes),
                                  [](const ElementInfo& e) { return is_real(e.type); });
  EXPECT_EQ(right, real * 3 + 7 * 4 + 4 * 3);
  EXPECT_EQ(refused, static_cast<int>(std::size(kPlaces)) * (real + 2) - right);
}

TEST(FusionElements, ThatAreRefusedComeWithTheNearestThatWorks) {
  const auto expect = [](const char* text, fusion::GraphRule rule, ElementType nearest) {
    const fusion::GraphReasons reasons = fusion::check_elements(fusion::graph(text));
    ASSERT_EQ(reasons.size(), 1) << text;
    EXPECT_EQ(reasons[0].rule, rule) << text;
    EXPECT_EQ(reasons[0].nearest_element, nearest) << text;
  };
  using fusion::GraphRule;
  expect("d = acc + row(v:cf32)", GraphRule::element_is_complex, ElementType::f32);
  expect("d = acc + col(v:cf64)", GraphRule::element_is_complex, ElementType::f64);
  expect("d = acc + load(x:s4)", GraphRule::element_not_staged, ElementType::s8);
  expect("d = acc; x:u2 = acc", GraphRule::element_not_staged, ElementType::u8);
  expect("d = acc; x:e2m1 = acc", GraphRule::element_not_staged, ElementType::e4m3);
  expect("s:e4m3 = reduce_col_add(acc)", GraphRule::reduction_element, ElementType::f16);
  expect("s:s8 = reduce_col_add(acc)", GraphRule::reduction_element, ElementType::s32);
  EXPECT_TRUE(fusion::check_elements(fusion::graph("d = acc + load(x:s16)")).ok());
  const fusion::Graph complex = fusion::graph("x:f32 = acc; y:cf32 = acc; z:cf64 = acc; s:cf32 = reduce_add(acc)");
  const fusion::GraphReasons reasons = fusion::check_elements(complex, fusion::Values::complex);
  ASSERT_EQ(reasons.size(), 3);
  EXPECT_EQ(reasons[0].rule, GraphRule::element_is_real);
  EXPECT_EQ(reasons[0].nearest_element, ElementType::cf32);
  EXPECT_EQ(reasons[1].rule, GraphRule::element_not_staged);
  EXPECT_EQ(reasons[2].rule, GraphRule::reduction_of_complex);
}

}  // namespace
}  // namespace gantry::test

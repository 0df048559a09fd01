// Graphs whose accumulators are scaled by a further argument, against the same written by hand.
#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/canonical.hpp>
#include <gantry/epilogue/fusion/check.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/fusion/print.hpp>
#include <gantry/epilogue/fusion/scaled.hpp>

namespace gantry::fusion {
namespace {

struct Case {
  const char *graph, *by_column, *by_scalar;
};

constexpr Case kCases[] = {
    {"d = acc", "d = col(x) * acc", "d = scalar(x) * acc"},
    {"d = alpha * acc + beta * c", "d = alpha * (col(x) * acc) + beta * c", "d = alpha * (scalar(x) * acc) + beta * c"},
    {"d = silu(gate(acc)) * up(acc)", "d = silu(col(x) * gate(acc)) * (col(x) * up(acc))",
     "d = silu(scalar(x) * gate(acc)) * (scalar(x) * up(acc))"},
    {"y:f16 = acc; d = gelu(y + row(bias)); s = reduce_row_add(acc)",
     "y:f16 = col(x) * acc; d = gelu(y + row(bias)); s = reduce_row_add(col(x) * acc)",
     "y:f16 = scalar(x) * acc; d = gelu(y + row(bias)); s = reduce_row_add(scalar(x) * acc)"},
    {"d = c", "d = c", "d = c"},
    {"d = acc * col(x)", "d = (col(x) * acc) * col(x)", nullptr},
};

TEST(ScaledAccumulators, AreWhatTheProductByHandIs) {
  for (const Case& one : kCases) {
    const Graph plain = graph(one.graph);
    EXPECT_EQ(canonical(with_scaled_accumulators(plain, ArgumentKind::column, "x")), canonical(graph(one.by_column)))
        << print(with_scaled_accumulators(plain, ArgumentKind::column, "x")).c_str();
    if (one.by_scalar == nullptr) continue;
    EXPECT_EQ(canonical(with_scaled_accumulators(plain, ArgumentKind::scalar, "x")), canonical(graph(one.by_scalar)))
        << one.graph;
  }
}

TEST(ScaledAccumulators, AreRefusedWhereTheNameIsAnotherKindsAndWhereThereIsNoRoom) {
  const Graph taken = with_scaled_accumulators(graph("d = acc + row(x)"), ArgumentKind::column, "x");
  EXPECT_TRUE(check(taken).has(GraphRule::name_is_taken));
  Graph full;
  const int acc = full.add({.kind = NodeKind::accumulator});
  full.d = acc;
  while (full.node_count < kMaxNodes) full.d = full.compute(Function::relu, full.d);
  EXPECT_TRUE(check(full).ok());
  EXPECT_TRUE(check(with_scaled_accumulators(full, ArgumentKind::scalar, "x")).has(GraphRule::too_large));
}

}  // namespace
}  // namespace gantry::fusion

// Properties of thousands of random graphs: their text reads back, and what the float walk gives lies where the
// reference says.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/evaluate.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/fusion/print.hpp>

#include "random_graph.hpp"

namespace {

using namespace gantry;
using namespace gantry::fusion;
using namespace gantry::fusion::testing;

struct Softsign {
  static constexpr const char* name = "softsign";
  static constexpr ErrorBound kError{.relative = 0x1p-23};
  static float call(float x) { return x / (1.0f + std::fabs(x)); }
  static double define(double x) { return x / (1 + std::fabs(x)); }
};
struct Halved {
  static constexpr const char* name = "halved";
  static constexpr double kLipschitz = 0.5;
  static float call(float x) { return 0.5f * x; }
};
using Users = UserFunctions<Softsign, Halved>;

TEST(RandomGraphs, AreAcceptedByTheCheckAndAreTheirOwnCanonicalForm) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Graph g = random_graph(seed, {.user_functions = 2});
    const GraphReasons reasons = check(g, 2);
    ASSERT_TRUE(reasons.ok()) << "seed " << seed << ": " << describe(reasons[0]).c_str();
    ASSERT_TRUE(canonical(g) == g) << "seed " << seed;
  }
}

TEST(RandomGraphs, ReadBackFromTheirTextAsTheSameGraph) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Graph g = random_graph(seed, {.user_functions = 2});
    const GraphText text = print(g, Users{});
    const ParsedGraph back = parse_graph(text.c_str(), Users{});
    ASSERT_TRUE(back.ok()) << "seed " << seed << "\n" << explain(text.c_str(), back).c_str();
    ASSERT_TRUE(back.graph == g) << "seed " << seed << "\n"
                                 << text.c_str() << "\n"
                                 << print(back.graph, Users{}).c_str();
  }
}

// What a kernel would hold in memory after it wrote the float.
double written(ElementType element, float x) {
  if (element == ElementType::u1) return x != 0 ? 1 : 0;
  std::uint8_t bytes[16] = {};
  store_from_double(element, bytes, 0, static_cast<double>(x));
  return load_as_double(element, bytes, 0);
}

float in_memory(const RandomProblem& p, int i, std::int64_t m, std::int64_t n, std::int64_t batch) {
  const Argument& argument = p.graph.arguments[i];
  const ArgumentValue value = p.arguments->resolved(p.problem.shape).values[i];
  if (value.pointer == nullptr) return value.value;
  std::int64_t at = batch * value.batch_stride;
  if (argument.kind == ArgumentKind::row) at += n;
  if (argument.kind == ArgumentKind::column) at += m;
  if (argument.kind == ArgumentKind::aux_in) at += argument.row_major ? m * value.stride + n : n * value.stride + m;
  return static_cast<float>(load_as_double(argument.element, value.pointer, at));
}

float start_of(Reduction reduction) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (reduction == Reduction::max || reduction == Reduction::lse) return -kInfinity;
  return reduction == Reduction::min ? kInfinity : reduction == Reduction::mul ? 1.0f : 0.0f;
}

float reduced(Reduction reduction, float so_far, float x) {
  switch (reduction) {
    case Reduction::add:
      return so_far + x;
    case Reduction::max:
      return std::fmax(so_far, x);
    case Reduction::amax:
      return std::fmax(so_far, std::fabs(x));
    case Reduction::min:
      return std::fmin(so_far, x);
    case Reduction::mul:
      return so_far * x;
    case Reduction::lse: {
      const float larger = std::fmax(so_far, x), smaller = std::fmin(so_far, x);
      return std::isinf(larger) ? larger : larger + std::log1p(std::exp(smaller - larger));
    }
    case Reduction::sumexp:  // which is not drawn
      break;
  }
  return so_far;
}

struct Walked {
  std::vector<float> sums[kMaxArguments];
  std::size_t compared = 0;
  std::size_t bounded = 0;
};

void walk_element(const RandomProblem& p, const ReferenceResult& expected, std::int64_t m, std::int64_t n,
                  std::int64_t batch, Walked& walked) {
  ElementInputs<float> in;
  const auto& acc = p.problem.accumulators;
  const auto& c = p.problem.source;
  in.accumulator = static_cast<float>(load_as_double(acc.element, acc.data, acc.index(m, n, batch)));
  in.source = static_cast<float>(load_as_double(c.element, c.data, c.index(m, n, batch)));
  for (int i = 0; i < p.graph.argument_count; ++i) {
    if (!is_output(p.graph.arguments[i].kind)) in.arguments[i] = in_memory(p, i, m, n, batch);
  }
  float values[kMaxNodes];
  evaluate<Users>(p.graph, in, values);
  const auto compare = [&](const Range& range, ElementType element, float x, const char* name) {
    ++walked.compared;
    walked.bounded += range.unbounded() ? 0 : 1;
    ASSERT_TRUE(range.holds(written(element, x)))
        << name << " at (" << m << ", " << n << ", " << batch << ") is " << written(element, x) << " (" << x
        << "), not " << range.value << " in [" << range.lower << ", " << range.upper << "]\n"
        << print(p.graph, Users{}).c_str();
  };
  if (p.graph.d >= 0) compare(expected.d[expected.index(m, n, batch)], p.problem.d_element, values[p.graph.d], "d");
  for (int i = 0; i < p.graph.node_count; ++i) {
    const Node& node = p.graph.nodes[i];
    if (!is_sink(node.kind)) continue;
    const Argument& argument = p.graph.arguments[node.argument];
    if (node.kind == NodeKind::aux_store) {
      compare(expected.outputs[node.argument][expected.index(m, n, batch)], argument.element, values[i],
              argument.name.text);
      continue;
    }
    const std::int64_t extent = argument.extent == Extent::row      ? p.problem.shape.n
                                : argument.extent == Extent::column ? p.problem.shape.m
                                                                    : 1;
    const std::int64_t at = argument.extent == Extent::row ? n : argument.extent == Extent::column ? m : 0;
    const bool by_batch = p.arguments->resolved(p.problem.shape).values[node.argument].batch_stride != 0;
    auto& sums = walked.sums[node.argument];
    if (sums.empty()) sums.resize(expected.outputs[node.argument].size(), start_of(node.reduction));
    float& sum = sums[static_cast<std::size_t>((by_batch ? batch * extent : 0) + at)];
    sum = reduced(node.reduction, sum, values[i]);
  }
}

TEST(RandomGraphs, GiveInFloatWhatTheReferenceAllows) {
  const ProblemShape shape{.m = 3, .n = 4, .batch = 2};
  std::size_t compared = 0, bounded = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const RandomProblem p = random_problem(seed + 77, random_graph(seed, {.user_functions = 2}), shape);
    ASSERT_TRUE(p.arguments->problems(shape).ok()) << "seed " << seed;
    const ReferenceResult expected = reference<Users>(p.graph, p.problem, *p.arguments);
    Walked walked;
    for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
      for (std::int64_t m = 0; m < shape.m; ++m) {
        for (std::int64_t n = 0; n < shape.n; ++n) {
          walk_element(p, expected, m, n, batch, walked);
          ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
        }
      }
    }
    for (int i = 0; i < p.graph.argument_count; ++i) {
      for (std::size_t k = 0; k < walked.sums[i].size(); ++k) {
        const Range& range = expected.outputs[i][k];
        ASSERT_TRUE(range.holds(written(p.graph.arguments[i].element, walked.sums[i][k])))
            << "seed " << seed << ": " << p.graph.arguments[i].name.text << "[" << k << "] is " << walked.sums[i][k]
            << ", not in [" << range.lower << ", " << range.upper << "]\n"
            << print(p.graph, Users{}).c_str();
      }
    }
    compared += walked.compared;
    bounded += walked.bounded;
  }
  // Bounds that hold everything would prove nothing.
  EXPECT_GT(bounded, compared * 9 / 10) << bounded << " of " << compared;
}

}  // namespace

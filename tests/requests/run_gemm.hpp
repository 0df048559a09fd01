// A GEMM of a specification on the simulated SM, with operands as the command line makes them, against the reference.
#pragma once

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/gemm.hpp>

#include "gemm/operands.hpp"

namespace gantry::test {

// Two tiles and a bit along M, two K tiles and a bit; whole lines of 16 bytes whatever the element.
template <class Spec>
tool::Product product_for(const char* expression, std::uint64_t seed) {
  const GemmOptions& o = detail::HostDesign<Spec>::value.options;
  tool::Product out;
  out.m = o.tile.m + 16 * static_cast<std::int64_t>(1 + seed % 5);
  out.n = o.tile.n + 16 * static_cast<std::int64_t>(seed % 3);
  out.n += (16 - out.n % 16) % 16;
  out.k = o.tile.k + 16 * static_cast<std::int64_t>(1 + seed % 7);
  out.batch = seed % 4 == 0 ? 2 : 1;
  out.options = o;
  out.expression = expression;
  out.graph = GemmDesignOf<Spec>::graph;
  for (int i = 0; i < out.graph.argument_count; ++i) {
    const fusion::Argument& a = out.graph.arguments[i];
    if (a.kind == fusion::ArgumentKind::scalar) out.scalars.push_back({a.name.text, 0.5f});
  }
  return out;
}

template <class Spec>
GemmArguments<Spec> arguments_for(const tool::Product& product, tool::Operands& operands) {
  const std::vector<void*> addresses = operands.host_addresses();
  GemmArguments<Spec> args({product.m, product.n, product.k, product.batch});
  tool::hand_over(operands, addresses, args);
  return args;
}

// The design is the one that the host makes of the same request at run time, and its kernel gives the reference's
// values without a finding.
template <class Spec>
void expect_right(const char* expression, std::uint64_t seed) {
  const GemmDesign& design = detail::HostDesign<Spec>::value;
  const GemmDesign at_run_time = make_gemm_design(Spec::options, fusion::parse_graph(expression).graph);
  ASSERT_TRUE(at_run_time.ok());
  EXPECT_EQ(design.options, at_run_time.options);
  EXPECT_EQ(design.shared, at_run_time.shared);
  EXPECT_EQ(design.params, at_run_time.params);
  const tool::Product product = product_for<Spec>(expression, seed);
  for (const std::string& problem : tool::Operands::problems_of(product)) FAIL() << problem;
  tool::Operands operands(product, seed % 2 == 0 ? tool::Inputs::eighths : tool::Inputs::uniform, seed);
  const GemmArguments<Spec> args = arguments_for<Spec>(product, operands);
  const auto plan = GemmPlan<Spec>::make(args, device_of(Simulator(), 4));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  constexpr Latency kLatencies[] = {Latency::mixed, Latency::late, Latency::random, Latency::eager};
  const LaunchResult ran = plan->run(Simulator({.seed = seed, .latency = kLatencies[seed % 4]}));
  ASSERT_TRUE(ran) << describe(ran);
  const tool::Verification v = operands.verify();
  EXPECT_EQ(v.wrong, 0) << v.first_wrong;
}

}  // namespace gantry::test

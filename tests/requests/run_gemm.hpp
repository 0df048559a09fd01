// A GEMM of a specification on the simulated SM, with operands as the command line makes them, against the reference.
#pragma once

#include <gtest/gtest.h>

#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/gemm/gemm.hpp>

#include "asked_gemms.hpp"

namespace gantry::test {

template <class Spec>
GemmArguments<Spec> arguments_for(const tool::AskedGemm& asked, tool::Operands& operands) {
  const std::vector<void*> addresses = operands.host_addresses();
  GemmArguments<Spec> args({asked.m, asked.n, asked.k, asked.batch});
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
  const tool::AskedGemm asked = asked_for(design, expression, GemmDesignOf<Spec>::graph, seed);
  const Status status = tool::Operands::problems_of(asked);
  ASSERT_TRUE(status) << status.describe();
  tool::Operands operands(asked, seed % 2 == 0 ? tool::Inputs::eighths : tool::Inputs::uniform, seed);
  const GemmArguments<Spec> args = arguments_for<Spec>(asked, operands);
  const auto plan = GemmPlan<Spec>::make(args, device_of(Simulator(), 4));
  ASSERT_TRUE(plan) << describe(plan.error()[0]).c_str();
  constexpr Latency kLatencies[] = {Latency::mixed, Latency::late, Latency::random, Latency::eager};
  const LaunchResult ran = plan->run(Simulator({.seed = seed, .latency = kLatencies[seed % 4]}));
  ASSERT_TRUE(ran) << describe(ran);
  const tool::Verification v = operands.verify();
  EXPECT_EQ(v.wrong, 0) << v.first_wrong;
}

}  // namespace gantry::test

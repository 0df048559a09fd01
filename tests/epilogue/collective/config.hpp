// Configurations of EpilogueKernel for tests: what most of them share, and the problems that they ask for.
#pragma once

#include <gantry/epilogue/arguments.hpp>
#include <gantry/epilogue/builder.hpp>
#include <gantry/epilogue/fusion/parse.hpp>
#include <gantry/epilogue/kernel.hpp>

#include "problem.hpp"

namespace gantry::test {

struct Plain {
  using Functions = fusion::UserFunctions<>;
};

// The problem that a configuration's policy asks for.
template <class Config>
ProblemOptions options_for(ProblemOptions options) {
  // In constant expressions only: nvcc would want a policy that is read otherwise on the device as well.
  constexpr MatrixSpec c{Config::policy.c.element, !Config::policy.c.m_major()};
  constexpr MatrixSpec d{Config::policy.d.element, !Config::policy.d.m_major()};
  constexpr ElementType accumulator = Config::policy.element_acc;
  options.accumulator = accumulator;
  options.c = c;
  options.d = d;
  return options;
}

}  // namespace gantry::test

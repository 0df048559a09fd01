// An expression that is malformed stops the build where it is written, by the name of the rule.
//
// EXPECT: name_is_taken
#include <gantry/epilogue/fusion/expression.hpp>

using namespace gantry::fusion;
constexpr Graph fusion = expression(names::d = row("bias") + col("bias"));

// An expression says where its value goes.
// EXPECT: expression takes assignments, such as expression(d = gelu(acc), aux = acc)
#include <gantry/epilogue/fusion/expression.hpp>

constexpr auto fusion = gantry::fusion::expression(gelu(gantry::fusion::names::acc));

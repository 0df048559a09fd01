// A text that is no fusion stops the build where it is written.
//
// EXPECT: there_is_no_such_function
// EXPECT: d = gleu(acc)
#include <gantry/epilogue/fusion/parse.hpp>

constexpr gantry::fusion::Graph fusion = gantry::fusion::graph("d = gleu(acc)");

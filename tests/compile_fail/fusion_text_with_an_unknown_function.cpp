// A text that is no fusion stops the build where it is written. The compiler says the rule, the text and the column.
//
// EXPECT: there_is_no_such_function
// EXPECT: d = gleu(acc)
// EXPECT-REGEX: (subscript value .5.|element 5 of|position 5 in)
#include <gantry/epilogue/fusion/parse.hpp>

constexpr gantry::fusion::Graph fusion = gantry::fusion::graph("d = gleu(acc)");

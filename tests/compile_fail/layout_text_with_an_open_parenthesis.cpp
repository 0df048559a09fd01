// A text that is no layout stops the build where it is written, and the compiler shows what was expected.
//
// EXPECT: the_text_could_not_be_read
// EXPECT-REGEX: ',\\?' or \\?'\)
// EXPECT: ((_2,_4),3:((_1,_2),_8)
#include <gantry/layout.hpp>

constexpr gantry::Layout tile = gantry::layout("((_2,_4),3:((_1,_2),_8)");

// A text that is no layout stops the build where it is written, and the compiler shows the column and what was
// expected.
//
// EXPECT-REGEX: the_text_stops_at_column(\(\) \[with int column = 11\]|<11>|<column>\(\) \[with column=11\])
// EXPECT-REGEX: ',\\?' or \\?'\)
// EXPECT: ((_2,_4),3:((_1,_2),_8)
#include <gantry/layout.hpp>

constexpr gantry::Layout tile = gantry::layout("((_2,_4),3:((_1,_2),_8)");

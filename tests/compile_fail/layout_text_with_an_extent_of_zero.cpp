// A text that can be read and is no layout stops the build at the column of the extent that breaks the rule.
//
// EXPECT-REGEX: the_text_stops_at_column(\(\) \[with int column = 5\]|<5>|<column>\(\) \[with column=5\])
// EXPECT: (_8,0):(_1,_8)
#include <gantry/layout.hpp>

constexpr gantry::Layout tile = gantry::layout("(_8,0):(_1,_8)");

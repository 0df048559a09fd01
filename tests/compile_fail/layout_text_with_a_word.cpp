// A word where a number should stand stops the build at its column.
//
// EXPECT-REGEX: the_text_stops_at_column(\(\) \[with int column = 5\]|<5>|<column>\(\) \[with column=5\])
// EXPECT: an integer,
// EXPECT: (_8,wide):(_1,_8)
#include <gantry/layout.hpp>

constexpr gantry::Layout tile = gantry::layout("(_8,wide):(_1,_8)");

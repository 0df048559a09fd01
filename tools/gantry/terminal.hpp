// How wide the lines are that commands write, and prose that is broken to fit.
//
// Decided once, here: COLUMNS where it is a number, else the terminal's width, else, for a pipe or a file, 110; never
// less than 40 and never more than 120. Words are not broken, so a long name may stick out. Refusals in a pipe or a
// file have their sentences whole, for programs that search them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gantry::tool {

// Columns of the terminal behind a descriptor; `otherwise` where there is none, or it does not say.
std::size_t terminal_columns(int descriptor, std::size_t otherwise);

// Of lines on standard output.
std::size_t output_columns();

// Tells on standard error what is wrong: a sentence, or several in lines of their own. Control characters are escaped;
// a line with a mark below it stays as it is.
void print_complaint(std::string_view text);

// `text` beside its label: later lines begin below the first. What holds line ends is several paragraphs.
std::string hanging(std::string_view label, std::string_view text, std::size_t columns);

// Lines that are too long are broken, and go on below where their last column began. A command that is an example goes
// on as a shell reads it, after a backslash.
std::string wrapped(std::string_view text, std::size_t columns);

}  // namespace gantry::tool

// Every rule of a tuning file: GANTRY_X(id, weight, asked, rule, remedy), as rules/rule.hpp says. Included with
// GANTRY_X defined, once for each use.
//
// {line} is the number of a line, {text} the part of it that is wrong, {error} what the system says of a file.
#ifndef GANTRY_X
#define GANTRY_X(id, weight, asked, rule, remedy)
#endif

// clang-format off
GANTRY_X(fields, refused,
         "line {line} has {actual} field{s} between bars",
         "an entry has 6 or 7: M N K batch | elements | form | epilogue | GPU | configuration | time",
         "the line is skipped")
GANTRY_X(sizes, refused,
         "line {line} has sizes \"{text}\"",
         "sizes are four positive numbers, M N K batch",
         "the line is skipped")
GANTRY_X(elements, refused,
         "line {line} has elements \"{text}\"",
         "elements are those of A and its major, of B and its major, of C and of D, as \"bf16 K bf16 K void bf16\"",
         "the line is skipped")
GANTRY_X(element, refused,
         "line {line} has the element \"{text}\"",
         "an element has the name of an element type",
         "the nearest is {element}; the line is skipped")
GANTRY_X(major, refused,
         "line {line} has the major \"{text}\"",
         "a major is K or MN",
         "the line is skipped")
GANTRY_X(form, refused,
         "line {line} has the form \"{text}\"",
         "a form is \"plain\", or words for what else is asked",
         "the words are {forms}; the line is skipped")
GANTRY_X(configuration, refused,
         "line {line} has no configuration",
         "an entry names the configuration that was measured fastest",
         "the line is skipped")
GANTRY_X(version, refused,
         "line {line} is \"{text}\"",
         "a tuning file of another version is not read",
         "the version that is read begins with \"{header}\"; the file is left aside")
GANTRY_X(not_opened, refused,
         "it cannot be opened ({error})",
         "a tuning file can be read",
         "the file is left aside")
GANTRY_X(not_plain, refused,
         "it is no plain file",
         "a tuning file is one",
         "the file is left aside")
GANTRY_X(not_read, refused,
         "it cannot be read ({error})",
         "a tuning file can be read",
         "the file is left aside")
GANTRY_X(too_large, refused,
         "it has more than {nearest} MiB",
         "a tuning file is a text of a line for each GEMM",
         "the file is left aside")
// clang-format on

#undef GANTRY_X

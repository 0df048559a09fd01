// Every rule of the offsets and counts of a grouped GEMM: GANTRY_X(id, weight, asked, rule, remedy), as rules/rule.hpp
// says. Included with GANTRY_X defined, once for each use.
//
// {group} and {other} are groups, {line} and {lines} "row" and "rows", or "row of K" and "rows of K". The remedy says
// what a kernel computes, since none of them stops it.
#ifndef GANTRY_X
#define GANTRY_X(id, weight, asked, rule, remedy)
#endif

// clang-format off
GANTRY_X(offset_negative, refused,
         "group {group} has offsets {first} and {second}",
         "offsets are not negative",
         "it counts as empty")
GANTRY_X(offset_falls, refused,
         "group {group} begins at {line} {first} and ends before {line} {second}",
         "offsets ascend",
         "it counts as empty")
GANTRY_X(offset_beyond, refused,
         "group {group} ends before {line} {actual}, and there are {nearest} {lines}",
         "groups lie in the matrix",
         "it counts as empty")
GANTRY_X(offset_overlaps, refused,
         "group {group} begins at {line} {actual}, and group {other} ends before {line} {nearest}",
         "a group begins where those before it have ended",
         "it counts as empty")
GANTRY_X(count_negative, refused,
         "group {group} has a count of {actual} row{s}",
         "counts are not negative",
         "it counts as empty")
GANTRY_X(count_too_large, refused,
         "group {group} has a count of {actual} row{s}, and room for {nearest}",
         "a group fits into its capacity",
         "its first {nearest} rows are computed")
// clang-format on

#undef GANTRY_X

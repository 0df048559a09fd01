// Every rule of what groups are expected to be: GANTRY_X(id, weight, asked, rule, remedy), as rules/rule.hpp says.
// Included with GANTRY_X defined, once for each use.
//
// {entry} is the number of an entry, {extent} "M", "N" or "K", {grouping} what the GEMM is.
#ifndef GANTRY_X
#define GANTRY_X(id, weight, asked, rule, remedy)
#endif

// clang-format off
GANTRY_X(rows_of_others, refused,
         "{actual} expected rows were given, and the GEMM {grouping}",
         "rows are expected of groups along M, and rows of K of groups along K",
         "without expected rows this works")
GANTRY_X(gemms_of_others, refused,
         "{actual} expected GEMMs were given, and the GEMM {grouping}",
         "GEMMs are expected of a pointer array",
         "without expected GEMMs this works")
GANTRY_X(expected_rows, refused,
         "expected row entry {entry} is {actual}",
         "a group has 0 to 2147483392 rows",
         "the nearest value that works is {nearest}")
GANTRY_X(expected_extent, refused,
         "expected GEMM {entry} has {extent} of {actual}",
         "an extent is 0 to 2147483392, and a count as well",
         "the nearest value that works is {nearest}")
// clang-format on

#undef GANTRY_X

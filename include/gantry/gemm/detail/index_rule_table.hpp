// Every rule of the indices of gathered and scattered rows: GANTRY_X(id, weight, asked, rule, remedy), as
// rules/rule.hpp says. Included with GANTRY_X defined, once for each use.
//
// {row} is a row of the GEMM, {matrix} "A", "D", or either of a batch, {goes} "is" or "goes to", {becomes} what a
// kernel makes of the row.
#ifndef GANTRY_X
#define GANTRY_X(id, weight, asked, rule, remedy)
#endif

// clang-format off
GANTRY_X(index_outside, refused,
         "row {row} of the GEMM {goes} row {actual} of {matrix}, which has {nearest} rows",
         "an index is 0 or more and less than the number of rows, or -1",
         "{becomes}")
GANTRY_X(index_twice, refused,
         "rows {first} and {row} of the GEMM both go to row {actual} of {matrix}",
         "a row is stored once at most",
         "either of them may be what remains")
// clang-format on

#undef GANTRY_X

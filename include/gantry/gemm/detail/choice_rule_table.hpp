// Every rule by which no configuration is chosen for a GEMM: GANTRY_X(id, weight, asked, rule, remedy), as
// rules/rule.hpp says. Included with GANTRY_X defined, once for each use.
//
// {sizes} is "M x N x K" with batch or groups, {configuration} the name that was asked for, {other} the nearest one.
#ifndef GANTRY_X
#define GANTRY_X(id, weight, asked, rule, remedy)
#endif

// clang-format off
GANTRY_X(nothing_to_compute, refused,
         "the sizes are {sizes}",
         "a configuration is chosen for an M, N and batch of 1 or more and a K of 0 or more",
         "")
GANTRY_X(too_many_k_tiles, refused,
         "the sizes are {sizes}",
         "the scheduler counts the K tiles of all output tiles in 30 bits",
         "")
GANTRY_X(no_candidate, refused,
         "A is {a}, B is {b}, C is {c} and D is {d}",
         "a candidate has the elements and majors of the GEMM",
         "none of {actual} candidate{s} has")
GANTRY_X(not_a_candidate, refused,
         "\"{configuration}\" was asked for",
         "a configuration is asked for by the name of a candidate",
         "the nearest of {actual} is \"{other}\"")
// clang-format on

#undef GANTRY_X

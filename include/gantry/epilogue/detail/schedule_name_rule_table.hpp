// Every rule of the names of schedules: GANTRY_X(id, weight, asked, rule, remedy), as rules/rule.hpp says. Included
// with GANTRY_X defined, once for each use.
//
// {name} is what was asked for, {operand} the nearest name that there is.
#ifndef GANTRY_X
#define GANTRY_X(id, weight, asked, rule, remedy)
#endif

// clang-format off
GANTRY_X(epilogue_schedule, refused,
         "there is no epilogue schedule \"{name}\"",
         "epilogue schedules have the names that CUTLASS gives them",
         "the nearest is {operand}")
GANTRY_X(kernel_schedule, refused,
         "there is no kernel schedule \"{name}\"",
         "kernel schedules have the names that CUTLASS gives them",
         "the nearest is {operand}")
// clang-format on

#undef GANTRY_X

// Every rule that a GEMM of a pointer array keeps to be computed: GANTRY_X(id, weight, asked, rule, remedy), as
// rules/rule.hpp says. Included with GANTRY_X defined, once for each use.
//
// {operand} is a matrix or an argument of the epilogue, {lines} "rows" or "columns", {extent} the size that they have.
#ifndef GANTRY_X
#define GANTRY_X(id, weight, asked, rule, remedy)
#endif

// clang-format off
GANTRY_X(size_negative, refused,
         "M, N and K are {m}, {n} and {k}",
         "sizes are not negative",
         "")
GANTRY_X(size_too_large, refused,
         "M, N and K are {m}, {n} and {k}",
         "the rows, columns and tiles of a GEMM of a pointer array are numbered in 32 bits",
         "up to {nearest} rows and columns, and {second} tiles, work")
GANTRY_X(address_missing, refused,
         "{operand} has no address",
         "a matrix that is read or written has one",
         "")
GANTRY_X(address_misaligned, refused,
         "{operand} begins {actual} byte{s} after a multiple of 16",
         "TMA takes addresses that are multiples of 16 bytes",
         "")
GANTRY_X(stride_too_short, refused,
         "{operand} has a stride of {actual} elements, and {lines} of {first}",
         "lines of a matrix do not overlap",
         "the nearest stride that works is {nearest}")
GANTRY_X(stride_too_long, refused,
         "{operand} has a stride of {actual} bytes",
         "TMA takes strides of less than 2^40 bytes",
         "the largest that works is {nearest}")
GANTRY_X(stride_misaligned, refused,
         "{operand} has a stride of {actual} elements of {element}, which is {first} bytes",
         "TMA takes strides of whole 16 bytes",
         "the nearest larger one is {nearest}")
GANTRY_X(ends_inside_chunk, refused,
         "{operand} has {lines} of {actual} elements of {element}, which is {first} bytes",
         "TMA writes whole 16 bytes",
         "the nearest larger {extent} that works is {nearest}")
GANTRY_X(mask_stride, refused,
         "{operand} has a stride of {actual} bits, and {lines} of {first}",
         "lines of a mask are whole bytes and do not overlap",
         "the nearest stride that works is {nearest}")
GANTRY_X(element_misaligned, refused,
         "{operand} begins {actual} byte{s} after a multiple of {first}, the size of {element}",
         "elements lie at multiples of their size",
         "")
// clang-format on

#undef GANTRY_X

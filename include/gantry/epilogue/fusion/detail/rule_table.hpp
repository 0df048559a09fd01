// Every rule of a fusion graph: GANTRY_X(id, weight, asked, rule, remedy), as rules/rule.hpp says. Included with
// GANTRY_X defined, once for each use; a file rather than a macro, so that a compiler that quotes the line of a rule
// quotes no more than that.
//
// {node} and {argument} are a node with what it does and an argument with its name, {element} is the argument's element
// type and {nearest element} the nearest one that works.
#ifndef GANTRY_X
#define GANTRY_X(id, weight, asked, rule, remedy)
#endif

// clang-format off
GANTRY_X(too_large, refused,
         "the graph was given more than {first} nodes or {second} arguments",
         "a graph is a value of fixed size",
         "a fusion of fewer functions and arguments fits")
GANTRY_X(stores_nothing, refused,
         "the graph has no D, no auxiliary output and no reduction",
         "a fusion stores something",
         "d = acc works")
GANTRY_X(d_out_of_range, refused,
         "D is the value of node {actual}, and the graph has {first} nodes",
         "D is the value of a node",
         "")

GANTRY_X(input_missing, refused,
         "{node} has {actual} input{s} and takes {wanted}",
         "a node has as many inputs as its function takes",
         "")
GANTRY_X(input_unwanted, refused,
         "{node} has node {actual} as an input and takes {wanted}",
         "a node has no input that its function does not read",
         "")
GANTRY_X(input_not_before, refused,
         "{node} reads node {actual}",
         "a node reads nodes before it",
         "")
GANTRY_X(no_such_function, refused,
         "{node} calls user function {actual}, and {first} come with the graph",
         "a user function comes with the graph",
         "")
GANTRY_X(user_inputs_differ, refused,
         "{node} has {actual} input{s}, and its user function takes {wanted}",
         "a user function is given as many inputs as it takes",
         "")
GANTRY_X(no_such_element, refused,
         "{node} rounds to void",
         "round takes an element type",
         "round(x:bf16) works")
GANTRY_X(constant_is_nan, refused,
         "{node} is not a number",
         "a constant that is NaN equals nothing, not even itself",
         "")
GANTRY_X(rotated_head, refused,
         "{node} pairs the columns of heads of {actual}",
         "a thread has both columns of a pair in heads of 2 columns, and of 16, 32, ... to 256",
         "the nearest head that works is {first}")
GANTRY_X(across_columns, refused,
         "{node} combines blocks of {actual} columns",
         "lanes of a quad have 2 of every 8 columns of a row: a block has 8, 16, 24, ... to 256 columns, or all of a row",
         "the nearest number that works is {first}")
GANTRY_X(top_count, refused,
         "{node} finds the {actual} largest of a row",
         "a thread keeps a list of the largest: 1 to 8 of them",
         "the nearest number that works is {first}")
GANTRY_X(block_differs, refused,
         "{node} stores a tensor with one element for {actual} columns, and its value is the same for {first}",
         "a value that is the same for a block of columns is stored once for each block, another one for each column (0)",
         "canonical(graph) sets Argument::block")
GANTRY_X(block_of_bits, refused,
         "{node} stores one bit for each block of columns",
         "masks have one bit for each element of D",
         "f32 works")
GANTRY_X(reduced_block, refused,
         "{argument} has one result for each {actual} rows or columns",
         "a block is made of whole subtiles of a tile: 8, 16, 24, ... to 256 rows or columns",
         "the nearest number that works is {first}")
GANTRY_X(block_of_one_number, refused,
         "{argument} reduces to one number, and has one for each {actual} rows or columns",
         "blocks are of the rows that a row vector is reduced over, or of the columns of a column vector",
         "0 works")
GANTRY_X(exponentials_in_order, refused,
         "{argument} is a sum of exponentials that atomics would combine",
         "sums with different largest exponents are combined through workspace",
         "deterministic = true works")
GANTRY_X(compute_type, refused,
         "the values of the graph are to be of {element}",
         "values are f32, or are rounded to f16 or bf16",
         "f32 works")
GANTRY_X(dropped_share, refused,
         "{node} drops a share that is negative, or 1 or more",
         "dropout drops a share p of the elements, 0 <= p < 1, and multiplies the others by 1 / (1 - p)",
         "keep(0.5, seed) works")
GANTRY_X(seed_element, refused,
         "{argument} is a seed of {element}",
         "a seed is a whole number, u32, s32, u64 or s64, of which the lowest 32 bits count",
         "the nearest type that works is {nearest element}")
GANTRY_X(seed_default, refused,
         "{argument} is a seed with a default that is no whole number from 0 to {first}",
         "a seed that is given by value is a float, which holds such numbers exactly",
         "a default of 0 works")
GANTRY_X(second_of_its_kind, refused,
         "{node} is there twice, as node {actual} already",
         "a graph has one node for the accumulators and one for C",
         "")
GANTRY_X(accumulator_beside_gate, refused,
         "{node} is there beside gate(acc) or up(acc)",
         "a value of a gated graph has two accumulators, and acc alone does not say which",
         "gate(acc) or up(acc) works")
GANTRY_X(used_by_nothing, refused,
         "{node} is computed, and no output needs it",
         "every value is needed by an output",
         "")
GANTRY_X(argument_missing, refused,
         "{node} names argument {actual}, and the graph has {first}",
         "a node names an argument of the graph",
         "")
GANTRY_X(argument_kind_differs, refused,
         "{node} names argument {actual}, which is of another kind",
         "a node and its argument are of one kind",
         "")
GANTRY_X(stored_twice, refused,
         "{node} writes what node {actual} writes already",
         "an output is written once",
         "")

GANTRY_X(name_is_empty, refused,
         "{argument} has no name",
         "an argument is given by its name",
         "")
GANTRY_X(name_too_long, refused,
         "{argument} has a name of more than {first} characters",
         "names are values of fixed size",
         "")
GANTRY_X(name_is_no_word, refused,
         "{argument} has a name with other characters",
         "a name is a word of letters, digits and '_' that begins with a letter or '_'",
         "")
GANTRY_X(name_is_taken, refused,
         "{argument} has the name of argument {actual}",
         "each argument has a name of its own",
         "")
GANTRY_X(name_is_reserved, refused,
         "{argument} is an output with a name that has a meaning",
         "acc, c, d, alpha, beta, inf and let are no names of outputs",
         "")
GANTRY_X(element_is_void, refused,
         "{argument} has no element type",
         "an argument has elements",
         "the nearest type that works is {nearest element}")
GANTRY_X(argument_unused, refused,
         "{argument} is used by no node",
         "every argument is used",
         "")

GANTRY_X(element_is_complex, refused,
         "{argument} has elements of {element}",
         "the values of this epilogue are real, and so are its operands",
         "the nearest type that works is {nearest element}")
GANTRY_X(element_is_real, refused,
         "{argument} writes elements of {element}",
         "the values of this epilogue are complex, and so are its outputs",
         "the nearest type that works is {nearest element}")
GANTRY_X(element_not_staged, refused,
         "{argument} is a tensor of {element}",
         "TMA stages elements of whole bytes that a tensor map has a format for, and threads those of u1",
         "the nearest type that works is {nearest element}")
GANTRY_X(reduction_element, refused,
         "{argument} is a reduction with results of {element}",
         "a reduction gives f32, bf16, f16 or s32",
         "the nearest type that works is {nearest element}")
GANTRY_X(reduction_of_complex, refused,
         "{argument} is a reduction",
         "complex values have no reductions",
         "")
// clang-format on

#undef GANTRY_X

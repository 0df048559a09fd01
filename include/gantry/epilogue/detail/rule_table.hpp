// Every rule of epilogues: GANTRY_X(id, weight, asked, rule, remedy). Included with GANTRY_X defined, once for each
// use; a file rather than a macro, so that a compiler that quotes the line of a rule quotes no more than that.
// rules/rule.hpp says what the columns are.
//
// {actual}, {nearest}, {first} and {second} are the numbers of a reason; {operand} is C or D, {mode} M or N, {element}
// and {nearest element} are element types, {schedule} and {nearest schedule} schedules, {setting} is a field of the
// builder, {runs} and {nearest runs} are the layouts that {actual} and {nearest} stand for, {tma} is what planning the
// copy answered, and {s} the plural's, of {actual}.
#ifndef GANTRY_X
#define GANTRY_X(id, weight, asked, rule, remedy)
#endif

// clang-format off
GANTRY_X(cta_tile_extent, refused,
         "the CTA tile has extent {actual} along {mode}",
         "extents are at least 1 and at most 1024",
         "the nearest value that works is {nearest}")
GANTRY_X(mma_rows, refused,
         "the CTA tile has {actual} row{s}",
         "whole MMAs of 64 rows fill it, for each warpgroup that shares it",
         "so its rows are a multiple of {first}; the nearest value that works is {nearest}")
GANTRY_X(warpgroups, refused,
         "{actual} warpgroup{s} share a CTA tile",
         "there are 1 to 4",
         "the nearest number that works is {nearest}")
GANTRY_X(epi_tile_rows, refused,
         "the epilogue tile has {actual} row{s} under {schedule}",
         "in CUTLASS it has 64 for each warpgroup that shares the CTA tile",
         "the nearest value that works is {nearest}")
GANTRY_X(epi_tile_mma_rows, refused,
         "the epilogue tile has {actual} row{s}",
         "whole MMAs of 64 rows fill it, for each warpgroup that shares it",
         "so its rows are a multiple of {first}; the nearest value that works is {nearest}")
GANTRY_X(epi_tile_columns, refused,
         "the epilogue tile has {actual} column{s}",
         "a tile that is chosen has a multiple of 8, in CUTLASS of 16",
         "the nearest value that works is {nearest}")
GANTRY_X(epi_tile_divides, refused,
         "the epilogue tile has extent {actual} along {mode} and the CTA tile {first}",
         "whole epilogue tiles fill the CTA tile",
         "the nearest value that works is {nearest}")
GANTRY_X(epi_tile_neighbours, refused,
         "the epilogue tile's layout steps by {actual} along {mode}",
         "a box of TMA and the accumulators of a thread have neighbours, so the first stride is 1",
         "the nearest layout that works is {nearest runs}")
GANTRY_X(epi_tile_modes, refused,
         "the epilogue tile's layout has {actual} modes along {mode}",
         "it is one run of neighbours, or runs that are one stride apart: two modes at most",
         "the nearest layout that works is {nearest runs}")
GANTRY_X(epi_tile_runs, refused,
         "the epilogue tile's layout is {runs} along {mode}",
         "runs are whole MMAs or matrices of accumulators, and the runs of other subtiles fill the gaps between them",
         "so a run is a multiple of {first}, the stride one of the run, and the CTA tile's {second} one of the stride times "
         "the number of runs; the nearest layout that works is {nearest runs}")
GANTRY_X(accumulator_columns, refused,
         "the epilogue tile has {actual} column{s}",
         "accumulators come in matrices of 8 columns, so the columns are a multiple of 8",
         "the nearest value that works is {nearest}")
GANTRY_X(tile_threads, refused,
         "the epilogue tile has {actual} element{s} for {first} threads",
         "each thread has the same number, at least one",
         "the nearest number that works is {nearest}")
GANTRY_X(fragment_size, refused,
         "FragmentSize is {actual}, and a thread has {first} values of an epilogue tile",
         "the first divides the second",
         "the nearest value that works is {nearest}")
GANTRY_X(smem_row, refused,
         "the epilogue tile has {actual} element{s} of {element} along {mode}, where {operand} is contiguous",
         "rows in shared memory are whole 16 bytes",
         "so the extent is a multiple of {first}; the nearest value that works is {nearest}")
GANTRY_X(smem_element, refused,
         "{operand} has elements of {element}, {actual} bits",
         "shared memory holds elements whose width divides 128 bits",
         "the nearest type that works is {nearest element}")
GANTRY_X(alignment, refused,
         "{operand} is aligned to {actual} element{s} of {element}, which is {first} bytes",
         "TMA takes rows of whole 16 bytes",
         "the nearest alignment that works is {nearest}")
GANTRY_X(d_without_element, refused,
         "D is void and no auxiliary output gives its element",
         "the tile in shared memory must have one",
         "the nearest type that works is {nearest element}")
GANTRY_X(element_missing, refused,
         "the {operand} element is {element}",
         "values are computed in a type",
         "the nearest type that works is {nearest element}")
GANTRY_X(stages, refused,
         "{operand} has {actual} stage{s}",
         "there are 1 to 32",
         "the nearest number that works is {nearest}")
GANTRY_X(reuse_needs_both, refused,
         "D is to reuse the buffers of C, and {operand} is void",
         "both must exist",
         "without reuse this works")
GANTRY_X(reuse_stages, refused,
         "D is to reuse the {first} buffers of C for {actual} stage{s} of its own",
         "StagesD is at most StagesC",
         "the nearest StagesD that works is {nearest}")
GANTRY_X(reuse_space, refused,
         "D is to reuse the buffers of C, and elements of D have {actual} bits and those of C {first}",
         "a tile of each must take the same space",
         "without reuse this works")
GANTRY_X(deadlock, refused,
         "stores are delayed and D reuses the buffers of C, with StagesC = {actual} and StagesD = {first}",
         "the load warp would wait for a buffer that is released only after a store that waits for this load, so StagesC "
         "must be greater than StagesD",
         "the nearest StagesC that works is {nearest}")
GANTRY_X(per_group_strides, refused,
         "{operand} has strides for every group under {schedule}",
         "a schedule that is not for pointer arrays takes one tensor",
         "without '*' this works")
GANTRY_X(per_group_im2col, refused,
         "{operand} is the tensor of a convolution with strides for every group",
         "pointer arrays hold matrices",
         "without '*' this works")
GANTRY_X(im2col_needs_tma, refused,
         "{operand} is the tensor of a convolution under {schedule}",
         "an epilogue without shared memory writes matrices",
         "the nearest schedule that works is {nearest schedule}")
GANTRY_X(fusion_storage, refused,
         "the fusion asks for {actual} byte{s} of shared memory aligned to {first}",
         "sizes are not negative and alignments are powers of two",
         "the nearest alignment that works is {nearest}")
GANTRY_X(tma_plan, refused,
         "{operand} cannot be copied by TMA",
         "its subtile must be a box",
         "{tma}")
GANTRY_X(tma_box, refused,
         "the epilogue tile has extent {actual} along {mode}, and a TMA box of {operand} holds all of it",
         "a box has at most 256 elements along each dimension",
         "the nearest value that works is {nearest}")

GANTRY_X(shared_memory, hopper,
         "the epilogue takes {actual} bytes of shared memory",
         "the shared memory of a block is limited",
         "the most is {first}, which is room for {nearest} of its buffers: fewer stages or a smaller epilogue tile fit")

GANTRY_X(pointer_arrays, unsupported,
         "the schedule is {schedule}",
         "an epilogue by itself has one tensor C and one tensor D; GEMMs have pointer arrays (GemmGrouping::pointer_array)",
         "the nearest schedule that works is {nearest schedule}")
GANTRY_X(packed_element, unsupported,
         "{operand} has elements of {element}, {actual} bit{s}",
         "an epilogue reads and writes elements of whole bytes",
         "the nearest type that works is {nearest element}")
GANTRY_X(compute_element, unsupported,
         "values are computed in {element}",
         "an epilogue computes in f32, f16, bf16 or cf32, and in s32 where D is the accumulators themselves",
         "the nearest type that works is {nearest element}")
GANTRY_X(wide_element, unsupported,
         "{operand} has elements of {element}, of {actual} bits, and travels by TMA",
         "elements of a tensor map have 64 bits at most",
         "the nearest type that works is {nearest element}")
GANTRY_X(complex_operand, unsupported,
         "{operand} has elements of {element}, and values are computed in a real type",
         "a complex number has no real value",
         "computed in {nearest element} this works")
GANTRY_X(real_destination, unsupported,
         "D has elements of {element}, and values are computed in a complex type",
         "a complex number has no real value",
         "the nearest type that works is {nearest element}")
GANTRY_X(fragment_runs, unsupported,
         "FragmentSize is {actual}",
         "accumulators come in runs of 4, and a visit takes whole runs",
         "the nearest value that works is {nearest}")
GANTRY_X(shared_mma_rows, unsupported,
         "the CTA tile has {actual} row{s} for {first} warpgroups",
         "each warpgroup of a kernel has MMAs of its own, 64 rows or a multiple",
         "the nearest value that works is {nearest}")
GANTRY_X(mma_columns, unsupported,
         "the CTA tile has {actual} column{s}",
         "accumulators come in matrices of 8 columns",
         "the nearest value that works is {nearest}")
GANTRY_X(accumulators, unsupported,
         "the CTA tile gives each of {first} threads {actual} accumulators",
         "a thread holds at most 256",
         "the nearest number of columns that works is {nearest}")
GANTRY_X(no_smem_setting, unsupported,
         "{setting} is set under {schedule}",
         "an epilogue without shared memory has no buffers, and visits 4 values at a time",
         "left at its default this works")

GANTRY_X(source_without_element, refused,
         "the expression uses C, and C is void",
         "C has an element type",
         "the nearest type that works is {nearest element}")
GANTRY_X(gated_graph, unsupported,
         "the expression has gate(acc) or up(acc), and a value of this epilogue has one accumulator",
         "a gated expression is the epilogue of a GEMM, which orders the rows of B for it",
         "acc works")
GANTRY_X(d_not_given, refused,
         "D has elements of {element}, and the expression gives no D",
         "what exists is stored",
         "with D void this works")
GANTRY_X(d_not_stored, refused,
         "the expression gives D, and D is void",
         "D has an element type",
         "the nearest type that works is {nearest element}")
GANTRY_X(function_without_form, unsupported,
         "values are computed in {element}, and the expression calls a function that has no such form",
         "complex values have add, subtract, multiply, fma and neg, and integers no function at all",
         "computed in f32 this works")
GANTRY_X(rotated_heads, unsupported,
         "the expression rotates pairs in heads of {first} columns, and a thread visits {actual} columns at once",
         "a subtile has whole heads, and a thread visits all of its columns at once",
         "with subtiles of {nearest} columns, visited at once, this works where the epilogue has shared memory")
GANTRY_X(combined_columns, unsupported,
         "the expression combines {first} columns of a row, and {actual} columns are visited at once",
         "what is visited at once is a subtile of an epilogue with shared memory, which has whole blocks of such columns",
         "with subtiles of {nearest} columns this works")
GANTRY_X(blocks_of_rows, unsupported,
         "the expression leaves one result for each {actual} rows, a tile of a warpgroup has {nearest} rows, and a subtile {first}",
         "a block is of whole subtiles, and a tile of whole blocks",
         "one result for each {nearest} rows works")
GANTRY_X(blocks_of_columns, unsupported,
         "the expression leaves one result for each {actual} columns, a tile has {nearest} columns, and a subtile {first}",
         "a block is of whole subtiles, and a tile of whole blocks",
         "one result for each {nearest} columns works")
GANTRY_X(tensor_without_smem, unsupported,
         "the expression has an auxiliary tensor under {schedule}",
         "an epilogue without shared memory has no auxiliary tensors but masks of one bit",
         "the nearest schedule that works is {nearest schedule}")
GANTRY_X(argument_element, unsupported,
         "an argument of the expression has elements of {element}",
         "real values have no complex arguments, tensors elements of whole bytes or of u1, reductions f32, bf16, f16 or s32",
         "the nearest type that works is {nearest element}")
GANTRY_X(reduction_of_complex, unsupported,
         "the expression reduces complex values",
         "complex values have no reductions",
         "computed in f32 this works")
// clang-format on

#undef GANTRY_X

// Every rule of epilogues: GANTRY_X(id, weight, sentence). Included with GANTRY_X defined, once for each use; a file
// rather than a macro, so that a compiler that quotes the line of a rule quotes no more than that.
//
// {actual}, {nearest}, {first} and {second} are the numbers of a reason; {operand} is C or D, {mode} M or N, {element}
// and {nearest element} are element types, {schedule} and {nearest schedule} schedules, {tma} is what planning the copy
// answered, and {s} the plural's, of {actual}.
#ifndef GANTRY_X
#define GANTRY_X(id, weight, text)
#endif

GANTRY_X(cta_tile_extent, refused,
         "the CTA tile has extent {actual} along {mode}: extents are at least 1 and at most {first}; the nearest value "
         "that works is {nearest}")
GANTRY_X(mma_rows, refused,
         "the CTA tile has {actual} row{s}: whole MMAs of 64 rows fill it, for each warpgroup that shares it, so its "
         "rows are a multiple of {first}; the nearest value that works is {nearest}")
GANTRY_X(warpgroups, refused,
         "{actual} warpgroup{s} share a CTA tile: there are 1 to {first}; the nearest number that works is {nearest}")
GANTRY_X(epi_tile_rows, refused,
         "the epilogue tile has {actual} row{s}: under {schedule} it has {first}; the nearest value that works is "
         "{nearest}")
GANTRY_X(epi_tile_mma_rows, refused,
         "the epilogue tile has {actual} row{s}: whole MMAs of 64 rows fill it, for each warpgroup that shares it, so "
         "its rows are a multiple of {first}; the nearest value that works is {nearest}")
GANTRY_X(epi_tile_columns, refused,
         "the epilogue tile has {actual} column{s}: a tile that is chosen has a multiple of {first}; the nearest value "
         "that works is {nearest}")
GANTRY_X(
    epi_tile_divides, refused,
    "the epilogue tile has extent {actual} along {mode} and the CTA tile {first}: whole epilogue tiles fill the CTA "
    "tile; the nearest value that works is {nearest}")
GANTRY_X(accumulator_columns, refused,
         "the epilogue tile has {actual} column{s}: accumulators come in matrices of 8 columns, so the columns are a "
         "multiple of 8; the nearest value that works is {nearest}")
GANTRY_X(tile_threads, refused,
         "the epilogue tile has {actual} element{s} for {first} threads: each has the same number, at least one; the "
         "nearest number that works is {nearest}")
GANTRY_X(fragment_size, refused,
         "FragmentSize is {actual}: it divides the {first} values that a thread has of an epilogue tile; the nearest "
         "value that works is {nearest}")
GANTRY_X(smem_row, refused,
         "the epilogue tile has {actual} element{s} of {element} along {mode}, where {operand} is contiguous: rows in "
         "shared memory are whole 16 bytes, {first} elements; the nearest value that works is {nearest}")
GANTRY_X(
    smem_element, refused,
    "{operand} has elements of {element}, {actual} bits: shared memory holds elements whose width divides 128 bits; "
    "the nearest type that works is {nearest element}")
GANTRY_X(alignment, refused,
         "{operand} is aligned to {actual} element{s} of {element}, which is {first} bytes: TMA takes rows of whole 16 "
         "bytes; the nearest alignment that works is {nearest}")
GANTRY_X(
    d_without_element, refused,
    "D is void and no auxiliary output gives its element: the tile in shared memory must have one; the nearest type "
    "that works is {nearest element}")
GANTRY_X(element_missing, refused,
         "the {operand} element is {element}: values are computed in a type; the nearest type that works is {nearest "
         "element}")
GANTRY_X(stages, refused,
         "{operand} has {actual} stage{s}: there are 1 to {first}; the nearest number that works is {nearest}")
GANTRY_X(reuse_needs_both, refused,
         "D is to reuse the buffers of C, and {operand} is void: both must exist; without reuse this works")
GANTRY_X(reuse_stages, refused,
         "D is to reuse the {first} buffers of C for {actual} stage{s} of its own: StagesD is at most StagesC; the "
         "nearest StagesD that works is {nearest}")
GANTRY_X(reuse_space, refused,
         "D is to reuse the buffers of C, and elements of D have {actual} bits and those of C {first}: a tile of each "
         "must take the same space; without reuse this works")
GANTRY_X(
    deadlock, refused,
    "stores are delayed and D reuses the buffers of C, with StagesC = {actual} and StagesD = {first}: the load warp "
    "would wait for a buffer that is released only after a store that waits for this load, so StagesC must be "
    "greater than StagesD; the nearest StagesC that works is {nearest}")
GANTRY_X(per_group_strides, refused,
         "{operand} has strides for every group, and {schedule} takes one tensor; the nearest schedule that works is "
         "{nearest schedule}")
GANTRY_X(per_group_im2col, refused,
         "{operand} is the tensor of a convolution with strides for every group: pointer arrays hold matrices; without "
         "'*' this works")
GANTRY_X(im2col_needs_tma, refused,
         "{operand} is the tensor of a convolution, and {schedule} writes matrices; the nearest schedule that works is "
         "{nearest schedule}")
GANTRY_X(
    fusion_storage, refused,
    "the fusion asks for {actual} byte{s} of shared memory aligned to {first}: sizes are not negative and alignments "
    "are powers of two; the nearest alignment that works is {nearest}")
GANTRY_X(tma_plan, refused, "{operand} cannot be copied by TMA: {tma}")
GANTRY_X(
    shared_memory, hopper,
    "the epilogue takes {actual} bytes of shared memory: a block has at most {first}, which is room for {nearest} of "
    "its buffers; fewer stages or a smaller epilogue tile fit")

#undef GANTRY_X

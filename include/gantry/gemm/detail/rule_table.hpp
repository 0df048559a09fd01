// Every rule of a product's options: GANTRY_X(id, sentence). Included with GANTRY_X defined, once for each use; a file
// rather than a macro, so that a compiler that quotes the line of a rule quotes no more than that.
//
// {actual}, {nearest}, {first} and {second} are the numbers of a reason, {operand} is the letter of a matrix or of an
// extent, {element} and {other} are element types, {field} is a builder's with what a product has in its place, and {s}
// the plural's, of {actual}.
#ifndef GANTRY_X
#define GANTRY_X(id, text)
#endif

GANTRY_X(
    element,
    "{operand} has elements of {element}: products are made of f16, bf16, tf32, e4m3, e5m2, s8 and u8; the nearest "
    "type that works is {other}")
GANTRY_X(
    element_pair,
    "A has elements of {element} and B of {other}: both are of one type, or any mixture of e4m3 and e5m2, or of s8 "
    "and u8; the nearest B that works is {element}")
GANTRY_X(
    major,
    "{operand} has elements of {element} and is not contiguous along K: only elements of 16 bits may lie otherwise; "
    "Major::K works")
GANTRY_X(no_d, "D has no element type: a product stores D; the nearest type that works is bf16")
GANTRY_X(layout,
         "{operand} is the tensor of a convolution or of a pointer array: a product has matrices, row-major or "
         "column-major; RowMajor works")
GANTRY_X(
    tile_rows,
    "the tile has {actual} row{s}: a tile of one warpgroup has 64, 128 or 192, one that two share has 128 or 256; the "
    "nearest value that works is {nearest}")
GANTRY_X(pingpong_rows,
         "the tile has {actual} row{s}: one of a warpgroup that takes turns has 64, 128 or 192; the nearest value that "
         "works is {nearest}")
GANTRY_X(tile_columns,
         "the tile has {actual} column{s}: there are multiples of {first} up to 256; the nearest value that works is "
         "{nearest}")
GANTRY_X(
    sums,
    "the tile has {actual} column{s} for {first} rows of a warpgroup: its registers hold sums of 64 x 256 or 128 x "
    "192, where they are promoted of 64 x 160; the nearest value that works is {nearest}")
GANTRY_X(warpgroups,
         "{actual} warpgroup{s} multiply: 2 share a tile or take turns, 1 has a cooperative tile of 64 rows to itself, "
         "and 3 take turns where each has sums of 64 x 192 or 128 x 128 at most; the nearest value that works is "
         "{nearest}")
GANTRY_X(tile_depth,
         "the tile is {actual} element{s} of {element} deep: a step of K is 128 bytes, the width of the swizzle; the "
         "value that works is {nearest}")
GANTRY_X(cluster,
         "the cluster has {actual} CTA{s} along {operand}: there are 1 or 2 that share their tiles; the nearest value "
         "that works is {nearest}")
GANTRY_X(
    stages,
    "the main loop has {actual} stage{s}: there are 2 to 32, one is loaded while another is multiplied; the nearest "
    "value that works is {nearest}")
GANTRY_X(
    subtile,
    "a subtile of the epilogue has {actual} column{s}: columns are a multiple of 8 that divides the tile's {first}; "
    "the nearest value that works is {nearest}")
GANTRY_X(
    subtile_rows,
    "a subtile of the epilogue has {actual} row{s}: there are 64, or 128 where they divide a warpgroup's rows of the "
    "tile; the nearest value that works is {nearest}")
GANTRY_X(buffers,
         "{operand} has {actual} buffer{s} in the epilogue: there are 1 to {first}; the nearest value that works is "
         "{nearest}")
GANTRY_X(reuse,
         "D is to take the place of C, and C has elements of {element} and D of {other}: both exist and are equally "
         "wide; without reuse this works")
GANTRY_X(promote,
         "sums are to be promoted, and A has elements of {element} and B of {other}: only sums of 8-bit floats lose "
         "bits; without promotion this works")
GANTRY_X(reduce_add,
         "sums are to be added into D by TMA, and D has elements of {element}: it adds f32, bf16 and f16, and s32 for "
         "integers; the nearest type that works is {other}")
GANTRY_X(
    reduce_add_plain,
    "sums are to be added into D by TMA, and there is more to the product: only the cooperative schedule's D += A B "
    "with a row-major D is added; with the automatic split this works")
GANTRY_X(shared_memory,
         "the product takes {actual} bytes of shared memory with its {first} stages: a block has at most {second}; with "
         "{nearest} stages it fits")
GANTRY_X(no_room,
         "the epilogue takes {actual} bytes of shared memory: beside it a block has no room for two stages of {first} "
         "bytes; a smaller tile, narrower subtiles or fewer buffers fit")
GANTRY_X(epilogue, "the epilogue: {epilogue}")
GANTRY_X(parameters,
         "the kernel takes {actual} bytes of parameters: there are at most {nearest}; fewer auxiliary tensors fit")
GANTRY_X(builder, "the builder of the epilogue sets {field}; left at its default this works")

#undef GANTRY_X

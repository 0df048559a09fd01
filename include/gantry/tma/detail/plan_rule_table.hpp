// Every rule of planning: GANTRY_X(id, weight, sentence). {actual}, {nearest}, {first} and {second} are the numbers of
// a reason, {mode} and {other} its modes, {fault} what a layout operation answered, {element} and {nearest element}
// types. Included with GANTRY_X defined, once for each use; a file rather than a macro, so that a compiler that quotes
// the line of a rule quotes no more than that.
#ifndef GANTRY_X
#define GANTRY_X(id, weight, sentence)
#endif

// clang-format off
GANTRY_X(gmem_invalid, refused, "the global tensor has no valid layout: {fault}")
GANTRY_X(smem_invalid, refused, "the shared memory has no valid layout: {fault}")
GANTRY_X(element_without_format, refused,
         "elements of type {element} have no form in a tensor map; the nearest type that works is {nearest element}")
GANTRY_X(recast_width, refused,
         "values of {actual} bits cannot be moved as TMA elements of {first} bits: one width must divide the "
         "other; the nearest width that works is {nearest}")
GANTRY_X(recast_stride, refused,
         "global mode {mode} has stride {actual}, and a TMA element holds {first} values: a stride is a whole "
         "number of TMA elements; the nearest value that works is {nearest}")
GANTRY_X(recast_extent, refused,
         "an extent of {actual} values along the contiguous global mode is no whole number of TMA elements, which "
         "hold {first} values; the nearest value that works is {nearest}")
GANTRY_X(recast_needs_unit_stride, refused,
         "values can be moved as {first} smaller TMA elements each only along a mode whose stride is 1 at compile "
         "time, and the global tensor has none: write its contiguous stride as _{nearest}")
GANTRY_X(tiler_rank, refused,
         "the tiler has {actual} modes and the global tensor {first}: a tiler has at most as many; the nearest "
         "value that works is {nearest}")
GANTRY_X(tile_invalid, refused, "the tile cannot be taken out of the global shape: {fault}")
GANTRY_X(tile_dynamic, refused,
         "the extent {actual} of the tile along global mode {mode} is a run-time value: a box is fixed when the "
         "kernel is compiled, so tile extents and the modes a tile spans whole must be static; the nearest value "
         "that works is _{nearest}")
GANTRY_X(smem_dynamic, refused,
         "the extent {actual} of the shared layout is a run-time value: shared tiles have static extents; the "
         "nearest value that works is _{nearest}")
GANTRY_X(size_mismatch, refused,
         "the shared layout has {actual} elements and the tile {first}: one copy fills the layout with the tile, "
         "so both have the same size; the nearest value that works is {nearest}")
GANTRY_X(smem_without_unit_stride, refused,
         "the smallest static stride of the shared layout is {actual}: a box is dense, so some mode must have the "
         "static stride 1; the nearest value that works is _{nearest}")
GANTRY_X(shared_stride_negative, refused,
         "a mode of the shared layout has stride {actual}: a box fills shared memory upwards, so its strides are "
         "not negative; the nearest value that works is {nearest}")
GANTRY_X(shared_overlaps, refused,
         "a mode of stride {actual} of the shared layout steps inside the {first} elements that other modes reach "
         "over: elements of the tile would overwrite one another; the nearest value that works is {nearest}")
GANTRY_X(tile_steps_over_mode, refused,
         "neighbours in shared memory are {actual} apart along global mode {mode}: a box takes neighbouring "
         "elements, so the tile must not step over the mode that runs along shared memory; the nearest step that "
         "works is {nearest}")
GANTRY_X(major_mismatch, refused,
         "shared memory runs along global mode {mode}, whose stride is {actual}: it must run along the mode of "
         "stride 1, which is mode {other}")
GANTRY_X(gmem_without_unit_stride, refused,
         "shared memory runs along global mode {mode}, whose stride is {actual}: the innermost dimension of a "
         "tensor map is contiguous, and no global mode has stride 1; the nearest value that works is {nearest}")
GANTRY_X(stride_negative, refused,
         "global mode {mode} has stride {actual}: the strides of a tensor map are not negative; the nearest value "
         "that works is {nearest}")
GANTRY_X(swizzle_without_format, refused,
         "Sw<{actual},{first},{second}> on bytes is no swizzle of a tensor map: those are Sw<0..3,4,3>, Sw<2,5,2> "
         "and Sw<2,6,*>; the nearest that works is Sw<{nearest},4,3>")
GANTRY_X(operand_rank, refused,
         "the tile and the cluster of a matrix product are (M,N,K), and one of them has {actual} modes; the "
         "nearest number that works is {nearest}")
GANTRY_X(merged_in_last_dimension, refused,
         "box dimension {first} would hold a group of merged modes beside others: from the fifth dimension on "
         "modes are one group, and a mode of it is a single global mode; the nearest number of merged modes that "
         "works is {nearest}")
GANTRY_X(multicast_count, refused,
         "{actual} CTAs are to share the copy: their number is known when it is planned, and at least 1; the "
         "nearest number that works is {nearest}")
GANTRY_X(multicast_needs_operation, refused,
         "{actual} CTAs share the copy, and the operation is no multicast load; the nearest number that works is "
         "{nearest}")
GANTRY_X(multicast_not_dividing, refused,
         "{actual} CTAs share extent {first} of box dimension {second}: one must divide the other; the nearest "
         "number of CTAs that works is {nearest}")
GANTRY_X(multicast_too_wide, refused,
         "{actual} CTAs share a box of {first} elements: each takes at least one; the nearest number of CTAs that "
         "works is {nearest}")
GANTRY_X(tile_not_reproduced, refused,
         "global mode {mode} shares TMA dimension {first} with other modes: the tile steps {actual} elements along "
         "it where the box would step {second}, so the box would move other elements; the nearest tile extent "
         "along it that works is {nearest}")
GANTRY_X(tile_leaves_mode, refused,
         "global mode {mode} of extent {actual} shares TMA dimension {first} with others, and a tile extent of "
         "{second} does not divide it: its last tile would run into elements of the other modes; the nearest "
         "extent that works is {nearest}")
GANTRY_X(mode_without_coordinate, refused,
         "global mode {mode} of extent {actual} has no TMA coordinate, since its extent is a static 1 or its "
         "stride a static 0, and a tile extent of {first} does not divide it: what lies outside would not be "
         "filled; the nearest tile extent that works is {nearest}")
GANTRY_X(coordinate_step_too_large, refused,
         "one step along global mode {mode} is {actual} TMA coordinates: coordinates are signed 32-bit integers; "
         "the nearest value that works is {nearest}")
GANTRY_X(bind_mismatch, refused,
         "the plan was made for another global tensor: static leaves and nesting must be the same, and mode {mode} "
         "differs, {actual} where the plan has {nearest}")
GANTRY_X(multicast_beyond_cluster, hopper,
         "{actual} CTAs share the copy, and a multicast reaches at most {first}; the nearest number that works is "
         "{nearest}")
GANTRY_X(shared_step_misaligned, hopper,
         "the tile takes several instructions, and one starts {actual} bytes into the shared tile: the shared "
         "address of a tensor copy is a multiple of 128 bytes; the nearest value that works is {nearest}")
GANTRY_X(rows_padded, hopper,
         "the innermost box extent spans {actual} bytes and the swizzle {first}: Hopper spaces rows by the span, "
         "so the tile would not lie as the shared layout says; the nearest inner extent in bytes that works is "
         "{nearest}")
// clang-format on

#undef GANTRY_X

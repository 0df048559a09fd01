// Every rule of planning: GANTRY_X(id, weight, asked, rule, remedy). {actual}, {nearest}, {first} and {second} are the
// numbers of a reason, {mode} and {other} its modes, {fault} what a layout operation answered, {element} and
// {nearest element} types. Included with GANTRY_X defined, once for each use; a file rather than a macro, so that a
// compiler that quotes the line of a rule quotes no more than that. rules/rule.hpp says what the columns are.
#ifndef GANTRY_X
#define GANTRY_X(id, weight, asked, rule, remedy)
#endif

// clang-format off
GANTRY_X(gmem_invalid, refused, "",
         "the global tensor has no valid layout",
         "{fault}")
GANTRY_X(smem_invalid, refused, "",
         "the shared memory has no valid layout",
         "{fault}")
GANTRY_X(element_without_format, refused,
         "the elements are of type {element}",
         "a tensor map has no format for them",
         "they can travel as TMA elements of type {nearest element}")
GANTRY_X(recast_width, refused,
         "values of {actual} bits cannot be moved as TMA elements of {first} bits",
         "one width must divide the other",
         "the nearest width that works is {nearest}")
GANTRY_X(recast_stride, refused,
         "global mode {mode} has stride {actual}, and a TMA element holds {first} values",
         "a stride is a whole number of TMA elements",
         "the nearest value that works is {nearest}")
GANTRY_X(recast_extent, refused,
         "the contiguous global mode has an extent of {actual} values, and a TMA element holds {first}",
         "an extent along it is a whole number of TMA elements",
         "the nearest value that works is {nearest}")
GANTRY_X(recast_needs_unit_stride, refused,
         "values are to be moved as {first} smaller TMA elements each, and no global mode has stride 1 at compile "
         "time",
         "the parts of a value lie along such a mode",
         "write the contiguous stride as _{nearest}")
GANTRY_X(tiler_rank, refused,
         "the tiler has {actual} modes and the global tensor {first}",
         "a tiler has at most as many modes as the global tensor",
         "the nearest value that works is {nearest}")
GANTRY_X(tile_invalid, refused, "",
         "the tile cannot be taken out of the global shape",
         "{fault}")
GANTRY_X(tile_dynamic, refused,
         "the extent {actual} of the tile along global mode {mode} is a run-time value",
         "a box is fixed when the kernel is compiled, so tile extents and the modes a tile spans whole must be static",
         "the nearest value that works is _{nearest}")
GANTRY_X(smem_dynamic, refused,
         "the extent {actual} of the shared layout is a run-time value",
         "shared tiles have static extents",
         "the nearest value that works is _{nearest}")
GANTRY_X(size_mismatch, refused,
         "the shared layout has {actual} elements and the tile {first}",
         "one copy fills the layout with the tile, so both have the same size",
         "a tile with the extents of the shared layout works, or a shared layout of {nearest} elements")
GANTRY_X(smem_without_unit_stride, refused,
         "the smallest static stride of the shared layout is {actual}",
         "a box is dense, so some mode must have the static stride 1",
         "the nearest value that works is _{nearest}")
GANTRY_X(shared_stride_negative, refused,
         "a mode of the shared layout has stride {actual}",
         "a box fills shared memory upwards, so its strides are not negative",
         "the nearest value that works is {nearest}")
GANTRY_X(shared_overlaps, refused,
         "a mode of stride {actual} of the shared layout steps inside the {first} elements that other modes reach "
         "over",
         "elements of the tile must not overwrite one another",
         "the nearest value that works is {nearest}")
GANTRY_X(tile_steps_over_mode, refused,
         "neighbours in shared memory are {actual} apart along global mode {mode}",
         "a box takes neighbouring elements, so the tile must not step over the mode that runs along shared memory",
         "the nearest step that works is {nearest}")
GANTRY_X(major_mismatch, refused,
         "shared memory runs along global mode {mode}, whose stride is {actual}",
         "it must run along the mode of stride 1",
         "that is mode {other}")
GANTRY_X(gmem_without_unit_stride, refused,
         "shared memory runs along global mode {mode}, whose stride is {actual}, and no global mode has stride 1",
         "the innermost dimension of a tensor map is contiguous",
         "the nearest value that works is {nearest}")
GANTRY_X(stride_negative, refused,
         "global mode {mode} has stride {actual}",
         "the strides of a tensor map are not negative",
         "the nearest value that works is {nearest}")
GANTRY_X(swizzle_without_format, refused,
         "the shared layout has Sw<{actual},{first},{second}> on bytes",
         "the swizzles of a tensor map are Sw<0..3,4,3>, Sw<2,5,2> and Sw<2,6,*>",
         "the nearest that works is Sw<{nearest},4,3>")
GANTRY_X(operand_rank, refused,
         "the tile or the cluster has {actual} modes",
         "the tile and the cluster of a GEMM are (M,N,K)",
         "the nearest number that works is {nearest}")
GANTRY_X(merged_in_last_dimension, refused,
         "box dimension {first} would hold a group of {actual} merged modes beside others",
         "from the fifth dimension on modes are one group, and a mode of it is a single global mode",
         "the nearest number of merged modes that works is {nearest}")
GANTRY_X(multicast_count, refused,
         "{actual} CTAs are to share the copy",
         "their number is known when it is planned, and at least 1",
         "the nearest number that works is {nearest}")
GANTRY_X(multicast_needs_operation, refused,
         "{actual} CTAs share the copy, and the operation is no multicast load",
         "only a multicast load is shared",
         "the nearest number that works is {nearest}")
GANTRY_X(multicast_not_dividing, refused,
         "{actual} CTAs share extent {first} of box dimension {second}",
         "one must divide the other",
         "the nearest number of CTAs that works is {nearest}")
GANTRY_X(multicast_too_wide, refused,
         "{actual} CTAs share a box of {first} elements",
         "each takes at least one",
         "the nearest number of CTAs that works is {nearest}")
GANTRY_X(tile_not_reproduced, refused,
         "global mode {mode} has stride {actual} and shares TMA dimension {first} with other modes, where the box "
         "steps by {second}",
         "a box steps through its dimension evenly, so the tile must too",
         "the nearest tile extent along the mode that works is {nearest}")
GANTRY_X(tile_leaves_mode, refused,
         "global mode {mode} of extent {actual} shares TMA dimension {first} with others, and a tile extent of "
         "{second} does not divide it",
         "the last tile must not run into elements of the other modes",
         "the nearest extent that works is {nearest}")
GANTRY_X(mode_without_coordinate, refused,
         "global mode {mode} of extent {actual} has no TMA coordinate, since its extent is a static 1 or its stride "
         "a static 0, and a tile extent of {first} does not divide it",
         "what lies outside of such a mode is not filled",
         "the nearest tile extent that works is {nearest}")
GANTRY_X(coordinate_step_too_large, refused,
         "global mode {mode} has stride {actual}, so that one step along it is {first} TMA coordinates",
         "coordinates are signed 32-bit integers",
         "the nearest stride that works is {nearest}")
GANTRY_X(bind_mismatch, refused,
         "mode {mode} of the tensor that is bound has {actual} where the plan has {nearest}",
         "a plan is bound to tensors with the same nesting and the same static leaves",
         "")
GANTRY_X(multicast_beyond_cluster, hopper,
         "{actual} CTAs share the copy, and a multicast reaches at most {first}",
         "each CTA of a multicast has one bit of its mask",
         "the nearest number that works is {nearest}")
GANTRY_X(shared_step_misaligned, hopper,
         "the tile takes several instructions, and one starts {actual} bytes into the shared tile",
         "the shared address of a tensor copy is a multiple of 128 bytes",
         "the nearest value that works is {nearest}")
GANTRY_X(rows_padded, hopper,
         "the innermost box extent spans {actual} bytes and the swizzle {first}",
         "Hopper spaces rows by the span of the swizzle, whatever the shared layout says",
         "the nearest inner extent in bytes that works is {nearest}")
// clang-format on

#undef GANTRY_X

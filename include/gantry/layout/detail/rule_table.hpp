// Every rule of the layout layer: GANTRY_X(id, asked, rule). {actual} and {wanted} stand for the two values of a Fault.
// Included with GANTRY_X defined, once for each use; a file rather than a macro, so that a compiler that quotes the
// line of a rule quotes no more than that. rules/rule.hpp says what the columns are.
#ifndef GANTRY_X
#define GANTRY_X(id, asked, rule)
#endif

// clang-format off
GANTRY_X(none, "",
         "no fault")
GANTRY_X(capacity,
         "a tuple needs {actual} nodes (leaves and parentheses) and holds at most {wanted}",
         "a tuple has a fixed number of nodes")
GANTRY_X(basis_depth,
         "a basis element names {actual} nested modes, and at most {wanted} are possible",
         "modes are nested a fixed number of levels deep")
GANTRY_X(basis_index,
         "a basis element names mode {actual}",
         "mode indices go from 0 to 31")
GANTRY_X(overflow, "",
         "an integer result does not fit in 64 bits")
GANTRY_X(layout_overflow, "",
         "the size or the span of a layout does not fit in 64 bits")
GANTRY_X(number_overflow,
         "a number does not fit in 64 bits",
         "the largest is 9223372036854775807")
GANTRY_X(denominator_range,
         "a denominator is {actual}",
         "denominators go from 1 to 65535")
GANTRY_X(division_by_zero, "",
         "a division by zero was asked for")
GANTRY_X(extent_below_one,
         "an extent is {actual}",
         "extents must be at least 1")
GANTRY_X(not_an_integer, "",
         "an integer was expected where a tuple or '_' stands")
GANTRY_X(not_an_extent, "",
         "an extent must be a plain integer, without '_' alone and without a basis '@'")
GANTRY_X(not_congruent,
         "the shape has {wanted} leaves and the stride {actual}",
         "shape and stride have the same profile")
GANTRY_X(coordinate_profile,
         "a coordinate has rank {actual} and the shape that it indexes rank {wanted}",
         "a coordinate has the profile of its shape, or is flatter")
GANTRY_X(coordinate_deeper, "",
         "a coordinate is nested more deeply than the shape that it indexes")
GANTRY_X(mode_out_of_range,
         "mode {actual} was asked for, and modes 0 to {wanted} exist",
         "a mode is one that the tuple has")
GANTRY_X(range_empty,
         "a range of modes starts at {actual} and ends before it, at {wanted}",
         "a range ends where it starts or after")
GANTRY_X(rank_mismatch,
         "two tuples have ranks {actual} and {wanted}",
         "they must have the same rank")
GANTRY_X(rank_above,
         "rank {wanted} was asked for, and the rank is {actual} already",
         "a rank can only grow")
GANTRY_X(leaf_count,
         "the leaves number {actual}, and the profile that they go on has places for {wanted}",
         "each leaf has one place")
GANTRY_X(profiles_differ,
         "two tuples have different profiles",
         "they must be nested in the same way")
GANTRY_X(basis_in_offset,
         "a layout whose strides are basis elements gives coordinates, not offsets",
         "use at()")
GANTRY_X(value_unknown,
         "a run-time value is needed that is not known at compile time",
         "bind it first")
GANTRY_X(mixed_basis, "",
         "an integer and a basis element cannot be added")
GANTRY_X(basis_product, "",
         "two basis elements cannot be multiplied")
GANTRY_X(shape_div_not_divisible,
         "shape_div of {actual} and {wanted}",
         "one must divide the other")
GANTRY_X(composition_stride,
         "composition: stride {actual} of the right layout meets extent {wanted} of a left mode",
         "one must divide the other")
GANTRY_X(composition_shape,
         "composition: extent {actual} of the right layout spans {wanted} elements of a left mode",
         "an extent must be divisible by the part of a left mode that it spans")
GANTRY_X(composition_carry,
         "composition: modes of the right layout add up to index {actual} in a left mode of {wanted} elements",
         "their sum must not carry into the next mode")
GANTRY_X(composition_sign,
         "composition: some strides of the right layout are negative",
         "over a left layout of several modes they must have one sign")
GANTRY_X(composition_basis,
         "composition: the right layout names mode {actual}, and the left layout has {wanted} modes",
         "a basis element names a mode of the left layout")
GANTRY_X(composition_rank,
         "composition: a tiler has rank {actual}, and the layout has rank {wanted}",
         "a layout has at least the rank of its tiler")
GANTRY_X(complement_overlap,
         "complement: the mode of stride {actual} overlaps the {wanted} offsets below it",
         "the layout must be injective")
GANTRY_X(complement_dynamic, "",
         "complement: only a rank-1 layout may have a stride that is not known at compile time")
GANTRY_X(complement_negative,
         "complement: a stride is {actual}",
         "strides must not be negative")
GANTRY_X(recast_width,
         "recast: {actual} bits and {wanted} bits",
         "one width must divide the other")
GANTRY_X(recast_bits,
         "recast: elements of {actual} bits were asked for",
         "widths must be at least 1 bit")
GANTRY_X(recast_too_wide,
         "recast: elements {actual} times as wide would have more than {wanted} bits",
         "the width of an element is limited")
GANTRY_X(recast_parts,
         "recast: elements of {actual} bits cannot be split into {wanted} equal parts",
         "the number of parts must divide the width")
GANTRY_X(recast_stride,
         "recast: a stride is {actual}, and an element takes the place of {wanted}",
         "a stride must be divisible by the factor, or be 1 in a mode that is")
GANTRY_X(recast_shape,
         "recast: the contiguous mode has extent {actual}, and an element takes the place of {wanted}",
         "the extent of the contiguous mode must be divisible by the factor")
GANTRY_X(swizzle_bits,
         "a swizzle of {actual} bits was asked for, and there is room for {wanted}",
         "the bits of a swizzle lie between its base and bit 63")
GANTRY_X(swizzle_base,
         "a swizzle base of {actual} was asked for",
         "the base must be at least 0")
GANTRY_X(swizzle_reach,
         "base and shift of a swizzle reach bit {actual}",
         "bits up to 62 can be swizzled")
GANTRY_X(swizzle_shift,
         "a swizzle of {wanted} bits has shift {actual}, which overlaps its own bits",
         "the magnitude of a shift must be at least the number of bits")
GANTRY_X(swizzle_recast,
         "a swizzle with base {actual} cannot be expressed for elements {wanted} times as wide",
         "whole elements are swizzled")
GANTRY_X(swizzle_product,
         "the composition of two swizzles with shifts {actual} and {wanted} is not a swizzle",
         "two swizzles compose to one where their shifts are equal and neither moves bits that the other reads")
GANTRY_X(swizzle_through_layout,
         "bit {actual} of a swizzle goes to {wanted}",
         "a layout that a swizzle is carried through moves each of its bits to one bit")
GANTRY_X(swizzle_offset,
         "the inverse of a swizzled layout needs offset {wanted}, and it is {actual}",
         "only a layout without an offset has an inverse")
GANTRY_X(swizzle_alignment,
         "a swizzled buffer starts {actual} bytes past a multiple of {wanted}",
         "it starts at a multiple of its swizzle's period")
GANTRY_X(smem_atom_width,
         "elements of {actual} bits have no shared-memory atom",
         "their width must divide 128 bits")
GANTRY_X(order_profile,
         "an order has rank {actual}, and the shape that it orders rank {wanted}",
         "an order has the profile of its shape")
GANTRY_X(product_rank,
         "a tiler has rank {actual}, and the layout {wanted}",
         "a product by mode needs a tiler of at most the layout's rank")
GANTRY_X(profile_rank,
         "a profile has rank {actual}, and the layout {wanted}",
         "a layout has at least the rank of the profile")
GANTRY_X(zip_pair,
         "the tiler has '_' for a mode of rank {actual}",
         "a zipped, tiled or flat form needs a pair (tile, rest) there: write the mode's extent instead of '_'")
GANTRY_X(divide_rank,
         "a tiler has rank {actual}, and the layout {wanted}",
         "a divide by mode needs a tiler of at most the layout's rank")
GANTRY_X(complement_basis, "",
         "complement: strides must be integers, not basis elements")
GANTRY_X(inverse_basis, "",
         "inverse: strides must be integers, not basis elements")
GANTRY_X(inverse_dynamic, "",
         "left_inverse: every stride must be known at compile time")
GANTRY_X(inverse_negative,
         "left_inverse: a stride is {actual}",
         "strides must not be negative")
GANTRY_X(inverse_stride,
         "left_inverse: a stride is {actual}, and the next smaller one {wanted}",
         "a stride must be divisible by the next smaller one")
GANTRY_X(recast_basis, "",
         "recast: strides must be integers, not basis elements")
GANTRY_X(recast_factor,
         "recast: elements {actual} times as wide were asked for",
         "the factor must be at least 1")
GANTRY_X(downcast_contiguous, "",
         "downcast: no mode has the fixed stride 1, so the parts of an element have no mode to lie along")
GANTRY_X(target_rank,
         "tile_to_shape: a block has rank {actual} and the target shape rank {wanted}",
         "a block has at most the rank of the target")
GANTRY_X(target_shape,
         "tile_to_shape: the target has extent {actual} and the block {wanted}",
         "an extent of the target must be divisible by the block's")
GANTRY_X(parse, "",
         "the text could not be read")
// clang-format on

#undef GANTRY_X

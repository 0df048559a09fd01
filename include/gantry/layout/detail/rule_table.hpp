// Every rule of the layout layer: GANTRY_X(id, sentence). {actual} and {wanted} stand for the two values of a Fault.
// Included with GANTRY_X defined, once for each use; a file rather than a macro, so that a compiler that quotes the
// line of a rule quotes no more than that.
#ifndef GANTRY_X
#define GANTRY_X(id, sentence)
#endif

// clang-format off
GANTRY_X(none, "no fault")
GANTRY_X(capacity, "a tuple needs {actual} nodes (leaves and parentheses): a tuple holds at most {wanted}")
GANTRY_X(basis_depth, "a basis element names {actual} nested modes: at most {wanted} are possible")
GANTRY_X(basis_index, "a basis element names mode {actual}: mode indices go from 0 to 31")
GANTRY_X(overflow, "an integer result does not fit in 64 bits")
GANTRY_X(layout_overflow, "the size or the span of a layout does not fit in 64 bits")
GANTRY_X(number_overflow, "a number does not fit in 64 bits: the largest is 9223372036854775807")
GANTRY_X(denominator_range, "a denominator is {actual}: denominators go from 1 to {wanted}")
GANTRY_X(division_by_zero, "a division by zero was asked for")
GANTRY_X(extent_below_one, "an extent is {actual}: extents must be at least {wanted}")
GANTRY_X(not_an_integer, "an integer was expected where a tuple or '_' stands")
GANTRY_X(not_an_extent, "an extent must be a plain integer, without '_' alone and without a basis '@'")
GANTRY_X(not_congruent,
         "shape and stride have different profiles: the shape's leaves number {wanted}, the stride's {actual}")
GANTRY_X(coordinate_profile, "a coordinate has rank {actual}: the shape that it indexes has rank {wanted}")
GANTRY_X(coordinate_deeper, "a coordinate is nested more deeply than the shape that it indexes")
GANTRY_X(mode_out_of_range, "mode {actual} was asked for: modes 0 to {wanted} exist")
GANTRY_X(range_empty, "a range of modes starts at {actual} and ends before it, at {wanted}")
GANTRY_X(rank_mismatch, "two tuples have ranks {actual} and {wanted}: they must have the same rank")
GANTRY_X(rank_above, "rank {wanted} was asked for: the rank is {actual} already")
GANTRY_X(leaf_count, "the leaves number {actual}: the profile that they go on has places for {wanted}")
GANTRY_X(profiles_differ, "two tuples have different profiles: they must be nested in the same way")
GANTRY_X(basis_in_offset, "a layout whose strides are basis elements gives coordinates, not offsets: use at()")
GANTRY_X(value_unknown, "a run-time value is needed that is not known at compile time: bind it first")
GANTRY_X(mixed_basis, "an integer and a basis element cannot be added")
GANTRY_X(basis_product, "two basis elements cannot be multiplied")
GANTRY_X(shape_div_not_divisible, "shape_div: {actual} and {wanted} must divide one another")
GANTRY_X(composition_stride,
         "composition: stride {actual} of the right layout and extent {wanted} of a left mode must divide one "
         "another")
GANTRY_X(composition_shape,
         "composition: extent {actual} of the right layout must be divisible by {wanted}, the part of a left "
         "mode that it spans")
GANTRY_X(composition_carry,
         "composition: modes of the right layout add up to index {actual} in a left mode of {wanted} "
         "elements: their sum must not carry into the next mode")
GANTRY_X(composition_sign,
         "composition: over a left layout of several modes the strides of the right layout must have one "
         "sign, and some are negative")
GANTRY_X(composition_basis,
         "composition: the right layout names mode {actual}, and the left layout has {wanted} modes")
GANTRY_X(composition_rank,
         "composition: a tiler of rank {actual} needs a layout of at least that rank, and it has rank {wanted}")
GANTRY_X(complement_overlap,
         "complement: the layout must be injective, and the mode of stride {actual} overlaps the {wanted} "
         "offsets below it")
GANTRY_X(complement_dynamic, "complement: only a rank-1 layout may have a stride that is not known at compile time")
GANTRY_X(complement_negative, "complement: strides must not be negative, and one is {actual}")
GANTRY_X(recast_width, "recast: {actual} bits and {wanted} bits must divide one another")
GANTRY_X(recast_bits, "recast: elements of {actual} bits were asked for: widths must be at least {wanted} bit")
GANTRY_X(recast_too_wide, "recast: elements {actual} times as wide would have more than {wanted} bits")
GANTRY_X(recast_parts, "recast: elements of {actual} bits cannot be split into {wanted} equal parts")
GANTRY_X(recast_stride, "recast: stride {actual} must be divisible by {wanted}, or be 1 in a mode that is")
GANTRY_X(recast_shape, "recast: extent {actual} of the contiguous mode must be divisible by {wanted}")
GANTRY_X(swizzle_bits, "a swizzle of {actual} bits was asked for: bits go from 0 to {wanted}")
GANTRY_X(swizzle_base, "a swizzle base of {actual} was asked for: the base must be at least {wanted}")
GANTRY_X(swizzle_reach, "base and shift of a swizzle reach bit {actual}: bits up to {wanted} can be swizzled")
GANTRY_X(swizzle_shift, "a swizzle shift of {actual} overlaps its own bits: its magnitude must be at least {wanted}")
GANTRY_X(swizzle_recast, "a swizzle with base {actual} cannot be expressed for elements {wanted} times as wide")
GANTRY_X(swizzle_product, "the composition of these two swizzles is not a swizzle: shifts {actual} and {wanted}")
GANTRY_X(swizzle_through_layout,
         "a swizzle cannot be carried through a layout that does not move each of its bits to one bit: bit "
         "{actual} goes to {wanted}")
GANTRY_X(swizzle_offset, "the inverse of a swizzled layout needs offset {wanted}, and it is {actual}")
GANTRY_X(swizzle_alignment,
         "a swizzled buffer starts {actual} bytes past a multiple of {wanted}, its swizzle's period")
GANTRY_X(smem_atom_width,
         "elements of {actual} bits have no shared-memory atom: the width must divide {wanted} bits")
GANTRY_X(order_profile, "an order has rank {actual}: the shape that it orders has rank {wanted}")
GANTRY_X(product_rank, "a product by mode needs a tiler of rank at most {wanted}: this one has rank {actual}")
GANTRY_X(profile_rank, "a profile of rank {actual} needs a layout of at least that rank, and it has rank {wanted}")
GANTRY_X(zip_pair,
         "a zipped, tiled or flat form needs a pair (tile, rest) where the tiler has '_', and that mode has "
         "rank {actual}: write the mode's extent instead of '_'")
GANTRY_X(divide_rank, "a divide by mode needs a tiler of rank at most {wanted}: this one has rank {actual}")
GANTRY_X(complement_basis, "complement: strides must be integers, not basis elements")
GANTRY_X(inverse_basis, "inverse: strides must be integers, not basis elements")
GANTRY_X(inverse_dynamic, "left_inverse: every stride must be known at compile time")
GANTRY_X(inverse_negative, "left_inverse: strides must not be negative, and one is {actual}")
GANTRY_X(inverse_stride, "left_inverse: stride {actual} must be divisible by {wanted}, the next smaller stride")
GANTRY_X(recast_basis, "recast: strides must be integers, not basis elements")
GANTRY_X(recast_factor,
         "recast: elements {actual} times as wide were asked for: the factor must be at least {wanted}")
GANTRY_X(downcast_contiguous,
         "downcast: no mode has the fixed stride 1, so the parts of an element have no mode to lie along")
GANTRY_X(target_rank, "tile_to_shape: a block of rank {actual} does not fit in a target shape of rank {wanted}")
GANTRY_X(target_shape,
         "tile_to_shape: extent {actual} of the target must be divisible by {wanted}, the block's extent")
GANTRY_X(parse, "the text could not be read")
// clang-format on

#undef GANTRY_X

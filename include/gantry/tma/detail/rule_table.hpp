// Every rule of tensor maps and of copies through them: GANTRY_X(id, severity, asked, rule, source). What was asked
// begins with the field and its value; {first} and {second} stand for the two numbers of a violation. Included with
// GANTRY_X defined, once for each use; a file rather than a macro, so that a compiler that quotes the line of a rule
// quotes no more than that. rules/rule.hpp says what the columns are.
#ifndef GANTRY_X
#define GANTRY_X(id, severity, asked, rule, source)
#endif

// clang-format off
GANTRY_X(mode_unknown, driver_rejects, "",
         "a map is tiled or im2col",
         "there are two encoders")
GANTRY_X(data_type_not_on_hopper, driver_rejects, "",
         "Hopper has element types 0 to 12; packed 4- and 6-bit values travel as u8",
         "driver API, tensorDataType; observed")
GANTRY_X(rank_out_of_range, driver_rejects, "",
         "a tensor map has 1 to 5 dimensions",
         "driver API, tensorRank; observed")
GANTRY_X(rank_too_low_for_interleave, driver_rejects, "",
         "an interleaved map has at least 3 dimensions",
         "driver API, tensorRank; observed")
GANTRY_X(rank_not_im2col, driver_rejects, "",
         "an im2col map has 3 (NWC), 4 (NHWC) or 5 (NDHWC) dimensions",
         "driver API, cuTensorMapEncodeIm2col, tensorRank; observed")
GANTRY_X(address_misaligned, driver_rejects, "",
         "the global address is a multiple of 16 bytes, of 32 with 32-byte interleave",
         "driver API, globalAddress; observed")
GANTRY_X(swizzled_address_misaligned, pitfall, "",
         "the programming guide asks for a 128-byte aligned address when the map is swizzled, although the driver "
         "takes 16",
         "CUDA C++ programming guide; the driver accepts it")
GANTRY_X(extent_out_of_range, driver_rejects, "",
         "an extent is 1 to 2^32 elements",
         "driver API, globalDim; observed")
GANTRY_X(spatial_extent_too_large, driver_rejects, "",
         "a spatial extent of an im2col map is less than 2^31",
         "observed")
GANTRY_X(extent_beyond_coordinates, pitfall, "",
         "coordinates are signed 32-bit integers, so no copy can start at 2^31 or beyond",
         "PTX ISA, cp.async.bulk.tensor")
GANTRY_X(stride_not_multiple, driver_rejects, "",
         "a stride is a multiple of 16 bytes, of 32 with 32-byte interleave",
         "driver API, globalStrides; observed")
GANTRY_X(stride_too_large, driver_rejects, "",
         "a stride is less than 2^40 bytes",
         "driver API, globalStrides; observed")
GANTRY_X(box_extent_out_of_range, driver_rejects, "",
         "a box has 1 to 256 elements along each dimension",
         "driver API, boxDim; observed")
GANTRY_X(inner_box_bytes_not_multiple_of_16, driver_rejects,
         ", {first} bytes",
         "the innermost extent spans a multiple of 16 bytes",
         "driver API, boxDim; observed")
GANTRY_X(inner_box_bytes_exceed_swizzle_span, driver_rejects,
         ", {first} bytes, and the swizzle covers {second}",
         "the innermost extent is not wider than its swizzle",
         "driver API, swizzle; observed")
GANTRY_X(inner_box_narrower_than_swizzle_span, pitfall,
         ", {first} bytes, and the swizzle spaces rows {second} bytes apart",
         "rows that are narrower than their swizzle leave gaps in shared memory",
         "observed")
GANTRY_X(box_bytes_too_large, driver_rejects,
         ", and one copy would deliver {first} bytes where {second} are possible",
         "a box delivers at most what the shared memory of an SM has",
         "observed")
GANTRY_X(box_exceeds_shared_memory, documented,
         ", and one copy would fill {first} bytes of shared memory where a block has {second}",
         "a box fits into the shared memory of a block",
         "CUDA C++ programming guide, compute capability 9.0")
GANTRY_X(element_stride_out_of_range, driver_rejects, "",
         "an element stride is 1 to 8",
         "driver API, elementStrides; observed")
GANTRY_X(element_stride_ignored, pitfall, "",
         "dimension 0 cannot be strided without interleave, and the driver ignores the entry",
         "driver API, elementStrides; observed")
GANTRY_X(interleave_unknown, driver_rejects, "",
         "interleave is none (0), 16B (1) or 32B (2)",
         "driver API, interleave; observed")
GANTRY_X(interleave_needs_swizzle_32, documented, "",
         "32-byte interleave is documented with the 32-byte swizzle only",
         "driver API, interleave; the driver accepts it")
GANTRY_X(swizzle_not_on_hopper, driver_rejects, "",
         "Hopper swizzles by none (0), 32B (1), 64B (2) or 128B (3)",
         "driver API, swizzle; observed")
GANTRY_X(l2_promotion_unknown, driver_rejects, "",
         "L2 promotion is none (0), 64B (1), 128B (2) or 256B (3)",
         "driver API, l2Promotion; observed")
GANTRY_X(fill_unknown, driver_rejects, "",
         "the fill is zero (0) or nan (1)",
         "driver API, oobFill; observed")
GANTRY_X(fill_needs_floating_type, driver_rejects, "",
         "only floating-point elements can be filled with NaN",
         "driver API, oobFill; observed")
GANTRY_X(corner_out_of_range, driver_rejects,
         ", and with this rank a corner is {first} to {second}",
         "the corners of a pixel box are signed numbers of 16 bits with rank 3, of 8 with rank 4 and of 5 with rank 5",
         "driver API, pixelBoxLowerCorner and pixelBoxUpperCorner; observed")
GANTRY_X(pixel_box_empty, driver_rejects,
         ", and the pixel box runs from {first} to {second} on this axis",
         "a pixel box holds at least one pixel along each axis",
         "driver API, pixelBoxLowerCorner and pixelBoxUpperCorner; observed")
GANTRY_X(channels_out_of_range, driver_rejects, "",
         "a pixel has 1 to 256 channels",
         "driver API, channelsPerPixel; observed")
GANTRY_X(pixels_out_of_range, driver_rejects, "",
         "a column has 1 to 1024 pixels",
         "driver API, pixelsPerColumn; observed")
GANTRY_X(map_kind_mismatch, device_faults, "",
         "tiled operations take tiled maps and im2col operations im2col maps",
         "observed: error 715")
GANTRY_X(reduce_add_type, documented, "",
         "a TMA reduction by add takes u32, s32, u64, f16, f32, f64 and bf16",
         "PTX ISA, cp.reduce.async.bulk.tensor; observed: f64 too, error 715 for others")
GANTRY_X(reduce_min_max_type, documented, "",
         "a TMA reduction by min or max takes u32, s32, u64, s64, f16 and bf16",
         "PTX ISA, cp.reduce.async.bulk.tensor")
GANTRY_X(reduce_inc_dec_type, documented, "",
         "a TMA reduction by inc or dec takes u32",
         "PTX ISA, cp.reduce.async.bulk.tensor")
GANTRY_X(reduce_bitwise_type, documented, "",
         "a TMA reduction by and, or or xor takes u32, s32 and u64",
         "PTX ISA, cp.reduce.async.bulk.tensor; observed: error 715 for s64")
GANTRY_X(store_overlaps_itself, documented, "",
         "with stride 0 several elements of one box are stored to the same address, in no order",
         "PTX ISA, cp.async.bulk.tensor: accesses are weak and unordered")
GANTRY_X(store_ends_inside_chunk, pitfall,
         ", and the innermost extent ends {first} bytes into a chunk",
         "stores and reductions write whole chunks of 16 bytes, so that the rest of the last chunk is written too",
         "observed")
GANTRY_X(instruction_rank_mismatch, device_faults, "",
         "the instruction and the map have the same rank",
         "observed: error 715")
GANTRY_X(coordinate_misaligned, device_faults,
         ", {first} bytes into its row",
         "coordinate 0 starts at a multiple of 16 bytes",
         "observed: error 715")
GANTRY_X(coordinate_negative, device_faults, "",
         "a store or reduction never starts below 0",
         "PTX ISA; observed: error 715")
GANTRY_X(start_outside_pixel_box, device_faults,
         ", and the pixel box goes from {first} to {second} on this axis",
         "an im2col copy starts inside the pixel box",
         "observed: error 715")
GANTRY_X(offset_out_of_range, documented,
         ", and with this rank an offset is {first} to {second}",
         "im2col offsets have 16 bits with rank 3, 8 with rank 4 and 5 with rank 5",
         "PTX ISA, cp.async.bulk.tensor im2col offsets")
GANTRY_X(shared_address_misaligned, device_faults, "",
         "the shared address of a tensor copy is a multiple of 128 bytes",
         "observed: error 716")
GANTRY_X(convolution_rank, driver_rejects, "",
         "an activation tensor has 1 (NWC), 2 (NHWC) or 3 (NDHWC) spatial dimensions",
         "driver API, cuTensorMapEncodeIm2col, tensorRank; observed")
GANTRY_X(convolution_extent, driver_rejects, "",
         "an extent of the activation tensor is 1 to 2^32",
         "driver API, globalDim; observed")
GANTRY_X(filter_extent, driver_rejects, "",
         "a filter has at least 1 tap along each axis",
         "definition of a convolution")
GANTRY_X(filter_dilation, driver_rejects, "",
         "taps are at least 1 pixel apart",
         "definition of a convolution")
GANTRY_X(convolution_stride, driver_rejects, "",
         "the stride of a convolution becomes an element stride of the map, 1 to 8",
         "driver API, elementStrides; observed")
GANTRY_X(filter_reach, documented,
         ", so that the last tap lies {first} pixels after the first, and with this rank an offset is at most "
         "{second}",
         "the taps of a filter are im2col offsets",
         "PTX ISA, cp.async.bulk.tensor im2col offsets")
GANTRY_X(lower_padding, driver_rejects,
         ", and with this rank it is {first} to {second}",
         "the lower padding becomes a corner of the pixel box",
         "driver API, pixelBoxLowerCorner; observed")
GANTRY_X(upper_padding, driver_rejects,
         ", and here it is {first} to {second}",
         "the upper padding less the reach of the filter becomes a corner of the pixel box",
         "driver API, pixelBoxUpperCorner; observed")
GANTRY_X(output_empty, driver_rejects,
         ", so that the padded input has {first} pixels on this axis and the filter needs {second}",
         "a convolution has at least one output pixel along each axis",
         "driver API, pixelBoxLowerCorner and pixelBoxUpperCorner; observed")
GANTRY_X(store_taps, documented, "",
         "an im2col store has no offsets, so that its filter has one tap along each axis",
         "PTX ISA, cp.async.bulk.tensor .im2col_no_offs")
GANTRY_X(store_padding, device_faults, "",
         "a store never starts below 0, and lower padding is where its first pixel starts",
         "PTX ISA; observed: error 715")
GANTRY_X(shared_by_ctas, documented,
         ", and a multicast names {first} to {second}",
         "each CTA of a multicast has one bit of its mask",
         "PTX ISA, cp.async.bulk.tensor .multicast::cluster")
GANTRY_X(shared_without_multicast, documented, "",
         "only a multicast load is shared by several CTAs",
         "PTX ISA, cp.async.bulk.tensor .multicast::cluster")
GANTRY_X(shared_pixels_uneven, device_faults,
         ", and {first} CTAs share them",
         "CTAs that share a tile have the same number of its pixels, each from a multiple of 128 bytes of shared "
         "memory on",
         "definition of a multicast tile; observed: error 716")
GANTRY_X(tile_exceeds_shared_memory, documented,
         ", and a block has {second} bytes of shared memory",
         "a tile fits into the shared memory of a block",
         "CUDA C++ programming guide, compute capability 9.0")
// clang-format on

#undef GANTRY_X

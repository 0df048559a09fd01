// Every rule of what a host hands to an epilogue or a GEMM: GANTRY_X(id, weight, asked, rule, remedy), as
// rules/rule.hpp says. Included with GANTRY_X defined, once for each use.
//
// {operand} is A, B, C, D, a size (M, N, K, batch) or an argument of the fusion by its name, {other} a second one;
// {written} is the one of the two that is written and {read} the other. {lines} are rows or columns, {size} is the N or
// M that they are long, {stride} is a stride or a batch stride, {kind} what an argument is. {words} are a text from
// elsewhere, {tma} and {graph} are sentences of those layers.
#ifndef GANTRY_X
#define GANTRY_X(id, weight, asked, rule, remedy)
#endif

// clang-format off

// ---- Sizes
GANTRY_X(size_negative, refused,
         "{operand} is {actual}",
         "sizes are not negative",
         "the nearest value that works is 0, which computes nothing")
GANTRY_X(size_zero, refused,
         "{operand} is {actual}",
         "an epilogue by itself has M, N and a batch of 1 or more",
         "the nearest value that works is {nearest}")
GANTRY_X(size_too_large, refused,
         "{operand} is {actual}",
         "TMA coordinates have 32 bits",
         "the nearest value that works is {nearest}")
GANTRY_X(group_lines, refused,
         "{operand} is {actual}, of all groups",
         "ragged tensor maps count the rows of a group up to 2^30",
         "the nearest value that works is {nearest}")
GANTRY_X(gate_columns, refused,
         "N is {actual}, and the epilogue is gated",
         "gate and up have the same number of columns, and both come from B 8 rows at a time: N is a multiple of 16",
         "the nearest value that works is {nearest}")
GANTRY_X(rotated_columns, refused,
         "D has {actual} column{s}, and the epilogue rotates pairs in heads of {first}",
         "every column has its partner: the columns of D are a multiple of a head's",
         "the nearest larger number that works is {nearest}")
GANTRY_X(row_in_one_tile, refused,
         "D has {actual} columns, a tile has {first} of them and a cluster {second} times as many, and the epilogue combines "
         "all columns of a row",
         "a row that is combined lies in the tiles of one cluster, each of which has at most 256 columns",
         "the nearest number that works is {nearest}")
GANTRY_X(too_many_tiles, refused,
         "the GEMM has {actual} K tiles",
         "the K tiles of a GEMM are counted in 30 bits",
         "with M = {nearest}, or as much smaller a batch or N, this works")
GANTRY_X(too_many_tiles_for_any_m, refused,
         "the GEMM has {actual} K tiles, and too many with M = 1",
         "the K tiles of a GEMM are counted in 30 bits for any M",
         "a smaller N, K or batch works")

// ---- Groups
GANTRY_X(groups_missing, refused,
         "the kernel is for groups, and no array of groups was given",
         "a grouped GEMM reads on the device where its groups begin, how many rows they have, or what its GEMMs are",
         "give offsets, one more than there are groups, or counts; of a pointer array, the array of GEMMs")
GANTRY_X(groups_not_asked, refused,
         "groups were given, and the kernel is for GEMMs without",
         "the options of a grouped GEMM say along which mode its groups are",
         "with the grouping in the options this works")
GANTRY_X(groups_twice, refused,
         "groups were given in more than one form",
         "groups follow one another (offsets), have a fixed capacity (counts), or share nothing (a pointer array)",
         "one of the three works")
GANTRY_X(groups_masked_k, refused,
         "counts were given, and groups are along K",
         "groups of fixed capacity are groups of rows of A and D",
         "offsets work")
GANTRY_X(groups_capacity, refused,
         "M is {actual}, for {first} groups of the same capacity",
         "with counts, M is a multiple of the number of groups",
         "the nearest larger value that works is {nearest}")
GANTRY_X(pointers_missing, refused,
         "the kernel is for a pointer array, and offsets or counts of groups were given",
         "each GEMM of a pointer array has sizes and matrices of its own, which stand in an array on the device",
         "give the array of GEMMs")
GANTRY_X(pointers_not_asked, refused,
         "a pointer array was given, and the kernel is for groups of rows of shared matrices",
         "the options of a pointer array say that it is one",
         "with the grouping of a pointer array in the options this works")
GANTRY_X(pointers_extent, refused,
         "{operand} is {actual}, and the GEMM is a pointer array",
         "M, N and K are then those of a usual GEMM, for which the kernel is chosen; those of the array may be 0",
         "the nearest value that works is {nearest}")
GANTRY_X(pointers_matrix, refused,
         "{operand} was given, and the GEMM is a pointer array",
         "each GEMM of a pointer array has matrices of its own, whose addresses stand in the array",
         "without {operand} this works")

// ---- Gathered rows
GANTRY_X(gather_missing, refused,
         "the kernel gathers rows of A, and no index was given",
         "an index on the device says which row of A each row of the GEMM is",
         "give M indices, and how many rows A has")
GANTRY_X(gather_not_asked, refused,
         "an index of A's rows was given, and the kernel is for rows as they lie",
         "the options of a GEMM say that it gathers rows",
         "with gather_a in the options this works")
GANTRY_X(gather_too_large, refused,
         "A has {actual} row{s}, {first} bytes apart",
         "chunks of 16 bytes of an A whose rows are gathered are numbered in 32 bits: it has 64 GiB at most",
         "the nearest value that works is {nearest} rows")

GANTRY_X(scatter_missing, refused,
         "the kernel scatters rows of D, and no index was given",
         "an index on the device says which row of D each row of the GEMM goes to",
         "give M indices, and how many rows D has")
GANTRY_X(scatter_not_asked, refused,
         "an index of D's rows was given, and the kernel is for rows as they lie",
         "the options of a GEMM say that it scatters rows",
         "with scatter_d in the options this works")

// ---- Addresses
GANTRY_X(matrix_missing, refused,
         "{operand} was not given",
         "a matrix that is read or written has an address",
         "")
GANTRY_X(source_missing, refused,
         "{operand} was not given",
         "the expression uses C, and no factor of it is 0",
         "")
GANTRY_X(scale_missing, refused,
         "{operand} was not given",
         "a GEMM whose blocks are scaled is given their scales",
         "")
GANTRY_X(scale_unused, refused,
         "{operand} was given",
         "scales are given to a GEMM that was made with them",
         "the option of the same name makes one")
GANTRY_X(scales_too_large, refused,
         "{operand} has scales up to {actual} elements behind the first",
         "bytes of an operand's scales are numbered in 32 bits: from the first to the last they span 4 GiB at most",
         "the nearest value that works is {nearest} elements")
GANTRY_X(address_misaligned, refused,
         "{operand} begins {actual} byte{s} beyond a multiple of 16",
         "TMA reads and writes from multiples of 16 bytes on",
         "the next address that works is {nearest} bytes further, or any with an alignment of 1 (align_d)")
GANTRY_X(element_misaligned, refused,
         "{operand} begins {actual} byte{s} beyond a multiple of {first}",
         "an address is a multiple of the size of its elements",
         "the next address that works is {nearest} bytes further")

// ---- Strides
GANTRY_X(stride_too_long, refused,
         "{operand} has a {stride} of {actual} elements of {element}",
         "a stride is less than 2^40 bytes",
         "the nearest {stride} that works is {nearest}")
GANTRY_X(stride_too_short, refused,
         "{operand} has {lines} of {first} elements and a stride of {actual}",
         "rows and columns do not overlap",
         "the nearest stride that works is {nearest}")
GANTRY_X(stride_misaligned, refused,
         "{operand} has a {stride} of {actual} elements of {element}, which is {first} bytes",
         "TMA takes strides of whole 16 bytes",
         "the nearest {stride} that works is {nearest}, or any with an alignment of 1 (align_c, align_d, align_aux)")
GANTRY_X(batch_stride_negative, refused,
         "{operand} has a batch stride of {actual} elements",
         "matrices of a batch follow each other in memory, or are the same",
         "the nearest batch stride that works is 0 where it is read, and the size of a matrix where it is written")
GANTRY_X(batch_stride_misaligned, refused,
         "{operand} has a batch stride of {actual} elements of {element}",
         "each matrix begins at a multiple of 16 bytes and outside of those before it",
         "a batch stride that works is {nearest}")
GANTRY_X(batches_overlap, refused,
         "batches 0 and {first} of {operand} overlap with a batch stride of {actual}",
         "batches that are written do not overlap",
         "a batch stride that works is {nearest}")
GANTRY_X(results_overlap, refused,
         "{operand} has {first} results for each batch and a batch stride of {actual}",
         "results of different batches do not overlap",
         "the nearest batch stride that works is {nearest}")
GANTRY_X(mask_stride, refused,
         "{operand} has a {stride} of {actual} bit{s}",
         "strides of a 1-bit tensor are whole bytes",
         "the next {stride} that works is {nearest}")
GANTRY_X(ends_inside_chunk, refused,
         "{size} is {actual}, and {lines} of {operand} end {first} bytes into 16",
         "TMA writes whole 16 bytes",
         "the nearest {size} that works is {nearest}{next larger}, or any with an alignment of 1 (align_d, align_aux)")
GANTRY_X(tensor_map, refused,
         "{operand} cannot be copied by TMA",
         "the tensor map of an operand keeps the rules of TMA",
         "{tma}")

// ---- Tensors of a convolution
GANTRY_X(images_and_batches, refused,
         "{operand} is the tensor of a convolution, and the batch is {actual}",
         "the tensor of a convolution has images and no batches",
         "a batch of {nearest} works")
GANTRY_X(pixels_differ, refused,
         "{operand} has {words} = {actual} pixels, and M is {first}",
         "the pixels of a convolution are the rows of its GEMM",
         "M = {nearest} works")

// ---- Memory that operands share
GANTRY_X(read_while_written, refused,
         "{operand} begins {actual} byte{s} into {other}",
         "what one tile writes no other tile reads",
         "{read} is read while {written} is written: give {written} memory of its own")
GANTRY_X(written_twice, refused,
         "{operand} begins {actual} byte{s} into {other}",
         "what one tile writes no other tile writes",
         "both are written: give {written} memory of its own")
GANTRY_X(in_place_of_another, refused,
         "{operand} begins {actual} byte{s} into {other}",
         "an output takes the place of an input element for element",
         "{written} may take the place of {read} with the same address, strides and major, and elements as wide")

// ---- Arguments of the fusion
GANTRY_X(unknown_name, refused,
         "there is no argument {operand}",
         "arguments are given by the names that the fusion has",
         "{known names}")
GANTRY_X(argument_missing, refused,
         "{operand}, {kind}, was not given",
         "an argument without a default is given",
         "")
GANTRY_X(argument_null, refused,
         "{operand}, {kind}, was given a null address",
         "an argument without a default has an address",
         "")
GANTRY_X(number_for_address, refused,
         "{operand}, {kind}, was given a number",
         "tensors and reductions are given by their address",
         "")
GANTRY_X(scalars_by_address, refused,
         "{operand}, {kind}, was given as an array of addresses, and the GEMM is no pointer array",
         "the GEMMs of a pointer array have addresses of their own; batches and groups have a stride",
         "with one address and a batch stride of 1 this works")
GANTRY_X(seed_by_value, refused,
         "{operand}, the seed of dropout, was given by value, and not as a whole number from 0 to {first}",
         "a number that is given by value is a float, which holds such numbers exactly",
         "a larger seed is given by its address, as {element}")
GANTRY_X(element_differs, refused,
         "{operand}, {kind} of {element}, was given the address of {given}",
         "an address is of the argument's element type",
         "")
GANTRY_X(output_is_const, refused,
         "{operand}, {kind}, was given a const address",
         "what is written is not const",
         "")
GANTRY_X(source_without_element, refused,
         "the expression uses {operand}",
         "the epilogue has C where the expression uses it",
         "give the element type of C")
GANTRY_X(gate_differs, refused,
         "the expression has gate(acc) or up(acc), or the kernel is for one that has",
         "a kernel takes one accumulator for each value of D, or the gate's and up's",
         "an expression of the kernel's kind works")
GANTRY_X(d_not_stored, refused,
         "the expression gives {operand}",
         "the epilogue stores D where the expression gives it",
         "give the element type of D")
GANTRY_X(d_not_given, refused,
         "the expression gives no {operand}",
         "the expression gives D where the epilogue stores it",
         "d = acc works")
GANTRY_X(graph, refused,
         "",
         "the graph of a fusion is well formed",
         "{graph}")
GANTRY_X(loop_element, refused,
         "{operand} is a tensor of {element}",
         "a graph at run time stages the element types that its loop was built with",
         "u1{words} work")
GANTRY_X(loop_heads, refused,
         "the graph rotates pairs in heads of {first} columns",
         "a kernel whose graph comes at run time has subtiles of whole heads, and operands that are not swapped",
         "heads of 2 columns, and of 16, 32, ... that divide {nearest}, work where operands are not swapped")
GANTRY_X(loop_columns, refused,
         "the graph combines {first} columns of a row",
         "a kernel whose graph comes at run time combines columns that lie in one of its subtiles, and operands are not swapped",
         "blocks that divide {nearest} columns work where operands are not swapped")
GANTRY_X(loop_row_blocks, refused,
         "{operand} has one result for each {actual} rows, and this kernel, whose graph comes at run time, subtiles of {first}",
         "a block is of whole subtiles, and a tile of whole blocks",
         "one result for each {nearest} rows works")
GANTRY_X(loop_column_blocks, refused,
         "{operand} has one result for each {actual} columns, and this kernel, whose graph comes at run time, subtiles of {first}",
         "a block is of whole subtiles, and a tile of whole blocks",
         "one result for each {nearest} columns works")
GANTRY_X(loop_shared_memory, refused,
         "the graph takes {actual} bytes of shared memory",
         "a graph at run time has as much shared memory as its loop was built with",
         "there are {nearest}")
GANTRY_X(callbacks, refused,
         "",
         "the callbacks of the epilogue accept their arguments",
         "{words}")

// ---- The device and its memory
GANTRY_X(no_device, refused,
         "there is no GPU here",
         "a plan is made for a device",
         "gantry::Simulator runs kernels without one")
GANTRY_X(no_configuration, refused,
         "",
         "a plan is made for one of the GEMMs of its set",
         "{words}")
GANTRY_X(out_of_memory, refused,
         "{actual} bytes of workspace are needed",
         "the device has memory for the workspace",
         "")
GANTRY_X(workspace_missing, refused,
         "no workspace was given",
         "a deterministic reduction takes workspace",
         "{nearest} bytes work")
GANTRY_X(workspace_too_small, refused,
         "the workspace has {actual} byte{s}",
         "a workspace has as many bytes as workspace_bytes() says for its device",
         "{nearest} bytes work")
GANTRY_X(workspace_misaligned, refused,
         "the workspace begins {actual} byte{s} beyond a multiple of 16",
         "a workspace begins at a multiple of 16 bytes",
         "the next address that works is {nearest} bytes further")
GANTRY_X(workspace_not_cleared, refused,
         "the workspace could not be cleared",
         "a plan clears its workspace",
         "{words}")
GANTRY_X(map_not_encoded, refused,
         "a tensor map could not be encoded",
         "the driver encodes the tensor maps of a plan",
         "{words}")
// clang-format on

#undef GANTRY_X

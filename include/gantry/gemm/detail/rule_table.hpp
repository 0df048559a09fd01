// Every rule of a GEMM's options: GANTRY_X(id, weight, asked, rule, remedy), as rules/rule.hpp says. Included with
// GANTRY_X defined, once for each use; a file rather than a macro, so that a compiler that quotes the line of a rule
// quotes no more than that.
//
// {operand} is the letter of a matrix or of an extent, {element} and {other} are element types, {setting} is a field of
// the epilogue's builder with what a GEMM has in its place, and {epilogue} a sentence of the epilogue.
#ifndef GANTRY_X
#define GANTRY_X(id, weight, asked, rule, remedy)
#endif

// clang-format off
GANTRY_X(element, refused,
         "{operand} has elements of {element}",
         "wgmma multiplies f16, bf16, tf32, e4m3, e5m2, s8 and u8",
         "the nearest type that works is {other}")
GANTRY_X(element_pair, refused,
         "A has elements of {element} and B of {other}",
         "both are of one type, or any mixture of e4m3 and e5m2, or of s8 and u8",
         "the nearest B that works is {element}")
GANTRY_X(major, refused,
         "{operand} has elements of {element} and is not contiguous along K",
         "only elements of 16 bits may be contiguous along M or N",
         "Major::K works")
GANTRY_X(no_d, refused,
         "D has no element type, and the expression gives D",
         "what is stored has an element type",
         "the nearest type that works is bf16")
GANTRY_X(layout, refused,
         "{operand} is the tensor of a convolution or of a pointer array",
         "a GEMM has matrices, row-major or column-major",
         "RowMajor works")
GANTRY_X(tile_rows, refused,
         "the tile has {actual} row{s}",
         "a tile of one warpgroup has 64, 128 or 192, one that two share has 128 or 256",
         "the nearest value that works is {nearest}")
GANTRY_X(few_rows, refused,
         "the tile has {actual} row{s}",
         "fewer than 64 rows are those of swapped operands, the option swapped (--swap)",
         "the nearest value that works without it is {nearest}")
GANTRY_X(pingpong_rows, refused,
         "the tile has {actual} row{s}",
         "a tile of the pingpong schedule has 64, 128 or 192",
         "the nearest value that works is {nearest}")
GANTRY_X(tile_columns, refused,
         "the tile has {actual} column{s}",
         "columns are a multiple of 8 up to 256",
         "the nearest value that works is {nearest}")
GANTRY_X(accumulators, refused,
         "the tile has {actual} column{s} for {first} rows of a warpgroup",
         "a warpgroup's registers hold accumulators of 64 x 256 or 128 x 192; with promotion of 64 x 160; with scales of columns of 64 x 96",
         "the nearest value that works is {nearest}")
GANTRY_X(warpgroups, refused,
         "{actual} warpgroup{s} multiply",
         "2 share a tile or take turns, 1 has a cooperative tile of 64 rows to itself, and 3 take turns where each "
         "has accumulators of 64 x 192 or 128 x 128 at most",
         "the nearest value that works is {nearest}")
GANTRY_X(tile_depth, refused,
         "the tile is {actual} element{s} of {element} deep",
         "a K tile is 128 bytes, the width of the swizzle",
         "the value that works is {nearest}")
GANTRY_X(cluster, refused,
         "the cluster has {actual} CTA{s} along {operand}",
         "1, 2, 4 or 8 CTAs share their tiles by multicast",
         "the nearest value that works is {nearest}")
GANTRY_X(cluster_size, refused,
         "the cluster has {actual} CTAs",
         "a cluster of up to 8 CTAs runs on every chip",
         "with {nearest} CTAs along M this works")
GANTRY_X(cluster_k, refused,
         "the cluster has {actual} CTA{s} along K",
         "1, 2, 4 or 8 CTAs share the K tiles of a tile",
         "the nearest value that works is {nearest}")
GANTRY_X(cluster_k_alone, refused,
         "{actual} CTAs of a cluster share the K tiles of a tile, and the GEMM has more CTAs along M or N, another "
         "schedule, or adds to D by TMA",
         "such a cluster has one CTA along M and N, the cooperative schedule, and stores D once",
         "with one CTA along K this works")
GANTRY_X(stages, refused,
         "the main loop has {actual} stage{s}",
         "there are 2 to 32, one is loaded while another is multiplied",
         "the nearest value that works is {nearest}")
GANTRY_X(subtile, refused,
         "a subtile of the epilogue has {actual} column{s} of the tile's {first}",
         "columns are a multiple of 8 that divides the columns of the tile",
         "the nearest value that works is {nearest}")
GANTRY_X(subtile_rows, refused,
         "a subtile of the epilogue has {actual} row{s}",
         "there are 64, or 128 where they divide a warpgroup's rows of the tile",
         "the nearest value that works is {nearest}")
GANTRY_X(buffers, refused,
         "{operand} has {actual} buffer{s} in the epilogue",
         "an operand has 1 to 8 of them",
         "the nearest value that works is {nearest}")
GANTRY_X(reuse, refused,
         "D is to take the place of C, and C has elements of {element} and D of {other}",
         "both exist and are equally wide",
         "without reuse this works")
GANTRY_X(promote, refused,
         "accumulators are to be promoted, and A has elements of {element} and B of {other}",
         "only accumulators of 8-bit floats lose bits",
         "without promotion this works")
GANTRY_X(scale, refused,
         "blocks of A or B are to have scales, and A has elements of {element} and B of {other}",
         "scales of blocks are for 8-bit floats",
         "without them this works; row(...) and col(...) of the epilogue scale any elements")
GANTRY_X(scale_columns, refused,
         "the tile has {actual} columns, and 128 rows of B share their scales",
         "a tile then has two scales of B at most: up to 128 columns, or 128 and a power of two that divides them",
         "the nearest value that works is {nearest}")
GANTRY_X(reduce_add, refused,
         "D is to be added to by TMA, and has elements of {element}",
         "TMA adds f32, bf16 and f16, and s32 for integers",
         "the nearest type that works is {other}")
GANTRY_X(reduce_add_plain, refused,
         "D is to be added to by TMA, and the GEMM has another schedule, a C, a column-major D or an epilogue",
         "TMA adds into a row-major D of the cooperative schedule, and nothing but A B^T",
         "with the automatic split this works")
GANTRY_X(groups_contiguous_m, refused,
         "groups are along M, and M is the contiguous mode of {operand}",
         "groups begin at any row, and TMA reads and writes contiguous elements from multiples of 16 bytes on",
         "a K-major A, and a row-major C and D, work")
GANTRY_X(groups_contiguous_k, refused,
         "groups are along K, and K is the contiguous mode of {operand}",
         "groups begin at any row of K, and TMA reads contiguous elements from multiples of 16 bytes on",
         "an M-major A and an N-major B work")
GANTRY_X(groups_element, refused,
         "groups are along K, and {operand} has elements of {element}",
         "groups along K are contiguous along M and N, as only elements of 16 bits may be",
         "the type that works is {other}")
GANTRY_X(groups_warpgroups, refused,
         "a grouped GEMM is to have three consumer warpgroups",
         "one warp of the producer warpgroup finds the tiles of groups, and three warpgroups leave none",
         "2 warpgroups work")
GANTRY_X(groups_split, refused,
         "a grouped GEMM is to add to D by TMA",
         "tiles of groups are not split",
         "with the automatic split this works")
GANTRY_X(groups_scaled, refused,
         "a grouped GEMM is to have scales of blocks of 128 rows of A, or of blocks of K that groups share",
         "groups begin inside of blocks: along M each row of A has scales of its own, along K there are none",
         "groups along M with a scale for each row of A and 128 elements of K, and any of B, work")
GANTRY_X(groups_swapped, refused,
         "groups along K or a pointer array are to have swapped operands, or a grouped GEMM a constant operand or clusters that share K tiles",
         "operands are swapped for groups with few rows, and a tile of a group belongs to one CTA",
         "groups along M with swapped operands, and any groups with none of these, work")
GANTRY_X(groups_along_n, refused,
         "groups along N are asked for",
         "they are what groups along M are to a kernel with swapped operands, which the options of the GEMM do not describe",
         "groups along M, with A and B as they are or swapped, work")
GANTRY_X(groups_aligned, refused,
         "a pointer array is to store or read tensors that TMA cannot address",
         "where the tensors of its GEMMs begin is known on the device alone, which makes tensor maps of them",
         "rows that are padded to 16 bytes work")
GANTRY_X(groups_argument, refused,
         "groups are along M, and the epilogue has a column-major tensor, or a reduction that is deterministic, not f32, or has results of blocks",
         "groups begin at any row, and how many tiles they have is known on the device alone",
         "row-major tensors, and reductions to f32 without `deterministic` and blocks, work")
GANTRY_X(pointers_reduction, refused,
         "the GEMM is a pointer array, and the epilogue reduces to rows or columns, deterministically, or to results that are not f32",
         "how many rows, columns and tiles each GEMM has is known on the device alone, and atomics combine f32",
         "reductions to f32 without `deterministic`, to one number or one for each GEMM, work")
GANTRY_X(pointers_own, refused,
         "the GEMM is a pointer array, and the callbacks of the epilogue are not compiled from a graph",
         "each GEMM has vectors and tensors of its own, which a graph that is compiled finds",
         "a graph that is known when the kernel is compiled works")
GANTRY_X(spans_alone, refused,
         "the epilogue rotates pairs of columns or combines columns of a row, and the GEMM is a pointer array or is to have swapped operands",
         "a quad of lanes has the columns of a row of D and not of its transpose, and the columns of a pointer array are known on the device alone",
         "with neither of them this works")
GANTRY_X(gather_major, refused,
         "rows of A are gathered, and M is the contiguous mode of A",
         "threads copy rows of A 16 bytes at a time, so rows are contiguous",
         "Major::K works")
GANTRY_X(gather_element, refused,
         "rows of A are gathered, and A has elements of {element}",
         "TMA rounds f32 to tf32 as it loads, and threads copy rows as they are",
         "elements of 8 and 16 bits work")
GANTRY_X(gather_cluster, refused,
         "rows of A are gathered, and the cluster has {actual} CTAs along N",
         "CTAs along N share rows of A by multicast, and threads copy into their own CTA",
         "the value that works is {nearest}")
GANTRY_X(gather_warpgroups, refused,
         "rows of A are gathered, and {actual} warpgroups multiply",
         "a warp of the producer warpgroup copies rows, and three math warpgroups leave it too few registers",
         "the value that works is {nearest}")
GANTRY_X(gather_groups, refused,
         "rows of A are gathered, and groups are along K or GEMMs of a pointer array",
         "an index names rows of one A: of a GEMM, or of groups along M",
         "with groups along M this works")
GANTRY_X(gather_alone, refused,
         "rows of A are gathered, and the GEMM is to have swapped operands or a constant one",
         "gathered rows of A are the M operand of wgmma, and are loaded after the dependency wait",
         "with neither of them this works")
GANTRY_X(scatter_major, refused,
         "rows of D are scattered, and D is column-major",
         "threads write rows of D, so rows are contiguous",
         "RowMajor works")
GANTRY_X(scatter_element, refused,
         "rows are added to D, which has elements of {element}",
         "rows are added in f32",
         "the type that works is {other}; rows that occur once are stored as any type")
GANTRY_X(scatter_groups, refused,
         "rows of D are scattered, and groups are along K or GEMMs of a pointer array",
         "an index names rows of one D: of a GEMM, or of groups along M",
         "with groups along M this works")
GANTRY_X(scatter_alone, refused,
         "rows of D are scattered, and the GEMM is to have swapped operands or to add to D by TMA",
         "threads write rows of D from the M side of wgmma, once each",
         "with neither this works")
GANTRY_X(scatter_void, refused,
         "rows of D are scattered, and the epilogue gives no D",
         "an index says where rows of D go",
         "with a D, or without scatter_d, this works")
GANTRY_X(gate_unused, refused,
         "gate and up are to be interleaved, and the epilogue has neither gate(acc) nor up(acc)",
         "which columns are the gate's is said of a gated epilogue",
         "GemmGate::halves works")
GANTRY_X(gated_major, refused,
         "the epilogue is gated, and N is the contiguous mode of B",
         "TMA brings rows of B in another order than they are in memory, and that takes rows that are contiguous",
         "Major::K works")
GANTRY_X(gated_columns, refused,
         "the tile has {actual} columns, and the epilogue is gated",
         "a CTA loads runs of 8 columns of the gate and of up: columns are a multiple of 16, of 32 where two CTAs share B",
         "the nearest value that works is {nearest}")
GANTRY_X(gated_alone, refused,
         "the epilogue is gated, and the GEMM is to have groups along K, a pointer array, swapped operands or scales of "
         "blocks of B",
         "a gated epilogue interleaves rows of B, which these options do not support",
         "with none of them this works")
GANTRY_X(shared_memory, refused,
         "the GEMM takes {actual} bytes of shared memory with its {first} stages, and a CTA has {second}",
         "the stages and the epilogue fit into the shared memory of a CTA",
         "with {nearest} stages they fit")
GANTRY_X(align, refused,
         "tensor {operand} is aligned to {actual} element{s}",
         "an alignment is a number of elements, or 0 for 16 bytes; X stands for auxiliary tensors",
         "the nearest value that works is {nearest}")
GANTRY_X(own_aligned, refused,
         "the callbacks of the epilogue are not compiled from a graph, and TMA cannot address one of its tensors",
         "threads read and write tensors for a graph that is compiled",
         "alignments of 16 bytes work")
GANTRY_X(reuse_direct, refused,
         "D reuses the buffers of C, and TMA cannot address {operand}",
         "buffers are shared where TMA brings C and takes D",
         "Choice::no works")
GANTRY_X(reduce_add_aligned, refused,
         "D is aligned to {actual} element{s}, and is added to by TMA reductions",
         "TMA takes addresses, strides and lines of whole 16 bytes",
         "an alignment of {nearest} elements works, or another way to split K")
GANTRY_X(no_room, refused,
         "the epilogue takes {actual} bytes of shared memory, and a stage {first}",
         "two stages fit into the shared memory of a CTA beside the epilogue",
         "a smaller tile, narrower subtiles or fewer buffers fit")
GANTRY_X(no_room_shared_k, refused,
         "{first} CTAs share the K tiles of a tile, and the one that adds takes {actual} bytes for the accumulators of the others",
         "two stages fit into the shared memory of a CTA beside them and the epilogue",
         "with {nearest} CTA{along} along K they fit")
GANTRY_X(epilogue, refused,
         "",
         "the builder of the epilogue must accept its part of the options",
         "{epilogue}")
GANTRY_X(parameters, refused,
         "the kernel takes {actual} bytes of parameters, and there are at most {nearest}",
         "the parameters of a kernel fit into what a launch takes",
         "fewer auxiliary tensors fit")
GANTRY_X(builder, refused,
         "the builder of the epilogue sets {setting}",
         "a GEMM has no such option",
         "left at its default this works")
// clang-format on

#undef GANTRY_X

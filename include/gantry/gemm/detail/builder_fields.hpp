// Fields of CollectiveBuilder that a GEMM does not have, and what it has instead: GANTRY_X(id, text).
// Included with GANTRY_X defined, once for each use.
#ifndef GANTRY_X
#define GANTRY_X(id, text)
#endif

GANTRY_X(flavour, "and by CUTLASS's rules there is no epilogue of these settings")
GANTRY_X(schedule,
         "and pointer arrays of GEMMs store D by TMA, as it is: ptr_array_tma_warp_specialized_cooperative works")
GANTRY_X(acc, "and GEMMs accumulate in f32, those of integers in s32")
GANTRY_X(compute, "and epilogues of GEMMs compute in what their graph says: compute bf16; d = acc")
GANTRY_X(rounding, "and outputs of GEMMs are rounded as their graph says: round toward_zero; d = acc")
GANTRY_X(aux, "and in GEMMs the element of D stands in where there is none")
GANTRY_X(warpgroups, "and the tile of a GEMM has the warpgroups of its schedule")
GANTRY_X(fragment_size, "and epilogues of GEMMs visit all values of a subtile at once")
GANTRY_X(epi_tile, "and subtiles of GEMMs have neighbouring rows and columns: extents work, and layouts that are those")
GANTRY_X(deadlock, "and GEMMs are not for demonstrations of a deadlock")
GANTRY_X(kernel,
         "and the kernel's schedule is another one: both are of pointer arrays or neither, and one warpgroup has "
         "a tile of both or of neither")
GANTRY_X(fusion, "and GEMMs work out the shared memory of their graph themselves")

#undef GANTRY_X

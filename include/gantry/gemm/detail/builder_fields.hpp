// Fields of CollectiveBuilder that products have nothing of, and what they have in their place: GANTRY_X(id, text).
// Included with GANTRY_X defined, once for each use.
#ifndef GANTRY_X
#define GANTRY_X(id, text)
#endif

GANTRY_X(flavour, "and products stage their epilogues by rules of their own")
GANTRY_X(schedule, "and products store D by TMA: tma_warp_specialized and tma_warp_specialized_cooperative work")
GANTRY_X(align_c, "and products read C by TMA, whose rows begin at multiples of 16 bytes")
GANTRY_X(align_d, "and products write D by TMA, whose rows begin at multiples of 16 bytes")
GANTRY_X(acc, "and products accumulate in f32, those of integers in s32")
GANTRY_X(compute, "and epilogues of products compute in f32")
GANTRY_X(aux, "and products always store D")
GANTRY_X(warpgroups, "and a tile of a product has the warpgroups of its schedule")
GANTRY_X(fragment_size, "and epilogues of products visit all values of a subtile at once")
GANTRY_X(delay_tma_store, "and products decide themselves when a store is issued")
GANTRY_X(deadlock, "and products are not for demonstrations of a deadlock")
GANTRY_X(fusion, "and products work out the shared memory of their graph themselves")

#undef GANTRY_X

// The configurations that win somewhere where arithmetic binds, in one job, GANTRY_JOB (0 to 3, as in fused_race.hpp):
// all, or entry GANTRY_ENTRY alone.
//
// A name says: both warpgroups on a tile or each on its own, the tile, stages of the main loop, the cluster, columns of
// a subtile, buffers of C and D.
#include "fused_race.hpp"

namespace gantry::bench {
namespace {

constexpr Job kJob = static_cast<Job>(GANTRY_JOB);

template <int TileM, int TileN, int Stages, int ClusterM, int ClusterN, int Warpgroups, int... staging>
struct InTurn : OfJob<kJob> {
  static constexpr GemmOptions options = OfJob<kJob>::with({.tile = {TileM, TileN},
                                                            .cluster = {ClusterM, ClusterN},
                                                            .stages = Stages,
                                                            .schedule = GemmSchedule::pingpong,
                                                            .warpgroups = Warpgroups},
                                                           {staging...});
};
template <int Stages, int... staging>
struct Together : OfJob<kJob> {
  static constexpr GemmOptions options = OfJob<kJob>::with(
      {.tile = {128, 256}, .cluster = {2, 1}, .stages = Stages, .schedule = GemmSchedule::cooperative}, {staging...});
};

template <class Spec>
struct Named : Entry<Spec> {
  explicit Named(const char* name) : Entry<Spec>(kJob, name) {}
};
template <int Stages, int... staging>
using Cooperative = Named<Together<Stages, staging...>>;
template <int Stages, int... staging>
using Wide = Named<InTurn<128, 192, Stages, 2, 1, 2, staging...>>;
template <int Stages, int... staging>
using Tall = Named<InTurn<192, 128, Stages, 1, 2, 2, staging...>>;

#if GANTRY_JOB == 0
#if GANTRY_ENTERS(0)
// Overlaps the store of a tile with the next.
struct Plain : OfJob<kJob> {
  static constexpr GemmOptions options{
      .tile = {128, 256}, .cluster = {2, 1}, .stages = 4, .schedule = GemmSchedule::cooperative};
};
const Named<Plain> entry0("together 128x256 s4 2x1 overlapped");
#endif
#if GANTRY_ENTERS(1)
const Cooperative<4, 128, 1, 1> entry1("together 128x256 s4 2x1 E128 D1");
#endif
#if GANTRY_ENTERS(2)
const Wide<5, 32, 1, 2> entry2("alternating 128x192 s5 2x1 E32 D2");
#endif
#if GANTRY_ENTERS(3)
const Tall<5, 32, 1, 2> entry3("alternating 192x128 s5 1x2 E32 D2");
#endif
#elif GANTRY_JOB == 1
#if GANTRY_ENTERS(0)
const Cooperative<3, 64, 2, 2> entry0("together 128x256 s3 2x1 E64 C2 D2");
#endif
#if GANTRY_ENTERS(1)
const Cooperative<4, 64, 2, 2, 1> entry1("together 128x256 s4 2x1 E64 C2 D2 reuse");
#endif
#if GANTRY_ENTERS(2)
const Wide<4, 64, 2, 2> entry2("alternating 128x192 s4 2x1 E64 C2 D2");
#endif
#if GANTRY_ENTERS(3)
const Tall<4, 64, 2, 2> entry3("alternating 192x128 s4 1x2 E64 C2 D2");
#endif
#elif GANTRY_JOB == 2
#if GANTRY_ENTERS(0)
const Cooperative<4, 128, 1, 1> entry0("together 128x256 s4 2x1 E128 D1");
#endif
#if GANTRY_ENTERS(1)
const Cooperative<3, 64, 1, 2> entry1("together 128x256 s3 2x1 E64 D2");
#endif
#if GANTRY_ENTERS(2)
const Wide<4, 64, 1, 2> entry2("alternating 128x192 s4 2x1 E64 D2");
#endif
#if GANTRY_ENTERS(3)
const Tall<4, 128, 1, 1> entry3("alternating 192x128 s4 1x2 E128 D1");
#endif
#else
#if GANTRY_ENTERS(0)
const Cooperative<4, 32, 1, 2> entry0("together 128x256 s4 2x1 E32 D2");
#endif
#if GANTRY_ENTERS(1)
const Cooperative<3, 64, 1, 2> entry1("together 128x256 s3 2x1 E64 D2");
#endif
#if GANTRY_ENTERS(2)
const Wide<4, 64, 1, 1> entry2("alternating 128x192 s4 2x1 E64 D1");
#endif
#if GANTRY_ENTERS(3)
const Tall<4, 64, 1, 1> entry3("alternating 192x128 s4 1x2 E64 D1");
#endif
#endif

}  // namespace
}  // namespace gantry::bench

// The configurations that race in one job, GANTRY_JOB (0 to 3, as in fused_race.hpp): all, or entry GANTRY_ENTRY alone.
//
// A name says: both warpgroups together on a tile, or two or three that alternate, the tile, stages of the main loop,
// columns of a subtile (of 64 rows, or of 128), buffers of C and D. Clusters are 2x1.
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
template <int Warpgroups, int TileN, int Stages, int... staging>
using Pingpong = Named<InTurn<128, TileN, Stages, 2, 1, Warpgroups, staging...>>;

#if GANTRY_JOB == 0
#if GANTRY_ENTERS(0)
const Pingpong<2, 192, 4, 192, 1, 1> entry0("two 128x192 s4 E192 D1");
#endif
#if GANTRY_ENTERS(1)
const Pingpong<2, 192, 5, 32, 1, 2> entry1("two 128x192 s5 E32 D2");
#endif
#if GANTRY_ENTERS(2)
const Pingpong<2, 128, 4, 128, 1, 1> entry2("two 128x128 s4 E128 D1");
#endif
#if GANTRY_ENTERS(3)
const Cooperative<4, 128, 1, 1> entry3("together 128x256 s4 E128 D1");
#endif
#elif GANTRY_JOB == 1
#if GANTRY_ENTERS(0)
const Pingpong<2, 192, 4, 64, 2, 2> entry0("two 128x192 s4 E64 C2 D2");
#endif
#if GANTRY_ENTERS(1)
const Pingpong<2, 128, 3, 128, 2, 2> entry1("two 128x128 s3 E128 C2 D2");
#endif
#if GANTRY_ENTERS(2)
const Pingpong<2, 128, 4, 64, 2, 2> entry2("two 128x128 s4 E64 C2 D2");
#endif
#if GANTRY_ENTERS(3)
const Pingpong<3, 128, 5, 64, 2, 1, true> entry3("three 128x128 s5 E64 C2 D1 reuse");
#endif
#if GANTRY_ENTERS(4)
const Cooperative<3, 64, 2, 2> entry4("together 128x256 s3 E64 C2 D2");
#endif
#elif GANTRY_JOB == 2
#if GANTRY_ENTERS(0)
const Pingpong<2, 192, 4, 192, 1, 1> entry0("two 128x192 s4 E192 D1");
#endif
#if GANTRY_ENTERS(1)
const Pingpong<2, 192, 3, 192, 1, 1, false, 128> entry1("two 128x192 s3 E128x192 D1");
#endif
#if GANTRY_ENTERS(2)
const Pingpong<3, 128, 3, 128, 1, 1, false, 128> entry2("three 128x128 s3 E128x128 D1");
#endif
#if GANTRY_ENTERS(3)
const Pingpong<3, 128, 4, 128, 1, 1> entry3("three 128x128 s4 E128 D1");
#endif
#if GANTRY_ENTERS(4)
const Pingpong<2, 192, 4, 64, 1, 2> entry4("two 128x192 s4 E64 D2");
#endif
#if GANTRY_ENTERS(5)
const Cooperative<4, 128, 1, 1> entry5("together 128x256 s4 E128 D1");
#endif
#else
#if GANTRY_ENTERS(0)
const Pingpong<2, 192, 4, 64, 1, 1> entry0("two 128x192 s4 E64 D1");
#endif
#if GANTRY_ENTERS(1)
const Pingpong<2, 128, 4, 128, 1, 1> entry1("two 128x128 s4 E128 D1");
#endif
#if GANTRY_ENTERS(2)
const Cooperative<3, 64, 1, 2> entry2("together 128x256 s3 E64 D2");
#endif
#endif

}  // namespace
}  // namespace gantry::bench

// The configurations that race in one job, GANTRY_JOB (0 to 3, as in fused_race.hpp): all, or entry GANTRY_ENTRY alone.
//
// A name says: both warpgroups on a tile or each of two or three on its own, the tile, stages of the main loop, CTAs of
// a cluster along M, columns of a subtile (of 64 rows, or of 128), buffers of C and D.
#include "fused_race.hpp"

#if defined(GANTRY_ENTRY)
#define GANTRY_ENTERS(i) (GANTRY_ENTRY == (i))
#else
#define GANTRY_ENTERS(i) 1
#endif

namespace gantry::bench {
namespace {

constexpr Job kJob = static_cast<Job>(GANTRY_JOB);

template <int TileN, int Stages, int Cluster, int... epilogue>
struct Cooperative : Entry<kJob, CooperativeGemm, Together<TileN, Stages, Cluster>, epilogue...> {
  using Entry<kJob, CooperativeGemm, Together<TileN, Stages, Cluster>, epilogue...>::Entry;
};
template <int Warpgroups, int TileN, int Stages, int Cluster, int... epilogue>
struct Pingpong : Entry<kJob, PingpongGemm, Alternating<Warpgroups, TileN, Stages, Cluster>, epilogue...> {
  using Entry<kJob, PingpongGemm, Alternating<Warpgroups, TileN, Stages, Cluster>, epilogue...>::Entry;
};

#if GANTRY_JOB == 0
#if GANTRY_ENTERS(0)
const Pingpong<2, 192, 4, 2, 192, 1, 1> entry0("alternating 128x192 s4 c2 E192 D1");
#endif
#if GANTRY_ENTERS(1)
const Pingpong<2, 192, 5, 2, 32, 1, 2> entry1("alternating 128x192 s5 c2 E32 D2");
#endif
#if GANTRY_ENTERS(2)
const Cooperative<256, 3, 2, 256, 1, 1> entry2("together 128x256 s3 c2 E256 D1");
#endif
#if GANTRY_ENTERS(3)
const Cooperative<256, 4, 2, 128, 1, 1> entry3("together 128x256 s4 c2 E128 D1");
#endif
#if GANTRY_ENTERS(4)
const Cooperative<256, 3, 2, 64, 1, 2> entry4("together 128x256 s3 c2 E64 D2");
#endif
#if GANTRY_ENTERS(5)
const Pingpong<3, 128, 4, 2, 128, 1, 1, false, 128> entry5("alternating three 128x128 s4 c2 E128x128 D1");
#endif
#elif GANTRY_JOB == 1
#if GANTRY_ENTERS(0)
const Pingpong<2, 192, 4, 2, 64, 2, 2> entry0("alternating 128x192 s4 c2 E64 C2 D2");
#endif
#if GANTRY_ENTERS(1)
const Pingpong<2, 128, 3, 2, 128, 2, 2> entry1("alternating 128x128 s3 c2 E128 C2 D2");
#endif
#if GANTRY_ENTERS(2)
const Cooperative<256, 3, 2, 64, 2, 2> entry2("together 128x256 s3 c2 E64 C2 D2");
#endif
#if GANTRY_ENTERS(3)
const Pingpong<3, 128, 5, 2, 64, 2, 1, true> entry3("alternating three 128x128 s5 c2 E64 C2 D1 reuse");
#endif
#if GANTRY_ENTERS(4)
const Pingpong<2, 128, 3, 2, 128, 2, 1, true, 128> entry4("alternating 128x128 s3 c2 E128x128 C2 D1 reuse");
#endif
#if GANTRY_ENTERS(5)
const Cooperative<256, 2, 2, 128, 2, 2> entry5("together 128x256 s2 c2 E128 C2 D2");
#endif
#if GANTRY_ENTERS(6)
const Cooperative<256, 3, 2, 64, 3, 2> entry6("together 128x256 s3 c2 E64 C3 D2");
#endif
#elif GANTRY_JOB == 2
#if GANTRY_ENTERS(0)
const Pingpong<2, 192, 4, 2, 64, 1, 2> entry0("alternating 128x192 s4 c2 E64 D2");
#endif
#if GANTRY_ENTERS(1)
const Pingpong<2, 192, 4, 2, 192, 1, 1> entry1("alternating 128x192 s4 c2 E192 D1");
#endif
#if GANTRY_ENTERS(2)
const Pingpong<2, 192, 4, 1, 192, 1, 1> entry2("alternating 128x192 s4 c1 E192 D1");
#endif
#if GANTRY_ENTERS(3)
const Cooperative<256, 4, 2, 128, 1, 1> entry3("together 128x256 s4 c2 E128 D1");
#endif
#if GANTRY_ENTERS(4)
const Pingpong<2, 192, 3, 2, 192, 1, 1, false, 128> entry4("alternating 128x192 s3 c2 E128x192 D1");
#endif
#if GANTRY_ENTERS(5)
const Pingpong<3, 128, 3, 2, 128, 1, 1, false, 128> entry5("alternating three 128x128 s3 c2 E128x128 D1");
#endif
#if GANTRY_ENTERS(6)
const Pingpong<3, 128, 5, 2, 128, 1, 1> entry6("alternating three 128x128 s5 c2 E128 D1");
#endif
#else
#if GANTRY_ENTERS(0)
const Pingpong<2, 192, 4, 2, 64, 1, 1> entry0("alternating 128x192 s4 c2 E64 D1");
#endif
#if GANTRY_ENTERS(1)
const Pingpong<2, 192, 4, 1, 64, 1, 1> entry1("alternating 128x192 s4 c1 E64 D1");
#endif
#if GANTRY_ENTERS(2)
const Pingpong<2, 128, 4, 2, 128, 1, 1> entry2("alternating 128x128 s4 c2 E128 D1");
#endif
#if GANTRY_ENTERS(3)
const Cooperative<256, 3, 2, 64, 1, 2> entry3("together 128x256 s3 c2 E64 D2");
#endif
#if GANTRY_ENTERS(4)
const Pingpong<2, 128, 2, 2, 128, 1, 1, false, 128> entry4("alternating 128x128 s2 c2 E128x128 D1");
#endif
#endif

}  // namespace
}  // namespace gantry::bench

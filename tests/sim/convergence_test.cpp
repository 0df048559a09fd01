// Instructions that a whole warp executes: each is clean where every lane comes, and named where one does not.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

struct Storage {
  alignas(1024) std::uint16_t tile[4096];
  alignas(128) TmaDescriptor map;
};
alignas(128) TmaDescriptor published;

Report run(std::uint32_t threads, const std::function<void(Storage&)>& body, std::uint64_t seed = 1) {
  return simulate({.block = {threads}, .shared_bytes = sizeof(Storage)},
                  [&](SharedMemory shared) { body(shared.as<Storage>()); }, {.seed = seed});
}

struct Instruction {
  const char* name;
  std::function<void(Storage&)> execute;
};

void PrintTo(const Instruction& instruction, std::ostream* out) { *out << instruction.name; }

class WholeWarp : public testing::TestWithParam<Instruction> {};

TEST_P(WholeWarp, IsCleanWhereEveryLaneComes) {
  const Report report = run(128, [&](Storage& s) { GetParam().execute(s); });
  EXPECT_TRUE(report.clean()) << report.text();
}

// On a GPU this hangs: lane 3 waits at the CTA's barrier for the others, which wait for it.
TEST_P(WholeWarp, IsReportedWhereALaneGoesAnotherWay) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Report report = run(
        128,
        [&](Storage& s) {
          if (thread_rank() != 35) GetParam().execute(s);
          syncthreads();
        },
        seed);
    EXPECT_TRUE(report.has("warp-divergent")) << report.text();
    EXPECT_FALSE(report.completed);
    EXPECT_NE(report.text().find("thread 35"), std::string::npos) << report.text();
  }
}

template <int Matrices>
void read_matrices(Storage& s) {
  std::uint32_t registers[Matrices];
  ldmatrix(registers, &s.tile[8 * lane_rank()]);
}
void write_matrices(Storage& s) {
  const std::uint32_t registers[4] = {};
  stmatrix(&s.tile[256 * (thread_rank() / 32) + 8 * lane_rank()], registers);
}
void fill(Storage& s) {
  for (std::uint32_t i = thread_rank(); i < 4096; i += 128) st(space_shared, &s.tile[i], std::uint16_t{0});
  fence_proxy_async(space_shared);
  barrier_sync(1, 128);
}

const Instruction kInstructions[] = {
    {"warp_rank", [](Storage&) { warp_rank(); }},
    {"warpgroup_rank", [](Storage&) { warpgroup_rank(); }},
    {"elect_sync", [](Storage&) { elect_sync(); }},
    {"syncwarp", [](Storage&) { syncwarp(); }},
    {"shfl_sync", [](Storage&) { shfl_sync(kFullWarp, 1, 0); }},
    {"shfl_xor_sync", [](Storage&) { shfl_xor_sync(kFullWarp, 1, 1); }},
    {"shfl_down_sync", [](Storage&) { shfl_down_sync(kFullWarp, 1, 1); }},
    {"shfl_up_sync", [](Storage&) { shfl_up_sync(kFullWarp, 1, 1); }},
    {"ballot_sync", [](Storage&) { ballot_sync(kFullWarp, true); }},
    {"redux_sync", [](Storage&) { redux_sync(op_add, kFullWarp, 1u); }},
    {"stmatrix", write_matrices},
    {"wgmma_fence", [](Storage&) { wgmma_fence(); }},
    {"wgmma_commit_group", [](Storage&) { wgmma_commit_group(); }},
    {"wgmma_wait_group", [](Storage&) { wgmma_wait_group(n32<0>); }},
};

INSTANTIATE_TEST_SUITE_P(Instructions, WholeWarp, testing::ValuesIn(kInstructions),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(Convergence, MatrixLoadsMapCopiesAndProductsNeedTheWholeWarpToo) {
  using Op = WgmmaOp<8, MmaType::f32, MmaType::bf16, MmaType::bf16>;
  const std::function<void(Storage&)> bodies[] = {
      read_matrices<2>,
      [](Storage& s) { tensormap_cp_fenceproxy(sem_release, scope_gpu, &published, &s.map); },
      [](Storage& s) {
        Accumulator<Op> acc;
        wgmma_fence();
        const std::uint64_t tile = wgmma_descriptor(s.tile, {.stride_bytes = 1024});
        if (thread_rank() != 35) wgmma_mma_async<Op>(acc, tile, tile, false);
      },
  };
  for (const auto& body : bodies) {
    const Report report = run(128, [&](Storage& s) {
      fill(s);
      const bool product = &body == &bodies[2];
      if (product || thread_rank() != 35) body(s);
      syncthreads();
    });
    EXPECT_TRUE(report.has("warp-divergent")) << report.text();
  }
}

// The kernel that hung an H200: `warp_rank` in the `else` of a branch that one lane took.
TEST(Convergence, WarpRankAfterAnElectionHangsAndIsNamed) {
  const auto body = [](bool broken) {
    return run(64, [broken](Storage&) {
      const std::uint32_t warp = broken ? 0 : warp_rank();
      if (elect_sync()) {
        syncwarp(1);
      } else if ((broken ? warp_rank() : warp) == 1) {
        syncwarp(~1u);
      }
      syncthreads();
    });
  };
  EXPECT_TRUE(body(false).clean()) << body(false).text();
  const Report report = body(true);
  EXPECT_TRUE(report.has("warp-divergent")) << report.text();
  EXPECT_NE(report.text().find("warp_rank at convergence_test.cpp"), std::string::npos) << report.text();
  EXPECT_NE(report.text().find("lanes 1..31"), std::string::npos) << report.text();
}

TEST(Convergence, LanesAtDifferentInstructionsAreReported) {
  const Report report = run(32, [](Storage&) {
    if (lane_rank() < 9) {
      syncwarp();
    } else {
      ballot_sync(kFullWarp, true);
    }
  });
  EXPECT_TRUE(report.has("warp-divergent")) << report.text();
}

TEST(Convergence, OnlyAlignedInstructionsMustComeFromOnePlace) {
  std::vector<std::uint32_t> votes(32);
  const Report shuffled = run(32, [&](Storage&) {
    if (lane_rank() % 2 == 0) {
      votes[lane_rank()] = ballot_sync(kFullWarp, true);
    } else {
      votes[lane_rank()] = ballot_sync(kFullWarp, false);
    }
  });
  EXPECT_TRUE(shuffled.clean()) << shuffled.text();
  EXPECT_EQ(votes, std::vector<std::uint32_t>(32, 0x55555555u));
  const Report stored = run(32, [](Storage& s) {
    if (lane_rank() % 2 == 0) {
      write_matrices(s);
    } else {
      const std::uint32_t registers[4] = {};
      stmatrix(&s.tile[8 * lane_rank()], registers);
    }
  });
  EXPECT_TRUE(stored.has("warp-divergent")) << stored.text();
}

TEST(Convergence, BarriersAreJoinedByAWarpAtOnePlace) {
  const Report named = run(64, [](Storage&) {
    if (lane_rank() == 0) {
      barrier_sync(2, 64);
    } else {
      barrier_sync(2, 64);
    }
  });
  EXPECT_TRUE(named.has("named-barrier-divergent")) << named.text();
  const auto cluster = [](bool broken) {
    return run(64, [broken](Storage&) {
      if (broken && lane_rank() == 0) {
        barrier_cluster_arrive();
      } else {
        barrier_cluster_arrive();
      }
      barrier_cluster_wait();
      barrier_cluster_arrive(sem_relaxed);
      barrier_cluster_wait();
    });
  };
  EXPECT_TRUE(cluster(false).clean()) << cluster(false).text();
  EXPECT_TRUE(cluster(true).has("cluster-barrier-divergent")) << cluster(true).text();
  const Report waits = run(64, [](Storage&) {
    barrier_cluster_arrive();
    if (lane_rank() == 31) {
      barrier_cluster_wait();
    } else {
      barrier_cluster_wait();
    }
  });
  EXPECT_TRUE(waits.has("cluster-barrier-divergent")) << waits.text();
}

TEST(Convergence, LanesThatReturnedOrWereNeverLaunchedAreNotWaitedFor) {
  std::vector<std::uint32_t> lowest(48, 99);
  std::vector<int> elected;
  const Report report = run(48, [&](Storage&) {
    if (lane_rank() < 3) return;
    lowest[thread_rank()] = redux_sync(op_min, kFullWarp, lane_rank());
    if (elect_sync()) elected.push_back(static_cast<int>(thread_rank()));
    syncwarp();
    warp_rank();
  });
  EXPECT_TRUE(report.clean()) << report.text();
  for (std::uint32_t t = 0; t < 48; ++t) EXPECT_EQ(lowest[t], t % 32 < 3 ? 99u : 3u);
  std::sort(elected.begin(), elected.end());
  EXPECT_EQ(elected, (std::vector<int>{3, 35}));
}

TEST(Convergence, ALaneThatIsHeldUpByAnMbarrierHasNotDiverged) {
  const Report report = run(32, [](Storage& s) {
    auto* barrier = reinterpret_cast<std::uint64_t*>(s.tile);
    if (elect_sync()) {
      mbarrier_init(barrier, 1);
      wait(barrier, 0);
    }
    syncwarp();
  });
  EXPECT_TRUE(report.has("deadlock")) << report.text();
  EXPECT_FALSE(report.has("warp-divergent")) << report.text();
}

TEST(Convergence, AnAlignedInstructionNeedsTheLanesThatReturned) {
  const Report report = run(32, [](Storage& s) {
    if (lane_rank() == 7) return;
    write_matrices(s);
  });
  EXPECT_TRUE(report.has("warp-divergent")) << report.text();
  EXPECT_NE(report.text().find("thread 7 has returned"), std::string::npos) << report.text();
}

TEST(Convergence, AnEditThatTheOtherLanesDoNotKnowOfIsARaceWithTheCopyOfTheMap) {
  for (const bool broken : {false, true}) {
    const TmaDescriptor map =
        pack({.data_type = TmaDataType::u32, .rank = 1, .address = 4096, .dims = {256}, .box = {256}});
    const Report report = run(32, [&](Storage& s) {
      if (lane_rank() == 0) {
        for (int i = 0; i < 16; ++i) st(space_shared, &s.map.words[i], map.words[i]);
        tensormap_replace_global_address(space_shared, &s.map, &published);
      }
      if (!broken) syncwarp();
      tensormap_cp_fenceproxy(sem_release, scope_gpu, &published, &s.map);
    });
    EXPECT_EQ(report.has("shared-race"), broken) << report.text();
    EXPECT_EQ(report.clean(), !broken) << report.text();
  }
}

}  // namespace
}  // namespace gantry

// Bulk and TMA stores, reductions, and what may be done with their source and their result, under every seed.
#include "tests/sim/every_seed.hpp"

namespace gantry::test {
namespace {

using namespace arch;

constexpr std::uint32_t kRows = 8, kRow = 32, kBytes = kRows * kRow * 4;

struct Stage {
  alignas(128) float tile[2][kRows * kRow];
  std::uint64_t full;
};
constexpr LaunchConfig kOne{.block = {64}, .shared_bytes = sizeof(Stage)};
constexpr LaunchConfig kTwo{.grid = {2}, .block = {64}, .shared_bytes = sizeof(Stage)};

alignas(128) float result[64 * kRow];
alignas(128) TmaDescriptor result_map;
std::uint32_t ready;

void prepare() {
  for (float& value : result) value = 0;
  ready = 0;
  result_map = pack({.data_type = TmaDataType::f32,
                     .rank = 2,
                     .address = reinterpret_cast<std::uint64_t>(result),
                     .dims = {kRow, 64, 1, 1, 1},
                     .strides = {kRow * 4},
                     .box = {kRow, kRows, 1, 1, 1}});
}

void write_tile(float* tile, float value) {
  for (std::uint32_t i = thread_rank(); i < kRows * kRow; i += 64) st(space_shared, tile + i, value);
}
void store_rows(float* tile, std::int32_t row) {
  const std::int32_t at[2] = {0, row};
  cp_async_bulk_tensor(space_global, space_shared, &result_map, at, tile);
}

TEST(Stores, AreFencedByThoseWhoWroteAndNotByTheIssuerAlone) {
  expect_misuse_in_every_seed(
      "proxy-fence-missing", kOne,
      [](SharedMemory shared, bool broken) {
        Stage& s = shared.as<Stage>();
        write_tile(s.tile[0], 1);
        if (!broken || thread_rank() == 0) fence_proxy_async(space_shared);
        syncthreads();
        if (thread_rank() != 0) return;
        store_rows(s.tile[0], 0);
        cp_async_bulk_commit_group();
        cp_async_bulk_wait_group_read(n32<0>);
      },
      prepare);
}

TEST(Stores, AreFencedAfterTheWritesAndNotBefore) {
  expect_misuse_in_every_seed(
      "proxy-fence-missing", kOne,
      [](SharedMemory shared, bool broken) {
        Stage& s = shared.as<Stage>();
        if (broken) fence_proxy_async(space_shared);
        write_tile(s.tile[0], 1);
        if (!broken) fence_proxy_async(space_shared);
        syncthreads();
        if (thread_rank() != 0) return;
        store_rows(s.tile[0], 0);
        cp_async_bulk_commit_group();
        cp_async_bulk_wait_group_read(n32<0>);
      },
      prepare);
}

TEST(Stores, MayBeFencedByTheIssuerAfterTheBarrier) {
  expect_clean_in_every_seed(
      kOne,
      [](SharedMemory shared) {
        Stage& s = shared.as<Stage>();
        write_tile(s.tile[0], 1);
        syncthreads();
        if (thread_rank() != 0) return;
        fence_proxy_async(space_shared);
        store_rows(s.tile[0], 0);
        cp_async_bulk_commit_group();
        cp_async_bulk_wait_group_read(n32<0>);
      },
      prepare);
}

// Two buffers in turn: one store may still be read out while the other buffer is filled.
void two_buffers(Stage& s, bool right) {
  for (int tile = 0; tile < 5; ++tile) {
    if (thread_rank() == 0) right ? cp_async_bulk_wait_group_read(n32<1>) : cp_async_bulk_wait_group_read(n32<2>);
    syncthreads();
    write_tile(s.tile[tile % 2], static_cast<float>(tile));
    fence_proxy_async(space_shared);
    syncthreads();
    if (thread_rank() == 0) {
      store_rows(s.tile[tile % 2], 8 * tile);
      cp_async_bulk_commit_group();
    }
  }
  if (thread_rank() == 0) cp_async_bulk_wait_group_read(n32<0>);
}
TEST(Stores, LeaveOneGroupInFlightWithTwoBuffers) {
  expect_misuse_in_every_seed(
      "store-source-reused", kOne, [](SharedMemory shared, bool broken) { two_buffers(shared.as<Stage>(), !broken); },
      prepare);
}

TEST(Stores, ThatAreNotCommittedAreWaitedForByNobody) {
  expect_misuse_in_every_seed(
      "exit-with-copies-in-flight", kOne,
      [](SharedMemory shared, bool broken) {
        Stage& s = shared.as<Stage>();
        write_tile(s.tile[0], 1);
        fence_proxy_async(space_shared);
        syncthreads();
        if (thread_rank() != 0) return;
        store_rows(s.tile[0], 0);
        if (!broken) cp_async_bulk_commit_group();
        cp_async_bulk_wait_group_read(n32<0>);
      },
      prepare);
}

TEST(Stores, AreWaitedForByTheThreadThatIssuedThem) {
  expect_misuse_in_every_seed(
      "exit-with-copies-in-flight", kOne,
      [](SharedMemory shared, bool broken) {
        Stage& s = shared.as<Stage>();
        write_tile(s.tile[0], 1);
        fence_proxy_async(space_shared);
        syncthreads();
        if (thread_rank() == 0) {
          store_rows(s.tile[0], 0);
          cp_async_bulk_commit_group();
        }
        if (thread_rank() == (broken ? 32 : 0)) cp_async_bulk_wait_group_read(n32<0>);
      },
      prepare);
}

// The result of a store goes to another CTA by a flag.
void hand_on(Stage& s, bool complete, bool by_tma) {
  if (block_index().x == 0) {
    write_tile(s.tile[0], 3);
    fence_proxy_async(space_shared);
    syncthreads();
    if (thread_rank() != 0) return;
    store_rows(s.tile[0], 0);
    cp_async_bulk_commit_group();
    complete ? cp_async_bulk_wait_group(n32<0>) : cp_async_bulk_wait_group_read(n32<0>);
    st(sem_release, scope_gpu, space_global, &ready, 1u);
    return;
  }
  if (thread_rank() != 0) return;
  while (ld(sem_acquire, scope_gpu, space_global, &ready) == 0) pause();
  if (!by_tma) {
    ld(space_global, &result[5]);
    return;
  }
  mbarrier_init(&s.full, 1);
  fence_mbarrier_init(sem_release, scope_cluster);
  mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, kBytes);
  const std::int32_t origin[2] = {0, 0};
  cp_async_bulk_tensor(space_cluster, space_global, s.tile[1], &result_map, origin, &s.full);
  wait(&s.full, 0);
}
TEST(Stores, AreCompleteBeforeAnotherCtaIsToldOfThem) {
  for (const bool by_tma : {false, true}) {
    expect_misuse_in_every_seed(
        "bulk-result-early", kTwo,
        [=](SharedMemory shared, bool broken) { hand_on(shared.as<Stage>(), !broken, by_tma); }, prepare);
  }
}

// Ordinary stores to global memory, then a TMA load of them by another CTA.
TEST(Stores, OfThreadsAreFencedBeforeATmaLoadOfAnotherCta) {
  for (const bool by_the_reader : {false, true}) {
    expect_misuse_in_every_seed(
        "proxy-fence-missing", kTwo,
        [=](SharedMemory shared, bool broken) {
          Stage& s = shared.as<Stage>();
          if (block_index().x == 0) {
            for (std::uint32_t i = thread_rank(); i < kRows * kRow; i += 64) st(space_global, &result[i], 2.0f);
            if (!broken && !by_the_reader) fence_proxy_async(space_global);
            syncthreads();
            if (thread_rank() == 0) st(sem_release, scope_gpu, space_global, &ready, 1u);
            return;
          }
          if (thread_rank() != 0) return;
          while (ld(sem_acquire, scope_gpu, space_global, &ready) == 0) pause();
          if (!broken && by_the_reader) fence_proxy_async();
          mbarrier_init(&s.full, 1);
          fence_mbarrier_init(sem_release, scope_cluster);
          mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, kBytes);
          const std::int32_t origin[2] = {0, 0};
          cp_async_bulk_tensor(space_cluster, space_global, s.tile[1], &result_map, origin, &s.full);
          wait(&s.full, 0);
        },
        prepare);
  }
}

TEST(Stores, OfTwoCtasDoNotOverlap) {
  expect_misuse_in_every_seed(
      {"global-race", "bulk-result-early"}, kTwo,
      [](SharedMemory shared, bool broken) {
        Stage& s = shared.as<Stage>();
        write_tile(s.tile[0], 1);
        fence_proxy_async(space_shared);
        syncthreads();
        if (thread_rank() != 0) return;
        store_rows(s.tile[0], static_cast<std::int32_t>(block_index().x) * (broken ? 7 : 8));
        cp_async_bulk_commit_group();
        cp_async_bulk_wait_group_read(n32<0>);
      },
      prepare);
}

TEST(Reductions, OfTwoCtasMayMeetAndStoresMayNot) {
  expect_misuse_in_every_seed(
      {"global-race", "bulk-result-early"}, kTwo,
      [](SharedMemory shared, bool broken) {
        Stage& s = shared.as<Stage>();
        write_tile(s.tile[0], 1);
        fence_proxy_async(space_shared);
        syncthreads();
        if (thread_rank() != 0) return;
        const std::int32_t origin[2] = {0, 0};
        if (broken && block_index().x == 0) {
          store_rows(s.tile[0], 0);
        } else {
          cp_reduce_async_bulk_tensor(space_global, space_shared, op_add, &result_map, origin, s.tile[0]);
        }
        cp_async_bulk_commit_group();
        cp_async_bulk_wait_group_read(n32<0>);
      },
      prepare);
}

// Zeroed by ordinary stores in the same kernel, then reduced into.
TEST(Reductions, IntoWhatThisKernelZeroedFollowAFenceAndABarrier) {
  expect_misuse_in_every_seed(
      "proxy-fence-missing", kOne,
      [](SharedMemory shared, bool broken) {
        Stage& s = shared.as<Stage>();
        for (std::uint32_t i = thread_rank(); i < kRows * kRow; i += 64) st(space_global, &result[i], 0.0f);
        write_tile(s.tile[0], 1);
        broken ? fence_proxy_async(space_shared) : fence_proxy_async();
        syncthreads();
        if (thread_rank() != 0) return;
        const std::int32_t origin[2] = {0, 0};
        cp_reduce_async_bulk_tensor(space_global, space_shared, op_add, &result_map, origin, s.tile[0]);
        cp_async_bulk_commit_group();
        cp_async_bulk_wait_group_read(n32<0>);
      },
      prepare);
}

// In place: a tile is loaded, changed, and stored where it came from.
TEST(Stores, InPlaceFollowTheLoadOfTheSameBytes) {
  expect_misuse_in_every_seed(
      {"global-race", "bulk-result-early", "tma-data-early", "store-source-reused"}, kOne,
      [](SharedMemory shared, bool broken) {
        Stage& s = shared.as<Stage>();
        if (thread_rank() == 0) {
          mbarrier_init(&s.full, 1);
          fence_mbarrier_init(sem_release, scope_cluster);
        }
        syncthreads();
        write_tile(s.tile[0], 1);
        fence_proxy_async(space_shared);
        syncthreads();
        if (thread_rank() != 0) return;
        mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, kBytes);
        const std::int32_t origin[2] = {0, 0};
        cp_async_bulk_tensor(space_cluster, space_global, s.tile[1], &result_map, origin, &s.full);
        if (!broken) wait(&s.full, 0);
        store_rows(s.tile[0], 0);
        cp_async_bulk_commit_group();
        if (broken) wait(&s.full, 0);
        cp_async_bulk_wait_group_read(n32<0>);
      },
      prepare);
}

}  // namespace
}  // namespace gantry::test

// Tensor maps that a kernel edits, as a grouped GEMM does, under every seed.
#include "tests/sim/every_seed.hpp"

namespace gantry::test {
namespace {

using namespace arch;

constexpr std::uint32_t kGroups = 3, kBytes = 32 * 8 * 4;

struct Shared {
  alignas(128) std::uint32_t tile[32 * 8];
  alignas(128) TmaDescriptor map;
  std::uint64_t full;
};
constexpr LaunchConfig kOne{.block = {32}, .shared_bytes = sizeof(Shared)};

alignas(128) std::uint32_t matrix[kGroups][32 * 8];
alignas(128) TmaDescriptor pattern, workspace[2];

void encode() {
  pattern = pack({.data_type = TmaDataType::u32,
                  .rank = 2,
                  .address = reinterpret_cast<std::uint64_t>(&matrix[0][0]),
                  .dims = {32, 8, 1, 1, 1},
                  .strides = {128},
                  .box = {32, 8, 1, 1, 1}});
  workspace[0] = workspace[1] = pattern;
}

struct Plan {
  bool sync_after_fill = true;  // of the copy in shared memory, before one lane edits it
  bool sync_after_edit = true;  // before the warp copies it out
  bool acquire = true;
  bool wait_for_loads = true;  // before the map is edited for the next group
  std::uint32_t maps = 1;      // in turn
};

void groups(Shared& s, const Plan& plan) {
  if (thread_rank() == 0) {
    mbarrier_init(&s.full, 1);
    fence_mbarrier_init(sem_release, scope_cluster);
  }
  const auto* from = reinterpret_cast<const std::uint32_t*>(&pattern);
  st(space_shared, reinterpret_cast<std::uint32_t*>(&s.map) + lane_rank(), ld(space_global, from + lane_rank()));
  if (plan.sync_after_fill) syncwarp();
  for (std::uint32_t group = 0; group < kGroups; ++group) {
    TmaDescriptor* const map = &workspace[group % plan.maps];
    if (lane_rank() == 0) tensormap_replace_global_address(space_shared, &s.map, &matrix[group][0]);
    if (plan.sync_after_edit) syncwarp();
    tensormap_cp_fenceproxy(sem_release, scope_gpu, map, &s.map);
    syncwarp();
    if (lane_rank() == 0) {
      if (plan.acquire) fence_proxy_tensormap_generic(sem_acquire, scope_gpu, map);
      // The tile is read by nobody here, so loads of two groups only have to be waited for in turn.
      if (!plan.wait_for_loads && group > 0) wait(&s.full, (group - 1) % 2);
      mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, kBytes);
      const std::int32_t origin[2] = {0, 0};
      cp_async_bulk_tensor(space_cluster, space_global, s.tile, map, origin, &s.full);
      if (plan.wait_for_loads) wait(&s.full, group % 2);
    }
    syncwarp();
  }
  if (!plan.wait_for_loads && lane_rank() == 0) wait(&s.full, (kGroups - 1) % 2);
}
void expect_group_misuse(const Rules& rules, const Plan& plan, const Plan& right = {}) {
  expect_misuse_in_every_seed(
      rules, kOne, [&](SharedMemory shared, bool broken) { groups(shared.as<Shared>(), broken ? plan : right); },
      encode);
}

TEST(GroupsOfOneMap, AreEditedWhenTheWarpHasCopiedThePattern) {
  expect_group_misuse({"shared-race", "tensor-map-invalid"}, {.sync_after_fill = false});
}
TEST(GroupsOfOneMap, AreCopiedOutWhenTheEditIsDone) { expect_group_misuse("shared-race", {.sync_after_edit = false}); }
TEST(GroupsOfOneMap, AreAcquiredAfterEachEdit) { expect_group_misuse("tensor-map-unacquired", {.acquire = false}); }
TEST(GroupsOfOneMap, AreEditedWhenTheLoadsAreDone) {
  expect_group_misuse("tensor-map-in-flight", {.wait_for_loads = false});
}
TEST(GroupsOfOneMap, MayTakeTurnsWithTwoMaps) {
  expect_group_misuse("tensor-map-in-flight", {.wait_for_loads = false}, {.wait_for_loads = false, .maps = 2});
}

// Loads of a map are in the bulk group of their issuer: once that has been read, so has the map.
TEST(GroupsOfOneMap, AreEditedWhenTheBulkGroupOfTheLoadsHasBeenRead) {
  expect_misuse_in_every_seed(
      "tensor-map-in-flight", kOne,
      [](SharedMemory shared, bool broken) {
        Shared& s = shared.as<Shared>();
        const bool first = thread_rank() == 0;
        if (first) {
          mbarrier_init(&s.full, 1);
          fence_mbarrier_init(sem_release, scope_cluster);
        }
        const auto* from = reinterpret_cast<const std::uint32_t*>(&pattern);
        st(space_shared, reinterpret_cast<std::uint32_t*>(&s.map) + lane_rank(), ld(space_global, from + lane_rank()));
        syncwarp();
        for (std::uint32_t group = 0; group < 2; ++group) {
          if (first) tensormap_replace_global_address(space_shared, &s.map, &matrix[group][0]);
          syncwarp();
          tensormap_cp_fenceproxy(sem_release, scope_gpu, &workspace[0], &s.map);
          syncwarp();
          if (first && group == 0) {
            fence_proxy_tensormap_generic(sem_acquire, scope_gpu, &workspace[0]);
            mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, kBytes);
            const std::int32_t origin[2] = {0, 0};
            cp_async_bulk_tensor(space_cluster, space_global, s.tile, &workspace[0], origin, &s.full);
            if (!broken) cp_async_bulk_commit_group();
            cp_async_bulk_wait_group_read(n32<0>);
          }
          syncwarp();
        }
        if (first) wait(&s.full, 0);
      },
      encode);
}

// A map in the parameters of the kernel, or encoded by the host in global memory, is used at once.
TEST(MapsOfTheHost, NeedNoAcquire) {
  expect_clean_in_every_seed(
      {.grid = {2}, .block = {32}, .shared_bytes = sizeof(Shared)},
      [](SharedMemory shared) {
        Shared& s = shared.as<Shared>();
        if (thread_rank() != 0) return;
        prefetch_tensormap(&pattern);
        mbarrier_init(&s.full, 1);
        fence_mbarrier_init(sem_release, scope_cluster);
        mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, kBytes);
        const std::int32_t origin[2] = {0, 0};
        cp_async_bulk_tensor(space_cluster, space_global, s.tile, &pattern, origin, &s.full);
        wait(&s.full, 0);
      },
      encode);
}

// The bytes of a box that overhangs count in full.
TEST(Boxes, ThatOverhangDeliverAllTheirBytes) {
  expect_misuse_in_every_seed(
      "mbarrier-byte-count", kOne,
      [](SharedMemory shared, bool broken) {
        Shared& s = shared.as<Shared>();
        if (thread_rank() != 0) return;
        mbarrier_init(&s.full, 1);
        fence_mbarrier_init(sem_release, scope_cluster);
        mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, broken ? kBytes / 8 * 3 : kBytes);
        const std::int32_t start[2] = {0, 5};
        cp_async_bulk_tensor(space_cluster, space_global, s.tile, &pattern, start, &s.full);
        wait(&s.full, 0);
      },
      encode);
}

// The ring of one CTA edits; another one loads by the map.
TEST(MapsOfAnotherCta, AreAcquiredAfterTheFlag) {
  static std::uint32_t ready;
  for (const bool before : {false, true}) {
    expect_misuse_in_every_seed(
        "tensor-map-unacquired", {.grid = {2}, .block = {32}, .shared_bytes = sizeof(Shared)},
        [=](SharedMemory shared, bool broken) {
          Shared& s = shared.as<Shared>();
          TmaDescriptor* const map = &workspace[0];
          if (block_index().x == 0) {
            const auto* from = reinterpret_cast<const std::uint32_t*>(&pattern);
            st(space_shared, reinterpret_cast<std::uint32_t*>(&s.map) + lane_rank(),
               ld(space_global, from + lane_rank()));
            syncwarp();
            if (lane_rank() == 0) tensormap_replace_global_address(space_shared, &s.map, &matrix[1][0]);
            syncwarp();
            tensormap_cp_fenceproxy(sem_release, scope_gpu, map, &s.map);
            if (lane_rank() == 0) st(sem_release, scope_gpu, space_global, &ready, 1u);
            return;
          }
          if (thread_rank() != 0) return;
          mbarrier_init(&s.full, 1);
          fence_mbarrier_init(sem_release, scope_cluster);
          if (broken && before) fence_proxy_tensormap_generic(sem_acquire, scope_gpu, map);
          while (ld(sem_acquire, scope_gpu, space_global, &ready) == 0) pause();
          if (!broken) fence_proxy_tensormap_generic(sem_acquire, scope_gpu, map);
          mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, kBytes);
          const std::int32_t origin[2] = {0, 0};
          cp_async_bulk_tensor(space_cluster, space_global, s.tile, map, origin, &s.full);
          wait(&s.full, 0);
        },
        [] { encode(), ready = 0; });
  }
}

}  // namespace
}  // namespace gantry::test

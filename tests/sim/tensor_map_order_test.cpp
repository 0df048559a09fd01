// Edits of tensor maps against the copies that use them, under every seed.
#include <cstring>

#include "every_seed_steps.hpp"

namespace gantry::test {
namespace {

TEST(TensorMapOrder, TheFirstEditOfAMapThatTheHostEncodedWaitsForTheCopy) {
  expect_misuse_in_every_seed(
      "tensor-map-in-flight", {.block = {32}, .shared_bytes = kShared},
      [](SharedMemory shared, bool broken) {
        Storage& s = shared.as<Storage>();
        if (thread_rank() != 0) return;
        start_barrier(s);
        load_tile(s, &slot);
        if (!broken) wait(&s.full, 0);
        tensormap_replace_global_address(space_global, &slot, target);
        if (broken) wait(&s.full, 0);
      },
      encode_slot);
}

TEST(TensorMapOrder, AnEditWaitsUntilAStoreHasReadTheMap) {
  expect_misuse_in_every_seed(
      "tensor-map-in-flight", {.block = {32}, .shared_bytes = kShared},
      [](SharedMemory shared, bool broken) {
        Storage& s = shared.as<Storage>();
        for (std::uint32_t i = thread_rank(); i < 1024; i += 32) st(space_shared, &s.tile[i], i);
        fence_proxy_async(space_shared);
        syncthreads();
        if (thread_rank() != 0) return;
        cp_async_bulk_tensor(space_global, space_shared, &slot, kOrigin, s.tile);
        cp_async_bulk_commit_group();
        if (!broken) cp_async_bulk_wait_group_read(n32<0>);
        tensormap_replace_global_address(space_global, &slot, target);
        if (broken) cp_async_bulk_wait_group_read(n32<0>);
      },
      [] { slot = map_of(target); });
}

TEST(TensorMapOrder, AnotherCtaUsesAnEditedMapAfterAHandshake) {
  const auto body = [](SharedMemory shared, bool broken) {
    Storage& s = shared.as<Storage>();
    if (block_index().x == 0) {
      const auto* from = reinterpret_cast<const std::uint32_t*>(&slot);
      st(space_shared, reinterpret_cast<std::uint32_t*>(&s.map) + thread_rank(),
         ld(space_global, from + thread_rank()));
      syncwarp();
      if (thread_rank() == 0) tensormap_replace_global_address(space_shared, &s.map, target);
      syncwarp();
      tensormap_cp_fenceproxy(sem_release, scope_gpu, &slot, &s.map);
      syncwarp();
      if (thread_rank() == 0) st(sem_release, scope_gpu, space_global, &flag, 1u);
      return;
    }
    if (thread_rank() != 0) return;
    start_barrier(s);
    if (!broken) await(&flag);
    fence_proxy_tensormap_generic(sem_acquire, scope_gpu, &slot);
    load_tile(s, &slot);
    wait(&s.full, 0);
  };
  expect_misuse_in_every_seed("tensor-map-unacquired", {.grid = {2}, .block = {32}, .shared_bytes = kShared}, body,
                              [] { encode_slot(), reset(); });
}

TEST(TensorMapOrder, AMapThatThreadsWroteIsReleasedAndAcquired) {
  expect_misuse_in_every_seed(
      "tensor-map-unreleased", {.block = {32}, .shared_bytes = kShared},
      [](SharedMemory shared, bool broken) {
        Storage& s = shared.as<Storage>();
        static const TmaDescriptor pattern = map_of(source);
        std::uint32_t word;
        std::memcpy(&word, reinterpret_cast<const std::byte*>(&pattern) + 4 * thread_rank(), 4);
        st(space_global, reinterpret_cast<std::uint32_t*>(&slot) + thread_rank(), word);
        if (!broken) fence_proxy_tensormap_generic(sem_release, scope_gpu);
        syncwarp();
        if (thread_rank() != 0) return;
        start_barrier(s);
        fence_proxy_tensormap_generic(sem_acquire, scope_gpu, &slot);
        load_tile(s, &slot);
        wait(&s.full, 0);
      },
      encode_slot);
}

}  // namespace
}  // namespace gantry::test

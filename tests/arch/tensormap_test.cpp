// Tensor maps edited by a kernel: the protocol that makes the edit visible, and what happens without a part of it.
#include <vector>

#include <gtest/gtest.h>

#include "simulate.hpp"

namespace gantry {
namespace {

using namespace arch;
using test::simulate;

struct Storage {
  alignas(1024) std::uint32_t tile[256];
  alignas(128) TmaDescriptor map;
  std::uint64_t barrier;
};

enum class Omit { nothing, acquire, wait };

// Loads a row from `first`, then rewrites the map to point to `second` and loads again.
Report load_through_edited_map(std::vector<std::uint32_t>& got, Omit omit) {
  alignas(128) static std::uint32_t first[256], second[256];
  alignas(128) static TmaDescriptor slot;
  for (std::uint32_t i = 0; i < 256; ++i) first[i] = i, second[i] = 1000 + i;
  const TmaDescriptor map = pack({.data_type = TmaDataType::u32,
                                  .rank = 1,
                                  .address = reinterpret_cast<std::uint64_t>(first),
                                  .dims = {256},
                                  .box = {256}});
  return simulate({.block = {32}, .shared_bytes = sizeof(Storage)},
                  [&, omit](SharedMemory shared) {
                    Storage& s = shared.as<Storage>();
                    const bool leader = thread_rank() == 0;
                    if (leader) {
                      mbarrier_init(&s.barrier, 1);
                      fence_mbarrier_init(sem_release, scope_cluster);
                      for (int i = 0; i < 16; ++i) st(space_shared, &s.map.words[i], map.words[i]);
                    }
                    syncwarp();
                    for (std::uint32_t lap = 0; lap < 2; ++lap) {
                      if (leader) tensormap_replace_global_address(space_shared, &s.map, lap == 0 ? first : second);
                      syncwarp();
                      tensormap_cp_fenceproxy(sem_release, scope_gpu, &slot, &s.map);
                      if (!leader) continue;
                      if (omit != Omit::acquire) fence_proxy_tensormap_generic(sem_acquire, scope_gpu, &slot);
                      const std::int32_t at[1] = {0};
                      mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.barrier, 1024);
                      cp_async_bulk_tensor(space_cluster, space_global, s.tile, &slot, at, &s.barrier);
                      if (omit == Omit::wait && lap == 0) continue;
                      wait(&s.barrier, lap & 1);
                      got.push_back(ld(space_shared, &s.tile[7]));
                      fence_proxy_async(space_shared);
                    }
                  },
                  {.seed = 3, .latency = Latency::late});
}

TEST(TensorMap, AnEditedMapIsUsedOnceItIsPublishedAndAcquired) {
  std::vector<std::uint32_t> got;
  const Report report = load_through_edited_map(got, Omit::nothing);
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(got, (std::vector<std::uint32_t>{7, 1007}));
}

TEST(TensorMap, UsingItWithoutAcquireAndEditingItUnderACopyAreReported) {
  for (const Omit omit : {Omit::nothing, Omit::acquire, Omit::wait}) {
    std::vector<std::uint32_t> got;
    const Report report = load_through_edited_map(got, omit);
    EXPECT_EQ(report.has("tensor-map-unacquired"), omit == Omit::acquire) << report.text();
    EXPECT_EQ(report.has("tensor-map-in-flight"), omit == Omit::wait) << report.text();
  }
}

TEST(TensorMap, AMapEditedInGlobalMemoryNeedsARelease) {
  alignas(128) static std::uint32_t memory[64];
  alignas(128) static TmaDescriptor slot;
  slot = pack({.data_type = TmaDataType::u32,
               .rank = 2,
               .address = reinterpret_cast<std::uint64_t>(memory),
               .dims = {8, 8},
               .strides = {32},
               .box = {8, 8}});
  for (const bool release : {false, true}) {
    const Report report = simulate({.block = {1}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
      Storage& s = shared.as<Storage>();
      mbarrier_init(&s.barrier, 1);
      fence_mbarrier_init(sem_release, scope_cluster);
      tensormap_replace_global_dim(space_global, &slot, n32<1>, 4);
      tensormap_replace_global_stride(space_global, &slot, n32<0>, 32);
      tensormap_replace_box_dim(space_global, &slot, n32<1>, 4);
      if (release) fence_proxy_tensormap_generic(sem_release, scope_gpu);
      fence_proxy_tensormap_generic(sem_acquire, scope_gpu, &slot);
      const std::int32_t at[2] = {0, 0};
      mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.barrier, 128);
      cp_async_bulk_tensor(space_cluster, space_global, s.tile, &slot, at, &s.barrier);
      wait(&s.barrier, 0);
    });
    EXPECT_EQ(report.has("tensor-map-unreleased"), !release) << report.text();
    EXPECT_EQ(report.clean(), release) << report.text();
  }
}

TEST(TensorMap, EveryFieldCanBeReplaced) {
  alignas(128) static TmaDescriptor slot;
  slot = pack(
      {.data_type = TmaDataType::u32, .rank = 2, .address = 4096, .dims = {64, 8}, .strides = {256}, .box = {8, 8}});
  const Report report = simulate({.block = {1}}, [](SharedMemory) {
    tensormap_replace_global_address(space_global, &slot, reinterpret_cast<const void*>(std::uintptr_t{8192}));
    tensormap_replace_rank(space_global, &slot, 2);  // one less than the rank, as the instruction counts
    tensormap_replace_global_dim(space_global, &slot, n32<0>, 128);
    tensormap_replace_global_dim(space_global, &slot, n32<2>, 5);
    tensormap_replace_global_stride(space_global, &slot, n32<1>, 4096);
    tensormap_replace_box_dim(space_global, &slot, n32<0>, 16);
    tensormap_replace_box_dim(space_global, &slot, n32<2>, 3);
    tensormap_replace_element_stride(space_global, &slot, n32<1>, 2);
    tensormap_replace_elemtype<Space::global, TmaDataType::bf16>(space_global, &slot);
    tensormap_replace_swizzle_mode<Space::global, TmaSwizzle::bytes_32>(space_global, &slot);
    tensormap_replace_interleave_layout<Space::global, TmaInterleave::bytes_16>(space_global, &slot);
    tensormap_replace_fill_mode<Space::global, TmaFill::nan>(space_global, &slot);
  });
  EXPECT_TRUE(report.clean()) << report.text();
  const UnpackedTmaDescriptor edited = unpack(slot);
  ASSERT_TRUE(edited);
  EXPECT_EQ(canonical(*edited), canonical({.data_type = TmaDataType::bf16,
                                           .rank = 3,
                                           .address = 8192,
                                           .dims = {128, 8, 5},
                                           .strides = {256, 4096},
                                           .box = {16, 8, 3},
                                           .element_strides = {1, 2, 1},
                                           .interleave = TmaInterleave::bytes_16,
                                           .swizzle = TmaSwizzle::bytes_32,
                                           .fill = TmaFill::nan}));
}

TEST(TensorMap, APrefetchReadsAMapThatIsNotInSharedMemory) {
  alignas(128) static TmaDescriptor map;
  map = pack({.data_type = TmaDataType::u32, .rank = 1, .address = 4096, .dims = {64}, .box = {8}});
  for (const bool broken : {false, true}) {
    const Report report = simulate({.block = {1}, .shared_bytes = sizeof(Storage)}, [=](SharedMemory shared) {
      prefetch_tensormap(broken ? &shared.as<Storage>().map : &map);
      const std::int32_t at[1] = {0};
      cp_async_bulk_prefetch_tensor(space_global, &map, at);
      cp_async_bulk_prefetch_tensor(space_global, &map, at, kEvictFirst);
    });
    EXPECT_EQ(report.has("tensor-map-space"), broken) << report.text();
    EXPECT_EQ(report.clean(), !broken) << report.text();
  }
}

TEST(TensorMap, AMapInSharedMemoryCannotBeUsedByACopy) {
  const Report report = simulate({.block = {1}, .shared_bytes = sizeof(Storage)}, [&](SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    mbarrier_init(&s.barrier, 1);
    const std::int32_t at[1] = {0};
    cp_async_bulk_tensor(space_cluster, space_global, s.tile, &s.map, at, &s.barrier);
  });
  EXPECT_TRUE(report.has("tensor-map-space")) << report.text();
}

}  // namespace
}  // namespace gantry

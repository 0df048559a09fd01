// What the tests under every seed share: a kernel's storage, a tensor map, and a few steps that all of them take.
#pragma once

#include "every_seed.hpp"

namespace gantry::test {

using namespace arch;

struct Storage {
  alignas(1024) std::uint32_t tile[1024];
  alignas(1024) std::uint32_t other[1024];
  alignas(128) TmaDescriptor map;
  std::uint64_t full, second;
};
inline constexpr std::uint32_t kShared = sizeof(Storage);
inline constexpr std::uint32_t kTileBytes = 4096;
inline constexpr std::int32_t kOrigin[2] = {0, 0};

alignas(128) inline std::uint32_t source[1024], target[1024];
alignas(128) inline TmaDescriptor slot;
inline std::uint32_t data, flag, counter;

inline TmaDescriptor map_of(std::uint32_t* memory, std::uint64_t rows = 32) {
  return pack({.data_type = TmaDataType::u32,
               .rank = 2,
               .address = reinterpret_cast<std::uint64_t>(memory),
               .dims = {32, rows, 1, 1, 1},
               .strides = {128},
               .box = {32, 32, 1, 1, 1}});
}
inline void encode_slot() { slot = map_of(source); }
inline void reset() { data = flag = counter = 0; }

inline void start_barrier(Storage& s) {
  mbarrier_init(&s.full, 1);
  fence_mbarrier_init(sem_release, scope_cluster);
}
inline void load_tile(Storage& s, const TmaDescriptor* map) {
  mbarrier_arrive_expect_tx(sem_release, scope_cta, space_shared, &s.full, kTileBytes);
  cp_async_bulk_tensor(space_cluster, space_global, s.tile, map, kOrigin, &s.full);
}
inline void sync() {
  barrier_cluster_arrive();
  barrier_cluster_wait();
}
inline void await(std::uint32_t* where) {
  while (ld(sem_acquire, scope_gpu, space_global, where) == 0) pause();
}

}  // namespace gantry::test

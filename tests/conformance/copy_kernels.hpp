// Kernels of one copy each: what a tensor copy does to shared or to global memory, shown as bytes.
//
// Shared memory is filled with 0xEE first, so that the image shows what a copy left alone.
#pragma once

#include <cstdint>

#include <gantry/arch.hpp>
#include <gantry/tma/descriptor.hpp>

namespace gantry::conformance {

inline constexpr std::uint32_t kTileBytes = 40 * 1024;
inline constexpr int kCopyThreads = 32;

struct alignas(16) Chunk {
  std::uint32_t words[4];
};

struct CopyStorage {
  alignas(1024) unsigned char tile[kTileBytes];
  TmaDescriptor map;
  std::uint64_t full;
};

GANTRY_INLINE void prepare(CopyStorage& s, std::uint32_t bytes) {
  if (arch::thread_rank() == 0) {
    arch::mbarrier_init(&s.full, 1);
    arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster);
  }
  for (std::uint32_t i = arch::thread_rank() * 16; i < bytes; i += kCopyThreads * 16) {
    arch::st(arch::space_shared, reinterpret_cast<Chunk*>(s.tile + i),
             Chunk{{0xEEEEEEEE, 0xEEEEEEEE, 0xEEEEEEEE, 0xEEEEEEEE}});
  }
  arch::fence_proxy_async(arch::space_shared);
}

GANTRY_INLINE void show(const CopyStorage& s, unsigned char* image, std::uint32_t bytes) {
  for (std::uint32_t i = arch::thread_rank() * 16; i < bytes; i += kCopyThreads * 16) {
    arch::st(arch::space_global, reinterpret_cast<Chunk*>(image + i),
             arch::ld(arch::space_shared, reinterpret_cast<const Chunk*>(s.tile + i)));
  }
}

// Where the map of a copy lies.
enum class MapPlace { parameter, shared, local };

// One tiled or im2col load; the image of shared memory goes to `image`.
template <int Rank, bool Im2col = false, MapPlace Place = MapPlace::parameter>
struct LoadBox {
  static constexpr int kThreads = kCopyThreads;
  using Storage = CopyStorage;

  struct Params {
    TmaDescriptor map;
    std::int32_t at[5];
    std::uint16_t offsets[3];
    std::uint32_t expected_bytes;
    std::uint32_t offset;  // of the destination in shared memory
    unsigned char* image;
    std::uint32_t image_bytes;
  };

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    prepare(s, p.image_bytes);
    if constexpr (Place == MapPlace::shared) {
      if (arch::thread_rank() < 16)
        arch::st(arch::space_shared, &s.map.words[arch::thread_rank()], p.map.words[arch::thread_rank()]);
    }
    arch::syncthreads();
    if (arch::thread_rank() == 0) {
      arch::mbarrier_arrive_expect_tx(arch::sem_release, arch::scope_cta, arch::space_shared, &s.full,
                                      p.expected_bytes);
      if constexpr (Place == MapPlace::local) {
        TmaDescriptor map = p.map;
        issue(p, &map, s);
        // Keeps the copy of the map in memory.
        if (p.image_bytes == 0)
          arch::st(arch::space_global, reinterpret_cast<std::uint64_t*>(p.image), map.words[p.offset % 16]);
      } else {
        issue(p, Place == MapPlace::shared ? &s.map : &p.map, s);
      }
    }
    arch::wait(&s.full, 0);
    show(s, p.image, p.image_bytes);
  }

 private:
  GANTRY_INLINE static void issue(const Params& p, const TmaDescriptor* map, Storage& s) {
    std::int32_t at[Rank];
    GANTRY_UNROLL
    for (int i = 0; i < Rank; ++i) at[i] = p.at[i];
    if constexpr (Im2col) {
      std::uint16_t offsets[Rank - 2];
      GANTRY_UNROLL
      for (int i = 0; i < Rank - 2; ++i) offsets[i] = p.offsets[i];
      arch::cp_async_bulk_tensor_im2col(arch::space_cluster, arch::space_global, s.tile + p.offset, map, at, &s.full,
                                        offsets);
    } else {
      arch::cp_async_bulk_tensor(arch::space_cluster, arch::space_global, s.tile + p.offset, map, at, &s.full);
    }
  }
};

// The operations of a store.
struct PlainStore {
  template <int Rank>
  GANTRY_INLINE static void issue(const TmaDescriptor* map, const std::int32_t (&at)[Rank], const void* from) {
    arch::cp_async_bulk_tensor(arch::space_global, arch::space_shared, map, at, from);
  }
};
template <arch::ReduceOp Op>
struct Reduce {
  template <int Rank>
  GANTRY_INLINE static void issue(const TmaDescriptor* map, const std::int32_t (&at)[Rank], const void* from) {
    arch::cp_reduce_async_bulk_tensor(arch::space_global, arch::space_shared, arch::OpTag<Op>{}, map, at, from);
  }
};
// The same through an im2col map.
struct Im2colStores {
  template <int Rank>
  GANTRY_INLINE static void issue(const TmaDescriptor* map, const std::int32_t (&at)[Rank], const void* from) {
    arch::cp_async_bulk_tensor_im2col(arch::space_global, arch::space_shared, map, at, from);
  }
};
struct Im2colAdds {
  template <int Rank>
  GANTRY_INLINE static void issue(const TmaDescriptor* map, const std::int32_t (&at)[Rank], const void* from) {
    arch::cp_reduce_async_bulk_tensor_im2col(arch::space_global, arch::space_shared, arch::op_add, map, at, from);
  }
};

// One store of what `source` holds, as it lies in shared memory.
template <int Rank, class Operation = PlainStore>
struct StoreBox {
  static constexpr int kThreads = kCopyThreads;
  using Storage = CopyStorage;

  struct Params {
    TmaDescriptor map;
    std::int32_t at[5];
    const unsigned char* source;
    std::uint32_t source_bytes;
  };

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    for (std::uint32_t i = arch::thread_rank() * 16; i < p.source_bytes; i += kThreads * 16) {
      arch::st(arch::space_shared, reinterpret_cast<Chunk*>(s.tile + i),
               arch::ld(arch::space_global, reinterpret_cast<const Chunk*>(p.source + i)));
    }
    arch::fence_proxy_async(arch::space_shared);
    arch::syncthreads();
    if (arch::thread_rank() != 0) return;
    std::int32_t at[Rank];
    GANTRY_UNROLL
    for (int i = 0; i < Rank; ++i) at[i] = p.at[i];
    Operation::issue(&p.map, at, s.tile);
    arch::cp_async_bulk_commit_group();
    arch::cp_async_bulk_wait_group(arch::n32<0>);
  }
};

// One CTA of a cluster multicasts a box to those of `mask`; every CTA shows its shared memory.
struct Multicast {
  static constexpr int kThreads = kCopyThreads;
  using Storage = CopyStorage;

  struct Params {
    TmaDescriptor map;
    std::int32_t at[2];
    std::uint32_t box_bytes;
    std::uint32_t offset;
    std::uint32_t issuer;
    std::uint16_t mask;
    unsigned char* images;  // one after another, by rank
    std::uint32_t image_bytes;
  };

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    const std::uint32_t rank = arch::cluster_block_rank();
    const bool receives = p.mask >> rank & 1;
    prepare(s, p.image_bytes);
    if (arch::thread_rank() == 0 && receives) {
      arch::mbarrier_arrive_expect_tx(arch::sem_release, arch::scope_cta, arch::space_shared, &s.full, p.box_bytes);
    }
    arch::barrier_cluster_arrive();
    arch::barrier_cluster_wait();
    if (rank == p.issuer && arch::thread_rank() == 0) {
      const std::int32_t at[2] = {p.at[0], p.at[1]};
      arch::cp_async_bulk_tensor(arch::space_cluster, arch::space_global, s.tile + p.offset, &p.map, at, &s.full,
                                 p.mask);
    }
    if (receives) arch::wait(&s.full, 0);
    show(s, p.images + rank * p.image_bytes, p.image_bytes);
    arch::barrier_cluster_arrive();
    arch::barrier_cluster_wait();
  }
};

}  // namespace gantry::conformance

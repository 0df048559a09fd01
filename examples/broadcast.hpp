// One CTA of a cluster loads each tile once and multicasts it to all; every CTA stores its copy to a matrix of its own.
//
// A stage may be filled again only when the stores of *all* CTAs have been read, so each CTA releases it at the loader.
#pragma once

#include <cstdint>

#include <gantry/arch.hpp>
#include <gantry/pipeline/tma_async.hpp>
#include <gantry/tma/descriptor.hpp>

namespace gantry::examples {

struct Broadcast {
  static constexpr int kThreads = 64;
  static constexpr int kStages = 2, kRows = 32, kBytes = 128;
  static constexpr int kMaxCluster = 4;
  using Pipeline = PipelineTmaAsync<kStages>;

  struct Params {
    TmaDescriptor from;
    TmaDescriptor to[kMaxCluster];  // by rank; all boxes 128 bytes x 32 rows
    int tiles;                      // down the matrix
  };

  struct Storage {
    alignas(1024) unsigned char tile[kStages][kRows * kBytes];
    Pipeline::SharedStorage pipeline;
  };

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    const std::uint32_t rank = arch::cluster_block_rank(), ctas = arch::cluster_blocks();
    if (arch::thread_rank() == 0) {
      // The loader hears from every CTA, the others only from themselves.
      Pipeline::init(s.pipeline, rank == 0 ? ctas : 1, "tile");
      arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster);
    }
    arch::barrier_cluster_arrive();
    arch::barrier_cluster_wait();
    Pipeline pipeline(s.pipeline);
    const bool loads = arch::warp_rank() == 0;
    if (arch::elect_sync()) {
      arch::name_role(loads ? "loader" : "storer");
      if (loads) {
        load(p, s, pipeline, rank, ctas);
      } else {
        store(p, s, pipeline, rank);
      }
    }
    arch::syncwarp();
    // Nobody leaves while a peer may still signal or fill it.
    arch::barrier_cluster_arrive();
    arch::barrier_cluster_wait();
  }

 private:
  // Every CTA expects its bytes; the first one issues the copies.
  GANTRY_INLINE static void load(const Params& p, Storage& s, Pipeline& pipeline, std::uint32_t rank,
                                 std::uint32_t ctas) {
    PipelineState<kStages> write = make_producer_start_state<kStages>();
    for (int i = 0; i < p.tiles; ++i, ++write) {
      pipeline.producer_acquire(write, sizeof s.tile[0]);
      if (rank == 0) {
        const std::int32_t at[2] = {0, i * kRows};
        arch::cp_async_bulk_tensor(arch::space_cluster, arch::space_global, s.tile[write.index()], &p.from, at,
                                   pipeline.producer_get_barrier(write), static_cast<std::uint16_t>((1u << ctas) - 1));
      }
    }
  }

  GANTRY_INLINE static void store(const Params& p, Storage& s, Pipeline& pipeline, std::uint32_t rank) {
    PipelineState<kStages> read = make_consumer_start_state<kStages>();
    for (int i = 0; i < p.tiles; ++i, ++read) {
      pipeline.consumer_wait(read);
      const std::int32_t at[2] = {0, i * kRows};
      arch::cp_async_bulk_tensor(arch::space_global, arch::space_shared, &p.to[rank], at, s.tile[read.index()]);
      arch::cp_async_bulk_commit_group();
      arch::cp_async_bulk_wait_group_read(arch::n32<0>);
      pipeline.consumer_release(read, 0);
      if (rank != 0) pipeline.consumer_release(read);
    }
  }
};

}  // namespace gantry::examples

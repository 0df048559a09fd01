// A GEMM, D = A B^T, in one kernel: A is M x K, B is N x K, both row-major bf16; D is M x N bf16.
//
// One warpgroup loads tiles by TMA into a ring of stages; two warpgroups multiply, each 64 rows of the tile, write
// their part of D to shared memory with stmatrix, and store it by TMA while the next tile is already being loaded. In a
// cluster, CTAs that are neighbours along M share the tile of B: each loads a part and multicasts it to all.
#pragma once

#include <cstdint>

#include "gantry/arch.hpp"
#include "gantry/pipeline/tma_async.hpp"
#include "gantry/tma/descriptor.hpp"

namespace gantry::examples {

struct TileProductConfig {
  static constexpr int kTileN = 256;
  static constexpr int kStages = 4;
  static constexpr int kCluster = 2;
};

template <class Config = TileProductConfig>
struct TileProduct {
  static constexpr int kTileM = 128, kTileN = Config::kTileN, kTileK = 64;
  static constexpr int kStages = Config::kStages;
  static constexpr int kCluster = Config::kCluster;
  static constexpr int kThreads = 3 * 128;
  static constexpr int kMathWarpgroups = 2;
  static constexpr int kSlabN = 64;  // columns of D that one 128-byte row holds
  static constexpr int kStoreBuffers = 2;
  static constexpr int kLoadedRowsB = kTileN / kCluster;
  static constexpr int kGroupM = 16;  // rows of tiles that run at about the same time, for L2

  using Op = arch::WgmmaOp<kTileN, arch::MmaType::f32, arch::MmaType::bf16, arch::MmaType::bf16>;
  using Pipeline = PipelineTmaAsync<kStages>;
  using State = PipelineState<kStages>;

  struct Params {
    TmaDescriptor a;  // box {64, 128}, 128-byte swizzle
    TmaDescriptor b;  // box {64, kLoadedRowsB}, 128-byte swizzle
    TmaDescriptor d;  // box {64, 64}, 128-byte swizzle
    int m_tiles, n_tiles, k_tiles;
  };

  struct Storage {
    alignas(1024) std::uint16_t a[kStages][kTileM * kTileK];
    alignas(1024) std::uint16_t b[kStages][kTileN * kTileK];
    alignas(1024) std::uint16_t d[kMathWarpgroups][kStoreBuffers][64 * kSlabN];
    typename Pipeline::SharedStorage pipeline;
  };

  static constexpr std::uint32_t kStageBytes = 2 * (kTileM + kTileN) * kTileK;

  struct Tile {
    int m, n;
  };

  // Tile number `i` of this CTA's cluster: down a group of kGroupM rows first, then along N.
  GANTRY_INLINE static Tile tile_at(const Params& p, int i) {
    const int rows = p.m_tiles / kCluster;
    const int group = kGroupM / kCluster;
    const int per_group = group * p.n_tiles;
    const int first = i / per_group * group;
    const int height = rows - first < group ? rows - first : group;
    const int within = i % per_group;
    const int row = first + within % height;
    return {row * kCluster + static_cast<int>(arch::cluster_block_rank()), within / height};
  }

  GANTRY_HD static void run(const Params& params, SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    const int warpgroup = static_cast<int>(arch::warpgroup_rank());
    if (arch::thread_rank() == 0) {
      Pipeline::init(s.pipeline, kMathWarpgroups * kCluster, "tile");
      arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster);
    }
    if constexpr (kCluster > 1) {
      arch::barrier_cluster_arrive();
      arch::barrier_cluster_wait();
    } else {
      arch::syncthreads();
    }
    if (warpgroup == 0) {
      arch::setmaxnreg_dec<40>();
      arch::name_role("producer");
      if (arch::warp_rank() == 0 && arch::elect_sync()) produce(params, s);
    } else {
      arch::setmaxnreg_inc<232>();
      arch::name_role("math");
      consume(params, s, warpgroup - 1);
    }
  }

 private:
  GANTRY_INLINE static int first_tile() { return static_cast<int>(arch::block_index().x) / kCluster; }
  GANTRY_INLINE static int tile_step() { return static_cast<int>(arch::grid_dim().x) / kCluster; }
  GANTRY_INLINE static int tile_count(const Params& p) { return p.m_tiles / kCluster * p.n_tiles; }

  GANTRY_INLINE static void produce(const Params& p, Storage& s) {
    Pipeline pipeline(s.pipeline);
    State write = make_producer_start_state<kStages>();
    const auto rank = static_cast<int>(arch::cluster_block_rank());
    for (int i = first_tile(); i < tile_count(p); i += tile_step()) {
      const Tile tile = tile_at(p, i);
      for (int k = 0; k < p.k_tiles; ++k, ++write) {
        pipeline.producer_acquire(write, kStageBytes);
        std::uint64_t* full = pipeline.producer_get_barrier(write);
        const std::int32_t a_at[2] = {k * kTileK, tile.m * kTileM};
        const std::int32_t b_at[2] = {k * kTileK, tile.n * kTileN + rank * kLoadedRowsB};
        std::uint16_t* b = &s.b[write.index()][rank * kLoadedRowsB * kTileK];
        arch::cp_async_bulk_tensor(arch::space_cluster, arch::space_global, &s.a[write.index()][0], &p.a, a_at, full);
        if constexpr (kCluster > 1) {
          arch::cp_async_bulk_tensor(arch::space_cluster, arch::space_global, b, &p.b, b_at, full,
                                     static_cast<std::uint16_t>((1u << kCluster) - 1));
        } else {
          arch::cp_async_bulk_tensor(arch::space_cluster, arch::space_global, b, &p.b, b_at, full);
        }
      }
    }
    pipeline.producer_tail(write);
  }

  // One thread of the warpgroup signals each CTA that fills this stage.
  GANTRY_INLINE static void release(Pipeline& pipeline, const State& state, int thread) {
    if constexpr (kCluster > 1) {
      if (thread < kCluster) pipeline.consumer_release(state, static_cast<std::uint32_t>(thread));
    } else {
      if (thread == 0) pipeline.consumer_release(state);
    }
  }

  GANTRY_INLINE static void consume(const Params& p, Storage& s, int group) {
    Pipeline pipeline(s.pipeline);
    State read = make_consumer_start_state<kStages>();
    const int thread = static_cast<int>(arch::thread_rank()) % 128;
    arch::Accumulator<Op> acc;
    int stored = 0;
    for (int i = first_tile(); i < tile_count(p); i += tile_step()) {
      State last = read;
      for (int k = 0; k < p.k_tiles; ++k, ++read) {
        pipeline.consumer_wait(read);
        const arch::WgmmaMatrix matrix{.stride_bytes = 1024};
        const std::uint64_t a = arch::wgmma_descriptor(&s.a[read.index()][group * 64 * kTileK], matrix);
        const std::uint64_t b = arch::wgmma_descriptor(&s.b[read.index()][0], matrix);
        arch::warpgroup_fence_operand(acc);
        arch::wgmma_fence();
        GANTRY_UNROLL
        for (std::uint32_t step = 0; step < kTileK / 16; ++step) {
          arch::wgmma_mma_async<Op>(acc, arch::wgmma_advance(a, step * 32), arch::wgmma_advance(b, step * 32),
                                    k > 0 || step > 0);
        }
        arch::wgmma_commit_group();
        arch::warpgroup_fence_operand(acc);
        if (k > 0) {
          arch::wgmma_wait_group(arch::n32<1>);
          release(pipeline, last, thread);
        }
        last = read;
      }
      arch::wgmma_wait_group(arch::n32<0>);
      arch::warpgroup_fence_operand(acc);
      release(pipeline, last, thread);
      store(p, s, acc, tile_at(p, i), group, stored);
      stored += kTileN / kSlabN;
    }
    if (thread == 0) arch::cp_async_bulk_wait_group_read(arch::n32<0>);
  }

  // The first value goes to the upper half, as in the instruction.
  GANTRY_INLINE static std::uint32_t pack(float high, float low) { return arch::cvt_rn_bf16x2(high, low); }

  GANTRY_INLINE static void store(const Params& p, Storage& s, arch::Accumulator<Op>& acc, Tile tile, int group,
                                  int stored) {
    const int thread = static_cast<int>(arch::thread_rank()) % 128;
    const int lane = thread % 32;
    const int row = thread / 32 * 16 + lane % 16;
    const auto barrier = static_cast<std::uint32_t>(1 + group);
    GANTRY_UNROLL
    for (int slab = 0; slab < kTileN / kSlabN; ++slab) {
      std::uint16_t* buffer = s.d[group][(stored + slab) % kStoreBuffers];
      if (thread == 0) arch::cp_async_bulk_wait_group_read(arch::n32<kStoreBuffers - 1>);
      arch::barrier_sync(barrier, 128);
      GANTRY_UNROLL
      for (int g = 0; g < kSlabN / 16; ++g) {
        const int at = slab * (kSlabN / 2) + g * 8;
        const std::uint32_t d[4] = {pack(acc[at + 1], acc[at]), pack(acc[at + 3], acc[at + 2]),
                                    pack(acc[at + 5], acc[at + 4]), pack(acc[at + 7], acc[at + 6])};
        const int chunk = (2 * g + lane / 16) ^ (row % 8);
        arch::stmatrix(buffer + row * kSlabN + chunk * 8, d);
      }
      arch::fence_proxy_async(arch::space_shared);
      arch::barrier_sync(barrier, 128);
      if (thread == 0) {
        const std::int32_t at[2] = {tile.n * kTileN + slab * kSlabN, tile.m * kTileM + group * 64};
        arch::cp_async_bulk_tensor(arch::space_global, arch::space_shared, &p.d, at, buffer);
        arch::cp_async_bulk_commit_group();
      }
    }
  }
};

}  // namespace gantry::examples

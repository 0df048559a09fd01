// A cluster in which two operands are multicast, as in a GEMM: tile i of CTA (x, y) is one tile of words for
// x, in parts from the CTAs with this x, and one for y, in parts from the CTAs with this y. The consumers write
// 2 a + 3 b.
#pragma once

#include "moves.hpp"

namespace gantry::test {

enum class MulticastFlaw : std::uint8_t { none, no_tail, releases_own_cta_only };

template <int Stages, std::uint32_t ClusterX, std::uint32_t ClusterY, std::uint32_t Consumers = 64,
          MulticastFlaw flaw = MulticastFlaw::none>
struct MulticastKernel {
  using Params = MoveParams;
  using Pipeline = PipelineTmaAsync<Stages>;
  using State = typename Pipeline::State;
  static constexpr std::uint32_t kThreads = 32 + Consumers;
  static constexpr Extent3 kCluster{ClusterX, ClusterY};
  static constexpr bool kReleasesOwnOnly = flaw == MulticastFlaw::releases_own_cta_only;

  struct Storage {
    alignas(128) std::uint32_t a[Stages][kWords];
    alignas(128) std::uint32_t b[Stages][kWords];
    typename Pipeline::SharedStorage pipeline;
  };

  // Which tile of the input comes as tile i of row x and of column y.
  GANTRY_HD static constexpr int tile_a(int i, std::uint32_t x, int tiles) { return (i + static_cast<int>(x)) % tiles; }
  GANTRY_HD static constexpr int tile_b(int i, std::uint32_t y, int tiles) {
    return (i + 3 * static_cast<int>(y) + 1) % tiles;
  }

  GANTRY_HD static void run(const Params& p, SharedMemory shared) {
    Storage& s = shared.as<Storage>();
    const bool producer = arch::warp_rank() == 0;
    const bool elected = arch::elect_sync();
    if (arch::thread_rank() == 0) {
      arch::name(s.a, sizeof s.a, "a");
      arch::name(s.b, sizeof s.b, "b");
      Pipeline::init(s.pipeline, pipeline_params(PipelineRole::none), "tile");
      arch::fence_mbarrier_init(arch::sem_release, arch::scope_cluster);
    }
    arch::barrier_cluster_arrive();
    arch::barrier_cluster_wait();
    if (producer) {
      arch::name_role("producer");
      if (elected) produce(p, s);
    } else {
      arch::name_role("consumer");
      consume(p, s);
    }
  }

 private:
  GANTRY_HD static constexpr typename Pipeline::Params pipeline_params(PipelineRole role) {
    return {.role = role,
            .transaction_bytes = 2 * kBytes,
            .consumers = Consumers,
            .cluster = kReleasesOwnOnly ? Extent3{} : kCluster};
  }

  GANTRY_INLINE static void produce(const Params& p, Storage& s) {
    Pipeline pipeline(s.pipeline, pipeline_params(PipelineRole::producer));
    State write = make_producer_start_state<Stages>();
    const arch::Index3 at = arch::cluster_block_index();
    const auto row = static_cast<std::uint16_t>(row_mask() << at.x);
    const auto column = static_cast<std::uint16_t>(((1u << ClusterX) - 1) << (at.y * ClusterX));
    constexpr std::uint32_t kPartA = kWords / ClusterY, kPartB = kWords / ClusterX;
    GANTRY_NO_UNROLL
    for (int i = 0; i < p.tiles; ++i, ++write) {
      const ProducerToken token = pipeline.producer_try_acquire(write);
      pipeline.producer_acquire(write, token);
      std::uint64_t* full = pipeline.producer_get_barrier(write);
      const std::uint32_t part_a = at.y * kPartA, part_b = at.x * kPartB;
      load(s.a[write.index()] + part_a, source(p, tile_a(i, at.x, p.tiles)) + part_a, 4 * kPartA, full, row);
      load(s.b[write.index()] + part_b, source(p, tile_b(i, at.y, p.tiles)) + part_b, 4 * kPartB, full, column);
    }
    if (flaw != MulticastFlaw::no_tail) pipeline.producer_tail(write);
  }

  // The CTAs of row 0: every ClusterX-th rank.
  GANTRY_HD static constexpr std::uint32_t row_mask() {
    std::uint32_t mask = 0;
    for (std::uint32_t y = 0; y < ClusterY; ++y) mask |= 1u << (y * ClusterX);
    return mask;
  }

  GANTRY_INLINE static const std::uint32_t* source(const Params& p, int tile) {
    return p.from + static_cast<std::uint32_t>(tile) * kWords;
  }

  GANTRY_INLINE static void load(std::uint32_t* to, const std::uint32_t* from, std::uint32_t bytes, std::uint64_t* full,
                                 std::uint16_t mask, Site site = Site::here()) {
    arch::cp_async_bulk(arch::space_cluster, arch::space_global, to, from, bytes, full, mask, site);
  }

  GANTRY_INLINE static void consume(const Params& p, Storage& s) {
    Pipeline pipeline(s.pipeline, pipeline_params(PipelineRole::consumer));
    State read = make_consumer_start_state<Stages>();
    const std::uint32_t word = arch::thread_rank() - 32;
    const std::uint32_t rank = arch::cluster_block_rank();
    std::uint32_t* to = p.to + rank * static_cast<std::uint32_t>(p.tiles) * kWords;
    GANTRY_NO_UNROLL
    for (int i = 0; i < p.tiles; ++i, ++read, to += kWords) {
      const ConsumerToken token = pipeline.consumer_try_wait(read);
      pipeline.consumer_wait(read, token);
      if (word < kWords) {
        arch::st(arch::space_global, to + word,
                 2 * arch::ld(arch::space_shared, &s.a[read.index()][word]) +
                     3 * arch::ld(arch::space_shared, &s.b[read.index()][word]));
      }
      arch::fence_proxy_async(arch::space_shared);
      if constexpr (Consumers % 128 == 0) {
        arch::barrier_sync(1 + word / 128, 128);
      } else {
        arch::syncwarp();
      }
      pipeline.consumer_release(read);
    }
  }
};

}  // namespace gantry::test
